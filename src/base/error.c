/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

const char *
tally_strerror(int error)
{
    switch (error) {
    case 0:
        return "no error";
    case TALLY_ENOMEM:
        return "out of memory";
    case TALLY_EUNKNOWN:
        return "unknown name";
    case TALLY_ESYNTAX:
        return "syntax error";
    case TALLY_ERANGE:
        return "value out of range";
    case TALLY_EPROGRAM:
        return "program cannot be run";
    case TALLY_EARCH:
        return "wrong architecture";
    case TALLY_EQEMU:
        return "QEMU unusable";
    case TALLY_EIDLE:
        return "event cannot count here";
    case TALLY_EIO:
        return "input or output failed";
    case TALLY_ESYSTEM:
        return "system call failed";
    case TALLY_ERULE:
        return "against a rule";
    case TALLY_EPERMISSION:
        return "not permitted";
    default:
        return "unknown error";
    }
}

static void
log_valist(const struct tally_log *log, enum tally_level level,
           const char *format, va_list args)
{
    char text[1024];

    if (log == NULL || log->write == NULL)
        return;
    vsnprintf(text, sizeof(text), format, args);
    log->write(log->user, level, text);
}

void
tally_logf(const struct tally_log *log, enum tally_level level,
           const char *format, ...)
{
    va_list args;

    va_start(args, format);
    log_valist(log, level, format, args);
    va_end(args);
}

int
tally_fail(const struct tally_log *log, enum tally_error error,
           const char *format, ...)
{
    va_list args;

    va_start(args, format);
    log_valist(log, TALLY_LOG_ERROR, format, args);
    va_end(args);
    return error;
}
