/* SPDX-License-Identifier: MIT */
/* Where a report goes: stderr, or a file that appears whole. */
#ifndef TALLY_CLI_OUTPUT_H
#define TALLY_CLI_OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

struct output {
    FILE *file;
    char *temporary; /* renamed to `target` at the end, or NULL */
    char target[PATH_MAX];
};

/* How a file comes to be. */
enum output_kind {
    OUTPUT_WHOLE,  /* appears, or replaces another, when all is written */
    OUTPUT_FOLLOW, /* is there from the start, for who reads along */
    OUTPUT_APPEND, /* goes on where it ends */
};

/* `path` NULL: stderr. 0 or TALLY_EIO, logged. */
int output_open(const char *path, enum output_kind kind, struct output *out);

/* Writes to a copy of an open descriptor. 0 or TALLY_EIO, logged. */
int output_open_descriptor(int descriptor, struct output *out);

/* Closes and, if `keep`, puts the file in its place; 0 or TALLY_EIO. */
int output_close(struct output *out, bool keep);

#endif
