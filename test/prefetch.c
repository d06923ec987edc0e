/* SPDX-License-Identifier: MIT */
/* Which access of a block tells a prefetch's address, and how far it is. */
#include "source/prefetch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MOST 6
#define NONE INSN_NO_REG

#define AT(base, disp) \
    .size = 4, .addr_known = true, .addr_base = (base), .addr_disp = (disp)
#define ACCESS(kind, bytes, base, disp, ...)                         \
    {                                                                \
        AT(base, disp), .addr_index = NONE, .access = ACCESS_##kind, \
                        .access_size = (bytes), .step_reg = NONE,    \
                        .flags = __VA_ARGS__                         \
    }
#define LOAD(base, disp) ACCESS(LOAD, 8, base, disp, 0)
#define PREFETCH(base, disp)                                        \
    {                                                               \
        AT(base, disp), .addr_index = NONE, .flags = INSN_PREFETCH, \
                        .prefetch = PREFETCH_NEAR, .step_reg = NONE \
    }
#define STEP(reg, by)                                                        \
    {                                                                        \
        .size = 4, .addr_base = NONE, .addr_index = NONE, .step_reg = (reg), \
        .step = (by), .reg_writes = 1u << (reg)                              \
    }
#define WRITE(reg)                                                          \
    {                                                                       \
        .size = 4, .addr_base = NONE, .addr_index = NONE, .step_reg = NONE, \
        .reg_writes = 1u << (reg)                                           \
    }
#define INDEXED .addr_index = 3, .addr_scale = 2
#define INDEX_LOAD                                                  \
    {                                                               \
        AT(1, 0), INDEXED, .access = ACCESS_LOAD, .access_size = 8, \
                           .step_reg = NONE                         \
    }

static const struct {
    int line;
    struct insn insns[MOST];
    size_t at, teller; /* MOST: none */
    int64_t distance;
} rows[] = {
    {__LINE__, {PREFETCH(1, 64), LOAD(1, 0)}, 0, 1, 64},
    {__LINE__, {LOAD(1, 8), PREFETCH(1, 64)}, 1, 0, 56},
    {__LINE__, {ACCESS(STORE, 8, 1, 0, 0), PREFETCH(1, -64)}, 1, 0, -64},
    {__LINE__, {PREFETCH(1, 64), LOAD(2, 0)}, 0, MOST, 0},
    {__LINE__, {PREFETCH(1, 64)}, 0, MOST, 0},
    /* The nearest, of two as near the one before. */
    {__LINE__, {LOAD(1, 0), PREFETCH(1, 64), LOAD(1, 8)}, 1, 0, 64},
    {__LINE__, {LOAD(1, 0), LOAD(2, 0), PREFETCH(1, 64), LOAD(1, 8)}, 2, 3, 56},
    {__LINE__, {LOAD(1, 0), LOAD(2, 0), LOAD(2, 0), PREFETCH(1, 64)}, 3, 0, 64},
    /* Registers that change: by a constant, or so that nothing is known. */
    {__LINE__, {LOAD(1, 0), STEP(1, 16), PREFETCH(1, 64)}, 2, 0, 80},
    {__LINE__, {PREFETCH(1, 64), STEP(1, 16), LOAD(1, 0)}, 0, 2, 48},
    {__LINE__, {LOAD(1, 0), WRITE(1), PREFETCH(1, 64)}, 2, MOST, 0},
    {__LINE__, {PREFETCH(1, 64), WRITE(1), LOAD(1, 0)}, 0, MOST, 0},
    {__LINE__, {LOAD(1, 0), WRITE(2), PREFETCH(1, 64)}, 2, 0, 64},
    {__LINE__,
     {ACCESS(LOAD, 8, 1, 0, 0, .reg_writes = 1u << 1), PREFETCH(1, 64)},
     1,
     MOST,
     0},
    {__LINE__, {LOAD(1, 0), WRITE(1), PREFETCH(1, 64), LOAD(1, 8)}, 2, 3, 56},
    /* Accesses that are not certain, or that QEMU may show twice. */
    {__LINE__,
     {STEP(4, 1), ACCESS(LOAD, 8, 1, 0, INSN_NO_FAULT), PREFETCH(1, 8)},
     2,
     MOST,
     0},
    {__LINE__, {ACCESS(LOAD, 16, 1, 0, 0), PREFETCH(1, 8)}, 1, MOST, 0},
    {__LINE__, {ACCESS(LOAD, 0, 1, 0, 0), PREFETCH(1, 8)}, 1, MOST, 0},
    {__LINE__, {ACCESS(MIXED, 8, 1, 0, 0), PREFETCH(1, 8)}, 1, MOST, 0},
    {__LINE__,
     {PREFETCH(1, 8), {.flags = INSN_ANNUL, .step_reg = NONE}, LOAD(1, 0)},
     0,
     MOST,
     0},
    {__LINE__,
     {LOAD(1, 0), {.flags = INSN_ANNUL, .step_reg = NONE}, PREFETCH(1, 8)},
     2,
     MOST,
     0},
    /* Indexes are the same register and scale. */
    {__LINE__, {INDEX_LOAD, PREFETCH(1, 8)}, 1, MOST, 0},
};

static void
test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t distance = 0;
        const size_t teller =
            prefetch_teller(rows[i].insns, MOST, rows[i].at, &distance);
        if (teller != rows[i].teller ||
            (teller < MOST && distance != rows[i].distance))
            fail_msg("row at line %d: %zu, at a distance of %lld", rows[i].line,
                     teller, (long long)distance);
    }
}

/* An index counts as often as its scale says. */
static void
test_scale(void **state)
{
    const struct insn insns[] = {
        INDEX_LOAD,
        STEP(3, 5),
        {AT(1, 1), INDEXED, .prefetch = PREFETCH_FAR, .step_reg = NONE},
    };
    int64_t distance;

    (void)state;
    assert_int_equal(prefetch_teller(insns, 3, 2, &distance), 0);
    assert_int_equal(distance, 11);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_scale),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
