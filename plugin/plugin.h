/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The QEMU plugin: hands QEMU's blocks and accesses to the model in
 * src/machine and its counts to the session that started it.
 */
#ifndef TALLY_PLUGIN_PLUGIN_H
#define TALLY_PLUGIN_PLUGIN_H

#include <pthread.h>

#include "machine/chip.h"
#include "machine/curve.h"
#include "plugin/beside.h"
#include "plugin/blocks.h"
#include "plugin/callbacks.h"
#include "plugin/ear.h"
#include "plugin/early.h"
#include "plugin/gateway_state.h"
#include "plugin/guest_pmu.h"
#include "plugin/huge_pages.h"
#include "plugin/memory.h"
#include "plugin/mpi.h"
#include "plugin/phases.h"
#include "plugin/point.h"
#include "plugin/steps.h"
#include "plugin/random.h"
#include "plugin/reach.h"
#include "plugin/recording.h"
#include "plugin/schedule.h"
#include "plugin/translate.h"
#include "plugin/vcounter_processes.h"
#include "source/process_counts.h"

#define PLUGIN_PATH 512

/* Everything of one guest process. QEMU's callbacks carry no context for it,
 * so there is one, here. */
struct plugin {
    /* The strand of the first guest thread, and of each by the number of its
     * thread. At the start, where x86-64 reaches members without a register
     * for the struct's address. */
    struct strand first;
    struct strand *strands[COUNTS_VCPUS];
    qemu_plugin_id_t id;
    const struct callbacks *callbacks; /* those of the variant that runs */
    bool all_rare; /* each block is entered by callbacks->rare_block */
    struct session_header *session;
    struct session_request request; /* the session's, a copy */
    struct process_counts process;
    struct chip chip;
    struct counts_strand *counts[COUNTS_VCPUS];
    /* Takes the counts of all threads that have no memory for their own, for
     * nobody to read; NULL before the second thread. */
    struct counts_strand *spare;
    pthread_mutex_t lock; /* of translation: table, infos */
    struct block_table table;
    bool threaded;      /* the process has had a second thread */
    bool inline_counts; /* executions are counted without a call */
    bool clocked;       /* the program has asked for the time */
    unsigned thread_count;
    unsigned living; /* threads of now */
    bool cut;        /* counting is to end: QEMU's thread numbers run out */
    bool over;       /* counting has ended, as they ran out */
    struct block_shape shape;
    uint64_t components;
    unsigned work;                              /* enum block_work */
    struct code_range data_ranges[CODE_RANGES]; /* of --filter data= */
    unsigned data_count;
    bool data_filter;
    bool ear_runs; /* event address registers and trace buffers run */
    uint64_t load_bias;
    unsigned counts_index;
    bool loaded;   /* the program is in memory */
    bool executed; /* a counted program executed this one */
    bool replays;  /* a trace runs: its threads have had their turns */
    int parent;    /* the parent's pid, where executed; else 0 */
    enum span_mode span;
    /* As --from, --to and --skip have it. Each thread follows at its next block
     * (follow_span() of callbacks.c): its strand is its own. */
    atomic_bool span_open;
    uint64_t pid_space; /* inode of the PID namespace, 0: unknown */
    char session_place[SESSION_PLACE];
    struct reach reach;
    struct random random;
    struct beside beside;
    struct huge_pages huge_pages;
    struct early early;
    struct gateway gateway;
    struct guest_pmu guest_pmu;
    struct vcounters vcounters;
    struct ear ear;
    struct recording recording;
    struct point_state point;
    struct steps_state steps;
    struct curve curve;   /* zeroed: none is drawn */
    struct phases phases; /* of RECORDS_INSTRUCTIONS, if asked for */
    struct schedule schedule;
    struct mpi mpi;
    /* Returns the modelled cycles of a thread, by which its turns end; NULL:
     * turns are of instructions. */
    uint64_t (*turn_clock)(unsigned vcpu);
    const struct event_row *cycles; /* the event, with turn_clock */
    struct translator translator;
    /* The path of the guest's program, from the root, as the program may change
     * its folder and QEMU puts "./" before its own name for it each time.
     * Owned; NULL: the path cannot be had. */
    char *program;
    /* Has QEMU forget its translations, at the next moment when no guest thread
     * runs; a thread that asks in a system call finds it done on its return. */
    void (*translate_again)(void);
};

/* Hidden, so that code reaches its first members without its address. */
extern __attribute__((visibility("hidden"))) struct plugin tally_plugin;

#endif
