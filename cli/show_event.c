/* SPDX-License-Identifier: MIT */
/* tally show EVENT: meaning, encoding, constraints, what belongs to it. */
#include <inttypes.h>
#include <string.h>

#include "cli/needs.h"
#include "cli/rows_text.h"
#include "cli/show.h"
#include "host/software.h"
#include "table/plan.h"
#include "table/software.h"
#include "table/umask.h"

/* The event that is shown, with the unit mask that was asked for, or NULL. */
struct shown_event {
    struct screen *s;
    const struct machine_row *m;
    const struct event_row *e;
    const struct selection *given;
    const struct umask_row *umask;
};

static void
show_code(const struct shown_event *w)
{
    const struct event_row *e = w->e;
    char text[128] = "";

    if (e->number >= 0)
        screen_itemf(w->s, "number", "%d", e->number);
    if (e->sl >= 0 && e->mask >= 0)
        snprintf(text, sizeof(text), " (sl 0x%x, mask 0x%02x)", (unsigned)e->sl,
                 (unsigned)e->mask);
    else if (e->sl >= 0)
        snprintf(text, sizeof(text), " (sl 0x%x)", (unsigned)e->sl);
    if (e->code >= 0)
        screen_itemf(w->s, "code", "0x%x%s", (unsigned)e->code, text);
    for (size_t i = 0; e->sl >= 0 && i < w->m->group_count; i++)
        if (w->m->groups[i].sl == e->sl &&
            strcmp(w->m->units[w->m->groups[i].unit].name, e->unit) == 0)
            screen_itemf(w->s, "group", "sl 0x%x: %s", (unsigned)e->sl,
                         w->m->groups[i].title);
}

/* Returns why the model does not count this unit mask though it counts others;
 * or NULL. */
static const char *
umask_idle(const struct shown_event *w, const struct umask_row *u)
{
    return u->counted < 0 ? NULL : umask_counted(w->m, w->e, u)->reason;
}

static void
show_umasks(const struct shown_event *w)
{
    const size_t width = umask_width(w->e);

    if (w->e->umask_count == 0)
        return;
    fprintf(w->s->out, "  %s\n",
            w->umask != NULL   ? "unit mask"
            : w->e->umask_bits ? "unit masks: each bit is one, any may be set"
                               : "unit masks");
    for (size_t i = 0; i < w->e->umask_count; i++) {
        const struct umask_row *u = &w->e->umasks[i];
        if (w->umask == NULL || w->umask == u)
            umask_print(w->s, 4, width, u, umask_idle(w, u), true);
    }
    if (w->umask != NULL)
        show_names(w->s, "  also", w->umask->aliases);
}

/* Finds what the example encodes: the unit mask that was given, or one that
 * counts. */
static bool
example_of(const struct shown_event *w, struct selection *s)
{
    if (w->given != NULL) {
        *s = *w->given;
        return true;
    }
    *s = selection_of(w->m, w->e, -1);
    for (size_t i = 0;
         s->umask == NULL && w->e->umask_count > 0 && i < w->e->umask_count;
         i++)
        if (w->e->umasks[i].counts == UMASK_YES)
            *s = selection_of(w->m, w->e, (int)i);
    return w->e->umask_count == 0 || s->umask != NULL;
}

/* Shows the encoding on the first counter that can count the event: "NAME ->
 * PMC4 = 0x3000009". */
static void
show_encoding(const struct shown_event *w)
{
    const struct tally_log *quiet = NULL;
    char name[SELECTION_TEXT], text[SHOW_TEXT] = "", word[128];
    struct selection s;
    struct plan plan;
    struct write_list writes;

    if (w->e->counters == 0 || !example_of(w, &s))
        return;
    selection_text(&s, name, sizeof(name));
    const bool several =
        w->m->units[s.unit].instance_count > 0 && s.instance < 0;
    if (several)
        s.instance = 0;
    if (plan_make(&s, 1, quiet, &plan) != 0)
        return;
    plan_encode(&s, 1, &plan, 0, &writes);
    for (size_t i = 0; i < writes.count; i++) {
        snprintf(word, sizeof(word), "%s = 0x%" PRIx64,
                 w->m->registers[writes.rows[i].reg].name,
                 writes.rows[i].value);
        show_append(text, word);
    }
    const char *counter = w->m->counters[plan.rows[0].counter].name;
    if (writes.count == 0)
        screen_itemf(w->s, "encoding", "%s counts it always", counter);
    else
        screen_itemf(w->s, "encoding", "%s -> %s (on %s%s)", name, text,
                     counter, several ? ", and so in each instance" : "");
    plan_finish(&plan);
}

