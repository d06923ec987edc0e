/* SPDX-License-Identifier: MIT */
#include "calibrate/calibrate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "table/param.h"

#define PAGES_MOST 12288 /* that a search for the reach of TLBs goes up to */
#define NOT_A_PARAM PARAM_COUNT

/* How a sample follows from probes. */
enum rule {
    RULE_CLOCK,     /* of `a`, additions in a chain: GHz */
    RULE_CYCLES,    /* of `a`, less those of `b` if there is one */
    RULE_PER_CYCLE, /* operations of `a` in a cycle */
    RULE_AT_ONCE,   /* how many loads of `a` are under way at once, at most */
    RULE_REACH,     /* pages that the first TLB holds */
    RULE_REACH_2,   /* pages that the second TLB holds */
};

struct plan_row {
    char name[CALIBRATE_NAME];
    enum rule rule;
    enum param_id param; /* that follows, or NOT_A_PARAM */
    struct probe a, b;
    bool has_b;
};

struct run {
    const struct calibrate_host *host;
    const struct prober *prober;
    const struct calibrate_listener *listener;
    const struct tally_log *log;
    struct calibrate_result *result;
    double chain_ns;   /* of an addition, just before the sample */
    double dtlb, stlb; /* entries, as told or found; 0: unknown */
    double samples[CALIBRATE_FIGURES][CALIBRATE_REPETITIONS];
};

static double
nanoseconds(const struct run *r, const struct probe *probe)
{
    return r->prober->measure(r->prober->user, probe);
}

/* Returns the cycles that a load of one line in each of `pages` pages takes
 * more than one of as many lines side by side. */
static double
page_cost(const struct run *r, uint64_t pages)
{
    const struct probe apart = {.kind = PROBE_WALK_OF_PAGES, .count = pages};
    const struct probe dense = {.kind = PROBE_WALK_OF_LINES, .count = pages};

    return (nanoseconds(r, &apart) - nanoseconds(r, &dense)) / r->chain_ns;
}

/* Returns how many pages a search for the reach of TLBs goes up to. */
static uint64_t
most_pages(const struct calibrate_host *h)
{
    const uint64_t room = h->size / h->page;

    return room < PAGES_MOST ? room : PAGES_MOST;
}

/* Returns the most pages from `least` on that cost no more than `cycles` each;
 * INFINITY: as many as are tried do. */
static double
reach(const struct run *r, uint64_t least, double cycles)
{
    const uint64_t most = most_pages(r->host);
    uint64_t low = least, high = least + least / 2;

    while (high <= most && page_cost(r, high) <= cycles) {
        low = high;
        high += high / 2;
    }
    if (high > most)
        return INFINITY;
    while (high - low > 1 + low / 64) {
        const uint64_t middle = low + (high - low) / 2;
        if (page_cost(r, middle) <= cycles)
            low = middle;
        else
            high = middle;
    }
    return (double)low;
}

/* Returns the most loads that are under way at once: as often as the time of a
 * load with several walks goes into that of one. */
static double
at_once(const struct run *r, const struct probe *one)
{
    static const uint64_t walks[] = {8, 16, 24, 32, 48, 64};
    const double alone = nanoseconds(r, one);
    double most = 1;

    for (size_t i = 0; i < sizeof(walks) / sizeof(walks[0]); i++) {
        const struct probe several = {PROBE_RANDOM_WALKS, one->size, walks[i]};
        most = fmax(most, alone / nanoseconds(r, &several));
    }
    return most;
}

/* Measures the figure once. */
static double
sample(struct run *r, const struct plan_row *row)
{
    static const struct probe chain = {.kind = PROBE_ADDS_CHAINED};
    double a;

    r->chain_ns = nanoseconds(r, &chain);
    switch (row->rule) {
    case RULE_CLOCK:
        return 1 / r->chain_ns;
    case RULE_REACH:
        return reach(r, 8, 2);
    case RULE_REACH_2: {
        /* What a hit of the second TLB costs is no miss of it. */
        const uint64_t begin = (uint64_t)(2 * r->dtlb);
        return reach(r, begin, 1.5 * fmax(0, page_cost(r, begin)) + 4);
    }
    case RULE_AT_ONCE:
        return at_once(r, &row->a);
    default:
        break;
    }
    a = nanoseconds(r, &row->a);
    if (row->rule == RULE_PER_CYCLE)
        return r->chain_ns / a;
    return (a - (row->has_b ? nanoseconds(r, &row->b) : 0)) / r->chain_ns;
}

