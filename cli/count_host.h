/* SPDX-License-Identifier: MIT */
/* tally count -m host: the computer's own counters. */
#ifndef TALLY_CLI_COUNT_HOST_H
#define TALLY_CLI_COUNT_HOST_H

#include "cli/count_request.h"

/* Whether the request can only be meant for the host: -p, -a, -I ... */
bool count_host_wanted(const struct count_request *request);

/* Counts `argv`, or what the request attaches to; an exit status. */
int count_host(const struct count_request *request, char **argv);

#endif
