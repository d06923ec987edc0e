/* SPDX-License-Identifier: MIT */
/*
 * The slow, obvious twin of machine/prefetcher.h: it keeps the lines that were
 * asked for, and judges by the last three of them. Lines that wait to be asked
 * for are in one list, of which all are looked at after each request.
 */
#ifndef TALLY_TEST_PREFETCHER_REF_H
#define TALLY_TEST_PREFETCHER_REF_H

#include <stddef.h>

#include "ref/cache_ref.h"

/* The lines that an instruction, or a page, was asked about, newest first. */
struct asked_ref {
    uint64_t key; /* the instruction or the page */
    uint64_t lines[3];
    unsigned count;
};

/* A zeroed one asks for nothing. */
struct prefetcher_ref {
    uint64_t kind, degree, distance, entries;
    uint64_t page_lines;
    bool all_pages;          /* of which lines are asked for */
    struct asked_ref *asked; /* [entries] by instruction; of pages, [used] of
                                them, newest first */
    size_t used;
    uint64_t *waiting; /* [waiting_count] of [waiting_room] */
    size_t waiting_count, waiting_room;
};

/* Lines to ask for. */
struct wanted_ref {
    unsigned count;
    uint64_t lines[8];
};

/* `params`: the five parameters of the prefetcher. Exits where there is no
 * memory. */
void prefetcher_ref_init(struct prefetcher_ref *p, const uint64_t *params,
                         uint32_t line_size);
void prefetcher_ref_finish(struct prefetcher_ref *p);

/* Finds what the prefetcher asks for when it is asked about a line. */
void prefetcher_ref_ask(struct prefetcher_ref *p, uint64_t line,
                        uint64_t instruction, struct wanted_ref *wanted);

/* The line waits to be asked for. */
void prefetcher_ref_wait(struct prefetcher_ref *p, uint64_t line);
/* Whether the line waits. */
bool prefetcher_ref_waits(const struct prefetcher_ref *p, uint64_t line);
/* Whether the line waited; it does no more. */
bool prefetcher_ref_used(struct prefetcher_ref *p, uint64_t line);
/* How many lines that waited the cache has no more; they wait no more. */
unsigned
prefetcher_ref_lost(struct prefetcher_ref *p, const struct cache_ref *cache);

#endif
