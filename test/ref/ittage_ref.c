/* SPDX-License-Identifier: MIT */
#include "ref/ittage_ref.h"

#include <stdlib.h>

void
ittage_ref_init(struct ittage_ref *t, const struct ittage_shape *shape)
{
    *t = (struct ittage_ref){.shape = *shape, .random = 1};
    ittage_histories(shape, t->histories);
    for (unsigned i = 0; i < shape->tables; i++) {
        t->tables[i] = calloc(shape->entries, sizeof(*t->tables[i]));
        if (t->tables[i] == NULL)
            abort();
    }
}

void
ittage_ref_finish(struct ittage_ref *t)
{
    for (unsigned i = 0; i < ITTAGE_TABLES_MOST; i++)
        free(t->tables[i]);
    free(t->path);
}

/* Returns the hash of the newest `length` taken branches and of a branch. */
static uint64_t
hash_of(const struct ittage_ref *t, unsigned length, uint64_t branch)
{
    uint64_t sum = 0, factor = 1;

    for (size_t age = 0; age < length && age < t->count; age++) {
        sum += t->path[t->count - 1 - age] * factor;
        factor *= ITTAGE_AGE;
    }
    sum ^= branch * ITTAGE_BRANCH;
    return sum ^ sum >> 32;
}

static int
limited(int value, int least, int most)
{
    return value < least ? least : value > most ? most : value;
}

static void
learn(struct ittage_ref_entry *e, uint64_t target)
{
    if (e->target == target)
        e->confidence = limited(e->confidence + 1, 0, 3);
    else if (e->confidence > 0)
        e->confidence--;
    else
        e->target = target;
}

static void
forget_usefulness(struct ittage_ref *t)
{
    for (unsigned i = 0; i < t->shape.tables; i++)
        for (uint64_t k = 0; k < t->shape.entries; k++)
            t->tables[i][k].useful = false;
}

static void
allocate(struct ittage_ref *t, struct ittage_ref_entry **found,
         const uint64_t *tags, unsigned from, uint64_t target)
{
    static const unsigned passed[] = {0, 0, 1, 2};

    t->random = t->random * 6364136223846793005u + 1442695040888963407u;
    unsigned first = from + passed[t->random >> 62];
    if (first >= t->shape.tables)
        first = from;
    for (unsigned i = first; i < t->shape.tables; i++) {
        if (!found[i]->useful) {
            *found[i] =
                (struct ittage_ref_entry){true, false, tags[i], target, 0};
            if (t->pressure > 0)
                t->pressure--;
            return;
        }
    }
    if (++t->pressure == ITTAGE_PRESSURE_MOST) {
        forget_usefulness(t);
        t->pressure = 0;
    }
}

bool
ittage_ref_step(struct ittage_ref *t, uint64_t branch, uint64_t base,
                uint64_t target)
{
    struct ittage_ref_entry *found[ITTAGE_TABLES_MOST];
    uint64_t tags[ITTAGE_TABLES_MOST];
    int provider = -1, alternate = -1;

    for (unsigned i = 0; i < t->shape.tables; i++) {
        const uint64_t hash = hash_of(t, t->histories[i], branch);
        found[i] = &t->tables[i][hash % t->shape.entries];
        tags[i] = hash / 65536 % ((uint64_t)1 << t->shape.tag_bits);
        if (found[i]->used && found[i]->tag == tags[i]) {
            alternate = provider;
            provider = (int)i;
        }
    }

    const uint64_t other = alternate >= 0 ? found[alternate]->target : base;
    const bool other_right = other == target;
    if (provider < 0) {
        if (!other_right)
            allocate(t, found, tags, 0, target);
        return !other_right;
    }

    struct ittage_ref_entry *const e = found[provider];
    const bool own_right = e->target == target;
    const bool unsure = e->confidence == 0;
    const bool right =
        unsure && t->trust_alternate >= 0 ? other_right : own_right;
    if (unsure)
        t->trust_alternate = limited(
            t->trust_alternate + (int)other_right - (int)own_right, -8, 7);
    if (unsure && alternate >= 0)
        learn(found[alternate], target);
    if (own_right && !other_right)
        e->useful = true;
    if (!own_right && other_right)
        e->useful = false;
    learn(e, target);
    if (!right && !own_right && provider + 1 < (int)t->shape.tables)
        allocate(t, found, tags, (unsigned)(provider + 1), target);
    return !right;
}

void
ittage_ref_add(struct ittage_ref *t, uint64_t branch, uint64_t target)
{
    const uint64_t mixed = branch * ITTAGE_BRANCH + target * ITTAGE_TARGET;

    if (t->count == t->room) {
        t->room = t->room * 2 + 1024;
        t->path = realloc(t->path, t->room * sizeof(*t->path));
        if (t->path == NULL)
            abort();
    }
    t->path[t->count++] = mixed ^ mixed >> 32;
}
