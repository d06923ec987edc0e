/* SPDX-License-Identifier: MIT */
/* Reads TOML 1.0 by the library toml++, whose C++ stays behind this. */
#ifndef TALLY_CHECK_TOML_H
#define TALLY_CHECK_TOML_H

#include <jansson.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Reads a document of `size` bytes. Returns its root table, for the caller to
 * let go of: tables are objects, in which members stand in the order of their
 * names. NULL: `error`, of `room` bytes, says in one line why, with the line
 * and column. Dates and times are refused, as are 0 bytes in text, values that
 * nest deeper than 256, and keys of more than 8 parts.
 */
json_t *toml_read(const char *text, size_t size, char *error, size_t room);

#ifdef __cplusplus
}
#endif

#endif
