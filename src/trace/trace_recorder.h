/* SPDX-License-Identifier: MIT */
/*
 * Records a trace: a thread takes what the tracer in QEMU tells and writes it,
 * while the caller runs the program.
 */
#ifndef TALLY_TRACE_TRACE_RECORDER_H
#define TALLY_TRACE_TRACE_RECORDER_H

#include "base/error.h"
#include "trace/trace_format.h"

struct trace_recorder;

/* Opens the file, writes its head, and begins to take. 0 or an error, logged.
 * `log` stays the caller's until the end, and may be called from the thread. */
int trace_recorder_begin(const char *path, const struct trace_head *head,
                         uint64_t max_size, const struct tally_log *log,
                         struct trace_recorder **recorder);

/* The place of the ring, for the tracer. */
const char *trace_recorder_ring(const struct trace_recorder *recorder);

/* The bytes of the file until now. Any thread may ask. */
uint64_t trace_recorder_size(const struct trace_recorder *recorder);

/* Takes what is left once the program has ended, writes how it ended, closes
 * the file and frees the recorder. *run becomes what the trace has. 0 or an
 * error, logged. */
int trace_recorder_end(struct trace_recorder **recorder, struct trace_run *run,
                       uint64_t *size);

/* Frees the recorder; the file that was there before is there again. */
void trace_recorder_abandon(struct trace_recorder **recorder);

#endif
