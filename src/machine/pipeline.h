/* SPDX-License-Identifier: MIT */
/*
 * Strands that share a pipeline share its issue slots. The model is a fluid:
 * a thread alone would issue in a share of all cycles, its issue_cycles of its
 * cycles. Where the shares of the threads that run on a pipeline come to more
 * than 1, they get equal parts of it, and what one does not want the others
 * have (max-min fairness, as of a pipeline that picks the ready strand that
 * waits longest). A thread that gets less than it wants is slower by that, and
 * the difference is its wait, stall_issue.
 *
 * A thread is made when its maker has come to that point. It starts when the
 * threads that were made for its strand before are over, and its maker waits
 * until it starts, unless the thread is in line behind the maker. Where no
 * thread runs, since all makers wait for each other, all of them go on. A
 * thread that has started runs without a pause but to make threads: that it may
 * wait for other threads is not modelled. A core is idle in the product of the
 * shares that its pipelines leave over: they issue without regard to each
 * other. What follows depends on counts alone, not on how the host ran the
 * threads.
 */
#ifndef TALLY_MACHINE_PIPELINE_H
#define TALLY_MACHINE_PIPELINE_H

#include <stddef.h>
#include <stdint.h>

#define PIPELINE_NO_MAKER UINT32_MAX

struct pipeline_thread {
    uint32_t strand; /* of the machine */
    uint32_t maker;  /* index of an earlier thread, or PIPELINE_NO_MAKER */
    uint64_t born;   /* own cycles of the maker until then; <= its cycles */
    uint64_t issue, cycles; /* alone on its pipeline; issue <= cycles */
    uint64_t wait;          /* the result, in cycles */
    uint64_t
        idle; /* the result: cycles in which no thread of its core issues */
};

/* Sets the waits of one process's threads, which are in order of creation; 0
 * or TALLY_ENOMEM. */
int pipeline_share(const uint64_t *params, struct pipeline_thread *threads,
                   size_t count);

#endif
