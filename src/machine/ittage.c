/* SPDX-License-Identifier: MIT */
/*
 * The history of a table is kept as one word, so that a branch costs the same
 * however long the history is: the sum of the hashes of its branches, each
 * times ITTAGE_AGE to the power of the branch's age. A taken branch multiplies
 * the sum by ITTAGE_AGE, adds the hash of the newest branch and subtracts that
 * of the one that leaves. Unlike folds by exclusive or, such a sum does not
 * cancel out where the path repeats itself.
 */
#include "machine/ittage.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "source/block.h"
#include "table/table.h"

#define NO_TAG UINT16_MAX
#define CONFIDENCE_MOST 3
#define TRUST_MOST 7
#define TRUST_LEAST (-8)
#define HISTORY_SIZE 512u

static_assert(ITTAGE_HISTORY_MOST + ITTAGE_TABLES_MOST < HISTORY_SIZE,
              "the ring has all of it");

struct entry {
    uint64_t target;
    uint16_t tag;
    uint8_t confidence;
    uint8_t useful;
};

struct ittage {
    uint64_t history[ITTAGE_TABLES_MOST]; /* the sums */
    uint64_t leaves[ITTAGE_TABLES_MOST];  /* factor of the hash that leaves */
    uint32_t lengths[ITTAGE_TABLES_MOST];
    unsigned tables;
    uint32_t newest;       /* in the ring; older ones come behind */
    struct entry *entries; /* [tables][mask + 1] */
    uint64_t mask, tag_mask;
    /* Whether entries without confidence are wrong more often than what they
     * are to replace: then this is not negative. */
    int trust_alternate;
    uint32_t pressure;
    uint64_t random;
    uint64_t ring[HISTORY_SIZE]; /* hashes of taken branches */
};

struct ittage_shape
ittage_shape_of(const uint64_t *params)
{
    return (struct ittage_shape){
        .tables = (unsigned)params[PARAM_ITTAGE_TABLES],
        .entries = params[PARAM_ITTAGE_ENTRIES],
        .tag_bits = (unsigned)params[PARAM_ITTAGE_TAG],
        .shortest = (unsigned)params[PARAM_ITTAGE_SHORTEST],
        .longest = (unsigned)params[PARAM_ITTAGE_LONGEST],
    };
}

void
ittage_histories(const struct ittage_shape *shape,
                 unsigned histories[ITTAGE_TABLES_MOST])
{
    const double ratio = (double)shape->longest / shape->shortest;

    for (unsigned i = 0; i < shape->tables; i++) {
        const double part =
            shape->tables > 1 ? (double)i / (shape->tables - 1) : 1;
        histories[i] = (unsigned)lround(shape->shortest * pow(ratio, part));
        if (i > 0 && histories[i] <= histories[i - 1])
            histories[i] = histories[i - 1] + 1;
    }
}

struct ittage *
ittage_create(const struct ittage_shape *shape)
{
    struct ittage *const t = calloc(1, sizeof(*t));

    if (t == NULL)
        return NULL;
    t->entries = malloc(shape->tables * shape->entries * sizeof(*t->entries));
    if (t->entries == NULL) {
        free(t);
        return NULL;
    }
    t->tables = shape->tables;
    t->mask = shape->entries - 1;
    t->tag_mask = ((uint64_t)1 << shape->tag_bits) - 1;
    ittage_histories(shape, t->lengths);
    for (unsigned i = 0; i < t->tables; i++) {
        t->leaves[i] = 1;
        for (unsigned age = 0; age < t->lengths[i]; age++)
            t->leaves[i] *= ITTAGE_AGE;
    }
    ittage_reset(t);
    return t;
}

void
ittage_destroy(struct ittage *t)
{
    if (t == NULL)
        return;
    free(t->entries);
    free(t);
}

void
ittage_reset(struct ittage *t)
{
    for (uint64_t i = 0; i < t->tables * (t->mask + 1); i++)
        t->entries[i] = (struct entry){.tag = NO_TAG, .target = NO_LINE};
    memset(t->history, 0, sizeof(t->history));
    memset(t->ring, 0, sizeof(t->ring));
    t->newest = 0;
    t->trust_alternate = 0;
    t->pressure = 0;
    t->random = 1;
}

