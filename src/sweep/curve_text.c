/* SPDX-License-Identifier: MIT */
/* A curve of misses for people. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "report/count_report.h"
#include "sweep/curve_drawing.h"

#define NUMBER CURVE_SIZE_TEXT /* bytes of a number as text */
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

const char *
curve_size_text(const struct curve_drawing *d, uint64_t size, char *text)
{
    static const char *const units[] = {"", "K", "M", "G"};
    double n = (double)size;
    unsigned unit = 0;

    while (!level_of(d)->entries && n >= 1024 && unit < 3) {
        n /= 1024;
        unit++;
    }
    snprintf(text, CURVE_SIZE_TEXT, "%.4g%s", n, units[unit]);
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

int
curve_write_head(const struct curve_drawing *d, FILE *out)
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
    return ferror(out) ? TALLY_EIO : 0;
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
                curve_size_text(d, falls[f].from->size, a),
                curve_size_text(d, falls[f].to->size, b));
    if (found == 0 && count > 1)
        fprintf(out, "  %smisses hardly fall between %s (%s) and %s (%s)\n", of,
                curve_size_text(d, points[0]->size, a),
                rate_text(d, points[0]->misses, from),
                curve_size_text(d, points[count - 1]->size, b),
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
                curve_size_text(d, p->size, size),
                rate_text(d, p->misses, rate));
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
    curve_size_text(
        d, (uint64_t)d->first * (level_of(d)->entries ? 1 : d->line), all);
    if (i == d->point_count)
        fprintf(out, "  the largest size misses more than first touches yet");
    else
        fprintf(out, "  from %s on, hardly more than first touches miss",
                curve_size_text(d, d->points[i].size, size));
    fprintf(out, ": the program touches %s %ss", count, level_of(d)->line);
    fprintf(out, level_of(d)->entries ? "\n" : ", %s\n", all);
}

/* The parts */

/* Parts that are told in words. */
#define PARTS_TOLD 5u
/* Sizes of the table of parts. */
#define SIZES_SHOWN 6u

size_t
curve_first_told(const struct curve_drawing *d)
{
    for (size_t i = 0; i < d->point_count; i++)
        if (d->points[i].ways != 0 && d->points[i].ways == d->own_ways)
            return i;
    return 0;
}

/* Says which size a part needs. Returns whether there is memory. */
static bool
write_need(const struct curve_drawing *d, const struct curve_part *part,
           size_t first, FILE *out)
{
    const struct curve_need need = curve_part_need(d, part, first);
    const struct curve_point *const last =
        &d->points[curve_series_end(d, first) - 1];
    char *const name = curve_part_name(&d->parts, part);
    char most[NUMBER], least[NUMBER], from[NUMBER], to[NUMBER], once[NUMBER];

    if (name == NULL)
        return false;
    count_text(need.most, most);
    count_text(need.least, least);
    if (need.to == NULL && part->first > 0 && need.most > 2 * part->first)
        escape_printf(out, "  %s needs more than %s: its %s misses hardly fall",
                      name, curve_size_text(d, last->size, to), most);
    else if (need.to == NULL)
        escape_printf(out, "  %s: its %s misses are hardly fewer in any size",
                      name, most);
    else
        escape_printf(out, "  %s needs %s: its misses fall from %s at %s to %s",
                      name, curve_size_text(d, need.to->size, to),
                      count_text(part->misses[need.from - d->points], most),
                      curve_size_text(d, need.from->size, from), least);
    if (part->first > 0)
        fprintf(out, ", of which %s are first touches",
                count_text(part->first, once));
    fputc('\n', out);
    free(name);
    return true;
}

/* Says which sizes the parts that miss most need. */
static bool
write_needs(const struct curve_drawing *d, FILE *out)
{
    const struct curve_parts *const parts = &d->parts;
    const size_t first = curve_first_told(d);

    for (size_t i = 0; i < parts->count && i < PARTS_TOLD; i++)
        if (!write_need(d, &parts->rows[i], first, out))
            return false;
    return true;
}

/* Chooses the sizes of the table of parts: of those that the text shows, up to
 * the first from which on hardly any miss is saved. Returns how many. */
static size_t
choose_sizes(const struct curve_drawing *d, size_t *chosen)
{
    const size_t first = curve_first_told(d);
    const size_t last = curve_series_end(d, first) - 1;
    size_t shown[CURVE_POINTS_MOST], count = 0, kept = 0;

    for (size_t i = first; i <= last; i++) {
        if (!d->points[i].shown)
            continue;
        shown[count++] = i;
        if (d->points[i].misses <= d->points[last].misses * 1.01)
            break;
    }
    const size_t most = count < SIZES_SHOWN ? count : SIZES_SHOWN;
    for (size_t k = 0; k < most; k++)
        chosen[kept++] = shown[most == 1 ? 0 : k * (count - 1) / (most - 1)];
    return kept;
}

