/* SPDX-License-Identifier: MIT */
/* tally count -I on a modelled machine. */
#ifndef TALLY_CLI_COUNT_INTERVAL_H
#define TALLY_CLI_COUNT_INTERVAL_H

#include "cli/count_request.h"
#include "report/count_report.h"

/*
 * Writes the intervals of a run, of several the one of number `run`, in the
 * request's form, `report` being that of the whole run, its `last` excepted. 0,
 * TALLY_EIO or TALLY_ENOMEM.
 */
int count_intervals(const struct count_request *request,
                    const struct count_report *report, unsigned run,
                    const struct session_result *result, FILE *out);

#endif
