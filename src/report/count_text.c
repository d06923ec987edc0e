/* SPDX-License-Identifier: MIT */
#include "base/escape.h"
#include "report/accounting.h"
#include "report/capture.h"
#include "report/count_derived.h"
#include "report/count_report.h"
#include "report/programs.h"
#include "report/run_note.h"
#include "table/generic.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define VALUE_WIDTH 20
#define NAME_WIDTH 26 /* at least */
#define RUN_WIDTH 15  /* of a run's column in a table */
#define RUNS_BESIDE 3

void
format_grouped(uint64_t value, char *text)
{
    char digits[24];
    const int n = snprintf(digits, sizeof(digits), "%" PRIu64, value);
    int out = 0;

    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            text[out++] = ',';
        text[out++] = digits[i];
    }
    text[out] = '\0';
}

void
format_grouped_signed(int64_t value, char *text)
{
    const bool negative = value < 0;

    text[0] = '-';
    format_grouped(negative ? 0 - (uint64_t)value : (uint64_t)value,
                   text + negative);
}

enum fidelity
report_fidelity(const struct count_report *r, const struct event_row *event)
{
    return fidelity_in_run(event->fidelity, r->foreign, r->side_by_side,
                           r->left_early, r->partial);
}

void
report_note_standing(struct count_report *r, struct count_value *values,
                     const struct session_result *run)
{
    r->side_by_side |= session_varies(run) != 0;
    r->left_early |= session_left_early(run);
    r->partial |= session_partial(run);
    for (size_t i = 0; i < r->count; i++)
        values[i].fidelity =
            fidelity_in_run(values[i].fidelity, r->foreign, r->side_by_side,
                            r->left_early, r->partial);
}

const char *
report_asked(const struct count_value *v)
{
    return v->asked != NULL ? v->asked : v->name;
}

const char *
report_title(const struct count_value *v)
{
    const char *asked = report_asked(v);
    const size_t length = strlen(v->name);
    const bool code = *asked >= '0' && *asked <= '9';

    /* The same name in another case, or with letters behind a colon. */
    const bool own = strncasecmp(asked, v->name, length) == 0 &&
                     (asked[length] == '\0' || asked[length] == ':');
    return code || own ? v->name : asked;
}

const char *
report_standing(const struct count_value *v)
{
    return v->emulator ? "emulator"
           : v->measured && v->fidelity == FIDELITY_EXACT
               ? "measured"
               : fidelity_name(v->fidelity);
}

const char *
report_metric_standing(const struct count_report *r, enum fidelity fidelity)
{
    return r->isa == NULL && fidelity == FIDELITY_EXACT
               ? "measured"
               : fidelity_name(fidelity);
}

uint64_t
report_value(const struct count_value *v, const struct totals *totals)
{
    return v->fidelity == FIDELITY_IDLE ? 0 : event_value(v->event, totals);
}

void
report_status(int status, char *text, size_t size)
{
    text[0] = '\0';
    if (WIFSIGNALED(status)) {
        const char *name = sigabbrev_np(WTERMSIG(status));
        snprintf(text, size, "killed by SIG%s", name ? name : "?");
    } else if (WEXITSTATUS(status) != 0) {
        snprintf(text, size, "exited with %d", WEXITSTATUS(status));
    }
}

void
report_number(const struct count_report *r, uint64_t value, char *text)
{
    if (r->plain)
        sprintf(text, "%" PRIu64, value);
    else
        format_grouped(value, text);
}

/* Writes the number as people read it, with its unit. */
static void
value_text(const struct count_report *r, const struct count_value *v,
           char *text, size_t size)
{
    if (!v->counted)
        snprintf(text, size, "<%s>", v->code);
    else if (v->unit[0] != '\0')
        snprintf(text, size, "%.2f %s", v->mean * v->scale, v->unit);
    else
        report_number(r, v->value, text);
}

/* Returns the metric's name for people: the name that was asked for; if that
 * differs from the metric's own in case only, the metric's own. */
static const char *
metric_title(const struct count_report *r, size_t i)
{
    return strcasecmp(r->metrics_asked[i], r->metrics[i]->name) == 0
               ? r->metrics[i]->name
               : r->metrics_asked[i];
}

