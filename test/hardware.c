/* SPDX-License-Identifier: MIT */
/* tally count --hardware: what the counters of a machine, and the software
 * that serves them, make of known totals. */
#include "profile/hardware.h"

#include "profile/session.h"
#include "timing/t4_class.h"
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

/* The same for a T4: classes of its own, and what each level served. */
static struct totals
made_up_t4(uint64_t seed, uint64_t scale)
{
    struct totals t = made_up(seed, scale);
    uint64_t *n = t.signal;

    n[SIGNAL_T4_CLASS_BRANCH] +=
        n[SIGNAL_CONDITIONAL_TAKEN] + n[SIGNAL_UNCONDITIONAL_TAKEN];
    n[SIGNAL_INSTRUCTIONS] = 0;
    for (unsigned c = 0; c < T4_CLASS_COUNT; c++)
        n[SIGNAL_INSTRUCTIONS] += n[SIGNAL_T4_CLASS_BRANCH + c];
    n[SIGNAL_STALL_BRANCH] += n[SIGNAL_STALL_MISPREDICT];
    n[SIGNAL_L1I_MISSES] = n[SIGNAL_FETCH_L2_HITS] + n[SIGNAL_FETCH_L3_HITS] +
                           n[SIGNAL_FETCH_MEMORY];
    n[SIGNAL_STALL_LOAD] =
        n[SIGNAL_STALL_ROB] + n[SIGNAL_STALL_LB] + n[SIGNAL_STALL_SB];
    n[SIGNAL_L1I_MICROTAG_FINDS] %= n[SIGNAL_L1I_MISSES] + 1;
    n[SIGNAL_L1I_MICROTAG_MISSES] =
        n[SIGNAL_L1I_MISSES] - n[SIGNAL_L1I_MICROTAG_FINDS];
    n[SIGNAL_PLAIN_LOAD_MISSES] =
        n[SIGNAL_LOAD_L2_HITS] + n[SIGNAL_LOAD_L3_HITS] + n[SIGNAL_LOAD_MEMORY];
    n[SIGNAL_ITLB_WALK_REFS] = n[SIGNAL_ITLB_WALK_L2_HITS] +
                               n[SIGNAL_ITLB_WALK_L3_HITS] +
                               n[SIGNAL_ITLB_WALK_MEMORY];
    n[SIGNAL_DTLB_WALK_REFS] = n[SIGNAL_DTLB_WALK_L2_HITS] +
                               n[SIGNAL_DTLB_WALK_L3_HITS] +
                               n[SIGNAL_DTLB_WALK_MEMORY];
    n[SIGNAL_ITLB_MISSES] = n[SIGNAL_DTLB_STORE_MISSES] =
        n[SIGNAL_DTLB_LOAD_MISSES] = 0;
    for (unsigned page = 0; page < 5; page++) {
        n[SIGNAL_ITLB_MISSES] += n[SIGNAL_ITLB_FILLS_0 + page];
        n[SIGNAL_DTLB_LOAD_MISSES] += n[SIGNAL_DTLB_FILLS_0 + page];
    }
    return t;
}

static bool
has_every_slice(const struct hardware *h, int32_t event)
{
    for (size_t t = 0; t < h->slice_count; t++) {
        if (h->slices[t].event[1] != event)
            return false;
    }
    return h->slice_count > 1;
}

static void
check_every_slice(const struct hardware *h, const struct totals *slices)
{
    for (size_t e = 0; e < h->event_count; e++) {
        uint64_t sum = 0;

        if (!has_every_slice(h, (int32_t)e))
            continue;
        for (size_t t = 0; t < h->slice_count; t++)
            sum += event_value(h->events[e], &slices[t]);
        assert_int_equal(h->readings[e].value, sum);
    }
}

/* Every event's value is that of its signals, however often its counter
 * wrapped, from the slices that it had: here one at the most, unless its
 * counter has no other. */
