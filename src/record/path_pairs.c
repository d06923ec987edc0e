/* SPDX-License-Identifier: MIT */
#include "record/path_pairs.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/path.h"
#include "record/keys.h"

/* Two paths with one file name. */
struct candidate {
    uint32_t before, after;
    uint32_t agreeing; /* folders at the end that are the same */
};

struct candidates {
    struct candidate *all;
    size_t count, room;
};

/* Returns how many folders before the file name agree. */
static uint32_t
agreeing(const char *a, const char *b)
{
    const char *x = path_base(a), *y = path_base(b);
    uint32_t count = 0;

    while (x > a && y > b && x[-1] == y[-1]) {
        x--;
        y--;
        count += *x == '/';
    }
    return count;
}

static bool
add(struct candidates *c, const struct candidate *one)
{
    if (c->count == c->room) {
        const size_t room = c->room != 0 ? 2 * c->room : 64;
        struct candidate *all = reallocarray(c->all, room, sizeof(*all));
        if (all == NULL)
            return false;
        c->all = all;
        c->room = room;
    }
    c->all[c->count++] = *one;
    return true;
}

/* Orders by the number of folders that agree, the most first. */
static int
compare(const void *x, const void *y)
{
    const struct candidate *a = x, *b = y;

    if (a->agreeing != b->agreeing)
        return a->agreeing < b->agreeing ? 1 : -1;
    if (a->before != b->before)
        return a->before < b->before ? -1 : 1;
    return (a->after > b->after) - (a->after < b->after);
}

/* The paths of `after`, by file name: a list for each name. */
struct by_name {
    struct keys names;
    uint32_t *first; /* [name of either build] 1 + a path, or 0 */
    uint32_t *next;  /* [path] 1 + the next one of the name, or 0 */
};

static int
list_names(struct by_name *n, const char *const *paths, size_t count,
           size_t others)
{
    n->first = calloc(count + others + 1, sizeof(*n->first));
    n->next = calloc(count + 1, sizeof(*n->next));
    if (n->first == NULL || n->next == NULL)
        return TALLY_ENOMEM;
    /* From the end, so that each list is in the order of the paths. */
    for (size_t i = count; i-- > 0;) {
        const char *name = path_base(paths[i]);
        const uint32_t number = keys_add(&n->names, name, strlen(name));
        if (number == KEYS_NONE)
            return TALLY_ENOMEM;
        n->next[i] = n->first[number];
        n->first[number] = (uint32_t)i + 1;
    }
    return 0;
}

/* Pairs paths that are equal; lists the others with one file name. */
static int
pair_equal(struct by_name *n, const char *const *before, size_t before_count,
           const char *const *after, uint32_t *to, bool *taken,
           struct candidates *c)
{
    for (size_t i = 0; i < before_count; i++) {
        const char *name = path_base(before[i]);
        const uint32_t number = keys_add(&n->names, name, strlen(name));
        if (number == KEYS_NONE)
            return TALLY_ENOMEM;
        for (uint32_t k = n->first[number]; k != 0; k = n->next[k - 1])
            if (!taken[k - 1] && strcmp(before[i], after[k - 1]) == 0) {
                to[i] = k - 1;
                taken[k - 1] = true;
                break;
            }
    }
    for (size_t i = 0; i < before_count; i++) {
        if (to[i] != PATH_ALONE)
            continue;
        const char *name = path_base(before[i]);
        const uint32_t number = keys_add(&n->names, name, strlen(name));
        if (number == KEYS_NONE)
            return TALLY_ENOMEM;
        for (uint32_t k = n->first[number]; k != 0; k = n->next[k - 1]) {
            const struct candidate one = {
                .before = (uint32_t)i,
                .after = k - 1,
                .agreeing = agreeing(before[i], after[k - 1]),
            };
            if (!taken[k - 1] && !add(c, &one))
                return TALLY_ENOMEM;
        }
    }
    return 0;
}

int
path_pairs_find(const char *const *before, size_t before_count,
                const char *const *after, size_t after_count, uint32_t *to)
{
    struct by_name names = {0};
    struct candidates c = {0};
    bool *taken = calloc(after_count + 1, sizeof(*taken));
    int error = taken != NULL ? 0 : TALLY_ENOMEM;

    for (size_t i = 0; i < before_count; i++)
        to[i] = PATH_ALONE;
    if (error == 0)
        error = list_names(&names, after, after_count, before_count);
    if (error == 0)
        error = pair_equal(&names, before, before_count, after, to, taken, &c);
    if (error == 0 && c.count > 1)
        qsort(c.all, c.count, sizeof(*c.all), compare);
    for (size_t i = 0; error == 0 && i < c.count; i++) {
        if (to[c.all[i].before] != PATH_ALONE || taken[c.all[i].after])
            continue;
        to[c.all[i].before] = c.all[i].after;
        taken[c.all[i].after] = true;
    }
    keys_finish(&names.names);
    free(names.first);
    free(names.next);
    free(c.all);
    free(taken);
    return error;
}
