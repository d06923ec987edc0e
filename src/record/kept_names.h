/* SPDX-License-Identifier: MIT */
/*
 * The names that a record keeps of an image's executed places: functions,
 * source files and lines, with the frames of functions that were copied into
 * others. They are those of the file that ran, and serve where that file is
 * gone, is another or was stripped by now. doc/format/record.md has the layout.
 *
 * Numbers of texts are indices; 0 is the empty text: not known.
 */
#ifndef TALLY_RECORD_KEPT_NAMES_H
#define TALLY_RECORD_KEPT_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "names/names.h"
#include "record/bytes.h"

/* As struct name_frame. */
struct kept_frame {
    uint32_t function, mangled, file; /* texts */
    uint32_t line, function_line;
};

/* Bytes of the image's file that have the same names. */
struct kept_run {
    uint64_t from, until;     /* offsets in the file */
    uint64_t file_address;    /* that the file gives the first, or UINT64_MAX */
    uint64_t function_offset; /* of the function's first byte, or UINT64_MAX */
    size_t first_frame;       /* in `frames`, the innermost */
    uint32_t frame_count;
};

/* All memory is owned. */
struct kept_names {
    char *path; /* of the image, with `build_id` */
    uint8_t *build_id;
    size_t build_id_size;
    char **texts;
    size_t text_count;
    struct kept_frame *frames;
    size_t frame_count;
    struct kept_run *runs; /* ascending, none overlaps another */
    size_t run_count;
};

/*
 * Appends the names that a file of `names` has for these offsets, which ascend.
 * 0 or TALLY_ENOMEM, after which the bytes are of no use.
 */
int
kept_names_append(struct bytes *to, const char *path, const uint8_t *build_id,
                  size_t build_id_size, struct names *names, unsigned file,
                  const uint64_t *offsets, size_t count);

/* Reads what kept_names_append() wrote into `kept`, which the caller gives to
 * kept_names_finish(), also on failure. 0; TALLY_ESYNTAX where the bytes are
 * something else; TALLY_ENOMEM. */
int kept_names_read(struct cursor *from, struct kept_names *kept);

/* Frees what the struct owns. */
void kept_names_finish(struct kept_names *kept);

/* Returns the run that has the offset, or NULL. */
const struct kept_run *
kept_names_find(const struct kept_names *kept, uint64_t offset);

#endif
