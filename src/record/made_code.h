/* SPDX-License-Identifier: MIT */
/*
 * Names of code that a program made while it ran, as the program itself tells
 * them in the two forms that perf reads:
 *
 * - /tmp/perf-PID.map: a line of text for each piece of code, with its address
 *   and size, both hexadecimal, and its name;
 * - a jitdump (Linux tools/perf/Documentation/jitdump-specification.txt):
 * pieces of code with their names, code bytes and source lines, in the order in
 *   which they were made, in the byte order of the program.
 *
 * Another process wrote these files: lines and records that cannot be are left
 * out, a jitdump that breaks off is read up to there, and no more is read or
 * kept than 512 MB and a million pieces of code.
 */
#ifndef TALLY_RECORD_MADE_CODE_H
#define TALLY_RECORD_MADE_CODE_H

#include <stdio.h>

#include "base/texts.h"

/* Code from an address on is from a line of a source file. */
struct made_line {
    uint64_t address;
    uint32_t line;
    uint32_t file; /* of made_code.files */
};

/* A piece of code. */
struct made_code_row {
    uint64_t first, size;    /* addresses */
    char *name;              /* owned */
    uint8_t *code;           /* [size] owned; NULL: not told */
    struct made_line *lines; /* [line_count] owned; by address */
    size_t line_count;
};

struct made_code {
    struct made_code_row *rows; /* owned; in the order of telling */
    size_t count, room;
    uint32_t *order; /* owned; rows by address, then by order of telling */
    struct texts files;
    size_t code_size, name_size; /* bytes that are kept */
};

/*
 * Reads what process `pid` tells: /tmp/perf-PID.map, and the jitdump at the
 * path `dump`, or NULL. A file that is not there, not a regular file, or
 * another user's gives nothing. Without memory something is missing.
 */
void made_code_read(int pid, const char *dump, struct made_code *m);

/* Add what a file has. made_code_init() comes before. */
void made_code_read_map(FILE *file, struct made_code *m);
void made_code_read_dump(FILE *file, struct made_code *m);

/* Prepares made_code_find(), after the last row. */
void made_code_index(struct made_code *m);

/*
 * Returns the piece of code that the instruction at `address` is from, or NULL.
 * The block of code at `block_address` has the instruction: of several pieces
 * of code with the address the one that was told last with the block's bytes
 * holds, else the one that was told last.
 */
const struct made_code_row *
made_code_find(const struct made_code *m, uint64_t address,
               uint64_t block_address, const uint8_t *block, size_t block_size);

void made_code_init(struct made_code *m);
void made_code_finish(struct made_code *m);

#endif
