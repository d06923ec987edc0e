/* SPDX-License-Identifier: MIT */
/*
 * Shows the caches some of a program's data at other addresses than the program
 * has them: with a gap after each so many bytes, as a padded array would have,
 * or a gap once before all; or with some bytes of some lines in lines of their
 * own. So a run tells what such a change of the program would save, while the
 * program stays as it is.
 *
 * The new addresses are 2^47 and up, where no program of a 47-bit address space
 * has any: an address modulo 2^41 keeps its place, and its sets where there is
 * no gap before it. Data of one object that stand 2 TiB apart come together.
 * Bytes of group N of a line go N times 2 TiB and N lines further on.
 */
#ifndef TALLY_SOURCE_MOVES_H
#define TALLY_SOURCE_MOVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The largest part of memory that may be gaps: `every` and `gap` together are
 * at most so many times `every`. */
#define MOVES_GROWTH 64u
#define MOVES_GAP (UINT64_C(1) << 40) /* at most, bytes */
#define MOVES_OBJECTS 64u
#define MOVES_PARTS 48u
#define MOVES_LINE 64u  /* the longest line that is parted, bytes */
#define MOVES_SHIFT 41u /* log2 of 2 TiB */

/* How the lines of a range are parted. */
struct moves_part {
    uint64_t first, last; /* addresses, of a first and of a last byte of a line
                           */
    /* Of each byte of a line the group, below the line's bytes: 0 stays, and
     * each other group has a line for itself. */
    uint8_t group[MOVES_LINE];
};

/* What is moved, and how; the same from the first access to the last. */
struct moves {
    uint64_t every; /* bytes; 0: the gap is before all data */
    uint64_t gap;   /* bytes */
    uint64_t line;  /* 0, or the size of lines that are parted in place of gaps
                     */
    uint32_t part_count;
    struct moves_part parts[MOVES_PARTS]; /* in order of addresses */
    uint32_t count;
    uint32_t
        objects[MOVES_OBJECTS]; /* numbers, as recorder_object() has them */
};

/* Returns whether the gaps are such that moves_address() can put them. */
bool moves_fit(uint64_t every, uint64_t gap);

/* Returns whether the data of an object are moved. With `m` NULL none are. */
static inline bool
moves_object(const struct moves *m, uint32_t object)
{
    for (uint32_t i = 0; m != NULL && i < m->count; i++) {
        if (m->objects[i] == object)
            return true;
    }
    return false;
}

/* Returns whether moves_address() can move data so. */
bool moves_are_valid(const struct moves *m);

/* Reads EVERY:GAP:OBJECTS, such as 4096:64:17,18, or LINE:PARTS:OBJECTS, such
 * as 64:0x4c7200-0x4c723f=8-15/16-23:17: of the lines of 64 bytes from one
 * address to another, bytes 8 to 15 go to a line of their own, and bytes 16 to
 * 23 to another. PARTS has ranges of lines with commas between. Returns false
 * where the text is not so. */
bool moves_read(struct moves *m, const char *text);

/* Returns the text that moves_read() reads, for the caller to free; NULL: no
 * memory. */
char *moves_text(const struct moves *m);

/* Returns the group of the byte of an address, where lines are parted. */
unsigned moves_group(const struct moves *m, uint64_t addr);

/* Returns where the caches see the data of an address of such an object. */
static inline uint64_t
moves_address(const struct moves *m, uint64_t addr)
{
    const uint64_t place = addr & ((UINT64_C(1) << MOVES_SHIFT) - 1);

    if (m->line != 0) {
        const uint64_t group = moves_group(m, addr);
        return (UINT64_C(1) << 47) + (group << MOVES_SHIFT) +
               (place + group * m->line) % (UINT64_C(1) << MOVES_SHIFT);
    }
    const uint64_t gaps = m->every != 0 ? place / m->every : 1;

    return (UINT64_C(1) << 47) + place + gaps * m->gap;
}

#endif
