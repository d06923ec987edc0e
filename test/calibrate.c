/* SPDX-License-Identifier: MIT */
/* The figures of tally calibrate, of a processor that is arithmetic: what
 * follows from which times, what is measured again, and what is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/calibrate.h"

#include <cmocka.h>

#define CHAIN_NS 0.25
#define KB UINT64_C(1024)

static const struct calibrate_host plain = {
    .l1d = 32 * KB,
    .l2 = 1024 * KB,
    .l3 = 8192 * KB,
    .line = 64,
    .page = 4096,
    .size = 131072 * KB,
};

/* A processor, and how its times are disturbed. */
struct made {
    enum probe_kind noisy; /* this probe */
    uint64_t only;         /* of so many bytes; 0: of any */
    double factor;         /* every other time is so many times as long */
    unsigned quiet_at;     /* after so many disturbed times it is quiet */
    unsigned disturbed;
    double mispredict, memory, walk; /* cycles */
    unsigned tlbs;                   /* 0: no number of pages costs more */
    bool restless; /* each other repetition has but 16 pages in its TLB */
    unsigned heard, again; /* of the listener */
    unsigned renewed;
};

static double
load_cycles(const struct made *m, uint64_t size)
{
    return size <= plain.l1d  ? 4
           : size <= plain.l2 ? 14
           : size <= plain.l3 ? 50
                              : m->memory;
}

static double
page_cycles(const struct made *m, uint64_t pages)
{
    const uint64_t first = m->restless && m->renewed % 2 == 1 ? 16 : 64;

    return pages <= first || m->tlbs == 0 ? 0 : pages <= 1536 ? 7 : m->walk;
}

static double
cycles(const struct made *m, const struct probe *p)
{
    switch (p->kind) {
    case PROBE_ADDS_CHAINED:
        return 1;
    case PROBE_ADDS_APART:
        return 1.0 / 4;
    case PROBE_ADDS_AND_LOADS:
        return 1.0 / 6;
    case PROBE_MISPREDICTS:
        return m->mispredict;
    case PROBE_RANDOM_WALK:
        return load_cycles(m, p->size);
    case PROBE_RANDOM_WALKS:
        return load_cycles(m, p->size) /
               (p->count < 12 ? (double)p->count : 12);
    case PROBE_LOADS_IN_ORDER:
        return 8;
    case PROBE_WALK_OF_PAGES:
        return load_cycles(m, p->count * plain.line) + page_cycles(m, p->count);
    default:
        return load_cycles(m, p->count * plain.line);
    }
}

static double
measure(void *user, const struct probe *p)
{
    struct made *const m = user;
    double ns = CHAIN_NS * cycles(m, p);

    if (m->factor != 0 && p->kind == m->noisy &&
        (m->only == 0 || p->size == m->only) && m->disturbed < m->quiet_at &&
        m->disturbed++ % 2 == 0)
        ns *= m->factor;
    return ns;
}

static void
renew(void *user)
{
    struct made *const m = user;

    m->renewed++;
}

static void
hear(void *user, const char *figure, unsigned done, unsigned all, bool again)
{
    struct made *const m = user;

    assert_true(figure[0] != '\0' && done >= 1 && done <= all);
    m->heard++;
    m->again += again;
}

/* Keeps the one line that is logged; '!' stands before a warning. */
static void
keep(void *user, enum tally_level level, const char *text)
{
    assert_int_equal(((char *)user)[0], '\0');
    snprintf(user, 512, "%s%s", level == TALLY_LOG_WARNING ? "!" : "", text);
}

static struct made
quiet(void)
{
    return (struct made){
        .mispredict = 15.4, .memory = 300, .walk = 40, .tlbs = 2};
}

static int
run(const struct calibrate_host *host, struct made *m,
    struct calibrate_result *result, char *said)
{
    const struct prober prober = {measure, renew, m};
    const struct calibrate_listener listener = {hear, m};
    const struct tally_log log = {keep, said};

