/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The event address registers and the trace buffer of a Montecito on a live
 * program: each guest thread has a monitor of libtally-pmu, programmed as the
 * session asks. Each access, each line that is fetched and each branch goes
 * through the model at once and by itself, so that its misses are known; those
 * that the registers may capture are handed to the monitor with their latency.
 * When it freezes its registers are read into a record, as the handler of the
 * interrupt would, and it runs on.
 *
 * The monitor's clock is modelled: the cycles in which a block's instructions
 * issue, spread evenly over them, and what each miss and misprediction waits.
 */
#ifndef TALLY_PLUGIN_CAPTURE_H
#define TALLY_PLUGIN_CAPTURE_H

#include "machine/chip.h"
#include "plugin/qemu_api.h"
#include "source/process_counts.h"

/* A guest thread's monitor and clock. */
struct capture_monitor {
    struct sampler *sampler;
    uint64_t clock;        /* of the block that runs; its waits added */
    uint64_t told;         /* what the sampler knows of the clock */
    uint64_t block_cycles; /* of the block that runs, without waits */
};

struct capture {
    const struct capture_request *request; /* NULL: nothing is captured */
    struct capture_monitor monitors[COUNTS_VCPUS];
};

/* Stands for callbacks.part: tells the clock of the part, then counts it. */
void capture_part(unsigned vcpu, void *part);

/* Before the block's own callbacks are registered, which it makes needless:
 * each access of its instructions, and where asked for each instruction. */
struct capture_shape {
    struct qemu_plugin_tb *tb;
    const struct insn *insns;
    size_t count;
    const struct block *block;
};
void capture_register(const struct capture_shape *shape, size_t i,
                      qemu_plugin_vcpu_mem_cb_t call, void *data);
void capture_register_retired(const struct capture_shape *shape);

/* A guest thread begins, ends, is alone in a child of fork. */
void capture_thread_starts(unsigned vcpu);
void capture_thread_ends(unsigned vcpu);
void capture_forks(unsigned vcpu);

/* A block is entered: its lines, before it; the branch that closed the last,
 * once the model has seen it, as the counts of `before` tell. */
struct capture_branches {
    const struct block *last;
    uint64_t paths, targets;
};
struct capture_branches
capture_enter(struct strand *s, unsigned vcpu, const struct block *block);
void capture_entered(struct strand *s, unsigned vcpu, const struct block *block,
                     const struct capture_branches *before);
/* The lines of a block that stands in for a part of another. */
void capture_fetch(struct strand *s, unsigned vcpu, const struct block *block);

#endif
