/* SPDX-License-Identifier: MIT */
/* Virtual counters by the rules of r10k_evcntrs(5): processes, and what /proc
 * has for them. */
#include "virtual_rig.h"

#define U VIRTUAL_USER
#define K VIRTUAL_KERNEL
#define S VIRTUAL_SUPERVISOR
#define EXL VIRTUAL_EXCEPTION
#define IE VIRTUAL_INTERRUPT

/* I20 I54: 32 events on two counters, 0 to 15 and 16 to 31, of 64 bits. */
static void
test_events(void **state)
{
    struct rig *const r = rig_make("r10000", 1);
    struct virtual_request q = {.signal = 0};

    (void)state;
    assert_int_equal(VIRTUAL_EVENTS, 32);
    for (unsigned i = 1; i < VIRTUAL_EVENTS; i++)
        rig_ask(&q, i, U, 0);
    rig_ask(&q, 0, U, 0);
    rig_run(r, 0, &r->a);
    assert_true(virtual_start(&r->system, &r->a, &r->a, &q) > 0);
    for (unsigned tick = 0; tick < 16; tick++) {
        for (unsigned i = 0; i < VIRTUAL_EVENTS; i++)
            rig_occur(r, 0, i, i + 1);
        virtual_tick(&r->system, 0, 0);
    }
    for (unsigned i = 0; i < VIRTUAL_EVENTS; i++)
        assert_int_equal(rig_value(r, &r->a, i), i + 1);
    free(r);
}

/* I20 I63: more than the hardware holds, with no signal, wherever the
 * interrupt bit is. */
static void
test_64_bits(void **state)
{
    const unsigned bits[] = {U, U | IE};

    (void)state;
    for (size_t k = 0; k < COUNT(bits); k++) {
        struct rig *const r = rig_make("r10000", 1);
        rig_run(r, 0, &r->a);
        assert_true(rig_start(r, &r->a, 9, bits[k]) > 0);
        for (int n = 0; n < 10; n++)
            rig_occur(r, 0, 9, 0x70000001);
        assert_true(rig_value(r, &r->a, 9) == UINT64_C(0x70000001) * 10);
        assert_true(r->interrupts == 5 && r->told == 0);
        free(r);
    }
}

/* I21: raw counts, and beside them how long an event was to count and did. */
static void
test_turns(void **state)
{
    struct rig *const r = rig_make("r10000", 1);
    struct virtual_request q = rig_request(2, U);
    struct counter_reading readings[VIRTUAL_EVENTS];
    uint64_t scaled;

    (void)state;
    rig_ask(&q, 5, U, 0);
    rig_ask(&q, 20, U, 0);
    rig_run(r, 0, &r->a);
    virtual_start(&r->system, &r->a, &r->a, &q);
    for (unsigned tick = 0; tick < 10; tick++) {
        r->now += 1000;
        rig_occur(r, 0, 2, 3);
        rig_occur(r, 0, 20, 1);
        virtual_tick(&r->system, 0, 0);
    }
    virtual_read(&r->system, &r->a, &r->a, readings);
    assert_int_equal(readings[2].value, 15);
    assert_int_equal(readings[2].running, 5000);
    assert_int_equal(readings[2].enabled, 10000);
    assert_true(counter_scaled(&readings[2], &scaled) && scaled == 30);
    assert_int_equal(readings[20].value, 10);
    assert_int_equal(readings[20].running, 10000);
    assert_int_equal(readings[3].enabled, 0);
    free(r);
}

/* I21: nothing changes between ticks, nor at ticks for a single event. */
static void
test_no_turn(void **state)
{
    struct rig *const r = rig_make("r10000", 1);
    struct virtual_request q = rig_request(2, U);

    (void)state;
    rig_ask(&q, 5, U, 0);
    rig_run(r, 0, &r->a);
    virtual_start(&r->system, &r->a, &r->a, &q);
    rig_occur(r, 0, 2, 3);
    rig_run(r, 0, &r->b);
    rig_run(r, 0, &r->a);
    rig_occur(r, 0, 5, 1);
    rig_occur(r, 0, 2, 3);
    assert_int_equal(rig_value(r, &r->a, 2), 6);
    assert_int_equal(rig_value(r, &r->a, 5), 0);
    free(r);
}

