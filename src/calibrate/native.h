/* SPDX-License-Identifier: MIT */
/*
 * The probes on this computer, x86-64 or aarch64. Times are those that the
 * thread had a processor for, so that other processes take nothing from them
 * but caches; each is the shortest of a few turns of about a millisecond.
 */
#ifndef TALLY_CALIBRATE_NATIVE_H
#define TALLY_CALIBRATE_NATIVE_H

#include "base/error.h"
#include "calibrate/probe.h"

struct native;

/* What the probes need to know of the computer. */
struct native_facts {
    uint64_t size; /* of the largest probe, bytes */
    uint64_t line; /* of the L1 data cache */
    uint64_t page; /* of the system */
};

/* Maps the memory, in pages of the smallest size, and stays on one processor
 * from now on. 0; TALLY_EARCH on another architecture, TALLY_ENOMEM; both
 * logged. */
int native_create(const struct native_facts *facts, const struct tally_log *log,
                  struct native **native);

/* Frees the memory and leaves the processor. Accepts NULL. */
void native_destroy(struct native *native);

/* The prober's functions; `user` is the struct native. */
double native_measure(void *user, const struct probe *probe);
void native_renew(void *user);

#endif
