/* SPDX-License-Identifier: MIT */
/*
 * What --ear, --etb and --ip-ear ask of a Montecito's monitor, as the values of
 * its registers, and what its records say.
 */
#ifndef TALLY_PROFILE_CAPTURE_H
#define TALLY_PROFILE_CAPTURE_H

#include <stddef.h>

#include "base/error.h"
#include "source/capture.h"
#include "table/table.h"

#define CAPTURE_PERIOD 101u      /* of an event address register */
#define CAPTURE_RETIRED 1000003u /* instructions, of the IP-EAR alone */

/* These change the request on success only.
 *
 * "load-latency=64", "dtlb", "fetch-latency=32", "itlb". TALLY_ERANGE for a
 * second one and a latency that the register has no code for, TALLY_ESYNTAX,
 * TALLY_EIDLE for what foreign programs never raise; logged. */
int capture_parse_ear(const char *text, const struct tally_log *log,
                      struct capture_request *request);

/* Entries of the trace buffer, 1 to 16; cycles of the IP-EAR's delay, 0 to
 * 255. TALLY_ERANGE, also for a second one, logged. */
int capture_parse_trace(const char *text, const struct tally_log *log,
                        struct capture_request *request);
int capture_parse_retired(const char *text, const struct tally_log *log,
                          struct capture_request *request);

/* Sets the period where none was given, and what must agree. `period` 0: not
 * given. TALLY_ERANGE, logged. */
int capture_complete(struct capture_request *request, uint64_t period,
                     const struct tally_log *log);

/* The event that counts what is captured: "DATA_EAR_EVENTS"; NULL: none, or
 * nothing is captured. */
const char *capture_event(const struct capture_request *request);

/* The option that asked for it, or NULL. */
const char *capture_option(const struct capture_request *request);

/* Why an event of captures reads 0 with this request, or NULL. */
const char *capture_lacks(const struct event_row *event,
                          const struct capture_request *request);

/* What the records are: "data EAR, load latency of 64 cycles or more". */
void
capture_text(const struct capture_request *request, char *text, size_t size);

/* An entry of the trace buffer or the IP-EAR, as its registers hold it. */
struct capture_entry {
    unsigned number;  /* of the PMD */
    uint64_t value;   /* that it held */
    uint64_t address; /* of a bundle: 16 bytes */
    bool source;      /* a branch; else its target; not of the IP-EAR */
    bool mispredicted;
    unsigned slot;   /* of a source; 3: not taken */
    unsigned cycles; /* IP-EAR: since the entry before, 63 or more is 63 */
    bool early;      /* IP-EAR: by an early freeze; the address is in pages */
};

/* The record's last `most` entries, oldest first; how many there are. */
size_t capture_entries(const struct capture_request *request,
                       const struct capture_record *record, size_t most,
                       struct capture_entry entries[CAPTURE_ENTRIES]);

/* "L3", "memory", "L2 TLB", "page walk". */
const char *capture_level_name(unsigned level);

#endif