/* I22: ascending from the lowest, each counter for itself, and on from there
 * after another process has run. */
static void
test_order(void **state)
{
    static const unsigned turns[][2] = {{1, 17}, {4, 30}, {15, 17},
                                        {1, 30}, {4, 17}, {15, 30}};
    struct rig *const r = rig_make("r10000", 1);
    struct virtual_request q = rig_request(1, U);

    (void)state;
    rig_ask(&q, 4, U, 0);
    rig_ask(&q, 15, U, 0);
    rig_ask(&q, 17, U, 0);
    rig_ask(&q, 30, U, 0);
    rig_run(r, 0, &r->a);
    virtual_start(&r->system, &r->a, &r->a, &q);
    for (size_t k = 0; k < COUNT(turns); k++) {
        assert_int_equal(r->a.block.turn[0], turns[k][0]);
        assert_int_equal(r->a.block.turn[1], turns[k][1]);
        virtual_tick(&r->system, 0, 0);
        rig_run(r, 0, NULL);
        virtual_tick(&r->system, 0, 0);
        rig_run(r, 0, &r->a);
    }
    free(r);
}

/* I23: the child counts what its parent does, from 0. */
static void
test_fork(void **state)
{
    struct rig *const r = rig_make("r10000", 2);
    struct virtual_owner child;
    uint64_t value;

    (void)state;
    rig_run(r, 0, &r->a);
    const int generation = rig_start(r, &r->a, 9, U);
    rig_occur(r, 0, 9, 5);
    virtual_fork(&r->system, &r->a, &child);
    assert_int_equal(rig_read(r, &child, 9, &value), generation);
    assert_int_equal(value, 0);
    rig_run(r, 1, &child);
    rig_occur(r, 1, 9, 7);
    rig_occur(r, 0, 9, 1);
    assert_int_equal(rig_value(r, &child, 9), 7);
    assert_int_equal(rig_value(r, &r->a, 9), 6);
    free(r);
}

/* I24: a parent that waits has the child's counts, one that does not has not,
 * nor one that is gone. */
static void
test_wait(void **state)
{
    static const struct {
        bool waiting, parent;
        unsigned both;
    } rows[] = {{true, true, 12}, {false, true, 5}, {true, false, 5}};

    (void)state;
    for (size_t k = 0; k < COUNT(rows); k++) {
        struct rig *const r = rig_make("r10000", 2);
        struct virtual_owner child;
        rig_run(r, 0, &r->a);
        rig_start(r, &r->a, 9, U);
        rig_occur(r, 0, 9, 5);
        virtual_fork(&r->system, &r->a, &child);
        rig_run(r, 1, &child);
        rig_occur(r, 1, 9, 7);
        virtual_exit(&r->system, &child, rows[k].parent ? &r->a : NULL,
                     rows[k].waiting);
        assert_int_equal(rig_value(r, &r->a, 9), rows[k].both);
        rig_occur(r, 1, 9, 100);
        assert_int_equal(rig_value(r, &r->a, 9), rows[k].both);
        free(r);
    }
}

/* I24: what a child has of its own children goes on to the parent; times too.
 */
static void
test_generations_of_processes(void **state)
{
    struct rig *const r = rig_make("r10000", 1);
    struct virtual_owner child, grandchild;
    struct counter_reading readings[VIRTUAL_EVENTS];

    (void)state;
    rig_start(r, &r->a, 9, U);
    virtual_fork(&r->system, &r->a, &child);
    virtual_fork(&r->system, &child, &grandchild);
    rig_run(r, 0, &grandchild);
    r->now += 50;
    rig_occur(r, 0, 9, 7);
    virtual_exit(&r->system, &grandchild, &child, true);
    virtual_exit(&r->system, &child, &r->a, true);
    virtual_read(&r->system, &r->a, &r->a, readings);
    assert_int_equal(readings[9].value, 7);
    assert_int_equal(readings[9].running, 50);
    assert_int_equal(readings[9].enabled, 50);
    free(r);
}

