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

/* Returns what a message says of the errno that input_open() or input_stream()
 * has left. */
const char *input_reason(int error);

#endif
