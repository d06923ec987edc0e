/* SPDX-License-Identifier: MIT */
#include "cli/profile_pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "profile/hardware.h"

/* How many turns the counters take for these. */
static int
turns_of(const struct machine_row *machine, const struct event_row *const *list,
         size_t count, const struct tally_log *log, size_t *turns)
{
    struct hardware hardware = {0};
    const int error = hardware_init(&hardware, machine, list, count, log);

    if (error == 0)
        *turns = hardware.turn_count;
    hardware_finish(&hardware);
    return error;
}

static bool
fit(const struct machine_row *machine, const struct event_row *a,
    const struct event_row *b)
{
    const struct event_row *const both[] = {a, b};
    size_t turns = 0;

    return turns_of(machine, both, 2, NULL, &turns) == 0 && turns == 1;
}

/* The event that a T1 counts always. */
static const struct event_row *
always(const struct machine_row *machine)
{
    return machine->family == FAMILY_NIAGARA1 ? event_find(machine, "instr_cnt")
                                              : NULL;
}

/* Those that no counter has go; if they may not, the first is told. */
static int
keep_countable(const struct machine_row *machine, bool all,
               const struct tally_log *log, const struct event_row **list,
               size_t *count)
{
    size_t kept = 0;

    for (size_t i = 0; i < *count; i++) {
        size_t turns;
        const int error =
            turns_of(machine, &list[i], 1, all ? NULL : log, &turns);
        if (error != 0 && (!all || error != TALLY_ERULE))
            return error;
        if (error == 0)
            list[kept++] = list[i];
    }
    *count = kept;
    return 0;
}

static size_t
write_pairs(const struct machine_row *machine, const struct event_row **list,
            size_t count, FILE *out)
{
    const struct event_row *const first = always(machine);
    size_t pairs = 0;

    for (size_t i = 0; i < count; i++) {
        const struct event_row *a = list[i], *b = NULL;
        if (a == NULL || (a == first && count > 1))
            continue;
        if (first != NULL && a != first) { /* beside it each time */
            b = a;
            a = first;
        }
        for (size_t k = i + 1; k < count && b == NULL && first == NULL; k++) {
            if (list[k] == NULL || !fit(machine, a, list[k]))
                continue;
            b = list[k];
            list[k] = NULL;
        }
        fprintf(out, "%s%s%s%s", pairs++ > 0 ? ";" : "", a->name,
                b != NULL ? "," : "", b != NULL ? b->name : "");
    }
    return pairs;
}

int
profile_pairs(const struct machine_row *machine, const char *events, bool all,
              const struct tally_log *log, FILE *out, size_t *count)
{
    const struct event_row **list;
    size_t length;
    int error = event_list_parse(machine, events, log, &list, &length);

    if (error != 0)
        return error;
    error = keep_countable(machine, all, log, list, &length);
    if (error == 0)
        *count = write_pairs(machine, list, length, out);
    free(list);
    return error;
}

unsigned
profile_counter_bits(const struct machine_row *machine)
{
    return machine->counters[0].bits;
}
