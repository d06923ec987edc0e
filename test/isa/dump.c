/* SPDX-License-Identifier: MIT */
/*
 * Prints what insn_decode() makes of the instructions on standard input, for
 * crosscheck.py and t4_classes.py: `isa-dump ISA [text|operands]`, ISA as in
 * data/isa.toml, a line of input being the address and the bytes in
 * hexadecimal, a line of output the fields in decimal, or the text, or what
 * insn_operands() says: whether the instruction is known, and the fields.
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

static void
print_operands(const struct isa *isa, const uint8_t *bytes, size_t size)
{
    struct insn_operands o;
    const bool known = insn_operands(isa, bytes, size, &o);

    printf("%d %" PRIu64 " %" PRIu64 " %" PRIu64 " %u %d %d\n", known, o.reads,
           o.address, o.changes, o.operation, o.loads, o.stores);
}

int
main(int argc, char **argv)
{
    const struct isa *const isa =
        argc == 2 || argc == 3 ? isa_find(argv[1]) : NULL;
    const bool as_text = argc == 3 && strcmp(argv[2], "text") == 0;
    const bool operands = argc == 3 && strcmp(argv[2], "operands") == 0;
    char line[128];

    if (isa == NULL || (argc == 3 && !as_text && !operands))
        return 2;
    while (fgets(line, sizeof(line), stdin)) {
        uint8_t bytes[16];
        struct insn insn;
        char *hex;
        const uint64_t pc = strtoull(line, &hex, 16);
        const size_t size =
            hex_bytes(hex + strspn(hex, " "), bytes, sizeof(bytes));

        if (as_text) {
            char text[128];
            insn_text(isa, bytes, size, pc, text, sizeof(text));
            puts(text);
            continue;
        }
        if (operands) {
            print_operands(isa, bytes, size);
            continue;
        }
        insn_decode(isa, bytes, size, pc, &insn);
        print(&insn);
    }
    return 0;
}
