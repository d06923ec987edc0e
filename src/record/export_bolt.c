/* SPDX-License-Identifier: MIT */
/*
 * The pre-aggregated profile of BOLT (perf2bolt -pa), of one image:
 *
 *   B FROM TO COUNT MISPREDICTED  a branch; 0 stands for code elsewhere
 *   F FIRST LAST COUNT            instructions between two branches
 *   f FIRST LAST COUNT            the same, behind a return
 *
 * in hexadecimal addresses of the image's file and decimal counts.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "names/elf_file.h"
#include "record/export.h"
#include "record/flow.h"
#include "record/keys.h"

/* A line of the file. */
struct line_key {
    uint64_t from, to;
    uint64_t kind; /* the letter that it begins with */
};

struct line_counts {
    uint64_t count, mispredicted;
};

/* The file that is written. */
struct bolt {
    const struct export_list *list;
    struct keys keys;           /* struct line_key, */
    struct line_counts *counts; /* and what each has; owned */
    size_t room;
    struct elf_file elf; /* the image's */
};

/* Returns the address that the image gives an instruction, or 0: it is of
 * another image. */
static uint64_t
address_of(const struct bolt *b, size_t process, uint32_t insn)
{
    const struct record_process_row *p = &b->list->record->processes[process];

    if (insn == RECORD_NOWHERE || p->insns[insn].image != b->list->image)
        return 0;
    const uint64_t address =
        resolver_find(b->list->resolver, process, insn)->file_address;
    return address != UINT64_MAX ? address : 0;
}

/* Adds to a line. */
static int
add(struct bolt *b, char kind, uint64_t from, uint64_t to,
    struct line_counts counts)
{
    struct line_key key = {from, to, (unsigned char)kind};
    const uint32_t known = b->keys.count;
    const uint32_t number = keys_add(&b->keys, &key, sizeof(key));

    if (number == KEYS_NONE)
        return TALLY_ENOMEM;
    if (number >= b->room) {
        const size_t room = 2 * b->room + 1024;
        struct line_counts *more = reallocarray(b->counts, room, sizeof(*more));
        if (more == NULL)
            return TALLY_ENOMEM;
        b->counts = more;
        b->room = room;
    }
    if (number == known)
        b->counts[number] = (struct line_counts){0, 0};
    b->counts[number].count += counts.count;
    b->counts[number].mispredicted += counts.mispredicted;
    return 0;
}

/* Adds the branches of a process, those from and to the image. */
static int
add_branches(struct bolt *b, size_t process, const struct flow *flow)
{
    int error = 0;

    for (size_t i = 0; error == 0 && i < flow->edge_count; i++) {
        const struct record_edge *e = &flow->edges[i];
        const uint64_t from = address_of(b, process, e->from);
        const uint64_t to = address_of(b, process, e->to);
        if (e->way != RECORD_WAY_ON && e->way != RECORD_WAY_BROKEN &&
            (from | to) != 0)
            error = add(b, 'B', from, to,
                        (struct line_counts){e->count, e->mispredicted});
    }
    return error;
}

/* Adds the runs of a process, but for those of PLT stubs: BOLT knows no blocks
 * in these, and would say that the runs do not fit. */
static int
add_runs(struct bolt *b, size_t process, const struct flow *flow)
{
    int error = 0;

    for (size_t i = 0; error == 0 && i < flow->run_count; i++) {
        const struct flow_run *run = &flow->runs[i];
        const bool returned = flow->edges[run->edge].way == RECORD_WAY_RETURN;
        const uint64_t first = address_of(b, process, run->first);
        const uint64_t last = address_of(b, process, run->last);
        if (first != 0 && last != 0 &&
            !elf_file_in_section(&b->elf, ".plt", first))
            error = add(b, returned ? 'f' : 'F', first, last,
                        (struct line_counts){run->count, 0});
    }
    return error;
}

static void
put_lines(const struct bolt *b, FILE *out)
{
    for (uint32_t i = 0; i < b->keys.count; i++) {
        size_t size;
        struct line_key key;
        memcpy(&key, keys_get(&b->keys, i, &size), sizeof(key));
        fprintf(out, "%c %" PRIx64 " %" PRIx64 " %" PRIu64, (int)key.kind,
                key.from, key.to, b->counts[i].count);
        if (key.kind == 'B')
            fprintf(out, " %" PRIu64, b->counts[i].mispredicted);
        fputc('\n', out);
    }
}

int
export_bolt(const struct export_list *list, FILE *out, int64_t *left_out)
{
    struct bolt b = {.list = list, .elf = ELF_FILE_NONE};
    int error = 0;

    (void)left_out;
    if (list->image < list->record->image_count)
        elf_file_open(list->record->images[list->image].path, NULL, &b.elf);
    for (size_t i = 0; error == 0 && i < list->record->process_count; i++) {
        struct flow flow;
        error = flow_find(list->record, i, &flow);
        if (error == 0)
            error = add_branches(&b, i, &flow);
        if (error == 0)
            error = add_runs(&b, i, &flow);
        flow_finish(&flow);
    }
    if (error == 0)
        put_lines(&b, out);
    keys_finish(&b.keys);
    free(b.counts);
    elf_file_close(&b.elf);
    return error == 0 && ferror(out) ? TALLY_EIO : error;
}
