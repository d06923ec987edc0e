/* SPDX-License-Identifier: MIT */
/*
 * Which events of a machine two counters of its own count together, for tally
 * profile --hardware: two at a time, on a T1 one beside instr_cnt, as in the
 * document (Netra DPS, chapter 3).
 */
#ifndef TALLY_CLI_PROFILE_PAIRS_H
#define TALLY_CLI_PROFILE_PAIRS_H

#include <stdio.h>

#include "table/table.h"

/* The events that are asked for. */
struct profile_words {
    char **words; /* owned, each too: the names that they were asked for by */
    const struct event_row **rows; /* owned; NULL: of this host */
    size_t count;
};

/* The event that a T1's PIC.H counts whatever PIC.L does. */
struct profile_fixed {
    const struct event_row *row;
    const char *word; /* the name that it was asked for by, or its own */
};

/* Finds the event beside which all others stand; false: the machine, NULL: this
 * host, has none. */
bool profile_fixed_find(const struct machine_row *machine,
                        const struct profile_words *words,
                        struct profile_fixed *fixed);

/*
 * Writes the events as the profiler reads pairs, "A,B;C": each event beside the
 * next of the list that fits. Returns 0 and the number of pairs, or an error,
 * logged, where no counter counts an event. `all`: an event that no counter
 * counts is left out. Sets rows of written events to NULL.
 */
int profile_pairs(const struct machine_row *machine,
                  const struct profile_words *words, bool all,
                  const struct tally_log *log, FILE *out, size_t *count);

/* Returns how many bits the machine's counters have. */
unsigned profile_counter_bits(const struct machine_row *machine);

#endif
