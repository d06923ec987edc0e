/* SPDX-License-Identifier: MIT */
/*
 * Error codes and the log callback that carries their text.
 *
 * A fallible function returns 0 or a negative enum tally_error and writes one
 * line to the log that says what is wrong, where, and what would be right.
 */
#ifndef TALLY_BASE_ERROR_H
#define TALLY_BASE_ERROR_H

#include <stdarg.h>

enum tally_error {
    TALLY_ENOMEM = -1,   /* no memory */
    TALLY_EUNKNOWN = -2, /* no such machine, event, parameter or symbol */
    TALLY_ESYNTAX = -3,  /* text does not follow its grammar */
    TALLY_ERANGE = -4,   /* a value outside its limits, impossible geometry */
    TALLY_EPROGRAM = -5, /* program missing, not executable, not ELF */
    TALLY_EARCH = -6,    /* program of the wrong architecture */
    TALLY_EQEMU = -7,    /* QEMU missing or unable to load plugins */
    TALLY_EIDLE = -8,    /* the event can never count on this source */
    TALLY_EIO = -9,      /* a file or pipe failed */
    TALLY_ESYSTEM = -10, /* another system call failed */
};

enum tally_level { TALLY_LOG_ERROR, TALLY_LOG_WARNING, TALLY_LOG_INFO };

/* Receives one line of text without a newline. NULL `write` drops it. */
struct tally_log {
    void (*write)(void *user, enum tally_level level, const char *text);
    void *user;
};

/* A short name for a code: "out of memory", "unknown name", ... */
const char *tally_strerror(int error);

/* Formats one line for `log`, which may be NULL. */
__attribute__((format(printf, 3, 4))) void
tally_logf(const struct tally_log *log, enum tally_level level,
           const char *format, ...);

/* Logs an error and returns `error`: `return tally_fail(log, code, ...);` */
__attribute__((format(printf, 3, 4))) int
tally_fail(const struct tally_log *log, enum tally_error error,
           const char *format, ...);

#endif