/* Shows which counters count the event, and which sets of counters its events
 * must share. */
static void
show_counters(const struct shown_event *w)
{
    const struct event_row *e = w->e;
    const bool any = e->counters == counters_of_unit(w->m, e->unit);
    char text[COUNTERS_TEXT];

    if (e->counters == 0)
        return;
    counters_text(w->m, e->counters, text, sizeof(text));
    screen_itemf(w->s, "counters", "%s%s",
                 __builtin_popcount(e->counters) == 1 ? ""
                 : any                                ? "any of "
                                                      : "only ",
                 text);
    if (e->l1d_set >= 0)
        screen_itemf(w->s, "L1D set",
                     "%d: counts together with L1D events of this set alone, "
                     "one of which must be on PMD5",
                     e->l1d_set);
    if (e->l2d_set >= 0)
        screen_itemf(w->s, "L2D set",
                     "%d: PMC4 rules PMD4, 5 and 8, PMC6 rules PMD6, 7 and "
                     "9: what counts there shares the set, the unit mask and "
                     ":all",
                     e->l2d_set);
}

static const char *
type_words(char type)
{
    switch (type) {
    case 'A':
        return "active: occurs only while its thread runs, so any counter "
               "will do unless :all is set";
    case 'C':
        return "causal: belongs to no thread, the running one is charged; "
               ""
               "as a rule right on duplicated counters alone";
    case 'F':
        return "floating: may occur while its thread is in the background; "
               ""
               "as a rule right on duplicated counters alone";
    default:
        return "self-floating: floating with the unit mask SELF, else "
               "causal; "
               "as a rule right on duplicated counters alone";
    }
}

static const char *
attribution_words(const char *word)
{
    if (strcmp(word, "ActiveTrue") == 0)
        return "the running thread, and that is the right one";
    if (strcmp(word, "ActiveApprox") == 0)
        return "the running thread, which in corner cases is the wrong one";
    return "the thread that it belongs to";
}

/* Of threads and strands. */
static void
show_threads(const struct shown_event *w)
{
    const struct event_row *e = w->e;
    const char *by = w->umask != NULL ? w->umask->attribution : e->attribution;

    if (e->type != 0)
        screen_itemf(w->s, "type", "%c, %s", e->type, type_words(e->type));
    if (by != NULL)
        screen_itemf(w->s, "charged to", "%s (%s)", attribution_words(by), by);
    if (e->strand_specific >= 0)
        screen_item(w->s, "raised by",
                    e->strand_specific ? "the strand that counts it"
                                       : "any strand of the core");
    if (e->precise >= 0)
        screen_item(w->s, "traps", e->precise ? "precise" : "disrupting");
    if (e->max_inc >= 0)
        screen_itemf(w->s, "in a cycle", "%d at most", e->max_inc);
}

/* What can narrow it down. */
static void
show_filters(const struct shown_event *w)
{
    const struct event_row *e = w->e;
    const struct {
        int has;
        const char *name;
    } filters[] = {
        {e->iar, "instruction address (IAR)"},
        {e->dar, "data address (DAR)"},
        {e->opc, "opcode (OPC)"},
    };
    char text[SHOW_TEXT] = "", none[SHOW_TEXT] = "";

    for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++)
        if (filters[i].has >= 0)
            show_append(filters[i].has ? text : none, filters[i].name);
    if (text[0] != '\0')
        screen_itemf(w->s, "filters", "%s%s%s", text,
                     none[0] != '\0' ? "; not by " : "", none);
    else if (none[0] != '\0')
        screen_itemf(w->s, "filters", "not by %s", none);
}

static void
show_modifiers(const struct shown_event *w)
{
    struct selection s = selection_of(w->m, w->e, -1);
    char text[SHOW_TEXT] = "", word[64];
    const int all = w->umask != NULL ? w->umask->all : w->e->all;
    const char *both = NULL;

    if (w->e->counters == 0)
        return;
    if (w->umask != NULL)
        s.umask = w->umask;
    for (size_t i = 0; i < w->m->modifier_count; i++) {
        const struct modifier_row *mod = &w->m->modifiers[i];
        if (mod->needs == NEEDS_ALL)
            both = mod->name;
        if (!selection_takes(&s, mod))
            continue;
        snprintf(word, sizeof(word), ":%s%s", mod->name,
                 mod->kind == MODIFIER_PRIVILEGE || mod->kind == MODIFIER_FLAG
                     ? ""
                     : "=");
        show_append(text, word);
    }
    if (w->m->units[s.unit].instance_count > 0)
        show_append(text, ":at=");
    if (text[0] != '\0')
        screen_item(w->s, "modifiers", text);
    if (all == 0 && both != NULL)
        screen_itemf(w->s, "", "not :%s: both threads cannot be counted", both);
}

