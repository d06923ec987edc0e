/* SPDX-License-Identifier: MIT */
/*
 * Finds the places of a program that call the profiler, whether the program
 * reaches them or not: places in C by the section tally_sites of the program's
 * file, places in C++ by the file's symbols.
 */
#ifndef TALLY_PROFILE_CALL_PLACES_H
#define TALLY_PROFILE_CALL_PLACES_H

#include <stdint.h>

#include "base/error.h"

/*
 * Hands each place over once, in the file's order. 0; TALLY_EIO with errno set;
 * TALLY_EPROGRAM: the file is no 64-bit ELF file or has no such place;
 * TALLY_ENOMEM.
 */
int call_places_read(const char *path,
                     void (*take)(void *user, uint32_t id, const char *file,
                                  uint32_t line, const char *function),
                     void *user);

#endif
