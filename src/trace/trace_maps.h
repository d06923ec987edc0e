/* SPDX-License-Identifier: MIT */
/* What the program of a trace has mapped, as the trace tells it. */
#ifndef TALLY_TRACE_TRACE_MAPS_H
#define TALLY_TRACE_TRACE_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A piece of the program's memory. */
struct trace_map {
    uint64_t first, last; /* addresses */
    uint64_t offset;      /* in the file */
    char *path;           /* owned; "": no file's */
};

/* The pieces in the order of their addresses; no two overlap. */
struct trace_maps {
    struct trace_map *rows; /* owned */
    size_t count, room;
};

/* Nothing is mapped from `first` to `last` any more. Returns false: there is no
 * memory. */
bool trace_maps_clear(struct trace_maps *maps, uint64_t first, uint64_t last);

/* A piece is mapped, in place of what was there. Its path, of `size` bytes, is
 * copied. Returns false: there is no memory. */
bool trace_maps_add(struct trace_maps *maps, const struct trace_map *piece,
                    size_t size);

void trace_maps_finish(struct trace_maps *maps);

#endif
