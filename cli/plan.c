/* SPDX-License-Identifier: MIT */
/* tally plan: which events count together, on which counters, and why not. */
#include <stdlib.h>
#include <string.h>

#include "cli/selected.h"

#define CLASHES_SHOWN 10

static const struct option_row options[] = {SELECTED_OPTIONS, {0}};

/* Lists the events of a group in the order of their counters; returns how many.
 */
static size_t
members(const struct selected *s, const struct plan *plan, size_t group,
        size_t *list)
{
    size_t count = 0;

    for (size_t c = 0; c < s->machine->counter_count; c++)
        for (size_t i = 0; i < s->count; i++)
            if (plan->rows[i].group == group && plan->rows[i].counter == c)
                list[count++] = i;
    return count;
}

/* Prints the groups, and why several are needed. */
static void
print_text(const struct selected *s, const struct plan *plan,
           const struct plan_clashes *clashes, size_t *list)
{
    printf("%s: %zu event%s in %zu group%s\n", s->machine->name, s->count,
           s->count == 1 ? "" : "s", plan->group_count,
           plan->group_count == 1 ? "" : "s");
    for (size_t g = 0; g < plan->group_count; g++) {
        const size_t count = members(s, plan, g, list);
        printf("\ngroup %zu\n", g + 1);
        for (size_t i = 0; i < count; i++) {
            char text[SELECTION_TEXT];
            selection_text(&s->list[list[i]], text, sizeof(text));
            printf("  %-10s %s\n",
                   s->machine->counters[plan->rows[list[i]].counter].name,
                   text);
        }
    }
    if (plan->group_count < 2)
        return;
    printf("\nwhy not together\n");
    for (size_t i = 0; i < clashes->count && i < CLASHES_SHOWN; i++)
        printf("  %s\n", clashes->rows[i].why);
    if (clashes->count > CLASHES_SHOWN)
        printf("  and %zu more pairs\n", clashes->count - CLASHES_SHOWN);
    if (clashes->count == 0)
        printf("  any two fit; all of them need more counters than %s has\n",
               s->machine->name);
}

/* Returns the events and writes of a group. */
static json_t *
group_json(const struct selected *s, const struct plan *plan, size_t group,
           size_t *list)
{
    struct write_list writes;
    const size_t count = members(s, plan, group, list);
    json_t *o = json_object(), *rows = json_array();

    for (size_t i = 0; i < count; i++) {
        json_t *row = json_object();
        selection_set(row, &s->list[list[i]]);
        json_object_set_new(
            row, "counter",
            json_string(
                s->machine->counters[plan->rows[list[i]].counter].name));
        json_array_append_new(rows, row);
    }
    plan_encode(s->list, s->count, plan, group, &writes);
    json_object_set_new(o, "events", rows);
    json_object_set_new(o, "writes", writes_json(s->machine, &writes));
    return o;
}

/* Prints the groups, and why several are needed, as JSON. */
static int
print_json(const struct selected *s, const struct plan *plan,
           const struct plan_clashes *clashes, size_t *list)
{
    json_t *o = json_object(), *groups = json_array(), *pairs = json_array();

    json_object_set_new(o, "schema", json_integer(1));
    json_object_set_new(o, "machine", json_string(s->machine->name));
    for (size_t g = 0; g < plan->group_count; g++)
        json_array_append_new(groups, group_json(s, plan, g, list));
    for (size_t i = 0; i < clashes->count && i < CLASHES_SHOWN; i++) {
        const struct plan_clash *c = &clashes->rows[i];
        char a[SELECTION_TEXT], b[SELECTION_TEXT];
        selection_text(&s->list[c->a], a, sizeof(a));
        selection_text(&s->list[c->b], b, sizeof(b));
        json_array_append_new(
            pairs, json_pack("{s[ss]ss}", "selections", a, b, "why", c->why));
    }
    json_object_set_new(o, "groups", groups);
    json_object_set_new(o, "clashes", pairs);
    return json_print(o);
}

/* Plans and prints; returns an exit status. */
static int
make_plan(const struct selected *s)
{
    struct plan_clashes clashes = {0};
    struct plan plan;
    size_t *list = calloc(s->count, sizeof(*list));
    int status = 0;

    if (list == NULL) {
        return command_no_memory();
    }
    if (plan_make(s->list, s->count, &command_log, &plan) != 0) {
        free(list);
        return EXIT_USAGE;
    }
    if (plan_clashes(s->list, s->count, &command_log, &clashes) != 0)
        status = EXIT_OURS;
    else if (s->json)
        status = print_json(s, &plan, &clashes, list);
    else
        print_text(s, &plan, &clashes, list);
    plan_clashes_finish(&clashes);
    plan_finish(&plan);
    free(list);
    return status;
}

static int
run_plan(int argc, char **argv)
{
    return selected_run(&command_plan, argc, argv, make_plan);
}

const struct command command_plan = {
    .name = "plan",
    .summary = "say which events count together, in the fewest groups",
    .synopsis = "-m MACHINE [-M METRICS] EVENT...",
    .example =
        "  # Divide events into runs that the machine's counters can take.\n"
        "  tally plan -m montecito L1D_READS_SET0 L1D_READS_SET1 L2D_MISSES\n"
        "  # The same for the events of a metric.\n"
        "  tally plan -m r10000 -M loads_per_store",
    .options = options,
    .run = run_plan,
};
