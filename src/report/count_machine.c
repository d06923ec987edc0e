/* SPDX-License-Identifier: MIT */
/* The forms for scripts: CSV and JSON, schema 1. */
#include "base/escape.h"
#include "report/accounting.h"
#include "report/capture.h"
#include "report/count_derived.h"
#include "report/count_report.h"
#include "report/csv.h"
#include "report/json_text.h"
#include "report/programs.h"
#include "report/run_note.h"
#include "table/generic.h"

#include <inttypes.h>
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <string.h>
#include <sys/wait.h>

/* Writes the first columns: the time of an interval, or "summary" for the sum
 * of all, and the part where there are parts, as perf's -I, -A and --per-thread
 * have them. Of several runs the number of the run, or "all", stands before the
 * time. */
static void
csv_place(const struct count_report *r, const char *part, char separator,
          FILE *out)
{
    if (r->at_s > 0 && r->run > 0)
        fprintf(out, "%u%c", r->run, separator);
    if (r->at_s > 0)
        fprintf(out, "%.9f%c", r->at_s, separator);
    if (r->summary && r->runs_asked > 1)
        fprintf(out, "all%c", separator);
    if (r->summary)
        fprintf(out, "summary%c", separator);
    if (r->per_process)
        report_programs_csv_place(r->one_process, separator, out);
    if (r->part_count == 0)
        return;
    report_csv_text(part[0] != '\0' ? part : "all", separator, out);
    fputc(separator, out);
}

/* Returns whether the rows have the columns of --compare. */
static bool
is_compared(const struct count_report *r)
{
    bool compared = false;

    for (size_t i = 0; i < r->count; i++)
        compared = compared || r->values[i].compared;
    return compared;
}

/* Ends a row that has no count with empty cells for --compare and -r. */
static void
csv_no_count(const struct count_report *r, char separator, FILE *out)
{
    const int cells = 2 * is_compared(r) + (r->runs_asked > 1);

    for (int i = 0; i < cells; i++)
        fputc(separator, out);
    fputc('\n', out);
}

/* Writes the row of a metric. A metric has no count: the first columns are
 * empty, as perf leaves them. */
static void
csv_metric(const struct count_report *r, size_t i, const char *kind,
           char separator, FILE *out)
{
    const struct metric_row *m = r->metrics[i];
    enum fidelity fidelity;
    const double value = report_metric(r, m, kind, &fidelity);
    char name[128];

    csv_place(r, "", separator, out);
    fprintf(out, "%c%c%c%c%c", separator, separator, separator, separator,
            separator);
    if (!isnan(value))
        fprintf(out, "%.9g", value);
    fprintf(out, "%c", separator);
    snprintf(name, sizeof(name), "%s%s%s", kind != NULL ? kind : "",
             kind != NULL ? "/" : "", r->metrics_asked[i]);
    report_csv_text(name, separator, out);
    fprintf(out, "%c%s%c", separator, report_metric_standing(r, fidelity),
            separator);
    report_csv_text(m->name, separator, out);
    csv_no_count(r, separator, out);
}

/* Returns 0, or TALLY_EIO if something could not be written. */
static int
finish(FILE *out)
{
    return fflush(out) != 0 || ferror(out) ? TALLY_EIO : 0;
}

/* Returns whether people read the value in another unit than it is counted in.
 */
static bool
is_scaled(const struct count_value *v)
{
    return v->raw == NULL && v->scale != 1;
}

