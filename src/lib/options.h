/* SPDX-License-Identifier: MIT */
/*
 * Options structs of callers that were compiled with an older or a newer
 * library. Each begins with its size, and every default is zero.
 */
#ifndef TALLY_LIB_OPTIONS_H
#define TALLY_LIB_OPTIONS_H

#include <stddef.h>

/* Sets `size` bytes to the defaults, the size in front. */
void options_init(void *options, size_t size);

/*
 * Copies the caller's options into `options`, which this library knows `known`
 * bytes of; NULL: the defaults. What an older caller does not know of keeps its
 * default; TALLY_ERANGE where a newer one sets what is not known here.
 */
int options_read(const void *given, void *options, size_t known);

#endif
