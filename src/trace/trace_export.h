/* SPDX-License-Identifier: MIT */
/*
 * Writes what a trace has in the formats of other programs: the text of
 * Valgrind's lackey (--trace-mem=yes), the "din" input of Dinero, and the
 * records that ChampSim reads.
 *
 * Each instruction that began is written, each iteration of one that repeats
 * itself, and behind it its accesses, in the pieces of at most 8 bytes in which
 * QEMU makes them. System calls have no place in these formats.
 */
#ifndef TALLY_TRACE_TRACE_EXPORT_H
#define TALLY_TRACE_TRACE_EXPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "trace/trace_reader.h"

struct trace_export_format {
    const char *name;
    bool binary; /* nothing for a terminal */
    bool code;   /* asks for the instructions, which an imported trace has not,
                    and of one thread alone */
};

/* Ends with a row without a name. */
extern const struct trace_export_format trace_export_formats[];

/* What was written, and what of the trace has no place in the format. */
struct trace_exported {
    uint64_t instructions, accesses;
    uint64_t accesses_left;  /* of instructions with too many of them */
    uint64_t registers_left; /* likewise */
    uint64_t strays_left;    /* accesses of no instruction */
};

/*
 * Reads the trace to its end and writes all of it to `out`. Memory does not
 * grow with the length of the trace. 0, an error of the reader, logged, behind
 * which `out` has what came before; TALLY_EIO, not logged, where `out` could
 * not be written; TALLY_EPROGRAM, not logged, where the format has one thread
 * and the trace more; TALLY_ENOMEM.
 */
int trace_export(struct trace_reader *reader,
                 const struct trace_export_format *format, FILE *out,
                 struct trace_exported *exported);

#endif
