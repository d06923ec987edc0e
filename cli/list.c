/* SPDX-License-Identifier: MIT */
/* tally list: machines, events, parameters, signals. */
#include <fnmatch.h>
#include <jansson.h>
#include <string.h>
#include <strings.h>

#include "cli/command.h"
#include "table/table.h"

enum { OPT_MACHINE, OPT_FORMAT, OPT_JSON };

static const struct option_row options[] = {
    [OPT_MACHINE] = {'m', "machine", "MACHINE", "only this machine"},
    [OPT_FORMAT] = {0, "format", "FORM", "text or json"},
    [OPT_JSON] = {'j', "json", NULL, "the same as --format json"},
    {0},
};

struct list {
    const struct machine_row *machine; /* NULL: all */
    const char *pattern;               /* NULL: all */
    bool json;
};

static bool
matches(const struct list *l, const char *name)
{
    if (l->pattern == NULL || strcasestr(name, l->pattern) != NULL)
        return true;
    return fnmatch(l->pattern, name, FNM_CASEFOLD) == 0;
}

static int
print_json(const char *key, json_t *rows, const struct machine_row *machine)
{
    json_t *o = json_object();

    json_object_set_new(o, "schema", json_integer(1));
    if (machine != NULL)
        json_object_set_new(o, "machine", json_string(machine->name));
    json_object_set_new(o, key, rows);
    const int status = json_dumpf(o, stdout, JSON_INDENT(2));
    json_decref(o);
    printf("\n");
    return status == 0 ? 0 : EXIT_OURS; /* main() tells why */
}

static json_t *
strings(const char *const *words)
{
    json_t *array = json_array();

    for (; words != NULL && *words != NULL; words++)
        json_array_append_new(array, json_string(*words));
    return array;
}

static json_t *
machine_json(const struct machine_row *m)
{
    json_t *o = json_object();

    json_object_set_new(o, "name", json_string(m->name));
    json_object_set_new(o, "aliases", strings(m->aliases));
    json_object_set_new(o, "title", json_string(m->title));
    json_object_set_new(o, "isas", strings(m->isas));
    json_object_set_new(o, "events", json_integer((json_int_t)m->event_count));
    return o;
}

static int
list_machines(const struct list *l)
{
    json_t *rows = json_array();

    for (size_t i = 0; i < MACHINE_COUNT; i++) {
        const struct machine_row *m = &tally_machines[i];
        if (m->hidden || !matches(l, m->name))
            continue;
        if (l->json)
            json_array_append_new(rows, machine_json(m));
        else
            printf("  %-16s %3zu events  %s\n", m->name, m->event_count,
                   m->title);
    }
    if (l->json)
        return print_json("machines", rows, NULL);
    json_decref(rows);
    return 0;
}

static void
set_hex(json_t *o, const char *key, int value)
{
    char text[16];

    if (value < 0)
        return;
    snprintf(text, sizeof(text), "0x%x", (unsigned)value);
    json_object_set_new(o, key, json_string(text));
}

static json_t *
event_json(const struct event_row *e)
{
    json_t *o = json_object();

    json_object_set_new(o, "name", json_string(e->name));
    json_object_set_new(o, "aliases", strings(e->aliases));
    json_object_set_new(o, "unit", json_string(e->unit));
    set_hex(o, "code", e->code);
    set_hex(o, "sl", e->sl);
    set_hex(o, "mask", e->mask);
    json_object_set_new(o, "brief", json_string(e->brief));
    json_object_set_new(o, "reference", json_string(e->reference));
    json_object_set_new(o, "fidelity", json_string(fidelity_name(e->fidelity)));
    if (e->reason != NULL)
        json_object_set_new(o, "reason", json_string(e->reason));
    return o;
}

static bool
event_matches(const struct list *l, const struct event_row *e)
{
    bool match = matches(l, e->name);

    for (const char *const *a = e->aliases; !match && *a != NULL; a++)
        match = matches(l, *a);
    return match;
}

static void
print_event(const struct event_row *e)
{
    char code[16] = "";

    if (e->code >= 0)
        snprintf(code, sizeof(code), "0x%x", (unsigned)e->code);
    printf("  %-24s %-6s %-9s  %s\n", e->name, code,
           e->fidelity == FIDELITY_EXACT ? "exact" : fidelity_name(e->fidelity),
           e->brief);
}

