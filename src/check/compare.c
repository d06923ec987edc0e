/* SPDX-License-Identifier: MIT */
#include "check/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "check/string_functions.h"

/* Sums */

static int
compare_numbers(const void *x, const void *y)
{
    const uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

    return a < b ? -1 : a > b;
}

/* Sorts the numbers. The median of an even count is the lower one. */
static struct check_range
range_of(uint64_t *numbers, size_t count)
{
    qsort(numbers, count, sizeof(*numbers), compare_numbers);
    return (struct check_range){
        .median = numbers[(count - 1) / 2],
        .least = numbers[0],
        .most = numbers[count - 1],
    };
}

/* Returns the first function by name that is not yet taken of any sample, by
 * `next`; NULL: all are taken. */
static const struct check_counts *
first_left(const struct check_sample *samples, unsigned layouts,
           const size_t *next)
{
    const struct check_counts *first = NULL;

    for (unsigned i = 0; i < layouts; i++) {
        if (next[i] == samples[i].function_count)
            continue;
        const struct check_counts *const f = &samples[i].functions[next[i]];
        if (first == NULL || check_counts_order(f, first) < 0)
            first = f;
    }
    return first;
}

/* Takes the function of all samples, where a sample without it has 0. */
static struct check_counts
take_medians(const struct check_sample *samples, unsigned layouts,
             const struct check_counts *f, size_t *next, uint64_t *numbers)
{
    struct check_counts sum = {.name = f->name, .image = f->image};
    uint64_t *const costs = numbers + layouts;
    uint64_t *const calls = costs + layouts;

    for (unsigned i = 0; i < layouts; i++) {
        const struct check_counts *const own =
            next[i] < samples[i].function_count ? &samples[i].functions[next[i]]
                                                : NULL;
        const bool has = own != NULL && check_counts_order(own, f) == 0;
        numbers[i] = has ? own->instructions : 0;
        costs[i] = has ? own->cost : 0;
        calls[i] = has ? own->calls : 0;
    }
    for (unsigned i = 0; i < layouts; i++) {
        if (next[i] < samples[i].function_count &&
            check_counts_order(&samples[i].functions[next[i]], &sum) == 0)
            next[i]++;
    }
    sum.instructions = range_of(numbers, layouts).median;
    sum.cost = range_of(costs, layouts).median;
    sum.calls = range_of(calls, layouts).median;
    return sum;
}

static int
sum_functions(const struct check_sample *samples, unsigned layouts,
              struct check_entry *e)
{
    size_t most = 1;

    for (unsigned i = 0; i < layouts; i++)
        most += samples[i].function_count;
    e->functions = calloc(most, sizeof(*e->functions));
    size_t *const next = calloc(layouts, sizeof(*next));
    uint64_t *const numbers = calloc(3 * layouts, sizeof(*numbers));
    const struct check_counts *f;
    int error = e->functions == NULL || next == NULL || numbers == NULL
                    ? TALLY_ENOMEM
                    : 0;
    while (error == 0 && (f = first_left(samples, layouts, next)) != NULL) {
        const struct check_counts sum =
            take_medians(samples, layouts, f, next, numbers);
        struct check_counts *const own = &e->functions[e->function_count++];
        *own = sum;
        own->name = strdup(sum.name);
        own->image = strdup(sum.image);
        if (own->name == NULL || own->image == NULL)
            error = TALLY_ENOMEM;
    }
    free(next);
    free(numbers);
    return error;
}

static int
copy_builds(const struct check_sample *s, struct check_entry *e)
{
    e->builds = calloc(s->build_count + 1, sizeof(*e->builds));
    if (e->builds == NULL)
        return TALLY_ENOMEM;
    for (size_t i = 0; i < s->build_count; i++) {
        struct check_build *const b = &e->builds[e->build_count++];
        b->name = strdup(s->builds[i].name);
        b->id = strdup(s->builds[i].id);
        if (b->name == NULL || b->id == NULL)
            return TALLY_ENOMEM;
    }
    return 0;
}

