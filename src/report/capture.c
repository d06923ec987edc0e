/* SPDX-License-Identifier: MIT */
#include "report/capture.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"

#define MOST_ROWS 20

int
capture_names(const struct session_result *result, struct capture_names *names)
{
    *names = (struct capture_names){.result = result};
    names->functions =
        calloc(result->process_count + 1, sizeof(*names->functions));
    names->read = calloc(result->process_count + 1, sizeof(*names->read));
    if (names->functions != NULL && names->read != NULL)
        return 0;
    free(names->functions);
    free(names->read);
    names->functions = NULL;
    names->read = NULL;
    return TALLY_ENOMEM;
}

void
capture_names_finish(struct capture_names *names)
{
    for (size_t i = 0; names->read && i < names->result->process_count; i++)
        program_functions_finish(&names->functions[i]);
    free(names->functions);
    free(names->read);
}

const char *
capture_name(struct capture_names *names, unsigned process, uint64_t address)
{
    if (names->read == NULL)
        return NULL;
    const struct session_process *p = &names->result->processes[process];
    if (!names->read[process])
        program_functions(p->program, &names->functions[process]);
    names->read[process] = true;
    return program_function_at(&names->functions[process],
                               address - p->load_bias);
}

/* The records of one function that one level served. */
struct row {
    const char *name; /* NULL: the function is not known */
    unsigned level;
    uint64_t records, latency;
};

static int
by_weight(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    if (x->latency != y->latency)
        return x->latency > y->latency ? -1 : 1;
    if (x->records != y->records)
        return x->records > y->records ? -1 : 1;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    return strcmp(x->name ? x->name : "", y->name ? y->name : "");
}

/* Adds the records up by function and level, and sorts the sums. Returns the
 * number of rows, at most one a record. */
static size_t
make_rows(const struct session_result *s, struct capture_names *names,
          struct row *rows)
{
    size_t count = 0;

    for (size_t i = 0; i < s->capture_count; i++) {
        const struct session_capture *c = &s->captures[i];
        size_t k = 0;
        if (c->record.ended)
            continue;
        const char *name = capture_name(names, c->process, c->record.pc);
        for (; k < count; k++)
            if (rows[k].level == c->record.level &&
                (rows[k].name == NULL || name == NULL
                     ? rows[k].name == name
                     : strcmp(rows[k].name, name) == 0))
                break;
        if (k == count)
            rows[count++] = (struct row){name, c->record.level, 0, 0};
        rows[k].records++;
        rows[k].latency += c->record.latency;
    }
    qsort(rows, count, sizeof(*rows), by_weight);
    return count;
}

/* Prints the table: of each row its share of the latency, or of the records if
 * no latency was measured. */
static void
print_rows(const struct row *rows, size_t count, FILE *out)
{
    struct row sum = {0};

    for (size_t i = 0; i < count; i++) {
        sum.records += rows[i].records;
        sum.latency += rows[i].latency;
    }
    escape_printf(out, "  %8s  %8s  %8s  %-9s  %s\n",
                  sum.latency ? "latency" : "share", "samples",
                  sum.latency ? "mean" : "", sum.latency ? "served by" : "",
                  "function");
    for (size_t i = 0; i < count && i < MOST_ROWS; i++) {
        const struct row *const row = &rows[i];
        const double share =
            sum.latency != 0 ? (double)row->latency * 100 / (double)sum.latency
                             : (double)row->records * 100 / (double)sum.records;
        fprintf(out, "  %6.2f %%  %8" PRIu64, share, row->records);
        if (row->latency != 0)
            fprintf(out, "  %8.1f",
                    (double)row->latency / (double)row->records);
        else
            escape_printf(out, "  %8s", "");
        escape_printf(out, "  %-9s  %s\n", capture_level_name(row->level),
                      row->name ? row->name : "(no function of the program)");
    }
    if (count > MOST_ROWS)
        fprintf(out, "  and %zu more rows\n", count - MOST_ROWS);
}

/* Prints what was sampled, and the table of functions. */
static void
print_table(const struct count_report *r, struct capture_names *names,
            FILE *out)
{
    const struct session_result *s = r->last;
    struct row *rows = calloc(s->capture_count + 1, sizeof(*rows));
    char what[80];

    if (rows == NULL)
        return;
    const size_t count = make_rows(s, names, rows);
    capture_text(r->capture, what, sizeof(what));
    if (r->capture->period != 0)
        escape_printf(out, "\n  %s, one sample for %" PRIu64 " of them%s\n",
                      what, r->capture->period,
                      count == 0 ? ": the program made too few; see --period"
                                 : "");
    if (count > 0)
        print_rows(rows, count, out);
    free(rows);
}

/* Prints the entries that a record has of the trace buffer or the IP-EAR. */
static void
print_buffer(const struct count_report *r, struct capture_names *names,
             const struct session_capture *c, FILE *out)
{
    struct capture_entry entries[CAPTURE_ENTRIES];
    const bool retired = r->capture->retired;
    const size_t most = retired ? CAPTURE_ENTRIES : r->capture->traced;
    const size_t count = capture_entries(r->capture, &c->record, most, entries);

    escape_printf(out, "\n  %s of process %u, thread %u, %s:\n",
                  retired ? "IP-EAR" : "trace buffer", c->process,
                  c->record.thread,
                  c->record.ended ? "when it ended" : "at the last sample");
    for (size_t i = 0; i < count; i++) {
        const struct capture_entry *const e = &entries[i];
        const char *const kind = retired ? e->early ? "early freeze" : "retired"
                                 : !e->source      ? "target"
                                 : e->slot == 3    ? "not taken"
                                 : e->mispredicted ? "missed"
                                                   : "branch";
        const char *name = capture_name(names, c->process, e->address);
        /* A bundle of 16 bytes may begin before the function. */
        if (name == NULL)
            name = capture_name(names, c->process, e->address + 15);
        escape_printf(out, "  PMD%u  %016" PRIx64 "  %-12s 0x%" PRIx64,
                      e->number, e->value, kind, e->address);
        if (retired)
            fprintf(out, "  %2u cycles", e->cycles);
        escape_printf(out, "  %s\n", name ? name : "");
    }
}

void
report_capture_text(const struct count_report *r, FILE *out)
{
    const struct session_result *s = r->last;
    struct capture_names names;

    if (r->capture == NULL)
        return;
    capture_names(s, &names);
    print_table(r, &names, out);
    /* The entries that each thread ended with, and those of the last sample. */
    for (size_t i = 0; i < s->capture_count; i++) {
        const bool last = i + 1 == s->capture_count;
        if (capture_buffered(r->capture) &&
            (last || s->captures[i].record.ended))
            print_buffer(r, &names, &s->captures[i], out);
    }
    if (s->captures_lost > 0)
        fprintf(out, "  %" PRIu64 " more samples found no room; see --period\n",
                s->captures_lost);
    capture_names_finish(&names);
}