/* Returns the width of the column of names: that of the longest. */
static int
name_width(const struct count_report *r)
{
    size_t width = NAME_WIDTH;

    for (size_t i = 0; i < r->count - r->hidden; i++) {
        const size_t length = strlen(report_title(&r->values[i]));
        width = length > width ? length : width;
    }
    for (size_t i = 0; i < r->metric_count; i++) {
        const size_t length = strlen(metric_title(r, i));
        width = length > width ? length : width;
    }
    return (int)width;
}

/* Prints the line of an event. */
static void
print_value(const struct count_report *r, const struct count_value *v,
            FILE *out)
{
    const bool idle = v->fidelity == FIDELITY_IDLE || !v->counted;
    const char *standing =
        v->fidelity == FIDELITY_EXACT && !v->emulator ? "" : report_standing(v);
    char value[48], derived[64], spread[32] = "", share[24] = "";
    char *line;

    value_text(r, v, value, sizeof(value));
    report_derived(r, v, derived, sizeof(derived));
    if (r->runs > 1 && v->counted && v->mean > 0)
        snprintf(spread, sizeof(spread), " ( +- %5.2f %% )",
                 100 * v->stddev / sqrt(r->runs) / v->mean);
    if (v->counted && v->running < v->enabled)
        snprintf(share, sizeof(share), " (%.2f %%)",
                 100.0 * (double)v->running / (double)v->enabled);
    const int n = asprintf(&line, "%*s  %-*s %-10s%s%s%s", VALUE_WIDTH, value,
                           name_width(r), report_title(v),
                           !v->counted ? "" : standing, derived, spread, share);
    if (n < 0)
        return;
    for (int i = n; i > 0 && line[i - 1] == ' '; i--)
        line[i - 1] = '\0';
    fputs(idle && r->color ? "\033[2m" : "", out);
    escape_printf(out, "%s", line);
    fputs(idle && r->color ? "\033[0m\n" : "\n", out);
    free(line);
}

double
report_off(const struct count_value *v)
{
    const double off = v->mean - v->exact;

    return off == 0 ? 0 : v->exact == 0 ? INFINITY : 100 * off / v->exact;
}

/* Prints the exact count below the event, for --compare. */
static void
print_exact(const struct count_report *r, const struct count_value *v,
            FILE *out)
{
    char exact[32], off[32] = "no count to compare";

    if (!v->compared)
        return;
    report_number(r, (uint64_t)llround(v->exact), exact);
    if (v->counted && isinf(report_off(v)))
        snprintf(off, sizeof(off), "none at all in truth");
    else if (v->counted)
        snprintf(off, sizeof(off), "off by %+.2f %%", report_off(v));
    escape_printf(out, "%*s  %-*s # %s\n", VALUE_WIDTH, exact, NAME_WIDTH + 11,
                  r->side_by_side || r->left_early || r->partial ? "in this run"
                                                                 : "exact",
                  off);
}

/* Prints the reasons of events that were not counted, each reason once. */
static void
print_idle(const struct count_report *r, FILE *out)
{
    for (size_t i = 0; i < r->count; i++) {
        const struct count_value *v = &r->values[i];
        size_t same = 0;
        bool first = v->reason != NULL;
        for (size_t k = 0; first && k < r->count; k++) {
            const char *other = r->values[k].reason;
            if (other == NULL || strcmp(other, v->reason) != 0)
                continue;
            first = k >= i;
            same++;
        }
        const bool mends = v->mend != NULL && v->mend[0] != '\0';
        if (first)
            escape_printf(out, "  %s (%s%s): %s%s%s\n",
                          v->counted ? "idle" : "not counted", report_title(v),
                          same > 1 ? " ..." : "", v->reason, mends ? "; " : "",
                          mends ? v->mend : "");
    }
}

/* Prints which event stands for each generic name that was asked for, and how
 * that event departs from the name's definition. */
static void
print_generics(const struct count_report *r, FILE *out)
{
    for (size_t i = 0; i < r->count - r->hidden; i++) {
        const struct count_value *v = &r->values[i];
        const int id = generic_find(report_title(v));
        if (id < 0 || r->isa == NULL || v->emulator || v->event == NULL ||
            event_is_lacking(v->event))
            continue;
        const struct generic_event *g = &r->machine->generics[id];
        if (strcmp(g->own, report_title(v)) != 0 || g->kind == STANDS_MODEL)
            escape_printf(out, "  %s: %s%s%s%s\n", report_title(v),
                          g->kind == STANDS_MODEL ? stands_text(g->kind)
                                                  : g->own,
                          g->kind == STANDS_SUM ? ", a sum" : "",
                          g->differs != NULL ? "; " : "",
                          g->differs != NULL ? g->differs : "");
    }
}

