/* SPDX-License-Identifier: MIT */
/*
 * Names of code that a program made while it ran, as the program itself tells
 * them: /tmp/perf-PID.map, which perf reads too. Each line has an address, a
 * size, both hexadecimal, and a name.
 */
#ifndef TALLY_RECORD_PERF_MAP_H
#define TALLY_RECORD_PERF_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_map_row {
    uint64_t first, size;
    char *name; /* owned */
};

struct perf_map {
    struct perf_map_row *rows; /* owned; in the order of the file */
    size_t count;
};

/*
 * Reads the map of a process. A file that is not there, not a regular file, or
 * another user's gives none; lines that are none are left out.
 */
void perf_map_read(int pid, struct perf_map *map);

/* Reads the map in the file at `path`. */
void perf_map_read_file(const char *path, struct perf_map *map);
void perf_map_finish(struct perf_map *map);

#endif
