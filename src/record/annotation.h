/* SPDX-License-Identifier: MIT */
/*
 * A record's counts of one function, one source file or the code of an image
 * that has no names, by source line and by instruction.
 *
 * In a function, code that the compiler copied into the function (inlined)
 * counts at the line that calls the copy; in a file, at the line that the code
 * was written in.
 */
#ifndef TALLY_RECORD_ANNOTATION_H
#define TALLY_RECORD_ANNOTATION_H

#include "record/resolver.h"

struct annotated_line {
    uint32_t file;   /* a number of resolver_text(), or 0: not known */
    uint32_t line;   /* or 0 */
    int64_t *values; /* [event_count] */
};

struct annotated_insn {
    uint32_t image; /* of the record, or RECORD_NO_IMAGE */
    uint64_t offset;
    uint64_t address; /* that the image gives it, or in the process */
    uint32_t file, line;
    const uint8_t *code; /* the record's */
    uint8_t size;
    int64_t *values; /* [event_count] */
};

enum annotation_kind {
    ANNOTATE_FUNCTION,
    ANNOTATE_FILE,
    ANNOTATE_IMAGE, /* its code that is of no known function */
};

struct annotation {
    uint32_t name; /* of the function, the source file or the image */
    enum annotation_kind kind;
    bool has_copies; /* of a function: it has code of others (inlined) */
    size_t event_count;
    struct annotated_line *lines; /* by file and line */
    size_t line_count;
    struct annotated_insn *insns; /* by image and offset */
    size_t insn_count;
    int64_t *totals; /* [event_count] */
};

/* Adds up the events (indices in the record) of what has the `name`, a number
 * of resolver_text(), of all processes and threads. 0 or TALLY_ENOMEM, logged.
 */
int annotation_create(const struct record *record, struct resolver *resolver,
                      uint32_t name, enum annotation_kind kind,
                      const size_t *events, size_t event_count,
                      const struct tally_log *log, struct annotation **result);
void annotation_destroy(struct annotation *annotation);

/* Calls `take` for the lines of a source file that have code of what is
 * annotated, whether it ran or not; of a file, in the images of which code of
 * the file ran. A line may come several times; of an image none come. */
void
annotation_each_code_line(const struct annotation *annotation,
                          const struct record *record,
                          struct resolver *resolver, uint32_t file,
                          void (*take)(void *user, unsigned line), void *user);

/* Returns the line, or NULL: no instruction of the line is known. */
const struct annotated_line *
annotation_line(const struct annotation *annotation, uint32_t file,
                uint32_t line);

#endif
