/* SPDX-License-Identifier: MIT */
/* tally show: one machine, event, register, metric or parameter in full. */
#include "cli/show.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/escape.h"
#include "cli/command.h"
#include "table/generic.h"
#include "table/near.h"
#include "table/software.h"
#include "table/text.h"

enum { OPT_MACHINE, OPT_VERBOSE, OPT_COLOR };

static const struct option_row options[] = {
    [OPT_MACHINE] = {'m', "machine", "MACHINE",
                     "the machine whose row to show"},
    [OPT_VERBOSE] = {'v', "verbose", NULL,
                     "of a machine all: units, modifiers, groups of events, "
                     "each parameter and its source"},
    [OPT_COLOR] = {0, "color", "WHEN", "auto, always or never"},
    {0},
};

struct show {
    struct screen screen;
    const struct machine_row *only; /* NULL: every machine */
    const char *name;
    size_t found;
    bool verbose;
};

/* Returns the screen for what the name means on the next machine, after an
 * empty line. */
static struct screen *
next(struct show *w)
{
    if (w->found++ > 0)
        fprintf(w->screen.out, "\n\n");
    return &w->screen;
}

void
show_append(char *text, const char *name)
{
    const size_t used = strlen(text);

    snprintf(text + used, SHOW_TEXT - used, "%s%s", used > 0 ? ", " : "", name);
}

void
show_names(struct screen *s, const char *label, const char *const *names)
{
    char text[SHOW_TEXT] = "";

    for (; names != NULL && *names != NULL; names++)
        show_append(text, *names);
    if (text[0] != '\0')
        screen_item(s, label, text);
}

static void
try_machine(struct show *w, const struct machine_row *m)
{
    if (w->verbose)
        show_machine_whole(next(w), m);
    else
        show_machine(next(w), m);
}

static bool
is_shown(const struct show *w, const struct machine_row *m)
{
    return w->only != NULL ? m == w->only : !m->hidden;
}

/* Returns the kernel's event of this name, for the machine that was named: its
 * model is run by an emulator of which the kernel counts it. */
static const struct event_row *
software_of(const struct show *w, const struct machine_row *m)
{
    return m == w->only && m->params != NULL ? software_find(w->name) : NULL;
}

/* Shows an event by its name, or with a unit mask and modifiers behind the
 * name. */
static void
try_event(struct show *w, const struct machine_row *m)
{
    const struct event_row *event = event_find(m, w->name);
    const struct event_row *software = software_of(w, m);
    struct selection s;

    if (event != NULL)
        show_event(next(w), m, event, NULL);
    else if (software != NULL)
        show_event(next(w), machine_find("host"), software, NULL);
    else if (selection_parse(m, w->name, strlen(w->name), NULL, &s) == 0 &&
             s.event != NULL)
        show_event(next(w), m, s.event, &s);
}

static void
try_unit(struct show *w, const struct machine_row *m)
{
    for (size_t i = 0; i < m->unit_count; i++)
        if (same_name(m->units[i].name, w->name))
            show_unit(next(w), m, &m->units[i]);
}

/* "sl:3", of machines that group their events. */
static void
try_group(struct show *w, const struct machine_row *m)
{
    char *end;

    if (strncasecmp(w->name, "sl:", 3) != 0 || w->name[3] < '0' ||
        w->name[3] > '9')
        return;
    const unsigned long sl = strtoul(w->name + 3, &end, 0);
    for (size_t i = 0; *end == '\0' && i < m->group_count; i++)
        if (m->groups[i].sl == sl)
            show_group(next(w), m, &m->groups[i]);
}

/* Returns whether a shown machine, and no generic name, is spelt like this. */
static bool
spelt_by_machine(const struct show *w, const struct generic_row *generic)
{
    bool own = false;

    if (strcmp(w->name, generic->name) == 0)
        return false;
    for (size_t i = 0; i < MACHINE_COUNT && !own; i++) {
        const struct machine_row *m = &tally_machines[i];
        const struct event_row *event = event_find(m, w->name);
        own = is_shown(w, m) && event != NULL &&
              strcmp(event->name, w->name) == 0;
    }
    return own;
}

/* Shows what the name is on every machine. Returns whether there is nothing
 * else to show. */
static bool
try_generic(struct show *w)
{
    const int id = generic_find(w->name);
    const int metric = generic_metric_find(w->name);

    if (id >= 0 && !spelt_by_machine(w, &tally_generics[id])) {
        show_generic(next(w), id, w->only);
        return w->only == NULL;
    }
    if (metric >= 0 && w->only == NULL) {
        show_generic_metric(next(w), metric);
        return true;
    }
    return false;
}

static void
show_all(struct show *w)
{
    const struct machine_row *machine = machine_find(w->name);

    if (machine != NULL && (w->only == NULL || machine == w->only))
        try_machine(w, machine);
    if (try_generic(w))
        return;
    for (size_t i = 0; i < MACHINE_COUNT; i++) {
        const struct machine_row *m = &tally_machines[i];
        if (!is_shown(w, m))
            continue;
        const struct register_row *row = register_find(m, w->name);
        const struct metric_row *metric = metric_find(m, w->name);
        try_event(w, m);
        if (row != NULL)
            show_register(next(w), m, row);
        if (metric != NULL)
            show_metric(next(w), m, metric);
        try_unit(w, m);
        try_group(w, m);
        if (param_find(w->name) >= 0 && m->params != NULL)
            show_param(next(w), m, param_find(w->name));
    }
}

