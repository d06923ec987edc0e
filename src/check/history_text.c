/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/escape.h"
#include "check/history.h"
#include "check/report.h"
#include "record/text_line.h"

#define DAY 10 /* characters of a time that are its day */

/* A place where a series moved. */
struct move {
    const struct check_series *series;
    const struct check_point *point;
};

/* The latest first, then the largest. */
static int
compare_moves(const void *x, const void *y)
{
    const struct move *const a = x, *const b = y;
    const double change_a = fabs(a->point->change);
    const double change_b = fabs(b->point->change);

    if (a->point->result != b->point->result)
        return a->point->result > b->point->result ? -1 : 1;
    if (change_a != change_b)
        return change_a > change_b ? -1 : 1;
    return (a->series > b->series) - (a->series < b->series);
}

/* Returns where the series moved, for the caller to free; NULL: no memory. */
static struct move *
find_moves(const struct check_history *h, size_t *count)
{
    size_t most = 1;

    for (size_t i = 0; i < h->series_count; i++)
        most += h->series[i].count;
    struct move *const moves = calloc(most, sizeof(*moves));
    *count = 0;
    for (size_t i = 0; moves != NULL && i < h->series_count; i++) {
        const struct check_series *const s = &h->series[i];
        for (size_t k = 0; k < s->count; k++) {
            if (s->points[k].moved)
                moves[(*count)++] = (struct move){s, &s->points[k]};
        }
    }
    if (moves != NULL)
        qsort(moves, *count, sizeof(*moves), compare_moves);
    return moves;
}

static void
write_change(double change, FILE *out)
{
    char text[CHECK_CHANGE_TEXT];

    check_percent_text(change, text);
    fprintf(out, "%12s", text);
}

static void
write_result(const struct check_history *h, size_t number, FILE *out)
{
    const struct check_history_result *const r = &h->results[number];

    escape_printf(out, "%.*s %s", DAY, r->time, r->label);
}

static size_t
count_benchmarks(const struct check_history *h)
{
    size_t count = 0;

    for (size_t i = 0; i < h->series_count; i++)
        count += i == 0 || strcmp(h->series[i].benchmark,
                                  h->series[i - 1].benchmark) != 0;
    return count;
}

static void
write_moves(const struct check_history *h, const struct move *moves,
            size_t count, FILE *out)
{
    if (count == 0) {
        fputs("\nnothing moved by more than layouts differ\n", out);
        return;
    }
    fputs("\nwhat moved by more than layouts differ, the latest first\n", out);
    for (size_t i = 0; i < count; i++) {
        write_change(moves[i].point->change, out);
        escape_printf(out, "  %s of %s  ", moves[i].series->measure,
                      moves[i].series->benchmark);
        write_result(h, moves[i].point->result, out);
        fputc('\n', out);
    }
}

static void
write_series(const struct check_history *h, FILE *out)
{
    fprintf(out, "\n%18s %18s %12s\n", "first", "last", "change");
    for (size_t i = 0; i < h->series_count; i++) {
        const struct check_series *const s = &h->series[i];
        const struct check_point *const last = &s->points[s->count - 1];
        const struct check_point *first = last;
        while (first->before != (size_t)(first - s->points))
            first = &s->points[first->before];
        text_number(first->range.median, 18, out);
        fputc(' ', out);
        text_number(last->range.median, 18, out);
        fputc(' ', out);
        write_change(check_change(last->range.median, first->range.median),
                     out);
        escape_printf(out, "  %s of %s", s->measure, s->benchmark);
        if (first != s->points)
            fputs("  counted in another way before", out);
        fputc('\n', out);
    }
}

int
check_history_text(const struct check_history *h, FILE *out)
{
    const size_t benchmarks = count_benchmarks(h);
    size_t count;
    struct move *const moves = find_moves(h, &count);

    if (moves == NULL)
        return TALLY_ENOMEM;
    fprintf(out, "%zu report%s of %zu benchmark%s, from ", h->result_count,
            h->result_count == 1 ? "" : "s", benchmarks,
            benchmarks == 1 ? "" : "s");
    write_result(h, 0, out);
    fputs(" to ", out);
    write_result(h, h->result_count - 1, out);
    fputc('\n', out);
    write_moves(h, moves, count, out);
    free(moves);
    if (h->series_count > 0)
        write_series(h, out);
    if (h->lapse_count > 0)
        fputs("\nwhat could not be counted, the latest first\n", out);
    for (size_t i = h->lapse_count; i-- > 0;) {
        const struct check_lapse *const l = &h->lapses[i];
        fputs("  ", out);
        write_result(h, l->result, out);
        escape_printf(out, "  %s %s%s%s\n", l->benchmark, l->status,
                      l->reason != NULL ? ": " : "",
                      l->reason != NULL ? l->reason : "");
    }
    return ferror(out) ? TALLY_EIO : 0;
}
