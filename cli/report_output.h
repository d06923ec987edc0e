/* SPDX-License-Identifier: MIT */
/* Where the report of a record goes: a file, the terminal, or stdout. */
#ifndef TALLY_CLI_REPORT_OUTPUT_H
#define TALLY_CLI_REPORT_OUTPUT_H

#include "record/breakdown_report.h"

struct report_output {
    const char *path;  /* of -o, or NULL: stdout */
    const char *color; /* the value of --color, or NULL */
    bool text;         /* for people: through a pager where that helps */
};

/* Calls `write` with the stream that the report goes to and how it looks there.
 * `write` returns 0, TALLY_EIO or TALLY_ENOMEM. Returns a status after saying
 * what went wrong; a file is written whole or stays as it was. */
int
report_output_write(const struct report_output *output,
                    int (*write)(void *user, const struct breakdown_look *look,
                                 FILE *out),
                    void *user);

#endif
