/* SPDX-License-Identifier: MIT */
/* A curve of misses for people. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/escape.h"
#include "report/count_report.h"
#include "sweep/curve_drawing.h"

#define NUMBER 32 /* bytes of a number as text */
/* Falls that are told. */
#define FALLS 3u
/* A fall is told that takes so much of the misses of the smallest size away. */
#define FALL_LEAST 0.08

/* A part of the curve where each size misses notably less than the one before.
 */
struct fall {
    const struct curve_point *from, *to;
    double misses; /* fewer */
};

static const struct curve_level_row *
level_of(const struct curve_drawing *d)
{
    return &curve_levels[d->request.level];
}

/* Writes a size, in units of 1,024 where that is short, into NUMBER bytes. */
static const char *
size_text(const struct curve_drawing *d, uint64_t size, char *text)
{
    static const char *const units[] = {"", "K", "M", "G"};
    double n = (double)size;
    unsigned unit = 0;

    while (!level_of(d)->entries && n >= 1024 && unit < 3) {
        n /= 1024;
        unit++;
    }
    snprintf(text, NUMBER, "%.4g%s", n, units[unit]);
    return text;
}

static const char *
count_text(double count, char *text)
{
    if (count == HUGE_VAL)
        strcpy(text, "-");
    else
        format_grouped((uint64_t)(count + 0.5), text);
    return text;
}

/* Returns misses for 100 accesses, or where those are not counted, for 1,000
 * instructions. */
static double
rate_of(const struct curve_drawing *d, double misses)
{
    const double of =
        (double)(d->accesses != 0 ? d->accesses * 10 : d->instructions);

    return of == 0 ? 0 : misses * 1000 / of;
}

static const char *
rate_text(const struct curve_drawing *d, double misses, char *text)
{
    snprintf(text, NUMBER, "%.3g%s", rate_of(d, misses),
             d->accesses != 0 ? " %" : "");
    return text;
}

/* Says what rates are of. */
static const char *
rate_name(const struct curve_drawing *d)
{
    return d->accesses != 0 ? level_of(d)->stream : "per 1,000 instructions";
}

static void
write_head(const struct curve_drawing *d, FILE *out)
{
    const struct curve_request *const r = &d->request;

    escape_printf(out, "%s: misses of the %s of %s by its size, ", d->program,
                  level_of(d)->title, d->machine);
    fprintf(out, "%s, %s%s\n",
            r->kind == CURVE_BY_SETS ? "least recently used"
                                     : "full associativity, least recently "
                                       "used",
            curve_standing(d), d->varies ? ", varies" : "");
    if (r->kind == CURVE_SAMPLED)
        fprintf(out,
                "  by a sample of one %s in %" PRIu32
                "; \"at least\" and \"at most\" hold in 95 of 100 samples; -: "
                "the size is too small for the sample\n",
                level_of(d)->line, r->sample);
}

/* Sets `points` to the points of as many ways as the first, ascending, whose
 * misses are known. Returns how many. */
static size_t
series_of(const struct curve_drawing *d, size_t first,
          const struct curve_point **points)
{
    size_t count = 0;

    for (size_t i = first; i < d->point_count; i++)
        if (d->points[i].ways == d->points[first].ways && d->points[i].shown &&
            d->points[i].high < HUGE_VAL)
            points[count++] = &d->points[i];
    return count;
}

/* Finds the largest falls, in the order of their sizes. Returns how many. */
static unsigned
find_falls(const struct curve_point *const *points, size_t count,
           struct fall *falls)
{
    const double least = count > 0 ? points[0]->misses * FALL_LEAST : 0;
    unsigned found = 0;

    for (size_t i = 0; i + 1 < count;) {
        size_t end = i;
        while (end + 1 < count &&
               points[end]->misses - points[end + 1]->misses > least)
            end++;
        if (end == i) {
            i++;
            continue;
        }
        const struct fall fall = {points[i], points[end],
                                  points[i]->misses - points[end]->misses};
        unsigned smallest = 0;
        for (unsigned f = 1; f < found; f++)
            if (falls[f].misses < falls[smallest].misses)
                smallest = f;
        if (found == FALLS && falls[smallest].misses < fall.misses) {
            memmove(falls + smallest, falls + smallest + 1,
                    (FALLS - 1 - smallest) * sizeof(*falls));
            found--;
        }
        if (found < FALLS)
            falls[found++] = fall;
        i = end;
    }
    return found;
}

/* Says where the misses of a number of ways fall. */
static void
write_falls(const struct curve_drawing *d, size_t first, FILE *out)
{
    const struct curve_point *points[CURVE_POINTS_MOST];
    const size_t count = series_of(d, first, points);
    struct fall falls[FALLS];
    const unsigned found = find_falls(points, count, falls);
    char of[NUMBER] = "", from[NUMBER], to[NUMBER], a[NUMBER], b[NUMBER];

    if (d->points[first].ways != 0)
        snprintf(of, sizeof(of), "of %" PRIu32 " way%s, ",
                 d->points[first].ways, d->points[first].ways == 1 ? "" : "s");
    for (unsigned f = 0; f < found; f++)
        fprintf(out, "  %smisses fall from %s to %s between %s and %s\n", of,
                rate_text(d, falls[f].from->misses, from),
                rate_text(d, falls[f].to->misses, to),
                size_text(d, falls[f].from->size, a),
                size_text(d, falls[f].to->size, b));
    if (found == 0 && count > 1)
        fprintf(out, "  %smisses hardly fall between %s (%s) and %s (%s)\n", of,
                size_text(d, points[0]->size, a),
                rate_text(d, points[0]->misses, from),
                size_text(d, points[count - 1]->size, b),
                rate_text(d, points[count - 1]->misses, to));
}

