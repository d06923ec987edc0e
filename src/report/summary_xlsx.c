/* SPDX-License-Identifier: MIT */
/*
 * The workbook, in place of the document's spreadsheet template: what the
 * script prints on the first sheet, a column for each cell of the summary, and
 * formulas over it on the second.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xlsxwriter.h>

#include "base/escape.h"
#include "report/summary_columns.h"
#include "report/summary_pages.h"

#define OUTPUT_NAME "Output from profile script"
#define ANALYSIS_NAME "Analysis"
#define ROWS_MAX 128
#define CELLS_MAX 16000 /* a sheet has 16,384 columns */
#define STACK_MAX 64
#define CELL_TEXT 320

enum { ROW_HEADING, ROW_CPU, ROW_CYCLES, ROW_EVENTS };
enum { OUTPUT_VALUES = 1, ANALYSIS_VALUES = 2 }; /* the first such column */

struct workbook {
    const struct summary_report *report;
    lxw_workbook *book;
    lxw_worksheet *output, *analysis;
    lxw_format *bold, *whole;
    const struct event_row *events[ROWS_MAX]; /* by rows, from ROW_EVENTS */
    size_t event_count;
    lxw_row_t input_rows[SUMMARY_INPUTS]; /* on the second sheet */
    size_t cell_count;
};

/* Finds the rows' events: the columns of the scripts, and events of other units
 * that some cell counted. */
static void
find_events(struct workbook *w)
{
    const struct summary *s = w->report->summary;

    w->event_count = summary_columns(s, w->events);
    for (size_t c = 0; c < w->cell_count; c++)
        for (size_t i = 0; i < s->cells[c]->event_count; i++) {
            const struct event_row *e = s->cells[c]->events[i].event;
            bool known = e == NULL || w->event_count == ROWS_MAX;
            for (size_t k = 0; k < w->event_count && !known; k++)
                known = w->events[k] == e;
            if (!known)
                w->events[w->event_count++] = e;
        }
}

static lxw_col_t
column(size_t cell, int first)
{
    return (lxw_col_t)(cell + (size_t)first);
}

static void
write_value(lxw_worksheet *sheet, lxw_row_t row, lxw_col_t col, double value,
            lxw_format *format)
{
    if (!isnan(value))
        worksheet_write_number(sheet, row, col, value, format);
}

static void
write_names(struct workbook *w)
{
    const struct summary *s = w->report->summary;
    lxw_row_t row = ROW_EVENTS;
    char name[32];

    worksheet_write_string(
        w->output, ROW_CPU, 0,
        (s->options.by & SUMMARY_BY_CORE) != 0 ? "Core" : "CPUid", NULL);
    worksheet_write_string(w->output, ROW_CYCLES, 0, "Cycles", NULL);
    for (size_t i = 0; i < w->event_count; i++)
        worksheet_write_string(w->output, row++, 0,
                               summary_script_name(w->events[i]), NULL);
    for (size_t i = 0; i < s->word_count; i++) {
        snprintf(name, sizeof(name), "Userdata.%zu", i + 1);
        worksheet_write_string(w->output, row++, 0, name, NULL);
    }
    worksheet_set_column(w->output, 0, 0, 28, NULL);
}

/* Returns the name of a summary's cell, which the caller frees; NULL: no
 * memory.
 */
static char *
cell_name(const struct workbook *w, size_t cell)
{
    char text[CELL_TEXT];

    summary_cell_text(w->report, w->report->summary->cells[cell], text,
                      sizeof(text));
    return escape_copy(text, ESCAPE_CELL);
}

static void
write_output(struct workbook *w)
{
    const struct summary *s = w->report->summary;

    write_names(w);
    for (size_t c = 0; c < w->cell_count; c++) {
        const struct summary_view v = summary_view(w->report, s->cells[c]);
        const lxw_col_t col = column(c, OUTPUT_VALUES);
        lxw_row_t row = ROW_EVENTS;
        char *const name = cell_name(w, c);
        if (name != NULL)
            worksheet_write_string(w->output, ROW_HEADING, col, name, w->bold);
        free(name);
        if ((s->options.by & (SUMMARY_BY_THREAD | SUMMARY_BY_CORE)) != 0)
            write_value(w->output, ROW_CPU, col, (double)s->cells[c]->place,
                        NULL);
        write_value(w->output, ROW_CYCLES, col, v.cycles, w->whole);
        for (size_t i = 0; i < w->event_count; i++)
            write_value(w->output, row++, col,
                        summary_view_event(&v, w->events[i]), w->whole);
        for (size_t i = 0; i < s->word_count; i++)
            write_value(w->output, row++, col, summary_view_word(&v, i),
                        w->whole);
    }
    worksheet_set_column(w->output, OUTPUT_VALUES,
                         column(w->cell_count, OUTPUT_VALUES), 18, NULL);
    worksheet_freeze_panes(w->output, 1, 1);
}

