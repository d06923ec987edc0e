/* SPDX-License-Identifier: MIT */
/* What `tally count --filter` counts: a range of the program's code. */
#ifndef TALLY_PROFILE_FILTER_H
#define TALLY_PROFILE_FILTER_H

#include "base/error.h"
#include "source/block.h"

/*
 * Reads "code=FUNCTION" or "code=FIRST-LAST", addresses of the program's file
 * in hexadecimal or decimal, both included. 0; TALLY_ESYNTAX, TALLY_ERANGE, or
 * what program_function() says; *range is untouched then.
 */
int filter_parse(const char *text, const char *program,
                 const struct tally_log *log, struct code_range *range);

#endif