/* Says what a size misses that is the machine's own. */
static void
write_own(const struct curve_drawing *d, FILE *out)
{
    char size[NUMBER], rate[NUMBER];

    for (size_t i = 0; i < d->point_count; i++) {
        const struct curve_point *const p = &d->points[i];
        if (p->size != d->own_size || (p->ways != 0 && p->ways != d->own_ways))
            continue;
        fprintf(out, "  with the %s of the machine, misses are %s",
                size_text(d, p->size, size), rate_text(d, p->misses, rate));
        if (p->ways == 0 && d->own_ways != 0)
            fprintf(out, " (its own %" PRIu32 " ways may miss more)",
                    d->own_ways);
        fputc('\n', out);
        return;
    }
}

/* Says from which size on first touches alone miss: how much there is. */
static void
write_floor(const struct curve_drawing *d, FILE *out)
{
    char size[NUMBER], count[NUMBER], all[NUMBER];
    size_t i = 0;

    if (d->request.kind == CURVE_BY_SETS || d->first <= 0)
        return;
    while (i < d->point_count && d->points[i].misses > d->first * 1.01)
        i++;
    count_text(d->first, count);
    size_text(d, (uint64_t)d->first * (level_of(d)->entries ? 1 : d->line),
              all);
    if (i == d->point_count)
        fprintf(out, "  the largest size misses more than first touches yet");
    else
        fprintf(out, "  from %s on, hardly more than first touches miss",
                size_text(d, d->points[i].size, size));
    fprintf(out, ": the program touches %s %ss", count, level_of(d)->line);
    fprintf(out, level_of(d)->entries ? "\n" : ", %s\n", all);
}

static void
write_table(const struct curve_drawing *d, FILE *out)
{
    const bool ways = d->request.kind == CURVE_BY_SETS;
    const bool sampled = d->request.kind == CURVE_SAMPLED;
    char text[NUMBER];

    fprintf(out, "\n  %-8s", level_of(d)->entries ? "entries" : "size");
    if (ways)
        fprintf(out, "  %4s", "ways");
    fprintf(out, "  %15s", "misses");
    if (sampled)
        fprintf(out, "  %15s  %15s", "at least", "at most");
    if (d->accesses != 0)
        fprintf(out, "  %8s", "%");
    fprintf(out, "  %14s\n", "per 1,000 ins.");
    for (size_t i = 0; i < d->point_count; i++) {
        const struct curve_point *const p = &d->points[i];
        if (!p->shown)
            continue;
        fprintf(out, "  %-8s", size_text(d, p->size, text));
        if (ways)
            fprintf(out, "  %4" PRIu32, p->ways);
        fprintf(out, "  %15s", count_text(p->misses, text));
        if (sampled) {
            fprintf(out, "  %15s", count_text(p->low, text));
            fprintf(out, "  %15s", count_text(p->high, text));
        }
        if (d->accesses != 0)
            fprintf(out, "  %8.3f", rate_of(d, p->misses));
        if (d->instructions == 0)
            fprintf(out, "  %14s\n", "-");
        else
            fprintf(out, "  %14.3f\n",
                    p->misses * 1000 / (double)d->instructions);
    }
}

static void
write_notes(const struct curve_drawing *d, FILE *out)
{
    char text[NUMBER];

    fputc('\n', out);
    if (d->accesses != 0)
        fprintf(out, "  %% of %s %s\n", count_text((double)d->accesses, text),
                rate_name(d));
    if (d->instructions != 0)
        fprintf(out, "  %s instructions\n",
                count_text((double)d->instructions, text));
    else
        fputs("  how many instructions ran is not known\n", out);
    if (d->left_out != NULL)
        escape_printf(out, "  left out, as the %s cannot be so large: %s\n",
                      level_of(d)->title, d->left_out);
    if (d->lost != 0)
        fprintf(out, "  %s accesses are in no count: no memory\n",
                count_text((double)d->lost, text));
    for (const char *const *n = d->notes; n != NULL && *n != NULL; n++)
        escape_printf(out, "  %s\n", *n);
}

int
curve_write_text(const struct curve_drawing *d, FILE *out)
{
    write_head(d, out);
    write_own(d, out);
    for (size_t i = 0; i < d->point_count; i++) {
        bool first = true;
        for (size_t k = 0; k < i; k++)
            first &= d->points[k].ways != d->points[i].ways;
        if (first)
            write_falls(d, i, out);
    }
    write_floor(d, out);
    write_table(d, out);
    write_notes(d, out);
    return ferror(out) ? TALLY_EIO : 0;
}