/* Writes the name of a cell of the first sheet in a formula, at most 40 bytes.
 */
static void
name_output(size_t row, size_t cell, char *text, size_t size)
{
    char place[LXW_MAX_CELL_NAME_LENGTH];

    lxw_rowcol_to_cell(place, (lxw_row_t)row, column(cell, OUTPUT_VALUES));
    snprintf(text, size, "'" OUTPUT_NAME "'!%s", place);
}

/* Returns the row of an event on the first sheet; 0: none. */
static size_t
row_of(const struct workbook *w, const struct event_row *event)
{
    for (size_t i = 0; i < w->event_count; i++)
        if (w->events[i] == event)
            return ROW_EVENTS + i;
    return event->signal_count == 1 && event->signals[0] == SIGNAL_CYCLES
               ? ROW_CYCLES
               : 0;
}

/* A formula as it grows: texts on a stack, and the cells that it needs. */
struct formula {
    char *stack[STACK_MAX];
    size_t depth;
    char needs[2048];
    size_t need_count;
};

static bool
push(struct formula *f, char *text)
{
    if (text == NULL || f->depth == STACK_MAX) {
        free(text);
        return false;
    }
    f->stack[f->depth++] = text;
    return true;
}

static bool
push_cell(struct formula *f, const char *place)
{
    const size_t used = strlen(f->needs);

    snprintf(f->needs + used, sizeof(f->needs) - used, "%s%s",
             used > 0 ? "," : "", place);
    f->need_count++;
    return push(f, strdup(place));
}

static bool
push_input(struct formula *f, const struct workbook *w, size_t input,
           size_t cell)
{
    char place[LXW_MAX_CELL_NAME_LENGTH], cycles[64];

    if (input == INPUT_INTERVAL) {
        char *text = NULL;
        name_output(ROW_CYCLES, cell, cycles, sizeof(cycles));
        if (!push_cell(f, cycles) || !push_input(f, w, INPUT_CLOCK, cell))
            return false;
        f->depth -= 2;
        if (asprintf(&text, "(%s/%s)", f->stack[f->depth],
                     f->stack[f->depth + 1]) < 0)
            text = NULL;
        free(f->stack[f->depth]);
        free(f->stack[f->depth + 1]);
        return push(f, text);
    }
    if (input >= SUMMARY_INPUTS || w->input_rows[input] == 0)
        return false;
    lxw_rowcol_to_cell(place, w->input_rows[input],
                       column(cell, ANALYSIS_VALUES));
    return push_cell(f, place);
}

static bool
combine(struct formula *f, enum formula_kind kind)
{
    static const char signs[] = {
        [FORMULA_ADD] = '+',
        [FORMULA_SUBTRACT] = '-',
        [FORMULA_MULTIPLY] = '*',
        [FORMULA_DIVIDE] = '/',
    };
    const bool one = kind == FORMULA_NEGATE;
    const size_t taken = one ? 1 : 2;
    char *text = NULL;

    f->depth -= taken;
    char **const top = f->stack + f->depth;
    if ((one ? asprintf(&text, "(-%s)", top[0])
             : asprintf(&text, "(%s%c%s)", top[0], signs[kind], top[1])) < 0)
        text = NULL;
    for (size_t i = 0; i < taken; i++)
        free(top[i]);
    return push(f, text);
}

static bool
push_step(struct formula *f, const struct workbook *w,
          const struct formula_step *step, size_t cell)
{
    const struct machine_row *m = w->report->summary->machine;
    char text[64];

    if (step->kind == FORMULA_NUMBER) {
        snprintf(text, sizeof(text), "%.15g", step->number);
        return push(f, strdup(text));
    }
    if (step->kind == FORMULA_INPUT)
        return push_input(f, w, step->row, cell);
    if (step->kind != FORMULA_EVENT)
        return combine(f, step->kind);
    const size_t row = row_of(w, &m->events[step->row]);
    if (row == 0)
        return false;
    name_output(row, cell, text, sizeof(text));
    return push_cell(f, text);
}

/*
 * Returns the metric's formula, empty as long as a number that it needs is
 * missing. NULL: the sheets have no row for something that it needs.
 */
static char *
formula_text(const struct workbook *w, const struct metric_row *metric,
             size_t cell)
{
    struct formula f = {.depth = 0};
    char *text = NULL;
    bool good = true;

    for (size_t i = 0; i < metric->step_count && good; i++)
        good = push_step(&f, w, &metric->steps[i], cell);
    if (good && f.depth == 1 && strlen(f.needs) + 1 < sizeof(f.needs) &&
        asprintf(&text, "=IF(COUNT(%s)<%zu,\"\",IFERROR(%s,\"\"))", f.needs,
                 f.need_count, f.stack[0]) < 0)
        text = NULL;
    while (f.depth > 0)
        free(f.stack[--f.depth]);
    return text;
}

