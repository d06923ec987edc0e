/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that the guest's code is mapped from. */
#ifndef TALLY_PLUGIN_MAPPED_H
#define TALLY_PLUGIN_MAPPED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "source/process_counts.h"

/* Notes the file that is mapped at the guest's address. tally names the file
 * when it explains which instruction a program died of: a process that a signal
 * has ended has no /proc/PID/maps to read. */
void mapped_note(struct counts_head *head, uint64_t address);

/*
 * Notes the file that is mapped at the guest's address, and returns 1 + its
 * index in head->file, or 0: the memory is no file's, or there is no room.
 * Writes to *first and *last where the mapping begins and ends, as addresses of
 * the guest; of a place that is not mapped the address itself.
 */
unsigned mapped_find(struct counts_head *head, uint64_t address,
                     uint64_t *first, uint64_t *last);

/* Notes a piece of a file that no mapping shows, unless it is noted, and
 * returns what mapped_find() returns. */
unsigned mapped_add(struct counts_head *head, const struct counts_file *file);

/* Notes the file that is mapped at the guest's address if it is a jitdump
 * (jit-PID.dump), which a program maps so that profilers find it. */
void mapped_note_dump(struct counts_head *head, uint64_t address);

/* Reads a line of /proc/self/maps as the piece of memory that holds `at`, an
 * address of ours; false if the line is of another place. The path is empty
 * where the piece is no file's. Cuts the line's end off. */
bool mapped_read_line(char *line, uint64_t at, struct counts_file *file);

/*
 * What the program that replays a trace has in place of /proc/self/maps, by
 * these names. Addresses are the guest's, `last` is the last one of a piece.
 * Each returns false where nothing is known.
 */
/* The file that was mapped at an address when its code was recorded. */
#define MAPPED_REPLAYED "tally_replayed_mapping"
typedef bool mapped_replayed(uint64_t address, struct counts_file *file);
/* The piece of memory of a number, from 0 on in the order of addresses, as the
 * run has them now. */
#define MAPPED_REPLAYED_PIECE "tally_replayed_piece"
typedef bool mapped_replayed_piece(size_t number, struct counts_file *file);

/* Goes through the pieces of the guest's memory in the order of addresses. */
struct mapped_walk {
    FILE *maps;                      /* or NULL */
    mapped_replayed_piece *replayed; /* or NULL */
    size_t number;                   /* of the next */
};

void mapped_walk_begin(struct mapped_walk *walk);

/* Finds the next piece, in the guest's addresses, `last` its last one. The path
 * is empty where the piece is no file's. Returns false behind the last. */
bool mapped_walk_next(struct mapped_walk *walk, struct counts_file *file);

void mapped_walk_end(struct mapped_walk *walk);

#endif
