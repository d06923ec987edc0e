/* SPDX-License-Identifier: MIT */
/*
 * What stands in the slots of an IA-64 bundle, as far as the monitors of
 * Montecito ask: the unit that executes it, whether it loads, stores or
 * branches. Operands and completers are not decoded. Intel Itanium Architecture
 * Software Developer's Manual, volume 3, chapter 4.
 */
#ifndef TALLY_CLI_IA64_H
#define TALLY_CLI_IA64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IA64_SLOTS 3
#define IA64_OPCODE_MAX ((UINT64_C(1) << 41) - 1)

enum ia64_kind {
    IA64_LOAD = 1 << 0,  /* no check load: whether it loads is not encoded */
    IA64_STORE = 1 << 1, /* a semaphore is both */
    IA64_NOP = 1 << 2,   /* nop.m, nop.i, nop.f or nop.b */
    IA64_BRANCH = 1 << 3,
    IA64_RETURN = 1 << 4, /* of branches: br.ret */
    IA64_INDIRECT = 1 << 5,
    IA64_RFI = 1 << 6,
    IA64_CHECK = 1 << 7, /* chk.s, chk.a, fchkf: it goes on elsewhere or not */
};

struct ia64_insn {
    uint64_t opcode; /* 41 bits */
    unsigned kinds;  /* enum ia64_kind */
    char type;       /* 'M', 'I', 'F', 'B' or 'A' */
    uint8_t slot;    /* of an instruction of two slots: 2, its opcode's */
    bool direct;     /* the branch has its target in itself: */
    int64_t offset;  /* from the bundle's address */
};

/*
 * Returns the instructions of a bundle, in order: three, or two if slots 1 and
 * 2 are one; 0 if the template, of 5 bits, is reserved.
 */
size_t ia64_bundle(unsigned pattern, const uint64_t slots[IA64_SLOTS],
                   struct ia64_insn insns[IA64_SLOTS]);

/* Returns the predicate register that decides whether it does anything; 0 is
 * true. */
unsigned ia64_predicate(const struct ia64_insn *insn);

#endif
