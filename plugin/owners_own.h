/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of plugin/owners.h share. */
#ifndef TALLY_PLUGIN_OWNERS_OWN_H
#define TALLY_PLUGIN_OWNERS_OWN_H

#include "gateway/owners.h"
#include "plugin/owners.h"

/* What an index stands for, or NULL. */
const struct event_row *owners_event(unsigned index);

unsigned owners_strand_count(void);

/* The counts of a process that runs, the last of those that it has had, mapped;
 * false: there is none. */
bool owners_counts(pid_t pid, struct process_counts *process, uint32_t *index);

/* Whose child a process is; 0: there is no such process, or it has ended. */
pid_t owners_parent(pid_t pid);

/* Counts are summed once, until they are forgotten; those that cannot be had,
 * for want of memory, are 0. */
void owners_forget_sums(void);
bool owners_sums_failed(void);
struct owners_source owners_source(void);

/* The lock, if there is anybody to share it with; else NULL. */
struct owners_client *owners_begin(void);
void owners_finish(void);

/* Events that this process is to have from gateway_epoch() on, as bits; and
 * that each block is looked at. */
void owners_learn(uint32_t events);
void owners_watch(void);

/* This process's thresholds as they are now; the lock is held. */
void owners_arm(void);

/* The ranges of a profile that is asked for, ours from then on, or NULL and
 * -EINVAL, -EFAULT or -ENOMEM; it takes the place of the one there is, or is
 * forgotten; what has been counted is given to the program, and a range whose
 * buckets are gone is given no more; there is no profile. */
const struct virtual_range *
owners_profile_take(const struct gateway_virtual *request, int *error);
void owners_profile_choose(bool fresh);
void owners_profile_give(void);
void owners_profile_forget(void);

#endif
