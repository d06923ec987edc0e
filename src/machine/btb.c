/* SPDX-License-Identifier: MIT */
#include "machine/btb.h"

#include <stdlib.h>

#include "table/table.h"

/* No branch is there. */
#define NO_BRANCH UINT64_MAX

struct btb_shape
btb_shape_of(const uint64_t *params)
{
    static const struct {
        int entries, ways, fill; /* fill -1: of the first level */
    } rows[BTB_LEVELS_MOST] = {
        {PARAM_BTB1_ENTRIES, PARAM_BTB1_WAYS, -1},
        {PARAM_BTB2_ENTRIES, PARAM_BTB2_WAYS, PARAM_BTB2_FILL},
        {PARAM_BTB3_ENTRIES, PARAM_BTB3_WAYS, PARAM_BTB3_FILL},
    };
    struct btb_shape shape = {0};

    for (unsigned i = 0; i < BTB_LEVELS_MOST; i++) {
        const uint64_t entries = params[rows[i].entries];
        const uint64_t ways = params[rows[i].ways];
        if (entries == 0)
            break;
        shape.level[shape.levels++] = (struct btb_level_shape){
            entries, ways != 0 ? ways : entries,
            rows[i].fill >= 0 && params[rows[i].fill] == BTB2_FILL_VICTIMS};
    }
    return shape;
}

/* Returns whether the level behind a level takes in what that drives out. */
static bool
drives_out(const struct btb_shape *shape, unsigned level)
{
    return level + 1 < shape->levels && shape->level[level + 1].victims;
}

struct btb *
btb_create(const struct btb_shape *shape)
{
    struct btb *const b = calloc(1, sizeof(*b));

    if (b == NULL)
        return NULL;
    for (unsigned i = 0; i < shape->levels; i++)
        b->size += shape->level[i].entries * (drives_out(shape, i) ? 2 : 1);
    b->memory = malloc(b->size * sizeof(*b->memory));
    if (b->memory == NULL) {
        free(b);
        return NULL;
    }
    uint64_t *next = b->memory;
    for (unsigned i = 0; i < shape->levels; i++) {
        const struct btb_level_shape *const s = &shape->level[i];
        b->levels[b->count++] = (struct btb_level){
            .branches = next,
            .set_mask = s->entries / s->ways - 1,
            .ways = (uint32_t)s->ways,
            .victims = s->victims,
        };
        next += s->entries;
        if (drives_out(shape, i)) {
            b->levels[i].numbers = next;
            next += s->entries;
        }
    }
    btb_reset(b);
    return b;
}

void
btb_destroy(struct btb *b)
{
    if (b != NULL)
        free(b->memory);
    free(b);
}

void
btb_reset(struct btb *b)
{
    for (size_t i = 0; i < b->size; i++)
        b->memory[i] = NO_BRANCH;
}

/* Returns the first entry of the branch's set. */
static inline size_t
set_of(const struct btb_level *l, uint64_t number)
{
    return (number & l->set_mask) * l->ways;
}

/* Makes a branch the most recent of its set. Returns the branch that leaves the
 * set, the branch itself if the level has it already, and sets *number to the
 * number of what leaves. */
static inline uint64_t
enter(struct btb_level *l, size_t set, uint64_t address, uint64_t *number)
{
    uint64_t *const branches = l->branches + set;
    uint64_t next = address;
    uint32_t way = 0;

    do {
        const uint64_t old = branches[way];
        branches[way++] = next;
        next = old;
    } while (next != address && way < l->ways);
    for (uint32_t i = 0; l->numbers != NULL && i < way; i++) {
        const uint64_t old = l->numbers[set + i];
        l->numbers[set + i] = *number;
        *number = old;
    }
    return next;
}

/* Passes on what has left a level: a victim level behind takes it in, and
 * passes on what leaves there. */
static void
pass_on(struct btb *b, unsigned level, uint64_t left, uint64_t number)
{
    while (b->levels[level].numbers != NULL && left != NO_BRANCH) {
        struct btb_level *const l = &b->levels[++level];
        left = enter(l, set_of(l, number), left, &number);
    }
}

/* Takes the branch out of a level. Returns whether the level had it. */
static bool
take_out(struct btb_level *l, size_t set, uint64_t address)
{
    uint64_t *const branches = l->branches + set;
    uint32_t way = 0;

    while (way < l->ways && branches[way] != address)
        way++;
    if (way == l->ways)
        return false;
    for (; way + 1 < l->ways; way++) {
        branches[way] = branches[way + 1];
        if (l->numbers != NULL)
            l->numbers[set + way] = l->numbers[set + way + 1];
    }
    branches[l->ways - 1] = NO_BRANCH;
    return true;
}

/* Looks the branch up behind the first level, which lacks it. What leaves a
 * level goes on once it is known which level has the branch, which may give its
 * place there. `left`, `number`: what has left the first level. */
static __attribute__((noinline)) unsigned
ask_behind(struct btb *b, uint64_t left, uint64_t left_number, uint64_t number,
           uint64_t address)
{
    uint64_t lefts[BTB_LEVELS_MOST] = {left};
    uint64_t numbers[BTB_LEVELS_MOST] = {left_number};
    unsigned level = 1;

    for (; level < b->count; level++) {
        struct btb_level *const l = &b->levels[level];
        const size_t set = set_of(l, number);
        lefts[level] = NO_BRANCH;
        numbers[level] = number;
        if (l->victims && take_out(l, set, address))
            break;
        if (l->victims)
            continue;
        lefts[level] = enter(l, set, address, &numbers[level]);
        if (lefts[level] == address)
            break;
    }
    for (unsigned i = level; i-- > 0;)
        pass_on(b, i, lefts[i], numbers[i]);
    return level < b->count ? level : BTB_NONE;
}

unsigned
btb_ask_slow(struct btb *b, uint64_t number, uint64_t address)
{
    struct btb_level *const l = &b->levels[0];
    const size_t set = set_of(l, number);
    uint64_t left_number = number;

    const uint64_t left = enter(l, set, address, &left_number);
    return left == address ? 0
                           : ask_behind(b, left, left_number, number, address);
}
