/* SPDX-License-Identifier: MIT */
/*
 * Turns the options --ear, --etb and --ip-ear into values of a Montecito's
 * registers, and the records of its monitor into addresses, latencies and text.
 */
#ifndef TALLY_PROFILE_CAPTURE_H
#define TALLY_PROFILE_CAPTURE_H

#include <stddef.h>

#include "base/error.h"
#include "source/capture.h"
#include "table/table.h"

#define CAPTURE_PERIOD 101u      /* of an event address register */
#define CAPTURE_RETIRED 1000003u /* instructions, of the IP-EAR alone */

/*
 * Reads the value of --ear: "load-latency=64", "dtlb", "fetch-latency=32" or
 * "itlb". TALLY_ERANGE for a second --ear and for a latency that the register
 * has no code for; TALLY_EIDLE for "alat", which only programs of Itanium
 * raise; TALLY_ESYNTAX for anything else; all logged. The request changes on
 * success only.
 */
int capture_parse_ear(const char *text, const struct tally_log *log,
                      struct capture_request *request);

/* Reads the value of --etb: entries of the trace buffer, 1 to 16. TALLY_ERANGE,
 * also for a second --etb, logged; the request changes on success only. */
int capture_parse_trace(const char *text, const struct tally_log *log,
                        struct capture_request *request);

/* Reads the value of --ip-ear: cycles of the IP-EAR's delay, 0 to 255.
 * TALLY_ERANGE, also for a second --ip-ear, logged; the request changes on
 * success only. */
int capture_parse_retired(const char *text, const struct tally_log *log,
                          struct capture_request *request);

/* Sets the period; `period` 0: the usual one. TALLY_ERANGE, logged, if options
 * of the request exclude each other, or if a period was given for none. */
int capture_complete(struct capture_request *request, uint64_t period,
                     const struct tally_log *log);

/* Checks that the machine has the registers that the request captures with. 0,
 * or TALLY_ERANGE, logged. */
int capture_check_machine(const struct capture_request *request,
                          const struct machine_row *machine,
                          const struct tally_log *log);

/* Returns the event that counts the captures: "DATA_EAR_EVENTS"; NULL: nothing
 * is captured. */
const char *capture_event(const struct capture_request *request);

/* Returns the option that asked for the captures, or NULL. */
const char *capture_option(const struct capture_request *request);

/* Returns why an event of captures reads 0 with this request, or NULL. */
const char *capture_lacks(const struct event_row *event,
                          const struct capture_request *request);

/* Writes what the records are of: "loads of 64 cycles or more". */
void
capture_text(const struct capture_request *request, char *text, size_t size);

/* An entry of the trace buffer or the IP-EAR, as its registers hold it. */
struct capture_entry {
    unsigned number;  /* of the PMD */
    uint64_t value;   /* of the PMD */
    uint64_t address; /* of a bundle: 16 bytes */
    bool source;      /* true: a branch, false: a target; not of the IP-EAR */
    bool mispredicted;
    unsigned slot;   /* of a source; 3: not taken */
    unsigned cycles; /* IP-EAR: since the entry before; 63: or more */
    bool early;      /* IP-EAR: frozen early; the address is that of a page */
};

/* Fills in the record's last entries, oldest first, at most `most`. Returns how
 * many. */
size_t capture_entries(const struct capture_request *request,
                       const struct capture_record *record, size_t most,
                       struct capture_entry entries[CAPTURE_ENTRIES]);

/* Returns the name of a level: "L3", "memory", "L2 TLB", "page walk". */
const char *capture_level_name(unsigned level);

#endif
