/* SPDX-License-Identifier: MIT */
/* The queues of memory against the twin that goes from cycle to cycle. */
#include "machine/dram.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ref/dram_ref.h"
#include "ref/drive.h"
#include "ref/random.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define STEPS 4000

static const struct machine machines[] = {
    {__LINE__, "t1", {"time.bank=7", "time.memory=11"}},
    {__LINE__, "t1", {"time.bank=9", "time.memory=40"}},
    {__LINE__, "t2", {"time.bank=5", "time.memory=0"}},
    {__LINE__, "t2", {"time.bank=5", "time.memory=3", "memory.dram_banks=1"}},
    {__LINE__,
     "t4",
     {"time.bank=6", "time.memory=1", "memory.dram_banks=2",
      "memory.passes=1"}},
    {__LINE__,
     "t1",
     {"time.bank=4", "time.memory=2", "memory.dram_banks=1", "memory.queue=32",
      "memory.passes=2"}},
    {__LINE__,
     "t1",
     {"time.bank=3", "time.memory=1", "memory.queue=1", "memory.banks=1"}},
    {__LINE__,
     "t2",
     {"time.bank=1", "time.memory=0", "memory.queue=3", "memory.banks=1",
      "memory.dram_banks=64"}},
    {__LINE__,
     "t1",
     {"time.bank=8", "time.memory=5", "memory.interleave=16", "memory.banks=2",
      "memory.dram_banks=4", "memory.passes=1000"}},
    {__LINE__,
     "t2plus",
     {"time.bank=8", "time.memory=5", "memory.interleave=1K",
      "memory.dram_banks=2", "memory.passes=3"}},
};

struct pair {
    int line;
    struct dram dram;
    uint64_t total[SIGNAL_COUNT];
    struct dram_ref twin;
};

static void
compare_signal(const struct pair *p, int step, size_t signal, uint64_t wanted)
{
    if (p->total[signal] != wanted)
        fail_msg("row at line %d, step %d, %s: %" PRIu64
                 ", its twin says %" PRIu64,
                 p->line, step, tally_signals[signal].name, p->total[signal],
                 wanted);
}

static void
compare(const struct pair *p, int step)
{
    assert_int_equal(p->dram.now, p->twin.now);
    for (unsigned i = 0; i < DRAM_CHANNELS; i++) {
        const struct dram_ref_channel c = dram_ref_counts(&p->twin, i);
        compare_signal(p, step, SIGNAL_DRAM_READ_LATENCY_0 + i, c.reads);
        compare_signal(p, step, SIGNAL_DRAM_WRITE_LATENCY_0 + i, c.writes);
        compare_signal(p, step, SIGNAL_DRAM_STALLS_0 + i, c.stalls);
        compare_signal(p, step, SIGNAL_DRAM_DEFERRED_0 + i, c.deferred);
        compare_signal(p, step, SIGNAL_DRAM_STARVED_0 + i, c.starved);
    }
}

/* Few lines, of which many share a DRAM bank. */
static uint64_t
next_addr(uint64_t *state)
{
    const uint64_t far = random_below(state, 4) == 0 ? 1 << 20 : 1 << 11;

    return random_below(state, far) * 16;
}

/* One of the channels, more often the first. */
static unsigned
next_channel(uint64_t *state)
{
    return random_below(state, 3) != 0
               ? 0
               : (unsigned)random_below(state, DRAM_CHANNELS);
}

static struct dram_ref_miss
next_miss(uint64_t *state, uint64_t waits)
{
    struct dram_ref_miss m = {
        .channel = next_channel(state),
        .addr = next_addr(state),
        .reads = random_below(state, 10) != 0,
        .waits = random_below(state, 100) < waits,
        .write_count = (unsigned)random_below(state, 3),
    };

    for (unsigned i = 0; i < m.write_count; i++) {
        m.writes[i].channel = next_channel(state);
        m.writes[i].addr = next_addr(state);
    }
    return m;
}

static void
do_miss(struct pair *p, const struct dram_ref_miss *m)
{
    if (m->reads)
        dram_read(&p->dram, p->total, m->channel, m->addr, m->waits);
    for (unsigned i = 0; i < m->write_count; i++)
        dram_write(&p->dram, m->writes[i].channel, m->writes[i].addr);
    dram_settle(&p->dram, p->total);
    dram_ref_miss(&p->twin, m);
}

/* From streams where nobody waits, so that queues are full, to the reverse. */
static void
test_against_twin(void **unused)
{
    uint64_t state = random_seed();

    (void)unused;
    for (size_t m = 0; m < 3 * COUNT(machines); m++) {
        static struct pair p;
        uint64_t params[PARAM_COUNT];
        p = (struct pair){.line = machines[m % COUNT(machines)].line};
        params_of(&machines[m % COUNT(machines)], params);
        dram_init(&p.dram, params);
        dram_ref_init(&p.twin, params);
        for (int i = 0; i < STEPS; i++) {
            const struct dram_ref_miss miss =
                next_miss(&state, m / COUNT(machines) * 50);
            do_miss(&p, &miss);
            if (random_below(&state, 20) == 0)
                compare(&p, i);
        }
        compare(&p, STEPS);
    }
}

/* Each count moves, and the queue of another channel does not. */
static void
test_one_bank(void **unused)
{
    const struct machine m = {
        __LINE__, "t1", {"time.bank=10", "time.memory=0", "memory.passes=2"}};
    uint64_t params[PARAM_COUNT], total[SIGNAL_COUNT] = {0};
    static struct dram d;

    (void)unused;
    params_of(&m, params);
    dram_init(&d, params);
    dram_write(&d, 2, 0x0000); /* 0 to 10 */
    dram_write(&d, 2, 0x4000); /* 10 to 20, then to 30, then to 40 */
    dram_settle(&d, total);
    dram_read(&d, total, 2, 0x8000, false); /* 10 to 20 */
    dram_read(&d, total, 2, 0xc000, false); /* 20 to 30 */
    dram_read(&d, total, 2, 0x4000, false); /* 40 to 50 */
    dram_settle(&d, total);
    assert_int_equal(total[SIGNAL_DRAM_WRITE_LATENCY_2], 10 + 40);
    assert_int_equal(total[SIGNAL_DRAM_READ_LATENCY_2], 20 + 30 + 50);
    assert_int_equal(total[SIGNAL_DRAM_STALLS_2], 40);
    assert_int_equal(total[SIGNAL_DRAM_DEFERRED_2], 1);
    assert_int_equal(total[SIGNAL_DRAM_STARVED_2], 1);
    dram_read(&d, total, 3, 0x0000, true);
    dram_settle(&d, total);
    assert_int_equal(total[SIGNAL_DRAM_READ_LATENCY_3], 10);
    assert_int_equal(total[SIGNAL_DRAM_STALLS_3], 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_twin),
        cmocka_unit_test(test_one_bank),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
