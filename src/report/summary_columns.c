/* SPDX-License-Identifier: MIT */
#include "report/summary_columns.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *
summary_script_name(const struct event_row *event)
{
    static const char *const names[][2] = {
        {"instr_cnt", "Instr_cnt"},
        {"L2_imiss", "L2_Imiss"},
        {"L2_dmiss_ld", "L2_Dmiss_LD"},
        {"sethi_instr", "Sethi_instr"},
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(event->name, names[i][0]) == 0)
            return names[i][1];
    return event->name;
}

static int
compare_codes(const void *a, const void *b)
{
    const struct event_row *const *x = a, *const *y = b;
    char left[12], right[12];

    snprintf(left, sizeof(left), "%" PRIx32, (uint32_t)(*x)->code);
    snprintf(right, sizeof(right), "%" PRIx32, (uint32_t)(*y)->code);
    return strcmp(left, right);
}

size_t
summary_columns(const struct machine_row *m,
                const struct event_row *columns[SUMMARY_COLUMNS])
{
    size_t count = 0;

    for (size_t i = 0; i < m->event_count && count < SUMMARY_COLUMNS; i++) {
        const struct event_row *e = &m->events[i];
        if (e->code > 0 && strcmp(e->unit, m->units[0].name) == 0)
            columns[count++] = e;
    }
    qsort(columns, count, sizeof(*columns), compare_codes);
    return count;
}
