/* SPDX-License-Identifier: MIT */
/* What tally summarize was asked for; its options are read in parts. */
#ifndef TALLY_CLI_SUMMARIZE_H
#define TALLY_CLI_SUMMARIZE_H

#include "cli/command.h"
#include "report/summary_report.h"

enum summarize_form {
    SUMMARIZE_TEXT,
    SUMMARIZE_CSV,
    SUMMARIZE_JSON,
    SUMMARIZE_TEJA,
};

#define SUMMARIZE_METRICS 64

struct summarize_request {
    struct summary_options options;
    enum summarize_form form;
    double clock; /* 0: not given */
    const char *locations, *color;
    const char *html, *xlsx; /* files to write, or NULL */
    bool by_given, form_given;
    bool recover;  /* the files are buffers of programs that died */
    char **inputs; /* NAME=VALUE */
    size_t input_count;
    const char *metric_list; /* names, or NULL: all */
    const struct metric_row *metrics[SUMMARIZE_METRICS];
    size_t metric_count;
    char **files;
    size_t file_count;
};

/* Reads the value of --by, as "thread,region". Returns 0, or EXIT_USAGE after
 * telling why. */
int summarize_by(const char *text, unsigned *by);

/*
 * Finds the metrics and inputs by name on this machine; NULL: on any machine
 * that dumps name. Returns 0, or EXIT_USAGE after telling why.
 */
int summarize_metrics(struct summarize_request *request,
                      const struct machine_row *machine);
int summarize_inputs(const struct summarize_request *request,
                     const struct machine_row *machine,
                     struct summary_input *inputs);

#endif
