/* SPDX-License-Identifier: MIT */
/*
 * The buffers of a profiler in a file that the program maps, so that they can
 * be dumped after the program's death. The file holds a page of numbers; a
 * text; and the log of each thread, all logs of one size. The text has a line
 * for each place that has called so far, as in profiler_calls_location.txt, and
 * between these the lines of a dump that name the machine and its events.
 * Numbers are 64-bit words in the byte order of the host that wrote the file.
 */
#ifndef TALLY_PROFILE_CALL_FILE_H
#define TALLY_PROFILE_CALL_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/call_log.h"

#define CALL_FILE_MAGIC UINT64_C(0x74616c6c79207066) /* "tally pf" */
#define CALL_FILE_VERSION 1
#define CALL_FILE_TEXT 4096 /* where the text begins */
#define CALL_FILE_PAGE \
    (1 << 16) /* logs begin at multiples of this: every host's pages do */
#define CALL_FILE_LOGS (1 << 18) /* where the first log begins */

enum call_file_word {
    CALL_FILE_IS,
    CALL_FILE_VERSIONED,
    CALL_FILE_STRIDE, /* of logs, in bytes */
    CALL_FILE_COUNT,  /* of logs */
    CALL_FILE_USED,   /* of the text */
    CALL_FILE_WORDS,
};

struct call_file {
    int fd;
    call_word *head; /* the numbers and the text, mapped; NULL: no file */
    size_t stride;
};

/*
 * Creates a file for logs of `bytes` each, in place of any other at the path. 0
 * or TALLY_ESYSTEM with errno set.
 */
int call_file_create(const char *path, size_t bytes, struct call_file *file);

/* Returns zeroed memory for one more log, or NULL with errno set. One thread at
 * a time. */
void *call_file_grow(struct call_file *file);

/* Adds a line to the text; false: the text is full. From any thread; takes no
 * lock. */
bool call_file_text(struct call_file *file, const char *text, size_t length);

void call_file_close(struct call_file *file);

/* The content of a file, which call_image_fill() gives as the text of dumps. */
struct call_image {
    uint64_t *words; /* owned */
    size_t size;     /* bytes */
    const char *text;
    size_t text_size;
    size_t stride, count;
    bool named;         /* the lines of names were given */
    size_t next;        /* log */
    char *dump;         /* the lines of names, or one log's dump; owned */
    size_t used, given; /* bytes of `dump`; those the caller has */
    size_t room;
};

/* Returns whether the file is a profiler's, of either byte order; the file's
 * offset stays. */
bool call_image_is(int fd);

/*
 * Reads the whole file, of either byte order. 0; TALLY_EIO with errno set;
 * TALLY_ENOMEM; TALLY_ESYNTAX: the file is not a profiler's.
 */
int call_image_read(int fd, struct call_image *image);

/* Gives the file's text, as a dump_fill_fn whose user is the image. */
long call_image_fill(void *image, void *data, size_t size);

void call_image_finish(struct call_image *image);

#endif
