/* SPDX-License-Identifier: MIT */
/* Which paths of two builds are of the same file. */
#ifndef TALLY_RECORD_PATH_PAIRS_H
#define TALLY_RECORD_PATH_PAIRS_H

#include <stddef.h>
#include <stdint.h>

#define PATH_ALONE UINT32_MAX

/*
 * Finds for each path of `before` its path in `after`: the same path; of the
 * others with the same file name those whose last folders agree most. No path
 * is taken twice. `to` has room for one index each, or PATH_ALONE. 0 or
 * TALLY_ENOMEM.
 */
int path_pairs_find(const char *const *before, size_t before_count,
                    const char *const *after, size_t after_count, uint32_t *to);

#endif