    said[0] = '\0';
    return calibrate_run(host, &prober, &listener, &log, result);
}

static void
check_param(const struct calibrate_result *r, enum param_id id, uint64_t value)
{
    const struct calibrated *const p = &r->calibration.params[id];

    if (!p->known || p->value != value)
        fail_msg("%s: %s, %llu, not %llu", tally_params[id].key,
                 p->known ? "known" : "unknown", (unsigned long long)p->value,
                 (unsigned long long)value);
}

static void
test_quiet(void **state)
{
    struct calibrate_result r;
    struct made m = quiet();
    char said[512];

    (void)state;
    assert_int_equal(run(&plain, &m, &r, said), 0);
    assert_string_equal(said, "");
    assert_int_equal(m.again, 0);
    /* Each repetition has other pages: of the two TLBs, then of all else. */
    assert_int_equal(m.renewed, 3 * CALIBRATE_REPETITIONS);
    check_param(&r, PARAM_CLOCK, 4000000000);
    check_param(&r, PARAM_LATENCY_LOAD, 4);
    check_param(&r, PARAM_TIME_L2, 10);
    check_param(&r, PARAM_TIME_L3, 36);
    check_param(&r, PARAM_TIME_MEMORY, 250);
    check_param(&r, PARAM_TIME_LINE, 8);
    check_param(&r, PARAM_TIME_MISPREDICT, 15);
    check_param(&r, PARAM_UNITS_ALU, 4);
    check_param(&r, PARAM_TIME_ISSUE, 6);
    check_param(&r, PARAM_L1D_MISSES, 12);
    check_param(&r, PARAM_DTLB_ENTRIES, 64);
    check_param(&r, PARAM_STLB_ENTRIES, 1536);
    check_param(&r, PARAM_STLB_WAYS, 12);
    check_param(&r, PARAM_STLB_TIME, 7);
    check_param(&r, PARAM_TIME_WALK, 40);
    assert_false(r.calibration.params[PARAM_TLB_PAGE].known);
    assert_false(r.calibration.params[PARAM_ITLB_ENTRIES].known);
    for (size_t i = 0; i < r.count; i++)
        assert_true(r.figures[i].spread == 0);
    assert_string_equal(r.figures[0].name, "first TLB");
    assert_true(r.figures[0].value == 64);
}

/* What CPUID tells stands before what is found; the page is the system's. */
static void
test_told(void **state)
{
    struct calibrate_host host = plain;
    struct calibrate_result r;
    struct made m = quiet();
    char said[512];

    (void)state;
    host.told = (struct tlb_told){48, 72, 3072, 12};
    host.page = 16384;
    host.size = 262144 * KB;
    assert_int_equal(run(&host, &m, &r, said), 0);
    check_param(&r, PARAM_DTLB_ENTRIES, 72);
    check_param(&r, PARAM_ITLB_ENTRIES, 48);
    check_param(&r, PARAM_STLB_ENTRIES, 3072);
    check_param(&r, PARAM_TLB_PAGE, 16384);
    assert_string_equal(r.calibration.params[PARAM_STLB_ENTRIES].source,
                        "cpuid");
    assert_false(r.calibration.params[PARAM_STLB_ENTRIES].measured);
    assert_string_equal(r.calibration.params[PARAM_TLB_PAGE].source, "system");
    /* What is told is not measured too. */
    assert_int_equal(m.renewed, CALIBRATE_REPETITIONS);
    for (size_t i = 0; i < r.count; i++)
        assert_true(strcmp(r.figures[i].name, "first TLB") != 0 &&
                    strcmp(r.figures[i].name, "both TLBs") != 0);
}

/* Without an L3, memory is what is beyond the L2. */
static void
test_no_l3(void **state)
{
    struct calibrate_host host = plain;
    struct calibrate_result r;
    struct made m = quiet();
    char said[512];

    (void)state;
    host.l3 = 0;
    assert_int_equal(run(&host, &m, &r, said), 0);
    assert_false(r.calibration.params[PARAM_TIME_L3].known);
    check_param(&r, PARAM_TIME_MEMORY, 286);
}

