/* SPDX-License-Identifier: MIT */
/*
 * Writes to the log callback. The error codes are those of the public library.
 *
 * A fallible function returns 0 or a negative enum tally_error and writes one
 * line to the log that says what is wrong, where, and what would be right.
 */
#ifndef TALLY_BASE_ERROR_H
#define TALLY_BASE_ERROR_H

#include "tally/tally.h"

/* Formats one line for `log`, which may be NULL. */
__attribute__((format(printf, 3, 4))) void
tally_logf(const struct tally_log *log, enum tally_level level,
           const char *format, ...);

/* Logs an error and returns `error`: `return tally_fail(log, code, ...);` */
__attribute__((format(printf, 3, 4))) int
tally_fail(const struct tally_log *log, enum tally_error error,
           const char *format, ...);

#endif
