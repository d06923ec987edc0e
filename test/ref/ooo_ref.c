/* SPDX-License-Identifier: MIT */
#include "ref/ooo_ref.h"

#include <stdlib.h>
#include <string.h>

#include "table/table.h"

void
ooo_ref_init(struct ooo_ref *r, const uint64_t *params)
{
    memset(r, 0, sizeof(*r));
    r->params = params;
}

void
ooo_ref_finish(struct ooo_ref *r)
{
    free(r->blocks);
    free(r->lines);
    free(r->walk_ends);
    for (unsigned i = 0; i < OOO_UNITS; i++)
        free(r->begun[i]);
}

/* Of two times the later; of equal ones that with the greater reason. */
static struct ref_time
last_of(struct ref_time a, struct ref_time b)
{
    if (a.at != b.at)
        return a.at > b.at ? a : b;
    return a.reason > b.reason ? a : b;
}

static struct ref_time
after(struct ref_time t, uint64_t time)
{
    t.at += time;
    return t;
}

/* Returns how long the core stands still until then. */
static uint64_t
stand_until(struct ooo_ref *r, uint64_t until)
{
    const uint64_t before = r->now;

    if (until > r->now)
        r->now = until;
    return r->now - before;
}

/* Stands still for code, which is fetched from then on. */
static uint64_t
stand_for_code(struct ooo_ref *r, uint64_t until)
{
    const uint64_t stood = stand_until(r, until);

    if (stood == 0)
        return 0;
    r->fetched = r->now < OOO_CYCLE ? 0 : r->now - OOO_CYCLE;
    r->foretold = r->fetched;
    r->follows = false;
    return stood;
}

uint64_t
ooo_ref_mispredicted(struct ooo_ref *r)
{
    return stand_for_code(r, r->executed.at +
                                 r->params[PARAM_TIME_MISPREDICT] * OOO_CYCLE);
}

/* Fetches a block: the part of its first line that the block before has not
 * fetched, and its other lines. */
static void
fetch_block(struct ooo_ref *r, const struct ooo_block *b, bool taken)
{
    const uint64_t ahead = r->params[PARAM_FETCH_AHEAD] * OOO_CYCLE;
    const bool same = r->follows && r->line == b->first_line;
    const unsigned had = same ? r->slots : 0;
    uint64_t first = ooo_fetch_cycles(r->params, had + b->first_slots);
    const uint64_t rest =
        b->fetch - ooo_fetch_cycles(r->params, b->first_slots);

    if (b->fetch == 0)
        return;
    if (same)
        first -= ooo_fetch_cycles(r->params, had);
    r->slots = b->last_slots + (b->first_line == b->last_line ? had : 0);
    r->line = b->last_line;
    r->follows = !taken;
    if (r->now > ahead && r->fetched < r->now - ahead)
        r->fetched = r->now - ahead;
    r->fetched += (first + rest) * OOO_CYCLE;
    if (!taken)
        return;
    if (r->now > ahead && r->foretold < r->now - ahead)
        r->foretold = r->now - ahead;
    r->foretold += (uint64_t)b->foretell * OOO_CYCLE;
    if (r->fetched < r->foretold)
        r->fetched = r->foretold;
}

uint64_t
ooo_ref_bubble(struct ooo_ref *r, uint64_t time)
{
    r->foretold += time;
    if (r->fetched < r->foretold)
        r->fetched = r->foretold;
    return stand_until(r, r->fetched);
}

uint64_t
ooo_ref_resteer(struct ooo_ref *r, uint64_t time)
{
    r->fetched += time;
    r->foretold = r->fetched;
    return stand_until(r, r->fetched);
}

void
ooo_ref_prefetched(struct ooo_ref *r, uint64_t of_memory, uint64_t into_l1)
{
    if (r->last_line < r->now)
        r->last_line = r->now;
    if (of_memory != 0)
        r->last_line_walks = false;
    for (uint64_t i = 0; i < of_memory; i++)
        r->last_line += r->params[PARAM_TIME_LINE] * OOO_CYCLE;
    if (r->filled < r->now)
        r->filled = r->now;
    for (uint64_t i = 0; i < into_l1; i++)
        r->filled += r->params[PARAM_TIME_FILL] * OOO_CYCLE;
}

/* Asks for a line at `start`; returns when it is there. */
static uint64_t
ask_line(struct ooo_ref *r, uint64_t start, const struct ooo_wait *w,
         bool walks)
{
    const uint64_t buffers = r->params[PARAM_L1D_MISSES];

    /* The buffers go round: this one was last used so many lines ago. */
    if (buffers != 0 && r->line_count >= buffers &&
        r->lines[r->line_count - buffers] > start)
        start = r->lines[r->line_count - buffers];
    if (w->reason == OOO_MEMORY) {
        start = start > r->last_line ? start : r->last_line;
        r->last_line = start + r->params[PARAM_TIME_LINE] * OOO_CYCLE;
        r->last_line_walks = walks;
    }
    start = start > r->last_fill ? start : r->last_fill;
    r->last_fill = start + r->params[PARAM_TIME_FILL] * OOO_CYCLE;
    if (r->filled > start)
        r->filled += r->params[PARAM_TIME_FILL] * OOO_CYCLE;
    if (r->line_count == r->line_room) {
        r->line_room = 2 * r->line_room + 16;
        r->lines = realloc(r->lines, r->line_room * sizeof(*r->lines));
        if (r->lines == NULL)
            abort();
    }
    return r->lines[r->line_count++] = start + w->time;
}

