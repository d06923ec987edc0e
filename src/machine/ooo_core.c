/* SPDX-License-Identifier: MIT */
#include "machine/ooo_core.h"

#include <stdlib.h>
#include <string.h>

#include "table/table.h"

#define REASON ((uint64_t)OOO_CAUSES - 1)
#define LINE_SHIFT 6

/* Blocks in the reorder buffer at most, as many as rob.entries may have. */
#define RING 1024u
/* Waits of a block at most: of its 512 instructions each may ask for two lines.
 */
#define WAITS 1024u
#define BUFFERS_MOST 64u
#define WALKERS_MOST 16u
/* The core goes on while stores wait for fewer lines than a store takes so many
 * times its wait to get. */
#define STORE_WAITS 2u

/* Cycles, the latest of each kind of unit, of which it is known how many
 * operations begin in them. */
#define PLACES 256u

/* No line of code. */
#define NO_LINE UINT64_MAX
/* Micro-operations of a line of code are told apart up to so many; no line has
 * more, as lines have 256 bytes at most and each instruction takes one. */
#define SLOTS_MOST 256u

/* A block in the reorder buffer. */
struct held {
    uint64_t behind; /* micro-operations up to its end */
    uint64_t leaves; /* when it does, and in the lowest bits why so late */
    uint32_t tag;
    uint16_t instruction; /* that finishes last */
};

/* The line that a load by a register waits for. */
struct asked {
    uint64_t value; /* of the register */
    uint64_t line;
    uint64_t there; /* when the line is; 0: no load by the register waits */
};

struct ooo_core {
    uint64_t now;       /* when the core takes in what comes next */
    uint64_t leaves;    /* when the last block leaves the reorder buffer */
    uint64_t executed;  /* when the last operation has */
    uint64_t micro_ops; /* taken in */
    uint64_t ready[OOO_REGISTERS]; /* when a value is there, and why then */
    struct asked asked[OOO_REGISTERS];
    uint64_t pending;  /* the latest line of `asked` */
    uint64_t fetched;  /* when the last block is, */
    uint64_t foretold; /* and when its branch is, if it is taken */
    uint64_t ahead;    /* how much before the core takes a block in, at most */
    uint64_t line;     /* of code, that was fetched last; NO_LINE: the next
                        * block's is another */
    unsigned slots;    /* micro-operations fetched of that line, */
    uint16_t fetch_cycles[2 * SLOTS_MOST + 1]; /* and what so many take */
    uint64_t fetch; /* the next block's code is so much later, */
    uint64_t walk;  /* and behind page walks that take so long */

    /* Of the kinds of units that begin operations in a cycle: the latest cycle
     * with this remainder in which one begins, times 256, and how many do. */
    uint64_t places[OOO_UNITS][PLACES];
    uint64_t units[OOO_UNITS];

    struct ooo_wait waits[WAITS];
    uint64_t walked[WAITS]; /* when the walk is done, and in the lowest bits
                             * OOO_TLB; 0: it has no walker yet */
    unsigned wait_count;

    uint64_t walkers[WALKERS_MOST]; /* when each is free */
    unsigned walker_count;          /* 0: any number */

    uint64_t buffers[BUFFERS_MOST]; /* when each is free */
    unsigned buffer, buffer_count;  /* the next to be taken; 0: any number */
    uint64_t fill_free, fill_time;
    uint64_t filled; /* when the L1 has taken in the lines of prefetchers */
    uint64_t memory_free, memory_time;
    uint8_t memory_reason; /* why memory is free so late */

    uint64_t rob, refill;
    unsigned first, end; /* of the ring */
    struct held ring[RING];
};

