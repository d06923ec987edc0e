/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recording of a process (source/record_counts.h): where its blocks are,
 * and the recorders of its threads. Does nothing where the session does not
 * record. Under the plugin's lock of translation.
 */
#ifndef TALLY_PLUGIN_RECORDING_H
#define TALLY_PLUGIN_RECORDING_H

#include "base/numbering.h"
#include "isa/insn.h"
#include "machine/callers.h"
#include "machine/classes.h"
#include "machine/reasons.h"
#include "machine/recorder.h"
#include "plugin/allocators.h"
#include "plugin/data_objects.h"
#include "plugin/landing_pads.h"
#include "plugin/qemu_api.h"
#include "plugin/waits.h"

struct plugin;

/* Of one thread. */
struct recording_thread {
    struct recorder recorder;
    struct callers callers; /* if the session records callers */
    struct lines lines;     /* if it records all accesses to objects */
    /* Of the instruction that runs, where QEMU does not show as many accesses
     * as it counts: those that no object has got yet. */
    uint8_t loads_due, stores_due;
    struct allocator_call allocator;
};

/* The state of a process's recording. */
struct recording {
    struct record_process *process; /* NULL: nothing is recorded */
    struct recording_thread *threads[COUNTS_STRANDS]; /* that live; owned */
    /* Takes how branches went of threads that are not recorded. */
    struct record_branches *spare;
    struct data_objects objects; /* if the session records objects */
    struct reasons reasons;      /* if it records why data miss; else zero */
    struct classes classes;      /* the same, where sharing.h has no classes */
    struct waits waits;          /* if it records what threads wait for */
    uint32_t stride_count;       /* strides used of the process */
    /* Numbers the instructions that have strides. A key has the address, the
     * size with a bit for stores, and the bytes of the instruction. */
    struct numbering stride_keys;
    uint32_t *strides; /* by that number: the stride that counts the steps;
                          owned, of stride_room elements */
    size_t stride_room;
    struct allocators allocators;
    struct landing_pads *pads[COUNTS_FILES]; /* of images, by index; NULL: not
                                                read; owned */
    /* The mapping of the code that was translated last, and its image; last <
     * first: not known. */
    uint64_t first, last;
    uint32_t image;
};

/* Maps the process's memory of its recording, if the session records. */
void recording_begin(struct plugin *p);

/* The chip has been set up: has it note reasons, if the session records them. 0
 * or TALLY_ENOMEM. */
int recording_model(struct plugin *p);

/* The thread begins to run, or runs on another model: sets up its recorder. */
void recording_thread_starts(struct plugin *p, unsigned vcpu);

/* The program is in memory. */
void recording_program(struct plugin *p);

/* Hands over what a thread has recorded; its counts are about to be summed. */
void recording_fold(struct plugin *p, unsigned vcpu);
void recording_thread_ends(struct plugin *p, unsigned vcpu);

/* The thread makes a system call, or it has returned. */
void recording_syscall(struct plugin *p, unsigned vcpu, int64_t number,
                       const uint64_t args[6]);
void recording_syscall_return(struct plugin *p, unsigned vcpu, int64_t number,
                              const uint64_t args[6], int64_t result);

/* The thread's allocator reports (GATEWAY_ALLOCATION). */
void
recording_allocation(struct plugin *p, unsigned vcpu, const uint64_t args[4]);

/* In the child of a fork, whose counts have moved to memory of its own: so does
 * its recording. */
void recording_forks(struct plugin *p, unsigned slot);

/* The process is counted no more: nothing is recorded from now on. */
void recording_stops(struct plugin *p);

/* Ends the recording of a process. */
void recording_ends(struct plugin *p);

/* The guest may have changed which files its memory is from. */
void recording_memory_changes(struct plugin *p);

/* Returns whether the code is of the library that is preloaded in the guest to
 * report allocations, which does not count. */
bool recording_leaves_out(struct plugin *p, uint64_t pc);

/* Registers for a block that it tells where the first thread's stack is, until
 * that is known. */
void recording_find_stack(struct plugin *p, struct qemu_plugin_tb *tb,
                          const struct insn *insns, size_t count);

/* Registers for a block that its accesses tell the stack pointer; and, where
 * the session records all accesses, which object each is to. `index`: of the
 * block, or RECORD_NO_ROOM. */
void recording_register(struct plugin *p, struct qemu_plugin_tb *tb,
                        uint32_t index, const struct insn *insns, size_t count);

/* Returns the image that code at `pc` is from, as in struct record_place. */
uint32_t recording_image(struct plugin *p, uint64_t pc);

/* Returns whether a landing pad of exceptions begins at `pc`, code of the
 * image, if the session records callers. */
bool recording_is_pad(struct plugin *p, uint32_t image, uint64_t pc);

/* Keeps the code of a block. Returns where, for recording_place(). */
uint32_t recording_code(struct plugin *p, struct qemu_plugin_tb *tb,
                        const struct insn *insns, size_t count);

/* Notes where part `piece` of a block is. */
void recording_place(struct plugin *p, const struct block *block, uint32_t code,
                     uint32_t image, unsigned instructions, unsigned piece);

#endif
