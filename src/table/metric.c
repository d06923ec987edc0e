/* SPDX-License-Identifier: MIT */
#include "table/metric.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "table/generic.h"
#include "table/near.h"
#include "table/software.h"
#include "table/text.h"
#include "table/umask.h"

static double
combine(enum formula_kind kind, double a, double b)
{
    switch (kind) {
    case FORMULA_ADD:
        return a + b;
    case FORMULA_SUBTRACT:
        return a - b;
    case FORMULA_MULTIPLY:
        return a * b;
    case FORMULA_DIVIDE:
        return b != 0 ? a / b : (double)NAN;
    default:
        assert(!"no binary operator");
        return (double)NAN;
    }
}

double
metric_value(const struct metric_row *metric, metric_count_fn count,
             metric_input_fn input, void *user)
{
    double stack[METRIC_DEPTH];
    size_t depth = 0;

    for (size_t i = 0; i < metric->step_count; i++) {
        const struct formula_step *s = &metric->steps[i];
        assert(depth < METRIC_DEPTH);
        if (s->kind == FORMULA_NUMBER)
            stack[depth++] = s->number;
        else if (s->kind == FORMULA_EVENT)
            stack[depth++] = count(user, s);
        else if (s->kind == FORMULA_INPUT)
            stack[depth++] = input(user, s->row);
        else if (s->kind == FORMULA_NEGATE)
            stack[depth - 1] = -stack[depth - 1];
        else {
            depth--;
            stack[depth - 1] = combine(s->kind, stack[depth - 1], stack[depth]);
        }
    }
    assert(depth == 1);
    return stack[0];
}

size_t
metric_events(const struct machine_row *machine,
              const struct metric_row *metric, struct selection *selections,
              size_t max)
{
    size_t count = 0;

    for (size_t i = 0; i < metric->step_count; i++) {
        const struct formula_step *s = &metric->steps[i];
        bool known = s->kind != FORMULA_EVENT;
        for (size_t k = 0; k < i && !known; k++)
            known = metric->steps[k].kind == FORMULA_EVENT &&
                    metric->steps[k].row == s->row &&
                    metric->steps[k].umask == s->umask;
        if (known)
            continue;
        if (count < max)
            selections[count] =
                selection_of(machine, &machine->events[s->row], s->umask);
        count++;
    }
    return count < max ? count : max;
}

const struct event_row *
metric_counted(const struct machine_row *machine,
               const struct formula_step *step)
{
    const struct event_row *event = &machine->events[step->row];

    return umask_counted(machine, event,
                         step->umask < 0 ? NULL : &event->umasks[step->umask]);
}

uint64_t
metric_inputs(const struct metric_row *metric)
{
    uint64_t bits = 0;

    for (size_t i = 0; i < metric->step_count; i++)
        if (metric->steps[i].kind == FORMULA_INPUT)
            bits |= UINT64_C(1) << metric->steps[i].row;
    return bits;
}

/* Returns whether an event of the machine or of the kernel has the name; a
 * number or a code is no name. */
static bool
is_event(const struct machine_row *machine, const char *name)
{
    return !(name[0] >= '0' && name[0] <= '9') &&
           (event_find(machine, name) != NULL || generic_find(name) >= 0 ||
            software_find(name) != NULL);
}

int
metric_unknown(const struct machine_row *machine, const char *name,
               const struct tally_log *log)
{
    const struct shown word = shown(name, strlen(name));
    char text[256];
    struct near n;
    const int lacking = generic_metric_lacking(machine, name, log);

    if (lacking != 0)
        return lacking;
    if (is_event(machine, name))
        return tally_fail(log, TALLY_EUNKNOWN,
                          "'%s' is an event: name it without -M (tally count "
                          "-e %s)",
                          word.text, word.text);
    if (machine->metric_count == 0)
        return tally_fail(log, TALLY_EUNKNOWN, "%s has no metrics",
                          machine->name);
    near_init(&n, name, 3);
    for (size_t i = 0; i < machine->metric_count; i++)
        near_add(&n, machine->metrics[i].name, machine->metrics[i].aliases);
    near_text(&n, text, sizeof(text));
    if (text[0] != '\0')
        return tally_fail(log, TALLY_EUNKNOWN,
                          "unknown metric '%s' on %s: did you mean %s?",
                          word.text, machine->name, text);
    return tally_fail(log, TALLY_EUNKNOWN,
                      "unknown metric '%s' on %s; tally list metrics -m %s "
                      "shows them",
                      word.text, machine->name, machine->name);
}

/* Finds each metric of the list; `lacking`: a generic metric that the machine
 * lacks is one. */
static int
read_list(const struct machine_row *machine, const char *text, bool lacking,
          const struct tally_log *log, metric_take_fn take, void *user)
{
    char name[128];

    for (;; text++) {
        const size_t length = strcspn(text, ",");
        if (length == 0)
            return tally_fail(log, TALLY_ESYNTAX,
                              "a metric's name is missing in the list");
        snprintf(name, sizeof(name), "%.*s",
                 (int)(length < sizeof(name) ? length : sizeof(name) - 1),
                 text);
        const struct metric_row *metric =
            length < sizeof(name) ? metric_find(machine, name) : NULL;
        if (metric == NULL && lacking)
            metric = generic_lacking_metric(machine, name);
        if (metric == NULL)
            return metric_unknown(machine, name, log);
        const int error = take(user, metric, name);
        if (error != 0)
            return error;
        text += length;
        if (*text == '\0')
            return 0;
    }
}

int
metric_list_parse(const struct machine_row *machine, const char *text,
                  const struct tally_log *log, metric_take_fn take, void *user)
{
    return read_list(machine, text, false, log, take, user);
}

int
metric_list_wanted(const struct machine_row *machine, const char *text,
                   const struct tally_log *log, metric_take_fn take, void *user)
{
    return read_list(machine, text, true, log, take, user);
}