/* I24 PIOCSAVECCNTRS: without a wait, and whether the parent counts or not; the
 * child's children do not inherit it. */
static void
test_save(void **state)
{
    struct rig *const r = rig_make("r10000", 1);
    struct virtual_owner child, grandchild;

    (void)state;
    virtual_fork(&r->system, &r->a, &child);
    assert_int_equal(virtual_save(&r->system, &r->other, &child),
                     VIRTUAL_EPERM);
    assert_int_equal(virtual_save(&r->system, &r->a, &child), 0);
    rig_start(r, &child, 9, U);
    virtual_fork(&r->system, &child, &grandchild);
    rig_run(r, 0, &grandchild);
    rig_occur(r, 0, 9, 1);
    virtual_exit(&r->system, &grandchild, &child, false);
    rig_run(r, 0, &child);
    rig_occur(r, 0, 9, 7);
    virtual_exit(&r->system, &child, &r->a, false);
    assert_int_equal(rig_value(r, &r->a, 9), 7);
    free(r);
}

/* I25: on any CPU, with processes between that count the same or nothing. */
static void
test_switch(void **state)
{
    struct rig *const r = rig_make("r10000", 2);

    (void)state;
    rig_start(r, &r->a, 9, U);
    rig_start(r, &r->b, 9, U);
    for (unsigned n = 0; n < 6; n++) {
        rig_run(r, n % 2, &r->a);
        rig_occur(r, n % 2, 9, 1);
        rig_run(r, n % 2, &r->b);
        rig_occur(r, n % 2, 9, 10);
        rig_run(r, n % 2, &r->other);
        rig_occur(r, n % 2, 9, 100);
        rig_run(r, n % 2, NULL);
        rig_occur(r, n % 2, 9, 1000);
    }
    assert_int_equal(rig_value(r, &r->a, 9), 6);
    assert_int_equal(rig_value(r, &r->b, 9), 60);
    rig_run(r, 0, &r->a);
    assert_int_equal(virtual_switch(&r->system, 1, &r->a, 0), VIRTUAL_EINVAL);
    free(r);
}

/* I26 PIOCRELEVCTRS: nothing is counted any more, all can be read; twice is
 * no error. */
static void
test_release(void **state)
{
    struct rig *const r = rig_make("r10000", 1);
    uint16_t spec[VIRTUAL_EVENTS];
    uint64_t value;

    (void)state;
    rig_run(r, 0, &r->a);
    const int generation = rig_start(r, &r->a, 9, U);
    rig_occur(r, 0, 9, 5);
    assert_int_equal(virtual_release(&r->system, &r->other, &r->a),
                     VIRTUAL_EPERM);
    assert_int_equal(virtual_release(&r->system, &r->b, &r->a), 0);
    rig_occur(r, 0, 9, 5);
    rig_run(r, 0, NULL);
    rig_run(r, 0, &r->a);
    rig_occur(r, 0, 9, 5);
    assert_int_equal(rig_read(r, &r->a, 9, &value), generation);
    assert_int_equal(value, 5);
    assert_int_equal(virtual_control(&r->system, &r->a, &r->a, spec),
                     generation);
    assert_int_equal(spec[9], 0);
    assert_int_equal(virtual_release(&r->system, &r->a, &r->a), 0);
    free(r);
}

