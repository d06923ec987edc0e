/* SPDX-License-Identifier: MIT */
/* Virtual counters by the rules of r10k_evcntrs(5): system mode, and what
 * syssgi(SGI_EVENTCTR) has. */
#include "virtual_rig.h"

#define U VIRTUAL_USER
#define K VIRTUAL_KERNEL
#define S VIRTUAL_SUPERVISOR
#define EXL VIRTUAL_EXCEPTION

static int
start_system(struct rig *r, unsigned bits)
{
    const struct virtual_request q = rig_request(9, bits);

    return virtual_system_start(&r->system, &r->root, &q);
}

/* I30: root and kernel mode of one event make system mode. */
static void
test_what_is_system_mode(void **state)
{
    static const struct {
        unsigned first, second;
        bool system;
    } rows[] = {{U, 0, false},       {S, U, false},     {EXL, 0, false},
                {U | EXL, S, false}, {K, 0, true},      {U, K, true},
                {U | K, U, true},    {K | EXL, 0, true}};

    (void)state;
    for (size_t k = 0; k < COUNT(rows); k++) {
        struct rig *const r = rig_make("r10000", 1);
        struct virtual_request q = rig_request(9, rows[k].first);
        if (rows[k].second != 0)
            rig_ask(&q, 10, rows[k].second, 0);
        assert_true(virtual_start(&r->system, &r->root, &r->a, &q) > 0);
        assert_int_equal(r->system.active, rows[k].system);
        free(r);
    }
}

/* I31: across switches, on every CPU, whoever runs and in any asked mode. */
static void
test_across_switches(void **state)
{
    struct rig *const r = rig_make("r10000", 2);

    (void)state;
    rig_run(r, 0, &r->a);
    assert_true(start_system(r, K | U) > 0);
    rig_occur(r, 0, 9, 1);
    rig_run(r, 0, &r->b);
    rig_occur(r, 0, 9, 2);
    rig_run(r, 0, NULL);
    rig_mode(r, 0, TALLY_PMU_PRIVILEGED);
    rig_occur(r, 0, 9, 4);
    rig_occur(r, 1, 9, 8);
    assert_int_equal(rig_system_value(r, 9), 15);
    assert_int_equal(rig_value(r, &r->a, 9), 0);
    free(r);
}

/* I31: an overflow is added to the CPU's own counters, not to the sum. */
static void
test_overflow_is_private(void **state)
{
    struct rig *const r = rig_make("r10000", 2);

    (void)state;
    assert_true(start_system(r, K | U) > 0);
    rig_occur(r, 1, 9, 0x80000003);
    assert_int_equal(r->interrupts, 1);
    assert_true(r->cpus[1].own.count[9] == 0x80000003);
    assert_int_equal(r->cpus[0].own.count[9], 0);
    assert_int_equal(r->system.global[9].value, 0);
    free(r);
}

/* I32 HWPERF_GET_SYSCNTRS HWPERF_GET_CPUCNTRS: the sum is of all CPUs, whoever
 * reads how often; no such CPU is 0. */
static void
test_sum(void **state)
{
    struct rig *const r = rig_make("r10000", 3);
    struct counter_reading readings[VIRTUAL_EVENTS];

    (void)state;
    const int generation = start_system(r, K | U);
    for (unsigned n = 0; n < 3; n++)
        rig_occur(r, n, 9, n + 1);
    for (unsigned again = 0; again < 3; again++) {
        assert_int_equal(virtual_system_read(&r->system, readings), generation);
        assert_int_equal(readings[9].value, 6);
        for (unsigned n = 0; n < 3; n++)
            assert_int_equal(rig_cpu_value(r, n, 9), n + 1);
    }
    assert_int_equal(virtual_system_read_cpu(&r->system, 2, readings),
                     generation);
    assert_int_equal(virtual_system_read_cpu(&r->system, 3, readings), 0);
    free(r);
}

/* I21 I31: events of system mode take turns on each CPU by its own clock. */
static void
test_turns(void **state)
{
    struct rig *const r = rig_make("r10000", 2);
    struct virtual_request q = rig_request(9, K | U);

    (void)state;
    rig_ask(&q, 10, K | U, 0);
    assert_true(virtual_system_start(&r->system, &r->root, &q) > 0);
    virtual_tick(&r->system, 1, 0);
    for (unsigned n = 0; n < 2; n++) {
        rig_occur(r, n, 9, 3);
        rig_occur(r, n, 10, 5);
    }
    assert_int_equal(rig_system_value(r, 9), 3);
    assert_int_equal(rig_cpu_value(r, 1, 10), 5);
    free(r);
}

