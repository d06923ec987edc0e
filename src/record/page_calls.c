/* SPDX-License-Identifier: MIT */
/* The functions, the tree of calls and the counts of its nodes, in a page. */
#include "record/page_writer.h"

/* Sums from here on may not be exact as the numbers of a script, which have 53
 * bits, one of them for the sign of what the page has. */
#define BIG (UINT64_C(1) << 52)

/* The counts of an event in a thread that are being written. */
struct listing {
    struct bytes *data;
    uint32_t next;      /* node after the last one */
    uint64_t magnitude; /* sum of the counts without their signs, or BIG */
};

static void
add_magnitude(uint64_t *sum, int64_t value)
{
    const uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

    *sum = size >= BIG - *sum ? BIG : *sum + size;
}

static void
put_value(void *user, uint32_t node, int64_t value)
{
    struct listing *l = user;

    /* 0 ends the list, so that a distance is at least 1. */
    bytes_append_varint(l->data, (uint64_t)node - l->next + 1);
    bytes_append_signed(l->data, value);
    l->next = node + 1;
    add_magnitude(&l->magnitude, value);
}

/* Writes the counts of an event, thread by thread. */
static int
write_values(struct page_writer *w, size_t number, bool *big)
{
    struct listing l = {.data = &w->data};
    const size_t event = w->options->events[number];
    uint64_t totals = 0;

    for (uint32_t t = 0; t < w->tree.thread_numbers.count; t++) {
        l.next = 0;
        page_tree_values(&w->tree, t, event, put_value, &l);
        bytes_append_varint(&w->data, 0);
        add_magnitude(&totals, w->tree.threads[t].totals[event]);
    }
    *big = l.magnitude >= BIG || totals >= BIG;
    return page_writer_section(w, "values", number);
}

static int
write_tree(struct page_writer *w)
{
    const struct page_tree *t = &w->tree;

    bytes_append_varint(&w->data, t->numbers.count);
    for (uint32_t i = 0; i < t->numbers.count; i++) {
        const struct page_node *node = &t->nodes[i];
        /* 0: no parent. */
        bytes_append_varint(
            &w->data, node->parent != PAGE_NO_NODE ? i - node->parent : 0);
        bytes_append_varint(&w->data,
                            (uint64_t)node->function << 1 | node->inlined);
    }
    return page_writer_section(w, "tree", SIZE_MAX);
}

static int
write_functions(struct page_writer *w)
{
    bytes_append_varint(&w->data, w->tree.unknown);
    bytes_append_varint(&w->data, w->places.functions.count);
    for (uint32_t i = 0; i < w->places.functions.count; i++) {
        struct page_function f = page_places_function(&w->places, i);
        if (i == w->tree.unknown)
            f.name = 0;
        page_writer_put_text(w, f.name);
        page_writer_put_text(w, f.image);
        page_writer_put_text(w, f.file);
    }
    return page_writer_section(w, "functions", SIZE_MAX);
}

int
page_write_calls(struct page_writer *w, bool *big)
{
    int error = write_functions(w);

    if (error == 0)
        error = write_tree(w);
    for (size_t e = 0; error == 0 && e < w->options->event_count; e++)
        error = write_values(w, e, &big[e]);
    return error;
}