static void
add_machine(struct near *n, const struct machine_row *m)
{
    for (size_t i = 0; i < m->event_count; i++)
        near_add(n, m->events[i].name, m->events[i].aliases);
    near_generics(n, m);
    for (size_t i = 0; i < m->register_count; i++)
        near_add(n, m->registers[i].name, m->registers[i].aliases);
    for (size_t i = 0; i < m->metric_count; i++)
        near_add(n, m->metrics[i].name, m->metrics[i].aliases);
    for (size_t i = 0; i < m->unit_count; i++)
        near_add(n, m->units[i].name, NULL);
    for (size_t i = 0; m->params != NULL && i < PARAM_COUNT; i++)
        near_add(n, tally_params[i].key, NULL);
}

/* Returns what kind of thing the name is on the machine, or NULL. */
static const char *
kind_of(const struct machine_row *m, const char *name)
{
    if (event_find(m, name) != NULL)
        return "an event";
    if (register_find(m, name) != NULL)
        return "a register";
    if (metric_find(m, name) != NULL)
        return "a metric";
    for (size_t i = 0; i < m->unit_count; i++)
        if (same_name(m->units[i].name, name))
            return "a unit";
    return NULL;
}

/* Returns whether an event of the machine stands before a dot or colon, so that
 * the rest of the name is bad. */
static bool
bad_umask(const struct machine_row *m, const char *name)
{
    char start[128];
    struct selection s;

    for (const char *p = strpbrk(name, ".:"); p != NULL;
         p = strpbrk(p + 1, ".:")) {
        snprintf(start, sizeof(start), "%.*s", (int)(p - name), name);
        if (event_find(m, start) != NULL)
            return selection_parse(m, name, strlen(name), &command_log, &s) !=
                   0;
    }
    return false;
}

static int
unknown_name(const struct show *w)
{
    const struct shown word = shown(w->name, strlen(w->name));
    char where[64] = "", text[256];
    struct near n;

    if (w->only != NULL &&
        generic_metric_lacking(w->only, w->name, &command_log) != 0)
        return EXIT_USAGE;
    for (size_t i = 0; i < MACHINE_COUNT; i++)
        if (is_shown(w, &tally_machines[i]) &&
            bad_umask(&tally_machines[i], w->name))
            return EXIT_USAGE;
    for (size_t i = 0; w->only != NULL && i < MACHINE_COUNT; i++) {
        const struct machine_row *m = &tally_machines[i];
        const char *kind = m->hidden ? NULL : kind_of(m, w->name);
        if (kind == NULL)
            continue;
        escape_printf(stderr, "tally: '%s' is %s of %s; %s lacks it\n",
                      word.text, kind, m->name, w->only->name);
        return EXIT_USAGE;
    }
    near_init(&n, w->name, 3);
    for (size_t i = 0; i < MACHINE_COUNT; i++) {
        const struct machine_row *m = &tally_machines[i];
        if (w->only == NULL && !m->hidden)
            near_add(&n, m->name, m->aliases);
        if (is_shown(w, m))
            add_machine(&n, m);
    }
    near_text(&n, text, sizeof(text));
    if (w->only != NULL)
        snprintf(where, sizeof(where), " on %s", w->only->name);
    escape_printf(stderr,
                  "tally: no %sevent, register, metric, unit or parameter "
                  "'%s'%s%s%s%s\n",
                  w->only == NULL ? "machine, " : "", word.text, where,
                  *text ? "; did you mean " : "; tally list shows them", text,
                  *text ? "?" : "");
    return EXIT_USAGE;
}

static int
show(struct show *w, const char *color)
{
    int status = screen_open(&w->screen, color);

    if (status != 0)
        return status;
    if (w->name == NULL)
        try_machine(w, w->only);
    else
        show_all(w);
    status = screen_close(&w->screen);
    return status == 0 && w->found == 0 ? unknown_name(w) : status;
}

static int
run_show(int argc, char **argv)
{
    struct option_walk walk = command_walk(&command_show, argc, argv);
    struct show w = {0};
    const char *value, *color = NULL;
    int option;

    for (;;) {
        while ((option = command_option(&walk, &value)) >= 0) {
            if (option == OPT_COLOR) {
                color = value;
                continue;
            }
            if (option == OPT_VERBOSE) {
                w.verbose = true;
                continue;
            }
            w.only = machine_find(value);
            if (w.only == NULL) {
                machine_unknown(value, &command_log);
                return EXIT_USAGE;
            }
        }
        if (option == COMMAND_HELP) {
            command_help(&command_show, stdout);
            return 0;
        }
        if (option == COMMAND_BAD)
            return EXIT_USAGE;
        if (walk.next >= argc)
            break;
        if (w.name != NULL) {
            escape_printf(stderr, "tally show: one name, not '%s' too\n",
                          argv[walk.next]);
            return EXIT_USAGE;
        }
        w.name = argv[walk.next++];
    }
    if (w.name == NULL && w.only == NULL) {
        fprintf(stderr, "tally show: no name given; see tally show --help\n");
        return EXIT_USAGE;
    }
    return show(&w, color);
}

const struct command command_show = {
    .name = "show",
    .summary = "show a machine, unit, event, register or metric",
    .synopsis = "[-v] [-m MACHINE] NAME",
    .example =
        "  # Show a machine on one screen.\n"
        "  tally show ultrasparc-t2\n"
        "  # Show when exactly an event counts, and how it is encoded.\n"
        "  tally show Dcache_misses\n"
        "  # Show what stands for a generic name on which machine.\n"
        "  tally show L1-dcache-load-misses\n"
        "  # Show a register of one machine, its fields and its counters.\n"
        "  tally show -m montecito PMC5",
    .options = options,
    .run = run_show,
};
