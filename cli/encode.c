/* SPDX-License-Identifier: MIT */
/* tally encode: the register writes that count events together. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "cli/selected.h"

static const struct option_row options[] = {SELECTED_OPTIONS, {0}};

/* Prints "L2_load_misses: from=all (default)" for each modifier that has a
 * field in this register. */
static void
print_modifiers(const struct selected *s, const struct register_row *reg,
                const char *separator)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct selection *one = &s->list[i];
        struct selection plain = *one;
        char text[SELECTION_TEXT];
        plain.given = 0;
        selection_text(&plain, text, sizeof(text));
        for (size_t k = 0; k < s->machine->modifier_count; k++) {
            const struct modifier_row *m = &s->machine->modifiers[k];
            const size_t length = strlen(reg->name);
            if (strncmp(m->field, reg->name, length) != 0 ||
                m->field[length] != '.' || !selection_takes(one, m))
                continue;
            printf("%s%s: %s=", separator, text, m->name);
            if (m->kind == MODIFIER_WORDS)
                printf("%s", m->words[one->values[k]]);
            else
                printf("%u", one->values[k]);
            printf("%s", (one->given >> k & 1) != 0 ? "" : " (default)");
            separator = ", ";
        }
    }
}

/* Returns whether the register chooses the event of the counter that the plan
 * has for the selection, or enables the counter. */
static bool
is_for(const struct selection *one, const struct counter_row *c,
       const struct register_row *reg)
{
    const struct machine_row *m = one->machine;
    const size_t n = m->units[c->unit].instance_count;

    for (size_t k = 0; c->select != NULL && k < (n > 0 ? n : 1); k++)
        if ((one->instance < 0 || (size_t)one->instance == k) &&
            &m->registers[c->select[k]] == reg)
            return true;
    for (size_t i = 0; i < c->fixed_count; i++)
        if (c->fixed[i].reg >= 0 && &m->registers[c->fixed[i].reg] == reg)
            return true;
    return false;
}

/* Prints "PIC0: Completed_branches" for each counter that this register is for.
 */
static void
print_reasons(const struct selected *s, const struct plan *plan,
              const struct register_row *reg)
{
    const char *separator = "   # ";

    for (size_t i = 0; i < s->count; i++) {
        const struct selection *one = &s->list[i];
        const struct counter_row *c =
            &s->machine->counters[plan->rows[i].counter];
        char text[SELECTION_TEXT];
        if (!is_for(one, c, reg))
            continue;
        selection_text(one, text, sizeof(text));
        printf("%s%s: %s", separator, c->name, text);
        separator = ", ";
    }
    print_modifiers(s, reg, separator);
}

/* Prints the writes, and counters that count without one. */
static void
print_text(const struct selected *s, const struct plan *plan,
           const struct write_list *writes)
{
    for (size_t i = 0; i < writes->count; i++) {
        const struct reg_write *w = &writes->rows[i];
        const struct register_row *reg = &s->machine->registers[w->reg];
        printf("%s = 0x%llx", reg->name, (unsigned long long)w->value);
        print_reasons(s, plan, reg);
        printf("\n");
    }
    for (size_t i = 0; i < s->count; i++)
        if (s->machine->counters[plan->rows[i].counter].select == NULL)
            printf("%s counts %s by itself\n",
                   s->machine->counters[plan->rows[i].counter].name,
                   s->list[i].event->name);
}

/* Prints the events with their counters, and the writes, as JSON. */
static int
print_json(const struct selected *s, const struct plan *plan,
           const struct write_list *writes)
{
    json_t *o = json_object(), *rows = json_array();

    for (size_t i = 0; i < s->count; i++) {
        json_t *row = json_object();
        selection_set(row, &s->list[i]);
        json_object_set_new(
            row, "counter",
            json_string(s->machine->counters[plan->rows[i].counter].name));
        json_array_append_new(rows, row);
    }
    json_object_set_new(o, "schema", json_integer(1));
    json_object_set_new(o, "machine", json_string(s->machine->name));
    json_object_set_new(o, "events", rows);
    json_object_set_new(o, "writes", writes_json(s->machine, writes));
    return json_print(o);
}

/* Prints the writes with which the counters count all events together, or says
 * why they cannot. */
static int
encode(const struct selected *s)
{
    struct plan plan = {.rows = calloc(s->count, sizeof(*plan.rows))};
    const struct selection **list = calloc(s->count, sizeof(*list));
    struct plan divided = {0};
    struct write_list writes;
    char why[512];
    int status = EXIT_OURS;

    if (plan.rows == NULL || list == NULL) {
        command_no_memory();
    } else {
        for (size_t i = 0; i < s->count; i++)
            list[i] = &s->list[i];
        if (plan_fits(list, s->count, plan.rows, why, sizeof(why))) {
            plan_encode(s->list, s->count, &plan, 0, &writes);
            status = s->json ? print_json(s, &plan, &writes)
                             : (print_text(s, &plan, &writes), 0);
        } else {
            const bool divides =
                plan_make(s->list, s->count, NULL, &divided) == 0;
            escape_printf(stderr, "tally: %s%s\n", why,
                          divides ? "; tally plan divides them" : "");
            plan_finish(&divided);
            status = EXIT_USAGE;
        }
    }
    free(list);
    free(plan.rows);
    return status;
}

static int
run_encode(int argc, char **argv)
{
    return selected_run(&command_encode, argc, argv, encode);
}

const struct command command_encode = {
    .name = "encode",
    .summary = "say which register writes count events",
    .synopsis = "-m MACHINE [-M METRICS] EVENT[.UMASK][:MODIFIER...]...",
    .example =
        "  # Print the registers that count two events in user mode.\n"
        "  tally encode -m sparc-t4 instructions:u branch-misses:u\n"
        "  # The same with a unit mask, and of lines in two states alone.\n"
        "  tally encode -m montecito CPU_OP_CYCLES.ALL:u "
        "L3_READS.ALL.MISS:mesi=ME",
    .options = options,
    .run = run_encode,
};
