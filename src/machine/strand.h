/* SPDX-License-Identifier: MIT */
/*
 * The hot path of the model: what runs on every block and every access. All
 * inline; a caller passes constants for `components` so that what does not run
 * is not there. See chip.h for the idea.
 */
#ifndef TALLY_MACHINE_STRAND_H
#define TALLY_MACHINE_STRAND_H

#include "machine/callers.h"
#include "machine/chip.h"

static_assert(SIGNAL_TAKEN_MISPREDICTS == SIGNAL_NOT_TAKEN_MISPREDICTS + 1,
              "found by the direction");

#define STRAND_INLINE static inline __attribute__((always_inline))

/* What a block's entry does; a constant at each call. */
enum block_work {
    WORK_DIRECTION = 1 << 0, /* taken or not */
    WORK_PREDICTOR = 1 << 1, /* of directions; needs them */
    WORK_FETCH = 1 << 2,     /* L1I and ITLB */
    WORK_ONE_LINE = 1 << 3,  /* with WORK_FETCH: of a block in one line */
    WORK_TARGETS = 1 << 4,   /* needs the direction */
    WORK_CLOCK = 1 << 5,     /* looks after so many instructions */
    WORK_RECORD = 1 << 6,    /* where each block counts in a recording */
    WORK_CALLERS = 1 << 7,   /* with WORK_RECORD: of one by path of calls */
};

STRAND_INLINE uint64_t
filter_line(const struct filter *f, uint64_t addr)
{
    return __atomic_load_n(&f->line[addr >> f->shift & f->mask],
                           __ATOMIC_RELAXED);
}

STRAND_INLINE void
filter_put(struct filter *f, uint64_t addr, uint64_t line)
{
    __atomic_store_n(&f->line[addr >> f->shift & f->mask], line,
                     __ATOMIC_RELAXED);
}

/* Another strand's line at this place is no longer known, unless it is `first`
 * now. Nothing is written without need: it reads the filter all the time. */
STRAND_INLINE void
filter_void(struct filter *theirs, uint64_t addr, uint64_t first)
{
    const uint64_t known = filter_line(theirs, addr);

    if (known != NO_LINE && known != first)
        filter_put(theirs, addr, NO_LINE);
}

/* No line that `size` bytes cover is known any more. */
static inline void
filter_forget(struct filter *f, uint64_t addr, uint64_t size)
{
    const uint64_t step = (uint64_t)1 << f->shift;

    for (uint64_t at = addr & f->line_mask; at < addr + size; at += step)
        filter_put(f, at, NO_LINE);
}

/* All of a filter's words. Where no other strand runs (`alone`) none reads
 * them, and several are written at once. */
static inline void
filter_fill(uint64_t *words, size_t count, uint64_t value, bool alone)
{
    for (size_t i = 0; alone && i < count; i++)
        words[i] = value;
    for (size_t i = 0; !alone && i < count; i++)
        __atomic_store_n(&words[i], value, __ATOMIC_RELAXED);
}

/* From now on no line is known. */
static inline void
filter_clear(struct filter *f, bool alone)
{
    filter_fill(f->line, f->mask + 1, NO_LINE, alone);
}

/* Returns the cell in which the block before counted, in a recording, once the
 * strand has entered the next. */
STRAND_INLINE uint32_t
strand_last_cell(const struct strand *s, const struct block *last,
                 unsigned work)
{
    return work & WORK_CALLERS ? s->last_cell : block_number(last);
}

STRAND_INLINE void
strand_direction(struct strand *s, const struct block *last, uint64_t taken,
                 unsigned work)
{
    const uint64_t history = s->direction.history;
    uint64_t *total = s->total;
    uint8_t *at = &s->direction.counters[last->branch ^ history];
    const uint64_t next = COUNTER_NEXT >> (*at + taken * 8);

    s->direction.history = (history * 2 + taken) & s->direction.mask;
    total[SIGNAL_CONDITIONAL_TAKEN] += taken;
    total[SIGNAL_NOT_TAKEN_MISPREDICTS + taken] += next & 1;
    if (work & WORK_RECORD)
        s->branches[strand_last_cell(s, last, work)]
            .outcome[taken * 2 + (next & 1)]++;
    /* Last: a byte may alias anything that would be loaded after it. */
    *at = next & COUNTER_STATES;
}

/*
 * The target of a branch. One that is the most recent of its set in the branch
 * target cache, and goes where it went, changes nothing there. One branch for
 * all: whether a conditional one is taken cannot be foreseen.
 */
STRAND_INLINE bool
strand_target(const struct strand *s, const struct block *last,
              const struct block *b, uint64_t taken)
{
    const struct targets *t = &s->targets;
    const uint64_t asks = last->flags & t->kinds;
    const uint64_t taken_if = last->flags & BLOCK_IF_TAKEN & (taken - 1);
    const uint64_t unknown = (asks & t->more) |
                             (t->quick[last->btc] ^ last->branch_pc) |
                             (t->quick_targets[last->btc] ^ b->pc);

    return (asks != 0) & (taken_if == 0) & (unknown != 0);
}

/* The branch that closed `last`, now that `b` follows. True: targets_ask() is
 * to be called for it, by the caller's last call, so that it saves no registers
 * for those that need not. */
STRAND_INLINE bool
strand_branch(struct strand *s, const struct block *last, const struct block *b,
              unsigned work)
{
    const uint64_t taken = b->pc == last->taken_pc;

    /* Only conditional branches have a taken_pc that can match. */
    if ((work & WORK_PREDICTOR) == 0)
        s->total[SIGNAL_CONDITIONAL_TAKEN] += taken;
    else if ((last->flags & BLOCK_CONDITIONAL) != 0)
        strand_direction(s, last, taken, work);
    if ((work & WORK_RECORD) && (work & WORK_PREDICTOR) == 0)
        s->branches[strand_last_cell(s, last, work)].outcome[2] += taken;
    return (work & WORK_TARGETS) && strand_target(s, last, b, taken);
}

