/* SPDX-License-Identifier: MIT */
/* The file that is imported: lines or records of it, and where they stand. */
#ifndef TALLY_TRACE_IMPORT_INPUT_H
#define TALLY_TRACE_IMPORT_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define INPUT_BUFFER (1u << 20)
/* No line is longer. */
#define INPUT_LINE 1000u

struct import_input {
    int fd;
    const char *name; /* in messages */
    const struct tally_log *log;
    uint8_t *buffer; /* INPUT_BUFFER; owned */
    size_t begin, end;
    bool ended;
    uint64_t at;   /* the byte of the file that is at `begin` */
    uint64_t line; /* lines that were read */
};

/* 0 or an error, logged; input_finish() is due in any case. */
int input_init(struct import_input *in, int fd, const char *name,
               const struct tally_log *log);
void input_finish(struct import_input *in);

/* Has `size` bytes, INPUT_BUFFER at most, be in the buffer, or all that are
 * left. Returns how many there are, or an error, logged. */
int input_fill(struct import_input *in, size_t size);

/* Reads a line, without what ends it; it is the input's until the next call. 1,
 * 0 at the end, or an error, logged. */
int input_line(struct import_input *in, const char **text, size_t *size);

/* Reads a record of `size` bytes. 1; 0 at the end; or an error, logged, where
 * the file ends in the middle of a record. */
int input_record(struct import_input *in, size_t size, const uint8_t **bytes);

/* Says that what was read last cannot be: a line ("line 3"), or a record of
 * `size` bytes ("byte 64"). `text` may name a part of it. Returns
 * TALLY_ESYNTAX. */
__attribute__((format(printf, 2, 3))) int
input_bad_line(const struct import_input *in, const char *format, ...);
__attribute__((format(printf, 3, 4))) int
input_bad_record(const struct import_input *in, size_t size, const char *format,
                 ...);

#endif