struct ooo_core *
ooo_core_create(const uint64_t *params)
{
    struct ooo_core *const c = calloc(1, sizeof(*c));

    if (c == NULL)
        return NULL;
    c->memory_reason = OOO_MEMORY;
    c->rob = params[PARAM_ROB_ENTRIES];
    c->refill = params[PARAM_TIME_MISPREDICT] * OOO_CYCLE;
    c->fill_time = params[PARAM_TIME_FILL] * OOO_CYCLE;
    c->memory_time = params[PARAM_TIME_LINE] * OOO_CYCLE;
    c->buffer_count = (unsigned)params[PARAM_L1D_MISSES];
    c->walker_count = (unsigned)params[PARAM_TLB_WALKERS];
    c->ahead = params[PARAM_FETCH_AHEAD] * OOO_CYCLE;
    c->line = NO_LINE;
    for (unsigned i = OOO_UNIT_NONE + 1; i < OOO_UNITS; i++)
        c->units[i] = ooo_units(params, (enum ooo_unit)i);
    for (unsigned i = 0; i <= 2 * SLOTS_MOST; i++)
        c->fetch_cycles[i] = (uint16_t)ooo_fetch_cycles(params, i);
    return c;
}

void
ooo_core_destroy(struct ooo_core *c)
{
    free(c);
}

void
ooo_core_reset(struct ooo_core *c)
{
    c->leaves = c->executed = c->now;
    c->first = c->end = 0;
    c->wait_count = 0;
    c->fetch = c->walk = c->pending = 0;
    c->fetched = c->foretold = c->now;
    c->line = NO_LINE;
    c->fill_free = c->filled = c->memory_free = 0;
    c->memory_reason = OOO_MEMORY;
    memset(c->ready, 0, sizeof(c->ready));
    memset(c->asked, 0, sizeof(c->asked));
    memset(c->buffers, 0, sizeof(c->buffers));
    memset(c->walkers, 0, sizeof(c->walkers));
    memset(c->places, 0, sizeof(c->places));
}

static inline uint64_t
later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline uint64_t
without_reason(uint64_t time)
{
    return time & ~REASON;
}

/* The core takes nothing in before `until`. Returns for how long. */
static inline uint64_t
stop(struct ooo_core *c, uint64_t until)
{
    const uint64_t stopped = until > c->now ? until - c->now : 0;

    c->now += stopped;
    return stopped;
}

/* The core takes nothing in before `until`, when code comes that it fetches
 * from then on; the time has the first cycle of fetching in it. Returns for how
 * long. */
static inline uint64_t
begin_anew(struct ooo_core *c, uint64_t until)
{
    const uint64_t stopped = stop(c, until);

    if (stopped != 0) {
        c->fetched = c->now > OOO_CYCLE ? c->now - OOO_CYCLE : 0;
        c->foretold = c->fetched;
        c->line = NO_LINE;
    }
    return stopped;
}

uint64_t
ooo_core_mispredicted(struct ooo_core *c)
{
    return begin_anew(c, without_reason(c->executed) + c->refill);
}

uint64_t
ooo_core_bubble(struct ooo_core *c, uint64_t time)
{
    c->foretold += time;
    c->fetched = later(c->fetched, c->foretold);
    return stop(c, c->fetched);
}

uint64_t
ooo_core_resteer(struct ooo_core *c, uint64_t time)
{
    c->fetched += time;
    c->foretold = c->fetched;
    return stop(c, c->fetched);
}

void
ooo_core_fetch(struct ooo_core *c, uint64_t time)
{
    c->fetch += time;
}

void
ooo_core_walk_code(struct ooo_core *c, uint64_t time)
{
    if (c->walker_count == 0)
        c->fetch += time;
    else
        c->walk += time;
}

bool
ooo_core_wait(struct ooo_core *c, const struct ooo_wait *wait)
{
    if (c->wait_count == WAITS)
        return false;
    c->walked[c->wait_count] = 0;
    c->waits[c->wait_count++] = *wait;
    return true;
}

void
ooo_core_prefetched(struct ooo_core *c, uint64_t of_memory, uint64_t into_l1)
{
    c->memory_free = later(c->memory_free, c->now) + of_memory * c->memory_time;
    if (of_memory != 0)
        c->memory_reason = OOO_MEMORY;
    c->filled = later(c->filled, c->now) + into_l1 * c->fill_time;
}

