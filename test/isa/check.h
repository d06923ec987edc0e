/* SPDX-License-Identifier: MIT */
/*
 * Comparing a decoded instruction with what a table row wants.
 */
#ifndef TALLY_TEST_ISA_CHECK_H
#define TALLY_TEST_ISA_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "isa/isa.h"
#include "timing/t4_class.h"

/* Compares one field and names the row's file and line if it differs. */
#define CHECK(file, line, got, want, field)                 \
    check_field(file, line, #field, (uint64_t)(got)->field, \
                (uint64_t)(want)->field)

static inline unsigned
check_field(const char *file, int line, const char *field, uint64_t got,
            uint64_t want)
{
    if (got == want)
        return 0;
    print_error("%s:%d: %s is 0x%llx, expected 0x%llx\n", file, line, field,
                (unsigned long long)got, (unsigned long long)want);
    return 1;
}

/* Every field but the address; returns how many differ. */
static inline unsigned
check_insn(const char *file, int line, const struct insn *got,
           const struct insn *want)
{
    return CHECK(file, line, got, want, size) +
           CHECK(file, line, got, want, class) +
           CHECK(file, line, got, want, access) +
           CHECK(file, line, got, want, access_size) +
           CHECK(file, line, got, want, loads) +
           CHECK(file, line, got, want, stores) +
           CHECK(file, line, got, want, branch) +
           CHECK(file, line, got, want, prefetch) +
           CHECK(file, line, got, want, target) +
           CHECK(file, line, got, want, flags) +
           CHECK(file, line, got, want, reg_writes);
}

static inline unsigned
check_address(const char *file, int line, const struct insn *got,
              const struct insn *want)
{
    return CHECK(file, line, got, want, addr_known) +
           CHECK(file, line, got, want, addr_base) +
           CHECK(file, line, got, want, addr_index) +
           CHECK(file, line, got, want, addr_scale) +
           CHECK(file, line, got, want, addr_disp);
}

/* What holds for every instruction of every instruction set. */
static inline unsigned
check_rules(const char *text, const struct insn *insn)
{
    const bool counted =
        insn->access != ACCESS_NONE && insn->access != ACCESS_REPEATED;
    const bool direct =
        insn->branch == BRANCH_CONDITIONAL || insn->branch == BRANCH_NEVER ||
        insn->branch == BRANCH_JUMP || insn->branch == BRANCH_CALL;
    const bool single = insn->access != ACCESS_NONE &&
                        insn->access != ACCESS_MIXED &&
                        insn->access != ACCESS_REPEATED;
    const bool good =
        insn->size > 0 && insn->class < CLASS_COUNT &&
        t4_class(insn) < T4_CLASS_COUNT &&
        (insn->class != CLASS_BRANCH || t4_class(insn) == T4_BRANCH) &&
        (insn->branch == BRANCH_NONE || insn->class == CLASS_BRANCH) &&
        (insn->branch != BRANCH_NONE || insn->class != CLASS_BRANCH ||
         (insn->flags & INSN_SYSCALL) != 0) &&
        (direct || insn->target == 0) &&
        (insn->loads + insn->stores > 0) == counted &&
        (single || !insn->addr_known || insn->prefetch != PREFETCH_NOWHERE) &&
        (insn->prefetch == PREFETCH_NOWHERE ||
         (insn->flags & INSN_PREFETCH) != 0) &&
        (!single || insn->access_size > 0) &&
        (insn->addr_known ||
         (insn->addr_base == INSN_NO_REG && insn->addr_index == INSN_NO_REG)) &&
        (insn->addr_scale == 0) == (insn->addr_index == INSN_NO_REG) &&
        (!(insn->flags & INSN_ILLEGAL) || insn->class == CLASS_OTHER);

    if (!good)
        print_error("%s breaks a rule\n", text);
    return !good;
}

/* xorshift64: the seeds are printed by the tests that use it. */
static inline uint64_t
next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

#endif