/* Returns what a block entry does for the components that run, as bits of enum
 * block_work. */
static inline unsigned
work_of(uint64_t components)
{
    unsigned work = 0;

    if (components &
        (COMPONENT_DIRECTION | COMPONENT_PREDICTOR | COMPONENTS_TARGETS))
        work |= WORK_DIRECTION;
    if (components & COMPONENT_PREDICTOR)
        work |= WORK_PREDICTOR;
    if (components & (COMPONENT_L1I | COMPONENT_ITLB))
        work |= WORK_FETCH;
    if (components & COMPONENTS_TARGETS)
        work |= WORK_TARGETS;
    return work;
}

/* Returns whether the strand counts by path of calls, which a strand does not
 * for which there is no memory. */
STRAND_INLINE bool
follows_callers(const struct strand *s, unsigned work)
{
    return (work & WORK_CALLERS) && s->callers != NULL;
}

/* Returns the cell in which a block counts that is entered, in a recording,
 * where that is quickly known; else 0, and strand_lead() finds the cell. */
STRAND_INLINE uint32_t
strand_foresee(const struct strand *s, const struct block *b, unsigned work)
{
    return follows_callers(s, work) ? callers_foresee(s->callers, b)
                                    : block_number(b);
}

STRAND_INLINE uint32_t
strand_lead(struct strand *s, const struct block *b, unsigned work)
{
    return follows_callers(s, work) ? callers_lead(s->callers, b)
                                    : block_number(b);
}

/* Enters a block: counts it, makes it s->previous, and closes the block before
 * as strand_branch() does. `cell`: in which the block counts, in a recording.
 */
STRAND_INLINE bool
strand_block(struct strand *s, const struct block *b, uint32_t cell,
             unsigned work)
{
    const struct block *last = s->previous;

    s->exec[b->index]++;
    s->previous = b;
    if (work & WORK_RECORD) {
        s->last_cell = s->cell;
        s->cell = cell;
    }
    if (follows_callers(s, work))
        callers_go(s->callers, b, cell);
    return (work & WORK_DIRECTION) && strand_branch(s, last, b, work);
}

/* The block before `b` is over, and counts where it ran: for a change of the
 * window between the two. */
STRAND_INLINE void
strand_close(struct strand *s, const struct block *b, unsigned work)
{
    const struct block *last = s->previous;

    s->last_cell = s->cell;
    if ((work & WORK_DIRECTION) && strand_branch(s, last, b, work))
        targets_ask(&s->targets, s->total, last, b->pc);
    strand_forget(s);
}

/* Returns whether fetching the block changes no state. */
STRAND_INLINE bool
strand_fetch_known(const struct strand *s, const struct block *b, unsigned work)
{
    const uint64_t *line = s->fetch.line;

    if (work & WORK_ONE_LINE)
        return __atomic_load_n(&line[b->slot0], __ATOMIC_RELAXED) == b->line0;
    return ((__atomic_load_n(&line[b->slot0], __ATOMIC_RELAXED) ^ b->line0) |
            (__atomic_load_n(&line[b->slot1], __ATOMIC_RELAXED) ^ b->line1)) ==
           0;
}

/* filter_line() of a filter for data, whose lines have 8 bytes at least. */
STRAND_INLINE uint64_t
filter_data_line(const struct filter *f, uint64_t addr)
{
    const uint64_t offset = addr >> f->offset_shift & f->offset_mask;

    return __atomic_load_n((const uint64_t *)((const char *)f->line + offset),
                           __ATOMIC_RELAXED);
}

/*
 * A load, or a store that allocates. `room` is line size - access size: one
 * compare says that the access lies in the line and does not cross its end.
 */
STRAND_INLINE bool
strand_data_known(const struct strand *s, uint64_t addr, uint64_t room)
{
    return addr - filter_data_line(&s->data, addr) <= room;
}

/* A store; `through` the L1 to the L2 its line size is the L2's. */
STRAND_INLINE bool
strand_store_known(const struct strand *s, uint64_t addr, uint64_t room,
                   bool through)
{
    return addr - filter_data_line(through ? &s->store : &s->data, addr) <=
           room;
}

STRAND_INLINE void
strand_load(struct strand *s, uint64_t addr, access_site at)
{
    if (__builtin_expect(!strand_data_known(s, addr, site_room(at)), 0))
        strand_load_slow(s, addr, at);
}

/* Makes a block load or twin load of SPARC, whose misses count apart. */
STRAND_INLINE void
strand_bulk(struct strand *s, uint64_t addr, access_site at)
{
    if (!strand_data_known(s, addr, site_room(at)))
        strand_bulk_slow(s, addr, at);
}

STRAND_INLINE void
strand_store(struct strand *s, uint64_t addr, access_site at, bool through)
{
    if (__builtin_expect(strand_store_known(s, addr, site_room(at), through),
                         1))
        return;
    if (through)
        strand_through_slow(s, addr, at);
    else
        strand_store_slow(s, addr, at);
}

/* Makes a load that passes the L1D by; its room is that of a store through it.
 */
STRAND_INLINE void
strand_float(struct strand *s, uint64_t addr, access_site at)
{
    const uint64_t line = filter_data_line(&s->store, addr) & ~LINE_CLEAN;

    if (__builtin_expect(addr - line > site_room(at), 0))
        strand_float_slow(s, addr, at);
}

#endif