/* Prints why a metric has no value: it needs an event that the machine lacks.
 */
static void
print_lacking(const struct count_report *r, FILE *out)
{
    for (size_t i = 0; i < r->metric_count; i++) {
        if (!metric_is_lacking(r->metrics[i]))
            continue;
        const struct event_row *lacks =
            generic_metric_lacking_event(r->machine, r->metrics[i]);
        escape_printf(out, "  no value (%s): no count of %s: %s\n",
                      metric_title(r, i), lacks->name,
                      generic_lacking_reason(r->machine, lacks));
    }
}

/* Prints the line of a metric. */
static void
print_metric(const struct count_report *r, size_t i, const char *kind,
             FILE *out)
{
    const struct metric_row *m = r->metrics[i];
    enum fidelity fidelity;
    const double value = report_metric(r, m, kind, &fidelity);
    const char *standing =
        fidelity == FIDELITY_EXACT ? "" : fidelity_name(fidelity);
    const struct event_row *lacks = report_metric_lacks(r, m, kind);
    char name[128];

    snprintf(name, sizeof(name), "%s%s%s%s", metric_title(r, i),
             kind != NULL ? " (" : "", kind != NULL ? kind : "",
             kind != NULL ? ")" : "");
    if (isnan(value))
        escape_printf(out, "%*s  %-*s %-10s# %s%s\n", VALUE_WIDTH, "no value",
                      name_width(r), name, lacks != NULL ? "" : standing,
                      lacks != NULL ? "no count of " : "a division by 0",
                      lacks != NULL ? lacks->name : "");
    else
        escape_printf(out, "%*.4f  %-*s %-10s# %s\n", VALUE_WIDTH, value,
                      name_width(r), name, standing,
                      m->unit[0] != '\0' ? m->unit : m->brief);
}

/* Begins a line of an interval: prints the run if there are several, the time,
 * and the part if there are parts. */
static void
print_interval_place(const struct count_report *r, const char *part, FILE *out)
{
    if (r->run > 0)
        fprintf(out, "run %-3u ", r->run);
    fprintf(out, "%12.6f ", r->at_s);
    if (r->part_count > 0)
        escape_printf(out, "%-16s ", part);
}

/* Prints the metrics, a line each; in an interval the line begins with the
 * time.
 */
static void
print_metrics(const struct count_report *r, FILE *out)
{
    if (r->metric_count > 0 && !r->metric_only && r->at_s == 0)
        fprintf(out, "\n");
    for (size_t i = 0; i < r->metric_count; i++) {
        const char *kinds[METRIC_KINDS];
        const size_t count = report_metric_kinds(r, r->metrics[i], kinds);
        for (size_t k = 0; k < count; k++) {
            if (r->at_s > 0)
                print_interval_place(r, "all", out);
            print_metric(r, i, kinds[k], out);
        }
    }
}

/* Prints the table of the runs: a column for each run, as many side by side as
 * a page holds, and a line for each event. */
static void
print_table(const struct count_report *r, FILE *out)
{
    unsigned end = 0;

    for (unsigned first = 0; r->table != NULL && first < r->runs; first = end) {
        end = r->runs - first < RUNS_BESIDE ? r->runs : first + RUNS_BESIDE;
        escape_printf(out, "\n  %-*s", NAME_WIDTH, "run");
        for (unsigned k = first; k < end; k++)
            fprintf(out, " %*u", RUN_WIDTH, k + 1);
        escape_printf(out, "\n  %-*s", NAME_WIDTH, "s wall");
        for (unsigned k = first; k < end; k++)
            fprintf(out, " %*.6f", RUN_WIDTH, r->table[k].wall_s);
        for (size_t i = 0; i < r->count - r->hidden && !r->metric_only; i++) {
            struct count_value v = r->values[i];
            escape_printf(out, "\n  %-*s", NAME_WIDTH, report_title(&v));
            for (unsigned k = first; k < end; k++) {
                char text[48] = "-";
                v.value = r->table[k].values[i];
                v.counted = v.value != COUNT_NONE;
                v.mean = (double)v.value;
                if (v.counted)
                    value_text(r, &v, text, sizeof(text));
                escape_printf(out, " %*s", RUN_WIDTH, text);
            }
        }
        fputc('\n', out);
    }
}

