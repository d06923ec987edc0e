/* SPDX-License-Identifier: MIT */
#include "report/programs.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "report/csv.h"
#include "report/json_text.h"

#define SHOWN 40u /* programs in a table */
#define LINE_WIDTH \
    120 /* of a table; more events go into a table of their own */
#define NAME_ROOM 24
#define COUNT_ROOM 15

/* A row of the table; process NULL: the sum of `others` programs. */
struct row {
    const struct session_process *process;
    const struct totals *totals;
    size_t others;
};

static int
larger_first(const void *a, const void *b)
{
    const struct session_process *x = *(const struct session_process *const *)a;
    const struct session_process *y = *(const struct session_process *const *)b;
    const uint64_t m = x->totals.signal[SIGNAL_INSTRUCTIONS];
    const uint64_t n = y->totals.signal[SIGNAL_INSTRUCTIONS];

    return m != n ? (m < n ? 1 : -1) : x < y ? -1 : x > y;
}

static int
earlier_first(const void *a, const void *b)
{
    const struct session_process *x = *(const struct session_process *const *)a;
    const struct session_process *y = *(const struct session_process *const *)b;

    return x < y ? -1 : x > y;
}

/* Chooses the programs with the most instructions, in the order of their start,
 * and adds up the others. Returns how many are chosen. */
static size_t
choose(const struct session_result *run, const struct session_process **chosen,
       struct totals *others)
{
    const size_t count = run->process_count;
    const size_t kept = count > SHOWN ? SHOWN : count;

    for (size_t i = 0; i < count; i++)
        chosen[i] = &run->processes[i];
    qsort(chosen, count, sizeof(*chosen), larger_first);
    memset(others, 0, sizeof(*others));
    for (size_t i = kept; i < count; i++)
        totals_add(others, &chosen[i]->totals);
    qsort(chosen, kept, sizeof(*chosen), earlier_first);
    return kept;
}

/* Returns whether the event has a column. Instructions have one in any case. */
static bool
has_column(const struct count_value *v)
{
    const bool instructions = strcmp(report_title(v), "instructions") == 0 &&
                              v->event->signal_count == 1 &&
                              v->event->signals[0] == SIGNAL_INSTRUCTIONS;

    return v->fidelity != FIDELITY_IDLE && !v->emulator && !instructions;
}

static int
column_width(const struct count_value *v)
{
    const int length = (int)strlen(report_title(v));

    return length > COUNT_ROOM ? length : COUNT_ROOM;
}

/* Returns the index behind the last event of a table that begins with event
 * `first`: as many as a line has room for, and one at least. */
static size_t
table_end(const struct count_report *r, size_t first)
{
    const size_t count = r->count - r->hidden;
    int width = NAME_ROOM + 2 * 9 + 2 + COUNT_ROOM + 8;
    size_t end = first, columns = 0;

    for (; end < count; end++) {
        if (!has_column(&r->values[end]))
            continue;
        width += 2 + column_width(&r->values[end]);
        if (width > LINE_WIDTH && columns > 0)
            break;
        columns++;
    }
    return end;
}

static void
print_row(const struct count_report *r, const struct row *row, size_t first,
          size_t end, FILE *out)
{
    const uint64_t n = row->totals->signal[SIGNAL_INSTRUCTIONS];
    const double all = (double)r->last->totals.signal[SIGNAL_INSTRUCTIONS];
    char text[48], pid[16] = "-", parent[16] = "-";

    if (row->process != NULL) {
        const char *const slash = strrchr(row->process->program, '/');
        snprintf(text, sizeof(text), "%.*s", NAME_ROOM,
                 slash != NULL ? slash + 1 : row->process->program);
        snprintf(pid, sizeof(pid), "%d", row->process->pid);
        if (row->process->parent != 0)
            snprintf(parent, sizeof(parent), "%d", row->process->parent);
    } else {
        snprintf(text, sizeof(text), "%zu others", row->others);
    }
    escape_printf(out, "  %-*s %8s %8s", NAME_ROOM, text, pid, parent);
    report_number(r, n, text);
    fprintf(out, "  %*s %5.1f %%", COUNT_ROOM, text,
            all > 0 ? 100 * (double)n / all : 0);
    for (size_t i = first; i < end; i++) {
        const struct count_value *v = &r->values[i];
        if (!has_column(v))
            continue;
        report_number(r, report_value(v, row->totals), text);
        fprintf(out, "  %*s", column_width(v), text);
    }
    fputc('\n', out);
}

