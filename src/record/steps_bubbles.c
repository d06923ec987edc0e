/* SPDX-License-Identifier: MIT */
/*
 * The steps of blocks of code: the cycles of each, by the lines of the
 * machine's accounting that have no parts. What an instruction adds to the
 * totals makes a difference to each line: the differences of all steps add up
 * to the lines of the whole part of the run.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/session.h"
#include "record/steps_writing.h"
#include "report/json_text.h"
#include "table/metric.h"
#include "table/signals.h"

/* Less than this of a cycle is what rounding leaves. */
#define CYCLES_LEAST 1e-6

struct counting {
    const struct steps_writing *w;
    struct totals raw;     /* of what came so far, */
    struct totals derived; /* with the derived signals */
    double *lines;         /* [account_count] values of the accounting */
    size_t *causes;        /* [cause_count] lines that have no parts */
    size_t cause_count;
};

static double
event_count(void *user, const struct formula_step *step)
{
    const struct counting *const c = user;
    const struct event_row *const event =
        metric_counted(c->w->r->machine, step);

    return event != NULL ? (double)event_value(event, &c->derived)
                         : (double)NAN;
}

static double
no_input(void *user, size_t input)
{
    (void)user, (void)input;
    return (double)NAN;
}

/* Returns whether a line of the accounting is of cycles, and has no parts. */
static bool
is_cause(const struct machine_row *machine, size_t line)
{
    if (strcmp(machine->accounts[line].value.unit, "cycles") != 0)
        return false;
    for (size_t i = line + 1; i < machine->account_count; i++) {
        if (machine->accounts[i].parent == (int)line &&
            strcmp(machine->accounts[i].value.unit, "cycles") == 0)
            return false;
    }
    /* Of several trees of cycles the first one is all cycles. */
    size_t root = line;
    while (machine->accounts[root].parent >= 0)
        root = (size_t)machine->accounts[root].parent;
    return root == 0;
}

static bool
begin(const struct steps_writing *w, struct counting *c)
{
    const struct machine_row *const machine = w->r->machine;

    memset(c, 0, sizeof(*c));
    c->w = w;
    c->lines = calloc(machine->account_count + 1, sizeof(*c->lines));
    c->causes = calloc(machine->account_count + 1, sizeof(*c->causes));
    if (c->lines == NULL || c->causes == NULL)
        return false;
    for (size_t i = 0; i < machine->account_count; i++) {
        if (is_cause(machine, i))
            c->causes[c->cause_count++] = i;
    }
    return true;
}

static void
finish(struct counting *c)
{
    free(c->lines);
    free(c->causes);
}

json_t *
steps_bubbles_head(const struct steps_writing *w)
{
    json_t *const array = json_array();
    struct counting c;

    if (begin(w, &c)) {
        for (size_t i = 0; i < c.cause_count; i++) {
            const struct metric_row *const value =
                &w->r->machine->accounts[c.causes[i]].value;
            json_array_append_new(array,
                                  json_pack("{s:s, s:s}", "name", value->brief,
                                            "formula", value->formula));
        }
    }
    finish(&c);
    return array;
}

/* Adds the cycles that came with the last gains to the parts of a step. Returns
 * how many there are. */
static double
add_parts(struct counting *c, uint32_t instruction, json_t *parts)
{
    const struct steps_report *const r = c->w->r;
    double all = 0;

    c->derived = c->raw;
    signals_derive(r->params, r->components, c->derived.signal);
    for (size_t i = 0; i < c->cause_count; i++) {
        const double value =
            metric_value(&r->machine->accounts[c->causes[i]].value, event_count,
                         no_input, c);
        const double more = isnan(value) ? 0 : value - c->lines[i];
        c->lines[i] += more;
        all += more;
        if (fabs(more) < CYCLES_LEAST)
            continue;
        json_array_append_new(parts, json_pack("{s:o, s:o, s:f}", "instruction",
                                               report_json_number(instruction),
                                               "cause", report_json_number(i),
                                               "cycles", more));
    }
    return all;
}

static json_t *
block_json(struct counting *c, const struct run_step *step)
{
    const uint64_t *const words = &c->w->s->words[step->word];
    json_t *const o = steps_row(c->w, step), *const parts = json_array();
    double all = 0;

    for (uint32_t i = 0; i < step->word_count; i++) {
        const uint32_t instruction = STEP_GAIN_INSTRUCTION(words[i]);
        c->raw.signal[STEP_GAIN_SIGNAL(words[i])] +=
            (uint64_t)(int64_t)STEP_GAIN_GAIN(words[i]);
        if (i + 1 == step->word_count ||
            STEP_GAIN_INSTRUCTION(words[i + 1]) != instruction)
            all += add_parts(c, instruction, parts);
    }
    json_object_set_new(o, "instructions", report_json_number(step->size));
    json_object_set_new(o, "cycles", json_real(all));
    json_object_set_new(o, "parts", parts);
    return o;
}

json_t *
steps_bubbles(const struct steps_writing *w)
{
    const uint32_t count = atomic_load(&w->s->count);
    json_t *const array = json_array();
    struct counting *const c = malloc(sizeof(*c));

    if (c == NULL || !begin(w, c)) {
        json_decref(array);
        free(c);
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(array, block_json(c, &w->s->steps[i]));
    finish(c);
    free(c);
    return array;
}
