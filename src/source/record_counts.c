/* SPDX-License-Identifier: MIT */
#include "source/record_counts.h"

#include <string.h>
#include <sys/mman.h>

#include "source/counts_layout.h"

struct record_process *
record_map(const struct process_counts *process, void *at)
{
    void *memory = counts_map_memory(process, at, RECORD_SIZE,
                                     process->offset + RECORD_AT);

    return memory == MAP_FAILED ? NULL : memory;
}

struct record_strand *
record_map_strand(const struct process_counts *process, unsigned slot, void *at)
{
    void *memory = counts_map_memory(process, at, RECORD_STRAND_SIZE,
                                     process->offset + RECORD_STRANDS_AT +
                                         RECORD_STRAND_SIZE * slot);

    return memory == MAP_FAILED ? NULL : memory;
}

void
record_unmap(struct record_process *record)
{
    if (record != NULL)
        munmap(record, RECORD_SIZE);
}

void
record_unmap_strand(struct record_strand *record)
{
    if (record != NULL)
        munmap(record, RECORD_STRAND_SIZE);
}

struct phases_process *
phases_map(const struct process_counts *process)
{
    void *memory = counts_map_memory(process, NULL, PHASES_SIZE,
                                     process->offset + PHASES_AT);

    return memory == MAP_FAILED ? NULL : memory;
}

void
phases_unmap(struct phases_process *phases)
{
    if (phases != NULL)
        munmap(phases, PHASES_SIZE);
}

/* The place where the records of one thread go. */
struct folding {
    struct record_site *sites;
    size_t count, room;
};

static void
put(struct folding *f, uint32_t cell, unsigned instruction, unsigned signal,
    uint64_t count)
{
    if (count != 0 && f->count < f->room)
        f->sites[f->count++] =
            (struct record_site){record_key(cell, instruction, signal), count};
}

static void
put_branches(struct folding *f, uint32_t cell,
             const struct record_branches *branches)
{
    put(f, cell, RECORD_BRANCH, SIGNAL_CONDITIONAL_TAKEN,
        record_taken(branches));
    put(f, cell, RECORD_BRANCH, SIGNAL_NOT_TAKEN_MISPREDICTS,
        branches->outcome[1]);
    put(f, cell, RECORD_BRANCH, SIGNAL_TAKEN_MISPREDICTS, branches->outcome[3]);
}

static void
put_edge(struct folding *f, uint64_t key, uint64_t count)
{
    if (count != 0 && f->count < f->room)
        f->sites[f->count++] = (struct record_site){key, count};
}

/* Puts where control went from the blocks of a thread. */
static void
put_edges(struct folding *f, const struct record_strand *strand,
          unsigned blocks)
{
    for (uint32_t n = 0; n <= blocks; n++) {
        const struct record_edges *e = &strand->edges[n];
        for (unsigned i = 0; i < 2 && e->to[i] != 0; i++) {
            put_edge(f, record_edge_key(n, e->to[i], false),
                     e->count[i] - e->mispredicted[i]);
            put_edge(f, record_edge_key(n, e->to[i], true), e->mispredicted[i]);
        }
    }
    if (strand->last != 0)
        put_edge(f, record_edge_key(strand->last, 0, false), 1);
}

/* Puts the cells of a thread with their executions. */
static void
put_cells(struct folding *f, const struct record_strand *strand, unsigned cells)
{
    for (unsigned i = 0; i < cells; i++) {
        const struct record_ended_cell cell = {strand->cells[i],
                                               strand->executions[i + 1]};
        memcpy(&f->sites[f->count++], &cell, sizeof(cell));
    }
}

void
record_fold(const struct process_counts *process, struct record_process *record,
            const struct counts_strand *counts, struct record_strand *strand)
{
    const unsigned cells = atomic_load(&strand->cell_count);
    const unsigned blocks = atomic_load(&process->head->blocks);
    const unsigned numbers = cells != 0 ? cells : blocks;
    /* Edges from nowhere are the first that there are. */
    const bool edges = strand->edges[0].to[0] != 0 || strand->last != 0;
    const unsigned used = atomic_load(&record->ended_count);
    const unsigned place = atomic_load(&strand->place) & 1;
    const size_t size = (size_t)1 << atomic_load(&strand->bits);
    struct folding f = {.sites = record->ended + used + 1};

    f.room = used + 1 < RECORD_ENDED ? RECORD_ENDED - used - 1 : 0;
    if (f.room >= cells) {
        put_cells(&f, strand, cells);
        for (unsigned n = 1; n <= numbers; n++) {
            if (cells == 0)
                put(&f, n, 0, RECORD_EXECUTIONS, counts->exec[0][n - 1]);
            put_branches(&f, n, &strand->branches[n]);
        }
        if (edges)
            put_edges(&f, strand, blocks);
        for (size_t i = 0; i < size; i++) {
            const struct record_site *s = &strand->sites[place][i];
            if (f.count < f.room && s->key != 0)
                f.sites[f.count++] = *s;
        }
        const struct record_thread head = {counts->thread, counts->strand,
                                           cells, (uint32_t)f.count - cells};
        memcpy(&record->ended[used], &head, sizeof(head));
        atomic_store(&record->ended_count, used + 1 + (unsigned)f.count);
    }
    for (unsigned i = 0; i <= atomic_load(&record->object_count); i++) {
        const struct record_use *use = &strand->uses[i];
        record->uses[i].loads += use->loads;
        record->uses[i].stores += use->stores;
        record->uses[i].fetched += use->fetched;
        record->uses[i].touched += use->touched;
    }
    counts_clear(strand->uses, (atomic_load(&record->object_count) + 1) *
                                   sizeof(*strand->uses));
    counts_clear(strand->branches, (numbers + 1) * sizeof(*strand->branches));
    if (edges)
        counts_clear(strand->edges, (blocks + 1) * sizeof(*strand->edges));
    strand->last = 0;
    counts_clear(strand->executions, (cells + 1) * sizeof(*strand->executions));
    counts_clear(strand->sites[place], size * sizeof(*strand->sites[place]));
}

void
record_release(const struct process_counts *process, unsigned strands)
{
    for (unsigned s = 0; s < strands && s < COUNTS_STRANDS; s++) {
        struct record_strand *strand = record_map_strand(process, s, NULL);
        if (strand != NULL)
            madvise(strand, RECORD_STRAND_SIZE, MADV_REMOVE);
        record_unmap_strand(strand);
    }
}