/* Waits until there is room for a block: all blocks have left that would be
 * further than rob.entries in front of its end. */
static inline void
make_room(struct ooo_core *c, uint64_t micro_ops, struct ooo_spent *spent)
{
    const uint64_t end = c->micro_ops + micro_ops;
    const struct held *last = NULL;

    while (c->first != c->end &&
           c->ring[c->first % RING].behind + c->rob <= end)
        last = &c->ring[c->first++ % RING];
    if (last == NULL)
        return;
    spent->room = stop(c, without_reason(last->leaves));
    spent->reason = last->leaves & REASON;
    spent->tag = last->tag;
    spent->instruction = last->instruction;
}

/* A miss gets a buffer from `start` on. Returns when its line is there.
 * `reason`: for what the access waits longest. */
static uint64_t
fetch_line(struct ooo_core *c, uint64_t start, const struct ooo_wait *w,
           uint64_t reason)
{
    uint64_t *const buffer = &c->buffers[c->buffer];

    if (c->buffer_count != 0)
        start = later(start, *buffer);
    if (w->reason == OOO_MEMORY) {
        start = later(start, c->memory_free);
        c->memory_free = start + c->memory_time;
        c->memory_reason = (uint8_t)reason;
    }
    start = later(start, c->fill_free);
    c->fill_free = start + c->fill_time;
    if (c->filled > start)
        c->filled += c->fill_time;
    const uint64_t there = start + w->time;
    if (c->buffer_count != 0) {
        *buffer = there;
        c->buffer = c->buffer + 1 == c->buffer_count ? 0 : c->buffer + 1;
    }
    return there;
}

/* Notes that loads by the register of a load wait for its line. */
static void
note_asked(struct ooo_core *c, const struct ooo_op *op, uint64_t addr,
           uint64_t there)
{
    if (op->base == OOO_THERE)
        return;
    c->asked[op->base] = (struct asked){
        .value = addr - (uint64_t)(int64_t)op->disp,
        .line = addr >> LINE_SHIFT,
        .there = there,
    };
    c->pending = later(c->pending, there);
}

/* Makes a page walk of so much time from `start` on, with the walker that is
 * free first. Returns when the walk is done. */
static uint64_t
walk(struct ooo_core *c, uint64_t start, uint64_t time)
{
    uint64_t *walker = c->walkers;

    for (unsigned i = 1; i < c->walker_count; i++) {
        if (c->walkers[i] < *walker)
            walker = &c->walkers[i];
    }
    return *walker = later(start, *walker) + time;
}

/* Makes the walks of an instruction that have no walker yet, those of the waits
 * from `first` on, one after the other from `start` on. Returns when they are
 * done; *time is how long they take alone. */
static uint64_t
walk_for(struct ooo_core *c, unsigned instruction, unsigned first,
         uint64_t start, uint64_t *time)
{
    *time = 0;
    for (unsigned i = first; i < c->wait_count; i++) {
        if (c->waits[i].walks && c->waits[i].instruction == instruction &&
            c->walked[i] == 0)
            *time += c->waits[i].time;
    }
    const uint64_t done = walk(c, start, *time);
    for (unsigned i = first; i < c->wait_count; i++) {
        if (c->waits[i].walks && c->waits[i].instruction == instruction &&
            c->walked[i] == 0)
            c->walked[i] = done | OOO_TLB;
    }
    return done;
}

/* Returns when the pages are there for a load that begins at `start`, with the
 * reason OOO_TLB where the load waits for a page. */