/* Makes a walk that could begin at `start`, where fewer than tlb.walkers of the
 * walks before are under way. Returns when it is done. */
static uint64_t
make_walk(struct ooo_ref *r, uint64_t start, uint64_t time)
{
    uint64_t begins = start;

    for (;;) {
        uint64_t under_way = 0, next = UINT64_MAX;
        for (size_t i = 0; i < r->walk_count; i++) {
            if (r->walk_ends[i] <= begins)
                continue;
            under_way++;
            next = r->walk_ends[i] < next ? r->walk_ends[i] : next;
        }
        if (under_way < r->params[PARAM_TLB_WALKERS])
            break;
        begins = next;
    }
    if (r->walk_count == r->walk_room) {
        r->walk_room = 2 * r->walk_room + 16;
        r->walk_ends =
            realloc(r->walk_ends, r->walk_room * sizeof(*r->walk_ends));
        if (r->walk_ends == NULL)
            abort();
    }
    return r->walk_ends[r->walk_count++] = begins + time;
}

/* Begins the walks of an instruction that have not begun, as one. Returns when
 * they are done; without such walks 0. */
static uint64_t
begin_walks(struct ooo_ref *r, unsigned instruction, uint64_t start,
            uint64_t *time)
{
    bool any = false;

    *time = 0;
    for (unsigned i = 0; i < r->wait_count; i++) {
        if (r->waits[i].walks && r->waits[i].instruction == instruction &&
            !r->walks[i]) {
            *time += r->waits[i].time;
            any = true;
        }
    }
    if (!any)
        return 0;
    const uint64_t done = make_walk(r, start, *time);
    for (unsigned i = 0; i < r->wait_count; i++) {
        if (r->waits[i].walks && r->waits[i].instruction == instruction &&
            !r->walks[i]) {
            r->walks[i] = true;
            r->walked[i] = done;
        }
    }
    return done;
}

/* Returns when a load has its pages. */
static struct ref_time
pages_of(struct ooo_ref *r, const struct ooo_op *op, struct ref_time start)
{
    const bool walkers = r->params[PARAM_TLB_WALKERS] != 0;
    uint64_t time;

    for (unsigned i = 0; i < r->wait_count; i++) {
        if (r->waits[i].instruction == op->instruction &&
            r->waits[i].reason == OOO_TLB && !(walkers && r->waits[i].walks))
            start = (struct ref_time){start.at + r->waits[i].time, OOO_TLB};
    }
    if (!walkers)
        return start;
    begin_walks(r, op->instruction, start.at, &time);
    for (unsigned i = 0; i < r->wait_count; i++) {
        if (r->waits[i].walks && r->waits[i].instruction == op->instruction)
            start = (struct ref_time){
                start.at > r->walked[i] ? start.at : r->walked[i], OOO_TLB};
    }
    return start;
}

static struct ref_time
load(struct ooo_ref *r, const struct ooo_op *op, struct ref_time start)
{
    const uint64_t disp = (uint64_t)(int64_t)op->disp;
    const uint64_t begins = start.at;

    start = pages_of(r, op, start);
    const uint64_t walk = start.at - begins;
    struct ref_time there = start;
    if (op->base != OOO_THERE && r->asked[op->base].waits &&
        (r->asked[op->base].value + disp) / 64 == r->asked[op->base].line)
        there = last_of(there, r->asked[op->base].there);
    for (unsigned i = 0; i < r->wait_count; i++) {
        const struct ooo_wait *const w = &r->waits[i];
        if (w->instruction != op->instruction || w->stores ||
            w->reason == OOO_TLB)
            continue;
        const struct ref_time line = {ask_line(r, start.at, w, walk > w->time),
                                      walk > w->time ? OOO_TLB : w->reason};
        there = last_of(there, line);
        if (op->base == OOO_THERE)
            continue;
        r->asked[op->base].waits = true;
        r->asked[op->base].value = w->addr - disp;
        r->asked[op->base].line = w->addr / 64;
        r->asked[op->base].there = there;
    }
    return after(there, op->load);
}

/* Returns when an operation begins that could at a time: units of its kind are
 * free then, or as soon as they are. Of a cycle that is REF_PLACES or a
 * multiple of that before another, nothing is known any more. */