int
check_sum_up(const struct check_sample *samples, unsigned layouts,
             const char *const *measures, const char *output,
             struct check_entry *e)
{
    const size_t count = samples[0].event_count;
    uint64_t *const numbers = calloc(layouts, sizeof(*numbers));

    memset(e, 0, sizeof(*e));
    e->layouts = layouts;
    e->version = strdup(samples[0].version);
    e->output = strdup(output);
    e->measures = calloc(count + 1, sizeof(*e->measures));
    int error = numbers == NULL || e->version == NULL || e->output == NULL ||
                        e->measures == NULL
                    ? TALLY_ENOMEM
                    : copy_builds(&samples[0], e);
    for (size_t m = 0; error == 0 && m < count; m++) {
        struct check_baseline_measure *const own =
            &e->measures[e->measure_count++];
        for (unsigned i = 0; i < layouts; i++)
            numbers[i] = samples[i].counts[m];
        own->range = range_of(numbers, layouts);
        own->name = strdup(measures[m]);
        error = own->name == NULL ? TALLY_ENOMEM : 0;
    }
    free(numbers);
    return error == 0 ? sum_functions(samples, layouts, e) : error;
}

const char *
check_difference(const struct check_sample *a, const struct check_sample *b,
                 const char *const *measures, size_t *event)
{
    for (size_t i = 0; i < a->event_count; i++) {
        if (a->counts[i] != b->counts[i]) {
            *event = i;
            return measures[i];
        }
    }
    return NULL;
}

/* Measures */

static void
find_limits(const struct check_limit *limits, size_t count, const char *name,
            struct check_measure *m)
{
    m->soft = m->hard = NAN;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(limits[i].measure, name) == 0) {
            m->soft = limits[i].soft;
            m->hard = limits[i].hard;
        }
    }
}

static int
compare_measures(const struct check_entry *now,
                 const struct check_entry *before,
                 const struct check_limit *limits, size_t limit_count,
                 struct check_result *r)
{
    r->measures = calloc(now->measure_count + 1, sizeof(*r->measures));
    if (r->measures == NULL)
        return TALLY_ENOMEM;
    for (size_t i = 0; i < now->measure_count; i++) {
        struct check_measure *const m = &r->measures[r->measure_count++];
        const struct check_range *const old =
            before != NULL ? check_entry_measure(before, now->measures[i].name)
                           : NULL;
        m->name = strdup(now->measures[i].name);
        if (m->name == NULL)
            return TALLY_ENOMEM;
        m->now = now->measures[i].range;
        find_limits(limits, limit_count, m->name, m);
        if (old != NULL) {
            m->compared = true;
            m->before = *old;
            m->change = check_change(m->now.median, old->median);
        }
    }
    return 0;
}

/* Functions of both */

/* Two entries, and how many functions of each have been taken. */
struct pairs {
    const struct check_entry *now, *before;
    size_t i, k;
};

/* Takes the next function of one or both entries, by name; that of an entry
 * without it is NULL. Returns false at the end. */
static bool
next_pair(struct pairs *p, const struct check_counts **now,
          const struct check_counts **before)
{
    *now = p->i < p->now->function_count ? &p->now->functions[p->i] : NULL;
    *before =
        p->k < p->before->function_count ? &p->before->functions[p->k] : NULL;
    if (*now != NULL && *before != NULL) {
        const int order = check_counts_order(*now, *before);
        if (order < 0)
            *before = NULL;
        if (order > 0)
            *now = NULL;
    }
    p->i += *now != NULL;
    p->k += *before != NULL;
    return *now != NULL || *before != NULL;
}

/* Returns how much of the change of a function's cost goes with its
 * instructions. Each counts at the cost that it had or has, whichever is less:
 * of a function that does more at a lower cost each, the old cost would make
 * more work than there is. */
