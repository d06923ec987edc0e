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

/*
 * Writes them as the profiler reads pairs, "A,B;C": each event beside the next
 * of the list that fits. 0 and their number, or an error, logged: an event that
 * is none, or that no counter counts. `all`: one that none counts is left out.
 */
int
profile_pairs(const struct machine_row *machine, const char *events, bool all,
              const struct tally_log *log, FILE *out, size_t *count);

/* Bits of the machine's counters. */
unsigned profile_counter_bits(const struct machine_row *machine);

#endif
