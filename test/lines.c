/* SPDX-License-Identifier: MIT */
/* How much of the lines is used that come into an L1D, against the slow way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "machine/lines.h"

enum { OBJECTS = 5 };

static struct record_use uses[OBJECTS];

static void
begin(struct lines *l, uint64_t line)
{
    memset(uses, 0, sizeof(uses));
    assert_int_equal(lines_init(l, line, uses), 0);
}

static void
assert_use(unsigned object, uint64_t fetched, uint64_t touched)
{
    assert_int_equal(uses[object].fetched, fetched);
    assert_int_equal(uses[object].touched, touched);
}

/* Bytes count once while their line is there, and again when it has come in
 * again. */
static void
test_bytes(void **state)
{
    struct lines l;

    (void)state;
    begin(&l, 64);
    lines_fetch(&l, 0x1010, 1);
    lines_touch(&l, 0x1010, 8);
    lines_touch(&l, 0x1014, 8);
    assert_use(1, 64, 12);
    lines_touch(&l, 0x1000, 64);
    assert_use(1, 64, 64);
    lines_fetch(&l, 0x1000, 2);
    lines_touch(&l, 0x103f, 1);
    assert_use(1, 64, 64);
    assert_use(2, 64, 1);
    lines_finish(&l);
}

/* An access to two lines touches a part of each. A line that never came in, or
 * came in for no object, is not used. */
static void
test_borders(void **state)
{
    struct lines l;

    (void)state;
    begin(&l, 16);
    lines_fetch(&l, 0x1ff8, 1);
    lines_fetch(&l, 0x2000, 2);
    lines_touch(&l, 0x1ffc, 8);
    assert_use(1, 16, 4);
    assert_use(2, 16, 4);
    lines_touch(&l, 0x2010, 8);
    lines_touch(&l, 0x700000000000, 8);
    lines_touch(&l, UINT64_MAX - 7, 7);
    lines_fetch(&l, UINT64_MAX - 7, 3);
    assert_use(3, 0, 0);
    lines_fetch(&l, 0x2000, 0);
    lines_touch(&l, 0x2000, 8);
    assert_use(2, 16, 4);
    assert_use(0, 0, 0);
    lines_finish(&l);
}

/* What is touched of a line that is asked for is of the line that comes in, or
 * of the line that was there. */
static void
test_asked(void **state)
{
    struct lines l;

    (void)state;
    begin(&l, 128);
    lines_fetch(&l, 0x1000, 1);
    lines_touch(&l, 0x1000, 8);
    assert_true(lines_ask(&l, 0x1010));
    assert_false(lines_ask(&l, 0x1050));
    lines_touch(&l, 0x1004, 8);
    assert_use(1, 128, 8);
    lines_settle(&l);
    assert_use(1, 128, 12);
    lines_touch(&l, 0x1000, 12);
    assert_use(1, 128, 12);
    assert_true(lines_ask(&l, 0x1050));
    lines_touch(&l, 0x1000, 4);
    lines_touch(&l, 0x1060, 4);
    lines_fetch(&l, 0x1050, 2);
    lines_settle(&l);
    assert_use(1, 128, 12);
    assert_use(2, 128, 8);
    lines_touch(&l, 0x1000, 16);
    assert_use(2, 128, 20);
    /* Nothing is known of a line that was there before all. */
    assert_true(lines_ask(&l, 0x3000));
    lines_touch(&l, 0x3000, 16);
    lines_settle(&l);
    lines_fetch(&l, 0x3000, 3);
    lines_touch(&l, 0x3000, 4);
    assert_use(3, 128, 4);
    lines_finish(&l);
}

enum { BYTES = 16384 };

/* The same in the slow, obvious way. */
struct twin {
    unsigned object[BYTES];
    unsigned char touched[BYTES];
    struct record_use uses[OBJECTS];
};

static void
test_random(void **state)
{
    static const uint64_t lines[] = {16, 32, 64, 128, 512};
    const uint64_t base = 0x7ffffe000;
    static struct twin t;
    uint64_t seed = 3;

    (void)state;
    for (unsigned k = 0; k < 5; k++) {
        const uint64_t line = lines[k];
        struct lines l;
        begin(&l, line);
        memset(&t, 0, sizeof(t));
        for (unsigned i = 0; i < 20000; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            const uint64_t at = (seed >> 33) % (BYTES - 64);
            const unsigned size = 1 + (seed >> 25) % 64;
            const unsigned object = (unsigned)(seed >> 20) % OBJECTS;
            if ((seed >> 60) < 4) {
                const uint64_t first = at / line * line;
                lines_fetch(&l, base + at, object);
                for (uint64_t b = first; b < first + line; b++) {
                    t.object[b] = object;
                    t.touched[b] = 0;
                }
                t.uses[object].fetched += object != 0 ? line : 0;
                continue;
            }
            lines_touch(&l, base + at, size);
            for (uint64_t b = at; b < at + size; b++) {
                t.uses[t.object[b]].touched +=
                    t.object[b] != 0 && !t.touched[b];
                t.touched[b] = 1;
            }
        }
        assert_memory_equal(uses, t.uses, sizeof(uses));
        lines_finish(&l);
    }
}

/* The end costs what was used: not a look at all that a part of the table has
 * room for, which would have the host map each of its pages. */
static void
test_end(void **state)
{
    enum { PARTS = 16 };
    struct rusage before, after;
    struct lines l;

    (void)state;
    begin(&l, 64);
    for (uint64_t i = 0; i < PARTS; i++) {
        lines_fetch(&l, i << 32 | 0x1000, 1);
        lines_touch(&l, i << 32 | 0x1000, 8);
    }
    assert_use(1, 64 * PARTS, 8 * PARTS);
    assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
    lines_finish(&l);
    assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
    assert_in_range(after.ru_minflt - before.ru_minflt, 0, 1000);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes), cmocka_unit_test(test_borders),
        cmocka_unit_test(test_asked), cmocka_unit_test(test_random),
        cmocka_unit_test(test_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
