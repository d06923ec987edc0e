/* SPDX-License-Identifier: MIT */
#include "sweep/curve_drawing.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sweep/sweep.h"

/* Sizes from one to its double, that of full associativity. */
#define STEPS 8u
/* Memory for lists of lines: less than 1 GB. */
#define LIST_LINES_MOST (UINT64_C(1) << 26)

const struct curve_level_row curve_levels[CURVE_LEVELS] = {
    [CURVE_L1D] = {"l1d", "l1d.size", "L1 data cache", "line", "4K..64M",
                   "loads and stores", false},
    [CURVE_DTLB] = {"dtlb", "dtlb.entries", "data TLB", "page", "16..4096",
                    "loads and stores", true},
    [CURVE_L1I] = {"l1i", "l1i.size", "L1 instruction cache", "line", "4K..4M",
                   NULL, false},
    [CURVE_ITLB] = {"itlb", "itlb.entries", "instruction TLB", "page",
                    "4..1024", NULL, true},
    [CURVE_L2] = {"l2", "l2.size", "L2", "line", "16K..64M",
                  "requests to the L2", false},
    [CURVE_L3] = {"l3", "l3.size", "L3", "line", "256K..256M",
                  "requests to the L3", false},
};

static bool
is_power(uint64_t n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

/* Returns the bytes or entries of so many lines. */
static uint64_t
size_of(const struct curve_drawing *d, uint64_t lines)
{
    return curve_levels[d->request.level].entries ? lines : lines * d->line;
}

static int
add_point(struct curve_drawing *d, uint64_t lines, uint32_t ways, bool shown,
          const struct tally_log *log)
{
    if (d->point_count == CURVE_POINTS_MOST)
        return tally_fail(log, TALLY_ERANGE,
                          "--sizes and --ways are more than %u sizes",
                          CURVE_POINTS_MOST);
    d->points[d->point_count++] = (struct curve_point){
        .size = size_of(d, lines),
        .lines = lines,
        .ways = ways,
        .sets = ways == 0 ? 1 : lines / ways,
        .shown = shown,
    };
    return 0;
}

/* Notes a size that cannot be. */
static int
leave_out(struct curve_drawing *d, const char *size, uint32_t ways,
          const struct tally_log *log)
{
    char *text = NULL;
    char of[32] = "";

    if (ways != 0)
        snprintf(of, sizeof(of), " of %" PRIu32 " ways", ways);
    if (asprintf(&text, "%s%s%s%s", d->left_out != NULL ? d->left_out : "",
                 d->left_out != NULL ? ", " : "", size, of) < 0)
        return tally_fail(log, TALLY_ENOMEM, "no memory for the sizes");
    free(d->left_out);
    d->left_out = text;
    return 0;
}

/* Full associativity */

static int
compare_points(const void *a, const void *b)
{
    const struct curve_point *const p = a, *const q = b;

    return (p->lines > q->lines) - (p->lines < q->lines);
}

/* Adds the sizes between one and its double. */
static int
add_between(struct curve_drawing *d, uint64_t lines,
            const struct tally_log *log)
{
    int error = 0;

    for (unsigned i = 1; i < STEPS && error == 0; i++)
        if (lines * i % STEPS == 0)
            error = add_point(d, lines + lines * i / STEPS, 0, false, log);
    return error;
}

static int
make_full(struct curve_drawing *d, const struct sweep_axis *axis, bool range,
          const struct tally_log *log)
{
    struct curve_request *const r = &d->request;
    const uint64_t unit = size_of(d, 1);
    int error = 0;

    for (size_t i = 0; i < axis->count && error == 0; i++) {
        const uint64_t lines = axis->numbers[i] / unit;
        if (lines == 0 || axis->numbers[i] % unit != 0) {
            error = leave_out(d, axis->values[i], 0, log);
            continue;
        }
        error = add_point(d, lines, 0, true, log);
        if (error == 0 && range && i + 1 < axis->count)
            error = add_between(d, lines, log);
    }
    if (error != 0)
        return error;
    qsort(d->points, d->point_count, sizeof(*d->points), compare_points);
    if (d->point_count > CURVE_SIZES)
        return tally_fail(log, TALLY_ERANGE, "--sizes are more than %u sizes",
                          CURVE_SIZES);
    for (size_t i = 0; i < d->point_count; i++)
        r->lines[r->size_count++] = d->points[i].lines;
    return 0;
}

/* Sets */

/* Asks for a number of sets with so many ways. */
static int
add_sets(struct curve_request *r, uint64_t sets, uint32_t ways,
         const struct tally_log *log)
{
    unsigned at = 0;

    while (at < r->set_count && r->sets[at] < sets)
        at++;
    if (at < r->set_count && r->sets[at] == sets) {
        r->asked[at] |= UINT64_C(1) << (ways - 1);
        if (r->ways[at] < ways)
            r->ways[at] = ways;
        return 0;
    }
    if (r->set_count == CURVE_SETS)
        return tally_fail(log, TALLY_ERANGE,
                          "--sizes and --ways are more than %u numbers of sets",
                          CURVE_SETS);
    for (unsigned i = r->set_count++; i > at; i--) {
        r->sets[i] = r->sets[i - 1];
        r->ways[i] = r->ways[i - 1];
        r->asked[i] = r->asked[i - 1];
    }
    r->sets[at] = sets;
    r->ways[at] = ways;
    r->asked[at] = UINT64_C(1) << (ways - 1);
    return 0;
}

/* Adds all sizes of so many ways between the ends of a range. */
static int
add_range(struct curve_drawing *d, const struct sweep_axis *axis, uint32_t ways,
          const struct tally_log *log)
{
    const uint64_t unit = size_of(d, 1) * ways;
    const uint64_t least = axis->numbers[0];
    const uint64_t most = axis->numbers[axis->count - 1];
    int error = 0;

    for (uint64_t sets = 1; sets <= most / unit && error == 0; sets *= 2) {
        if (sets * unit < least)
            continue;
        error = add_point(d, sets * ways, ways, true, log);
        if (error == 0)
            error = add_sets(&d->request, sets, ways, log);
    }
    return error;
}

static int
add_each(struct curve_drawing *d, const struct sweep_axis *axis, uint32_t ways,
         const struct tally_log *log)
{
    const uint64_t unit = size_of(d, 1) * ways;
    int error = 0;

    for (size_t i = 0; i < axis->count && error == 0; i++) {
        const uint64_t sets = axis->numbers[i] / unit;
        if (axis->numbers[i] % unit != 0 || !is_power(sets)) {
            error = leave_out(d, axis->values[i], ways, log);
            continue;
        }
        error = add_point(d, sets * ways, ways, true, log);
        if (error == 0)
            error = add_sets(&d->request, sets, ways, log);
    }
    return error;
}

static int
make_sets(struct curve_drawing *d, const struct sweep_axis *axis, bool range,
          const struct curve_ways *ways, const struct tally_log *log)
{
    uint64_t lines = 0;
    int error = 0;

    for (size_t i = 0; i < ways->count && error == 0; i++) {
        const size_t first = d->point_count;
        error = range ? add_range(d, axis, ways->ways[i], log)
                      : add_each(d, axis, ways->ways[i], log);
        qsort(d->points + first, d->point_count - first, sizeof(*d->points),
              compare_points);
    }
    for (unsigned i = 0; i < d->request.set_count; i++)
        lines += d->request.sets[i] * d->request.ways[i];
    if (error == 0 && lines > LIST_LINES_MOST)
        error = tally_fail(log, TALLY_ERANGE,
                           "--sizes and --ways need lists of %" PRIu64
                           " lines, more than %" PRIu64
                           "; name smaller sizes, or fewer ways",
                           lines, LIST_LINES_MOST);
    return error;
}

/* Reads sizes as an axis of a sweep, with the parameter's units. */
static int
read_sizes(struct sweep *s, const struct curve_drawing *d, const char *sizes,
           const struct tally_log *log)
{
    const struct curve_level_row *const level = &curve_levels[d->request.level];
    char *text = NULL;

    if (asprintf(&text, "%s=%s", level->key, sizes) < 0)
        return tally_fail(log, TALLY_ENOMEM, "no memory for the sizes");
    int error = *sizes == '\0' ? TALLY_ERANGE : sweep_add_axis(s, text, log);
    free(text);
    if (error == 0 && s->axes[0].numbers != NULL)
        return 0;
    if (error == 0 || *sizes == '\0')
        error = tally_fail(log, TALLY_ERANGE,
                           "--sizes takes LOW..HIGH, as %s, or sizes with "
                           "commas between them, not '%s'",
                           level->usual, sizes);
    return error;
}

int
curve_make_points(struct curve_drawing *d, const char *sizes,
                  const struct curve_ways *ways, const struct tally_log *log)
{
    struct sweep s = {0};
    const bool range =
        strstr(sizes, "..") != NULL && strpbrk(sizes, ",+") == NULL;
    int error = read_sizes(&s, d, sizes, log);

    if (error == 0)
        error = ways->count == 0 ? make_full(d, &s.axes[0], range, log)
                                 : make_sets(d, &s.axes[0], range, ways, log);
    if (error == 0 && d->point_count == 0)
        error = tally_fail(
            log, TALLY_ERANGE,
            "--sizes %s: no such size has whole %ss of %" PRIu64 " bytes%s",
            sizes, curve_levels[d->request.level].line, d->line,
            ways->count == 0 ? ""
                             : " and a power of two of sets of these ways");
    sweep_finish(&s);
    return error;
}

/* What was counted */

/* Fills in how many accesses of each group of lines miss a size. */
static void
groups_of(const struct curve_drawing *d, const struct curve_counts *c,
          size_t size, double *misses)
{
    for (unsigned g = 0; g < CURVE_GROUPS; g++) {
        misses[g] = (double)atomic_load(&c->first[g]);
        for (unsigned b = (unsigned)size + 1; b <= d->request.size_count; b++)
            misses[g] += (double)atomic_load(&c->bins[g][b]);
    }
}

static double
sum_of(const double *misses)
{
    double sum = 0;

    for (unsigned g = 0; g < CURVE_GROUPS; g++)
        sum += misses[g];
    return sum;
}

/* Returns half of the interval that has the sum of 95 of 100 samples, by how
 * the groups of lines differ (Student's t of 15 degrees of freedom). */
static double
half_width(const double *misses)
{
    const double mean = sum_of(misses) / CURVE_GROUPS;
    double squares = 0;

    for (unsigned g = 0; g < CURVE_GROUPS; g++)
        squares += (misses[g] - mean) * (misses[g] - mean);
    return 2.131 * sqrt(squares * CURVE_GROUPS / (CURVE_GROUPS - 1));
}

/* Finds the interval of a size in a sample. Lines between two uses of a line
 * are counted by the sample too: the sample's size stands for any from `least`
 * to `most` lines. */
static void
take_interval(struct curve_drawing *d, const struct curve_counts *c, size_t i)
{
    const struct curve_request *const r = &d->request;
    struct curve_point *const p = &d->points[i];
    const double lines = (double)p->lines;
    const double spread = 1.96 * sqrt((r->sample - 1.0) * lines);
    double misses[CURVE_GROUPS];
    size_t below = i, above = i;

    while (below > 0 && (double)r->lines[below] > lines - spread)
        below--;
    while (above < r->size_count && (double)r->lines[above] < lines + spread)
        above++;
    groups_of(d, c, above, misses);
    const double least = sum_of(misses) - half_width(misses);
    groups_of(d, c, below, misses);
    const double most = sum_of(misses) + half_width(misses);
    p->low = fmax(least, 0) * r->sample;
    p->high =
        (double)r->lines[below] > lines - spread ? HUGE_VAL : most * r->sample;
}

static void
take_full(struct curve_drawing *d, const struct curve_counts *c)
{
    const unsigned factor =
        d->request.kind == CURVE_SAMPLED ? d->request.sample : 1;
    double misses[CURVE_GROUPS];

    for (size_t i = 0; i < d->point_count; i++) {
        groups_of(d, c, i, misses);
        d->points[i].misses = sum_of(misses) * factor;
        d->points[i].low = d->points[i].high = d->points[i].misses;
        if (d->request.kind == CURVE_SAMPLED)
            take_interval(d, c, i);
    }
    groups_of(d, c, d->request.size_count, misses);
    d->first = sum_of(misses) * factor;
}

static void
take_sets(struct curve_drawing *d, const struct curve_counts *c)
{
    const struct curve_request *const r = &d->request;

    for (size_t i = 0; i < d->point_count; i++) {
        struct curve_point *const p = &d->points[i];
        unsigned at = 0;
        while (at + 1 < r->set_count && r->sets[at] != p->sets)
            at++;
        uint64_t misses = atomic_load(&c->beyond[at]);
        for (unsigned depth = p->ways; depth < r->ways[at]; depth++)
            misses += atomic_load(&c->depths[at][depth]);
        p->misses = p->low = p->high = (double)misses;
    }
}

void
curve_take(struct curve_drawing *d, const struct curve_counts *c)
{
    const struct curve_level_row *const level = &curve_levels[d->request.level];

    if (d->request.level >= CURVE_L2)
        d->accesses = atomic_load(&c->asked);
    else if (level->stream == NULL)
        d->accesses = 0;
    d->lost = atomic_load(&c->lost);
    if (d->request.kind == CURVE_BY_SETS)
        take_sets(d, c);
    else
        take_full(d, c);
}

void
curve_drawing_finish(struct curve_drawing *d)
{
    curve_parts_finish(&d->parts);
    free(d->left_out);
    d->left_out = NULL;
}

size_t
curve_series_end(const struct curve_drawing *d, size_t first)
{
    size_t end = first + 1;

    while (end < d->point_count && d->points[end].ways == d->points[first].ways)
        end++;
    return end;
}

const char *
curve_standing(const struct curve_drawing *d)
{
    return d->lost != 0 || trace_part_lacks(d->trace) ? "partial"
           : d->request.kind == CURVE_SAMPLED         ? "estimated"
                                                      : "modelled";
}
