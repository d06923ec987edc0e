/* SPDX-License-Identifier: MIT */
/*
 * Which aligned pieces of 2 MB of a program's memory are huge pages, for the
 * addresses below 2^48. As in Linux, the first access to a piece decides: the
 * piece is a huge page if it may be one at that time, and small pages if not.
 * machine/mappings.h says which pieces may be, and takes decisions back.
 *
 * One thread at a time changes mappings; strands access memory meanwhile.
 */
#ifndef TALLY_MACHINE_HUGE_H
#define TALLY_MACHINE_HUGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define HUGE_SHIFT 21
#define HUGE_SIZE ((uint64_t)1 << HUGE_SHIFT)
#define HUGE_PIECES ((uint64_t)1 << (48 - HUGE_SHIFT))

/* Bit of the number that a huge page has in a TLB. No number of a small page
 * has this bit, and no strand's tag (machine/tlb.h). */
#define HUGE_MARK ((uint64_t)1 << 55)

/* Bits of a piece. */
enum huge_piece {
    HUGE_MAY = 1, /* would be a huge page if it were first accessed now */
    HUGE_IS = 2,  /* is a huge page; */
    HUGE_NOT = 4, /* is small pages; neither: was not accessed yet */
};
#define HUGE_DECIDED (HUGE_IS | HUGE_NOT)

struct huge {
    /* How often a decision was taken back. A strand that knows pages forgets
     * them when this changes. */
    _Atomic uint64_t changes;
    _Atomic uint8_t pieces[HUGE_PIECES]; /* enum huge_piece */
};

/* Creates the pieces of a program, none accessed and none that may be huge.
 * NULL: no memory. The host gives memory only for parts that are used. */
struct huge *huge_create(void);
void huge_destroy(struct huge *h); /* accepts NULL */

/* Sets whether a piece may be a huge page. */
void huge_allow(struct huge *h, uint64_t piece, bool may);

/* Makes a piece a huge page (HUGE_IS), small pages (HUGE_NOT), or one that was
 * not accessed yet (0). */
void huge_decide(struct huge *h, uint64_t piece, unsigned decision);

/* Decides about a piece that is accessed for the first time. Returns whether it
 * is a huge page. */
bool huge_first_access(struct huge *h, uint64_t piece);

/* Returns HUGE_IS, HUGE_NOT or 0. */
static inline unsigned
huge_decision(struct huge *h, uint64_t piece)
{
    return atomic_load_explicit(&h->pieces[piece], memory_order_relaxed) &
           HUGE_DECIDED;
}

/* Returns whether an access to `addr` is to a huge page. */
static inline bool
huge_access(struct huge *h, uint64_t addr)
{
    const uint64_t piece = addr >> HUGE_SHIFT;

    if (piece >= HUGE_PIECES)
        return false;
    const unsigned decision = huge_decision(h, piece);
    return decision != 0 ? decision == HUGE_IS : huge_first_access(h, piece);
}

#endif