/* Prints the counts of each thread. */
static void
print_threads(const struct count_report *r, FILE *out)
{
    const struct session_result *s = r->last;

    const bool shown = r->per_thread && !r->metric_only;

    for (size_t t = 0; shown && t < s->thread_count; t++) {
        const struct session_thread *thread = &s->threads[t];
        const struct session_process *p = &s->processes[thread->process];
        escape_printf(out, "\n  %s (pid %d) thread %u, strand %u\n", p->program,
                      p->pid, thread->thread, thread->strand);
        for (size_t i = 0; i < r->count - r->hidden; i++) {
            char value[32];
            if (r->values[i].fidelity == FIDELITY_IDLE || r->values[i].emulator)
                continue;
            report_number(r, report_value(&r->values[i], &thread->totals),
                          value);
            escape_printf(out, "%*s  %s\n", VALUE_WIDTH, value,
                          r->values[i].name);
        }
    }
}

/* Prints the counts of each part, such as a cpu. */
static void
print_parts(const struct count_report *r, FILE *out)
{
    for (size_t p = 0; p < r->part_count && !r->metric_only; p++) {
        escape_printf(out, "\n  %s\n", r->parts[p].name);
        for (size_t i = 0; i < r->count; i++) {
            char value[48];
            value_text(r, &r->parts[p].values[i], value, sizeof(value));
            escape_printf(out, "%*s  %s\n", VALUE_WIDTH, value,
                          r->values[i].name);
        }
    }
}

/* Prints which run is left out of the means, the times, and the speed of the
 * model. */
static void
print_times(const struct count_report *r, FILE *out)
{
    const struct session_result *s = r->last;
    const uint64_t *t = s->totals.signal;
    const double clock = r->params != NULL ? (double)r->params[PARAM_CLOCK] : 0;
    const bool slow = clock < 1e9;

    if (r->cut_run != 0) {
        fprintf(out, "\n  run %u of %u was interrupted; ", r->cut_run,
                r->runs_asked);
        if (r->runs == 0)
            fprintf(out, "no run is whole, so nothing is counted\n");
        else
            fprintf(out, "the values are of the %u whole run%s before\n",
                    r->runs, r->runs == 1 ? "" : "s");
    }
    if (r->count > 0 || r->metric_count > 0)
        fputc('\n', out);
    fprintf(out, "%14.6f s wall", r->wall_s);
    if (r->runs > 1)
        fprintf(out, " ( +- %.2f %% )",
                r->wall_s > 0 ? 100 * r->wall_stddev / sqrt(r->runs) / r->wall_s
                              : 0);
    if (r->attached)
        fprintf(out, "\n");
    else
        escape_printf(out, "   %.6f s user   %.6f s sys%s\n", s->user_s,
                      s->sys_s, r->target != NULL ? " of the command" : "");
    if (s->components & COMPONENT_TIME)
        escape_printf(
            out,
            "%14.6f s on the modelled machine (estimated): %.4g %s, %.3f "
            "instructions a cycle\n",
            s->modelled_s, clock * (slow ? 1e-6 : 1e-9), slow ? "MHz" : "GHz",
            t[SIGNAL_CYCLES] ? report_instructions(r) / (double)t[SIGNAL_CYCLES]
                             : 0);
    if (r->isa != NULL && !r->no_instructions)
        fprintf(out, "%14.1f M instructions a second of wall time\n",
                r->wall_s > 0 ? report_instructions(r) / r->wall_s / 1e6 : 0);
}

/* Prints where threads and pages are, on a machine of several nodes. */
static void
print_places(const struct count_report *r, FILE *out)
{
    static const char *const threads[] = {
        [PLACE_THREADS_PACK] = "fill one after the other",
        [PLACE_THREADS_SPREAD] = "go round",
    };
    static const char *const pages[] = {
        [PLACE_PAGES_FIRST_TOUCH] = "are where they are first touched",
        [PLACE_PAGES_INTERLEAVE] = "are on each in turn",
        [PLACE_PAGES_NODE] = "are all on one, node",
    };
    const uint64_t *p = r->params;

    escape_printf(out, "  %" PRIu64 " nodes, which threads %s; pages %s",
                  p[PARAM_NODES], threads[p[PARAM_PLACE_THREADS]],
                  pages[p[PARAM_PLACE_PAGES]]);
    if (p[PARAM_PLACE_PAGES] == PLACE_PAGES_NODE)
        fprintf(out, " %" PRIu64, p[PARAM_PLACE_NODE]);
    fprintf(out, "\n");
}

