/* SPDX-License-Identifier: MIT */
/*
 * Global event counters between tally-ecadmin and tally-ecstats. On IRIX the
 * kernel keeps them; here a process does that ecadmin leaves behind, with the
 * system-mode calls of syssgi(). A file that it and others map holds what is
 * wanted and what was counted; while it lives it has the file locked.
 */
#ifndef TALLY_EC_H
#define TALLY_EC_H

#include <stdatomic.h>
#include <stdio.h>

#include "irix.h"

#define EC_MAGIC 0x74616c6c79656331u /* "tallyec1" */
#define EC_FILE "/run/tally-ecadmin" /* or what TALLY_EC_FILE names */

struct ec_counts {
    uint64_t time_ns; /* monotonic */
    int32_t generation;
    uint16_t spec[VIRTUAL_EVENTS];
    struct counter_reading sum[VIRTUAL_EVENTS];
};

struct ec_state {
    uint64_t magic;
    int32_t processor;
    /* ecadmin writes `wanted` and counts `asked` up; the keeper answers. All 0
     * ends it. */
    uint16_t wanted[VIRTUAL_EVENTS];
    atomic_uint asked, answered;
    int32_t error;        /* errno of the answer */
    atomic_uint sequence; /* odd: `counts` is being written */
    struct ec_counts counts;
};

/*
 * Maps the file; with `create` makes one where there is none. NULL with a
 * message on stderr. *kept: somebody keeps the counters.
 */
struct ec_state *ec_open(const char *program, bool create, bool *kept);

/* Removes the file, unless somebody keeps the counters. */
void ec_remove(void);

/* Becomes the process that keeps the counters, in the background; returns in
 * the caller. 0, or -1 with errno. */
int ec_keep(struct ec_state *state);

/* Asks the keeper and waits. 0 or an errno. */
int ec_ask(struct ec_state *state, const uint16_t wanted[VIRTUAL_EVENTS]);

/* Reads all counts as the keeper wrote them at one time; false: the keeper died
 * while it wrote, or never ceases to write. */
bool ec_read(struct ec_state *state, struct ec_counts *counts);
/* One try of ec_read(). */
bool ec_try_read(struct ec_state *state, struct ec_counts *counts);

/* Says that ec_read() failed. Returns the status to end with. */
int ec_unreadable(const char *program);

/* What tally-ecstats shows. */
struct ec_view {
    bool absolute, screen, all, talk;
};

/* Prints the counts, or what was counted from the first to the second. */
void ec_print(FILE *out, const struct ec_view *view, int processor,
              const struct ec_counts *from, const struct ec_counts *to);

/* The event's name with blanks, and its number by a name or number; -1. */
void ec_name(int processor, unsigned event, char *text, size_t size);
int ec_find(int processor, const char *name);

#endif