static bool
knows(const struct calibrate_result *r, enum param_id id)
{
    return r->calibration.params[id].known;
}

/* One TLB alone: no second is found, which is no noise and leaves its
 * parameters out. */
static void
test_no_second_tlb(void **state)
{
    struct calibrate_result r;
    struct made m = quiet();
    char said[512];

    (void)state;
    m.walk = 7;
    assert_int_equal(run(&plain, &m, &r, said), 0);
    assert_string_equal(
        said, "!both TLBs not found, as loads from up to 12288 pages take no "
              "longer; host-model keeps its own stlb.entries, stlb.ways, "
              "stlb.time and time.walk, which --set sets");
    assert_int_equal(m.again, 0);
    check_param(&r, PARAM_DTLB_ENTRIES, 64);
    check_param(&r, PARAM_TIME_MEMORY, 250);
    assert_false(knows(&r, PARAM_STLB_ENTRIES));
    assert_false(knows(&r, PARAM_STLB_WAYS));
    assert_false(knows(&r, PARAM_STLB_TIME));
    assert_false(knows(&r, PARAM_TIME_WALK));
    assert_string_equal(r.figures[1].name, "both TLBs");
    assert_true(r.figures[1].absent);
}

/* As many pages as are tried fit into the first TLB, and nothing tells TLBs. */
static void
test_no_tlb(void **state)
{
    struct calibrate_result r;
    struct made m = quiet();
    char said[512];

    (void)state;
    m.tlbs = 0;
    assert_int_equal(run(&plain, &m, &r, said), 0);
    assert_string_equal(
        said, "!first TLB not found, as loads from up to 12288 pages take no "
              "longer; host-model keeps its own dtlb.entries, stlb.entries, "
              "stlb.ways, stlb.time and time.walk, which --set sets");
    assert_int_equal(m.again, 0);
    check_param(&r, PARAM_TIME_MEMORY, 250);
    check_param(&r, PARAM_TIME_MISPREDICT, 15);
    assert_false(knows(&r, PARAM_DTLB_ENTRIES));
    assert_false(knows(&r, PARAM_STLB_ENTRIES));
    assert_false(knows(&r, PARAM_STLB_TIME));
    assert_false(knows(&r, PARAM_TIME_WALK));
    assert_string_equal(r.figures[0].name, "first TLB");
    assert_true(r.figures[0].absent && isnan(r.figures[0].value));
    assert_string_equal(r.figures[1].name, "clock");
}

/* Times of pages that vary hide the TLBs, and all else is measured. */
static void
test_noisy_tlb(void **state)
{
    struct calibrate_result r;
    struct made m = quiet();
    char said[512];

    (void)state;
    m.restless = true;
    assert_int_equal(run(&plain, &m, &r, said), 0);
    assert_non_null(
        strstr(said, "!first TLB not found, as the times of pages vary; "));
    assert_int_equal(m.again, (CALIBRATE_ATTEMPTS - 1) * CALIBRATE_REPETITIONS);
    assert_false(knows(&r, PARAM_DTLB_ENTRIES));
    check_param(&r, PARAM_TIME_MEMORY, 250);
}

/* Memory that is short of the pages behind the second TLB. */
static void
test_little_memory(void **state)
{
    struct calibrate_host host = plain;
    struct calibrate_result r;
    struct made m = quiet();
    char said[512];

    (void)state;
    host.told = (struct tlb_told){48, 72, 32768, 16};
    assert_int_equal(run(&host, &m, &r, said), 0);
    assert_string_equal(
        said, "!the second TLB and page walks are not timed, as memory is "
              "short of twice the pages that the TLB holds; host-model keeps "
              "its own stlb.time and time.walk, which --set sets");
    check_param(&r, PARAM_STLB_ENTRIES, 32768);
    assert_false(knows(&r, PARAM_STLB_TIME));
    assert_false(knows(&r, PARAM_TIME_WALK));
}