/* Writes the row of an event. */
static void
csv_value(const struct count_report *r, const char *part,
          const struct count_value *v, char separator, FILE *out)
{
    csv_place(r, part, separator, out);
    if (v->counted && is_scaled(v))
        fprintf(out, "%.9g", v->mean * v->scale);
    else if (v->counted && v->raw != NULL)
        fprintf(out, "%.6f", v->mean * v->scale);
    else if (v->counted)
        fprintf(out, "%" PRIu64, v->value);
    else
        fprintf(out, "<%s>", v->code);
    fputc(separator, out);
    report_csv_text(v->unit, separator, out);
    fputc(separator, out);
    report_csv_text(report_asked(v), separator, out);
    fprintf(out, "%c%" PRIu64 "%c%.2f%c", separator, v->running, separator,
            v->enabled > 0 ? 100.0 * (double)v->running / (double)v->enabled
                           : 100,
            separator);
    const double instructions = report_instructions(r);
    if (r->isa != NULL && v->counted && !v->emulator)
        fprintf(out, "%.6f%cper instruction",
                instructions > 0 ? v->mean / instructions : 0, separator);
    else
        fprintf(out, "%c", separator);
    fprintf(out, "%c%s", separator, v->counted ? report_standing(v) : v->code);
    fputc(separator, out);
    report_csv_text(r->isa != NULL || v->event == NULL ? v->name
                                                       : v->event->name,
                    separator, out);
    /* --compare adds two columns, empty where the model has no exact count. */
    if (is_compared(r)) {
        const double off = report_off(v);
        fputc(separator, out);
        if (v->compared)
            fprintf(out, "%.0f", v->exact);
        fputc(separator, out);
        if (v->compared && v->counted && !isinf(off))
            fprintf(out, "%.4f", off);
    }
    if (v->timed)
        fprintf(out, "%c%.9g%c%.9g%c%.9g", separator, v->minimum_s, separator,
                v->typical_s, separator, v->maximum_s);
    /* -r adds how far the mean may be off, as perf has it. A part is of the
     * last run alone. */
    if (r->runs_asked > 1)
        fputc(separator, out);
    if (r->runs_asked > 1 && v->counted && part[0] == '\0')
        fprintf(out, "%.2f%%",
                v->mean > 0 ? 100 * v->stddev / sqrt(r->runs) / v->mean : 0);
    fputc('\n', out);
}

/* Writes the rows of one program. They are of the last run alone and have no
 * spread. The kernel counts the emulator as a whole, so software events have no
 * value. */
static void
csv_process(const struct count_report *r, const struct session_process *process,
            char separator, FILE *out)
{
    const struct session_result last = {.totals = process->totals};
    struct count_report one = *r;

    one.last = &last;
    one.one_process = process;
    one.runs = one.runs_asked = 1;
    for (size_t i = 0; i < r->count - r->hidden && !r->metric_only; i++) {
        struct count_value v = r->values[i];
        if (v.emulator) {
            v.counted = false;
            v.code = "not-by-program";
        } else {
            v.value = report_value(&v, &process->totals);
            v.mean = (double)v.value;
        }
        csv_value(&one, "", &v, separator, out);
    }
}

/* Writes a row without a count for each thing that a partial sum lacks; the
 * row's name says what is lacking. */
static void
csv_left_out(const struct count_report *r, char separator, FILE *out)
{
    char text[RUN_NOTE];

    for (size_t i = 0; report_left_out(r->last, i, text, sizeof(text)); i++) {
        csv_place(r, "", separator, out);
        for (int column = 0; column < 7; column++)
            fputc(separator, out);
        fprintf(out, "partial%c", separator);
        report_csv_text(text, separator, out);
        csv_no_count(r, separator, out);
    }
}

/* The columns are those of perf's -x: value, unit, event as it was asked for,
 * run time, per cent running, metric, its unit. Then come the fidelity and the
 * machine's own name of the event. */
int
report_count_csv(const struct count_report *r, char separator, FILE *out)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t old = c ? uselocale(c) : (locale_t)0;

    for (size_t i = 0; i < r->count - r->hidden && !r->metric_only; i++)
        csv_value(r, "", &r->values[i], separator, out);
    for (size_t p = 0; p < r->part_count && !r->metric_only; p++)
        for (size_t i = 0; i < r->count; i++)
            csv_value(r, r->parts[p].name, &r->parts[p].values[i], separator,
                      out);
    for (size_t p = 0; r->per_process && p < r->last->process_count; p++)
        csv_process(r, &r->last->processes[p], separator, out);
    for (size_t i = 0; i < r->metric_count; i++) {
        const char *kinds[METRIC_KINDS];
        const size_t count = report_metric_kinds(r, r->metrics[i], kinds);
        for (size_t k = 0; k < count; k++)
            csv_metric(r, i, kinds[k], separator, out);
    }
    report_accounting_csv(r, separator, out);
    if (r->last != NULL)
        csv_left_out(r, separator, out);
    if (c != (locale_t)0) {
        uselocale(old);
        freelocale(c);
    }
    return finish(out);
}

static json_t *
integer(uint64_t value)
{
    return json_integer((json_int_t)value);
}

/* Returns the count; if the kernel gives a scale, the count in its unit. */
static json_t *
value_json(const struct count_value *v)
{
    if (!v->counted)
        return json_null();
    return is_scaled(v) ? json_real(v->mean * v->scale) : integer(v->value);
}