static int
list_events(const struct list *l)
{
    json_t *rows = json_array();
    size_t found = 0;

    for (size_t i = 0; i < MACHINE_COUNT; i++) {
        const struct machine_row *m = &tally_machines[i];
        const char *unit = NULL;
        if (l->machine != NULL ? m != l->machine : m->hidden)
            continue;
        for (size_t k = 0; k < m->event_count; k++) {
            const struct event_row *e = &m->events[k];
            if (!event_matches(l, e))
                continue;
            found++;
            if (l->json) {
                json_t *row = event_json(e);
                if (l->machine == NULL)
                    json_object_set_new(row, "machine", json_string(m->name));
                json_array_append_new(rows, row);
                continue;
            }
            if (unit == NULL || strcmp(unit, e->unit) != 0)
                printf("%s%s, unit %s\n", unit || i ? "\n" : "", m->name,
                       e->unit);
            unit = e->unit;
            print_event(e);
        }
    }
    if (l->json)
        return print_json("events", rows, l->machine);
    json_decref(rows);
    if (found == 0)
        fprintf(stderr, "tally: no event matches '%s'\n", l->pattern);
    return found != 0 ? 0 : 1;
}

static int
list_params(const struct list *l)
{
    json_t *rows = json_array();

    for (size_t i = 0; i < PARAM_COUNT; i++) {
        const struct param_row *p = &tally_params[i];
        if (!matches(l, p->key))
            continue;
        if (!l->json) {
            printf("  %-18s %s\n", p->key, p->brief);
            continue;
        }
        json_t *o = json_object();
        json_object_set_new(o, "name", json_string(p->key));
        json_object_set_new(o, "brief", json_string(p->brief));
        json_array_append_new(rows, o);
    }
    if (l->json)
        return print_json("parameters", rows, NULL);
    json_decref(rows);
    return 0;
}

static int
list_signals(const struct list *l)
{
    json_t *rows = json_array();

    for (size_t i = 0; i < SIGNAL_COUNT; i++) {
        const struct signal_row *s = &tally_signals[i];
        if (!matches(l, s->name))
            continue;
        if (!l->json) {
            printf("  %-24s %s\n", s->name, s->brief);
            continue;
        }
        json_t *o = json_object();
        json_object_set_new(o, "name", json_string(s->name));
        json_object_set_new(o, "brief", json_string(s->brief));
        json_array_append_new(rows, o);
    }
    if (l->json)
        return print_json("signals", rows, NULL);
    json_decref(rows);
    return 0;
}

static const struct {
    const char *name;
    int (*run)(const struct list *list);
} kinds[] = {
    {"machines", list_machines},
    {"events", list_events},
    {"parameters", list_params},
    {"signals", list_signals},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static int
take_option(struct list *l, int option, const char *value)
{
    if (option == OPT_MACHINE) {
        l->machine = machine_find(value);
        if (l->machine == NULL)
            machine_unknown(value, &command_log);
        return l->machine != NULL ? 0 : EXIT_USAGE;
    }
    l->json = option == OPT_JSON || strcmp(value, "json") == 0;
    if (l->json || strcmp(value, "text") == 0)
        return 0;
    fprintf(stderr, "tally list: --format takes text or json, not '%s'\n",
            value);
    return EXIT_USAGE;
}

static int
run_list(int argc, char **argv)
{
    struct option_walk walk = {&command_list, argc, argv, 0, NULL};
    struct list list = {0};
    const char *value, *operands[2] = {NULL, NULL};
    size_t count = 0, kind = 0;
    int option;

    for (;;) {
        while ((option = command_option(&walk, &value)) >= 0) {
            const int status = take_option(&list, option, value);
            if (status != 0)
                return status;
        }
        if (option == COMMAND_HELP) {
            command_help(&command_list, stdout);
            return 0;
        }
        if (option == COMMAND_BAD)
            return EXIT_USAGE;
        if (walk.next >= argc)
            break;
        if (count == 2) {
            fprintf(stderr, "tally list: one pattern, not '%s' too\n",
                    argv[walk.next]);
            return EXIT_USAGE;
        }
        operands[count++] = argv[walk.next++];
    }
    while (count > 0 && kind < KINDS && strcmp(operands[0], kinds[kind].name))
        kind++;
    if (count == 0) {
        /* A machine alone means its events. */
        kind = list.machine != NULL ? 1 : 0;
    } else if (kind == KINDS) {
        kind = 1;
        list.pattern = operands[0];
        if (count == 2) {
            fprintf(stderr,
                    "tally list: '%s' is none of machines, events, parameters, "
                    "signals\n",
                    operands[0]);
            return EXIT_USAGE;
        }
    } else {
        list.pattern = operands[1];
    }
    return kinds[kind].run(&list);
}

const struct command command_list = {
    .name = "list",
    .summary = "list machines, their events, parameters and signals",
    .synopsis = "[machines|events|parameters|signals] [-m MACHINE] [PATTERN]",
    .example = "  tally list events -m ultrasparc-t2 miss",
    .options = options,
    .run = run_list,
};
