/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/phases.h"

#include <string.h>
#include <sys/mman.h>

#include "plugin/memory.h"
#include "plugin/own_counts.h"
#include "plugin/plugin.h"

/* Returns zeroed memory, which takes room as it is used. */
static void *
make_array(struct plugin *p, size_t size)
{
    void *const memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED)
        plugin_no_memory(p->process.head, "the phases");
    return memory;
}

/* Maps the memory of the process, and begins its first interval. */
static void
begin_process(struct plugin *p)
{
    struct phases *const h = &p->phases;

    own_counts_open(p);
    h->process = phases_map(&p->process);
    own_counts_close(p);
    if (h->process == NULL)
        plugin_no_memory(p->process.head, "the phases");
    h->length = h->border = p->request.phases.length;
    h->begin = h->taken = h->ran = h->used = 0;
    h->ended = 0;
    h->process->length = h->length;
}

void
phases_begin(struct plugin *p)
{
    if (p->request.phases.length == 0)
        return;
    p->phases.now = make_array(p, sizeof(*p->phases.now) * COUNTS_BLOCKS);
    begin_process(p);
}

void
phases_pass(struct plugin *p, uint64_t instructions)
{
    p->phases.ran += instructions;
}

uint64_t
phases_left(const struct phases *h)
{
    return h->ran <= h->border ? h->border + 1 - h->ran : 1;
}

void
phases_strand_starts(const struct phases *h, struct strand *strand)
{
    const int64_t left = (int64_t)phases_left(h);

    if (h->process != NULL && left < strand->look.left)
        strand->look.left = strand->look.step = left;
}

/* Adds what a thread has counted since the last look to the interval. */
static void
take(struct plugin *p, unsigned vcpu)
{
    struct phases *const h = &p->phases;
    const uint64_t *const exec = p->counts[vcpu]->exec[0];

    if (h->seen[vcpu] == NULL)
        h->seen[vcpu] = make_array(p, sizeof(uint64_t) * COUNTS_BLOCKS);
    uint64_t *const seen = h->seen[vcpu];
    for (uint32_t i = 0; i < p->table.index_count; i++) {
        if (exec[i] == seen[i])
            continue;
        const int64_t ran =
            (int64_t)(exec[i] - seen[i]) *
            counts_info(&p->process, i)->fixed[SIGNAL_INSTRUCTIONS];
        seen[i] = exec[i];
        h->now[i] += ran;
        h->taken += (uint64_t)ran;
    }
}

/* Returns whether the thread's counts are looked at. */
static bool
is_taken(const struct plugin *p, unsigned vcpu)
{
    return vcpu < COUNTS_STRANDS && p->counts[vcpu] != NULL &&
           p->counts[vcpu] != p->spare;
}

static void
take_all(struct plugin *p)
{
    for (unsigned i = 0; i < p->chip.slots_used; i++)
        if (is_taken(p, i))
            take(p, i);
}

/* Writes the interval that runs behind those that have ended. Returns the
 * entries of all of them; those that have ended: there is no room. */
static uint64_t
write_interval(struct plugin *p)
{
    struct phases *const h = &p->phases;
    uint64_t used = h->used;

    if (h->ended == PHASES_INTERVALS) {
        atomic_store(&h->process->full, 1);
        return h->used;
    }

    for (uint32_t i = 0; i < p->table.index_count; i++) {
        int64_t left = h->now[i];
        while (left != 0) {
            const int64_t part = left > INT32_MAX   ? INT32_MAX
                                 : left < INT32_MIN ? INT32_MIN
                                                    : left;
            if (used == PHASES_ENTRIES) {
                atomic_store(&h->process->full, 1);
                return h->used;
            }
            h->process->entries[used++] =
                (struct phases_entry){i, (int32_t)part};
            left -= part;
        }
    }
    h->process->intervals[h->ended] = (struct phases_interval){h->begin, used};
    atomic_store(&h->process->count, h->ended + 1);
    return used;
}

/* Sets where the next interval ends. */
static void
plan_next(struct phases *h, bool doubles)
{
    if (doubles && h->border == h->length * PHASES_DOUBLING &&
        h->length <= PHASES_LENGTH_MOST / 2)
        h->length *= 2;
    h->begin = h->border;
    h->border += h->length;
}

/* Keeps what a thread has counted until now in this interval and before. */
static void
keep_counts(struct plugin *p, unsigned vcpu)
{
    struct totals sum;

    if (p->strands[vcpu] != NULL)
        strand_drain(p->strands[vcpu]);
    counts_sum_all(&p->process, p->counts[vcpu], &sum);
    counts_snap(&p->process, p->counts[vcpu], p->phases.ended + UINT64_C(1),
                &sum);
}

/* Ends the interval that runs. */
static void
end_interval(struct plugin *p)
{
    struct phases *const h = &p->phases;
    const uint64_t used = write_interval(p);

    for (unsigned i = 0;
         p->request.phases.counts != 0 && i < p->chip.slots_used; i++)
        if (is_taken(p, i))
            keep_counts(p, i);
    h->ended += used != h->used;
    h->used = used;
    memset(h->now, 0, sizeof(*h->now) * p->table.index_count);
}

void
phases_look(struct plugin *p, unsigned instructions)
{
    struct phases *const h = &p->phases;

    if (h->process == NULL || h->ran <= h->border)
        return;
    take_all(p);
    /* Blocks that count in pieces, or whose last instruction was annulled, have
     * run fewer instructions than were passed. */
    h->ran = h->taken + instructions;
    if (h->ran <= h->border)
        return;
    end_interval(p);
    do
        plan_next(h, p->request.phases.doubles != 0);
    while (h->border < h->ran);
    h->process->length = h->length;
    h->process->begin = h->begin;
}

void
phases_fold(struct plugin *p, unsigned vcpu)
{
    struct phases *const h = &p->phases;

    if (h->process == NULL || !is_taken(p, vcpu))
        return;
    take(p, vcpu);
    if (p->request.phases.counts != 0)
        keep_counts(p, vcpu);
    munmap(h->seen[vcpu], sizeof(uint64_t) * COUNTS_BLOCKS);
    h->seen[vcpu] = NULL;
    write_interval(p);
}

void
phases_stop(struct plugin *p)
{
    struct phases *const h = &p->phases;

    if (h->process == NULL)
        return;
    for (unsigned i = 0; i < COUNTS_STRANDS; i++) {
        if (h->seen[i] != NULL)
            munmap(h->seen[i], sizeof(uint64_t) * COUNTS_BLOCKS);
        h->seen[i] = NULL;
    }
    phases_unmap(h->process);
    h->process = NULL;
}

void
phases_fork(struct plugin *p)
{
    struct phases *const h = &p->phases;

    if (h->process == NULL)
        return;
    phases_stop(p);
    memset(h->now, 0, sizeof(*h->now) * p->table.index_count);
    begin_process(p);
}
