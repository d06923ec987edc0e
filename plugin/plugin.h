/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The QEMU plugin: hands QEMU's blocks and accesses to the model in
 * src/machine and its counts to the session that started it.
 */
#ifndef TALLY_PLUGIN_PLUGIN_H
#define TALLY_PLUGIN_PLUGIN_H

#include <pthread.h>

#include "machine/chip.h"
#include "plugin/beside.h"
#include "plugin/blocks.h"
#include "plugin/callbacks.h"
#include "plugin/early.h"
#include "plugin/memory.h"
#include "plugin/random.h"
#include "plugin/reach.h"
#include "source/process_counts.h"

#define PLUGIN_PATH 512

#define DATA_SIGNALS 12

/* An instruction that accesses data, as --filter data= counts it. */
struct data_insn {
    uint64_t data;  /* of the callback that its accesses have otherwise */
    uint8_t access; /* enum insn_access */
    uint8_t loads;  /* that may count, each once */
    uint8_t stores;
    bool conditional;
    bool bulk; /* a block load or twin load, where these are told apart */
    uint8_t signal_count;
    uint8_t signals[DATA_SIGNALS]; /* that count once an execution */
};

/* Everything of one guest process. QEMU's callbacks carry no context for it,
 * so there is one, here. */
struct plugin {
    /* The strand of the first guest thread, and of each by the number of its
     * thread. At the start, where x86-64 reaches members without a register
     * for the struct's address. */
    struct strand first;
    struct strand *strands[COUNTS_VCPUS];
    qemu_plugin_id_t id;
    const struct callbacks *callbacks; /* of the variant that runs */
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
    bool threaded;      /* has ever had a second thread */
    bool inline_counts; /* executions are counted without a call */
    unsigned thread_count;
    unsigned living; /* threads of now */
    bool cut;        /* counting is to end: QEMU's thread numbers run out */
    bool over;       /* counting has ended for that */
    struct block_shape shape;
    uint32_t components;
    unsigned work;                              /* enum block_work */
    struct code_range data_ranges[CODE_RANGES]; /* of --filter data= */
    unsigned data_count;
    bool data_filter;
    bool captures; /* event address registers and trace buffers run */
    uint64_t load_bias;
    unsigned counts_index;
    bool loaded;   /* the program is in memory */
    bool executed; /* by a counted program, not by the session */
    int parent;    /* of the process that executed: its pid, or 0 */
    enum span_mode span;
    bool span_open;     /* as --from, --to and --skip have it */
    uint64_t pid_space; /* inode of the PID namespace, 0: unknown */
    char session_place[SESSION_PLACE];
    struct reach reach;
    struct random random;
    struct beside beside;
    struct early early;
};

/* Hidden, so that code reaches its first members without its address. */
extern __attribute__((visibility("hidden"))) struct plugin tally_plugin;

/* Registers the callbacks of a translated block (translate.c). */
void plugin_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);

/* Another model for the only thread, the first, with empty caches; while
 * nothing is translated. */
void plugin_set_parts(uint32_t components);

/* Has QEMU forget its translations, at the next moment when no guest thread
 * runs; a thread that asks in a system call finds it done on its return. */
void plugin_reset(void);

/* Follows execve into a program that can be counted; then the call returned, so
 * that nothing was executed (exec.c). */
void
plugin_execve(uint64_t path, uint64_t argv, uint64_t envp, uint64_t random_key);
void plugin_execve_fails(void);

/* Notes what execveat, which QEMU 7.2 lacks, has the host execute. */
void plugin_execveat(uint64_t path);

/* What /proc/self/exe is to the guest; before it runs, once it is loaded. */
void plugin_note_program(void);

/* Looks at the clock for -I, or begins the slice of the next events. */
void plugin_look(struct strand *strand);

/* -I: looks at the clock; keeps what the strand has counted, if its clock has
 * passed a boundary. */
void plugin_snapshot(struct strand *strand);

/* Opens or closes the span for all strands. */
void plugin_switch_span(struct strand *strand, bool counted);

#endif
