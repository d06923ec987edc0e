/* SPDX-License-Identifier: MIT */
/* tally count --hardware: what the counters of a machine, and the software
 * that serves them, make of known totals. */
#include "profile/hardware.h"

#include "profile/session.h"
#include "test/check.h"

/* The events of the strands' counters. */
static size_t
choose(const struct machine_row *m, const struct event_row **events)
{
    size_t count = 0;

    for (size_t i = 0; i < m->event_count; i++) {
        const struct event_row *e = &m->events[i];
        if (strcmp(e->unit, "cpu") == 0 && e->counters != 0 &&
            e->fidelity != FIDELITY_IDLE)
            events[count++] = e;
    }
    return count;
}

/* Signals that make sense together. */
static struct totals
made_up(uint64_t seed, uint64_t scale)
{
    struct totals t;

    for (size_t s = 0; s < SIGNAL_COUNT; s++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
        t.signal[s] = (seed >> 40) % 1000 * scale / 1000 + s;
    }
    /* An instruction is of one class. */
    t.signal[SIGNAL_INSTRUCTIONS] =
        t.signal[SIGNAL_CLASS_BRANCH] + t.signal[SIGNAL_CLASS_FGU] +
        t.signal[SIGNAL_CLASS_LOAD] + t.signal[SIGNAL_CLASS_STORE] +
        t.signal[SIGNAL_CLASS_SETHI] + t.signal[SIGNAL_CLASS_OTHER] +
        t.signal[SIGNAL_CLASS_ATOMIC];
    return t;
}

/* Every event's value is that of its signals, however often its counter
 * wrapped, from the turns that it had. */
static void
check_values(uint64_t scale, bool wraps)
{
    const struct machine_row *m = machine_find("ultrasparc-t2");
    const struct event_row *events[64];
    const size_t count = choose(m, events);
    struct totals turns[REGION_TURNS];
    struct hardware h;

    assert_true(count > 20);
    assert_int_equal(hardware_init(&h, m, events, count, NULL), 0);
    assert_int_equal(h.turn_count, (count + 1) / 2);
    for (size_t t = 0; t < h.turn_count; t++)
        turns[t] = made_up(t + scale, scale);
    hardware_add(&h, turns);
    for (size_t t = 0; t < h.turn_count; t++) {
        for (size_t c = 0; c < HARDWARE_COUNTERS; c++) {
            const int32_t e = h.turns[t].event[c];
            if (e < 0)
                continue;
            assert_int_equal(h.readings[e].value,
                             event_value(events[e], &turns[t]));
            assert_int_equal(h.readings[e].running,
                             turns[t].signal[SIGNAL_INSTRUCTIONS]);
            assert_true(h.readings[e].enabled >= h.readings[e].running);
        }
    }
    assert_int_equal(h.overflows > 0, wraps);
    hardware_finish(&h);
}

static void
test_values(void **state)
{
    (void)state;
    check_values(1000, false);
    check_values(UINT64_C(4000000000), true); /* some wrap, some do not */
    check_values(UINT64_C(100000000000), true);
}

static void
test_threads_add_up(void **state)
{
    const struct machine_row *m = machine_find("ultrasparc-t2");
    const struct event_row *event = event_find(m, "All_instr");
    const struct totals turn = made_up(7, UINT64_C(9000000000));
    struct hardware h;

    (void)state;
    assert_int_equal(hardware_init(&h, m, &event, 1, NULL), 0);
    for (int thread = 0; thread < 3; thread++)
        hardware_add(&h, &turn);
    assert_int_equal(h.readings[0].value, 3 * event_value(event, &turn));
    assert_int_equal(h.readings[0].running, h.readings[0].enabled);
    assert_int_equal(hardware_scaled(&h.readings[0]), h.readings[0].value);
    hardware_reset(&h);
    hardware_add(&h, &turn);
    assert_int_equal(h.readings[0].value, event_value(event, &turn));
    hardware_finish(&h);
}

/* Both at the very edge of a wrap. */
static void
test_edges(void **state)
{
    const struct machine_row *m = machine_find("ultrasparc-t2");
    const struct event_row *event = event_find(m, "Load_instr");
    const uint64_t wrap = UINT64_C(1) << 32;
    struct hardware h;

    (void)state;
    assert_int_equal(hardware_init(&h, m, &event, 1, NULL), 0);
    for (uint64_t n = wrap - 40; n < wrap + 40; n++) {
        struct totals turn = {0};
        turn.signal[SIGNAL_CLASS_LOAD] = n;
        hardware_reset(&h);
        hardware_add(&h, &turn);
        assert_int_equal(h.readings[0].value, event_value(event, &turn));
    }
    hardware_finish(&h);
}

static void
test_scaled(void **state)
{
    const struct hardware_reading half = {10, 1000, 500};
    const struct hardware_reading none = {0, 1000, 0};

    (void)state;
    assert_int_equal(hardware_scaled(&half), 20);
    assert_int_equal(hardware_scaled(&none), 0);
}

static void
test_refusals(void **state)
{
    struct heard heard;
    const struct tally_log log = listen(&heard);
    const struct machine_row *t2 = machine_find("ultrasparc-t2");
    const struct machine_row *model = machine_find("host-model");
    const struct event_row *cycles = event_find(t2, "cycles");
    const struct event_row *branches = event_find(model, "branches");
    struct hardware h = {0};

    (void)state;
    assert_int_equal(hardware_init(&h, t2, &cycles, 1, &log), TALLY_ERULE);
    assert_string_equal(heard.text,
                        "no counter of ultrasparc-t2 counts cycles");
    assert_int_equal(hardware_init(&h, model, &branches, 1, &log), TALLY_ERULE);
    assert_string_equal(heard.text,
                        "--hardware is for ultrasparc-t2; host-model is "
                        "counted by its model alone");
    hardware_finish(&h);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),   cmocka_unit_test(test_threads_add_up),
        cmocka_unit_test(test_edges),    cmocka_unit_test(test_scaled),
        cmocka_unit_test(test_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
