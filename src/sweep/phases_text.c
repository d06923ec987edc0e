/* SPDX-License-Identifier: MIT */
/* The phases of a program for people. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "report/count_report.h"
#include "sweep/phases.h"

#define NUMBER 32   /* bytes of a number as text */
#define COLUMNS 72u /* of the picture of the phases over time */
#define TOLD 3u     /* phases in the first line */

static const char *
count_text(uint64_t count, char *text)
{
    format_grouped(count, text);
    return text;
}

/* Returns the letter that stands for a phase. */
static char
letter_of(unsigned phase)
{
    return "123456789abcdefghijklmnopqrstu"[phase];
}

/* Writes the name of a function, cut where it is long. */
static int
write_function(const struct phases *p, size_t function, unsigned most,
               FILE *out)
{
    char *const name = phases_function_name(p, function);

    if (name == NULL)
        return TALLY_ENOMEM;
    const bool cut = strlen(name) > most;
    escape_printf(out, "%.*s%s", (int)most, name, cut ? "..." : "");
    free(name);
    return 0;
}

/* Returns the phase of the rank, from the one with the most instructions on. */
static unsigned
ranked(const struct phases *p, unsigned rank)
{
    unsigned found = 0;

    for (unsigned n = 0; n < p->count; n++) {
        unsigned before = 0;
        for (unsigned k = 0; k < p->count; k++)
            before += p->phases[k].instructions > p->phases[n].instructions ||
                      (p->phases[k].instructions == p->phases[n].instructions &&
                       k < n);
        if (before == rank)
            found = n;
    }
    return found;
}

static int
write_glance(const struct phases *p, FILE *out)
{
    int error = 0;

    fprintf(out, "%u phase%s", p->count, p->count == 1 ? "" : "s");
    for (unsigned rank = 0; rank < p->count && rank < TOLD && error == 0;
         rank++) {
        const unsigned n = ranked(p, rank);
        fprintf(out, "%s%.*f %% of the instructions in phase %c",
                rank == 0 ? "; " : ", ", p->phases[n].share < 0.01 ? 1 : 0,
                p->phases[n].share * 100, letter_of(n));
        if (p->phases[n].hot_count == 0)
            continue;
        fputs(" (", out);
        error = write_function(p, p->phases[n].hot[0].function, 40, out);
        fputc(')', out);
    }
    fputs(p->count > TOLD ? ", ...\n" : "\n", out);
    return error;
}

static void
write_head(const struct phases *p, FILE *out)
{
    const struct phases_found *const f = p->found;
    char count[NUMBER], length[NUMBER];

    /* Of several programs the intervals are those of one. */
    if (f->others != 0)
        escape_printf(out, "  %s, run by ", f->program);
    else
        fputs("  ", out);
    escape_printf(out, "%s: %s interval%s of %s instructions, %s%s\n",
                  p->command, count_text(f->span_count, count),
                  f->span_count == 1 ? "" : "s", count_text(f->length, length),
                  phases_standing(p), p->varies ? ", varies" : "");
}

/* Returns the phase that runs the most of some intervals. */
static unsigned
most_of(const struct phases *p, size_t first, size_t end)
{
    uint64_t sums[CLUSTERS_MOST] = {0};
    unsigned most = 0;

    for (size_t i = first; i < end; i++)
        sums[p->of[i]] += p->found->spans[i].instructions;
    for (unsigned n = 1; n < p->count; n++)
        if (sums[n] > sums[most])
            most = n;
    return most;
}

/* Writes a letter for each interval, or for some that follow each other. */
static void
write_picture(const struct phases *p, FILE *out)
{
    const size_t count = p->found->span_count;
    const size_t columns = count < COLUMNS ? count : COLUMNS;

    fputs("\n  ", out);
    for (size_t i = 0; i < columns; i++)
        fputc(letter_of(
                  most_of(p, i * count / columns, (i + 1) * count / columns)),
              out);
    if (count <= COLUMNS)
        fputs("   an interval each\n", out);
    else
        fprintf(out, "   about %.3g intervals each\n",
                (double)count / (double)columns);
}

