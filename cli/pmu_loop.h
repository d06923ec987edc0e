/* SPDX-License-Identifier: MIT */
/*
 * Loops of tally-pmu(1): lines from `for` to its `end` are kept, and carried
 * out at the `end`, once for each row of values.
 *
 *     for reg in PCR PIC          for i value in
 *         read $reg = 0               0 0x10
 *     end                             1 0x20
 *                                 do
 *                                     write PMC$i $value
 *                                 end
 */
#ifndef TALLY_CLI_PMU_LOOP_H
#define TALLY_CLI_PMU_LOOP_H

#include "cli/pmu_console.h"

enum {
    PMU_LOOP_DEPTH = 4,     /* loops in each other */
    PMU_LOOP_LINES = 4096,  /* lines of a loop with what is in it */
    PMU_LOOP_STEPS = 16384, /* lines that such a loop carries out */
};

/* Returns whether the line begins a loop, or is one of the loop that is being
 * read. */
bool pmu_loop_takes(const struct pmu_console *c, const char *text);

/* Keeps the line; at the last `end` carries out all, and returns the worst
 * verdict of what was told. */
enum pmu_verdict pmu_loop_line(struct pmu_console *c, const char *text);

/* Tells of a loop without its end, where the lines have ended. */
enum pmu_verdict pmu_loop_finish(struct pmu_console *c);

#endif
