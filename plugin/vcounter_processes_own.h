/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files vcounter_processes*.c share. */
#ifndef TALLY_PLUGIN_VCOUNTER_PROCESSES_OWN_H
#define TALLY_PLUGIN_VCOUNTER_PROCESSES_OWN_H

#include "plugin/gateway.h"
#include "plugin/vcounter_processes.h"

/* Returns the event with this number, or NULL. */
const struct event_row *vcounter_event(unsigned index);

/* Returns the number of strands of the machine. */
unsigned vcounter_strand_count(void);

/* Maps the latest counts of a running process, and returns their place in the
 * session as `index`. False: the process has no counts. */
bool
vcounter_counts(pid_t pid, struct process_counts *process, uint32_t *index);

/* Returns the parent of a process; 0: there is no such process, or it has
 * ended. */
pid_t vcounter_parent(pid_t pid);

/* Forgets the sums of processes; the next reading sums again. */
void vcounter_forget_sums(void);

/* Returns whether some sum since vcounter_forget_sums() could not be had. Such
 * a sum reads as 0. */
bool vcounter_sums_failed(void);

/* Returns the functions by which src/gateway reads counts. */
struct vcounter_source vcounter_source(void);

/* Takes the lock of all processes. NULL: the session has no virtual counters,
 * or they cannot be used. */
struct vcounter_client *vcounter_begin(void);
void vcounter_finish(void);

/* Has this process count these events, as bits, from gateway_epoch() on. */
void vcounter_learn(uint32_t events);

/* Has this process look at its counts after each block. */
void vcounter_watch(void);

/* Computes how far each threshold of this process is. The lock is held. */
void vcounter_arm(void);

/* Reads the ranges of a profile from the request. NULL: `error` is -EINVAL,
 * -EFAULT or -ENOMEM. The ranges stay the plugin's; a call of
 * vcounter_profile_choose() must follow. */
const struct virtual_range *
vcounter_profile_claim(const struct gateway_virtual *request, int *error);

/* Puts the claimed profile in place of the one that counts, if `accepted`, or
 * frees the claimed one. */
void vcounter_profile_choose(bool accepted);

/* Copies the buckets to the program. A range whose memory the program no longer
 * has is not copied again. */
void vcounter_profile_report(void);

/* Frees the profile that counts. */
void vcounter_profile_forget(void);

#endif
