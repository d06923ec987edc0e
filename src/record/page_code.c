/* SPDX-License-Identifier: MIT */
/* The instructions of a record and their counts, in a page. */
#include <stdlib.h>
#include <string.h>

#include "record/disassembly.h"
#include "record/page_writer.h"

#define TEXT_MOST 160 /* bytes of an instruction's text */

/* An instruction with what it is sorted by. */
struct place {
    uint64_t offset;
    uint32_t image, number;
};

struct code {
    struct page_writer *w;
    struct place *places; /* [insns] in order; owned */
    uint32_t *rank;       /* [insns] place in that order, by number; owned */
    int64_t *sums;        /* [insns] by place; owned */
    size_t count;
};

static const struct record_insn *
insn_of(const struct page_writer *w, uint32_t number)
{
    const struct page_insn *i = &w->places.all[number];

    return &w->record->processes[i->process].insns[i->insn];
}

static int
compare(const void *x, const void *y)
{
    const struct place *a = x, *b = y;

    if (a->image != b->image)
        return a->image < b->image ? -1 : 1;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/* Puts the instructions in order of image and offset. */
static int
sort(struct code *c)
{
    c->count = c->w->places.insns.count;
    c->places = calloc(c->count + 1, sizeof(*c->places));
    c->rank = calloc(c->count + 1, sizeof(*c->rank));
    c->sums = calloc(c->count + 1, sizeof(*c->sums));
    if (c->places == NULL || c->rank == NULL || c->sums == NULL)
        return TALLY_ENOMEM;
    for (uint32_t i = 0; i < c->count; i++) {
        const struct record_insn *insn = insn_of(c->w, i);
        c->places[i] = (struct place){insn->offset, insn->image, i};
    }
    qsort(c->places, c->count, sizeof(*c->places), compare);
    for (uint32_t i = 0; i < c->count; i++)
        c->rank[c->places[i].number] = i;
    return 0;
}

/* Writes the frames of all chains, the innermost first. */
static int
write_chains(struct page_writer *w)
{
    bytes_append_varint(&w->data, w->places.chains.count);
    for (uint32_t i = 0; i < w->places.chains.count; i++) {
        size_t count;
        const struct page_frame *frames =
            page_places_chain(&w->places, i, &count);
        bytes_append_varint(&w->data, count);
        for (size_t k = 0; k < count; k++) {
            bytes_append_varint(&w->data, frames[k].function);
            page_writer_put_text(w, frames[k].file);
            bytes_append_varint(&w->data, frames[k].line);
        }
    }
    return page_writer_section(w, "chains", SIZE_MAX);
}

/* Returns the address that the image gives the instruction; of an image that is
 * not known the one in the process. */
static uint64_t
address_of(struct page_writer *w, uint32_t number)
{
    const struct page_insn *i = &w->places.all[number];
    const struct resolved *r = resolver_find(w->resolver, i->process, i->insn);

    return r->file_address != UINT64_MAX ? r->file_address
                                         : insn_of(w, number)->address;
}

static int
write_insns(struct code *c)
{
    struct page_writer *w = c->w;
    uint64_t last = 0;

    bytes_append_varint(&w->data, c->count);
    for (size_t i = 0; i < c->count; i++) {
        const uint32_t number = c->places[i].number;
        const uint64_t address = address_of(w, number);
        bytes_append_varint(&w->data, w->places.all[number].chain);
        bytes_append_signed(&w->data, (int64_t)(address - last));
        bytes_append_u8(&w->data, insn_of(w, number)->size);
        last = address;
    }
    return page_writer_section(w, "insns", SIZE_MAX);
}

/* Writes the text of each instruction, a line each. */
static int
write_texts(struct code *c)
{
    struct page_writer *w = c->w;
    struct disassembly *disassembly = disassembly_create(w->record->isa);

    for (size_t i = 0; i < c->count; i++) {
        const uint32_t number = c->places[i].number;
        const struct record_insn *insn = insn_of(w, number);
        const struct record_process_row *p =
            &w->record->processes[w->places.all[number].process];
        char text[TEXT_MOST];
        disassembly_text(disassembly, p->code + insn->code, insn->size,
                         address_of(w, number), text, sizeof(text));
        bytes_append(&w->data, text, strlen(text));
        bytes_append_u8(&w->data, '\n');
    }
    disassembly_destroy(disassembly);
    return page_writer_section(w, "asm", SIZE_MAX);
}

/* Writes the counts of an event at the instructions, over all threads. */
static int
write_values(const struct code *c, size_t number)
{
    struct page_writer *w = c->w;
    const size_t event = w->options->events[number];
    size_t next = 0;

    for (size_t i = 0; i < w->record->counts_count; i++) {
        const struct record_counts_row *row = &w->record->counts[i];
        const uint32_t *const of = w->places.of[row->process];
        struct record_walk walk;
        int64_t value;
        size_t k;
        record_walk_begin(&walk, row, event);
        while (record_walk_next(&walk, &k, &value)) {
            int64_t *sum = &c->sums[c->rank[of[row->insns[k]]]];
            *sum = (int64_t)((uint64_t)*sum + (uint64_t)value);
        }
    }
    for (size_t i = 0; i < c->count; i++) {
        if (c->sums[i] != 0) {
            bytes_append_varint(&w->data, i - next + 1);
            bytes_append_signed(&w->data, c->sums[i]);
            next = i + 1;
        }
        c->sums[i] = 0;
    }
    bytes_append_varint(&w->data, 0);
    return page_writer_section(w, "code", number);
}

int
page_write_code(struct page_writer *w)
{
    struct code c = {.w = w};
    int error = sort(&c);

    if (error == 0)
        error = write_chains(w);
    if (error == 0)
        error = write_insns(&c);
    if (error == 0)
        error = write_texts(&c);
    for (size_t e = 0; error == 0 && e < w->options->event_count; e++)
        error = write_values(&c, e);
    free(c.places);
    free(c.rank);
    free(c.sums);
    return error;
}
