/* SPDX-License-Identifier: MIT */
#include "cli/selected.h"

#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "cli/needs.h"

#define METRIC_EVENTS_MAX 64

/* The words of a command line. */
struct words {
    const struct command *command;
    struct selected *selected;
    const char *metrics; /* the last -M */
    char *events;        /* operands, joined with commas */
};

static int
take_option(void *user, int option, const char *value)
{
    struct words *const w = user;

    if (option == SELECTED_MACHINE)
        return command_machine(value, &w->selected->machine);
    if (option == SELECTED_METRICS || option == SELECTED_GROUP) {
        w->metrics = value;
        return 0;
    }
    return command_json(w->command, value, &w->selected->json);
}

static int
take_event(void *user, char *name)
{
    struct words *const w = user;

    return command_join(&w->events, name) == 0 ? 0 : EXIT_OURS;
}

static bool
same_selection(const struct selection *a, const struct selection *b)
{
    return a->event == b->event && a->umask == b->umask && a->sl == b->sl &&
           a->mask == b->mask && a->instance == b->instance &&
           memcmp(a->values, b->values, sizeof(a->values)) == 0;
}

/* Appends the selections that are not in the list yet. */
static int
add_selections(struct selected *s, const struct selection *rows, size_t count)
{
    struct selection *list =
        reallocarray(s->list, s->count + count + 1, sizeof(*list));

    if (list == NULL)
        return TALLY_ENOMEM;
    s->list = list;
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < s->count && !same_selection(&list[k], &rows[i]))
            k++;
        if (k == s->count)
            list[s->count++] = rows[i];
    }
    return 0;
}

/* Refuses an event that no register selects. `metric` needs the event, or is
 * NULL. */
static int
check_counters(const struct selection *rows, size_t count, const char *metric)
{
    for (size_t i = 0; i < count; i++) {
        const struct machine_row *m = rows[i].machine;
        const struct event_row *e = rows[i].event;
        const char *by = e != NULL ? counted_by(m, e) : NULL;
        if (by == NULL)
            continue;
        return tally_fail(
            &command_log, TALLY_ERULE,
            "%s%s%s%s is counted by %s of %s, %s; tally count -m %s -e %s",
            metric != NULL ? "metric " : "", metric != NULL ? metric : "",
            metric != NULL ? ": " : "", e->name, by, m->name,
            m->native ? "which chooses the counter" : "no counter has it",
            m->name, e->name);
    }
    return 0;
}

/* Appends the events of a metric. */
static int
take_metric(void *user, const struct metric_row *metric, const char *asked)
{
    struct selected *s = user;
    struct selection rows[METRIC_EVENTS_MAX];
    const size_t count =
        metric_events(s->machine, metric, rows, METRIC_EVENTS_MAX);
    const int error = check_counters(rows, count, metric->name);

    (void)asked;
    return error != 0 ? error : add_selections(s, rows, count);
}

/* Appends the events of the command line and of -M. */
static int
select_events(struct selected *s, const struct words *w)
{
    int error = 0;

    if (w->events != NULL)
        error = selection_list_parse(s->machine, w->events, &command_log,
                                     &s->list, &s->count);
    if (error == 0)
        error = check_counters(s->list, s->count, NULL);
    if (error == 0 && w->metrics != NULL)
        error = metric_list_parse(s->machine, w->metrics, &command_log,
                                  take_metric, s);
    return error != 0 ? EXIT_USAGE : 0;
}

/* Returns the machine that "montecito::BACK_END_BUBBLE" names, or NULL. */
static const struct machine_row *
machine_of(const char *events)
{
    const char *colons = events != NULL ? strstr(events, "::") : NULL;
    char name[64];

    if (colons == NULL || (size_t)(colons - events) >= sizeof(name))
        return NULL;
    snprintf(name, sizeof(name), "%.*s", (int)(colons - events), events);
    return machine_find(name);
}

int
selected_run(const struct command *c, int argc, char **argv,
             int (*run)(const struct selected *selected))
{
    struct selected s = {0};
    struct words w = {.command = c, .selected = &s};
    int status = command_read(c, argc, argv, take_option, take_event, &w);

    if (status == COMMAND_HELP)
        command_help(c, stdout);
    if (status == 0 && s.machine == NULL)
        s.machine = machine_of(w.events);
    if (status == 0 && s.machine == NULL) {
        escape_printf(stderr,
                      "tally %s: no machine; -m MACHINE names it, tally list "
                      "machines shows them\n",
                      c->name);
        status = EXIT_USAGE;
    } else if (status == 0 && w.events == NULL && w.metrics == NULL) {
        escape_printf(stderr, "tally %s: no event; see tally %s --help\n",
                      c->name, c->name);
        status = EXIT_USAGE;
    }
    if (status == 0)
        status = select_events(&s, &w);
    if (status == 0)
        status = run(&s);
    free(w.events);
    free(s.list);
    return status == COMMAND_HELP ? 0 : status;
}

void
selection_set(json_t *o, const struct selection *s)
{
    const struct umask_row *u = s->umask;
    char text[SELECTION_TEXT], value[16];

    json_object_set_new(o, "event",
                        s->event != NULL ? json_string(s->event->name)
                                         : json_null());
    if (u != NULL) {
        const bool named = u->name[0] != '\0' && (!s->event->umask_bits ||
                                                  u->value == s->umask_value);
        snprintf(value, sizeof(value), "0x%x", s->umask_value);
        json_object_set_new(o, "umask", json_string(named ? u->name : value));
    }
    selection_text(s, text, sizeof(text));
    json_object_set_new(o, "selection", json_string(text));
}

json_t *
writes_json(const struct machine_row *machine, const struct write_list *writes)
{
    json_t *rows = json_array();

    for (size_t i = 0; i < writes->count; i++) {
        const struct reg_write *w = &writes->rows[i];
        const struct register_row *reg = &machine->registers[w->reg];
        json_t *row = json_object();
        char value[24];
        snprintf(value, sizeof(value), "0x%llx", (unsigned long long)w->value);
        json_object_set_new(row, "register", json_string(reg->name));
        if (reg->number >= 0)
            json_object_set_new(row, "number", json_integer(reg->number));
        json_object_set_new(row, "value", json_string(value));
        json_array_append_new(rows, row);
    }
    return rows;
}

int
json_print(json_t *document)
{
    const int status = json_dumpf(document, stdout, JSON_INDENT(2));

    json_decref(document);
    printf("\n");
    /* main() tells of a stream that cannot be written. */
    return status == 0 || ferror(stdout) ? 0 : command_no_memory();
}
