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

static size_t
coded_columns(const struct machine_row *m,
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

static int
compare_rows(const void *a, const void *b)
{
    const struct event_row *const *x = a, *const *y = b;

    return (*x > *y) - (*x < *y);
}

static size_t
counted_columns(const struct summary *s,
                const struct event_row *columns[SUMMARY_COLUMNS])
{
    size_t count = 0;

    for (size_t c = 0; c < s->cell_count; c++)
        for (size_t i = 0; i < s->cells[c]->event_count; i++) {
            const struct event_row *const e = s->cells[c]->events[i].event;
            bool known = e == NULL || count == SUMMARY_COLUMNS;
            for (size_t k = 0; k < count && !known; k++)
                known = columns[k] == e;
            if (!known)
                columns[count++] = e;
        }
    qsort(columns, count, sizeof(*columns), compare_rows);
    return count;
}

size_t
summary_columns(const struct summary *s,
                const struct event_row *columns[SUMMARY_COLUMNS])
{
    const enum family_id family = s->machine->family;

    return family == FAMILY_NIAGARA1 || family == FAMILY_NIAGARA2
               ? coded_columns(s->machine, columns)
               : counted_columns(s, columns);
}
