/* SPDX-License-Identifier: MIT */
/* The steps of conditional branches: the counter that predicted each, the
 * directions before it, the prediction and where the branch went. */
#include "record/steps_writing.h"
#include "report/json_text.h"

/* Directions before a branch that are shown, where its index depends on fewer.
 */
#define HISTORY_SHOWN 16u
#define HISTORY_MOST 64u

static uint64_t
kind_of(const struct steps_writing *w)
{
    return w->r->params[PARAM_BRANCH_PREDICTOR];
}

json_t *
steps_branches_head(const struct steps_writing *w)
{
    const uint64_t *const params = w->r->params;
    const uint64_t kind = kind_of(w);
    const bool has_history =
        kind != BRANCH_PREDICTOR_NOT_TAKEN && kind != BRANCH_PREDICTOR_BIMODAL;
    json_t *const o = json_object();

    json_object_set_new(
        o, "kind",
        json_string(tally_params[PARAM_BRANCH_PREDICTOR].choices[kind]));
    json_object_set_new(o, "entries",
                        report_json_number(params[PARAM_BRANCH_ENTRIES]));
    json_object_set_new(
        o, "history",
        report_json_number(has_history ? params[PARAM_BRANCH_HISTORY] : 0));
    return o;
}

/* Returns directions, the oldest first, T for taken and N for not. */
static json_t *
history_json(const struct steps_writing *w, uint64_t history)
{
    const uint64_t asked = w->r->params[PARAM_BRANCH_HISTORY];
    char text[HISTORY_MOST + 1];
    unsigned count = HISTORY_SHOWN;

    if (kind_of(w) == BRANCH_PREDICTOR_GSHARE && asked > count)
        count = asked < HISTORY_MOST ? (unsigned)asked : HISTORY_MOST;
    for (unsigned i = 0; i < count; i++)
        text[i] = history >> (count - 1 - i) & 1 ? 'T' : 'N';
    text[count] = '\0';
    return json_string(text);
}

/* Returns a counter, a sum or another number that may be negative. */
static json_t *
signed_json(uint64_t word)
{
    return json_integer((json_int_t)(int64_t)word);
}

static void
add_table(const struct steps_writing *w, const uint64_t *words, json_t *o)
{
    const uint64_t kind = kind_of(w);
    const bool tagged = kind == BRANCH_PREDICTOR_TAGE && words[STEP_TABLE] != 0;
    const bool counts = kind != BRANCH_PREDICTOR_PERCEPTRON &&
                        kind != BRANCH_PREDICTOR_NOT_TAKEN;

    json_object_set_new(o, "table", report_json_number(words[STEP_TABLE]));
    json_object_set_new(o, "index", report_json_number(words[STEP_INDEX]));
    json_object_set_new(
        o, "tag", tagged ? report_json_number(words[STEP_TAG]) : json_null());
    json_object_set_new(o, "before",
                        counts ? signed_json(words[STEP_BEFORE]) : json_null());
    json_object_set_new(o, "after",
                        counts ? signed_json(words[STEP_AFTER]) : json_null());
    json_object_set_new(o, "useful_before",
                        tagged ? report_json_number(words[STEP_USEFUL_BEFORE])
                               : json_null());
    json_object_set_new(o, "useful_after",
                        tagged ? report_json_number(words[STEP_USEFUL_AFTER])
                               : json_null());
    const bool sums = kind == BRANCH_PREDICTOR_PERCEPTRON;
    json_object_set_new(o, "sum",
                        sums ? signed_json(words[STEP_BEFORE]) : json_null());
    json_object_set_new(o, "threshold",
                        sums ? report_json_number(words[STEP_THRESHOLD])
                             : json_null());
}

json_t *
steps_branches(const struct steps_writing *w)
{
    const uint32_t count = atomic_load(&w->s->count);
    json_t *const array = json_array();

    for (uint32_t i = 0; i < count; i++) {
        const struct run_step *const step = &w->s->steps[i];
        const uint64_t *const words = &w->s->words[step->word];
        const bool taken = (step->flags & STEP_TAKEN) != 0;
        const bool wrong = (step->flags & STEP_WRONG) != 0;
        json_t *const o = steps_row(w, step);
        json_object_set_new(o, "to", steps_address(w, step->address));
        json_object_set_new(o, "history", history_json(w, words[STEP_HISTORY]));
        add_table(w, words, o);
        json_object_set_new(o, "predicted", json_boolean(taken != wrong));
        json_object_set_new(o, "taken", json_boolean(taken));
        json_object_set_new(o, "wrong", json_boolean(wrong));
        json_array_append_new(array, o);
    }
    return array;
}
