/* SPDX-License-Identifier: MIT */
/*
 * Two threads of a Montecito's core, of which one owns it (chapter 2, 2.4.1):
 * switches on events of the L3, on a time-out, on a hint, and when a thread
 * halts. Not modelled: prefetches and what a switch costs them, instruction
 * fetches of the thread in the background, what gates a switch but that
 * another is under way.
 *
 * The first part is the machine of urgencies alone, driven event by event. The
 * second drives it from counts: a thread's misses of the L3 and its hints stand
 * at equal distances in what it runs, so that the result follows from the
 * counts and not from how the host ran the threads.
 */
#ifndef TALLY_MACHINE_SWITCH_H
#define TALLY_MACHINE_SWITCH_H

#include <stdbool.h>
#include <stdint.h>

#define SWITCH_NOMINAL 5u   /* urgency */
#define SWITCH_TIMED_OUT 7u /* of a thread that was not stalled then */
#define SWITCH_INTERRUPTED 6u
#define SWITCH_STALLS 11u /* classes: of 4 << n cycles or more */

struct switch_core {
    uint8_t urgency[2];
    bool present[2]; /* has something to run */
    uint8_t front;   /* the thread that owns the core */
};

enum switch_outcome {
    SWITCH_ALONE, /* there is no other thread */
    SWITCH_KEPT,  /* the other is no more urgent */
    SWITCH_TAKEN, /* the other owns the core now */
};

/* Both threads at nominal urgency, the first in front. */
void switch_init(struct switch_core *core);

/* Raises a miss of the L3 by the thread in front, and the return of a thread's
 * line (rules M04, M07). */
enum switch_outcome switch_miss(struct switch_core *core);
enum switch_outcome switch_return(struct switch_core *core, unsigned thread);

/* Its quantum is over (M05); it gives a hint (M06); it halts, and is no longer
 * present. */
enum switch_outcome switch_timeout(struct switch_core *core, bool stalled);
enum switch_outcome switch_hint(struct switch_core *core);
enum switch_outcome switch_halt(struct switch_core *core);

/* An interrupt for a thread: if it waits in the background it is more urgent
 * at the next event. */
void switch_interrupt(struct switch_core *core, unsigned thread);

/* What a thread does, alone. */
struct switch_load {
    uint64_t start;  /* cycles */
    uint64_t run;    /* cycles without the waits for memory */
    uint64_t misses; /* of the L3 that it waits for */
    uint64_t hints;
};

/* Of switches away from a thread. */
struct switch_counts {
    uint64_t by_l3, by_timer, by_hint, by_halt;
    uint64_t missed; /* events of the L3 at which the other was present, and no
                      * switch came of it */
    uint64_t gated;  /* of them, because another was under way */
    uint64_t gated_cycles; /* and how long that still was */
    uint64_t cycles;
    uint64_t stalls[SWITCH_STALLS]; /* that had stalled for so long */
};

/* Cycles, but quantum 0: no time-out. */
struct switch_times {
    uint64_t probe;  /* from a load until it is known to miss the L3 */
    uint64_t memory; /* from then until the line is there */
    uint64_t change; /* a switch */
    uint64_t quantum;
};

void
switch_run(const struct switch_times *times, const struct switch_load loads[2],
           struct switch_counts counts[2]);

#endif
