/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest thread's Montecito monitor (libtally-pmu) as a sampling profiler
 * programs it: PMC/PMD4 counts what an event address register captures, PMD5
 * the trace buffer's entries, PMD6 retired instructions. One of them overflows
 * after a period and freezes the monitor; then all that it holds is read into a
 * record of the process's counts, as the handler of the interrupt would, and it
 * runs on.
 */
#ifndef TALLY_PLUGIN_SAMPLER_H
#define TALLY_PLUGIN_SAMPLER_H

#include "source/process_counts.h"
#include "tally/pmu.h"

struct sampler;

/* NULL: out of memory. The request and the process's counts must outlive it. */
struct sampler *sampler_new(const struct capture_request *request,
                            struct process_counts *process, uint32_t thread);
void sampler_free(struct sampler *sampler);

/* Its thread has another number from now on. */
void sampler_rename(struct sampler *sampler, uint32_t thread);

/* A miss that the event address register may capture, of one cycle; how often
 * it has been. */
uint64_t
sampler_miss(struct sampler *sampler, struct tally_pmu_context *context,
             enum capture_level level);

/* An instruction retires, `cycles` after the one before; the entries that the
 * trace buffer takes. */
uint64_t
sampler_retire(struct sampler *sampler, struct tally_pmu_context *context);

/* The thread ends: a record of what is held, where no overflow makes any. */
void sampler_end(struct sampler *sampler);

#endif