static json_t *
event_json(const struct count_report *r, const struct count_value *v)
{
    json_t *e = json_object();

    json_object_set_new(e, "name", report_json_text(v->name));
    json_object_set_new(e, "asked", report_json_text(report_asked(v)));
    json_object_set_new(e, "value", value_json(v));
    if (v->unit[0] != '\0')
        json_object_set_new(
            e, "unit", report_json_text(v->raw != NULL ? v->raw : v->unit));
    if (v->counted)
        json_object_set_new(e, "fidelity", json_string(report_standing(v)));
    else
        json_object_set_new(e, "code", json_string(v->code));
    if (v->emulator)
        json_object_set_new(e, "source", json_string("kernel"));
    if (v->reason != NULL)
        json_object_set_new(e, "reason", report_json_text(v->reason));
    if (v->mend != NULL && v->mend[0] != '\0')
        json_object_set_new(e, "mend", report_json_text(v->mend));
    json_object_set_new(e, "enabled", integer(v->enabled));
    json_object_set_new(e, "running", integer(v->running));
    if (v->compared) {
        const double off = report_off(v);
        json_object_set_new(e, "exact", integer((uint64_t)llround(v->exact)));
        json_object_set_new(e, "off_percent",
                            v->counted && !isinf(off) ? json_real(off)
                                                      : json_null());
    }
    if (v->apart)
        json_object_set_new(e, "in_mpi",
                            v->counted ? integer(v->in_mpi) : json_null());
    if (v->timed)
        json_object_set_new(e, "time_s",
                            json_pack("{sfsfsf}", "minimum", v->minimum_s,
                                      "typical", v->typical_s, "maximum",
                                      v->maximum_s));
    if (r->runs_asked > 1 && v->counted) {
        json_object_set_new(e, "mean", json_real(v->mean));
        json_object_set_new(e, "stddev", json_real(v->stddev));
        json_object_set_new(e, "runs", integer(r->runs));
    }
    return e;
}

static json_t *
metric_json(const struct count_report *r, size_t i, const char *kind)
{
    const struct metric_row *m = r->metrics[i];
    enum fidelity fidelity;
    const double value = report_metric(r, m, kind, &fidelity);
    json_t *o = json_object();

    json_object_set_new(o, "name", json_string(m->name));
    json_object_set_new(o, "asked", report_json_text(r->metrics_asked[i]));
    if (kind != NULL)
        json_object_set_new(o, "pmu", report_json_text(kind));
    json_object_set_new(o, "value",
                        isnan(value) ? json_null() : json_real(value));
    json_object_set_new(o, "unit", json_string(m->unit));
    json_object_set_new(o, "fidelity",
                        json_string(report_metric_standing(r, fidelity)));
    const struct event_row *lacks = report_metric_lacks(r, m, kind);
    if (isnan(value) && lacks != NULL)
        json_object_set_new(
            o, "reason",
            event_is_lacking(lacks)
                ? json_sprintf("no count of %s: %s", lacks->name,
                               generic_lacking_reason(r->machine, lacks))
                : json_sprintf("no count of %s", lacks->name));
    else if (isnan(value))
        json_object_set_new(o, "reason", json_string("division by 0"));
    return o;
}

static json_t *
thread_json(const struct count_report *r, const struct session_thread *t)
{
    const struct session_process *p = &r->last->processes[t->process];
    json_t *o = json_object();
    json_t *events = json_object(), *asked = json_object();

    json_object_set_new(o, "pid", integer((uint64_t)p->pid));
    json_object_set_new(o, "program", report_json_text(p->program));
    json_object_set_new(o, "thread", integer(t->thread));
    json_object_set_new(o, "strand", integer(t->strand));
    for (size_t i = 0; i < r->count - r->hidden; i++) {
        const struct count_value *v = &r->values[i];
        /* The kernel counts the emulator as a whole. */
        json_t *value = v->emulator || !v->counted
                            ? json_null()
                            : integer(report_value(v, &t->totals));
        report_json_set(events, v->name, json_incref(value));
        report_json_set(asked, report_asked(v), value);
    }
    json_object_set_new(o, "running", json_boolean(p->running));
    json_object_set_new(o, "events", events);
    json_object_set_new(o, "asked", asked);
    return o;
}

