/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/internal.h"
#include "table/decode.h"
#include "table/metric.h"
#include "table/plan.h"
#include "tally/event.h"

int
tally_event_umask(const struct tally_event *event, size_t index,
                  struct tally_umask *umask)
{
    const struct event_row *row = event_row(event);

    if (index >= row->umask_count)
        return TALLY_ERANGE;
    *umask = (struct tally_umask){
        .name = row->umasks[index].name,
        .pattern = row->umasks[index].pattern,
        .brief = row->umasks[index].brief,
        .counts = row->umasks[index].counts == UMASK_YES,
    };
    return 0;
}

static void
copy_writes(const struct machine_row *machine, const struct write_list *list,
            struct tally_write *writes, size_t max)
{
    for (size_t i = 0; i < list->count && i < max; i++) {
        const struct register_row *row = &machine->registers[list->rows[i].reg];
        writes[i] = (struct tally_write){
            .name = row->name,
            .number = row->number,
            .value = list->rows[i].value,
        };
    }
}

static int
encode_list(const struct selection *list, size_t count,
            const struct tally_log *log, struct write_list *writes)
{
    const struct selection **all = calloc(count, sizeof(*all));
    struct plan plan = {.rows = calloc(count, sizeof(*plan.rows))};
    char why[512];
    int error = 0;

    if (all == NULL || plan.rows == NULL) {
        error =
            tally_fail(log, TALLY_ENOMEM, "no memory for %zu events", count);
    } else {
        for (size_t i = 0; i < count; i++)
            all[i] = &list[i];
        if (plan_fits(all, count, plan.rows, why, sizeof(why)))
            plan_encode(list, count, &plan, 0, writes);
        else
            error = tally_fail(log, TALLY_ERULE, "%s", why);
    }
    free(all);
    free(plan.rows);
    return error;
}

int
tally_encode(const struct tally_machine *machine, const char *events,
             const struct tally_log *log, struct tally_write *writes,
             size_t max, size_t *count)
{
    const struct machine_row *m = machine_row(machine);
    struct selection *list;
    struct write_list found;
    size_t listed;
    int error = selection_list_parse(m, events, log, &list, &listed);

    if (error != 0)
        return error;
    error = encode_list(list, listed, log, &found);
    free(list);
    if (error != 0)
        return error;
    copy_writes(m, &found, writes, max);
    *count = found.count;
    return 0;
}

struct taking {
    void (*take)(void *user, const struct tally_decoded *decoded);
    void *user;
};

static void
take_field(void *user, const struct field_row *field, uint64_t value)
{
    const struct taking *t = user;
    const struct tally_decoded d = {TALLY_DECODED_FIELD, field->name,
                                    field->brief, value};

    t->take(t->user, &d);
}

static void
take_counter(void *user, const struct counter_row *counter,
             const struct selection *selection, const char *note)
{
    const struct taking *t = user;
    char text[SELECTION_TEXT];
    struct tally_decoded d = {TALLY_DECODED_COUNTER, counter->name, note, 0};

    if (selection != NULL) {
        selection_text(selection, text, sizeof(text));
        d.text = text;
    }
    t->take(t->user, &d);
}

static void
take_warning(void *user, const char *text)
{
    const struct taking *t = user;
    const struct tally_decoded d = {TALLY_DECODED_WARNING, NULL, text, 0};

    t->take(t->user, &d);
}

int
tally_decode(const struct tally_machine *machine, const char *text,
             const struct tally_log *log,
             void (*take)(void *user, const struct tally_decoded *decoded),
             void *user)
{
    const struct machine_row *m = machine_row(machine);
    struct taking taking = {take, user};
    const struct decode_sink findings = {take_field, take_counter, NULL,
                                         &taking};
    const struct decode_sink warnings = {NULL, NULL, take_warning, &taking};
    const struct register_row *row;
    uint64_t value;
    const int error = decode_parse(m, text, log, &row, &value);

    if (error != 0)
        return error;
    decode_register(m, row, value, &findings);
    decode_register(m, row, value, &warnings);
    return 0;
}

struct tally_plan {
    struct plan plan;
    struct plan_clashes clashes;
    const struct machine_row *machine;
    struct selection *list;
    size_t count;
    char (*texts)[SELECTION_TEXT];
};

