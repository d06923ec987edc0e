/* SPDX-License-Identifier: MIT */
/*
 * What `tally curve` asks of a run, and what the processes count: for each size
 * of one level of caches or TLBs, how many accesses such a size would miss. All
 * processes of a session add to one struct curve_counts in the session's
 * memory. The program could write there too, so that readers take the numbers
 * as they are and no index from them.
 */
#ifndef TALLY_SOURCE_CURVE_H
#define TALLY_SOURCE_CURVE_H

#include <stdatomic.h>
#include <stdint.h>

#define CURVE_SIZES 512u /* of one run */
#define CURVE_SETS 32u   /* numbers of sets of one run */
#define CURVE_WAYS 64u   /* of a set, at most */
#define CURVE_GROUPS 16u /* of the lines of a sample */
#define CURVE_SAMPLE_MOST 65536u

enum curve_kind {
    CURVE_NONE,    /* no curve is asked for */
    CURVE_FULL,    /* full associativity, all lines */
    CURVE_BY_SETS, /* lines of a set */
    CURVE_SAMPLED, /* full associativity, some of the lines */
};

enum curve_level {
    CURVE_L1D,
    CURVE_DTLB,
    CURVE_L1I,
    CURVE_ITLB,
    CURVE_L2,
    CURVE_L3,
    CURVE_LEVELS,
};

struct curve_request {
    uint32_t kind;   /* enum curve_kind */
    uint32_t level;  /* enum curve_level */
    uint32_t shift;  /* log2 of a line or page */
    uint32_t sample; /* CURVE_SAMPLED: one line of so many */
    uint32_t size_count;
    uint32_t set_count;
    /* 1: each access that is counted is recorded too, by its instruction and,
     * where objects are recorded, its data; as a site of its class. */
    uint32_t parts;
    uint32_t reserved;
    uint64_t lines[CURVE_SIZES]; /* sizes in lines, ascending; of CURVE_FULL
                                    and CURVE_SAMPLED */
    uint64_t sets[CURVE_SETS];   /* powers of two, ascending; of
                                    CURVE_BY_SETS */
    uint32_t ways[CURVE_SETS];   /* of each, the most that are asked for */
    uint64_t asked[CURVE_SETS];  /* and all: bit N of N + 1 ways */
};

/*
 * The classes of accesses, where parts are recorded: accesses of one class miss
 * in the same of the sizes that are asked for. Without sets an access whose
 * distance reaches so many of the sizes is of the class of that number, an
 * access to a line that was not asked for before of the one behind the last of
 * these. With sets an access has a class for each number of sets, by how many
 * of the ways that are asked for it misses. Class 0 misses in none.
 */
#define CURVE_CLASSES (CURVE_SETS * CURVE_WAYS + 1)

static inline unsigned
curve_first_class(const struct curve_request *r)
{
    return r->size_count + 1;
}

/* Returns the class of an access that `ways` of the ways that are asked for of
 * a number of sets, which is an index, miss. */
static inline unsigned
curve_set_class(const struct curve_request *r, unsigned sets, unsigned ways)
{
    unsigned before = 0;

    if (ways == 0)
        return 0;
    for (unsigned i = 0; i < sets; i++)
        before += (unsigned)__builtin_popcountll(r->asked[i]);
    return before + ways;
}

/* Returns how many of the ways that are asked for of a number of sets an access
 * misses that comes after `depth` others of its set. */
static inline unsigned
curve_missed_ways(const struct curve_request *r, unsigned sets, unsigned depth)
{
    return (unsigned)__builtin_popcountll(
        depth < CURVE_WAYS ? r->asked[sets] & ((UINT64_C(1) << depth) - 1)
                           : r->asked[sets]);
}

/* Returns how many classes there are without class 0: the last one. */
static inline unsigned
curve_class_count(const struct curve_request *r)
{
    return r->kind == CURVE_BY_SETS
               ? curve_set_class(
                     r, r->set_count - 1,
                     (unsigned)__builtin_popcountll(r->asked[r->set_count - 1]))
               : curve_first_class(r);
}

/* An access to a line after others is told by its distance, the number of lines
 * in between: of a size in lines, those with a distance as large or larger
 * miss. */
struct curve_counts {
    /* Requests that came to a level behind the L1s. */
    atomic_uint_fast64_t asked;
    /* Accesses to lines that were not asked for before, by group. */
    atomic_uint_fast64_t first[CURVE_GROUPS];
    /* Accesses that are in no bin, for want of memory. */
    atomic_uint_fast64_t lost;
    /* Accesses whose distance reaches so many of the sizes, by group. Those of
     * [0] are incomplete: an access that hits in all sizes need not be seen. */
    atomic_uint_fast64_t bins[CURVE_GROUPS][CURVE_SIZES + 1];
    /* CURVE_BY_SETS: accesses to a line before which so many others of its set
     * were asked for, from 1 on; and those before which more were than the set
     * has ways, or that are first. */
    atomic_uint_fast64_t depths[CURVE_SETS][CURVE_WAYS];
    atomic_uint_fast64_t beyond[CURVE_SETS];
};

#endif
