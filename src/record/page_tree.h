/* SPDX-License-Identifier: MIT */
/*
 * The calls of a record as one tree for a page: a node is a function on a path
 * of calls. Functions that were copied into others (inlined) are nodes below
 * those. Each thread has counts at nodes; the counts of a node are its own,
 * without those of the nodes below it.
 */
#ifndef TALLY_RECORD_PAGE_TREE_H
#define TALLY_RECORD_PAGE_TREE_H

#include "record/page_places.h"

/* In place of the number of a node. */
#define PAGE_NO_NODE UINT32_MAX
/* In place of the index of a row of counts. */
#define PAGE_NO_ROW UINT32_MAX

struct page_node {
    uint32_t parent; /* less than its own number, or PAGE_NO_NODE */
    uint32_t function;
    bool inlined; /* never called there, only copied */
};

/* A thread, with what no instruction of it has. */
struct page_thread {
    uint32_t process; /* index in the record; UINT32_MAX: it lacks that one */
    uint32_t thread;  /* its number in the process */
    int64_t *totals;  /* [record.event_count]; owned */
    uint32_t row;     /* its last row of counts of the record, or PAGE_NO_ROW */
    uint32_t *nodes;  /* with counts, ascending; owned */
    size_t node_count;
};

struct page_tree {
    const struct page_places *places;
    struct numbering numbers; /* of nodes: parent and function */
    struct page_node *nodes;  /* by number; owned */
    size_t node_room;
    struct numbering thread_numbers; /* process and thread */
    struct page_thread *threads;     /* by number; owned */
    size_t thread_room;
    uint32_t **counts; /* for each row of counts of the record: its nodes */
    uint32_t *before; /* for each row of counts: the row before of its thread */
    uint32_t unknown; /* function of calls that are not known */
    int64_t *sums;    /* [nodes], of what is added up at the moment; zeroes */
};

/* Makes the tree of a record; page_tree_finish() accepts what failed. 0 or
 * TALLY_ENOMEM. */
int page_tree_create(struct page_places *places, struct page_tree *tree);
void page_tree_finish(struct page_tree *tree);

/* Adds up an event (of the record) of a thread by node, and calls `take` for
 * each node with a count that is not 0, in order. */
void
page_tree_values(const struct page_tree *tree, uint32_t thread, size_t event,
                 void (*take)(void *user, uint32_t node, int64_t value),
                 void *user);

#endif
