/* SPDX-License-Identifier: MIT */
#include "record/path_tree.h"

#include <stdlib.h>

static void
add(int64_t *to, int64_t value)
{
    *to = (int64_t)((uint64_t)*to + (uint64_t)value);
}

int
path_tree_create(const struct record_process_row *process, size_t event_count,
                 struct path_tree *t)
{
    const size_t room = process->path_count + 1;

    *t = (struct path_tree){
        .paths = process->paths,
        .count = (uint32_t)process->path_count,
        .event_count = event_count,
        .sums = calloc(room * event_count + 1, sizeof(*t->sums)),
        .counted = calloc(room, sizeof(*t->counted)),
        .child = calloc(room, sizeof(*t->child)),
        .sibling = calloc(room, sizeof(*t->sibling)),
    };
    return t->sums != NULL && t->counted != NULL && t->child != NULL &&
                   t->sibling != NULL
               ? 0
               : TALLY_ENOMEM;
}

void
path_tree_finish(struct path_tree *t)
{
    free(t->sums);
    free(t->counted);
    free(t->child);
    free(t->sibling);
}

void
path_tree_link(struct path_tree *t)
{
    const size_t events = t->event_count;

    /* The path to a path's call has a smaller number. */
    for (uint32_t p = t->count; p-- > 1;) {
        const uint32_t parent = t->paths[p].parent;
        if (!t->counted[p])
            continue;
        t->counted[parent] = true;
        t->sibling[p] = t->child[parent];
        t->child[parent] = p;
        for (size_t e = 0; e < events; e++)
            add(&t->sums[parent * events + e], t->sums[p * events + e]);
    }
}

int
path_tree_walk(const struct path_tree *t,
               int (*enter)(void *user, uint32_t path),
               void (*leave)(void *user, uint32_t path), void *user)
{
    uint32_t path = 0;
    int error = t->counted[0] ? enter(user, 0) : 0;

    while (error == 0) {
        uint32_t next = t->child[path];
        while (next == 0) {
            leave(user, path);
            if (path == 0)
                return 0;
            next = t->sibling[path];
            path = t->paths[path].parent;
        }
        path = next;
        error = enter(user, path);
    }
    return error;
}
