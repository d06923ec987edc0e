/* SPDX-License-Identifier: MIT */
/*
 * Prints what insn_decode() makes of the instructions on standard input, for
 * crosscheck.py and t4_classes.py: `isa-dump sparc64|x86_64|mips64|mips64el`,
 * a line of input being the address and the bytes in hexadecimal, a line of
 * output the fields in decimal.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "isa/hex.h"
#include "isa/isa.h"
#include "timing/t4_class.h"

static void
print(const struct insn *insn)
{
    printf("%u %u %u %" PRIu64 " %u %u %u %u %u %" PRIu64 " %u %u\n",
           insn->size, insn->class, insn->branch, insn->target, insn->access,
           insn->access_size, insn->loads, insn->stores, insn->flags,
           insn->reg_writes, t4_class(insn), t4_block(insn));
}

static const struct isa *
find_isa(const char *name)
{
    for (size_t i = 0; i < ISA_COUNT; i++)
        if (strcmp(isa_rows[i].name, name) == 0)
            return &isa_rows[i];
    return NULL;
}

int
main(int argc, char **argv)
{
    const struct isa *const isa = argc == 2 ? find_isa(argv[1]) : NULL;
    char line[128];

    if (isa == NULL)
        return 2;
    while (fgets(line, sizeof(line), stdin)) {
        uint8_t bytes[16];
        struct insn insn;
        char *hex;
        const uint64_t pc = strtoull(line, &hex, 16);
        const size_t size =
            hex_bytes(hex + strspn(hex, " "), bytes, sizeof(bytes));

        insn_decode(isa, bytes, size, pc, &insn);
        print(&insn);
    }
    return 0;
}
