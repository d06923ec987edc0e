/* SPDX-License-Identifier: MIT */
#include "machine/ooo.h"

#include <stdlib.h>
#include <string.h>

#include "machine/levels.h"
#include "machine/ooo_core.h"
#include "machine/queue.h"
#include "machine/recorder.h"
#include "source/record_counts.h"

struct ooo {
    struct ooo_core *core;
    const struct ooo_block *block; /* entered; NULL: none */
    bool judged;                   /* a block was complete before this one */
    /* Wrong predictions in the strand's totals when a block was last complete.
     */
    uint64_t mispredicts;
    uint64_t late_times[BTB_NONE + 1]; /* of the levels; none: of decode */
    uint64_t levels[3];                /* time of the L2, the L3 and memory */
    uint64_t rest[OOO_REASONS]; /* parts of a cycle that are not counted yet */
};

static const uint16_t signals[OOO_REASONS] = {
    [OOO_CORE] = SIGNAL_OOO_CORE,
    [OOO_L2] = SIGNAL_OOO_L2,
    [OOO_L3] = SIGNAL_OOO_L3,
    [OOO_MEMORY] = SIGNAL_OOO_MEMORY,
    [OOO_TLB] = SIGNAL_OOO_TLB,
    [OOO_STORE] = SIGNAL_OOO_STORE,
    [OOO_ISSUE] = SIGNAL_OOO_ISSUE,
    [OOO_FETCH] = SIGNAL_OOO_FETCH,
    [OOO_MISPREDICT] = SIGNAL_OOO_MISPREDICT,
    [OOO_BTB] = SIGNAL_OOO_BTB,
};

struct ooo *
ooo_create(const uint64_t *params)
{
    struct ooo *const o = calloc(1, sizeof(*o));

    if (o == NULL)
        return NULL;
    o->core = ooo_core_create(params);
    if (o->core == NULL) {
        free(o);
        return NULL;
    }
    o->late_times[1] = params[PARAM_BTB2_TIME] * OOO_CYCLE;
    o->late_times[2] = params[PARAM_BTB3_TIME] * OOO_CYCLE;
    o->late_times[BTB_NONE] = params[PARAM_TIME_RESTEER] * OOO_CYCLE;
    o->levels[0] = params[PARAM_TIME_L2] * OOO_CYCLE;
    o->levels[1] = params[PARAM_TIME_L3] * OOO_CYCLE;
    o->levels[2] = params[PARAM_TIME_MEMORY] * OOO_CYCLE;
    return o;
}

void
ooo_destroy(struct ooo *o)
{
    if (o != NULL)
        ooo_core_destroy(o->core);
    free(o);
}

void
ooo_reset(struct ooo *o)
{
    o->block = NULL;
    o->judged = false;
    ooo_core_reset(o->core);
}

/* Counts the time, and charges the instruction of the cell with it in a
 * recording. */
static void
count(struct strand *s, enum ooo_reason reason, uint64_t time, uint32_t cell,
      unsigned instruction)
{
    uint64_t *const rest = &s->ooo->rest[reason];
    const uint64_t cycles = (*rest + time) / OOO_CYCLE;

    *rest = (*rest + time) % OOO_CYCLE;
    if (cycles == 0)
        return;
    s->total[signals[reason]] += cycles;
    if (s->recorder != NULL)
        recorder_charge_signal(s, cell, instruction, RECORDER_NO_DATA,
                               signals[reason], cycles);
}

static uint64_t
mispredicts_of(const uint64_t *total)
{
    return total[SIGNAL_NOT_TAKEN_MISPREDICTS] +
           total[SIGNAL_TAKEN_MISPREDICTS] + total[SIGNAL_FAR_MISPREDICTS] +
           total[SIGNAL_INDIRECT_MISPREDICTS] +
           total[SIGNAL_RETURN_MISPREDICTS];
}

void
ooo_switch_totals(struct ooo *o, const uint64_t *from, const uint64_t *to)
{
    o->mispredicts += mispredicts_of(to) - mispredicts_of(from);
}

/* The signals by which it is seen that a request missed: of the L1, which has
 * none where the request has missed it already, of the L2 and of the L3. */
struct miss_signals {
    uint16_t l1, l2, l3;
};

static struct miss_signals
miss_signals_of(const struct strand *s, const struct request *r)
{
    static const uint16_t l1[REQUEST_KINDS] = {
        [REQUEST_LOAD] = SIGNAL_L1D_LOAD_MISSES,
        [REQUEST_STORE] = SIGNAL_L1D_STORE_MISSES,
        [REQUEST_NEAR] = SIGNAL_NEAR_PREFETCH_MISSES,
    };
    const bool looked_up =
        r->kind == REQUEST_FETCH && (r->flags & REQUEST_LOOKUP) != 0;

    return (struct miss_signals){
        looked_up ? SIGNAL_L1I_MISSES : l1[r->kind],
        queue_l2_signal[r->kind],
        s->chip->level_count != 0 ? s->chip->levels[0].row->misses[r->kind] : 0,
    };
}

/* Returns how many lines prefetchers have asked memory for. */
static uint64_t
prefetched_of_memory(const struct strand *s)
{
    return s->total[s->chip->level_count != 0
                        ? s->chip->levels[0].row->misses[REQUEST_NEAR_AHEAD]
                        : SIGNAL_PREFETCHER_L2_MISSES];
}

/* Takes a request through the caches. Returns how many levels lack its line: 0
 * is a hit of the L1. */