static uint64_t
load_pages(struct ooo_core *c, const struct ooo_op *op, uint64_t start)
{
    uint64_t there = start, time;

    for (unsigned i = 0; i < c->wait_count; i++) {
        const struct ooo_wait *const w = &c->waits[i];
        if (w->instruction == op->instruction && w->reason == OOO_TLB &&
            (c->walker_count == 0 || !w->walks))
            there = without_reason(there + w->time) | OOO_TLB;
    }
    for (unsigned i = 0; c->walker_count != 0 && i < c->wait_count; i++) {
        const struct ooo_wait *const w = &c->waits[i];
        if (w->instruction != op->instruction || !w->walks)
            continue;
        if (c->walked[i] == 0)
            walk_for(c, op->instruction, i, without_reason(there), &time);
        there = later(without_reason(there) | OOO_TLB, c->walked[i]);
    }
    return there;
}

/* Returns when the value of a load is there that begins at `start`. Where the
 * load waits for a page and then for a line, the reason is the longer wait. */
static uint64_t
load(struct ooo_core *c, const struct ooo_op *op, uint64_t start)
{
    const struct asked *const asked = &c->asked[op->base];
    const uint64_t begins = without_reason(start);

    start = load_pages(c, op, start);
    const uint64_t page = without_reason(start) - begins;
    uint64_t there = start;
    if (op->base != OOO_THERE &&
        (asked->value + (uint64_t)(int64_t)op->disp) >> LINE_SHIFT ==
            asked->line)
        there = later(there, asked->there);
    for (unsigned i = 0; i < c->wait_count; i++) {
        const struct ooo_wait *const w = &c->waits[i];
        if (w->instruction != op->instruction || w->stores ||
            w->reason == OOO_TLB)
            continue;
        const uint64_t reason = page > w->time ? (uint64_t)OOO_TLB : w->reason;
        there = later(there,
                      fetch_line(c, without_reason(start), w, reason) | reason);
        note_asked(c, op, w->addr, there);
    }
    return there + op->load;
}

/* Takes a place for an operation that could begin at `start`, in the first
 * cycle in which units of its kind begin fewer operations than they may.
 * Returns when it begins. */
static inline uint64_t
take_place(struct ooo_core *c, unsigned unit, uint64_t start)
{
    uint64_t *const places = c->places[unit];

    for (uint64_t cycle = start / OOO_CYCLE;; cycle++) {
        uint64_t *const place = &places[cycle % PLACES];
        const uint64_t latest = *place >> 8;
        const bool later = cycle * OOO_CYCLE > start;
        if (latest == cycle && (*place & 255) >= c->units[unit])
            continue;
        if (latest <= cycle)
            *place = latest == cycle ? *place + 1 : cycle << 8 | 1;
        return later ? cycle * OOO_CYCLE : start;
    }
}

/* Executes the block's operations, which the core takes in from now on, and
 * tells which finishes last. `waits`: a load may wait for a line. */
static inline __attribute__((always_inline)) struct held
execute(struct ooo_core *c, const struct ooo_block *b, bool waits)
{
    uint64_t *const ready = c->ready;
    struct held held = {0};
    uint64_t t = 0;

    for (const struct ooo_op *op = b->ops; op < b->ops + b->count; op++) {
        t = later(c->now + op->offset,
                  later(ready[op->address[0]], ready[op->address[1]]));
        t = waits && op->load != 0 ? load(c, op, t) : t + op->load;
        t = later(t, later(ready[op->reads[0]], ready[op->reads[1]]));
        if (op->unit != OOO_UNIT_NONE)
            t = take_place(c, op->unit, t);
        t += op->latency;
        ready[op->changes[0]] = t;
        ready[op->changes[1]] = t;
        if (waits)
            c->asked[op->changes[0]].there = c->asked[op->changes[1]].there = 0;
        if (t > held.leaves) {
            held.leaves = t;
            held.instruction = op->instruction;
        }
    }
    if (b->count != 0)
        c->executed = t;
    return held;
}

/* Stores take buffers as they leave the core, which goes on unless too many of
 * them wait. Returns for how long it does not. */
