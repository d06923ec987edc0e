/* SPDX-License-Identifier: MIT */
/*
 * The history of a table is kept folded, so that a branch costs the same
 * however long it is: bit j of the history, the newest being 0, stands in bit j
 * % width of the fold, together by exclusive or with all others that stand
 * there. A table has three folds, of its index and of two parts of its tag,
 * which stand in one word with a bit free above each: all widths are the same
 * for all tables, so that a branch moves the words of two tables at a time.
 */
#include "machine/tage.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TAG_MASK ((1u << TAGE_TAG_BITS) - 1)
#define NO_TAG UINT16_MAX
#define COUNTER_MOST 3
#define COUNTER_LEAST (-4)
#define USEFUL_MOST 3
#define TRUST_MOST 7
#define TRUST_LEAST (-8)
#define HISTORY_SIZE 256u
#define PAIRS ((TAGE_TABLES + 1) / 2)

/* Where the folds stand in a word. */
#define TAG_AT 0u
#define BESIDE_BITS (TAGE_TAG_BITS - 1)
#define BESIDE_AT (TAGE_TAG_BITS + 1)
#define INDEX_AT (BESIDE_AT + BESIDE_BITS + 2)

static_assert(TAGE_HISTORY_MOST < HISTORY_SIZE, "the ring has all of it");

/* The words of two tables. */
typedef uint64_t pair __attribute__((vector_size(16)));

struct entry {
    uint16_t tag;
    int8_t counter; /* taken if not negative */
    uint8_t useful;
};

/* The folds of two tables. */
struct folds {
    pair bits;
    pair out; /* where the oldest bit stands when it leaves, of each fold */
};

struct tage {
    struct folds folds[PAIRS]; /* of tables 0 and 1, 2 and 3, ... */
    struct entry *entries[TAGE_TABLES];
    uint8_t age[2 * PAIRS]; /* of the oldest bit of each table's history */
    uint8_t *base;          /* [base_mask + 1] 0 to 3, taken from 2 on */
    uint64_t base_mask, mask;
    unsigned index_bits;
    /* Whether entries that are new are wrong more often than what they are to
     * replace: then this is not negative. */
    int trust_alternate;
    /* A ring of directions, all bits of one: taken. */
    uint64_t history[HISTORY_SIZE];
    uint8_t newest; /* in the ring; older ones come behind */
    uint64_t random;
    uint32_t until_halved;
};

void
tage_histories(unsigned longest, unsigned histories[TAGE_TABLES])
{
    const double ratio = (double)longest / TAGE_HISTORY_LEAST;

    for (unsigned i = 0; i < TAGE_TABLES; i++) {
        const double part = (double)i / (TAGE_TABLES - 1);
        histories[i] = (unsigned)lround(TAGE_HISTORY_LEAST * pow(ratio, part));
        if (i > 0 && histories[i] <= histories[i - 1])
            histories[i] = histories[i - 1] + 1;
    }
}

/* A fold has a bit at least, also for tables of one entry. */
static inline unsigned
index_width(const struct tage *t)
{
    return t->index_bits > 0 ? t->index_bits : 1;
}

struct tage *
tage_create(uint64_t counters, unsigned longest)
{
    const uint64_t each = counters / 64;
    unsigned histories[TAGE_TABLES], bits = 0;
    struct tage *const t = calloc(1, sizeof(*t));

    if (t == NULL)
        return NULL;
    while ((uint64_t)1 << bits < each)
        bits++;
    t->mask = each - 1;
    t->base_mask = counters / 8 - 1;
    t->index_bits = bits;
    t->base = malloc(counters / 8);
    struct entry *entries = malloc(TAGE_TABLES * each * sizeof(*entries));
    if (t->base == NULL || entries == NULL) {
        free(t->base);
        free(entries);
        free(t);
        return NULL;
    }
    tage_histories(longest, histories);
    for (unsigned i = 0; i < TAGE_TABLES; i++) {
        t->entries[i] = entries + i * each;
        t->age[i] = (uint8_t)(histories[i] - 1);
        t->folds[i / 2].out[i % 2] =
            (uint64_t)1 << (TAG_AT + histories[i] % TAGE_TAG_BITS) |
            (uint64_t)1 << (BESIDE_AT + histories[i] % BESIDE_BITS) |
            (uint64_t)1 << (INDEX_AT + histories[i] % index_width(t));
    }
    tage_reset(t);
    return t;
}

