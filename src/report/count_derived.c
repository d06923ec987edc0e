/* SPDX-License-Identifier: MIT */
#include "report/count_derived.h"

#include <string.h>

#include "table/generic.h"

/* Returns whether the event counts instructions of some classes, or all. */
static bool
is_class(const struct event_row *e)
{
    for (size_t i = 0; i < e->signal_count; i++) {
        if (e->signals[i] >= SIGNAL_FIXED_COUNT &&
            e->signals[i] != SIGNAL_CONDITIONAL_TAKEN)
            return false;
    }
    return e->signal_count > 0;
}

/* Returns whether the event counts all instructions (an R10000 counts those of
 * two entries twice). */
static bool
is_all(const struct event_row *e)
{
    bool any = false;

    for (size_t i = 0; i < e->signal_count; i++)
        any |= e->signals[i] == SIGNAL_INSTRUCTIONS;
    return any && is_class(e);
}

/* Returns whether the value is of the named event, counted at all levels or at
 * the user's. An event of one kind of cores is written PMU/EVENT/. */
static bool
is_event(const struct count_value *v, const char *name)
{
    const size_t size = strlen(name);
    const char *own = v->name, *all = "", *user = ":u";

    if (v->kind != NULL) {
        const size_t length = strlen(v->kind);
        if (strncmp(own, v->kind, length) != 0 || own[length] != '/')
            return false;
        own += length + 1;
        all = "/";
        user = "/u";
    }
    return strncmp(own, name, size) == 0 &&
           (strcmp(own + size, all) == 0 || strcmp(own + size, user) == 0);
}

/* Returns the report's value of a generic event, of the same kind of cores or
 * of all cores; 0: the report has none. */
static double
mean_of(const struct count_report *r, const char *kind, const char *name)
{
    for (size_t i = 0; i < r->count; i++) {
        const struct count_value *v = &r->values[i];
        const bool here =
            v->kind == NULL || (kind != NULL && strcmp(v->kind, kind) == 0);
        if (v->counted && here && is_event(v, name))
            return v->mean;
    }
    return 0;
}

/* Says what perf says beside the generic events of the host. */
static void
derive_host(const struct count_report *r, const struct count_value *v,
            char *text, size_t size)
{
    const double ns = mean_of(r, v->kind, "task-clock");
    const double cycles = mean_of(r, v->kind, "cycles");

    if (is_event(v, "task-clock") || is_event(v, "cpu-clock"))
        snprintf(text, size, "# %8.3f CPUs utilized",
                 r->wall_s > 0 ? v->mean * 1e-9 / r->wall_s : 0);
    else if (is_event(v, "cycles") && ns > 0)
        snprintf(text, size, "# %8.3f GHz", v->mean / ns);
    else if (is_event(v, "instructions") && cycles > 0)
        snprintf(text, size, "# %8.3f instructions a cycle", v->mean / cycles);
    else if (is_event(v, "branch-misses") &&
             mean_of(r, v->kind, "branches") > 0)
        snprintf(text, size, "# %8.2f %% of branches",
                 100 * v->mean / mean_of(r, v->kind, "branches"));
    else if (ns > 0 && v->unit[0] == '\0') {
        static const char *const prefixes[] = {"", "K ", "M ", "G "};
        double a_second = v->mean / ns * 1e9;
        size_t p = 0;
        /* 999.9995 would be written as 1000.000. */
        for (; p < 3 && a_second >= 999.9995; p++)
            a_second /= 1000;
        snprintf(text, size, "# %8.3f %sa second", a_second, prefixes[p]);
    }
}

/* Returns whether the event counts cycles of the sum that makes all cycles: one
 * term, part of one, or several. */
static bool
is_term(const struct event_row *e)
{
    for (size_t i = 0; i < e->signal_count; i++) {
        const unsigned s = e->signals[i];
        if ((s < SIGNAL_ISSUE_CYCLES || s > SIGNAL_STALL_MISPREDICT) &&
            s != SIGNAL_STALL_REFILL && s != SIGNAL_STALL_BACK)
            return false;
    }
    return e->signal_count > 0;
}

static bool
is_cycles(const struct event_row *e)
{
    return e->signal_count == 1 && (e->signals[0] == SIGNAL_CYCLES ||
                                    e->signals[0] == SIGNAL_CORE_CYCLES);
}

double
report_instructions(const struct count_report *r)
{
    const struct totals *t = &r->last->totals;
    const struct event_row *e =
        generic_counted(r->machine, GENERIC_INSTRUCTIONS);

    if (r->no_instructions)
        return 0;
    return e != NULL ? (double)event_value(e, t)
                     : (double)t->signal[SIGNAL_INSTRUCTIONS];
}

/* Says what the value means beside instructions or cycles of the same run. */
static void
derive_model(const struct count_report *r, const struct count_value *v,
             char *text, size_t size)
{
    const struct totals *t = &r->last->totals;
    const struct event_row *e = v->event;
    const double all = report_instructions(r);

    if (all == 0 || e->fidelity == FIDELITY_IDLE)
        return;
    if (is_cycles(e))
        snprintf(text, size, "# %8.3f instructions a cycle", all / v->mean);
    else if (e == generic_counted(r->machine, GENERIC_INSTRUCTIONS) ||
             is_all(e))
        snprintf(text, size, "# %8.1f M a second of wall time",
                 v->mean / r->wall_s / 1e6);
    else if (is_term(e))
        snprintf(text, size, "# %8.2f %% of cycles",
                 100 * v->mean / (double)t->signal[SIGNAL_CYCLES]);
    else if (is_class(e))
        snprintf(text, size, "# %8.2f %% of instructions", 100 * v->mean / all);
    else
        snprintf(text, size, "# %8.3f per 1000 instructions",
                 1000 * v->mean / all);
}

void
report_derived(const struct count_report *r, const struct count_value *v,
               char *text, size_t size)
{
    text[0] = '\0';
    if (!v->counted || v->mean == 0)
        return;
    if (r->isa == NULL || v->emulator)
        derive_host(r, v, text, size);
    else
        derive_model(r, v, text, size);
}

void
report_mark_cut(struct count_value *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        values[i].counted = false;
        values[i].code = "interrupted";
        values[i].reason = "a signal cut the first run short, and no run was "
                           "whole";
        values[i].mend = NULL;
    }
}
