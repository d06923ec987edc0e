/* SPDX-License-Identifier: MIT */
#include "record/page_tree.h"

#include <stdlib.h>
#include <string.h>

void
page_tree_finish(struct page_tree *t)
{
    const size_t counts =
        t->places != NULL ? t->places->record->counts_count : 0;

    for (size_t i = 0; t->counts != NULL && i < counts; i++)
        free(t->counts[i]);
    for (size_t i = 0; t->threads != NULL && i < t->thread_numbers.count; i++) {
        free(t->threads[i].totals);
        free(t->threads[i].nodes);
    }
    free(t->counts);
    free(t->before);
    free(t->threads);
    free(t->nodes);
    free(t->sums);
    numbering_finish(&t->numbers);
    numbering_finish(&t->thread_numbers);
}

/* Returns the node of a function below a node, which may be PAGE_NO_NODE; the
 * result is PAGE_NO_NODE where there is no memory. */
static uint32_t
node_below(struct page_tree *t, uint32_t parent, uint32_t function,
           bool inlined)
{
    const uint64_t key = (uint64_t)parent << 32 | function;
    const size_t before = t->numbers.count;
    const uint32_t number = numbering_add(&t->numbers, &key);

    if (number == NUMBERING_NONE || function == NUMBERING_NONE)
        return PAGE_NO_NODE;
    if (number < before) {
        t->nodes[number].inlined &= inlined;
        return number;
    }
    if (number >= t->node_room) {
        const size_t room = 2 * t->node_room + 1024;
        struct page_node *nodes = reallocarray(t->nodes, room, sizeof(*nodes));
        if (nodes == NULL)
            return PAGE_NO_NODE;
        t->nodes = nodes;
        t->node_room = room;
    }
    t->nodes[number] = (struct page_node){parent, function, inlined};
    return number;
}

/* Returns the node of an instruction below a node: that of its innermost
 * function. */
static uint32_t
node_of(struct page_tree *t, uint32_t parent, size_t process, uint32_t insn)
{
    size_t count;
    const struct page_frame *frames =
        page_places_frames(t->places, process, insn, &count);
    uint32_t node = parent;

    for (size_t i = count; i > 0; i--) {
        node = node_below(t, node, frames[i - 1].function, i < count);
        if (node == PAGE_NO_NODE)
            break;
    }
    return node;
}

/* Finds the node of the call of each path of a process. Path 0 has none. */
static int
find_paths(struct page_tree *t, size_t process, uint32_t *nodes)
{
    const struct record_process_row *p = &t->places->record->processes[process];

    nodes[0] = PAGE_NO_NODE;
    for (size_t i = 1; i < p->path_count; i++) {
        const struct record_path *path = &p->paths[i];
        nodes[i] = path->call == RECORD_NO_CALL
                       ? node_below(t, nodes[path->parent], t->unknown, false)
                       : node_of(t, nodes[path->parent], process, path->call);
        if (nodes[i] == PAGE_NO_NODE)
            return TALLY_ENOMEM;
    }
    return 0;
}

/* Finds the node of each count of a row. */
static int
find_nodes(struct page_tree *t, size_t row, const uint32_t *paths)
{
    const struct record_counts_row *c = &t->places->record->counts[row];
    uint32_t *nodes = calloc(c->count + 1, sizeof(*nodes));
    uint32_t path = UINT32_MAX, chain = UINT32_MAX, node = PAGE_NO_NODE;

    t->counts[row] = nodes;
    if (nodes == NULL)
        return TALLY_ENOMEM;
    for (size_t k = 0; k < c->count; k++) {
        const uint32_t own =
            t->places->all[t->places->of[c->process][c->insns[k]]].chain;
        /* Neighbours are often of one function on one path. */
        if (c->paths[k] != path || own != chain) {
            path = c->paths[k];
            chain = own;
            node = node_of(t, paths[path], c->process, c->insns[k]);
            if (node == PAGE_NO_NODE)
                return TALLY_ENOMEM;
        }
        nodes[k] = node;
    }
    return 0;
}

/* Makes the nodes of a process, and finds those of its counts. */
static int
add_process(struct page_tree *t, size_t process)
{
    const struct record *record = t->places->record;
    uint32_t *paths =
        calloc(record->processes[process].path_count + 1, sizeof(*paths));
    int error = paths != NULL ? find_paths(t, process, paths) : TALLY_ENOMEM;

    for (size_t i = 0; error == 0 && i < record->counts_count; i++)
        if (record->counts[i].process == process)
            error = find_nodes(t, i, paths);
    free(paths);
    return error;
}