/* PIOCENEVCTRS I41 I51 I52: what is improper, and what only root may ask. */
static void
test_errors_of_start(void **state)
{
    static const struct {
        int line;
        unsigned index, spec;
        int32_t threshold, signal;
        int answer, of_root; /* 1: a generation */
    } rows[] = {
        {__LINE__, 9, 9 << 5 | U, 0, 0, 1, 1},
        {__LINE__, 25, 9 << 5 | U | IE, 0, 0, 1, 1},
        {__LINE__, 0, U, 0, 0, 1, 1},
        {__LINE__, 0, 0, 0, 0, VIRTUAL_EINVAL, VIRTUAL_EINVAL},
        {__LINE__, 0, 0, 5, 0, VIRTUAL_EINVAL, VIRTUAL_EINVAL},
        {__LINE__, 9, 8 << 5 | U, 0, 0, VIRTUAL_EINVAL, VIRTUAL_EINVAL},
        {__LINE__, 25, 25 << 5 | U, 0, 0, VIRTUAL_EINVAL, VIRTUAL_EINVAL},
        {__LINE__, 9, 9 << 5, 0, 0, VIRTUAL_EINVAL, VIRTUAL_EINVAL},
        {__LINE__, 9, 9 << 5 | IE, 0, 0, VIRTUAL_EINVAL, VIRTUAL_EINVAL},
        {__LINE__, 9, 9 << 5 | U, -1, 0, VIRTUAL_EINVAL, VIRTUAL_EINVAL},
        {__LINE__, 9, 9 << 5 | U, INT32_MAX, 0, 1, 1},
        {__LINE__, 9, 9 << 5 | U, 1, 1, 1, 1},
        {__LINE__, 9, 9 << 5 | U, 1, 32, 1, 1},
        {__LINE__, 9, 9 << 5 | U, 1, 33, VIRTUAL_EINVAL, VIRTUAL_EINVAL},
        {__LINE__, 9, 9 << 5 | U, 1, -1, VIRTUAL_EINVAL, VIRTUAL_EINVAL},
        {__LINE__, 9, 9 << 5 | U | S, 0, 0, VIRTUAL_EPERM, 1},
        {__LINE__, 9, 9 << 5 | U | K, 0, 0, VIRTUAL_EPERM, 1},
        {__LINE__, 9, 9 << 5 | U | EXL, 0, 0, VIRTUAL_EPERM, 1},
        {__LINE__, 9, 9 << 5 | EXL, 0, 0, VIRTUAL_EPERM, 1},
        /* Of two errors the first of the page. */
        {__LINE__, 9, 9 << 5 | K, -1, 0, VIRTUAL_EINVAL, VIRTUAL_EINVAL},
    };

    (void)state;
    for (size_t k = 0; k < COUNT(rows); k++) {
        struct rig *const r = rig_make("r10000", 1);
        struct virtual_request q = {.signal = rows[k].signal};
        q.spec[rows[k].index] = (uint16_t)rows[k].spec;
        q.threshold[rows[k].index] = rows[k].threshold;
        const int a = virtual_start(&r->system, &r->a, &r->a, &q);
        const int b = virtual_start(&r->system, &r->root, &r->root, &q);
        if ((a > 0 ? 1 : a) != rows[k].answer ||
            (b > 0 ? 1 : b) != rows[k].of_root)
            fail_msg("row at line %d: %d, of root %d", rows[k].line, a, b);
        free(r);
    }
}

/* PIOCENEVCTRS: of another process, if of the group or root; it starts at once
 * if that runs, or when it does, from 0. */
static void
test_start(void **state)
{
    struct rig *const r = rig_make("r10000", 1);
    const struct virtual_request q = rig_request(9, U);

    (void)state;
    assert_int_equal(virtual_start(&r->system, &r->other, &r->a, &q),
                     VIRTUAL_EPERM);
    assert_true(virtual_start(&r->system, &r->root, &r->other, &q) > 0);
    assert_true(virtual_start(&r->system, &r->b, &r->a, &q) > 0);
    rig_occur(r, 0, 9, 5);
    rig_run(r, 0, &r->a);
    rig_occur(r, 0, 9, 3);
    assert_int_equal(rig_value(r, &r->a, 9), 3);
    assert_true(virtual_start(&r->system, &r->b, &r->a, &q) > 0);
    assert_int_equal(rig_value(r, &r->a, 9), 0);
    rig_occur(r, 0, 9, 4);
    assert_int_equal(rig_value(r, &r->a, 9), 4);
    free(r);
}

