/* SPDX-License-Identifier: MIT */
/*
 * Writes a trace: takes the tracer's items, guesses with the model what comes,
 * and keeps what was guessed wrong. The file is a container of chunks
 * (record/chunks.h); each chunk is written as it gets full.
 */
#ifndef TALLY_TRACE_TRACE_WRITER_H
#define TALLY_TRACE_TRACE_WRITER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "trace/trace_format.h"

struct trace_writer;

/* Opens the file and writes its head. `max_size`: bytes that the file may have
 * about, or 0. 0 or an error, logged; `log` stays the caller's. */
int trace_writer_create(const char *path, const struct trace_head *head,
                        uint64_t max_size, const struct tally_log *log,
                        struct trace_writer **writer);

/* Takes items. Returns whether more are wanted: not after an error, behind
 * TRACE_ITEM_STOP, nor once the file has its largest size. */
bool trace_writer_take(struct trace_writer *writer, const uint64_t *items,
                       size_t count);

/* Ends the trace, as the tracer has told what cannot be. */
void trace_writer_refuse(struct trace_writer *writer, const char *what);

/* Writes what was taken until now, so that a kill loses what comes later only.
 */
void trace_writer_flush(struct trace_writer *writer);

/* The bytes of the file until now. */
uint64_t trace_writer_size(const struct trace_writer *writer);

/* Writes how the run ended, `end`, `status` and `counted` of `run`, unless the
 * trace ends before; closes the file and frees the writer. *made becomes what
 * the trace says of the run, and *size the bytes of the file. 0 or the first
 * error there was, logged. */
int trace_writer_end(struct trace_writer **writer, const struct trace_run *run,
                     struct trace_run *made, uint64_t *size);

/* Frees the writer; the file that was there before is there again. Accepts NULL
 * in *writer. */
void trace_writer_abandon(struct trace_writer **writer);

#endif
