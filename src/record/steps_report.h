/* SPDX-License-Identifier: MIT */
/*
 * The report of `tally teach`: steps of a run (source/steps.h) with the names
 * of their places, as JSON and as a page that replays the steps.
 */
#ifndef TALLY_RECORD_STEPS_REPORT_H
#define TALLY_RECORD_STEPS_REPORT_H

#include <stdio.h>

#include "base/error.h"
#include "isa/isa.h"
#include "source/steps.h"
#include "table/table.h"

struct steps_report {
    const struct steps *steps;
    const struct steps_request *request; /* by which they were recorded */
    const struct machine_row *machine;
    const uint64_t *params; /* PARAM_COUNT values */
    uint64_t components;    /* that ran */
    const char *isa;        /* name of the architecture */
    const char *imported;  /* the format that the trace was imported from; NULL:
                              the program or the trace has its code */
    bool has_instructions; /* the trace has addresses of instructions */
    bool has_trace;        /* a trace was replayed */
    const char *creator;   /* "tally 1.2.3" */
    char *const *argv;
    /* How the part was asked for; NULL: not. */
    const char *from, *to, *in, *line;
    const char *const *debug_dirs;
    size_t debug_dir_count;
};

/* Writes JSON (doc/teach.md has its members). 0, TALLY_ENOMEM or TALLY_EIO. */
int steps_json(const struct steps_report *report, FILE *out);

/* Writes the page. 0, TALLY_ENOMEM or TALLY_EIO. */
int steps_page(const struct steps_report *report, FILE *out);

#endif