/* PIOCGETEVCTRS PIOCGETPREVCTRS I53: 32 counts of 64 bits, and what the system
 * has of the process. */
static void
test_read(void **state)
{
    struct rig *const r = rig_make("r10000", 1);
    struct counter_reading readings[32];
    uint64_t usage = 0;

    (void)state;
    const int generation = rig_start(r, &r->a, 9, U);
    r->now = 77;
    assert_int_equal(virtual_read(&r->system, &r->other, &r->a, readings),
                     VIRTUAL_EPERM);
    assert_int_equal(virtual_read(&r->system, &r->b, &r->a, readings),
                     generation);
    assert_int_equal(sizeof(readings[0].value), 8);
    assert_int_equal(
        virtual_read_usage(&r->system, &r->b, &r->a, readings, &usage),
        VIRTUAL_EINVAL);
    r->a.user = r;
    assert_int_equal(
        virtual_read_usage(&r->system, &r->b, &r->a, readings, &usage),
        generation);
    assert_int_equal(usage, 77);
    assert_int_equal(
        virtual_read_usage(&r->system, &r->other, &r->a, readings, &usage),
        VIRTUAL_EPERM);
    /* One who never started has a generation, and nothing but zeros. */
    assert_true(virtual_read(&r->system, &r->b, &r->b, readings) > 0);
    assert_int_equal(readings[9].value, 0);
    free(r);
}

/* PIOCGETEVCTRL I50: the specifiers as they were given. */
static void
test_control(void **state)
{
    struct rig *const r = rig_make("r10000", 1);
    const struct virtual_request q = rig_request(25, U | IE);
    uint16_t spec[VIRTUAL_EVENTS];

    (void)state;
    assert_true(virtual_control(&r->system, &r->a, &r->a, spec) > 0);
    assert_int_equal(spec[25], 0);
    const int generation = virtual_start(&r->system, &r->a, &r->a, &q);
    assert_int_equal(virtual_control(&r->system, &r->b, &r->a, spec),
                     generation);
    assert_int_equal(spec[25], 0x138);
    assert_memory_equal(spec, q.spec, sizeof(spec));
    assert_int_equal(virtual_control(&r->system, &r->other, &r->a, spec),
                     VIRTUAL_EPERM);
    free(r);
}

/* PIOCSETEVCTRL I40: other events without a release; counts stay, and each call
 * is a generation. */
static void
test_change(void **state)
{
    struct rig *const r = rig_make("r10000", 1);
    const struct virtual_request ten = rig_request(10, U);
    struct counter_reading readings[VIRTUAL_EVENTS];

    (void)state;
    assert_int_equal(virtual_change(&r->system, &r->a, &r->a, &ten),
                     VIRTUAL_EINVAL);
    rig_run(r, 0, &r->a);
    const int generation = rig_start(r, &r->a, 9, U);
    assert_true(generation > 0);
    rig_occur(r, 0, 9, 5);
    r->now += 100;
    assert_int_equal(virtual_change(&r->system, &r->other, &r->a, &ten),
                     VIRTUAL_EPERM);
    assert_int_equal(virtual_change(&r->system, &r->b, &r->a, &ten),
                     generation + 1);
    assert_int_equal(virtual_change(&r->system, &r->b, &r->a, &ten),
                     generation + 2);
    rig_occur(r, 0, 9, 50);
    rig_occur(r, 0, 10, 6);
    r->now += 20;
    assert_int_equal(virtual_read(&r->system, &r->a, &r->a, readings),
                     generation + 2);
    assert_true(readings[9].value == 5 && readings[9].enabled == 100);
    assert_true(readings[10].value == 6 && readings[10].enabled == 20);
    free(r);
}