static unsigned
levels_missed(struct strand *s, const struct request *r)
{
    const struct miss_signals of = miss_signals_of(s, r);
    const uint64_t *const total = s->total;
    const uint64_t l1 = total[of.l1], l2 = total[of.l2], l3 = total[of.l3];

    uint64_t of_memory = prefetched_of_memory(s);
    uint64_t into_l1 = total[SIGNAL_L1D_PREFETCHES];

    s->queue.entries[0] = *r;
    s->queue.next = s->queue.entries + 1;
    strand_drain_queue(s);
    of_memory = prefetched_of_memory(s) - of_memory;
    into_l1 = total[SIGNAL_L1D_PREFETCHES] - into_l1;
    if ((of_memory | into_l1) != 0)
        ooo_core_prefetched(s->ooo->core, of_memory, into_l1);
    if (of.l1 != 0 && total[of.l1] == l1)
        return 0;
    if (s->l2 != NULL && total[of.l2] == l2)
        return 1;
    if (of.l3 != 0 && total[of.l3] == l3)
        return 2;
    return 3;
}

/* Notes that the next block, or an access of it, waits. */
static void
note(struct strand *s, const struct ooo_wait *wait)
{
    struct ooo_core *const core = s->ooo->core;

    /* Of more accesses than can be kept, the block itself waits. */
    if (!ooo_core_wait(core, wait))
        ooo_core_fetch(core, wait->time);
}

static void
take_request(struct strand *s, const struct request *r)
{
    const unsigned missed = levels_missed(s, r);
    uint64_t time = 0;

    for (unsigned level = 0; level < missed; level++)
        time += s->ooo->levels[level];
    if (missed == 0)
        return;
    if (r->kind == REQUEST_FETCH)
        ooo_core_fetch(s->ooo->core, time);
    else if (r->kind == REQUEST_WALK_I)
        ooo_core_walk_code(s->ooo->core, time);
    else if (r->kind == REQUEST_LOAD || r->kind == REQUEST_STORE)
        note(s, &(struct ooo_wait){r->addr, time, r->instruction,
                                   (uint8_t)(OOO_L2 + missed - 1),
                                   r->kind == REQUEST_STORE, false});
    else if (r->kind == REQUEST_WALK_D)
        note(s,
             &(struct ooo_wait){0, time, r->instruction, OOO_TLB, false, true});
}

void
ooo_drain(struct strand *s)
{
    const size_t count = (size_t)(s->queue.next - s->queue.entries);
    struct request requests[QUEUE_LENGTH + QUEUE_SLACK];
    uint8_t sizes[QUEUE_LENGTH + QUEUE_SLACK];
    uint32_t ran[QUEUE_LENGTH + QUEUE_SLACK];

    memcpy(requests, s->queue.entries, count * sizeof(*requests));
    if (s->sizes != NULL)
        memcpy(sizes, s->sizes, count * sizeof(*sizes));
    if (s->ran != NULL)
        memcpy(ran, s->ran, count * sizeof(*ran));
    for (size_t i = 0; i < count; i++) {
        if (s->sizes != NULL)
            s->sizes[0] = sizes[i];
        if (s->ran != NULL)
            s->ran[0] = ran[i];
        take_request(s, &requests[i]);
    }
    if (count == 0)
        strand_drain_queue(s);
}

void
ooo_page(struct strand *s, unsigned instruction, bool code, bool walks,
         uint64_t cycles)
{
    const uint64_t time = cycles * OOO_CYCLE;

    if (code && walks)
        ooo_core_walk_code(s->ooo->core, time);
    else if (code)
        ooo_core_fetch(s->ooo->core, time);
    else
        note(s, &(struct ooo_wait){0, time, (uint16_t)instruction, OOO_TLB,
                                   false, walks});
}

/* Fetching of the block that runs waits: of the branch target buffers `level`
 * has the branch behind the block before, not the first. */
static __attribute__((noinline)) void
wait_for_btb(struct strand *s, unsigned level)
{
    struct ooo *const o = s->ooo;
    const uint64_t time = o->late_times[level];

    count(s, OOO_BTB,
          level == BTB_NONE ? ooo_core_resteer(o->core, time)
                            : ooo_core_bubble(o->core, time),
          s->last_cell, RECORD_BRANCH);
}

/* The block that was entered has run. */
static void
complete(struct strand *s, const struct ooo_block *b, bool taken)
{
    struct ooo *const o = s->ooo;
    const uint64_t mispredicts = mispredicts_of(s->total);
    struct ooo_spent spent;

    /* Its entry has judged the branch of the block before. */
    if (o->judged && o->mispredicts != mispredicts)
        count(s, OOO_MISPREDICT, ooo_core_mispredicted(o->core), s->last_cell,
              RECORD_BRANCH);
    else if (o->judged && s->targets.late != 0)
        wait_for_btb(s, s->targets.late);
    s->targets.late = 0;
    o->judged = true;
    o->mispredicts = mispredicts;
    if (s->queue.next != s->queue.entries)
        strand_drain(s);
    ooo_core_run(o->core, b, taken, s->cell, &spent);
    if (spent.room != 0)
        count(s, spent.reason, spent.room, spent.tag, spent.instruction);
    count(s, OOO_ISSUE, spent.issue, s->cell, 0);
    count(s, OOO_CORE, spent.units, s->cell, 0);
    count(s, OOO_FETCH, spent.fetch, s->cell, 0);
    count(s, spent.memory_reason, spent.memory, s->cell, 0);
    count(s, OOO_L2, spent.fills, s->cell, 0);
    count(s, OOO_STORE, spent.stores, s->cell, 0);
    count(s, OOO_TLB, spent.walks, s->cell, 0);
}

void
ooo_enter(struct strand *s, const struct ooo_block *block)
{
    struct ooo *const o = s->ooo;
    const struct ooo_block *const last = o->block;

    if (last != NULL)
        complete(s, last, block != NULL && block->pc != last->end);
    o->block = block;
}