/* I32 I30 PIOCENEVCTRS PIOCGETEVCTRS PIOCRELEVCTRS: system mode through the
 * file of a process, which reads the sum, also after the release. */
static void
test_holder(void **state)
{
    struct rig *const r = rig_make("r10000", 2);
    uint16_t spec[VIRTUAL_EVENTS];
    uint64_t value;

    (void)state;
    const struct virtual_request q = rig_request(9, K | U);
    const int generation = virtual_start(&r->system, &r->root, &r->a, &q);
    rig_occur(r, 0, 9, 1);
    rig_occur(r, 1, 9, 2);
    assert_int_equal(rig_read(r, &r->a, 9, &value), generation);
    assert_int_equal(value, 3);
    assert_int_equal(rig_value(r, &r->b, 9), 0);
    virtual_control(&r->system, &r->a, &r->a, spec);
    assert_int_equal(spec[9], q.spec[9]);
    assert_int_equal(virtual_release(&r->system, &r->b, &r->a), VIRTUAL_EPERM);
    assert_true(r->system.active);
    assert_int_equal(virtual_release(&r->system, &r->root, &r->a), 0);
    assert_false(r->system.active);
    rig_occur(r, 0, 9, 100);
    assert_int_equal(rig_read(r, &r->a, 9, &value), generation);
    assert_int_equal(value, 3);
    free(r);
}

/* PIOCSETEVCTRL HWPERF_SET_SYSEVCTRL I40: of the holder, by either call; both
 * generations grow. It stays in system mode. */
static void
test_change_of_holder(void **state)
{
    struct rig *const r = rig_make("r10000", 1);
    struct virtual_request q = rig_request(9, K | U);

    (void)state;
    const int own = virtual_start(&r->system, &r->root, &r->a, &q);
    const int all = r->system.generation;
    q = rig_request(10, K | U);
    assert_int_equal(virtual_change(&r->system, &r->root, &r->a, &q), own + 1);
    assert_int_equal(virtual_system_change(&r->system, &r->root, &q), all + 2);
    assert_int_equal(r->a.generation, own + 2);
    q = rig_request(10, U);
    assert_int_equal(virtual_change(&r->system, &r->root, &r->a, &q),
                     VIRTUAL_EINVAL);
    assert_int_equal(virtual_change(&r->system, &r->root, &r->b, &q),
                     VIRTUAL_EBUSY);
    free(r);
}

/* The holder's exit releases; its parent has none of the system's counts. */
static void
test_exit_of_holder(void **state)
{
    struct rig *const r = rig_make("r10000", 1);
    const struct virtual_request q = rig_request(9, K | U);
    struct virtual_owner child;

    (void)state;
    virtual_fork(&r->system, &r->root, &child);
    assert_true(virtual_start(&r->system, &r->root, &child, &q) > 0);
    rig_occur(r, 0, 9, 8);
    virtual_exit(&r->system, &child, &r->root, true);
    assert_false(r->system.active);
    assert_int_equal(rig_value(r, &r->root, 9), 0);
    assert_int_equal(rig_system_value(r, 9), 8);
    free(r);
}

/* I33: in use on a CPU in user mode: none in system mode by /proc. In use in
 * system mode: nothing for anybody. */
static void
test_busy(void **state)
{
    struct rig *const r = rig_make("r10000", 2);
    const struct virtual_range range = {0, 0x10000, 1, &(uint16_t){0}};
    struct virtual_request q = rig_request(9, U);

    (void)state;
    rig_run(r, 1, &r->a);
    assert_true(rig_start(r, &r->a, 9, U) > 0);
    assert_int_equal(rig_start(r, &r->root, 9, K), VIRTUAL_EBUSY);
    rig_run(r, 1, NULL);
    assert_true(rig_start(r, &r->root, 9, K) > 0);
    assert_int_equal(rig_start(r, &r->root, 9, K), VIRTUAL_EBUSY);
    assert_int_equal(rig_start(r, &r->root, 9, U), VIRTUAL_EBUSY);
    assert_int_equal(rig_start(r, &r->a, 9, U), VIRTUAL_EBUSY);
    assert_int_equal(rig_start(r, &r->a, 9, K), VIRTUAL_EPERM);
    assert_int_equal(start_system(r, K), VIRTUAL_EBUSY);
    q.threshold[9] = 1;
    assert_int_equal(virtual_profile(&r->system, &r->a, &q, &range, 1),
                     VIRTUAL_EBUSY);
    free(r);
}

