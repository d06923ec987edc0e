/* SPDX-License-Identifier: MIT */
/* What fills first behind a load of a SPARC T4: rows by hand. */
#include "timing/t4_buffers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include <cmocka.h>

#include "table/table.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* o: other, l: load, b: block load, s: store, a: atomic */
static struct insn
make(char c)
{
    return (struct insn){
        .size = 4,
        .class = c == 'a' ? CLASS_ATOMIC : CLASS_OTHER,
        .loads = c == 'l' || c == 'b' || c == 'a',
        .stores = c == 's' || c == 'a',
        /* ldda [%g0] 0xf0, %f0; nop */
        .sparc_word = c == 'b' ? 0xc1981e00 : 0x01000000,
    };
}

static const struct {
    int line;
    struct t4_buffers tags;
    const char *text;
    int rob, lb, sb;
} rows[] = {
    {__LINE__, {128, 32, 16}, "", 0, 0, 0},
    {__LINE__, {128, 32, 16}, "oooo", 0, 0, 0},
    {__LINE__, {128, 32, 16}, "looo", 1, 0, 0},
    {__LINE__, {128, 32, 16}, "loo", 0, 1, 0},
    {__LINE__, {128, 32, 16}, "lsoooooo", 1, 0, 0},
    {__LINE__, {128, 32, 16}, "lsooooo", 0, 0, 1},
    {__LINE__, {128, 32, 16}, "llsooo", 0, 2, 0},
    {__LINE__, {128, 32, 16}, "llssoo", 0, 0, 2},
    {__LINE__, {128, 32, 16}, "lsa", 0, 0, 1},
    {__LINE__, {128, 32, 16}, "laoooooo", 1, 0, 0},
    {__LINE__, {128, 32, 16}, "booooooooooooooooooooooo", 0, 1, 0},
    {__LINE__, {128, 32, 16}, "boooooooooooooooooooooooo", 1, 0, 0},
    {__LINE__, {128, 0, 16}, "ll", 2, 0, 0},
    {__LINE__, {128, 32, 0}, "lssss", 1, 0, 0},
    {__LINE__, {0, 32, 16}, "ll", 0, 0, 0},
};

static void
test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct insn insns[32];
        int16_t fixed[SIGNAL_FIXED_COUNT] = {0};
        const size_t length = strlen(rows[i].text);
        for (size_t k = 0; k < length; k++)
            insns[k] = make(rows[i].text[k]);
        t4_buffers_add(&rows[i].tags, insns, length, fixed);
        if (fixed[SIGNAL_ROB_LOADS] != rows[i].rob ||
            fixed[SIGNAL_LB_LOADS] != rows[i].lb ||
            fixed[SIGNAL_SB_LOADS] != rows[i].sb)
            fail_msg("row in line %d", rows[i].line);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
