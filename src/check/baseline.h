/* SPDX-License-Identifier: MIT */
/*
 * The file that `tally check` compares with: JSON, a line for each measure and
 * function, in the order of their names, so that it can be committed and
 * merged. doc/format/baseline.md describes it.
 *
 * A benchmark has an entry for each key: machine, instruction set, emulated CPU
 * and version of the model. Counts of different keys are not comparable.
 */
#ifndef TALLY_CHECK_BASELINE_H
#define TALLY_CHECK_BASELINE_H

#include <jansson.h>
#include <stdio.h>

#include "check/result.h"
#include "check/sample.h"

/* Rises when tally counts something else on the same machine. */
#define CHECK_MODEL 1
/* A function with at most 1 of so many of all instructions, and of the cost,
 * is not kept. */
#define CHECK_LEAST_PART 2000u

struct check_baseline_measure {
    char *name;
    struct check_range range;
};

/* What is known of a benchmark on one key. All is the entry's own. */
struct check_entry {
    char *version; /* of the tally that counted */
    char *output;  /* what the benchmark printed: bytes and CRC; "": any */
    unsigned layouts;
    struct check_build *builds;
    size_t build_count;
    struct check_baseline_measure *measures;
    size_t measure_count;
    /* By name, then image. Of a baseline: those that are kept. */
    struct check_counts *functions;
    size_t function_count;
};

/* Accepts a zeroed struct. */
void check_entry_finish(struct check_entry *entry);

struct check_baseline {
    json_t *document; /* owned */
    bool missing;     /* there was no file */
};

/* Makes an empty baseline. 0 or TALLY_ENOMEM. */
int check_baseline_begin(struct check_baseline *baseline);

/* Puts the entries of another baseline in the place of those of the same
 * benchmark and key, and beside the rest. 0 or TALLY_ENOMEM. */
int check_baseline_merge(struct check_baseline *baseline,
                         const struct check_baseline *other);

/* Reads a baseline; no file is an empty one. 0; TALLY_EIO, TALLY_ENOMEM, or
 * TALLY_ESYNTAX for what is no baseline, logged. check_baseline_finish()
 * accepts a zeroed struct. */
int check_baseline_read(const char *path, const struct tally_log *log,
                        struct check_baseline *baseline);
/* The same of text in memory; `name` stands for the file. */
int check_baseline_parse(const char *text, size_t size, const char *name,
                         const struct tally_log *log,
                         struct check_baseline *baseline);
void check_baseline_finish(struct check_baseline *baseline);

/* Returns the key of an entry, for the caller to free; NULL: no memory.
 * `geometry`: a number of the caches of a machine that has those of the host;
 * 0: the machine is the same everywhere. */
char *check_key(const char *machine, const char *isa, const char *cpu,
                uint32_t geometry);

/* Finds the entry of a benchmark. 0; TALLY_EUNKNOWN if there is none; or
 * TALLY_ENOMEM. */
int check_baseline_find(const struct check_baseline *baseline,
                        const char *benchmark, const char *key,
                        struct check_entry *entry);

/* Returns the range of a measure of an entry, or NULL. */
const struct check_range *
check_entry_measure(const struct check_entry *entry, const char *name);

/* Returns another key of the benchmark that has an entry, or NULL. */
const char *check_baseline_other(const struct check_baseline *baseline,
                                 const char *benchmark);

/* Sets the entry of a benchmark, with the functions that have more than 1 of
 * CHECK_LEAST_PART of all instructions or of the cost. 0 or TALLY_ENOMEM. */
int check_baseline_put(struct check_baseline *baseline, const char *benchmark,
                       const char *key, const struct check_entry *entry);

/* Writes the file. 0, TALLY_EIO with errno, or TALLY_ENOMEM. */
int check_baseline_write(const struct check_baseline *baseline, FILE *out);

#endif
