/* SPDX-License-Identifier: MIT */
/* The lines of a source file. */
#ifndef TALLY_RECORD_SOURCE_TEXT_H
#define TALLY_RECORD_SOURCE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sources or images that moved: paths that begin with `from` now begin with
 * `to`. */
struct source_move {
    const char *from, *to;
};

struct source_text {
    char *path;    /* where it was read; owned */
    char **lines;  /* [count], without ends of lines; owned */
    size_t count;  /* 0: it could not be read */
    char *text;    /* owned */
    int64_t mtime; /* seconds */
};

/* Returns the path after the first move that fits, for the caller to free;
 * NULL: no memory. */
char *source_moved_path(const char *path, const struct source_move *moves,
                        size_t count);

/* Reads a source file, of at most 64 MB. A file that cannot be read has no
 * lines. */
void source_text_read(const char *path, const struct source_move *moves,
                      size_t move_count, struct source_text *source);
void source_text_finish(struct source_text *source);

/* Returns line `number`, from 1 on; NULL: the file has no such line. */
const char *source_text_line(const struct source_text *source, size_t number);

#endif
