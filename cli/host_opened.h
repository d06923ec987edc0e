/* SPDX-License-Identifier: MIT */
/* tally count -m host -v: what was passed to the kernel for each event. */
#ifndef TALLY_CLI_HOST_OPENED_H
#define TALLY_CLI_HOST_OPENED_H

#include <stdio.h>

#include "host/count.h"

/*
 * Prints a line for each event: its PMU, type and config, what is excluded, and
 * on which threads or cpus it was opened, or why it was not.
 */
void host_opened_print(const struct host_event *events, bool inherit,
                       const struct host_counts *counts, FILE *out);

#endif