static void
print_head(const struct count_report *r, size_t first, size_t end, FILE *out)
{
    fprintf(out, "\n  %-*s %8s %8s  %*s %7s", NAME_ROOM, "program", "pid",
            "parent", COUNT_ROOM, "instructions", "share");
    for (size_t i = first; i < end; i++)
        if (has_column(&r->values[i]))
            escape_printf(out, "  %*s", column_width(&r->values[i]),
                          report_title(&r->values[i]));
    fputc('\n', out);
}

void
report_programs_text(const struct count_report *r, FILE *out)
{
    const struct session_result *s = r->last;
    const size_t count = r->count - r->hidden;
    const struct session_process **chosen =
        calloc(s->process_count + 1, sizeof(*chosen));
    struct totals others;
    size_t first = 0;

    if (chosen == NULL)
        return;
    const size_t kept = choose(s, chosen, &others);
    if (r->runs > 1)
        fprintf(out, "\n  programs of the last run:\n");
    do {
        const size_t end = table_end(r, first);
        print_head(r, first, end, out);
        for (size_t i = 0; i < kept; i++)
            print_row(r, &(struct row){chosen[i], &chosen[i]->totals, 0}, first,
                      end, out);
        if (kept < s->process_count)
            print_row(r, &(struct row){NULL, &others, s->process_count - kept},
                      first, end, out);
        first = end;
    } while (first < count);
    free(chosen);
}

void
report_programs_csv_place(const struct session_process *process, char separator,
                          FILE *out)
{
    if (process == NULL) {
        fprintf(out, "all%c%c%c", separator, separator, separator);
        return;
    }
    report_csv_text(process->program, separator, out);
    fprintf(out, "%c%d%c", separator, process->pid, separator);
    if (process->parent != 0)
        fprintf(out, "%d", process->parent);
    fputc(separator, out);
}

/* Returns the names of what the process asked the system for and what may
 * differ in another run. */
static json_t *
asked_json(unsigned asked)
{
    static const char *const names[] = {"process_number", "system",
                                        "connections", "input", "timers"};
    json_t *const array = json_array();

    static_assert(ASKED_ALL == (1 << sizeof(names) / sizeof(names[0])) - 1,
                  "a name for each");

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if ((asked & 1u << i) != 0)
            json_array_append_new(array, json_string(names[i]));
    }
    return array;
}

static json_t *
process_json(const struct count_report *r, const struct session_process *p)
{
    static const char *const begins[] = {
        [BEGIN_FIRST] = "start", [BEGIN_FORK] = "fork", [BEGIN_EXEC] = "exec"};
    json_t *o = json_object(), *events = json_object();

    json_object_set_new(o, "program", report_json_text(p->program));
    json_object_set_new(o, "pid", json_integer(p->pid));
    json_object_set_new(o, "parent",
                        p->parent != 0 ? json_integer(p->parent) : json_null());
    json_object_set_new(o, "begin", json_string(begins[p->begin]));
    json_object_set_new(o, "running", json_boolean(p->running));
    json_object_set_new(o, "threads_at_once", json_integer(p->together));
    if (p->quantum != 0) {
        json_object_set_new(o, "quantum", json_integer((json_int_t)p->quantum));
        json_object_set_new(
            o, "schedule",
            json_string(r->last->by_cycles ? "cycles" : "instructions"));
        json_object_set_new(o, "outside_wakes", json_integer(p->outside_wakes));
    }
    json_object_set_new(o, "asked", asked_json(p->asked));
    json_object_set_new(o, "beside_others", json_boolean(p->beside));
    json_object_set_new(
        o, "instructions",
        json_integer((json_int_t)p->totals.signal[SIGNAL_INSTRUCTIONS]));
    for (size_t i = 0; i < r->count - r->hidden; i++) {
        const struct count_value *v = &r->values[i];
        report_json_set(
            events, v->name,
            v->emulator || !v->counted
                ? json_null()
                : json_integer((json_int_t)report_value(v, &p->totals)));
    }
    json_object_set_new(o, "events", events);
    return o;
}

json_t *
report_programs_json(const struct count_report *r)
{
    json_t *list = json_array();

    for (size_t i = 0; i < r->last->process_count; i++)
        json_array_append_new(list, process_json(r, &r->last->processes[i]));
    return list;
}