static struct ref_time
begin(struct ooo_ref *r, unsigned unit, struct ref_time t)
{
    const uint64_t most = ooo_units(r->params, (enum ooo_unit)unit);
    uint64_t cycle = t.at / OOO_CYCLE;

    if (r->begun[unit] == NULL)
        r->begun[unit] = calloc(REF_CYCLES, 1);
    if (r->begun[unit] == NULL)
        abort();
    for (;; cycle++) {
        if (cycle >= REF_CYCLES)
            abort();
        bool known = true;
        for (uint64_t later = cycle + REF_PLACES; later <= r->latest[unit];
             later += REF_PLACES)
            known &= r->begun[unit][later] == 0;
        if (known && r->begun[unit][cycle] == most)
            continue;
        r->begun[unit][cycle] += known;
        if (known && cycle > r->latest[unit])
            r->latest[unit] = cycle;
        if (cycle * OOO_CYCLE > t.at)
            t = (struct ref_time){cycle * OOO_CYCLE, OOO_CORE};
        return t;
    }
}

static struct ref_time
execute(struct ooo_ref *r, const struct ooo_op *op)
{
    struct ref_time t = {r->now + op->offset, OOO_CORE};

    for (unsigned i = 0; i < 2; i++)
        t = last_of(t, r->ready[op->address[i]]);
    if (op->load != 0)
        t = load(r, op, t);
    for (unsigned i = 0; i < 2; i++)
        t = last_of(t, r->ready[op->reads[i]]);
    if (op->unit != OOO_UNIT_NONE)
        t = begin(r, op->unit, t);
    t = after(t, op->latency);
    for (unsigned i = 0; i < 2; i++) {
        r->ready[op->changes[i]] = t;
        r->asked[op->changes[i]].waits = false;
    }
    return t;
}

/* Waits until the blocks have left that are too far in front of the end of this
 * one. */
static void
wait_for_room(struct ooo_ref *r, uint64_t end, uint64_t *time)
{
    struct ref_time last = {0, OOO_CORE};

    while (r->left < r->count &&
           r->blocks[r->left].micro_ops + r->params[PARAM_ROB_ENTRIES] <= end)
        last = r->blocks[r->left++].leaves;
    time[last.reason] += stand_until(r, last.at);
}

void
ooo_ref_run(struct ooo_ref *r, const struct ooo_block *b, bool taken,
            uint64_t time[OOO_REASONS])
{
    const uint64_t end =
        (r->count != 0 ? r->blocks[r->count - 1].micro_ops : 0) + b->micro_ops;
    struct ref_time last = r->leaves;

    memset(time, 0, OOO_REASONS * sizeof(*time));
    memset(r->walks, 0, sizeof(r->walks));
    time[OOO_FETCH] += stand_for_code(r, r->now + r->fetch);
    if (r->fetch_walk != 0)
        time[OOO_FETCH] +=
            stand_for_code(r, r->params[PARAM_TLB_WALKERS] == 0
                                  ? r->now + r->fetch_walk
                                  : make_walk(r, r->now, r->fetch_walk));
    r->fetch = r->fetch_walk = 0;
    const uint64_t ahead = OOO_AHEAD * r->params[PARAM_TIME_LINE] * OOO_CYCLE;
    if (r->last_line > ahead)
        time[r->last_line_walks ? OOO_TLB : OOO_MEMORY] +=
            stand_until(r, r->last_line - ahead);
    const uint64_t fills = OOO_AHEAD * r->params[PARAM_TIME_FILL] * OOO_CYCLE;
    if (r->filled > fills)
        time[OOO_L2] += stand_until(r, r->filled - fills);
    wait_for_room(r, end, time);
    fetch_block(r, b, taken);
    for (uint32_t i = 0; i < b->count; i++) {
        r->executed = execute(r, &b->ops[i]);
        last = last_of(last, r->executed);
    }
    for (unsigned i = 0; r->params[PARAM_TLB_WALKERS] != 0 && i < r->wait_count;
         i++) {
        uint64_t alone = 0;
        const uint64_t done =
            r->waits[i].walks
                ? begin_walks(r, r->waits[i].instruction, r->now, &alone)
                : 0;
        if (done > 2 * alone)
            time[OOO_TLB] += stand_until(r, done - 2 * alone);
    }
    for (unsigned i = 0; i < r->wait_count; i++) {
        if (!r->waits[i].stores)
            continue;
        const uint64_t there = ask_line(r, r->now, &r->waits[i], false);
        const uint64_t hidden = 2 * r->waits[i].time;
        time[OOO_STORE] += stand_until(r, there > hidden ? there - hidden : 0);
    }
    r->wait_count = 0;
    time[OOO_ISSUE] += b->issue;
    time[OOO_CORE] += b->time - b->issue;
    r->now += b->time;
    time[OOO_FETCH] += stand_until(r, r->fetched);
    if (r->count == r->room) {
        r->room = 2 * r->room + 16;
        r->blocks = realloc(r->blocks, r->room * sizeof(*r->blocks));
        if (r->blocks == NULL)
            abort();
    }
    r->leaves = last;
    r->blocks[r->count++] = (struct ref_block){end, last};
}