/* A figure that was noisy for a while is measured again, and alone. */
static void
test_again(void **state)
{
    struct calibrate_result r;
    struct made m = quiet();
    char said[512];

    (void)state;
    m.noisy = PROBE_MISPREDICTS;
    m.factor = 3;
    m.quiet_at = 2 * CALIBRATE_REPETITIONS;
    assert_int_equal(run(&plain, &m, &r, said), 0);
    assert_int_equal(m.again, 2 * CALIBRATE_REPETITIONS);
    check_param(&r, PARAM_TIME_MISPREDICT, 15);
    assert_true(r.calibration.params[PARAM_TIME_MISPREDICT].spread <=
                CALIBRATE_SPREAD_MOST);
}

static void
test_refused(void **state)
{
    struct calibrate_result r;
    struct made m = quiet();
    char said[512];

    (void)state;
    m.noisy = PROBE_MISPREDICTS;
    m.factor = 3;
    m.quiet_at = UINT32_MAX;
    assert_int_equal(run(&plain, &m, &r, said), TALLY_ERANGE);
    assert_int_equal(m.again, (CALIBRATE_ATTEMPTS - 1) * CALIBRATE_REPETITIONS);
    assert_non_null(
        strstr(said, "not measured: mispredicted branch varies by +- "));
    assert_non_null(strstr(said, "and up to 20 % is a measurement"));
}

/* A spread just below the limit is a measurement, and it is told. */
static void
test_spread(void **state)
{
    struct calibrate_result r;
    struct made m = quiet();
    char said[512];

    (void)state;
    m.mispredict = 100;
    m.noisy = PROBE_MISPREDICTS;
    m.factor = 1.39;
    m.quiet_at = UINT32_MAX;
    assert_int_equal(run(&plain, &m, &r, said), 0);
    /* Of 15 samples eight are 139 cycles, seven 100. */
    check_param(&r, PARAM_TIME_MISPREDICT, 139);
    assert_true(
        fabs(r.calibration.params[PARAM_TIME_MISPREDICT].spread - 14.03) < 0.1);
}

/* A rung of the ladder that is noisy gives no parameter: it refuses none, and
 * is not measured again. */
static void
test_noisy_rung(void **state)
{
    struct calibrate_result r;
    struct made m = quiet();
    char said[512];
    bool seen = false;

    (void)state;
    m.noisy = PROBE_RANDOM_WALK;
    m.only = 4096 * KB;
    m.factor = 3;
    m.quiet_at = UINT32_MAX;
    assert_int_equal(run(&plain, &m, &r, said), 0);
    for (size_t i = 0; i < r.count; i++) {
        if (strcmp(r.figures[i].name, "load from 4M") != 0)
            continue;
        seen = true;
        assert_false(r.figures[i].needed);
        assert_true(r.figures[i].spread > CALIBRATE_SPREAD_MOST);
    }
    assert_true(seen);
    assert_int_equal(m.again, 0);
}

/* A difference that is none is noise, however often it is the same. */
static void
test_lost(void **state)
{
    struct calibrate_result r;
    struct made m = quiet();
    char said[512];

    (void)state;
    m.memory = 50;
    assert_int_equal(run(&plain, &m, &r, said), TALLY_ERANGE);
    assert_non_null(
        strstr(said, "not measured: memory beyond the L3 is lost in noise"));
    m.memory = NAN;
    assert_int_equal(run(&plain, &m, &r, said), TALLY_ERANGE);
    assert_non_null(strstr(said, "is lost in noise"));
}

/* A value that --set refuses is refused here. */
static void
test_limits(void **state)
{
    struct calibrate_result r;
    struct made m = quiet();
    char said[512];

    (void)state;
    m.mispredict = 10001;
    assert_int_equal(run(&plain, &m, &r, said), TALLY_ERANGE);
    assert_non_null(strstr(said, "time.mispredict=10001"));
}