/* I34 I35: who did not run when system mode took the counters has lost them,
 * for good, and a new generation says so; once. */
static void
test_lost_while_away(void **state)
{
    struct rig *const r = rig_make("r10000", 1);
    uint64_t value;

    (void)state;
    rig_run(r, 0, &r->a);
    const int generation = rig_start(r, &r->a, 9, U);
    rig_occur(r, 0, 9, 5);
    rig_run(r, 0, NULL);
    assert_true(rig_start(r, &r->root, 9, K) > 0);
    rig_run(r, 0, &r->a);
    rig_occur(r, 0, 9, 5);
    assert_int_equal(rig_read(r, &r->a, 9, &value), generation + 1);
    assert_int_equal(value, 5);
    assert_int_equal(virtual_release(&r->system, &r->root, &r->root), 0);
    rig_run(r, 0, NULL);
    rig_run(r, 0, &r->a);
    rig_occur(r, 0, 9, 5);
    assert_int_equal(rig_read(r, &r->a, 9, &value), generation + 1);
    assert_int_equal(value, 5);
    assert_true(rig_start(r, &r->a, 9, U) > generation + 1);
    rig_occur(r, 0, 9, 5);
    assert_int_equal(rig_value(r, &r->a, 9), 5);
    free(r);
}

/* I34: also if it never ran in between; and its children with it. */
static void
test_lost_unseen(void **state)
{
    struct rig *const r = rig_make("r10000", 1);
    struct virtual_owner child;
    uint64_t value;

    (void)state;
    const int generation = rig_start(r, &r->a, 9, U);
    assert_true(start_system(r, K) > 0);
    assert_int_equal(virtual_system_release(&r->system, &r->root), 0);
    virtual_fork(&r->system, &r->a, &child);
    rig_run(r, 0, &r->a);
    rig_occur(r, 0, 9, 5);
    rig_run(r, 0, &child);
    rig_occur(r, 0, 9, 5);
    assert_int_equal(rig_read(r, &r->a, 9, &value), generation + 1);
    assert_int_equal(value, 0);
    assert_int_equal(rig_read(r, &child, 9, &value), generation + 1);
    assert_int_equal(value, 0);
    free(r);
}

/* I36 I35 HWPERF_ENSYSCNTRS: takes them from who runs and who does not, on
 * every CPU, and counts there at once. */
static void
test_force(void **state)
{
    struct rig *const r = rig_make("r10000", 3);
    uint64_t value;

    (void)state;
    rig_run(r, 1, &r->a);
    rig_run(r, 2, &r->other);
    rig_start(r, &r->a, 9, U);
    rig_start(r, &r->b, 9, U);
    const int generation = rig_start(r, &r->other, 9, U);
    rig_occur(r, 1, 9, 4);
    assert_true(start_system(r, K | U) > 0);
    for (unsigned n = 0; n < 3; n++)
        rig_occur(r, n, 9, 1);
    assert_int_equal(rig_system_value(r, 9), 3);
    assert_int_equal(rig_value(r, &r->a, 9), 4);
    assert_int_equal(rig_read(r, &r->other, 9, &value), generation + 1);
    assert_int_equal(rig_read(r, &r->b, 9, &value), generation + 1);
    free(r);
}

/* HWPERF_ENSYSCNTRS I70 I42: its argument is that of PIOCENEVCTRS; root, kernel
 * mode of some event, and nobody before. */
static void
test_errors_of_force(void **state)
{
    struct rig *const r = rig_make("r10000", 1);
    struct virtual_request q = rig_request(9, K);

    (void)state;
    assert_int_equal(virtual_system_start(&r->system, &r->a, &q),
                     VIRTUAL_EPERM);
    assert_int_equal(start_system(r, U), VIRTUAL_EINVAL);
    assert_int_equal(start_system(r, EXL | S), VIRTUAL_EINVAL);
    q.threshold[9] = -1;
    assert_int_equal(virtual_system_start(&r->system, &r->root, &q),
                     VIRTUAL_EINVAL);
    assert_true(start_system(r, K) > 0);
    assert_int_equal(start_system(r, K), VIRTUAL_EBUSY);
    free(r);
}