/* PIOCSETEVCTRL: refused as a start is, and no way into system mode. */
static void
test_errors_of_change(void **state)
{
    struct rig *const r = rig_make("r10000", 1);
    struct virtual_request q = rig_request(9, U);

    (void)state;
    const int generation = rig_start(r, &r->a, 9, U);
    q.threshold[3] = -1;
    assert_int_equal(virtual_change(&r->system, &r->a, &r->a, &q),
                     VIRTUAL_EINVAL);
    q = rig_request(9, U | K);
    assert_int_equal(virtual_change(&r->system, &r->a, &r->a, &q),
                     VIRTUAL_EPERM);
    assert_int_equal(virtual_change(&r->system, &r->root, &r->a, &q),
                     VIRTUAL_EINVAL);
    virtual_release(&r->system, &r->a, &r->a);
    q = rig_request(9, U);
    assert_int_equal(virtual_change(&r->system, &r->a, &r->a, &q),
                     VIRTUAL_EINVAL);
    assert_int_equal(r->a.generation, generation);
    free(r);
}

/* I50: event << 5, interrupt, modes: the low bits of the control register. */
static void
test_specifier(void **state)
{
    struct rig *const r = rig_make("r10000", 1);
    uint64_t value;

    (void)state;
    rig_run(r, 0, &r->root);
    assert_true(rig_start(r, &r->root, 25, U | S | EXL) > 0);
    tally_pmu_read(r->monitors[0], 0, r->mips.control[1], TALLY_PMU_PRIVILEGED,
                   &value);
    assert_int_equal(value, 9 << 5 | 1 << 4 | 0xd);
    tally_pmu_read(r->monitors[0], 0, r->mips.control[0], TALLY_PMU_PRIVILEGED,
                   &value);
    assert_int_equal(value, 0);
    free(r);
}

/* I55: the page's example never asks for event 25, which reads 0; what it means
 * to ask for counts. */
static void
test_example(void **state)
{
    (void)state;
    for (unsigned second = 9; second <= 25; second += 16) {
        struct rig *const r = rig_make("r10000", 1);
        struct virtual_request q = {.signal = 0};
        for (unsigned i = 0; i < 16; i++) {
            if (i == 9)
                rig_ask(&q, i, U | IE, 0);
        }
        for (unsigned i = 16; i < 32; i++) {
            if (i == second)
                rig_ask(&q, i, U | IE, 0);
        }
        rig_run(r, 0, &r->a);
        assert_true(virtual_start(&r->system, &r->a, &r->a, &q) > 0);
        rig_occur(r, 0, 9, 3);
        rig_occur(r, 0, 25, 4);
        assert_int_equal(rig_value(r, &r->a, 9), 3);
        assert_int_equal(rig_value(r, &r->a, 25), second == 25 ? 4 : 0);
        free(r);
    }
}

/* I60: each n occurrences the signal; the counter starts n below bit 31. */
static void
test_threshold(void **state)
{
    struct rig *const r = rig_make("r10000", 1);
    struct virtual_request q = {.signal = 16};
    uint64_t value;

    (void)state;
    rig_ask(&q, 9, U, 100);
    rig_run(r, 0, &r->a);
    virtual_start(&r->system, &r->a, &r->a, &q);
    tally_pmu_read(r->monitors[0], 0, r->mips.count[0], TALLY_PMU_PRIVILEGED,
                   &value);
    assert_int_equal(value, 0x80000000 - 100);
    for (unsigned n = 1; n <= 350; n++) {
        rig_occur(r, 0, 9, 1);
        assert_int_equal(r->told, n / 100);
    }
    assert_ptr_equal(r->told_owner, &r->a);
    assert_true(r->told_signal == 16 && r->told_index == 9);
    assert_int_equal(rig_value(r, &r->a, 9), 350);
    free(r);
}

