/* SPDX-License-Identifier: MIT */
/*
 * The places of a program where it calls the profiler, whether they are ever
 * called or not: from the section tally_sites of its file, and those in C++
 * from its symbols.
 */
#ifndef TALLY_PROFILE_CALL_PLACES_H
#define TALLY_PROFILE_CALL_PLACES_H

#include <stdint.h>

#include "base/error.h"

/*
 * Hands each place over once, in the file's order. 0; TALLY_EIO with errno set;
 * TALLY_EPROGRAM: it is no 64-bit ELF file, or it has none; TALLY_ENOMEM.
 */
int call_places_read(const char *path,
                     void (*take)(void *user, uint32_t id, const char *file,
                                  uint32_t line, const char *function),
                     void *user);

#endif