void
tage_destroy(struct tage *t)
{
    if (t == NULL)
        return;
    free(t->entries[0]);
    free(t->base);
    free(t);
}

void
tage_reset(struct tage *t)
{
    for (uint64_t i = 0; i < TAGE_TABLES * (t->mask + 1); i++)
        t->entries[0][i] = (struct entry){.tag = NO_TAG, .counter = -1};
    for (unsigned i = 0; i < PAIRS; i++)
        t->folds[i].bits = (pair){0};
    memset(t->base, 1, t->base_mask + 1);
    memset(t->history, 0, sizeof(t->history));
    t->trust_alternate = 0;
    t->random = 1;
    t->until_halved = TAGE_PERIOD;
}

/* Moves all folds by one bit: the newest comes in at the bottom, the oldest
 * leaves, and what comes out at the top goes round to the bottom. */
static inline void
add_history(struct tage *t, bool taken)
{
    const unsigned index = index_width(t);
    const uint64_t bottoms = (uint64_t)1 << TAG_AT | (uint64_t)1 << BESIDE_AT |
                             (uint64_t)1 << INDEX_AT;
    const pair tag_top = (pair){0} + ((uint64_t)1 << (TAG_AT + TAGE_TAG_BITS));
    const pair beside_top =
        (pair){0} + ((uint64_t)1 << (BESIDE_AT + BESIDE_BITS));
    const pair index_top = (pair){0} + ((uint64_t)1 << (INDEX_AT + index));
    const uint64_t newest = taken ? UINT64_MAX : 0;
    const pair comes = (pair){0} + (newest & bottoms);

    for (unsigned i = 0; i < PAIRS; i++) {
        struct folds *const f = &t->folds[i];
        const pair oldest = {
            t->history[(uint8_t)(t->newest + t->age[(size_t)2 * i])],
            t->history[(uint8_t)(t->newest + t->age[(size_t)2 * i + 1])]};
        const pair moved = f->bits << 1 ^ comes ^ (oldest & f->out);
        const pair tag = moved & tag_top, beside = moved & beside_top,
                   number = moved & index_top;
        f->bits = moved ^ tag ^ beside ^ number ^ tag >> TAGE_TAG_BITS ^
                  beside >> BESIDE_BITS ^ number >> index;
    }
    t->history[--t->newest] = newest;
}

static inline void
count(int8_t *counter, bool taken)
{
    if (taken && *counter < COUNTER_MOST)
        ++*counter;
    if (!taken && *counter > COUNTER_LEAST)
        --*counter;
}

static inline void
count_base(uint8_t *counter, bool taken)
{
    if (taken && *counter < 3)
        ++*counter;
    if (!taken && *counter > 0)
        --*counter;
}

/* Returns 0 to 3, each as often. */
static unsigned
chance(struct tage *t)
{
    t->random = t->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(t->random >> 62);
}

/* Makes an entry behind table `from` - 1 for a branch that was predicted
 * wrongly, in the first table whose entry is not useful: half of the times one
 * is passed over, so that not all land in the same. If all are useful, all
 * become less so.
 */
static void
allocate(struct tage *t, struct entry *const *found, const uint16_t *tags,
         unsigned from, bool taken)
{
    const unsigned drawn = chance(t);
    unsigned i = from + (drawn == 3 ? 2 : drawn == 2 ? 1 : 0);

    if (i >= TAGE_TABLES)
        i = from;
    while (i < TAGE_TABLES && found[i]->useful > 0)
        i++;
    if (i < TAGE_TABLES) {
        *found[i] = (struct entry){tags[i], taken ? 0 : -1, 0};
        return;
    }
    for (i = from; i < TAGE_TABLES; i++) {
        if (found[i]->useful > 0)
            found[i]->useful--;
    }
}

