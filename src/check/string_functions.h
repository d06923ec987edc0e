/* SPDX-License-Identifier: MIT */
/*
 * Functions of C libraries that execute more or fewer instructions for the same
 * strings by where these stand in memory: near the end of a page a vector would
 * reach into the next page, and the function takes another path. So a change of
 * the program that moves its constants changes how much these functions do,
 * although the program asks for the same. The rows are from
 * data/string-functions.toml.
 */
#ifndef TALLY_CHECK_STRING_FUNCTIONS_H
#define TALLY_CHECK_STRING_FUNCTIONS_H

#include <stdint.h>

struct string_function {
    const char *name; /* as C has it */
    uint32_t most;    /* instructions by which two calls with the same strings
                         may differ */
};

/* Ended by a row without a name. */
extern const struct string_function string_functions[];

/* Returns the row of a function by its name in the C library, such as
 * "__strlen_avx2" or "strlen"; NULL: there is none. */
const struct string_function *string_function_find(const char *name);

#endif
