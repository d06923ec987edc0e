/* SPDX-License-Identifier: MIT */
/* The paths of calls of a process as a tree, with sums that a thread counted on
 * each and on those that go on from it. */
#ifndef TALLY_RECORD_PATH_TREE_H
#define TALLY_RECORD_PATH_TREE_H

#include "record/record.h"

struct path_tree {
    const struct record_path *paths;
    uint32_t count; /* of paths */
    size_t event_count;
    int64_t *sums;             /* [count][event_count]; at first zeroes */
    bool *counted;             /* [count] the path, or one that goes on from it,
                                  counts; at first none */
    uint32_t *child, *sibling; /* [count] that count; 0: none */
};

/* Makes the tree of a process, which must outlive it, for sums of so many
 * events. 0 or TALLY_ENOMEM; path_tree_finish() accepts what failed. */
int path_tree_create(const struct record_process_row *process,
                     size_t event_count, struct path_tree *tree);
void path_tree_finish(struct path_tree *tree);

/* Adds the sums of each path to those of the paths before it; once, when the
 * caller has added to `sums` and `counted` what there is. */
void path_tree_link(struct path_tree *tree);

/* Calls `enter` for each path that counts, before those that go on from it, and
 * `leave` behind them. Ends with the first result of `enter` that is not 0, and
 * returns it. */
int path_tree_walk(const struct path_tree *tree,
                   int (*enter)(void *user, uint32_t path),
                   void (*leave)(void *user, uint32_t path), void *user);

#endif
