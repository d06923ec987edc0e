/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The event address registers (EAR) and the trace buffer of a Montecito on a
 * live program. Each guest thread has a PMU of libtally-pmu, programmed as the
 * session asks. Each access, each fetched line and each branch goes through the
 * model at once and alone, so that its misses are known; a miss that the
 * registers may capture is reported to the PMU with its latency. When the PMU
 * freezes, its registers are read into a record, as the handler of the
 * interrupt would, and the PMU runs on.
 *
 * The PMU's clock is modelled: the cycles in which a block's instructions
 * issue, spread evenly over the instructions, and the cycles that each miss and
 * each misprediction waits.
 */
#ifndef TALLY_PLUGIN_EAR_H
#define TALLY_PLUGIN_EAR_H

#include "machine/chip.h"
#include "plugin/qemu_api.h"
#include "source/process_counts.h"

/* The PMU and the clock of a guest thread. */
struct ear_pmu {
    struct sampler *sampler;
    uint64_t clock;        /* at the start of the block that runs, and waits */
    uint64_t reported;     /* the clock as the sampler knows it */
    uint64_t block_cycles; /* of the block that runs, without waits */
};

struct ear {
    const struct capture_request *request; /* NULL: nothing is captured */
    struct ear_pmu pmus[COUNTS_VCPUS];
};

/* Moves the clock on by a part of a block, then calls callbacks.part. */
void ear_part(unsigned vcpu, void *part);

/* A block that is being translated. */
struct ear_shape {
    struct qemu_plugin_tb *tb;
    const struct insn *insns;
    size_t count;
    const struct block *block;
};

/* Registers instruction `i` of a block, which accesses memory, so that the
 * access goes through `call` and to the PMU. Replaces the block's own callback
 * of the access. */
void ear_register(const struct ear_shape *shape, size_t i,
                  qemu_plugin_vcpu_mem_cb_t call, void *data);

/* Registers every instruction of a block, if the IP-EAR runs. */
void ear_register_retired(const struct ear_shape *shape);

/* Makes the PMU of a guest thread. */
void ear_thread_starts(unsigned vcpu);

/* Ends the PMU of a guest thread, with a last record where one is due. */
void ear_thread_ends(unsigned vcpu);

/* Frees all PMUs but that of the thread of this vCPU, which is the only thread
 * of a child of fork(). */
void ear_forks(unsigned vcpu);

/* The block that ran last, and the thread's mispredictions before the branch
 * that closed it. */
struct ear_branches {
    const struct block *last;
    uint64_t paths, targets;
};

/* Fetches the lines of a block, before the model enters the block. Returns what
 * ear_entered() must be given. */
struct ear_branches
ear_enter(struct strand *s, unsigned vcpu, const struct block *block);

/* Reports the branch that closed the last block, after the model has entered
 * `block`. */
void ear_entered(struct strand *s, unsigned vcpu, const struct block *block,
                 const struct ear_branches *before);

/* Fetches the lines of a block that stands in for a part of another block. */
void ear_fetch(struct strand *s, unsigned vcpu, const struct block *block);

#endif