static int
by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Makes the median and the spread of the samples, which it sorts. A median that
 * is no positive number is that of noise alone. */
static void
summarize(double *samples, struct calibrate_figure *f)
{
    const size_t quarter = CALIBRATE_REPETITIONS / 4;
    size_t endless = 0;

    f->value = NAN;
    f->spread = INFINITY;
    for (size_t i = 0; i < CALIBRATE_REPETITIONS; i++)
        endless += isinf(samples[i]) && samples[i] > 0;
    f->absent = endless > CALIBRATE_REPETITIONS / 2;
    for (size_t i = 0; i < CALIBRATE_REPETITIONS; i++)
        if (!isfinite(samples[i]))
            return;
    qsort(samples, CALIBRATE_REPETITIONS, sizeof(*samples), by_size);
    f->value = samples[CALIBRATE_REPETITIONS / 2];
    if (f->value > 0)
        f->spread =
            100 *
            (samples[CALIBRATE_REPETITIONS - 1 - quarter] - samples[quarter]) /
            2 / f->value;
}

static bool
is_noisy(const struct calibrate_figure *f)
{
    return !f->absent && !(f->spread <= CALIBRATE_SPREAD_MOST);
}

/* Returns whether the figure is measured in this attempt: each is once, and
 * again where noise leaves a parameter without a value. */
static bool
is_due(const struct calibrate_figure *f, unsigned attempt)
{
    return attempt == 0 || (f->needed && is_noisy(f));
}

static bool
is_any_due(const struct calibrate_figure *figures, size_t count,
           unsigned attempt)
{
    for (size_t i = 0; i < count; i++)
        if (is_due(&figures[i], attempt))
            return true;
    return false;
}

static const char *
unit_of(enum rule rule)
{
    switch (rule) {
    case RULE_CLOCK:
        return "GHz";
    case RULE_CYCLES:
        return "cycles";
    case RULE_PER_CYCLE:
        return "a cycle";
    case RULE_REACH:
    case RULE_REACH_2:
        return "pages";
    default:
        return "";
    }
}

/* Measures the rows' figures, in turn and as often as there are repetitions, so
 * that what changes on the computer shows in the spread of each; then again
 * those that are too noisy for their parameters. */
static void
measure(struct run *r, const struct plan_row *rows, size_t count)
{
    struct calibrate_figure *const figures =
        r->result->figures + r->result->count;
    const struct calibrate_listener *const l = r->listener;

    for (size_t i = 0; i < count; i++) {
        memcpy(figures[i].name, rows[i].name, sizeof(figures[i].name));
        figures[i].unit = unit_of(rows[i].rule);
        figures[i].needed = rows[i].param != NOT_A_PARAM;
        figures[i].spread = INFINITY;
    }
    for (unsigned attempt = 0; attempt < CALIBRATE_ATTEMPTS; attempt++) {
        for (unsigned k = 0; k < CALIBRATE_REPETITIONS; k++) {
            if (is_any_due(figures, count, attempt))
                r->prober->renew(r->prober->user);
            for (size_t i = 0; i < count; i++) {
                if (!is_due(&figures[i], attempt))
                    continue;
                l->hear(l->user, rows[i].name, k + 1, CALIBRATE_REPETITIONS,
                        attempt > 0);
                r->samples[i][k] = sample(r, &rows[i]);
            }
        }
        for (size_t i = 0; i < count; i++)
            if (is_due(&figures[i], attempt))
                summarize(r->samples[i], &figures[i]);
    }
    r->result->count += count;
}

/* Writes a number of bytes as "256K". */
static void
size_text(uint64_t size, char *text, size_t room)
{
    param_text(PARAM_L2_SIZE, size, text, room);
}

/* Adds a row; returns the row. */
static struct plan_row *
add(struct plan_row *rows, size_t *count, enum rule rule, enum param_id param,
    struct probe a)
{
    struct plan_row *const row = &rows[(*count)++];