/* Adds the parts and the metrics; without a row there is no key. */
static void
add_parts_and_metrics(const struct count_report *r, json_t *o)
{
    json_t *metrics = json_array(), *parts = json_array();

    for (size_t p = 0; p < r->part_count && !r->metric_only; p++) {
        json_t *events = json_array();
        for (size_t i = 0; i < r->count; i++)
            json_array_append_new(events,
                                  event_json(r, &r->parts[p].values[i]));
        json_array_append_new(parts,
                              json_pack("{soso}", "name",
                                        report_json_text(r->parts[p].name),
                                        "events", events));
    }
    for (size_t i = 0; i < r->metric_count; i++) {
        const char *kinds[METRIC_KINDS];
        const size_t count = report_metric_kinds(r, r->metrics[i], kinds);
        for (size_t k = 0; k < count; k++)
            json_array_append_new(metrics, metric_json(r, i, kinds[k]));
    }
    if (r->part_count > 0 && !r->metric_only)
        json_object_set(o, "parts", parts);
    if (r->metric_count > 0)
        json_object_set(o, "metrics", metrics);
    json_decref(parts);
    json_decref(metrics);
}

/* Returns where threads and pages are, on a machine of several nodes. */
static json_t *
place_json(const uint64_t *params)
{
    json_t *o = json_object();
    char text[PARAM_TEXT_SIZE];

    json_object_set_new(o, "nodes", integer(params[PARAM_NODES]));
    param_text(PARAM_PLACE_THREADS, params[PARAM_PLACE_THREADS], text,
               sizeof(text));
    json_object_set_new(o, "threads", json_string(text));
    param_text(PARAM_PLACE_PAGES, params[PARAM_PLACE_PAGES], text,
               sizeof(text));
    json_object_set_new(o, "pages", json_string(text));
    if (params[PARAM_PLACE_PAGES] == PLACE_PAGES_NODE)
        json_object_set_new(o, "node", integer(params[PARAM_PLACE_NODE]));
    return o;
}

static json_t *
strings_json(const char *const *texts, size_t count)
{
    json_t *a = json_array();

    for (size_t i = 0; i < count; i++)
        json_array_append_new(a, report_json_text(texts[i]));
    return a;
}

/* Returns the options that say what is counted, without those not given. */
static json_t *
scope_json(const struct count_scope *s)
{
    json_t *o = json_object();

    if (s->from != NULL)
        json_object_set_new(o, "from", report_json_text(s->from));
    if (s->to != NULL)
        json_object_set_new(o, "to", report_json_text(s->to));
    if (s->skip != 0)
        json_object_set_new(o, "skip", integer(s->skip));
    if (s->filter_count > 0)
        json_object_set_new(o, "filter",
                            strings_json(s->filters, s->filter_count));
    if (s->set_count > 0)
        json_object_set_new(o, "set", strings_json(s->sets, s->set_count));
    return o;
}

/* Returns the processes whose counts are in no sum, and why. */
static json_t *
inconsistent_json(const struct session_result *s)
{
    json_t *all = json_array();

    for (size_t i = 0; i < s->inconsistent_count; i++) {
        const struct session_inconsistent *one = &s->inconsistent[i];
        json_array_append_new(
            all, json_pack(
                     "{sososs}", "pid",
                     one->pid ? json_integer(one->pid) : json_null(), "program",
                     one->pid ? report_json_text(one->program) : json_null(),
                     "why", one->why));
    }
    return all;
}

/* Returns each run's time and values, in the order of the events. */
static json_t *
table_json(const struct count_report *r)
{
    json_t *runs = json_array();

    for (unsigned k = 0; k < r->runs; k++) {
        json_t *values = json_array();
        for (size_t i = 0; i < r->count - r->hidden; i++) {
            const uint64_t value = r->table[k].values[i];
            struct count_value v = r->values[i];
            v.value = value;
            v.mean = (double)value;
            v.counted = value != COUNT_NONE;
            json_array_append_new(values, value_json(&v));
        }
        json_array_append_new(runs,
                              json_pack("{sfso}", "wall_s", r->table[k].wall_s,
                                        "values", values));
    }
    return runs;
}