static void
halve_usefulness(struct tage *t)
{
    t->until_halved = TAGE_PERIOD;
    for (uint64_t i = 0; i < TAGE_TABLES * (t->mask + 1); i++)
        t->entries[0][i].useful >>= 1;
}

/* Returns the index of a branch in a table with tags, and finds its tag. */
static inline uint64_t
index_of(const struct tage *t, unsigned table, uint64_t branch, uint16_t *tag)
{
    const uint64_t mixed = branch ^ branch >> t->index_bits;
    const uint64_t folds = t->folds[table / 2].bits[table % 2];

    *tag = (uint16_t)((branch ^ folds >> TAG_AT ^ folds >> BESIDE_AT << 1) &
                      TAG_MASK);
    return (mixed ^ folds >> INDEX_AT) & t->mask;
}

void
tage_look(const struct tage *t, uint64_t branch, struct tage_view *view)
{
    *view = (struct tage_view){.index = branch & t->base_mask};
    for (unsigned i = TAGE_TABLES; i > 0 && view->table == 0; i--) {
        uint16_t tag;
        const uint64_t index = index_of(t, i - 1, branch, &tag);
        if (t->entries[i - 1][index].tag != tag)
            continue;
        *view = (struct tage_view){.table = i, .index = index, .tag = tag};
    }
    tage_look_again(t, view);
}

void
tage_look_again(const struct tage *t, struct tage_view *view)
{
    if (view->table == 0) {
        view->counter = t->base[view->index];
        return;
    }
    const struct entry *const e = &t->entries[view->table - 1][view->index];
    view->counter = e->counter;
    view->useful = e->useful;
}

bool
tage_step(struct tage *t, uint64_t branch, bool taken)
{
    struct entry *found[TAGE_TABLES];
    uint16_t tags[TAGE_TABLES];
    uint8_t *const base = &t->base[branch & t->base_mask];
    /* 1 + the tables of the longest and the next longest history with the tag;
     * 0: the base table. */
    unsigned provider = 0, alternate = 0;

    for (unsigned i = 0; i < TAGE_TABLES; i++) {
        found[i] = &t->entries[i][index_of(t, i, branch, &tags[i])];
        if (found[i]->tag == tags[i]) {
            alternate = provider;
            provider = i + 1;
        }
    }

    const bool other =
        alternate > 0 ? found[alternate - 1]->counter >= 0 : *base >= 2;
    bool predicted = other;
    if (provider == 0) {
        count_base(base, taken);
    } else {
        struct entry *const e = found[provider - 1];
        const bool own = e->counter >= 0;
        const bool is_new =
            e->useful == 0 && (e->counter == 0 || e->counter == -1);
        if (!is_new || t->trust_alternate < 0)
            predicted = own;
        if (is_new && own != other) {
            if (other == taken && t->trust_alternate < TRUST_MOST)
                t->trust_alternate++;
            if (other != taken && t->trust_alternate > TRUST_LEAST)
                t->trust_alternate--;
        }
        /* What an entry replaces goes on to learn until the entry is useful. */
        if (e->useful == 0 && alternate > 0)
            count(&found[alternate - 1]->counter, taken);
        if (e->useful == 0 && alternate == 0)
            count_base(base, taken);
        if (own != other && own == taken && e->useful < USEFUL_MOST)
            e->useful++;
        if (own != other && own != taken && e->useful > 0)
            e->useful--;
        count(&e->counter, taken);
    }
    if (predicted != taken && provider < TAGE_TABLES)
        allocate(t, found, tags, provider, taken);
    if (--t->until_halved == 0)
        halve_usefulness(t);
    add_history(t, taken);
    return predicted != taken;
}
