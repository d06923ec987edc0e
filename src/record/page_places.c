/* SPDX-License-Identifier: MIT */
#include "record/page_places.h"

#include <stdlib.h>
#include <string.h>

/* What tells instructions apart: the code of a place may change. */
struct insn_key {
    uint64_t offset;
    uint32_t image, chain;
    uint32_t size;
    uint8_t code[UINT8_MAX];
};

void
page_places_finish(struct page_places *p)
{
    for (size_t i = 0; p->of != NULL && i < p->record->process_count; i++)
        free(p->of[i]);
    free(p->of);
    free(p->all);
    function_files_finish(&p->files);
    numbering_finish(&p->functions);
    keys_finish(&p->chains);
    keys_finish(&p->insns);
}

uint32_t
page_places_add(struct page_places *p, struct page_function f)
{
    const uint64_t key[] = {(uint64_t)f.name << 32 | f.image, f.file};

    return numbering_add(&p->functions, key);
}

struct page_function
page_places_function(const struct page_places *p, uint32_t number)
{
    const uint64_t *key = numbering_key(&p->functions, number);

    return (struct page_function){
        .name = (uint32_t)(key[0] >> 32),
        .image = (uint32_t)key[0],
        .file = (uint32_t)key[1],
    };
}

const struct page_frame *
page_places_chain(const struct page_places *p, uint32_t chain, size_t *count)
{
    size_t size;
    const void *frames = keys_get(&p->chains, chain, &size);

    *count = size / sizeof(struct page_frame);
    return frames;
}

const struct page_frame *
page_places_frames(const struct page_places *p, size_t process, uint32_t insn,
                   size_t *count)
{
    return page_places_chain(p, p->all[p->of[process][insn]].chain, count);
}

/* Returns the number of the chain of an instruction, or KEYS_NONE. */
static uint32_t
number_chain(struct page_places *p, const struct resolved *r,
             struct bytes *frames)
{
    bytes_clear(frames);
    for (size_t i = 0; i < r->frame_count; i++) {
        const struct resolved_frame *from = &r->frames[i];
        const struct page_function function = {
            .name = from->function,
            .image = r->image,
            .file =
                from->function != 0 ? function_files_find(&p->files, r, i) : 0,
        };
        const struct page_frame frame = {
            .function = page_places_add(p, function),
            .file = from->file,
            .line = from->file != 0 ? from->line : 0,
        };
        if (frame.function == NUMBERING_NONE)
            return KEYS_NONE;
        bytes_append(frames, &frame, sizeof(frame));
    }
    return frames->failed ? KEYS_NONE
                          : keys_add(&p->chains, frames->data, frames->size);
}

/* Returns the number of an instruction, or KEYS_NONE. */
static uint32_t
number_insn(struct page_places *p, size_t process, size_t at, uint32_t chain)
{
    const struct record_process_row *row = &p->record->processes[process];
    const struct record_insn *insn = &row->insns[at];
    struct insn_key key = {
        .offset = insn->offset,
        .image = insn->image,
        .chain = chain,
        .size = insn->size,
    };

    if (chain == KEYS_NONE)
        return KEYS_NONE;
    memcpy(key.code, row->code + insn->code, insn->size);
    const uint32_t number =
        keys_add(&p->insns, &key, offsetof(struct insn_key, code) + insn->size);
    if (number == KEYS_NONE || number + 1 < p->insns.count)
        return number;
    if (number >= p->room) {
        const size_t room = 2 * p->room + 1024;
        struct page_insn *all = reallocarray(p->all, room, sizeof(*all));
        if (all == NULL)
            return KEYS_NONE;
        p->all = all;
        p->room = room;
    }
    p->all[number] = (struct page_insn){(uint32_t)process, (uint32_t)at, chain};
    return number;
}

/* Numbers the instructions of a process. */
static int
number_process(struct page_places *p, size_t process, struct bytes *frames)
{
    const size_t count = p->record->processes[process].insn_count;

    p->of[process] = calloc(count + 1, sizeof(**p->of));
    if (p->of[process] == NULL)
        return TALLY_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        const struct resolved *r = resolver_find(p->resolver, process, i);
        const uint32_t chain = number_chain(p, r, frames);
        p->of[process][i] = number_insn(p, process, i, chain);
        if (p->of[process][i] == KEYS_NONE)
            return TALLY_ENOMEM;
    }
    return 0;
}

int
page_places_create(const struct record *record, struct resolver *resolver,
                   struct page_places *p)
{
    struct bytes frames = {0};

    *p = (struct page_places){.record = record, .resolver = resolver};
    function_files_init(&p->files);
    numbering_init(&p->functions, 2);
    p->of = calloc(record->process_count + 1, sizeof(*p->of));
    int error = p->of != NULL ? function_files_note(&p->files, record, resolver)
                              : TALLY_ENOMEM;
    for (size_t i = 0; error == 0 && i < record->process_count; i++)
        error = number_process(p, i, &frames);
    bytes_finish(&frames);
    return error;
}