bool
count_scope_any(const struct count_scope *s)
{
    return s->from != NULL || s->to != NULL || s->skip != 0 ||
           s->filter_count > 0 || s->set_count > 0;
}

/* Prints the options that say what of the program is counted. */
static void
print_scope(const struct count_scope *s, FILE *out)
{
    if (!count_scope_any(s))
        return;
    fprintf(out, "  counted:");
    if (s->from != NULL)
        escape_printf(out, " --from %s", s->from);
    if (s->to != NULL)
        escape_printf(out, " --to %s", s->to);
    if (s->skip != 0)
        fprintf(out, " --skip %" PRIu64, s->skip);
    for (size_t i = 0; i < s->filter_count; i++)
        escape_printf(out, " --filter %s", s->filters[i]);
    for (size_t i = 0; i < s->set_count; i++)
        escape_printf(out, " --set %s", s->sets[i]);
    fprintf(out, "\n");
}

/* Says that the kernel counted the emulator and not the program. */
static void
print_emulator(const struct count_report *r, FILE *out)
{
    bool any = false;

    for (size_t i = 0; i < r->count; i++)
        any = any || r->values[i].emulator;
    if (any)
        escape_printf(
            out,
            "  emulator: the kernel's counts of QEMU as a whole, whose own "
            "time and memory are in them%s\n",
            r->per_thread    ? "; of single threads there are none"
            : r->per_process ? "; of single programs there are none"
                             : "");
}

/* Says where the cycles come from that an L2, a TLB or memory takes, where
 * cycles were counted with them: this computer, a modelled core, or nowhere. */
static void
print_times_source(const struct count_report *r, FILE *out)
{
    static const char advice[] =
        "; tally calibrate measures those of this computer";

    if (r->calibrated == NULL || (r->last->components & COMPONENT_TIME) == 0)
        return;
    if (r->calibrated[0] != '\0')
        escape_printf(out,
                      "  estimated: with the times of this computer, measured "
                      "%s%s%s\n",
                      r->calibrated,
                      r->core != NULL ? "; the rest of its core is that of "
                                      : "",
                      r->core != NULL ? r->core : "");
    else if (r->core != NULL)
        fprintf(out,
                "  estimated: with the times of %s, the modelled core nearest "
                "to this processor%s\n",
                r->core, advice);
    else
        fprintf(out, "  estimated: with assumed times%s%s\n",
                r->no_core ? ", as no modelled core fits this processor" : "",
                advice);
}

/* Returns whether cycles add up what misses cost, unlike the machine's own. */
static bool
in_order_instead(const struct count_report *r)
{
    return r->params != NULL && r->machine != NULL &&
           r->params[PARAM_TIME_MODEL] == TIME_MODEL_SUM &&
           r->machine->params[PARAM_TIME_MODEL].value == TIME_MODEL_OOO;
}

/* Prints notes about the run: its end, what the counts lack, what moves them.
 */
static void
print_notes(const struct count_report *r, FILE *out)
{
    const struct session_result *s = r->last;
    char text[RUN_NOTE];

    report_end_text(r, out);
    for (size_t i = 0; report_left_out(s, i, text, sizeof(text)); i++)
        escape_printf(out, "  %s\n", text);
    if (report_left_early(s, text, sizeof(text)))
        escape_printf(out, "  %s\n", text);
    if (report_heaped(s, text, sizeof(text)))
        escape_printf(out, "  %s\n", text);
    print_scope(&r->scope, out);
    if (r->has_span && s->totals.signal[SIGNAL_INSTRUCTIONS] == 0)
        fprintf(out, "  the program %s\n",
                r->scope.filter_count > 0
                    ? "executed nothing of what is counted"
                    : "never came to where counting begins");
    if (report_programs(s, text, sizeof(text)))
        escape_printf(out, "  %s\n", text);
    for (unsigned i = 0; i < s->rightless && i < SESSION_UNCOUNTED; i++)
        escape_printf(
            out,
            "  without its rights: %s is a setuid or setgid program, which "
            "the emulator runs as you\n",
            s->rightless_names[i]);
    if (report_threads(s, text, sizeof(text)))
        escape_printf(out, "  %s\n", text);
    if (report_beside(s, text, sizeof(text)))
        escape_printf(out, "  %s\n", text);
    if (report_signals(s, text, sizeof(text)))
        escape_printf(out, "  %s\n", text);
    if (report_random_fixed(s, text, sizeof(text)))
        escape_printf(out, "  %s\n", text);
    if (report_random_left(s, text, sizeof(text)))
        escape_printf(out, "  %s\n", text);
    if (r->note != NULL)
        escape_printf(out, "  %s\n", r->note);
    print_times_source(r, out);
    if (r->params != NULL && r->params[PARAM_NODES] > 1)
        print_places(r, out);
    if (r->isa == NULL)
        return;
    if (r->foreign)
        escape_printf(
            out,
            "  a program for %s on a machine of another instruction set: "
            "nothing is exact%s\n",
            r->isa,
            in_order_instead(r) ? ", and cycles are those of time.model=sum"
                                : "");
    print_emulator(r, out);
    fprintf(out, "  user mode only: system calls run outside the model\n");
}

