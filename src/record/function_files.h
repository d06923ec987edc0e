/* SPDX-License-Identifier: MIT */
/*
 * The source file that each function of a record begins in. A line of a header
 * in the midst of a function must not make another function of it, so that the
 * file of the function's first instruction counts.
 */
#ifndef TALLY_RECORD_FUNCTION_FILES_H
#define TALLY_RECORD_FUNCTION_FILES_H

#include "base/numbering.h"
#include "record/resolver.h"

struct function_files {
    struct numbering functions; /* by image and first byte */
    uint64_t *files;            /* of each function; owned */
    size_t room;
};

/* Prepares an empty table, which needs no memory yet. */
void function_files_init(struct function_files *f);
void function_files_finish(struct function_files *f);

/* Notes the files of all functions of a record. 0 or TALLY_ENOMEM. */
int function_files_note(struct function_files *f, const struct record *record,
                        struct resolver *resolver);

/* Returns the file, a number of resolver_text(), that the function of frame
 * `frame` begins in; of a copied function the file of the frame. */
uint32_t function_files_find(struct function_files *f, const struct resolved *r,
                             size_t frame);

#endif