static void
write_part_row(const double *misses, const size_t *chosen, size_t sizes,
               const unsigned *widths, const char *name, FILE *out)
{
    char text[NUMBER];

    for (size_t k = 0; k < sizes; k++)
        fprintf(out, "  %*s", (int)widths[k],
                count_text(misses[chosen[k]], text));
    escape_printf(out, "  %s\n", name);
}

/* Writes the heading of the table of parts: sizes, then keys. */
static void
write_part_head(const struct curve_drawing *d, const size_t *chosen,
                size_t sizes, const unsigned *widths, FILE *out)
{
    const uint32_t ways = d->points[chosen[0]].ways;
    char text[NUMBER];

    fprintf(out, "\n  misses%s",
            d->request.kind == CURVE_SAMPLED ? ", estimated," : "");
    if (ways != 0)
        fprintf(out, " of %" PRIu32 " way%s", ways, ways == 1 ? "" : "s");
    fputs(" by ", out);
    for (size_t i = 0; i < d->parts.key_count; i++)
        fprintf(out, "%s%s", i > 0 ? ", " : "",
                breakdown_key_name(d->parts.keys[i]));
    fputs(" at\n", out);
    for (size_t k = 0; k < sizes; k++)
        fprintf(out, "  %*s", (int)widths[k],
                curve_size_text(d, d->points[chosen[k]].size, text));
    fputc('\n', out);
}

/* Writes what each part misses at some sizes. Returns whether there is memory.
 */
static bool
write_parts(const struct curve_drawing *d, FILE *out)
{
    const struct curve_parts *const parts = &d->parts;
    const size_t most =
        d->top != 0 && d->top < parts->count ? d->top : parts->count;
    double all[CURVE_POINTS_MOST], more[CURVE_POINTS_MOST] = {0};
    size_t chosen[SIZES_SHOWN];
    unsigned widths[SIZES_SHOWN];
    const size_t sizes = choose_sizes(d, chosen);
    char text[NUMBER];

    if (parts->key_count == 0)
        return true;
    for (size_t i = 0; i < d->point_count; i++)
        all[i] = d->points[i].misses;
    for (size_t k = 0; k < sizes; k++) {
        const size_t width = strlen(count_text(all[chosen[k]], text));
        widths[k] = width > 7 ? (unsigned)width : 7;
    }
    write_part_head(d, chosen, sizes, widths, out);
    for (size_t i = most; i < parts->count; i++) {
        for (size_t p = 0; p < d->point_count; p++)
            more[p] += parts->rows[i].misses[p];
    }
    for (size_t i = 0; i < most; i++) {
        char *const name = curve_part_name(parts, &parts->rows[i]);
        if (name == NULL)
            return false;
        write_part_row(parts->rows[i].misses, chosen, sizes, widths, name, out);
        free(name);
    }
    if (most < parts->count) {
        snprintf(text, sizeof(text), "(%zu more)", parts->count - most);
        write_part_row(more, chosen, sizes, widths, text, out);
    }
    write_part_row(all, chosen, sizes, widths, "(all)", out);
    return true;
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
        fprintf(out, "  %-8s", curve_size_text(d, p->size, text));
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

int
curve_write_notes(const struct curve_drawing *d, FILE *out)
{
    char text[NUMBER];

    if (d->accesses != 0)
        fprintf(out, "  %% of %s %s\n", count_text((double)d->accesses, text),
                rate_name(d));
    if (d->instructions != 0)
        fprintf(out, "  %s instructions\n",
                count_text((double)d->instructions, text));
    else
        fputs("  how many instructions ran is not known\n", out);
    if (d->heap_reason != NULL)
        escape_printf(out, "  heap by site not available: %s\n",
                      d->heap_reason);
    if (d->left_out != NULL)
        escape_printf(out, "  left out, as the %s cannot be so large: %s\n",
                      level_of(d)->title, d->left_out);
    if (d->lost != 0)
        fprintf(out, "  %s accesses are in no count: no memory\n",
                count_text((double)d->lost, text));
    for (const char *const *n = d->notes; n != NULL && *n != NULL; n++)
        escape_printf(out, "  %s\n", *n);
    return ferror(out) ? TALLY_EIO : 0;
}

int
curve_write_words(const struct curve_drawing *d, FILE *out)
{
    write_own(d, out);
    for (size_t i = 0; i < d->point_count; i++) {
        bool first = true;
        for (size_t k = 0; k < i; k++)
            first &= d->points[k].ways != d->points[i].ways;
        if (first)
            write_falls(d, i, out);
    }
    write_floor(d, out);
    if (!write_needs(d, out))
        return TALLY_ENOMEM;
    return ferror(out) ? TALLY_EIO : 0;
}

int
curve_write_text(const struct curve_drawing *d, FILE *out)
{
    int error = curve_write_head(d, out);

    if (error == 0)
        error = curve_write_words(d, out);
    if (error != 0)
        return error;
    write_table(d, out);
    if (!write_parts(d, out))
        return TALLY_ENOMEM;
    fputc('\n', out);
    return curve_write_notes(d, out);
}
