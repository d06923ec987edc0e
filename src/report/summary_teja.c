/* SPDX-License-Identifier: MIT */
/*
 * The summaries of the document's scripts, column for column (rules P30 to
 * P39). The document does not show the first two sections of profiler_n2.pl:
 * they are written as its text describes them. Nor does it say how a mean
 * becomes a whole number: it is cut, not rounded.
 */
#include "report/summary_report.h"

#include <inttypes.h>
#include <string.h>

#include "report/summary_columns.h"

#define VALUE_COLUMN 29

static uint64_t
cut_mean(const struct series *s)
{
    return s->count > 0 ? (uint64_t)(s->sum / s->count) : 0;
}

/* Returns the mean of an event, 0 if it was never selected. */
static uint64_t
event_mean(const struct summary_cell *cell, const struct event_row *event)
{
    for (size_t i = 0; i < cell->event_count; i++)
        if (cell->events[i].event == event)
            return cut_mean(&cell->events[i].series);
    return 0;
}

static uint64_t
word_mean(const struct summary_cell *cell, size_t word)
{
    return word < cell->word_count ? cut_mean(&cell->words[word]) : 0;
}

static bool
is_t1(const struct summary *s)
{
    return s->machine != NULL && strcmp(s->machine->name, "ultrasparc-t1") == 0;
}

int
summary_teja_init(struct summary_teja *t, const struct summary *summary)
{
    *t = (struct summary_teja){.summary = summary, .rows = tmpfile()};
    return t->rows != NULL ? 0 : TALLY_EIO;
}

void
summary_teja_finish(struct summary_teja *t)
{
    if (t->rows != NULL)
        fclose(t->rows);
    t->rows = NULL;
}

int
summary_teja_take(void *user, const struct summary_interval *in)
{
    struct summary_teja *t = user;
    const struct dump_event *named;
    const struct event_row *event;

    if (!is_t1(t->summary))
        return 0;
    event =
        summary_event_of(t->summary, in->update->group, in->lo_code, &named);
    fprintf(t->rows,
            "%" PRIu64 ",0x%" PRIx64 ",0x%" PRIx64 ",%" PRIu64 ",%" PRIu64 ",",
            in->update->cpu, in->start_pc, in->update->pc, in->cycles, in->hi);
    if (event != NULL)
        fprintf(t->rows, "%s", summary_script_name(event));
    else
        fprintf(t->rows, "%" PRIx64, in->lo_code);
    fprintf(t->rows, ",%" PRIu64 ",", in->lo);
    for (size_t i = 0; i < in->word_count; i++)
        fprintf(t->rows, "%" PRIu64 ",", in->words[i]);
    fprintf(t->rows, "\n");
    return ferror(t->rows) ? TALLY_EIO : 0;
}

/* L718-719, with their uneven blanks. */
static void
print_t1_means(const struct summary *s, const struct event_row *const *columns,
               size_t count, FILE *out)
{
    fprintf(out, "cpuid , cycle , ");
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s%s ,", i == 0 ? " " : "",
                summary_script_name(columns[i]));
    for (size_t i = 0; i < s->word_count; i++)
        fprintf(out, "userdata%zu ,", i + 1);
    fprintf(out, "\n");
    for (size_t c = 0; c < s->cell_count; c++) {
        const struct summary_cell *cell = s->cells[c];
        fprintf(out, "%" PRIu64 " , %" PRIu64 " ,", cell->place,
                cut_mean(&cell->cycles));
        for (size_t i = 0; i < count; i++)
            fprintf(out, "%s%" PRIu64, i > 0 ? ", " : "",
                    event_mean(cell, columns[i]));
        for (size_t i = 0; i < s->word_count; i++)
            fprintf(out, i == 0 ? ", %" PRIu64 "  ," : "%" PRIu64 " ,",
                    word_mean(cell, i));
        fprintf(out, s->word_count == 0 ? " ,\n" : "\n");
    }
}

static int
print_t1(struct summary_teja *t, const struct event_row *const *columns,
         size_t count, FILE *out)
{
    char text[4096];
    size_t size;

    print_t1_means(t->summary, columns, count, out);
    fprintf(out, "CPU,StartPC,UpdatePC,Cycles,Instr_cnt,CntrName,Value,");
    for (size_t i = 0; i < t->summary->word_count; i++)
        fprintf(out, "UserData.%zu,", i + 1);
    fprintf(out, "\n");
    /* The rows of the intervals, which summary_teja_take() has written. */
    rewind(t->rows);
    while ((size = fread(text, 1, sizeof(text), t->rows)) > 0)
        fwrite(text, 1, size, out);
    return ferror(t->rows) ? TALLY_EIO : 0;
}

static void
print_t2_lines(const struct summary *s, const struct summary_cell *cell,
               const struct event_row *const *columns, size_t count, FILE *out)
{
    char name[32];

    fprintf(out, "%-*s%" PRIu64 "\n", VALUE_COLUMN, "CPUid", cell->place);
    fprintf(out, "%-*s%" PRIu64 "\n", VALUE_COLUMN, "Cycles",
            cut_mean(&cell->cycles));
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%-*s%" PRIu64 "\n", VALUE_COLUMN,
                summary_script_name(columns[i]), event_mean(cell, columns[i]));
    for (size_t i = 0; i < s->word_count; i++) {
        snprintf(name, sizeof(name), "Userdata.%zu", i + 1);
        fprintf(out, "%-*s%" PRIu64 "\n", VALUE_COLUMN, name,
                word_mean(cell, i));
    }
}

static void
print_t2(const struct summary *s, const struct event_row *const *columns,
         size_t count, FILE *out)
{
    fprintf(out, "CPUid,Cycles,");
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s,", summary_script_name(columns[i]));
    for (size_t i = 0; i < s->word_count; i++)
        fprintf(out, "Userdata.%zu,", i + 1);
    fprintf(out, "\n");
    for (size_t c = 0; c < s->cell_count; c++) {
        const struct summary_cell *cell = s->cells[c];
        fprintf(out, "%" PRIu64 ",%" PRIu64 ",", cell->place,
                cut_mean(&cell->cycles));
        for (size_t i = 0; i < count; i++)
            fprintf(out, "%" PRIu64 ",", event_mean(cell, columns[i]));
        for (size_t i = 0; i < s->word_count; i++)
            fprintf(out, "%" PRIu64 ",", word_mean(cell, i));
        fprintf(out, "\n");
    }
    for (size_t c = 0; c < s->cell_count; c++) {
        fprintf(out, "\n");
        print_t2_lines(s, s->cells[c], columns, count, out);
    }
}

int
summary_teja_print(struct summary_teja *t, FILE *out)
{
    const struct event_row *columns[SUMMARY_COLUMNS];
    int error = 0;

    if (t->summary->machine == NULL)
        return 0;
    const size_t count = summary_columns(t->summary, columns);
    if (is_t1(t->summary))
        error = print_t1(t, columns, count, out);
    else
        print_t2(t->summary, columns, count, out);
    return error != 0 || ferror(out) ? TALLY_EIO : 0;
}
