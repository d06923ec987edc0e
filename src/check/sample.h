/* SPDX-License-Identifier: MIT */
/*
 * One run of a benchmark, as far as `tally check` looks at it: the counts of
 * the whole run, each function's own instructions and cost, and which files
 * ran. Read from a record of the run.
 */
#ifndef TALLY_CHECK_SAMPLE_H
#define TALLY_CHECK_SAMPLE_H

#include "names/names.h"
#include "record/record.h"

/* What a function counted itself: without the functions that it calls. */
struct check_counts {
    char *name, *image; /* UTF-8, other bytes escaped; image: file name */
    uint64_t instructions, cost;
    uint64_t calls; /* how often its first instruction ran; 0: not known */
};

/* Orders two struct check_counts by name, then image; for qsort(). */
int check_counts_order(const void *a, const void *b);

/* A file that ran. */
struct check_build {
    char *name; /* without folders; UTF-8, other bytes escaped */
    char *id;   /* build id in hexadecimal; "": it has none */
};

struct check_sample {
    char *isa, *cpu, *version; /* of tally; cpu "": the emulator's own */
    uint64_t *counts;          /* [event_count], of all processes and threads */
    size_t event_count;
    /* By name, then image; no two have both. */
    struct check_counts *functions;
    size_t function_count;
    struct check_build *builds; /* in the record's order */
    size_t build_count;
    int status;         /* as waitpid() gives it */
    bool whole;         /* the record and the run have their end */
    const char *varies; /* why counts may differ in the next run; or NULL */
};

/* Reads a record. `events`: names of the record's events, of which the first
 * is instructions and the second the cost. `files`: what was read of the files
 * of programs, for all records of them; NULL: nothing is kept. The sample owns
 * all that it has.
 * Returns 0; TALLY_ENOMEM, or TALLY_EUNKNOWN where the record lacks an event,
 * both logged. check_sample_finish() accepts a zeroed struct and what is left
 * of a failure. */
int check_sample_read(const struct record *record, const char *const *events,
                      size_t event_count, struct names *files,
                      const struct tally_log *log, struct check_sample *sample);
void check_sample_finish(struct check_sample *sample);

/* Returns the text as UTF-8 with other bytes escaped, for the caller to free;
 * NULL: no memory. */
char *check_text(const char *text);

#endif