/* Returns whether any note stands below the times. */
static bool
has_notes(const struct count_report *r)
{
    bool any = r->isa != NULL || r->last->status != 0 || r->note != NULL ||
               count_scope_any(&r->scope);

    for (size_t i = 0; i < r->count; i++)
        any = any || r->values[i].reason != NULL;
    for (size_t i = 0; i < r->metric_count; i++)
        any = any || metric_is_lacking(r->metrics[i]);
    return any;
}

/* Prints the events of an interval, or of one part of an interval. */
static void
print_interval_part(const struct count_report *r, const char *part,
                    const struct count_value *values, FILE *out)
{
    for (size_t i = 0; i < r->count && !r->metric_only; i++) {
        print_interval_place(r, part, out);
        print_value(r, &values[i], out);
    }
}

int
report_interval_text(const struct count_report *r, FILE *out)
{
    print_interval_part(r, "all", r->values, out);
    for (size_t p = 0; p < r->part_count; p++)
        print_interval_part(r, r->parts[p].name, r->parts[p].values, out);
    print_metrics(r, out);
    return fflush(out) != 0 || ferror(out) ? TALLY_EIO : 0;
}

/* Prints a command on one line: its blanks, such as the ends of lines in a
 * script that is an argument, as spaces. */
static void
print_line(const char *text, FILE *out)
{
    char *const line = strdup(text);

    if (line == NULL)
        return;
    for (char *c = line; *c != '\0'; c++)
        if (isspace((unsigned char)*c))
            *c = ' ';
    escape_printf(out, "%s", line);
    free(line);
}

/* Prints what was counted, and on which machine. As in perf, a program that
 * runs beside the counted processes is named as such. */
static void
print_heading(const struct count_report *r, FILE *out)
{
    const bool beside = r->isa == NULL && r->target != NULL && !r->attached;

    fprintf(out, "\n ");
    print_line(beside ? r->target : r->program, out);
    if (r->imported != NULL) {
        escape_printf(out, " on %s, imported from %s", r->machine->name,
                      r->imported);
    } else if (r->isa != NULL) {
        escape_printf(out, " on %s, emulated (guest %s%s%s)", r->machine->name,
                      r->isa, r->cpu_name ? ", CPU model " : "",
                      r->cpu_name ? r->cpu_name : "");
    } else {
        fprintf(out, " on this host");
    }
    if (beside) {
        fprintf(out, ", during `");
        print_line(r->program, out);
        fprintf(out, "`");
    }
    fprintf(out, "\n\n");
}

int
report_count_text(const struct count_report *r, FILE *out)
{
    print_heading(r, out);
    for (size_t i = 0; i < r->count - r->hidden && !r->metric_only; i++) {
        print_value(r, &r->values[i], out);
        print_exact(r, &r->values[i], out);
    }
    print_metrics(r, out);
    print_table(r, out);
    report_accounting_text(r, out);
    if (r->per_process && !r->metric_only)
        report_programs_text(r, out);
    if (r->isa != NULL)
        print_threads(r, out);
    print_parts(r, out);
    report_capture_text(r, out);
    print_times(r, out);
    if (has_notes(r))
        fprintf(out, "\n");
    print_idle(r, out);
    print_lacking(r, out);
    print_generics(r, out);
    print_notes(r, out);
    fprintf(out, "\n");
    return fflush(out) != 0 || ferror(out) ? TALLY_EIO : 0;
}
