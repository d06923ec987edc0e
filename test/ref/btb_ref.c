/* SPDX-License-Identifier: MIT */
#include "ref/btb_ref.h"

#include <stdlib.h>

void
btb_ref_init(struct btb_ref *b, const struct btb_shape *shape)
{
    *b = (struct btb_ref){.shape = *shape};
    for (unsigned i = 0; i < shape->levels; i++) {
        b->held[i] = calloc(shape->level[i].entries, sizeof(*b->held[i]));
        if (b->held[i] == NULL)
            abort();
    }
}

void
btb_ref_finish(struct btb_ref *b)
{
    for (unsigned i = 0; i < BTB_LEVELS_MOST; i++)
        free(b->held[i]);
}

/* Returns the branch in a level, or NULL. */
static struct btb_ref_branch *
find(struct btb_ref *b, unsigned level, uint64_t address)
{
    for (size_t i = 0; i < b->count[level]; i++) {
        if (b->held[level][i].address == address)
            return &b->held[level][i];
    }
    return NULL;
}

static void
drop(struct btb_ref *b, unsigned level, struct btb_ref_branch *branch)
{
    *branch = b->held[level][--b->count[level]];
}

/* Puts a branch into a level; the least recently used of its set makes room,
 * and goes to a victim level behind. */
static void
put(struct btb_ref *b, unsigned level, uint64_t number, uint64_t address)
{
    const struct btb_level_shape *const shape = &b->shape.level[level];
    const uint64_t sets = shape->entries / shape->ways;
    struct btb_ref_branch *oldest = NULL;
    uint64_t in_set = 0;

    for (size_t i = 0; i < b->count[level]; i++) {
        struct btb_ref_branch *const branch = &b->held[level][i];
        if (branch->number % sets != number % sets)
            continue;
        in_set++;
        if (oldest == NULL || branch->used < oldest->used)
            oldest = branch;
    }
    if (in_set == shape->ways) {
        const struct btb_ref_branch left = *oldest;
        drop(b, level, oldest);
        if (level + 1 < b->shape.levels && b->shape.level[level + 1].victims)
            put(b, level + 1, left.number, left.address);
    }
    b->held[level][b->count[level]++] =
        (struct btb_ref_branch){number, address, ++b->time};
}

unsigned
btb_ref_ask(struct btb_ref *b, uint64_t number, uint64_t address)
{
    unsigned has = 0;

    while (has < b->shape.levels && find(b, has, address) == NULL)
        has++;
    if (has < b->shape.levels) {
        struct btb_ref_branch *const branch = find(b, has, address);
        branch->used = ++b->time;
        if (b->shape.level[has].victims)
            drop(b, has, branch);
    }
    for (unsigned i = has; i-- > 0;) {
        if (!b->shape.level[i].victims)
            put(b, i, number, address);
    }
    return has < b->shape.levels ? has : BTB_NONE;
}