void
ittage_add(struct ittage *t, uint64_t branch, uint64_t target)
{
    const uint64_t mixed = branch * ITTAGE_BRANCH + target * ITTAGE_TARGET;
    const uint64_t hash = mixed ^ mixed >> 32;

    for (unsigned i = 0; i < t->tables; i++) {
        const uint64_t oldest =
            t->ring[(t->newest + t->lengths[i] - 1) % HISTORY_SIZE];
        t->history[i] =
            t->history[i] * ITTAGE_AGE + hash - oldest * t->leaves[i];
    }
    t->newest = (t->newest - 1) % HISTORY_SIZE;
    t->ring[t->newest] = hash;
}

/* Returns 0 to 3, each as often. */
static unsigned
chance(struct ittage *t)
{
    t->random = t->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(t->random >> 62);
}

/* Has an entry learn where its branch went: another target takes confidence
 * away, and the place of one in which there is none. */
static inline void
teach(struct entry *e, uint64_t target)
{
    if (e->target != target && e->confidence == 0)
        e->target = target;
    else if (e->target != target)
        e->confidence--;
    else if (e->confidence < CONFIDENCE_MOST)
        e->confidence++;
}

/* Counts that no entry was free: often enough, and none is useful any more. */
static void
press(struct ittage *t)
{
    if (++t->pressure < ITTAGE_PRESSURE_MOST)
        return;
    t->pressure = 0;
    for (uint64_t i = 0; i < t->tables * (t->mask + 1); i++)
        t->entries[i].useful = 0;
}

/* Makes an entry in table `from` or one behind it, the first whose entry is not
 * useful: half of the times one is passed over, so that not all land in the
 * same. */
static void
allocate(struct ittage *t, struct entry *const *found, const uint16_t *tags,
         unsigned from, uint64_t target)
{
    const unsigned drawn = chance(t);
    unsigned i = from + (drawn == 3 ? 2 : drawn == 2 ? 1 : 0);

    if (i >= t->tables)
        i = from;
    while (i < t->tables && found[i]->useful)
        i++;
    if (i == t->tables) {
        press(t);
        return;
    }
    *found[i] = (struct entry){.target = target, .tag = tags[i]};
    t->pressure -= t->pressure > 0;
}

bool
ittage_step(struct ittage *t, uint64_t branch, uint64_t base, uint64_t target)
{
    struct entry *found[ITTAGE_TABLES_MOST];
    uint16_t tags[ITTAGE_TABLES_MOST];
    const uint64_t spread = branch * ITTAGE_BRANCH;
    /* 1 + the tables of the longest and the next longest history with the tag;
     * 0: the base table. */
    unsigned provider = 0, alternate = 0;

    for (unsigned i = 0; i < t->tables; i++) {
        const uint64_t sum = t->history[i] ^ spread;
        const uint64_t hash = sum ^ sum >> 32;
        found[i] = &t->entries[i * (t->mask + 1) + (hash & t->mask)];
        tags[i] = (uint16_t)(hash >> 16 & t->tag_mask);
        if (found[i]->tag == tags[i]) {
            alternate = provider;
            provider = i + 1;
        }
    }

    const uint64_t other = alternate > 0 ? found[alternate - 1]->target : base;
    uint64_t predicted = other;
    bool known = false;
    if (provider > 0) {
        struct entry *const e = found[provider - 1];
        const bool unsure = e->confidence == 0;
        known = e->target == target;
        if (!unsure || t->trust_alternate < 0)
            predicted = e->target;
        if (unsure && other == target && !known &&
            t->trust_alternate < TRUST_MOST)
            t->trust_alternate++;
        if (unsure && other != target && known &&
            t->trust_alternate > TRUST_LEAST)
            t->trust_alternate--;
        /* What an entry is to replace goes on to learn until then. */
        if (unsure && alternate > 0)
            teach(found[alternate - 1], target);
        if (known != (other == target))
            e->useful = known;
        teach(e, target);
    }
    if (predicted != target && !known && provider < t->tables)
        allocate(t, found, tags, provider, target);
    return predicted != target;
}
