/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of plugin/vcounter_processes.h share. */
#ifndef TALLY_PLUGIN_VCOUNTER_PROCESSES_OWN_H
#define TALLY_PLUGIN_VCOUNTER_PROCESSES_OWN_H

#include "gateway/vcounter_processes.h"
#include "plugin/vcounter_processes.h"

/* What an index stands for, or NULL. */
const struct event_row *vcounter_event(unsigned index);

unsigned vcounter_strand_count(void);

/* The counts of a process that runs, the last of those that it has had, mapped;
 * false: there is none. */
bool
vcounter_counts(pid_t pid, struct process_counts *process, uint32_t *index);

/* Whose child a process is; 0: there is no such process, or it has ended. */
pid_t vcounter_parent(pid_t pid);

/* Counts are summed once, until they are forgotten; those that cannot be had,
 * for want of memory, are 0. */
void vcounter_forget_sums(void);
bool vcounter_sums_failed(void);
struct vcounter_source vcounter_source(void);

/* The lock, if there is anybody to share it with; else NULL. */
struct vcounter_client *vcounter_begin(void);
void vcounter_finish(void);

/* Events that this process is to have from gateway_epoch() on, as bits; and
 * that each block is looked at. */
void vcounter_learn(uint32_t events);
void vcounter_watch(void);

/* This process's thresholds as they are now; the lock is held. */
void vcounter_arm(void);

/* The ranges of a profile that is asked for, ours from then on, or NULL and
 * -EINVAL, -EFAULT or -ENOMEM; it takes the place of the one there is, or is
 * forgotten; what has been counted is given to the program, and a range whose
 * buckets are gone is given no more; there is no profile. */
const struct virtual_range *
vcounter_profile_take(const struct gateway_virtual *request, int *error);
void vcounter_profile_choose(bool fresh);
void vcounter_profile_give(void);
void vcounter_profile_forget(void);

#endif