/* A user word is a reference, so that it follows the first sheet. */
static void
write_input(struct workbook *w, size_t input, lxw_row_t row)
{
    const struct summary_input *in = &w->report->inputs[input];
    const size_t word_row = ROW_EVENTS + w->event_count + in->word;
    char place[64], formula[72];

    for (size_t c = 0; c < w->cell_count; c++) {
        const lxw_col_t col = column(c, ANALYSIS_VALUES);
        if (in->source == SUMMARY_WORD &&
            in->word < w->report->summary->word_count) {
            const struct summary_view v =
                summary_view(w->report, w->report->summary->cells[c]);
            name_output(word_row, c, place, sizeof(place));
            snprintf(formula, sizeof(formula), "=%s", place);
            worksheet_write_formula_num(w->analysis, row, col, formula, NULL,
                                        summary_view_word(&v, in->word));
        } else if (in->source == SUMMARY_NUMBER ||
                   in->source == SUMMARY_MODEL) {
            worksheet_write_number(w->analysis, row, col, in->number, NULL);
        }
    }
}

static lxw_row_t
write_inputs(struct workbook *w)
{
    const struct machine_row *m = w->report->summary->machine;
    lxw_row_t row = 1;

    worksheet_write_string(w->analysis, row++, 0, "Inputs", w->bold);
    for (size_t i = 0; i < m->input_count && i < SUMMARY_INPUTS; i++) {
        if (i == INPUT_INTERVAL)
            continue;
        worksheet_write_string(w->analysis, row, 0, m->inputs[i].name, NULL);
        worksheet_write_string(w->analysis, row, 1, m->inputs[i].brief, NULL);
        w->input_rows[i] = row;
        write_input(w, i, row++);
    }
    return row + 1;
}

/* A row of a metric; false if there is none to write. */
static bool
write_metric(struct workbook *w, const struct metric_row *metric, lxw_row_t row)
{
    const struct summary *s = w->report->summary;
    bool written = false;

    for (size_t c = 0; c < w->cell_count; c++) {
        const struct summary_view v = summary_view(w->report, s->cells[c]);
        const double value = summary_view_metric(&v, metric);
        char *const formula = formula_text(w, metric, c);
        const lxw_col_t col = column(c, ANALYSIS_VALUES);
        if (formula == NULL)
            continue;
        if (isnan(value))
            worksheet_write_formula_str(w->analysis, row, col, formula, NULL,
                                        "");
        else
            worksheet_write_formula_num(w->analysis, row, col, formula, NULL,
                                        value);
        free(formula);
        written = true;
    }
    if (!written)
        return false;
    worksheet_write_string(w->analysis, row, 0, metric->name, NULL);
    worksheet_write_string(w->analysis, row, 1, metric->unit, NULL);
    return true;
}

static void
write_analysis(struct workbook *w)
{
    const struct metric_row *m;
    lxw_row_t row = write_inputs(w);
    char place[64], formula[72];

    for (size_t c = 0; c < w->cell_count; c++) {
        char *const name = cell_name(w, c);
        name_output(ROW_HEADING, c, place, sizeof(place));
        snprintf(formula, sizeof(formula), "=%s", place);
        worksheet_write_formula_str(w->analysis, 0, column(c, ANALYSIS_VALUES),
                                    formula, w->bold, name ? name : "");
        free(name);
    }
    worksheet_write_string(w->analysis, row++, 0, "Metrics", w->bold);
    for (size_t i = 0; (m = summary_metric(w->report, i)) != NULL; i++)
        row += write_metric(w, m, row);
    worksheet_set_column(w->analysis, 0, 1, 32, NULL);
    worksheet_set_column(w->analysis, ANALYSIS_VALUES,
                         column(w->cell_count, ANALYSIS_VALUES), 18, NULL);
    worksheet_freeze_panes(w->analysis, 1, 2);
}

int
summary_report_xlsx(const struct summary_report *r, const char *path)
{
    struct workbook w = {.report = r, .cell_count = r->summary->cell_count};

    if (w.cell_count > CELLS_MAX)
        w.cell_count = CELLS_MAX;
    w.book = workbook_new(path);
    if (w.book == NULL)
        return TALLY_ENOMEM;
    w.output = workbook_add_worksheet(w.book, OUTPUT_NAME);
    w.analysis = workbook_add_worksheet(w.book, ANALYSIS_NAME);
    w.bold = workbook_add_format(w.book);
    w.whole = workbook_add_format(w.book);
    if (w.output != NULL && w.analysis != NULL && w.bold != NULL &&
        w.whole != NULL) {
        format_set_bold(w.bold);
        format_set_num_format(w.whole, "#,##0");
        find_events(&w);
        write_output(&w);
        write_analysis(&w);
    }
    const lxw_error error = workbook_close(w.book);
    return error == LXW_NO_ERROR                     ? 0
           : error == LXW_ERROR_MEMORY_MALLOC_FAILED ? TALLY_ENOMEM
                                                     : TALLY_EIO;
}
