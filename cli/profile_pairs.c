/* SPDX-License-Identifier: MIT */
#include "cli/profile_pairs.h"

#include <string.h>

#include "base/error.h"
#include "profile/hardware.h"
#include "table/generic.h"
#include "table/text.h"

/* Finds how many slices the counters take for the events. */
static int
slices_of(const struct machine_row *machine,
          const struct event_row *const *list, size_t count,
          const struct tally_log *log, size_t *slices)
{
    struct hardware hardware = {0};
    const int error = hardware_init(&hardware, machine, list, count, log);

    if (error == 0)
        *slices = hardware.slice_count;
    hardware_finish(&hardware);
    return error;
}

static bool
fit(const struct machine_row *machine, const struct event_row *a,
    const struct event_row *b)
{
    const struct event_row *const both[] = {a, b};
    size_t slices = 0;

    return slices_of(machine, both, 2, NULL, &slices) == 0 && slices == 1;
}

bool
profile_fixed_find(const struct machine_row *machine,
                   const struct profile_words *words,
                   struct profile_fixed *fixed)
{
    if (machine == NULL || machine->family != FAMILY_NIAGARA1)
        return false;
    fixed->row = event_find(machine, "instr_cnt");
    fixed->word = fixed->row->name;
    for (size_t i = words->count; i-- > 0;)
        if (words->rows[i] == fixed->row)
            fixed->word = words->words[i];
    return true;
}

/* Refuses an event that no counter of the machine counts. */
static int
fail_uncounted(const struct machine_row *machine, const struct event_row *e,
               const char *asked, const struct tally_log *log)
{
    const bool same = same_name(asked, e->name);

    return tally_fail(log, TALLY_ERULE,
                      "no counter of %s counts %s%s%s%s; without --hardware "
                      "the model counts it",
                      machine->name, asked, same ? "" : " (",
                      same ? "" : e->name, same ? "" : ")");
}

/* Checks that a counter counts the event. */
static int
check_counter(const struct machine_row *machine, const struct event_row *e,
              const char *asked, const struct tally_log *log)
{
    size_t slices;
    const int error = slices_of(machine, &e, 1, NULL, &slices);

    if (error == TALLY_ERULE && machine->counter_count > 0 &&
        e->counters == 0 && generic_sum(machine, e) < 0)
        return fail_uncounted(machine, e, asked, log);
    return error == 0 ? 0 : slices_of(machine, &e, 1, log, &slices);
}

/* Sets the rows that no counter counts to NULL; unless `all`, or where no row
 * would be left, the first of them is refused. */
static int
keep_countable(const struct machine_row *machine, bool all,
               const struct tally_log *log, const struct profile_words *words)
{
    const struct event_row *const first = words->rows[0];
    size_t kept = 0;

    for (size_t i = 0; i < words->count; i++) {
        const int error = check_counter(machine, words->rows[i],
                                        words->words[i], all ? NULL : log);
        if (error != 0 && (!all || error != TALLY_ERULE))
            return error;
        if (error != 0)
            words->rows[i] = NULL;
        kept += error == 0;
    }
    return kept > 0 ? 0 : check_counter(machine, first, first->name, log);
}

/* Writes each event beside the fixed one. */
static size_t
write_beside(const struct profile_fixed *fixed,
             const struct profile_words *words, FILE *out)
{
    size_t pairs = 0;

    for (size_t i = 0; i < words->count; i++)
        if (words->rows[i] != NULL && words->rows[i] != fixed->row)
            fprintf(out, "%s%s,%s", pairs++ > 0 ? ";" : "", fixed->word,
                    words->words[i]);
    if (pairs > 0)
        return pairs;
    fputs(fixed->word, out);
    return 1;
}

/* Writes each event beside the next that counters count together with it. */
static size_t
write_pairs(const struct machine_row *machine,
            const struct profile_words *words, FILE *out)
{
    size_t pairs = 0;

    for (size_t i = 0; i < words->count; i++) {
        if (words->rows[i] == NULL)
            continue;
        fprintf(out, "%s%s", pairs++ > 0 ? ";" : "", words->words[i]);
        for (size_t k = i + 1; k < words->count; k++) {
            if (words->rows[k] == NULL ||
                !fit(machine, words->rows[i], words->rows[k]))
                continue;
            fprintf(out, ",%s", words->words[k]);
            words->rows[k] = NULL;
            break;
        }
    }
    return pairs;
}

int
profile_pairs(const struct machine_row *machine,
              const struct profile_words *words, bool all,
              const struct tally_log *log, FILE *out, size_t *count)
{
    struct profile_fixed fixed;
    const int error = keep_countable(machine, all, log, words);

    if (error == 0)
        *count = profile_fixed_find(machine, words, &fixed)
                     ? write_beside(&fixed, words, out)
                     : write_pairs(machine, words, out);
    return error;
}

unsigned
profile_counter_bits(const struct machine_row *machine)
{
    return machine->counters[0].bits;
}