static int
plan_texts(struct tally_plan *p, const struct tally_log *log)
{
    p->texts = calloc(p->count, sizeof(*p->texts));
    if (p->texts == NULL)
        return tally_fail(log, TALLY_ENOMEM, "no memory for %zu events",
                          p->count);
    for (size_t i = 0; i < p->count; i++)
        selection_text(&p->list[i], p->texts[i], sizeof(p->texts[i]));
    return 0;
}

int
tally_plan_create(const struct tally_machine *machine, const char *events,
                  const struct tally_log *log, struct tally_plan **plan)
{
    struct tally_plan *p = calloc(1, sizeof(*p));

    if (p == NULL)
        return tally_fail(log, TALLY_ENOMEM, "no memory for a plan");
    p->machine = machine_row(machine);
    int error =
        selection_list_parse(p->machine, events, log, &p->list, &p->count);
    if (error == 0)
        error = plan_make(p->list, p->count, log, &p->plan);
    if (error == 0)
        error = plan_clashes(p->list, p->count, log, &p->clashes);
    if (error == 0)
        error = plan_texts(p, log);
    if (error != 0) {
        tally_plan_destroy(p);
        return error;
    }
    *plan = p;
    return 0;
}

void
tally_plan_destroy(struct tally_plan *p)
{
    if (p == NULL)
        return;
    plan_finish(&p->plan);
    plan_clashes_finish(&p->clashes);
    free(p->list);
    free(p->texts);
    free(p);
}

size_t
tally_plan_group_count(const struct tally_plan *plan)
{
    return plan->plan.group_count;
}

int
tally_plan_event(const struct tally_plan *p, size_t index,
                 struct tally_planned *planned)
{
    if (index >= p->count)
        return TALLY_ERANGE;
    const struct plan_row *row = &p->plan.rows[index];
    *planned = (struct tally_planned){
        .event = p->texts[index],
        .counter = p->machine->counters[row->counter].name,
        .group = row->group,
    };
    return 0;
}

int
tally_plan_clash(const struct tally_plan *p, size_t index,
                 struct tally_clash *clash)
{
    if (index >= p->clashes.count)
        return TALLY_ERANGE;
    const struct plan_clash *row = &p->clashes.rows[index];
    *clash = (struct tally_clash){.a = row->a, .b = row->b, .why = row->why};
    return 0;
}

static const struct metric_row *
metric_row(const struct tally_metric *metric)
{
    return (const struct metric_row *)metric;
}

const struct tally_metric *
tally_metric_find(const struct tally_machine *machine, const char *name)
{
    return (const struct tally_metric *)metric_find(machine_row(machine), name);
}

const struct tally_metric *
tally_metric_next(const struct tally_machine *machine,
                  const struct tally_metric *metric)
{
    const struct machine_row *m = machine_row(machine);
    const size_t next =
        metric ? (size_t)(metric_row(metric) - m->metrics) + 1 : 0;

    return next < m->metric_count
               ? (const struct tally_metric *)&m->metrics[next]
               : NULL;
}

const char *
tally_metric_name(const struct tally_metric *metric)
{
    return metric_row(metric)->name;
}

const char *
tally_metric_brief(const struct tally_metric *metric)
{
    return metric_row(metric)->brief;
}

const char *
tally_metric_formula(const struct tally_metric *metric)
{
    return metric_row(metric)->formula;
}

const char *
tally_metric_unit(const struct tally_metric *metric)
{
    return metric_row(metric)->unit;
}

struct asking {
    const struct machine_row *machine;
    double (*value_of)(void *user, const char *name);
    void *user;
};

static double
ask_count(void *user, const struct formula_step *step)
{
    const struct asking *a = user;
    char text[SELECTION_TEXT];
    struct selection s =
        selection_of(a->machine, &a->machine->events[step->row], step->umask);

    s.given = 0;
    selection_text(&s, text, sizeof(text));
    return a->value_of(a->user, text);
}

static double
ask_input(void *user, size_t input)
{
    const struct asking *a = user;
    char text[SELECTION_TEXT];

    snprintf(text, sizeof(text), "$%s", a->machine->inputs[input].name);
    return a->value_of(a->user, text);
}

double
tally_metric_value(const struct tally_machine *machine,
                   const struct tally_metric *metric,
                   double (*value_of)(void *user, const char *name), void *user)
{
    struct asking a = {machine_row(machine), value_of, user};

    return metric_value(metric_row(metric), ask_count, ask_input, &a);
}