static json_t *
illegal_json(const struct count_illegal *i)
{
    char address[20];
    json_t *o = json_object();

    snprintf(address, sizeof(address), "0x%" PRIx64, i->pc);
    json_object_set_new(o, "pid", json_integer(i->process->pid));
    json_object_set_new(o, "program", report_json_text(i->process->program));
    json_object_set_new(o, "address", json_string(address));
    json_object_set_new(o, "bytes", json_string(i->bytes));
    snprintf(address, sizeof(address), "0x%" PRIx64, i->file_address);
    json_object_set_new(o, "file",
                        *i->file ? report_json_text(i->file) : json_null());
    json_object_set_new(o, "file_address",
                        *i->file ? json_string(address) : json_null());
    json_object_set_new(o, "text",
                        i->known ? json_string(i->text) : json_null());
    json_object_set_new(o, "set", *i->set ? json_string(i->set) : json_null());
    json_object_set_new(o, "function",
                        *i->function ? report_json_text(i->function)
                                     : json_null());
    json_object_set_new(o, "trap", json_boolean(i->trap));
    json_object_set_new(o, "advice",
                        *i->advice ? json_string(i->advice) : json_null());
    return o;
}

static json_t *
document(const struct count_report *r)
{
    const struct session_result *s = r->last;
    json_t *events = json_array(), *strands = json_array();
    json_t *uncounted = json_array();
    json_t *o = json_object();

    for (size_t i = 0; i < r->count - r->hidden && !r->metric_only; i++)
        json_array_append_new(events, event_json(r, &r->values[i]));
    for (size_t t = 0; t < s->thread_count; t++)
        json_array_append_new(strands, thread_json(r, &s->threads[t]));
    for (unsigned i = 0; i < s->uncounted_named; i++)
        json_array_append_new(uncounted,
                              report_json_text(s->uncounted_names[i]));
    json_object_set_new(o, "schema", json_integer(1));
    json_object_set_new(o, "machine", json_string(r->machine->name));
    json_object_set_new(o, "program", report_json_text(r->program));
    if (r->isa != NULL) {
        json_object_set_new(o, "isa", json_string(r->isa));
        if (r->imported != NULL)
            json_object_set_new(o, "imported", report_json_text(r->imported));
        json_object_set_new(o, "cpu",
                            r->cpu ? report_json_text(r->cpu) : json_null());
        json_object_set_new(o, "foreign", json_boolean(r->foreign));
    } else {
        json_object_set_new(
            o, "target", r->target ? report_json_text(r->target) : json_null());
    }
    json_object_set_new(
        o, "status",
        r->attached ? json_null()
        : WIFSIGNALED(s->status)
            ? json_pack("{si}", "signal", WTERMSIG(s->status))
            : json_pack("{si}", "exit", WEXITSTATUS(s->status)));
    if (r->illegal != NULL)
        json_object_set_new(o, "illegal_instruction", illegal_json(r->illegal));
    json_object_set_new(o, "interrupted", json_boolean(s->interrupted));
    if (r->cut_run != 0)
        json_object_set_new(o, "interrupted_run", integer(r->cut_run));
    if (r->run_part_count > 0)
        json_object_set_new(o, "parts_of_run",
                            strings_json(r->run_parts, r->run_part_count));
    if (count_scope_any(&r->scope))
        json_object_set_new(o, "counted", scope_json(&r->scope));
    if (r->params != NULL && r->params[PARAM_NODES] > 1)
        json_object_set_new(o, "place", place_json(r->params));
    json_object_set_new(o, "strands", strands);
    json_object_set_new(o, "events", events);
    add_parts_and_metrics(r, o);
    if (r->table != NULL && !r->metric_only)
        json_object_set_new(o, "runs", table_json(r));
    if (r->summary)
        json_object_set_new(o, "summary", json_true());
    if (r->accounting)
        json_object_set_new(o, "accounting", report_accounting_json(r));
    if (r->capture != NULL)
        json_object_set_new(o, "sampled", report_capture_json(r));
    json_object_set_new(o, "uncounted", uncounted);
    if (r->per_process)
        json_object_set_new(o, "processes", report_programs_json(r));
    if (r->isa != NULL) {
        json_t *rightless = json_array();
        for (unsigned i = 0; i < s->rightless && i < SESSION_UNCOUNTED; i++)
            json_array_append_new(rightless,
                                  report_json_text(s->rightless_names[i]));
        json_object_set_new(o, "rightless", rightless);
        json_object_set_new(o, "inconsistent", inconsistent_json(s));
        json_object_set_new(o, "lost_threads", json_integer(s->lost_threads));
        json_object_set_new(o, "heaped_threads",
                            json_integer(s->heaped_threads));
        json_object_set_new(o, "cut_processes", json_integer(s->cut_processes));
        if (s->trace != TRACE_PART_NONE)
            json_object_set_new(o, "trace",
                                json_string(trace_part_name(s->trace)));
        json_object_set_new(o, "blocks_left_early",
                            json_integer((json_int_t)s->left_early));
        json_object_set_new(o, "signals_handled",
                            json_integer((json_int_t)s->signalled));
        json_object_set_new(o, "ended_from_outside",
                            json_boolean(s->ended_by != 0));
        const bool fixed = s->random_asked;
        json_object_set_new(
            o, "random",
            json_pack("{sbsoso}", "fixed", fixed, "bytes",
                      fixed ? integer(s->random_fixed) : json_null(), "left",
                      fixed ? integer(s->random_left) : json_null()));
    }
    if (r->calibrated != NULL && (s->components & COMPONENT_TIME) != 0) {
        json_object_set_new(o, "calibrated",
                            r->calibrated[0] != '\0'
                                ? json_string(r->calibrated)
                                : json_null());
        json_object_set_new(
            o, "core", r->core != NULL ? json_string(r->core) : json_null());
    }
    json_object_set_new(o, "wall_s", json_real(r->wall_s));
    json_object_set_new(o, "user_s", json_real(s->user_s));
    json_object_set_new(o, "sys_s", json_real(s->sys_s));
    json_object_set_new(o, "modelled_s",
                        s->components & COMPONENT_TIME
                            ? json_real(s->modelled_s)
                            : json_null());
    return o;
}