    *row = (struct plan_row){.rule = rule, .param = param, .a = a};
    return row;
}

/* Adds a row of the difference of two walks. */
static void
add_step(struct plan_row *rows, size_t *count, enum param_id param,
         const char *name, uint64_t size, uint64_t before)
{
    struct plan_row *const row =
        add(rows, count, RULE_CYCLES, param,
            (struct probe){.kind = PROBE_RANDOM_WALK, .size = size});

    row->b = (struct probe){.kind = PROBE_RANDOM_WALK, .size = before};
    row->has_b = true;
    snprintf(row->name, sizeof(row->name), "%s", name);
}

/* Plans the ladder: loads from buffers of every size. */
static size_t
plan_ladder(const struct calibrate_host *h, struct plan_row *rows)
{
    size_t count = 0;

    for (uint64_t size = 8192; size <= h->size; size *= 2) {
        char text[PARAM_TEXT_SIZE];
        struct plan_row *const row =
            add(rows, &count, RULE_CYCLES, NOT_A_PARAM,
                (struct probe){.kind = PROBE_RANDOM_WALK, .size = size});
        size_text(size, text, sizeof(text));
        snprintf(row->name, sizeof(row->name), "load from %.20s", text);
    }
    return count;
}

/* The least buffer that a cache behind one of `before` serves, and one of
 * `size` does: far from both sizes. */
static uint64_t
between(uint64_t before, uint64_t size)
{
    return size / 4 >= 2 * before ? size / 4 : 2 * before;
}

/* Plans what the parameters of caches, memory, branches and issue follow from.
 * Returns how many rows there are. */
static size_t
plan_core(const struct calibrate_host *h, struct plan_row *rows)
{
    const struct probe none = {.kind = PROBE_ADDS_CHAINED};
    const struct probe memory = {.kind = PROBE_RANDOM_WALK, .size = h->size};
    const struct probe read = {.kind = PROBE_LOADS_IN_ORDER, .size = h->size};
    const uint64_t l1 = h->l1d / 2, l2 = between(h->l1d, h->l2);
    const uint64_t l3 = h->l3 > 0 ? 2 * h->l2 : 0;
    size_t count = 0;
    const struct {
        const char *name;
        enum rule rule;
        enum param_id param;
        struct probe a;
    } single[] = {
        {"clock", RULE_CLOCK, PARAM_CLOCK, none},
        {"additions",
         RULE_PER_CYCLE,
         PARAM_UNITS_ALU,
         {PROBE_ADDS_APART, 0, 0}},
        {"instructions issued",
         RULE_PER_CYCLE,
         PARAM_TIME_ISSUE,
         {PROBE_ADDS_AND_LOADS, 0, 0}},
        {"mispredicted branch",
         RULE_CYCLES,
         PARAM_TIME_MISPREDICT,
         {PROBE_MISPREDICTS, 0, 0}},
        {"load from the L1",
         RULE_CYCLES,
         PARAM_LATENCY_LOAD,
         {PROBE_RANDOM_WALK, l1, 0}},
        {"misses of loads at once", RULE_AT_ONCE, PARAM_L1D_MISSES, memory},
        {"line of memory read in order", RULE_CYCLES, PARAM_TIME_LINE, read},
    };

    for (size_t i = 0; i < sizeof(single) / sizeof(single[0]); i++) {
        struct plan_row *const row =
            add(rows, &count, single[i].rule, single[i].param, single[i].a);
        snprintf(row->name, sizeof(row->name), "%s", single[i].name);
    }
    add_step(rows, &count, PARAM_TIME_L2, "L2 beyond the L1", l2, l1);
    if (l3 > 0)
        add_step(rows, &count, PARAM_TIME_L3, "L3 beyond the L2", l3, l2);
    add_step(rows, &count, PARAM_TIME_MEMORY,
             l3 > 0 ? "memory beyond the L3" : "memory beyond the L2", h->size,
             l3 > 0 ? l3 : l2);
    return count;
}

/* Warns that parameters have no value, and why. */
static void
leave_out(const struct run *r, const char *why, const char *params)
{
    tally_logf(r->log, TALLY_LOG_WARNING,
               "%s; host-model keeps its own %s, which --set sets", why,
               params);
}

