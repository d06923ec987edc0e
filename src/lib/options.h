/* SPDX-License-Identifier: MIT */
/*
 * Reads options structs of callers that were compiled with an older or a newer
 * library. Each struct begins with its size, and every default is zero.
 */
#ifndef TALLY_LIB_OPTIONS_H
#define TALLY_LIB_OPTIONS_H

#include <stddef.h>

/* Sets `size` bytes to the defaults, the size in front. */
void options_init(void *options, size_t size);

/*
 * Copies the caller's options into `options`, of which this library knows
 * `known` bytes; `given` NULL: the defaults. Members that an older caller lacks
 * keep their defaults. 0; TALLY_ERANGE if a newer caller sets members that this
 * library does not know.
 */
int options_read(const void *given, void *options, size_t known);

#endif