static uint64_t
store_lines(struct ooo_core *c)
{
    uint64_t stopped = 0;

    for (unsigned i = 0; i < c->wait_count; i++) {
        const struct ooo_wait *const w = &c->waits[i];
        if (!w->stores)
            continue;
        const uint64_t there =
            without_reason(fetch_line(c, c->now, w, w->reason));
        const uint64_t hidden = without_reason(STORE_WAITS * w->time);
        stopped += stop(c, there > hidden ? there - hidden : 0);
    }
    return stopped;
}

/* Stores begin their page walks as they leave the core, which goes on unless
 * too many of the walks wait. Returns for how long it does not. */
static uint64_t
store_walks(struct ooo_core *c)
{
    uint64_t stopped = 0, time;

    for (unsigned i = 0; i < c->wait_count; i++) {
        if (!c->waits[i].walks || c->walked[i] != 0)
            continue;
        const uint64_t done =
            walk_for(c, c->waits[i].instruction, i, c->now, &time);
        const uint64_t hidden = STORE_WAITS * time;
        stopped += stop(c, done > hidden ? done - hidden : 0);
    }
    return stopped;
}

/* Fetches a block that the core is about to take in. `taken`: the branch that
 * closes it is. */
static inline void
fetch_block(struct ooo_core *c, const struct ooo_block *b, bool taken)
{
    const unsigned before = c->line == b->first_line ? c->slots : 0;
    unsigned slots = b->last_slots;
    uint64_t cycles = b->fetch;

    if (c->line == b->first_line) {
        cycles += c->fetch_cycles[before + b->first_slots];
        cycles -= c->fetch_cycles[before] + c->fetch_cycles[b->first_slots];
    }
    if (b->first_line == b->last_line)
        slots += before;
    c->slots = slots < SLOTS_MOST ? slots : SLOTS_MOST;
    c->line = taken ? NO_LINE : b->last_line;
    if (c->now > c->fetched + c->ahead)
        c->fetched = c->now - c->ahead;
    c->fetched += cycles * OOO_CYCLE;
    if (taken) {
        if (c->now > c->foretold + c->ahead)
            c->foretold = c->now - c->ahead;
        c->foretold += (uint64_t)b->foretell * OOO_CYCLE;
        c->fetched = later(c->fetched, c->foretold);
    }
}

void
ooo_core_run(struct ooo_core *c, const struct ooo_block *b, bool taken,
             uint32_t tag, struct ooo_spent *spent)
{
    spent->room = 0;
    spent->stores = spent->walks = 0;
    spent->fetch = begin_anew(c, c->now + without_reason(c->fetch));
    if (c->walk != 0)
        spent->fetch += begin_anew(c, walk(c, c->now, c->walk));
    c->fetch = c->walk = 0;
    const uint64_t ahead = OOO_AHEAD * c->memory_time;
    spent->memory =
        stop(c, c->memory_free > ahead ? c->memory_free - ahead : 0);
    spent->memory_reason = c->memory_reason;
    const uint64_t fills = OOO_AHEAD * c->fill_time;
    spent->fills = stop(c, c->filled > fills ? c->filled - fills : 0);
    make_room(c, b->micro_ops, spent);
    if (b->fetch != 0)
        fetch_block(c, b, taken);

    struct held held = c->wait_count != 0 || c->pending > c->now
                           ? execute(c, b, true)
                           : execute(c, b, false);
    if (c->wait_count != 0) {
        if (c->walker_count != 0)
            spent->walks = store_walks(c);
        spent->stores = store_lines(c);
    }
    c->wait_count = 0;
    c->now += b->time;
    spent->issue = b->issue;
    spent->units = b->time - b->issue;
    spent->fetch += stop(c, c->fetched);
    c->micro_ops += b->micro_ops;
    c->leaves = held.leaves = later(c->leaves, held.leaves);
    held.behind = c->micro_ops;
    held.tag = tag;
    c->ring[c->end++ % RING] = held;
    if (c->end - c->first > RING)
        c->first = c->end - RING;
}