/* Plans what a hit of the second TLB and a walk of the page table cost. */
static size_t
plan_pages(const struct run *r, struct plan_row *rows)
{
    const uint64_t between_both = (uint64_t)lround(sqrt(r->dtlb * r->stlb));
    const uint64_t behind = (uint64_t)(2 * r->stlb);
    const struct {
        const char *name;
        enum param_id param;
        uint64_t pages;
    } costs[] = {
        {"second TLB", PARAM_STLB_TIME, between_both},
        {"page walk", PARAM_TIME_WALK, behind},
    };
    size_t count = 0;

    if (!(r->dtlb > 0 && r->stlb > 0))
        return 0;
    if (behind * r->host->page > r->host->size) {
        leave_out(r,
                  "the second TLB and page walks are not timed, as memory "
                  "is short of twice the pages that the TLB holds",
                  "stlb.time and time.walk");
        return 0;
    }
    for (size_t i = 0; i < 2; i++) {
        struct plan_row *const row =
            add(rows, &count, RULE_CYCLES, costs[i].param,
                (struct probe){.kind = PROBE_WALK_OF_PAGES,
                               .count = costs[i].pages});
        row->b = (struct probe){.kind = PROBE_WALK_OF_LINES,
                                .count = costs[i].pages};
        row->has_b = true;
        snprintf(row->name, sizeof(row->name), "%s", costs[i].name);
    }
    return count;
}

/* Returns the number of entries near `found` that is 4 to 7 times a power of
 * two, as those of second-level TLBs are. */
static double
near_entries(double found)
{
    double best = 4;

    for (double unit = 1; unit <= 16384; unit *= 2)
        for (double times = 4; times < 8; times++)
            if (fabs(log(times * unit / found)) < fabs(log(best / found)))
                best = times * unit;
    return best;
}

static void
tell(struct calibration *c, enum param_id id, uint64_t value,
     const char *source)
{
    struct calibrated *const p = &c->params[id];

    *p = (struct calibrated){.known = true, .value = value};
    snprintf(p->source, sizeof(p->source), "%s", source);
}

static void
found(struct calibration *c, enum param_id id, uint64_t value, double spread)
{
    c->params[id] = (struct calibrated){
        .known = true, .measured = true, .spread = spread, .value = value};
}

/* Measures how many pages TLBs hold. Returns the figure; NULL: none is to be
 * seen, which a warning says with the parameters that have no value then. */
static const struct calibrate_figure *
measure_reach(struct run *r, const struct plan_row *row, const char *params)
{
    char why[160];

    measure(r, row, 1);
    const struct calibrate_figure *const f =
        &r->result->figures[r->result->count - 1];
    if (!f->absent && !is_noisy(f))
        return f;
    if (f->absent)
        snprintf(why, sizeof(why),
                 "%s not found, as loads from up to %llu pages take no longer",
                 row->name, (unsigned long long)most_pages(r->host));
    else
        snprintf(why, sizeof(why), "%s not found, as the times of pages vary",
                 row->name);
    leave_out(r, why, params);
    return NULL;
}

/* Finds the TLBs, as CPUID tells them or, where it does not, as loads show. */
static void
find_tlbs(struct run *r)
{
    static const struct plan_row first = {
        .name = "first TLB", .rule = RULE_REACH, .param = PARAM_DTLB_ENTRIES};
    static const struct plan_row both = {
        .name = "both TLBs", .rule = RULE_REACH_2, .param = PARAM_STLB_ENTRIES};
    const struct tlb_told *const told = &r->host->told;
    struct calibration *const c = &r->result->calibration;
    const struct calibrate_figure *f = NULL;

    if (told->itlb > 0)
        tell(c, PARAM_ITLB_ENTRIES, told->itlb, "cpuid");
    if (told->dtlb > 0) {
        r->dtlb = told->dtlb;
        tell(c, PARAM_DTLB_ENTRIES, told->dtlb, "cpuid");
    } else if ((f = measure_reach(r, &first,
                                  told->stlb > 0
                                      ? "dtlb.entries, stlb.time and time.walk"
                                      : "dtlb.entries, stlb.entries, "
                                        "stlb.ways, stlb.time and "
                                        "time.walk")) != NULL) {
        r->dtlb = f->value;
        found(c, PARAM_DTLB_ENTRIES, (uint64_t)r->dtlb, f->spread);
    }
    if (told->stlb > 0) {
        r->stlb = told->stlb;
        tell(c, PARAM_STLB_ENTRIES, told->stlb, "cpuid");
        tell(c, PARAM_STLB_WAYS, told->stlb_ways, "cpuid");
    } else if (r->dtlb > 0 &&
               (f = measure_reach(r, &both,
                                  "stlb.entries, stlb.ways, stlb.time and "
                                  "time.walk")) != NULL) {
        r->stlb = near_entries(f->value);
        const uint32_t entries = (uint32_t)r->stlb;
        found(c, PARAM_STLB_ENTRIES, entries, f->spread);
        found(c, PARAM_STLB_WAYS, tlb_ways(entries, 8), f->spread);
    }
}

