/* SPDX-License-Identifier: MIT */
/*
 * Opens files that a command reads from the beginning to the end. A pipe may
 * stand for such a file, as a shell's <(COMMAND) does; a pipe without a writer
 * does not, since open() and read() would wait for one for ever.
 */
#ifndef TALLY_BASE_INPUT_H
#define TALLY_BASE_INPUT_H

#include <stdio.h>

/* Returns a descriptor of the file, or -1 with errno. A named pipe is given
 * three seconds for a writer to come; without one, errno is ENXIO. */
int input_open(const char *path);

/* The same as a stream, or NULL with errno. */
FILE *input_stream(const char *path);

/* Returns all bytes of a file, with a byte 0 behind them that *size does not
 * count, for the caller to free; or NULL with errno: EFBIG where there are more
 * than `most`. */
char *input_read(const char *path, size_t most, size_t *size);

/* Returns what a message says of the errno that one of these has left. */
const char *input_reason(int error);

#endif
