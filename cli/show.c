/* SPDX-License-Identifier: MIT */
/* tally show: one machine or one event in full. */
#include <string.h>

#include "cli/command.h"
#include "source/host.h"
#include "table/table.h"

enum { OPT_MACHINE };

static const struct option_row options[] = {
    [OPT_MACHINE] = {'m', "machine", "MACHINE",
                     "the machine whose event to show"},
    {0},
};

static void
show_machine(const struct machine_row *m)
{
    uint64_t params[PARAM_COUNT];
    bool known[PARAM_COUNT] = {false};

    for (size_t i = 0; m->params != NULL && i < PARAM_COUNT; i++)
        params[i] = m->params[i].value;
    if (strcmp(m->name, "host-model") == 0)
        host_params(params, known);
    printf("%s: %s\n\n%s\n\nsource: %s\n\n", m->name, m->title, m->brief,
           m->source);
    for (size_t i = 0; m->params != NULL && i < PARAM_COUNT; i++) {
        char value[64];
        param_text((int)i, params[i], value, sizeof(value));
        printf("  %-18s %-14s %s\n  %-18s %-14s   %s\n", tally_params[i].key,
               value, tally_params[i].brief, "", "",
               known[i] ? "read from this host" : m->params[i].source);
    }
    printf("\n%zu events: tally list events -m %s\n", m->event_count, m->name);
}

static void
show_event(const struct machine_row *m, const struct event_row *e)
{
    printf("%s, an event of %s, unit %s\n\n  %s\n\n", e->name, m->name, e->unit,
           e->brief);
    printf("  counts     %s\n", e->counts);
    if (e->code >= 0)
        printf("  code       0x%x", (unsigned)e->code);
    if (e->sl >= 0)
        printf(" (sl 0x%x, mask 0x%02x)", (unsigned)e->sl, (unsigned)e->mask);
    if (e->code >= 0)
        printf("\n");
    printf("  standing   %s%s%s\n", fidelity_name(e->fidelity),
           e->reason ? ": " : "", e->reason ? e->reason : "");
    for (size_t i = 0; i < e->signal_count; i++)
        printf("  %-10s %s: %s\n", i ? "" : "sums",
               tally_signals[e->signals[i]].name,
               tally_signals[e->signals[i]].brief);
    for (const char *const *a = e->aliases; *a != NULL; a++)
        printf("  %-10s %s\n", a == e->aliases ? "also" : "", *a);
    printf("  reference  %s\n", e->reference);
}

static int
unknown_name(const char *name)
{
    const char *names[1024];
    size_t count = 0;
    char near[192];

    for (size_t i = 0; i < MACHINE_COUNT; i++) {
        const struct machine_row *m = &tally_machines[i];
        if (m->hidden)
            continue;
        names[count++] = m->name;
        for (size_t k = 0; k < m->event_count && count < 1023; k++)
            names[count++] = m->events[k].name;
    }
    near_names(name, names, count, 3, near, sizeof(near));
    fprintf(stderr, "tally: no machine or event '%.64s'%s%s%s\n", name,
            *near ? "; did you mean " : "; tally list shows them", near,
            *near ? "?" : "");
    return EXIT_USAGE;
}

static int
show_name(const char *name, const struct machine_row *only)
{
    const struct machine_row *machine = only ? NULL : machine_find(name);
    size_t found = 0;

    if (machine != NULL) {
        show_machine(machine);
        return 0;
    }
    for (size_t i = 0; i < MACHINE_COUNT; i++) {
        const struct machine_row *m = &tally_machines[i];
        const struct event_row *e =
            (only ? m == only : !m->hidden) ? event_find(m, name) : NULL;
        if (e == NULL)
            continue;
        if (found++ > 0)
            printf("\n");
        show_event(m, e);
    }
    if (found > 0)
        return 0;
    if (only == NULL)
        return unknown_name(name);
    event_unknown(only, name, &command_log);
    return EXIT_USAGE;
}

static int
run_show(int argc, char **argv)
{
    struct option_walk walk = {&command_show, argc, argv, 0, NULL};
    const struct machine_row *machine = NULL;
    const char *value, *name = NULL;
    int option;

    for (;;) {
        while ((option = command_option(&walk, &value)) >= 0) {
            machine = machine_find(value);
            if (machine == NULL) {
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
        if (name != NULL) {
            fprintf(stderr, "tally show: one name, not '%s' too\n",
                    argv[walk.next]);
            return EXIT_USAGE;
        }
        name = argv[walk.next++];
    }
    if (name == NULL && machine != NULL) {
        show_machine(machine);
        return 0;
    }
    if (name == NULL) {
        fprintf(stderr, "tally show: no name given; see tally show --help\n");
        return EXIT_USAGE;
    }
    return show_name(name, machine);
}

const struct command command_show = {
    .name = "show",
    .summary = "show one machine or event in full",
    .synopsis = "[-m MACHINE] NAME",
    .example = "  tally show ultrasparc-t2\n  tally show Dcache_misses",
    .options = options,
    .run = run_show,
};