static double
work_of(const struct check_counts *now, const struct check_counts *before)
{
    const double more =
        (double)now->instructions - (double)before->instructions;

    if (now->instructions == 0 || before->instructions == 0)
        return (double)now->cost - (double)before->cost;
    return more * fmin((double)before->cost / (double)before->instructions,
                       (double)now->cost / (double)now->instructions);
}

static uint64_t
distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* Returns whether a function did other work for the same strings, as these
 * stand elsewhere: it is called as often, and each call may differ by as much.
 */
static bool
strings_moved(const struct check_counts *now, const struct check_counts *before)
{
    const struct string_function *const f = string_function_find(now->name);

    return f != NULL && now->calls > 0 && now->calls == before->calls &&
           distance(now->instructions, before->instructions) / f->most <
               now->calls;
}

/* Finds what string functions make of moved strings: of the instructions, and
 * of the cost as much as goes with the instructions. */
static void
find_moved_strings(const struct check_entry *now,
                   const struct check_entry *before, struct check_result *r)
{
    struct check_measure *const m = r->measures;
    struct pairs pairs = {now, before, 0, 0};
    const struct check_counts *a, *b;
    double instructions = 0, cost = 0;

    if (!m[0].compared || !m[1].compared || m[0].before.median == 0 ||
        m[1].before.median == 0)
        return;
    while (next_pair(&pairs, &a, &b)) {
        if (a == NULL || b == NULL || !strings_moved(a, b))
            continue;
        instructions += (double)a->instructions - (double)b->instructions;
        cost += work_of(a, b);
    }
    m[0].strings = 100 * instructions / (double)m[0].before.median;
    m[1].strings = 100 * cost / (double)m[1].before.median;
}

/* Verdicts */

/* Judges a measure without a part of its change, per cent. */
static enum check_verdict
judge(const struct check_measure *m, double part)
{
    const double moved = part * (double)m->before.median / 100;
    const double change = m->change - part;

    if (!m->compared)
        return CHECK_SAME;
    if ((double)m->now.most - moved < (double)m->before.least)
        return CHECK_LESS;
    if ((double)m->now.least - moved <= (double)m->before.most)
        return CHECK_SAME;
    /* A comparison with NaN, no limit, is false. */
    return change > m->hard   ? CHECK_HARD
           : change > m->soft ? CHECK_SOFT
                              : CHECK_MORE;
}

static enum check_status
status_of(const struct check_result *r)
{
    bool soft = false, lacks = false;

    for (size_t i = 0; i < r->measure_count; i++) {
        const struct check_measure *const m = &r->measures[i];
        if (m->verdict == CHECK_HARD)
            return CHECK_ROSE;
        soft |= m->verdict == CHECK_SOFT;
        /* A comparison with NaN, no limit, is false. */
        lacks |= !m->compared && (m->hard >= 0 || m->soft >= 0);
    }
    return lacks ? CHECK_NO_BASELINE : soft ? CHECK_WARNED : CHECK_PASSED;
}

/* What changed */

/* Returns whether a function is too small to be told. What the baseline lacks
 * may have been just too small for it. */
static bool
is_small(const struct check_result *r, uint64_t instructions, uint64_t cost)
{
    return instructions <= 2 * r->measures[0].now.median / CHECK_LEAST_PART &&
           cost <= 2 * r->measures[1].now.median / CHECK_LEAST_PART;
}

/* Takes a function out of a sum. Medians of functions may add up to more than
 * that of the whole. */
static void
take_out(struct check_counts *sum, const struct check_counts *f)
{
    sum->instructions -= f->instructions < sum->instructions
                             ? f->instructions
                             : sum->instructions;
    sum->cost -= f->cost < sum->cost ? f->cost : sum->cost;
}

/* Returns the change of loads and stores together as a part of what they were,
 * where layouts make less of a difference; else 0. */
