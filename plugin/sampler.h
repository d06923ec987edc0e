/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest thread's Montecito PMU (libtally-pmu), programmed as a sampling
 * profiler does: PMC/PMD4 counts what an event address register captures, PMD5
 * the trace buffer's entries, PMD6 retired instructions. One of these counters
 * overflows after a period and freezes the PMU. Then the PMU's registers are
 * read into a record of the process's counts, as the handler of the interrupt
 * would, and the PMU runs on.
 */
#ifndef TALLY_PLUGIN_SAMPLER_H
#define TALLY_PLUGIN_SAMPLER_H

#include "source/process_counts.h"
#include "tally/pmu.h"

struct sampler;

/* Makes a sampler. NULL: out of memory. The request and the process's counts
 * must outlive the sampler. */
struct sampler *sampler_new(const struct capture_request *request,
                            struct process_counts *process, uint32_t thread);
void sampler_free(struct sampler *sampler);

/* Gives the sampler's thread another number. */
void sampler_rename(struct sampler *sampler, uint32_t thread);

/* Offers a miss, of one cycle, to the event address register. Returns how often
 * the register captured it: 0 or 1. */
uint64_t
sampler_miss(struct sampler *sampler, struct tally_pmu_context *context,
             enum capture_level level);

/* Reports that an instruction retires, context->cycles after the last one.
 * Returns the number of entries that the trace buffer took. */
uint64_t
sampler_retire(struct sampler *sampler, struct tally_pmu_context *context);

/* Writes a last record when the thread ends, if no overflow makes records. */
void sampler_end(struct sampler *sampler);

#endif