static void
show_lists(const struct shown_event *w)
{
    for (const char *const *name = w->e->instructions; *name != NULL; name++)
        for (size_t i = 0; i < w->m->list_count; i++) {
            const struct instructions_row *list = &w->m->lists[i];
            char text[4096];
            size_t used;
            if (strcmp(list->name, *name) != 0)
                continue;
            used = (size_t)snprintf(text, sizeof(text), "%s (%s):", list->brief,
                                    list->reference);
            for (const char *const *n = list->names;
                 *n != NULL && used < sizeof(text); n++)
                used += (size_t)snprintf(text + used, sizeof(text) - used,
                                         " %s", *n);
            screen_item(w->s, "instructions", text);
        }
}

/* Returns how many of the event's signals are copies of this one. */
static size_t
copies(const struct event_row *e, size_t from, size_t to, uint16_t signal)
{
    size_t count = 0;

    for (size_t i = from; i < to; i++)
        count += strcmp(tally_signals[e->signals[i]].brief,
                        tally_signals[signal].brief) == 0;
    return count;
}

/* Shows the signals of the event. Copies of one signal, for each bank or link,
 * are one item. */
static void
show_signals(const struct shown_event *w, const struct event_row *e)
{
    for (size_t i = 0; i < e->signal_count; i++) {
        const struct signal_row *s = &tally_signals[e->signals[i]];
        const char *title = i == 0 ? "sums" : "";
        const size_t all = copies(e, 0, e->signal_count, e->signals[i]);
        if (copies(e, 0, i, e->signals[i]) > 0)
            continue;
        if (all == 1)
            screen_itemf(w->s, title, "%s: %s", s->name, s->brief);
        else
            screen_itemf(w->s, title, "%s and %zu more like it: %s", s->name,
                         all - 1, s->brief);
    }
}

static void
show_standing(const struct shown_event *w)
{
    const struct event_row *e = umask_counted(w->m, w->e, w->umask);

    screen_itemf(
        w->s, "standing", "%s%s%s", machine_standing(w->m, e->fidelity),
        e->reason != NULL ? ": " : "", e->reason != NULL ? e->reason : "");
    show_signals(w, e);
}

static void
show_metrics(const struct shown_event *w)
{
    char text[SHOW_TEXT] = "";

    for (size_t i = 0; i < w->m->metric_count; i++)
        if (metric_uses(&w->m->metrics[i], w->m, w->e, w->umask))
            show_append(text, w->m->metrics[i].name);
    if (text[0] != '\0')
        screen_item(w->s, "metrics", text);
}

/* Says what a software event counts on a modelled machine. */
static void
show_emulated(const struct shown_event *w)
{
    if (!event_is_software(w->e))
        return;
    screen_itemf(w->s, "on a model",
                 "the kernel's count of QEMU as a whole, whose own time and "
                 "memory are in it, %s; its standing is emulator",
                 host_software_waits(w->e)
                     ? "as wait4(2) tells it to every user"
                     : "through perf_event, where the kernel lets it");
}

void
show_event(struct screen *s, const struct machine_row *m,
           const struct event_row *e, const struct selection *given)
{
    const struct shown_event w = {s, m, e, given,
                                  given != NULL ? given->umask : NULL};
    char name[SELECTION_TEXT];

    snprintf(name, sizeof(name), "%s", e->name);
    if (given != NULL)
        selection_text(given, name, sizeof(name));
    screen_heading(s, "%s, an event of %s, unit %s", name, m->name, e->unit);
    fprintf(s->out, "\n  ");
    screen_prose(s, 2, 2, e->brief);
    fprintf(s->out, "\n");
    screen_item(s, "counts", e->counts);
    if (e->category != NULL)
        screen_item(s, "category", e->category);
    show_code(&w);
    show_umasks(&w);
    show_encoding(&w);
    show_counters(&w);
    show_modifiers(&w);
    show_threads(&w);
    show_filters(&w);
    show_lists(&w);
    show_standing(&w);
    show_emulated(&w);
    show_names(s, "also", e->aliases);
    show_names(s, "related", e->related);
    show_metrics(&w);
    screen_item(s, "reference", e->reference);
}
