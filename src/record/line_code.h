/* SPDX-License-Identifier: MIT */
/* Finds the code of a line of source. */
#ifndef TALLY_RECORD_LINE_CODE_H
#define TALLY_RECORD_LINE_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "source/block.h"
#include "source/program.h"

/*
 * Finds the code that is of one line of a source file, copied into other
 * functions or not, as addresses in the program's file. `where` is FILE:LINE;
 * FILE is the path of the source or the end of it, whole names alone. Stores at
 * most `most` ranges, and their number, 1 at least, in *count. 0; or, logged:
 * TALLY_ESYNTAX, TALLY_EUNKNOWN (no code is of the line), TALLY_ERANGE (more
 * than `most`), or what names_add() says.
 */
int line_code(const struct program *program, const char *where,
              const char *const *debug_dirs, size_t debug_dir_count,
              const struct tally_log *log, struct code_range *ranges,
              size_t most, uint32_t *count);

#endif