/* The reader takes what is written. */
static void
test_written(void **state)
{
    struct calibrate_result r;
    struct calibration again;
    struct made m = quiet();
    char said[512], *text = NULL;
    size_t size = 0;
    const struct tally_log log = {keep, said};

    (void)state;
    assert_int_equal(run(&plain, &m, &r, said), 0);
    strcpy(r.calibration.date, "2026-11-29");
    strcpy(r.calibration.processor, "p");
    strcpy(r.calibration.kernel, "k");
    r.figures[1].value = NAN;
    r.figures[2].spread = 250;
    FILE *const out = open_memstream(&text, &size);
    calibration_write(&r.calibration, out);
    calibrate_write_figures(&r, out);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(calibration_parse(text, size, "f", &log, &again), 0);
    assert_memory_equal(&again, &r.calibration, sizeof(again));
    assert_null(strstr(text, "both TLBs"));
    assert_non_null(strstr(text, "\"first TLB\" = { value = 64.00, unit = "
                                 "\"pages\", spread = 0.0 }"));
    free(text);
}

static void
test_size(void **state)
{
    struct calibrate_host host = plain;

    (void)state;
    assert_int_equal(calibrate_size(&host), 128 << 20);
    host.l3 = 33 << 20;
    assert_int_equal(calibrate_size(&host), 256 << 20);
    host.l3 = UINT64_C(1) << 30;
    assert_int_equal(calibrate_size(&host), 1 << 30);
    host = plain;
    host.page = 65536;
    host.told.stlb = 2048;
    assert_int_equal(calibrate_size(&host), 256 << 20);
}

static void
test_cpuid(void **state)
{
    struct tlb_told told = {0};
    /* Of an EPYC of family 25, model 17. */
    const struct cpuid_leaf first = {.ebx = 0xff48ff40};
    const struct cpuid_leaf second = {.ebx = 0x6c004200};
    /* A data TLB of 16 sets and 4 ways, an instruction TLB of 8 ways and 8
     * sets, a second TLB of 12 ways and 128 sets, and one for pages of 1 GB. */
    const struct cpuid_leaf data = {0, 4 << 16 | 7, 16, 1 << 5 | 1};
    const struct cpuid_leaf code = {0, 8 << 16 | 7, 8, 1 << 5 | 2};
    const struct cpuid_leaf both = {0, 12 << 16 | 3, 128, 2 << 5 | 3};
    const struct cpuid_leaf large = {0, 4 << 16 | 8, 4, 2 << 5 | 3};

    (void)state;
    told = tlb_told_amd(&first, &second);
    assert_int_equal(told.itlb, 64);
    assert_int_equal(told.dtlb, 72);
    assert_int_equal(told.stlb, 3072);
    assert_int_equal(told.stlb_ways, 12);
    told = (struct tlb_told){0};
    tlb_told_intel(&data, &told);
    tlb_told_intel(&code, &told);
    tlb_told_intel(&both, &told);
    tlb_told_intel(&large, &told);
    assert_int_equal(told.dtlb, 64);
    assert_int_equal(told.itlb, 64);
    assert_int_equal(told.stlb, 1536);
    assert_int_equal(told.stlb_ways, 12);
    assert_int_equal(tlb_ways(1280, 8), 10);
    assert_int_equal(tlb_ways(1000, 60), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quiet),
        cmocka_unit_test(test_told),
        cmocka_unit_test(test_no_l3),
        cmocka_unit_test(test_no_second_tlb),
        cmocka_unit_test(test_no_tlb),
        cmocka_unit_test(test_noisy_tlb),
        cmocka_unit_test(test_little_memory),
        cmocka_unit_test(test_again),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_spread),
        cmocka_unit_test(test_noisy_rung),
        cmocka_unit_test(test_lost),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_written),
        cmocka_unit_test(test_size),
        cmocka_unit_test(test_cpuid),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
