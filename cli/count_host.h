/* SPDX-License-Identifier: MIT */
/* tally count -m host: the computer's own counters. */
#ifndef TALLY_CLI_COUNT_HOST_H
#define TALLY_CLI_COUNT_HOST_H

#include "cli/count_request.h"

/* Returns an option of the request that only the host has: -p, -a, -D ...; or
 * NULL. */
const char *count_host_option(const struct count_request *request);

/* Counts `argv`, or what the request attaches to; an exit status. */
int count_host(const struct count_request *request, char **argv);

/* Returns the advice for a host option that was given with a modelled machine,
 * or NULL if a modelled machine has no counterpart. */
const char *count_host_instead(const char *option);

#endif
