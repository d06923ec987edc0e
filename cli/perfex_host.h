/* SPDX-License-Identifier: MIT */
/* tally perfex -m host: the same on the computer's own counters. */
#ifndef TALLY_CLI_PERFEX_HOST_H
#define TALLY_CLI_PERFEX_HOST_H

#include "cli/perfex_request.h"

/* Runs the program with the host's counters. Returns an exit status. */
int perfex_host(const struct perfex_request *request, char **argv);

#endif