static double
access_change(const struct check_result *r)
{
    double now = 0, before = 0;
    bool changed = false;

    for (size_t i = 0; i < r->measure_count; i++) {
        const struct check_measure *const m = &r->measures[i];
        if (!m->compared || (strcmp(m->name, CHECK_LOADS) != 0 &&
                             strcmp(m->name, CHECK_STORES) != 0))
            continue;
        now += (double)m->now.median;
        before += (double)m->before.median;
        changed |= m->verdict != CHECK_SAME;
    }
    return changed && before > 0 ? (now - before) / before : 0;
}

/* Splits the change of the cost into what goes with instructions or accesses,
 * whichever is more, and what goes with the cost of each. */
static void
split_cost(const struct check_entry *now, const struct check_entry *before,
           struct check_result *r)
{
    const struct check_measure *const m = r->measures;
    const double cost = (double)m[1].before.median;
    /* All functions that are in one entry alone: new ones, those that have
     * another name now, and those that are too small for the baseline. */
    struct check_counts rest = {.instructions = m[0].now.median,
                                .cost = m[1].now.median};
    struct check_counts rest_before = {.instructions = m[0].before.median,
                                       .cost = m[1].before.median};
    const struct check_counts *a, *b;
    struct pairs pairs = {now, before, 0, 0};
    double work = 0;

    if (m[1].verdict == CHECK_SAME || cost <= 0)
        return;
    while (next_pair(&pairs, &a, &b)) {
        if (a == NULL || b == NULL)
            continue;
        take_out(&rest, a);
        take_out(&rest_before, b);
        work += work_of(a, b);
    }
    work += work_of(&rest, &rest_before);
    r->work = 100 * work / cost;
    const double accesses = 100 * access_change(r);
    if (fabs(accesses) > fabs(r->work))
        r->work = accesses;
    r->places = m[1].change - r->work;
    r->cause = fabs(r->work) >= fabs(r->places) ? CHECK_WORK : CHECK_PLACES;
}

