/* SPDX-License-Identifier: MIT */
#include "cli/run_table.h"

#include <stdlib.h>

#include "cli/command.h"

int
run_table_add(struct run_table *table, double wall_s,
              const struct count_value *values, size_t value_count)
{
    struct count_run *runs =
        reallocarray(table->runs, table->count + 1, sizeof(*runs));
    uint64_t *copy = calloc(value_count + 1, sizeof(*copy));

    if (runs != NULL)
        table->runs = runs;
    if (runs == NULL || copy == NULL) {
        free(copy);
        return tally_fail(&command_log, TALLY_ENOMEM, "no memory for --table");
    }
    for (size_t i = 0; i < value_count; i++)
        copy[i] = values[i].counted ? values[i].value : COUNT_NONE;
    runs[table->count++] = (struct count_run){wall_s, copy};
    return 0;
}

void
run_table_finish(struct run_table *table)
{
    for (unsigned i = 0; i < table->count; i++)
        free((uint64_t *)table->runs[i].values);
    free(table->runs);
    *table = (struct run_table){0};
}