static void
check_values(const char *machine, size_t slice_count, uint64_t scale,
             bool wraps)
{
    const struct machine_row *m = machine_find(machine);
    const struct event_row *events[128];
    const size_t count = choose(m, events);
    struct totals *const slices = test_calloc(COUNTS_SLICES, sizeof(*slices));
    struct hardware h;

    assert_int_equal(hardware_init(&h, m, events, count, NULL), 0);
    assert_int_equal(h.slice_count, slice_count);
    for (size_t t = 0; t < h.slice_count; t++)
        slices[t] = m->family == FAMILY_SPARC_T4 ? made_up_t4(t + scale, scale)
                                                 : made_up(t + scale, scale);
    hardware_add(&h, slices);
    for (size_t t = 0; t < h.slice_count; t++) {
        for (size_t c = 0; c < HARDWARE_COUNTERS; c++) {
            const int32_t e = h.slices[t].event[c];
            if (e < 0 || has_every_slice(&h, e))
                continue;
            assert_int_equal(h.readings[e].value,
                             event_value(events[e], &slices[t]));
            assert_int_equal(h.readings[e].running,
                             slices[t].signal[SIGNAL_INSTRUCTIONS]);
            assert_true(h.readings[e].enabled >= h.readings[e].running);
        }
    }
    check_every_slice(&h, slices);
    assert_int_equal(h.overflows > 0, wraps);
    hardware_finish(&h);
    test_free(slices);
}

static void
test_values(void **state)
{
    static const struct {
        const char *name;
        size_t slices;
    } machines[] = {
        {"ultrasparc-t1", 8}, {"ultrasparc-t2", 13}, {"sparc-t4", 31},
        {"r10000", 16},       {"r10000-rev2", 16},   {"r12000", 16},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++) {
        const char *name = machines[i].name;
        const size_t n = machines[i].slices;

        check_values(name, n, 1000, false);
        /* Some wrap, some do not. */
        check_values(name, n, UINT64_C(4000000000), true);
        check_values(name, n, UINT64_C(100000000000), true);
    }
}

/* PIC1 of a T1 chooses nothing: what it counts misses no slice. */
static void
test_always(void **state)
{
    const struct machine_row *m = machine_find("ultrasparc-t1");
    const struct event_row *events[] = {event_find(m, "IC_miss"),
                                        event_find(m, "DC_miss"),
                                        event_find(m, "instr_cnt")};
    const struct totals slices[] = {made_up(1, 1000000), made_up(2, 1000000)};
    struct hardware h;

    (void)state;
    assert_int_equal(hardware_init(&h, m, events, 3, NULL), 0);
    assert_int_equal(h.slice_count, 2);
    hardware_add(&h, slices);
    assert_int_equal(h.readings[2].value,
                     slices[0].signal[SIGNAL_INSTRUCTIONS] +
                         slices[1].signal[SIGNAL_INSTRUCTIONS]);
    assert_int_equal(h.readings[2].running, h.readings[2].enabled);
    assert_true(h.readings[0].running < h.readings[0].enabled);
    hardware_finish(&h);
}

static void
test_threads_add_up(void **state)
{
    const struct machine_row *m = machine_find("ultrasparc-t2");
    const struct event_row *event = event_find(m, "All_instr");
    const struct totals slice = made_up(7, UINT64_C(9000000000));
    struct hardware h;

    (void)state;
    assert_int_equal(hardware_init(&h, m, &event, 1, NULL), 0);
    for (int thread = 0; thread < 3; thread++)
        hardware_add(&h, &slice);
    assert_int_equal(h.readings[0].value, 3 * event_value(event, &slice));
    assert_int_equal(h.readings[0].running, h.readings[0].enabled);
    assert_int_equal(hardware_scaled(&h.readings[0]), h.readings[0].value);
    hardware_reset(&h);
    hardware_add(&h, &slice);
    assert_int_equal(h.readings[0].value, event_value(event, &slice));
    hardware_finish(&h);
}

/* Forged totals end the counting, as steps up to them would take years. */
static void
test_impossible_totals(void **state)
{
    const struct machine_row *m = machine_find("ultrasparc-t2");
    const struct event_row *event = event_find(m, "All_instr");
    struct totals slice = made_up(7, 1000);
    struct hardware h;

    (void)state;
    assert_int_equal(hardware_init(&h, m, &event, 1, NULL), 0);
    assert_int_equal(hardware_add(&h, &slice), 0);
    for (size_t i = 0; i < SIGNAL_COUNT; i++)
        slice.signal[i] = UINT64_C(1) << 58;
    assert_int_equal(hardware_add(&h, &slice), TALLY_ERANGE);
    hardware_finish(&h);
}