/* I37 I71 HWPERF_RELSYSCNTRS I70: by root; then user mode may, and who had them
 * before has to ask. */
static void
test_release(void **state)
{
    struct rig *const r = rig_make("r10000", 1);

    (void)state;
    rig_run(r, 0, &r->a);
    rig_start(r, &r->a, 9, U);
    assert_true(start_system(r, K) > 0);
    assert_int_equal(virtual_system_release(&r->system, &r->a), VIRTUAL_EPERM);
    assert_int_equal(virtual_system_release(&r->system, &r->root), 0);
    assert_int_equal(virtual_system_release(&r->system, &r->root), 0);
    rig_occur(r, 0, 9, 5);
    assert_int_equal(rig_value(r, &r->a, 9), 0);
    assert_true(rig_start(r, &r->a, 9, U) > 0);
    rig_occur(r, 0, 9, 5);
    assert_int_equal(rig_value(r, &r->a, 9), 5);
    free(r);
}

/* I72: the sum of the last session stays until the next begins. */
static void
test_sum_after_release(void **state)
{
    struct rig *const r = rig_make("r10000", 2);

    (void)state;
    assert_true(start_system(r, K | U) > 0);
    rig_occur(r, 0, 9, 5);
    rig_occur(r, 1, 9, 6);
    virtual_system_release(&r->system, &r->root);
    rig_occur(r, 1, 9, 6);
    assert_int_equal(rig_system_value(r, 9), 11);
    assert_int_equal(rig_cpu_value(r, 1, 9), 6);
    assert_true(start_system(r, K | U) > 0);
    assert_int_equal(rig_system_value(r, 9), 0);
    free(r);
}

/* HWPERF_GET_SYSEVCTRL */
static void
test_control(void **state)
{
    struct rig *const r = rig_make("r10000", 1);
    uint16_t spec[VIRTUAL_EVENTS];

    (void)state;
    rig_run(r, 0, &r->a);
    rig_start(r, &r->a, 9, U);
    assert_int_equal(virtual_system_control(&r->system, spec), VIRTUAL_EINVAL);
    const int generation = start_system(r, K | U);
    assert_int_equal(virtual_system_control(&r->system, spec), generation);
    assert_int_equal(spec[9], 9 << 5 | K | U);
    assert_int_equal(spec[8], 0);
    free(r);
}

/* HWPERF_SET_SYSEVCTRL: by root; counts stay, each call is a generation. */
static void
test_change(void **state)
{
    struct rig *const r = rig_make("r10000", 2);
    struct virtual_request q = rig_request(10, K | U);

    (void)state;
    assert_int_equal(virtual_system_change(&r->system, &r->root, &q),
                     VIRTUAL_EINVAL);
    const int generation = start_system(r, K | U);
    rig_occur(r, 1, 9, 5);
    assert_int_equal(virtual_system_change(&r->system, &r->a, &q),
                     VIRTUAL_EPERM);
    assert_int_equal(virtual_system_change(&r->system, &r->root, &q),
                     generation + 1);
    rig_occur(r, 1, 9, 50);
    rig_occur(r, 0, 10, 6);
    assert_int_equal(rig_system_value(r, 9), 5);
    assert_int_equal(rig_system_value(r, 10), 6);
    q = rig_request(10, U);
    assert_int_equal(virtual_system_change(&r->system, &r->root, &q),
                     VIRTUAL_EINVAL);
    free(r);
}

/* I60 HWPERF_ENSYSCNTRS: signals of system mode go to who asked, while it
 * lives; the session goes on without. */
static void
test_signals(void **state)
{
    struct rig *const r = rig_make("r10000", 2);
    struct virtual_request q = {.signal = 16};

    (void)state;
    rig_ask(&q, 9, K | U, 10);
    rig_run(r, 1, &r->a);
    assert_true(virtual_system_start(&r->system, &r->root, &q) > 0);
    rig_occur(r, 1, 9, 10);
    assert_int_equal(r->told, 1);
    assert_ptr_equal(r->told_owner, &r->root);
    virtual_exit(&r->system, &r->root, NULL, false);
    rig_occur(r, 1, 9, 10);
    assert_int_equal(r->told, 1);
    assert_int_equal(rig_system_value(r, 9), 20);
    free(r);
}

