/* SPDX-License-Identifier: MIT */
/*
 * A profiler's buffers in a file that the program maps, so that they can be
 * dumped after its death: a page of numbers, the text of
 * profiler_calls_location.txt as far as calls were made, with the dump's lines
 * that name the machine and its events between them, then the log of each
 * thread, all of the same size. Numbers are 64-bit words of the order of bytes
 * of the host that wrote it.
 */
#ifndef TALLY_PROFILE_CALL_FILE_H
#define TALLY_PROFILE_CALL_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/call_log.h"

#define CALL_FILE_MAGIC UINT64_C(0x74616c6c79207066) /* "tally pf" */
#define CALL_FILE_VERSION 1
#define CALL_FILE_TEXT 4096      /* where it begins */
#define CALL_FILE_PAGE (1 << 16) /* pages end here on every host */
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
    call_word *head; /* and the text; NULL: no file */
    size_t stride;
};

/*
 * A new file for logs of `bytes`, in place of any other. 0 or TALLY_ESYSTEM
 * with errno set.
 */
int call_file_create(const char *path, size_t bytes, struct call_file *file);

/* Memory for one more log; NULL with errno set. One thread at a time. */
void *call_file_grow(struct call_file *file);

/* Adds a line's text; false: it is full. Any thread, no lock. */
bool call_file_text(struct call_file *file, const char *text, size_t length);

void call_file_close(struct call_file *file);

/* What a file holds, to be read as the text of a dump. */
struct call_image {
    uint64_t *words; /* owned */
    size_t size;     /* bytes */
    const char *text;
    size_t text_size;
    size_t stride, count;
    /* The text of the names, then of the log that is being read. */
    bool named;
    size_t next;
    char *dump;
    size_t used, given;
    size_t room;
};

/* Returns whether the file is one, of either order of bytes; its place stays.
 */
bool call_image_is(int fd);

/*
 * Reads the whole file, of either order of bytes. TALLY_EIO with errno set,
 * TALLY_ENOMEM, or TALLY_ESYNTAX: it is none.
 */
int call_image_read(int fd, struct call_image *image);

/* A dump_fill_fn whose user is the image. */
long call_image_fill(void *image, void *data, size_t size);

void call_image_finish(struct call_image *image);

#endif
