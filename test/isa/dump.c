/* SPDX-License-Identifier: MIT */
/*
 * Prints what insn_decode() makes of the instructions on standard input, for
 * crosscheck.py and t4_classes.py: `isa-dump sparc64|x86-64|mips64|mips64el`,
 * a line of input being the address and the bytes in hexadecimal, a line of
 * output the fields in decimal.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "isa/hex.h"
#include "isa/insn.h"

static void
print(const struct insn *insn)
{
    printf("%u %u %u %" PRIu64 " %u %u %u %u %u %" PRIu64 " %u %u\n",
           insn->size, insn->class, insn->branch, insn->target, insn->access,
           insn->access_size, insn->loads, insn->stores, insn->flags,
           insn->reg_writes, insn->t4_class, insn->t4_block);
}

static const char *const names[] = {
    [ISA_SPARC64] = "sparc64",
    [ISA_X86_64] = "x86-64",
    [ISA_MIPS64] = "mips64",
    [ISA_MIPS64EL] = "mips64el",
};

#define NAMES (sizeof(names) / sizeof(names[0]))

static size_t
find_name(const char *name)
{
    size_t i = 0;

    while (i < NAMES && strcmp(names[i], name) != 0)
        i++;
    return i;
}

int
main(int argc, char **argv)
{
    const size_t isa = argc == 2 ? find_name(argv[1]) : NAMES;
    char line[128];

    if (isa == NAMES)
        return 2;
    while (fgets(line, sizeof(line), stdin)) {
        uint8_t bytes[16];
        struct insn insn;
        char *hex;
        const uint64_t pc = strtoull(line, &hex, 16);
        const size_t size =
            hex_bytes(hex + strspn(hex, " "), bytes, sizeof(bytes));

        insn_decode((enum isa)isa, bytes, size, pc, &insn);
        print(&insn);
    }
    return 0;
}
