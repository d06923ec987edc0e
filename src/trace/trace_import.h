/* SPDX-License-Identifier: MIT */
/*
 * Reads traces of other programs and hands them to the writer of a trace: the
 * text of Valgrind's lackey, the "din" input of Dinero, the traces of CS:APP's
 * cache lab, the records of ChampSim and those of DynamoRIO's drmemtrace.
 *
 * What is read may be written by anybody: each line or record that cannot be is
 * an error that names its line or its byte. Memory grows with the code that
 * ran, not with the length of the trace.
 */
#ifndef TALLY_TRACE_TRACE_IMPORT_H
#define TALLY_TRACE_TRACE_IMPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "trace/trace_writer.h"

struct trace_import_format {
    const char *name;
    uint64_t holds; /* enum trace_holds, at most */
    bool tested;    /* with files of the program itself */
};

/* Ends with a row without a name. */
extern const struct trace_import_format trace_import_formats[];

/* What of the file has no place in the trace. */
struct trace_import_left {
    uint64_t records; /* lines or records of what a trace does not have */
    const char *what; /* they are; NULL: there are none */
};

struct trace_import;

/* Begins to read the file descriptor `fd`, which stays the caller's; `name`
 * stands for it in messages, `path` is what a shell calls it. *holds becomes
 * what the trace has, enum trace_holds. 0 or an error, logged: of a file of
 * another kind TALLY_ESYNTAX. */
int trace_import_begin(int fd, const char *name,
                       const struct trace_import_format *format,
                       const struct tally_log *log,
                       struct trace_import **import, uint64_t *holds);

/* Reads all of the file into the writer. 0; TALLY_ESYNTAX, logged, for what
 * cannot be; TALLY_EIO or TALLY_ENOMEM, logged; or TALLY_ESYSTEM where the
 * writer takes no more, which has said why. */
int trace_import_all(struct trace_import *import, struct trace_writer *writer,
                     struct trace_import_left *left);

/* Frees the reader. Accepts NULL in *import. */
void trace_import_end(struct trace_import **import);

#endif
