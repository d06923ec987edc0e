/* SPDX-License-Identifier: MIT */
/* The store buffer of an UltraSPARC T1: rows by hand, random blocks against a
 * twin that looks at each cycle. */
#include "timing/t1_store_buffer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include <cmocka.h>

#include "ref/random.h"
#include "table/table.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MOST 512

/* o: other, s: store, a: atomic */
static struct insn
make(char c)
{
    return (struct insn){
        .size = 4,
        .class = c == 'a'   ? CLASS_ATOMIC
                 : c == 's' ? CLASS_STORE
                            : CLASS_OTHER,
        .stores = c == 's' || c == 'a',
    };
}

static int
count(struct t1_store_buffer *drain, const char *text, size_t length)
{
    static struct insn insns[MOST];
    int16_t fixed[SIGNAL_FIXED_COUNT] = {0};

    for (size_t i = 0; i < length; i++)
        insns[i] = make(text[i]);
    t1_store_buffer_add(drain, insns, length, fixed);
    for (size_t s = 0; s < SIGNAL_FIXED_COUNT; s++)
        assert_true(fixed[s] == 0 || s == SIGNAL_STORE_FULL);
    return fixed[SIGNAL_STORE_FULL];
}

static const struct {
    int line;
    unsigned entries, cycles;
    const char *text;
    int wait;
} rows[] = {
    {__LINE__, 8, 22, "", 0},
    {__LINE__, 8, 22, "ssssssss", 0},
    {__LINE__, 8, 22, "sssssssss", 22 - 8},
    {__LINE__, 8, 22, "ssssssssss", 14 + 21},
    {__LINE__, 8, 22, "ssssssssoooos", 22 - 12},
    {__LINE__, 8, 22, "ssssssssoooooooooooooos", 0},
    {__LINE__, 8, 22, "ooooosssssssss", 14},
    {__LINE__, 8, 22, "ssssssssaaaa", 0},
    {__LINE__, 8, 22, "ssssssssaaaas", 10},
    {__LINE__, 8, 1, "ssssssssssssssssssss", 0},
    {__LINE__, 8, 0, "ssssssssssssssssssss", 0},
    {__LINE__, 1, 3, "sss", 2 + 2},
    {__LINE__, 1, 3, "sosos", 1 + 1},
    {__LINE__, 0, 22, "ssssssssssssssssssss", 0},
};

static void
test_rows(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct t1_store_buffer drain = {
            .entries = rows[i].entries,
            .cycles = rows[i].cycles,
        };
        const int wait = count(&drain, rows[i].text, strlen(rows[i].text));
        if (wait != rows[i].wait)
            fail_msg("row at line %d: %d cycles", rows[i].line, wait);
    }
}

/* The most that a signal of a block has to hold. */
static void
test_most(void **unused)
{
    struct t1_store_buffer drain = {.entries = 1, .cycles = 64};
    char text[MOST];

    (void)unused;
    memset(text, 's', sizeof(text));
    assert_int_equal(count(&drain, text, MOST), (MOST - 1) * 63);
}

/* Cycle by cycle: how many entries are in use, how long the first drains. */
static int
twin(unsigned entries, unsigned cycles, const char *text, size_t length)
{
    unsigned used = 0, left = 0;
    int waits = 0;

    for (size_t i = 0; i < length;) {
        const bool store = text[i] == 's';
        if (used != 0 && left == 0) {
            used--;
            left = used != 0 ? cycles : 0;
        }
        if (store && used == entries) {
            waits++;
        } else {
            if (store && used++ == 0)
                left = cycles;
            i++;
        }
        left -= left != 0;
    }
    return waits;
}

/* In two components, as one block has them. */
static void
test_twin(void **unused)
{
    uint64_t state = random_seed();

    (void)unused;
    for (int i = 0; i < 10000; i++) {
        char text[64];
        const size_t length = random_below(&state, sizeof(text));
        const size_t cut = random_below(&state, length + 1);
        const unsigned entries = 1 + (unsigned)random_below(&state, 9);
        const unsigned cycles = 1 + (unsigned)random_below(&state, 25);
        struct t1_store_buffer drain = {.entries = entries, .cycles = cycles};
        for (size_t k = 0; k < length; k++)
            text[k] = "oossssa"[random_below(&state, 7)];
        const int first = count(&drain, text, cut);
        assert_int_equal(first + count(&drain, text + cut, length - cut),
                         twin(entries, cycles, text, length));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_most),
        cmocka_unit_test(test_twin),
    };

    return cmocka_run_group_tests_name("drain", tests, NULL, NULL);
}