/* Takes the fields out of a document, and out of all in it, that differ from
 * run to run though the program does the same. `running` of a thread is no
 * time. */
static void
leave_out_host(json_t *o)
{
    static const char *const fields[] = {"pid",   "parent", "wall_s", "user_s",
                                         "sys_s", "at_s",   "enabled"};
    const char *key;
    json_t *value;
    size_t i;

    for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        json_object_del(o, fields[i]);
    if (json_is_integer(json_object_get(o, "running")))
        json_object_del(o, "running");
    json_object_foreach(o, key, value) leave_out_host(value);
    json_array_foreach(o, i, value) leave_out_host(value);
}

/* Writes a document and a line's end, and frees the document. */
static int
write_document(const struct count_report *r, json_t *o, size_t flags, FILE *out)
{
    if (r->no_host_fields)
        leave_out_host(o);
    const int written = json_dumpf(o, out, flags);

    json_decref(o);
    if (written != 0)
        return TALLY_EIO;
    fputc('\n', out);
    return finish(out);
}

int
report_begin_csv(const struct count_report *r, FILE *out)
{
    for (size_t i = 0; i < r->run_part_count; i++)
        escape_printf(out, "# run: %s\n", r->run_parts[i]);
    return finish(out);
}

int
report_begin_json(const struct count_report *r, FILE *out)
{
    if (r->run_part_count == 0)
        return 0;
    json_t *o =
        json_pack("{sisssoso}", "schema", 1, "machine", r->machine->name,
                  "program", report_json_text(r->program), "parts_of_run",
                  strings_json(r->run_parts, r->run_part_count));
    return write_document(r, o, 0, out);
}

int
report_interval_csv(const struct count_report *r, char separator, FILE *out)
{
    return report_count_csv(r, separator, out);
}

/* Writes one line: a reader has a whole document at any time. */
int
report_interval_json(const struct count_report *r, FILE *out)
{
    json_t *events = json_array();

    for (size_t i = 0; i < r->count && !r->metric_only; i++)
        json_array_append_new(events, event_json(r, &r->values[i]));
    json_t *o =
        json_pack("{sisssfsfso}", "schema", 1, "machine", r->machine->name,
                  "at_s", r->at_s, "wall_s", r->wall_s, "events", events);
    if (r->run > 0)
        json_object_set_new(o, "run", integer(r->run));
    if (count_scope_any(&r->scope))
        json_object_set_new(o, "counted", scope_json(&r->scope));
    add_parts_and_metrics(r, o);
    return write_document(r, o, JSON_REAL_PRECISION(9), out);
}

int
report_count_json(const struct count_report *r, FILE *out)
{
    json_t *o = document(r);
    /* The sum of intervals is one more line, like the intervals. */
    const size_t indent = r->summary ? 0 : JSON_INDENT(2);

    return write_document(r, o, indent | JSON_REAL_PRECISION(9), out);
}
