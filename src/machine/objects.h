/* SPDX-License-Identifier: MIT */
/*
 * Which object of a process is at an address: numbers by pages, and by words of
 * 8 bytes or by bytes where objects share a page. A page's own number stands
 * for words that have none.
 *
 * Several threads may look up while one changes numbers; the caller sees to it
 * that one does. Memory once taken is kept until objects_finish().
 */
#ifndef TALLY_MACHINE_OBJECTS_H
#define TALLY_MACHINE_OBJECTS_H

#include <stdint.h>

#define OBJECTS_PAGE 4096u /* bytes */
#define OBJECTS_WORD 8u

/* A page whose words have numbers. */
struct objects_page {
    uint32_t own;                /* of words with 0 */
    uint32_t shift;              /* words have 1 << shift bytes */
    struct objects_page *before; /* what the page was with longer words */
    uint32_t word[];
};

struct objects {
    uintptr_t **parts; /* of 4 GiB each: 2 * number + 1, a page, or 0 */
};

/* 0 or TALLY_ENOMEM. objects_finish() accepts a zeroed struct. */
int objects_init(struct objects *o);
void objects_finish(struct objects *o);

/* Gives the words of a range of bytes a number; 0: their pages' own number.
 * Ranges without memory to note them keep what they have. */
void
objects_put(struct objects *o, uint64_t first, uint64_t size, uint32_t object);

/* Gives bytes numbers in the same way, on pages with a number a byte. */
void objects_put_bytes(struct objects *o, uint64_t first, uint64_t size,
                       uint32_t object);

/* Gives the page of an address its own number. */
void objects_put_page(struct objects *o, uint64_t addr, uint32_t object);

/* The pages of a range have no numbers any more, nor do their words. */
void objects_forget(struct objects *o, uint64_t first, uint64_t size);

/* Returns the number at an address; 0: none is known. */
uint32_t objects_find(const struct objects *o, uint64_t addr);

#endif