/* I62 HWPERF_PROFENABLE: each threshold counts where the program was. */
static void
test_profile(void **state)
{
    struct rig *const r = rig_make("r10000", 1);
    uint16_t last[4] = {0}, fine[4] = {0}, rest[1] = {UINT16_MAX - 1};
    const struct virtual_range ranges[] = {{UINT64_MAX - 1, 0x10000, 4, last},
                                           {0x1000, 0x10000, 4, fine},
                                           {0, 2, 1, rest}};
    static const uint64_t pcs[] = {0x1000, 0x1001, 0x1006, 0x1008,
                                   0xfff,  0x1004, 0x2000, 0};
    struct virtual_request q = rig_request(9, U);

    (void)state;
    q.threshold[9] = 5;
    rig_run(r, 0, &r->a);
    assert_true(virtual_profile(&r->system, &r->a, &q, ranges, 3) > 0);
    for (size_t k = 0; k < COUNT(pcs); k++) {
        r->pc = pcs[k];
        rig_occur(r, 0, 9, 5);
    }
    assert_true(fine[0] == 2 && fine[1] == 0 && fine[2] == 1 && fine[3] == 1);
    assert_true(rest[0] == UINT16_MAX && last[0] == 0 && last[1] == 0);
    assert_int_equal(rig_value(r, &r->a, 9), 40);
    assert_int_equal(r->told, 0);
    free(r);
}

/* I62: not of a child, nor after the next start; far code has no bucket. */
static void
test_end_of_profile(void **state)
{
    struct rig *const r = rig_make("r10000", 1);
    uint16_t buckets[2] = {0};
    const struct virtual_range range = {0x1000, 0x8000, 2, buckets};
    struct virtual_request q = rig_request(9, U);
    struct virtual_owner child;

    (void)state;
    q.threshold[9] = 5;
    rig_run(r, 0, &r->a);
    virtual_profile(&r->system, &r->a, &q, &range, 1);
    r->pc = 0x1004;
    rig_occur(r, 0, 9, 5);
    r->pc = UINT64_C(0xffffffff00001000);
    rig_occur(r, 0, 9, 5);
    r->pc = 0x1004;
    virtual_fork(&r->system, &r->a, &child);
    rig_run(r, 0, &child);
    rig_occur(r, 0, 9, 5);
    rig_run(r, 0, &r->a);
    virtual_start(&r->system, &r->a, &r->a, &q);
    rig_occur(r, 0, 9, 5);
    assert_true(buckets[0] == 0 && buckets[1] == 1);
    free(r);
}

/* I62: a bucket far into a range: 0x20000 bytes, a quarter of the buckets. */
static void
test_far_bucket(void **state)
{
    static uint16_t buckets[0x8000];
    struct rig *const r = rig_make("r10000", 1);
    const struct virtual_range range = {0x1000, 0x4000, COUNT(buckets),
                                        buckets};
    struct virtual_request q = rig_request(9, U);

    (void)state;
    q.threshold[9] = 5;
    rig_run(r, 0, &r->a);
    virtual_profile(&r->system, &r->a, &q, &range, 1);
    r->pc = 0x1000 + 0x20000 + 8 * 3;
    rig_occur(r, 0, 9, 5);
    assert_int_equal(buckets[0x4003], 1);
    free(r);
}

/* I40: the number after the last is positive again. */
static void
test_last_generation(void **state)
{
    struct rig *const r = rig_make("r10000", 1);

    (void)state;
    r->a.generation = INT32_MAX - 1;
    assert_int_equal(rig_start(r, &r->a, 9, U), INT32_MAX);
    assert_int_equal(rig_start(r, &r->a, 9, U), 1);
    free(r);
}

