/* SPDX-License-Identifier: MIT */
/*
 * The metrics that tally gives to monitoring: names, types, units and helps,
 * and what fills them in. doc/fleets.md lists them for users.
 *
 * What is not counted has no sample, and a sample of a metric that ends in
 * "_missing" with the reason's code in its place. Every count has its standing
 * as a label: "exact", "modelled", "estimated", "measured" ... (the glossary).
 */
#ifndef TALLY_FLEET_METRICS_H
#define TALLY_FLEET_METRICS_H

#include <stdbool.h>

#include "fleet/exposition.h"
#include "fleet/results.h"
#include "host/watch.h"
#include "report/count_document.h"

/* What kind of document a text in JSON is. */
enum fleet_document {
    FLEET_COUNT, /* of tally count -j, or whatever its reader refuses best */
    FLEET_CHECK, /* of tally check --format json */
};

/* Makes an exposition for the functions below, which has tally's `version` as a
 * metric. 0 or TALLY_ENOMEM. */
int fleet_metrics_create(const char *version, struct exposition **exposition);

/* Adds the events and metrics of a report. Of the program there is the first
 * word alone, without its folder: arguments may be secrets. */
void fleet_add_count(struct exposition *exposition,
                     const struct count_document *document);

/* Adds the results of benchmarks. */
void fleet_add_results(struct exposition *exposition,
                       const struct fleet_results *results);

/* Adds the host's events, as they were read last; `by_cpu`: each cpu's, and no
 * sums where there are parts. */
void fleet_add_host(struct exposition *exposition,
                    const struct host_watch *watch, bool by_cpu);

/* Adds when results were read and whether they could be read. */
void fleet_add_read(struct exposition *exposition, bool read);

/* Returns the kind of a document by its members, without judging it. */
enum fleet_document fleet_document_kind(const char *text, size_t size);

#endif
