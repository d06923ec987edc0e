/* SPDX-License-Identifier: MIT */
/*
 * What every part of libtally shares. libtally counts what a program does on
 * an emulated processor: see tally/event.h for what there is to count and
 * tally/session.h for counting it.
 *
 * The library does not print or exit, and keeps no state of its own: calls
 * from several threads do not disturb each other unless a function says so.
 */
#ifndef TALLY_TALLY_H
#define TALLY_TALLY_H

#include "tally/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TALLY_API __attribute__((visibility("default")))
#else
#define TALLY_API
#endif

/*
 * The version of the library that runs, "MAJOR.MINOR.PATCH".
 *
 * @since 0.1
 */
TALLY_API const char *tally_version(void);

/*
 * A short name for an enum tally_error: "out of memory", "unknown name", ...
 * Never NULL; 0 is "no error".
 *
 * @since 0.1
 */
TALLY_API const char *tally_strerror(int error);

#ifdef __cplusplus
}
#endif

#endif
