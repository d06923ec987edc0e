/* SPDX-License-Identifier: MIT */
/* tally list machines, parameters, signals. */
#include <string.h>

#include "cli/json_rows.h"
#include "cli/list.h"

/* Returns whether the machine is listed. */
static bool
machine_matches(const struct list *l, const struct machine_row *m)
{
    return list_has(l, m) &&
           list_matches_row(l, m->name, m->aliases, m->title, m->brief);
}

/* Prints the machine's name, how many rows it has, and what it is. */
static void
print_machine(struct screen *s, const struct machine_row *m, bool details)
{
    const int used =
        fprintf(s->out, "  %-17s %6zu %5zu %8zu  ", m->name, m->event_count,
                m->register_count, m->metric_count);

    screen_rest(s, (size_t)used, m->title);
    if (!details)
        return;
    fprintf(s->out, "      ");
    screen_prose(s, 6, 6, m->brief);
    if (*m->aliases == NULL)
        return;
    fprintf(s->out, "      also");
    for (const char *const *a = m->aliases; *a != NULL; a++)
        fprintf(s->out, " %s", *a);
    fprintf(s->out, "\n");
}

/* Prints the machines; those with a model first, since programs can be counted
 * on them. */
static size_t
print_machines(struct list *l)
{
    static const char *const headings[] = {
        "Known by their tables; programs cannot be counted on them yet",
        "Programs can be counted on",
    };
    size_t found = 0;

    for (int model = 1; model >= 0; model--) {
        bool headed = false;
        for (size_t i = 0; i < MACHINE_COUNT; i++) {
            const struct machine_row *m = &tally_machines[i];
            if ((m->params != NULL || m->native) != model ||
                !machine_matches(l, m))
                continue;
            if (!headed && found == 0)
                fprintf(l->s->out, "%-26s  regs  metrics\n",
                        "                    events");
            if (!headed)
                screen_heading(l->s, "%s", headings[model]);
            headed = true;
            found++;
            print_machine(l->s, m, l->details);
        }
    }
    return found;
}

size_t
list_machines(struct list *l)
{
    if (!l->json)
        return print_machines(l);
    for (size_t i = 0; i < MACHINE_COUNT; i++)
        if (machine_matches(l, &tally_machines[i]))
            json_array_append_new(l->rows, machine_json(&tally_machines[i]));
    return json_array_size(l->rows);
}

/* Adds a parameter to the JSON. */
static void
param_add(struct list *l, int id)
{
    const struct param_row *p = &tally_params[id];
    json_t *o = json_object();

    json_set_text(o, "name", p->key);
    json_set_text(o, "brief", p->brief);
    if (l->machine != NULL) {
        const struct param_value *v = &l->machine->params[id];
        json_object_set_new(o, "value",
                            p->kind == PARAM_KIND_CHOICE
                                ? json_string(p->choices[v->value])
                                : json_integer((json_int_t)v->value));
        json_set_text(o, "source", v->source);
    }
    json_array_append_new(l->rows, o);
}

size_t
list_params(struct list *l)
{
    size_t found = 0;

    if (l->machine != NULL && l->machine->params == NULL)
        return 0;
    for (int i = 0; i < PARAM_COUNT; i++) {
        const struct param_row *p = &tally_params[i];
        char value[PARAM_TEXT_SIZE] = "";
        if (!list_matches_row(l, p->key, NULL, p->brief, NULL))
            continue;
        found++;
        if (l->json) {
            param_add(l, i);
            continue;
        }
        int used = fprintf(l->s->out, "  %-18s ", p->key);
        if (l->machine != NULL) {
            param_text(i, l->machine->params[i].value, value, sizeof(value));
            used += fprintf(l->s->out, "%-14s ", value);
        }
        screen_rest(l->s, (size_t)used, p->brief);
    }
    return found;
}

/* Returns whether an event of the machine sums the signal. */
static bool
sums_signal(const struct machine_row *m, size_t signal)
{
    for (size_t i = 0; i < m->event_count; i++)
        for (size_t k = 0; k < m->events[i].signal_count; k++)
            if (m->events[i].signals[k] == signal)
                return true;
    return false;
}

size_t
list_signals(struct list *l)
{
    size_t found = 0;

    for (size_t i = 0; i < SIGNAL_COUNT; i++) {
        const struct signal_row *s = &tally_signals[i];
        if (!list_matches_row(l, s->name, NULL, s->brief, NULL) ||
            (l->machine != NULL && !sums_signal(l->machine, i)))
            continue;
        found++;
        if (!l->json) {
            /* One line stands for all copies. */
            char name[64];
            snprintf(name, sizeof(name), "%s", s->name);
            if (s->copies > 0)
                snprintf(name, sizeof(name), "%s..%u", s->name, s->copies - 1u);
            const int used = fprintf(l->s->out, "  %-24s ", name);
            screen_rest(l->s, (size_t)used, s->brief);
            i += s->copies > 0 ? s->copies - 1u : 0;
            continue;
        }
        json_t *o = json_object();
        json_set_text(o, "name", s->name);
        json_set_text(o, "brief", s->brief);
        json_object_set_new(o, "data", json_boolean(s->data));
        json_array_append_new(l->rows, o);
    }
    return found;
}

size_t
list_by_machine(struct list *l, const struct list_kind *kind)
{
    size_t found = 0;
    bool started = false;

    for (size_t i = 0; i < MACHINE_COUNT; i++)
        if (list_has(l, &tally_machines[i]))
            found += kind->matching(l, &tally_machines[i], l->json);
    if (l->json)
        return found;
    for (size_t i = 0; i < MACHINE_COUNT; i++) {
        const struct machine_row *m = &tally_machines[i];
        if (!list_has(l, m) || kind->matching(l, m, false) == 0)
            continue;
        fprintf(l->s->out, "%s", started ? "\n" : "");
        kind->print(l, m, l->details || found <= LIST_FEW);
        started = true;
    }
    return found;
}
