/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processors that a program whose threads take turns sees (--cpus), and the
 * one of the host on which all its threads run: the turn goes from one thread
 * to another in 2 to 3 us there, in 11 to 24 us between two.
 *
 * Under the lock of the schedule, or called by the thread that has the turn.
 */
#ifndef TALLY_PLUGIN_PROCESSORS_H
#define TALLY_PLUGIN_PROCESSORS_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "isa/isa.h"

struct processors {
    unsigned count;   /* that the program sees, 1 to 64; by the owner */
    uint64_t first;   /* of these, those of the first thread; by the owner */
    bool pinned;      /* all threads run on one processor of the host */
    cpu_set_t before; /* those that the process had before */
};

/* A change of affinity that a thread asks for, as of its system call. */
struct affinity_change {
    uint64_t at, size; /* the guest's mask; size 0: there is none */
    uint8_t mask[128]; /* as the guest wrote it */
    uint64_t allowed;  /* what it asks for, of what the program sees */
};

/* Returns all processors that the program sees, a bit each. */
uint64_t processors_all(const struct processors *p);

/* Keeps the calling thread, and those that it makes, on the processor where it
 * runs. */
void processors_pin(struct processors *p);

/* Lets the calling thread run on the processors that it had before
 * processors_pin(). */
void processors_release(const struct processors *p);

/* Before sched_setaffinity(): puts the host's processors, or none where the
 * program asks for none that it sees, in place of the guest's mask. */
void processors_change(const struct processors *p, const struct isa *isa,
                       const uint64_t args[6], struct affinity_change *change);

/* After sched_setaffinity(): writes the guest's mask again. */
void processors_changed(struct affinity_change *change);

/* After sched_getaffinity(): writes the processors of a thread over the host's,
 * `result` bytes. */
void processors_show(const struct isa *isa, const uint64_t args[6],
                     int64_t result, uint64_t allowed);

/* After getcpu(): writes that the thread with this number runs on one of the
 * processors allowed to it. */
void processors_show_current(const struct isa *isa, const uint64_t args[6],
                             unsigned thread, uint64_t allowed);

/* After a file was opened: gives the guest's descriptor a list of what the
 * program sees, where the path is one of the kernel's lists of processors. */
void processors_open(const struct processors *p, uint64_t path, int fd);

#endif