/* HWPERF_PROFENABLE: what it refuses. */
static void
test_errors_of_profile(void **state)
{
    struct rig *const r = rig_make("r10000", 1);
    uint16_t bucket = 0;
    const struct virtual_range range = {0, 2, 1, &bucket};
    const struct virtual_range none = {0, 2, 0, &bucket};
    const struct virtual_range nowhere = {0, 2, 1, NULL};
    struct virtual_request q = rig_request(9, U);

    (void)state;
    assert_int_equal(virtual_profile(&r->system, &r->a, &q, &range, 1),
                     VIRTUAL_EINVAL);
    q.threshold[9] = 5;
    assert_int_equal(virtual_profile(&r->system, &r->a, &q, &range, 0),
                     VIRTUAL_EINVAL);
    assert_int_equal(virtual_profile(&r->system, &r->a, &q, NULL, 1),
                     VIRTUAL_EINVAL);
    assert_int_equal(virtual_profile(&r->system, &r->a, &q, &none, 1),
                     VIRTUAL_EINVAL);
    assert_int_equal(virtual_profile(&r->system, &r->a, &q, &nowhere, 1),
                     VIRTUAL_EINVAL);
    rig_ask(&q, 9, K | U, 5);
    assert_int_equal(virtual_profile(&r->system, &r->a, &q, &range, 1),
                     VIRTUAL_EPERM);
    assert_int_equal(virtual_profile(&r->system, &r->root, &q, &range, 1),
                     VIRTUAL_EINVAL);
    free(r);
}

/* What can stand below; what was in the memory does not matter. */
static void
test_init(void **state)
{
    static const struct {
        int line;
        unsigned counters, width;
        uint64_t limit;
        unsigned cpus;
        int answer;
    } rows[] = {
        {__LINE__, 2, 32, UINT64_C(1) << 31, 1, 0},
        {__LINE__, 2, 32, UINT64_C(1) << 31, 0, VIRTUAL_EINVAL},
        {__LINE__, 0, 32, UINT64_C(1) << 31, 1, VIRTUAL_EINVAL},
        {__LINE__, VIRTUAL_HARDWARE, 32, UINT64_C(1) << 31, 1, 0},
        {__LINE__, VIRTUAL_HARDWARE + 1, 32, UINT64_C(1) << 31, 1,
         VIRTUAL_EINVAL},
        {__LINE__, 1, 32, UINT64_C(1) << 32, 1, 0},
        {__LINE__, 1, 32, (UINT64_C(1) << 32) + 1, 1, VIRTUAL_EINVAL},
        {__LINE__, 1, 32, (UINT64_C(1) << 31) - 1, 1, VIRTUAL_EINVAL},
        {__LINE__, 1, 2, 2, 1, 0},
        {__LINE__, 1, 1, 1, 1, VIRTUAL_EINVAL},
        {__LINE__, 1, 64, UINT64_C(1) << 63, 1, 0},
        {__LINE__, 1, 65, UINT64_MAX, 1, VIRTUAL_EINVAL},
    };

    (void)state;
    for (size_t k = 0; k < COUNT(rows); k++) {
        struct virtual_pmu_ops ops = virtual_r10000_ops;
        struct virtual_system system;
        struct virtual_cpu cpu;
        uint16_t spec[VIRTUAL_EVENTS];
        ops.counters = rows[k].counters;
        ops.width = rows[k].width;
        ops.limit = rows[k].limit;
        memset(&system, 0xff, sizeof(system));
        const int answer = virtual_init(&system, &ops, NULL, &rig_ops, NULL,
                                        &cpu, rows[k].cpus);
        if (answer != rows[k].answer ||
            (answer == 0 &&
             virtual_system_control(&system, spec) != VIRTUAL_EINVAL))
            fail_msg("row at line %d: %d", rows[k].line, answer);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_system_mode),
        cmocka_unit_test(test_across_switches),
        cmocka_unit_test(test_overflow_is_private),
        cmocka_unit_test(test_sum),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_holder),
        cmocka_unit_test(test_change_of_holder),
        cmocka_unit_test(test_exit_of_holder),
        cmocka_unit_test(test_busy),
        cmocka_unit_test(test_lost_while_away),
        cmocka_unit_test(test_lost_unseen),
        cmocka_unit_test(test_force),
        cmocka_unit_test(test_errors_of_force),
        cmocka_unit_test(test_release),
        cmocka_unit_test(test_sum_after_release),
        cmocka_unit_test(test_control),
        cmocka_unit_test(test_change),
        cmocka_unit_test(test_signals),
        cmocka_unit_test(test_profile),
        cmocka_unit_test(test_end_of_profile),
        cmocka_unit_test(test_far_bucket),
        cmocka_unit_test(test_last_generation),
        cmocka_unit_test(test_errors_of_profile),
        cmocka_unit_test(test_init),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
