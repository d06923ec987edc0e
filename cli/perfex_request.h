/* SPDX-License-Identifier: MIT */
/* The command line of `tally perfex`, and T5_EVENT0 and T5_EVENT1. */
#ifndef TALLY_CLI_PERFEX_REQUEST_H
#define TALLY_CLI_PERFEX_REQUEST_H

#include <stdint.h>

#include "cli/command.h"
#include "cli/count_request.h"
#include "cli/model_options.h"

struct perfex_request {
    const char *machine, *output, *costs;
    char *events; /* all -e joined, or the environment's; NULL; owned */
    const char *events_from; /* T5_EVENT0 and so on, or NULL: -e */
    struct model_options model;
    uint64_t period_ms;
    enum count_format format;
    bool all, threads, signals, exception, kernel, times, table, tables;
};

/* Reads the command line. Returns 0, an exit status, or COMMAND_HELP; *operand
 * is the program's index. The caller calls perfex_request_finish() in any case.
 */
int perfex_request_read(int argc, char **argv, struct perfex_request *request,
                        int *operand);
void perfex_request_finish(struct perfex_request *request);

extern const struct option_row perfex_options[];

#endif
