/* SPDX-License-Identifier: MIT */
/* Where a report goes: stderr, a descriptor, or a file (base/replace.h). */
#ifndef TALLY_CLI_OUTPUT_H
#define TALLY_CLI_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/replace.h"

struct output {
    FILE *file;
    struct replace replace; /* what `file` is of, if `replaces` */
    bool replaces;
};

/* `path` NULL: stderr. 0 or TALLY_EIO, logged. */
int output_open(const char *path, enum replace_way way, struct output *out);

/* Writes to a copy of an open descriptor. 0 or TALLY_EIO, logged. */
int output_open_descriptor(int descriptor, struct output *out);

/* Closes and, if `keep`, puts the file in its place; 0 or TALLY_EIO. */
int output_close(struct output *out, bool keep);

#endif
