/* SPDX-License-Identifier: MIT */
/*
 * Error codes and the log callback that carries their text.
 *
 * A function that can fail returns 0 or a negative enum tally_error. What is
 * wrong, where, and what would be right it tells the log, in one line.
 */
#ifndef TALLY_ERROR_H
#define TALLY_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

/* @since 0.1 */
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
    TALLY_ERULE = -11,   /* a rule of the machine, or of the call, forbids it */
    TALLY_EPERMISSION = -12, /* the system does not permit it */
};

/* @since 0.1 */
enum tally_level { TALLY_LOG_ERROR, TALLY_LOG_WARNING, TALLY_LOG_INFO };

/*
 * Receives one line of text without a newline, on the thread that made the
 * call; the text is the library's and lives until `write` returns. NULL
 * `write` drops it.
 *
 * @since 0.1
 */
struct tally_log {
    void (*write)(void *user, enum tally_level level, const char *text);
    void *user;
};

#ifdef __cplusplus
}
#endif

#endif