/* I60: what comes before the service counts, but not for the next signal. */
static void
test_late_service(void **state)
{
    struct rig *const r = rig_make("r10000", 1);
    struct virtual_request q = {.signal = 16};

    (void)state;
    rig_ask(&q, 9, U, 100);
    rig_run(r, 0, &r->a);
    virtual_start(&r->system, &r->a, &r->a, &q);
    rig_occur(r, 0, 9, 190);
    assert_int_equal(r->told, 1);
    rig_occur(r, 0, 9, 99);
    assert_int_equal(r->told, 1);
    rig_occur(r, 0, 9, 1);
    assert_int_equal(r->told, 2);
    assert_int_equal(rig_value(r, &r->a, 9), 290);
    free(r);
}

/* I60 I63: no signal without a threshold, nor with a signal of 0. */
static void
test_no_signal(void **state)
{
    struct rig *const r = rig_make("r10000", 1);
    struct virtual_request q = {.signal = 0};

    (void)state;
    rig_ask(&q, 9, U | IE, 10);
    rig_run(r, 0, &r->a);
    virtual_start(&r->system, &r->a, &r->a, &q);
    rig_occur(r, 0, 9, 10);
    assert_true(r->told == 0 && r->interrupts == 1);
    q.signal = 5;
    rig_ask(&q, 9, U | IE, 0);
    virtual_start(&r->system, &r->a, &r->a, &q);
    rig_occur(r, 0, 9, 0x80000000);
    assert_true(r->told == 0 && r->interrupts == 2);
    free(r);
}

/* I61: only occurrences of the event whose turn it is lead to its threshold,
 * and those of other turns are not forgotten. */
static void
test_threshold_in_turns(void **state)
{
    struct rig *const r = rig_make("r10000", 1);
    struct virtual_request q = {.signal = 16};

    (void)state;
    rig_ask(&q, 2, U, 100);
    rig_ask(&q, 3, U, 1000);
    rig_run(r, 0, &r->a);
    virtual_start(&r->system, &r->a, &r->a, &q);
    for (unsigned turn = 0; turn < 4; turn++) {
        rig_occur(r, 0, 2, 30);
        rig_occur(r, 0, 3, 30);
        virtual_tick(&r->system, 0, 0);
    }
    assert_int_equal(r->told, 0);
    rig_occur(r, 0, 2, 39);
    assert_int_equal(r->told, 0);
    rig_run(r, 0, NULL);
    rig_run(r, 0, &r->a);
    rig_occur(r, 0, 2, 1);
    assert_true(r->told == 1 && r->told_index == 2);
    free(r);
}

/* R12000: I02's counters take any event; the index is the event. */
static void
test_r12000(void **state)
{
    struct rig *const r = rig_make("r12000", 1);
    struct virtual_request q = {.signal = 0};

    (void)state;
    q.spec[3] = 3 << 5 | U;
    q.spec[9] = 9 << 5 | U;
    rig_run(r, 0, &r->a);
    assert_true(virtual_start(&r->system, &r->a, &r->a, &q) > 0);
    rig_occur(r, 0, 3, 2);
    rig_occur(r, 0, 9, 4);
    assert_int_equal(rig_value(r, &r->a, 3), 2);
    assert_int_equal(rig_value(r, &r->a, 9), 4);
    q.spec[25] = 9 << 5 | U;
    assert_int_equal(virtual_start(&r->system, &r->a, &r->a, &q),
                     VIRTUAL_EINVAL);
    free(r);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_64_bits),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_no_turn),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_fork),
        cmocka_unit_test(test_wait),
        cmocka_unit_test(test_generations_of_processes),
        cmocka_unit_test(test_save),
        cmocka_unit_test(test_switch),
        cmocka_unit_test(test_release),
        cmocka_unit_test(test_errors_of_start),
        cmocka_unit_test(test_start),
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_control),
        cmocka_unit_test(test_change),
        cmocka_unit_test(test_errors_of_change),
        cmocka_unit_test(test_specifier),
        cmocka_unit_test(test_example),
        cmocka_unit_test(test_threshold),
        cmocka_unit_test(test_late_service),
        cmocka_unit_test(test_no_signal),
        cmocka_unit_test(test_threshold_in_turns),
        cmocka_unit_test(test_r12000),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