static int
write_table(const struct phases *p, FILE *out)
{
    char start[NUMBER];
    int error = 0;

    fprintf(out, "\n  %-5s  %7s  %9s  %9s  %8s  %19s  %s\n", "phase", "share",
            "intervals", "stretches", "point", "begins at", "functions");
    for (unsigned n = 0; n < p->count; n++) {
        const struct phase *const phase = &p->phases[n];
        fprintf(out, "  %-5c  %5.1f %%  %9zu  %9zu  %8zu  %19s  ", letter_of(n),
                phase->share * 100, phase->spans, phase->runs, phase->point,
                count_text(p->found->spans[phase->point].start, start));
        for (size_t i = 0; i < phase->hot_count && error == 0; i++) {
            fputs(i == 0 ? "" : ", ", out);
            error = write_function(p, phase->hot[i].function, 32, out);
            fprintf(out, " %.0f %%", phase->hot[i].share * 100);
        }
        fputc('\n', out);
    }
    return error;
}

/* Writes a count for 1,000 instructions under the event's name. */
static void
write_rate(const struct phases_event *event, double count, double instructions,
           FILE *out)
{
    const int width = (int)strlen(event->name);

    fprintf(out, "  %*.3f", width > 10 ? width : 10,
            instructions == 0 ? 0 : count * 1000 / instructions);
}

/* Writes the events of each phase, of all, and as the points have them. */
static void
write_events(const struct phases *p, FILE *out)
{
    const double all = (double)p->found->instructions;

    fputs("\n  per 1,000 instructions:\n  phase ", out);
    for (size_t e = 0; e < p->event_count; e++)
        escape_printf(out, "  %10s", p->events[e].name);
    for (unsigned n = 0; n < p->count; n++) {
        fprintf(out, "\n  %-6c", letter_of(n));
        for (size_t e = 0; e < p->event_count; e++)
            write_rate(&p->events[e], phases_count(p, n, e),
                       (double)p->phases[n].instructions, out);
    }
    fputs("\n  all   ", out);
    for (size_t e = 0; e < p->event_count; e++)
        write_rate(&p->events[e], p->events[e].whole, all, out);
    fputs("\n  points", out);
    for (size_t e = 0; e < p->event_count; e++)
        write_rate(&p->events[e], p->events[e].points, all, out);
    fputs("\n  error ", out);
    for (size_t e = 0; e < p->event_count; e++) {
        const struct phases_event *const event = &p->events[e];
        const int width = (int)strlen(event->name);
        if (event->whole == 0)
            fprintf(out, "  %*s", width > 10 ? width : 10, "-");
        else
            fprintf(out, "  %+*.2f %%", (width > 10 ? width : 10) - 2,
                    (event->points / event->whole - 1) * 100);
    }
    fputs("\n", out);
    for (size_t e = 0; e < p->event_count; e++)
        escape_printf(out, "%s%s %s", e == 0 ? "  " : ", ", p->events[e].name,
                      p->events[e].standing);
    fputs("; points: if each interval of a phase were its point\n", out);
}

static void
write_notes(const struct phases *p, FILE *out)
{
    const struct phases_found *const f = p->found;
    char text[NUMBER], more[NUMBER];

    fputs("\n  point: the interval, from 0 on, that stands for the phase in a "
          "simulation\n",
          out);
    fprintf(out, "  %s instructions in the intervals\n",
            count_text(f->instructions, text));
    if (f->span_count > 0 && phases_is_short(f, f->span_count - 1))
        fprintf(out,
                "  the last interval has %s instructions, and no say in what "
                "the phases are\n",
                count_text(f->spans[f->span_count - 1].instructions, text));
    if (f->lost != 0)
        fprintf(out,
                "  %s instructions are in no interval: the memory for "
                "intervals is full\n",
                count_text(f->lost, text));
    if (f->others != 0)
        escape_printf(out,
                      "  of %s, which ran %s of the %s instructions of all "
                      "programs\n",
                      f->program, count_text(f->instructions + f->lost, text),
                      count_text(f->all_instructions, more));
    for (const char *const *n = p->notes; n != NULL && *n != NULL; n++)
        escape_printf(out, "  %s\n", *n);
}

int
phases_write_text(const struct phases *p, FILE *out)
{
    int error = write_glance(p, out);

    if (error != 0)
        return error;
    write_head(p, out);
    if (p->count > 0) {
        write_picture(p, out);
        error = write_table(p, out);
        if (p->event_count > 0)
            write_events(p, out);
    }
    write_notes(p, out);
    return error != 0 ? error : ferror(out) ? TALLY_EIO : 0;
}