/* Refuses figures, from `first` on, that are too noisy for the parameters that
 * follow from them. */
static int
check_noise(const struct run *r, size_t first)
{
    for (size_t i = first; i < r->result->count; i++) {
        const struct calibrate_figure *const f = &r->result->figures[i];
        if (f->needed && is_noisy(f) && isfinite(f->spread))
            return tally_fail(r->log, TALLY_ERANGE,
                              "not measured: %s varies by +- %.0f %% in the "
                              "last of %u attempts, and up to %d %% is a "
                              "measurement; try again when less else runs here",
                              f->name, f->spread, CALIBRATE_ATTEMPTS,
                              CALIBRATE_SPREAD_MOST);
        if (f->needed && is_noisy(f))
            return tally_fail(r->log, TALLY_ERANGE,
                              "not measured: %s is lost in noise in the last "
                              "of %u attempts; try again when less else runs "
                              "here",
                              f->name, CALIBRATE_ATTEMPTS);
    }
    return 0;
}

/* Sets the parameters that follow from the rows' figures, which begin at
 * `first`. */
static int
set_params(const struct run *r, const struct plan_row *rows, size_t count,
           size_t first)
{
    for (size_t i = 0; i < count; i++) {
        const struct calibrate_figure *const f = &r->result->figures[first + i];
        const enum param_id id = rows[i].param;
        if (id == NOT_A_PARAM)
            continue;
        /* The clock to a MHz. */
        const uint64_t value = rows[i].rule == RULE_CLOCK
                                   ? (uint64_t)llround(f->value * 1e3) * 1000000
                                   : (uint64_t)llround(f->value);
        const int error = param_check((int)id, value, r->log);
        if (error != 0)
            return error;
        found(&r->result->calibration, id, value, f->spread);
    }
    return 0;
}

int
calibrate_run(const struct calibrate_host *host, const struct prober *prober,
              const struct calibrate_listener *listener,
              const struct tally_log *log, struct calibrate_result *result)
{
    struct run r = {.host = host,
                    .prober = prober,
                    .listener = listener,
                    .log = log,
                    .result = result};
    struct plan_row rows[CALIBRATE_FIGURES];

    memset(result, 0, sizeof(*result));
    find_tlbs(&r);
    const size_t first = result->count;
    size_t count = plan_core(host, rows);
    count += plan_pages(&r, rows + count);
    count += plan_ladder(host, rows + count);
    measure(&r, rows, count);
    int error = check_noise(&r, first);
    if (error == 0)
        error = set_params(&r, rows, count, first);
    if (error == 0 && host->page != 4096)
        tell(&result->calibration, PARAM_TLB_PAGE, host->page, "system");
    return error;
}

void
calibrate_write_figures(const struct calibrate_result *result, FILE *out)
{
    fprintf(out, "\n# What was measured, for people: no parameter is read from "
                 "here.\n[figure]\n");
    for (size_t i = 0; i < result->count; i++) {
        const struct calibrate_figure *const f = &result->figures[i];
        if (isfinite(f->value) && isfinite(f->spread) && f->value >= 0)
            fprintf(out,
                    "\"%s\" = { value = %.2f, unit = \"%s\", spread = %.1f "
                    "}\n",
                    f->name, f->value, f->unit, fmin(f->spread, 100));
    }
}
