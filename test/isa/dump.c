/* SPDX-License-Identifier: MIT */
/*
 * Prints what insn_decode() makes of the instructions on standard input, for
 * crosscheck.py and t4_classes.py: `isa-dump sparc64|x86-64`, a line of input
 * being the address and the bytes in hexadecimal, a line of output the fields
 * in decimal.
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

int
main(int argc, char **argv)
{
    const enum isa isa =
        argc == 2 && strcmp(argv[1], "sparc64") == 0 ? ISA_SPARC64 : ISA_X86_64;
    char line[128];

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