/* Returns the number of a thread, or NUMBERING_NONE: no memory. */
static uint32_t
number_thread(struct page_tree *t, uint32_t process, uint32_t thread)
{
    const uint64_t key = (uint64_t)process << 32 | thread;
    const size_t before = t->thread_numbers.count;
    const size_t events = t->places->record->event_count;
    const uint32_t number = numbering_add(&t->thread_numbers, &key);

    if (number == NUMBERING_NONE || number < before)
        return number;
    if (number >= t->thread_room) {
        const size_t room = 2 * t->thread_room + 16;
        struct page_thread *threads =
            reallocarray(t->threads, room, sizeof(*threads));
        if (threads == NULL) {
            t->thread_numbers.count = before;
            return NUMBERING_NONE;
        }
        t->threads = threads;
        t->thread_room = room;
    }
    t->threads[number] = (struct page_thread){
        .process = process,
        .thread = thread,
        .row = PAGE_NO_ROW,
        .totals = calloc(events + 1, sizeof(int64_t)),
    };
    return t->threads[number].totals != NULL ? number : NUMBERING_NONE;
}

/* Lists the threads, with the record's totals of each. */
static int
add_threads(struct page_tree *t)
{
    const struct record *record = t->places->record;

    for (size_t i = 0; i < record->thread_count; i++) {
        const struct record_thread_row *row = &record->threads[i];
        const uint32_t number = number_thread(t, row->process, row->thread);
        if (number == NUMBERING_NONE)
            return TALLY_ENOMEM;
        int64_t *totals = t->threads[number].totals;
        for (size_t e = 0; e < record->event_count; e++)
            totals[e] =
                (int64_t)((uint64_t)totals[e] + (uint64_t)row->totals[e]);
    }
    for (size_t i = 0; i < record->counts_count; i++) {
        const struct record_counts_row *row = &record->counts[i];
        const uint32_t number = number_thread(t, row->process, row->thread);
        if (number == NUMBERING_NONE)
            return TALLY_ENOMEM;
        t->before[i] = t->threads[number].row;
        t->threads[number].row = (uint32_t)i;
    }
    return 0;
}

/* Lists the nodes at which a thread has counts. `seen` has a 0 for each node,
 * and again in the end. */
static int
list_nodes(struct page_tree *t, struct page_thread *thread, uint8_t *seen)
{
    const struct record *record = t->places->record;
    size_t count = 0;

    for (uint32_t i = thread->row; i != PAGE_NO_ROW; i = t->before[i])
        for (size_t k = 0; k < record->counts[i].count; k++) {
            count += seen[t->counts[i][k]] == 0;
            seen[t->counts[i][k]] = 1;
        }
    thread->nodes = calloc(count + 1, sizeof(*thread->nodes));
    if (thread->nodes == NULL)
        return TALLY_ENOMEM;
    for (uint32_t node = 0; count > 0; node++)
        if (seen[node] != 0) {
            seen[node] = 0;
            thread->nodes[thread->node_count++] = node;
            count--;
        }
    return 0;
}

int
page_tree_create(struct page_places *places, struct page_tree *t)
{
    const struct record *record = places->record;
    uint8_t *seen = NULL;
    int error = TALLY_ENOMEM;

    *t = (struct page_tree){.places = places};
    numbering_init(&t->numbers, 1);
    numbering_init(&t->thread_numbers, 1);
    /* No text has this number, so that no function is like it. */
    t->unknown =
        page_places_add(places, (struct page_function){.name = UINT32_MAX});
    t->counts = calloc(record->counts_count + 1, sizeof(*t->counts));
    t->before = calloc(record->counts_count + 1, sizeof(*t->before));
    if (t->counts != NULL && t->before != NULL && t->unknown != NUMBERING_NONE)
        error = add_threads(t);
    for (size_t i = 0; error == 0 && i < record->process_count; i++)
        error = add_process(t, i);
    if (error == 0) {
        t->sums = calloc(t->numbers.count + 1, sizeof(*t->sums));
        seen = calloc(t->numbers.count + 1, 1);
        error = t->sums != NULL && seen != NULL ? 0 : TALLY_ENOMEM;
    }
    for (size_t i = 0; error == 0 && i < t->thread_numbers.count; i++)
        error = list_nodes(t, &t->threads[i], seen);
    free(seen);
    return error;
}

void
page_tree_values(const struct page_tree *t, uint32_t number, size_t event,
                 void (*take)(void *user, uint32_t node, int64_t value),
                 void *user)
{
    const struct record *record = t->places->record;
    const struct page_thread *thread = &t->threads[number];

    for (uint32_t i = thread->row; i != PAGE_NO_ROW; i = t->before[i]) {
        const struct record_counts_row *row = &record->counts[i];
        struct record_walk walk;
        int64_t value;
        size_t k;
        record_walk_begin(&walk, row, event);
        while (record_walk_next(&walk, &k, &value)) {
            int64_t *sum = &t->sums[t->counts[i][k]];
            *sum = (int64_t)((uint64_t)*sum + (uint64_t)value);
        }
    }
    for (size_t i = 0; i < thread->node_count; i++) {
        const uint32_t node = thread->nodes[i];
        if (t->sums[node] != 0)
            take(user, node, t->sums[node]);
        t->sums[node] = 0;
    }
}