/* What changed most first, by cost. */
static int
compare_costs(const void *x, const void *y)
{
    const struct check_function *const a = x, *const b = y;
    const uint64_t cost_a = distance(a->cost, a->cost_before);
    const uint64_t cost_b = distance(b->cost, b->cost_before);

    if (cost_a != cost_b)
        return cost_a > cost_b ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* What changed most first, by instructions. */
static int
compare_work(const void *x, const void *y)
{
    const struct check_function *const a = x, *const b = y;
    const uint64_t work_a = distance(a->instructions, a->instructions_before);
    const uint64_t work_b = distance(b->instructions, b->instructions_before);

    if (work_a != work_b)
        return work_a > work_b ? -1 : 1;
    return compare_costs(x, y);
}

/* Adds the function of one or both entries, if it changed by enough. */
static int
add_function(const struct check_counts *now, const struct check_counts *before,
             struct check_result *r)
{
    const struct check_counts none = {0}, *const any = now ? now : before;
    const struct check_counts *const a = now ? now : &none;
    const struct check_counts *const b = before ? before : &none;
    struct check_function *const f = &r->functions[r->function_count];

    if (is_small(r, distance(a->instructions, b->instructions),
                 distance(a->cost, b->cost)))
        return 0;
    r->function_count++;
    *f = (struct check_function){
        .name = strdup(any->name),
        .image = strdup(any->image),
        .is_new = before == NULL,
        .is_gone = now == NULL,
        .instructions = a->instructions,
        .instructions_before = b->instructions,
        .cost = a->cost,
        .cost_before = b->cost,
        .calls = a->calls,
        .calls_before = b->calls,
    };
    return f->name == NULL || f->image == NULL ? TALLY_ENOMEM : 0;
}

static int
compare_functions(const struct check_entry *now,
                  const struct check_entry *before, struct check_result *r)
{
    struct pairs pairs = {now, before, 0, 0};
    const struct check_counts *a, *b;
    int error = 0;

    r->functions = calloc(now->function_count + before->function_count + 1,
                          sizeof(*r->functions));
    if (r->functions == NULL)
        return TALLY_ENOMEM;
    while (error == 0 && next_pair(&pairs, &a, &b))
        error = add_function(a, b, r);
    if (error == 0)
        qsort(r->functions, r->function_count, sizeof(*r->functions),
              r->cause == CHECK_PLACES || r->measures[0].verdict == CHECK_SAME
                  ? compare_costs
                  : compare_work);
    return error;
}

/* Notes */

static const struct check_build *
find_build(const struct check_entry *e, const char *name)
{
    for (size_t i = 0; i < e->build_count; i++) {
        if (strcmp(e->builds[i].name, name) == 0)
            return &e->builds[i];
    }
    return NULL;
}

__attribute__((format(printf, 2, 3))) static int
add_note(struct check_result *r, const char *format, ...)
{
    va_list arguments;
    char *text = NULL;
    char **const more =
        realloc(r->notes, (r->note_count + 1) * sizeof(*r->notes));

    if (more == NULL)
        return TALLY_ENOMEM;
    r->notes = more;
    va_start(arguments, format);
    const int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        return TALLY_ENOMEM;
    r->notes[r->note_count++] = text;
    return 0;
}

static int
note_builds(const struct check_entry *now, const struct check_entry *before,
            struct check_result *r)
{
    int error = 0;

    for (size_t i = 0; error == 0 && i < now->build_count; i++) {
        const struct check_build *const build = &now->builds[i];
        const struct check_build *const old = find_build(before, build->name);
        if (old == NULL)
            error = add_note(r, "%s did not run for the baseline", build->name);
        else if (strcmp(old->id, build->id) != 0)
            error = add_note(r, "%s is another build than the baseline's",
                             build->name);
    }
    for (size_t i = 0; error == 0 && i < before->build_count; i++) {
        if (find_build(now, before->builds[i].name) == NULL)
            error = add_note(r, "%s ran for the baseline, and does not now",
                             before->builds[i].name);
    }
    return error;
}

/* Says which part of the changes no limit looks at, where a verdict would be
 * another with it. */
static int
note_strings(struct check_result *r)
{
    const struct check_measure *const m = r->measures;

    if (judge(&m[0], 0) == m[0].verdict && judge(&m[1], 0) == m[1].verdict)
        return 0;
    return add_note(r,
                    "%+.2f %% of the instructions and %+.2f %% of the cost are "
                    "of string functions that are called as often as before, "
                    "and do more or less by where strings stand in memory; no "
                    "limit looks at this part",
                    m[0].strings, m[1].strings);
}

static int
note_differences(const struct check_entry *now,
                 const struct check_entry *before, struct check_result *r)
{
    int error = note_builds(now, before, r);

    if (error == 0)
        error = note_strings(r);
    if (error == 0 && strcmp(now->version, before->version) != 0)
        error = add_note(r, "the baseline is of tally %s, this is %s",
                         before->version, now->version);
    if (error == 0 && strcmp(now->output, before->output) != 0 &&
        *now->output != '\0' && *before->output != '\0')
        error = add_note(r, "it prints something else than for the baseline");
    if (error == 0 && now->layouts != before->layouts)
        error = add_note(r, "the baseline is of %u layout%s, this of %u",
                         before->layouts, before->layouts == 1 ? "" : "s",
                         now->layouts);
    return error;
}

int
check_compare(const struct check_entry *now, const struct check_entry *before,
              const struct check_limit *limits, size_t limit_count,
              struct check_result *r)
{
    int error = compare_measures(now, before, limits, limit_count, r);

    r->layouts = now->layouts;
    if (error != 0 || before == NULL)
        return error;
    find_moved_strings(now, before, r);
    for (size_t i = 0; i < r->measure_count; i++)
        r->measures[i].verdict = judge(&r->measures[i], r->measures[i].strings);
    r->status = status_of(r);
    if (!r->measures[0].compared || !r->measures[1].compared)
        return note_differences(now, before, r);
    split_cost(now, before, r);
    if (r->measures[0].verdict != CHECK_SAME ||
        r->measures[1].verdict != CHECK_SAME)
        error = compare_functions(now, before, r);
    return error == 0 ? note_differences(now, before, r) : error;
}
