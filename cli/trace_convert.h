/* SPDX-License-Identifier: MIT */
/* tally trace export and import: traces in the formats of other programs, and
 * traces of them. */
#ifndef TALLY_CLI_TRACE_CONVERT_H
#define TALLY_CLI_TRACE_CONVERT_H

#include <stdbool.h>

#define TRACE_EXPORTS "lackey, din or champsim"
#define TRACE_IMPORTS "lackey, din, champsim, cachelab or drmemtrace"

/* Writes the trace `path` to the file `output`, NULL or -: standard output, in
 * the format of this name, which may be NULL. Returns an exit status, after
 * saying what is wrong or left out. `quiet`: does not say what is left out. */
int trace_convert_export(const char *path, const char *format,
                         const char *output, bool quiet);

/* Makes the trace `output` of the file `path`, -: standard input, of the format
 * of this name, which may be NULL. Returns an exit status, after saying what is
 * wrong; then nothing is written. `quiet`: does not say what was imported. */
int trace_convert_import(const char *path, const char *format,
                         const char *output, bool quiet);

#endif
