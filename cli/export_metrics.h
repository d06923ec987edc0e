/* SPDX-License-Identifier: MIT */
/* tally export --as openmetrics: reports of counts and of benchmarks, not
 * records, in the format of monitoring. */
#ifndef TALLY_CLI_EXPORT_METRICS_H
#define TALLY_CLI_EXPORT_METRICS_H

#define EXPORT_METRICS "openmetrics" /* the value of --as */

/* Writes the report in `input` ("-": standard input) to `output` (NULL:
 * standard output). Returns an exit status, after telling why. */
int export_metrics(const char *input, const char *output);

#endif