static void
check_edges(const char *machine, const char *name, enum signal_id signal,
            uint64_t wrap)
{
    const struct machine_row *m = machine_find(machine);
    const struct event_row *event = event_find(m, name);
    struct hardware h;

    assert_int_equal(hardware_init(&h, m, &event, 1, NULL), 0);
    for (uint64_t n = wrap - 40; n < wrap + 40; n++) {
        struct totals slice = {0};
        slice.signal[signal] = n;
        hardware_reset(&h);
        hardware_add(&h, &slice);
        assert_int_equal(h.readings[0].value, event_value(event, &slice));
    }
    hardware_finish(&h);
}

/* At the very edge of a wrap, on either counter; and of bit 31. */
static void
test_edges(void **state)
{
    const uint64_t wrap = UINT64_C(1) << 32, half = wrap / 2;

    (void)state;
    check_edges("ultrasparc-t1", "IC_miss", SIGNAL_L1I_MISSES, wrap);
    check_edges("ultrasparc-t1", "instr_cnt", SIGNAL_INSTRUCTIONS, wrap);
    check_edges("ultrasparc-t2", "Load_instr", SIGNAL_CLASS_LOAD, wrap);
    /* A precise trap and a disrupting one. */
    check_edges("sparc-t4", "Load_instructions", SIGNAL_T4_CLASS_LOAD, wrap);
    check_edges("sparc-t4", "Store_hits_in_L2", SIGNAL_STORE_L2_HITS, wrap);
    check_edges("r10000", "Primary_instruction_cache_misses", SIGNAL_L1I_MISSES,
                half);
    check_edges("r10000", "Graduated_stores", SIGNAL_CLASS_STORE, half);
    check_edges("r12000", "Graduated_stores", SIGNAL_CLASS_STORE, half);
    check_edges("r12000", "Graduated_stores", SIGNAL_CLASS_STORE, wrap);
}

/* An interrupt for each half of the count's range, none short of it. */
static void
test_interrupts(void **state)
{
    const struct machine_row *m = machine_find("r10000");
    const struct event_row *event = event_find(m, "Graduated_stores");
    const uint64_t half = UINT64_C(1) << 31;
    struct totals slice = {0};
    struct hardware h;

    (void)state;
    assert_int_equal(hardware_init(&h, m, &event, 1, NULL), 0);
    slice.signal[SIGNAL_CLASS_STORE] = half - 1;
    hardware_add(&h, &slice);
    assert_int_equal(h.overflows, 0);
    slice.signal[SIGNAL_CLASS_STORE] = 3 * half;
    hardware_add(&h, &slice);
    assert_int_equal(h.overflows, 3);
    assert_int_equal(h.readings[0].value, 4 * half - 1);
    hardware_finish(&h);
}

/* Where a taken branch counts in the slice after its branch. */
static void
test_more_taken(void **state)
{
    const struct machine_row *m = machine_find("sparc-t4");
    const struct event_row *events[] = {event_find(m, "Branches_sl4"),
                                        event_find(m, "Taken_branches")};
    struct totals slice = {0};
    struct hardware h;

    (void)state;
    slice.signal[SIGNAL_T4_CLASS_BRANCH] = 2;
    slice.signal[SIGNAL_CONDITIONAL_TAKEN] = 3;
    assert_int_equal(hardware_init(&h, m, events, 2, NULL), 0);
    assert_int_equal(h.slice_count, 1);
    hardware_add(&h, &slice);
    assert_int_equal(h.readings[0].value, 3);
    assert_int_equal(h.readings[1].value, 3);
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
    assert_string_equal(
        heard.text, "--hardware is for montecito, r10000, r10000-rev2, r12000, "
                    "sparc-t4, ultrasparc-t1, ultrasparc-t2 or "
                    "ultrasparc-t2plus; host-model is counted by its model "
                    "alone");
    hardware_finish(&h);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_always),
        cmocka_unit_test(test_threads_add_up),
        cmocka_unit_test(test_impossible_totals),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_interrupts),
        cmocka_unit_test(test_scaled),
        cmocka_unit_test(test_more_taken),
        cmocka_unit_test(test_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
