/* SPDX-License-Identifier: MIT */
/*
 * Draining a strand's queue through the caches. The stages run one after
 * another over the whole queue, so that each cache's sets are fetched from
 * memory while others are searched.
 */
#include <string.h>

#include "machine/ahead.h"
#include "machine/classes.h"
#include "machine/coherence.h"
#include "machine/curve.h"
#include "machine/cache_avx2.h"
#include "machine/exclusion.h"
#include "machine/inclusion.h"
#include "machine/levels.h"
#include "machine/writeback.h"
#include "machine/microtag.h"
#include "machine/ooo.h"
#include "machine/prefetching.h"
#include "machine/recorder.h"
#include "machine/sharing.h"
#include "machine/strand.h"

const struct coherence *
coherence_of(uint64_t components)
{
    return components & COMPONENT_BUS         ? &coherence_bus
           : components & COMPONENT_NODES     ? &coherence_nodes
           : components & COMPONENT_WRITEBACK ? &coherence_writeback
                                              : &coherence_plain;
}

const uint16_t queue_l2_signal[REQUEST_KINDS] = {
    [REQUEST_LOAD] = SIGNAL_L2_LOAD_MISSES,
    [REQUEST_STORE] = SIGNAL_L2_STORE_MISSES,
    [REQUEST_THROUGH] = SIGNAL_L2_STORE_MISSES,
    [REQUEST_ATOMIC] = SIGNAL_L2_STORE_MISSES,
    [REQUEST_FETCH] = SIGNAL_L2_FETCH_MISSES,
    [REQUEST_WALK_I] = SIGNAL_ITLB_WALK_MISSES,
    [REQUEST_WALK_D] = SIGNAL_DTLB_WALK_MISSES,
    [REQUEST_NEAR] = SIGNAL_NEAR_PREFETCH_L2_MISSES,
    [REQUEST_FAR] = SIGNAL_FAR_PREFETCH_L2_MISSES,
    [REQUEST_NEAR_AHEAD] = SIGNAL_PREFETCHER_L2_MISSES,
    [REQUEST_FAR_AHEAD] = SIGNAL_L2_PREFETCHES,
    [REQUEST_FLOAT] = SIGNAL_L2_FLOAT_MISSES,
    [REQUEST_AHEAD] = SIGNAL_L2_PREFETCH_MISSES,
};

/* Returns whether all lines that the cache will see, by the kinds of requests,
 * have tags of 32 bits. */
static bool
all_fit(const struct cache *c, const struct request *queue, size_t count,
        unsigned wanted)
{
    uint64_t any = 0;

    for (size_t i = 0; i < count; i++)
        any |= queue[i].addr;
    if (__builtin_expect(cache_fits(c, any >> c->line_shift), 1))
        return true;
    any = 0;
    for (size_t i = 0; i < count; i++)
        any |= wanted >> queue[i].kind & 1 ? queue[i].addr : 0;
    return cache_fits(c, any >> c->line_shift);
}

void
queue_widen(struct cache *c, const struct request *queue, size_t count,
            unsigned wanted)
{
    if (c->columns != 0 && !all_fit(c, queue, count, wanted))
        cache_widen(c);
}

#define STAGE_TARGET
#define STAGE_MOVE cache_move
#define STAGE_NAME stage_any
#include "machine/stage.inc"

#ifdef __x86_64__
#define STAGE_TARGET CACHE_AVX2
#define STAGE_MOVE cache_move_avx2
#define STAGE_NAME stage_avx2
#include "machine/stage.inc"
#endif

/* Takes the requests of DATA_KINDS through the L1D. The requests that the L1D
 * lacks, and all of other kinds, move to the front of `queue`, in order;
 * returns how many. Adds the misses to `misses`, by kind. `next`: the cache
 * that is asked next, or NULL. */
static size_t
stage_l1d(struct cache *c, struct request *queue, size_t count,
          uint32_t *misses, const struct cache *next)
{
    queue_widen(c, queue, count, DATA_KINDS);
#ifdef __x86_64__
    if (cache_avx2_runs())
        return stage_avx2_l1d(c, queue, count, misses, next);
#endif
    return stage_any_l1d(c, queue, count, misses, next);
}

/* Takes requests through a cache behind the L1s, as stage_l1d() does: those of
 * all kinds. */
static size_t
stage_behind(struct cache *c, struct request *queue, size_t count,
             uint32_t *misses, const struct cache *next)
{
    queue_widen(c, queue, count, ALL_KINDS);
#ifdef __x86_64__
    if (cache_avx2_runs())
        return stage_avx2_behind(c, queue, count, misses, next);
#endif
    return stage_any_behind(c, queue, count, misses, next);
}

void
queue_void_siblings(const struct strand *s, const struct request *queue,
                    size_t count)
{
    for (struct strand *o = strands_to_void(s); o != NULL; o = o->sibling) {
        for (size_t k = 0; o != s && k < count; k++) {
            const uint64_t addr = queue[k].addr;
            filter_void(&o->data, addr, filter_line(&s->data, addr));
            if (s->runs.marks || s->runs.sharing)
                filter_void(&o->store, addr, filter_line(&s->store, addr));
        }
    }
}

/* Looks waiting fetches up in an L1I of any kind, one at a time, as microtags
 * and the lines fetched ahead depend on the lookups before. Returns how many
 * miss. */
static size_t
look_up_each(struct strand *s, struct request *queue, const uint16_t *waiting,
             size_t waits)
{
    struct cache *l1i = &s->core->l1i;
    const unsigned ahead = s->chip->ahead;
    const uint32_t microtag = s->chip->microtag;
    size_t misses = 0;

    for (size_t i = 0; i < waits; i++) {
        struct request *const fetch = &queue[waiting[i]];
        const uint64_t line = fetch->addr >> l1i->line_shift;
        const uint64_t turn = fetch->flags & REQUEST_TURN;
        const bool found = microtag != 0 && microtag_found(l1i, line, microtag);
        const bool hit = cache_access_turned(l1i, line, turn);
        fetch->flags = hit ? REQUEST_LOOKUP : 0;
        if (ahead != 0 && !hit)
            fetch->next = ahead_next(l1i, line, ahead);
        s->total[SIGNAL_L1I_MICROTAG_FINDS] += found & !hit;
        if (s->recorder != NULL && found && !hit)
            recorder_charge_one(s, fetch, SIGNAL_L1I_MICROTAG_FINDS, 1);
        misses += !hit;
    }
    return misses;
}

/* Looks waiting fetches up in the L1I, whose lines are among those of `any`, an
 * OR of addresses. What hits keeps REQUEST_LOOKUP, what misses loses it.
 * Returns how many miss. */
static size_t
look_up_fetches(struct strand *s, struct request *queue, uint64_t any,
                const uint16_t *waiting, size_t waits)
{
    struct cache *l1i = &s->core->l1i;

    if (!cache_fits(l1i, any >> l1i->line_shift) || l1i->columns == 0 ||
        s->chip->ahead != 0 || s->chip->microtag != 0)
        return look_up_each(s, queue, waiting, waits);
#ifdef __x86_64__
    if (cache_avx2_runs())
        return stage_avx2_l1i(l1i, queue, waiting, waits);
#endif
    return stage_any_l1i(l1i, queue, waiting, waits);
}

/* Finds the fetches first and looks them up then, as no branch can foresee what
 * an entry is. */
size_t
queue_fetches(struct strand *s, struct request *queue, size_t count)
{
    uint16_t waiting[QUEUE_LENGTH + QUEUE_SLACK];
    const struct request *r = queue;
    uint64_t any = 0;
    size_t waits = 0;

    for (size_t i = 0; i < count; i++, r++) {
        waiting[waits] = (uint16_t)i;
        waits += (r->flags & REQUEST_LOOKUP) != 0;
        any |= r->addr;
    }
    if (waits == 0)
        return count;
    s->total[SIGNAL_L1I_MISSES] +=
        look_up_fetches(s, queue, any, waiting, waits);
    for (size_t i = 0; s->recorder != NULL && i < waits; i++) {
        const struct request *const fetch = &queue[waiting[i]];
        if ((fetch->flags & REQUEST_LOOKUP) == 0)
            recorder_charge_one(s, fetch, SIGNAL_L1I_MISSES, 1);
    }
    size_t kept = waiting[0];
    for (size_t i = kept; i < count; i++) {
        const bool stays = (queue[i].flags & REQUEST_LOOKUP) == 0;
        queue[kept] = queue[i];
        kept += stays;
    }
    return kept;
}

/* Charges the instructions whose requests the L1D lacks. */
static void
charge_l1d(struct strand *s, const struct request *queue, size_t count)
{
    static const uint16_t signals[REQUEST_KINDS] = {
        [REQUEST_LOAD] = SIGNAL_L1D_LOAD_MISSES,
        [REQUEST_STORE] = SIGNAL_L1D_STORE_MISSES,
        [REQUEST_NEAR] = SIGNAL_NEAR_PREFETCH_MISSES,
        [REQUEST_NEAR_AHEAD] = SIGNAL_L1D_PREFETCHES,
    };

    recorder_charge_each(s, queue, count, signals, DATA_KINDS);
    for (size_t i = 0; s->runs.marks && i < count; i++) {
        const struct request *const r = &queue[i];
        if (r->kind == REQUEST_WRITE_BACK)
            recorder_charge_one(s, r,
                                r->flags & REQUEST_UPDATE
                                    ? SIGNAL_L1D_UPDATES
                                    : SIGNAL_L1D_WRITEBACKS,
                                1);
    }
}

/* Takes the requests through the L1D. An atomic and a load of its line must
 * keep their order, so the queue is cut at atomics, which are few. Returns how
 * many requests are left. */
static size_t
drain_l1d(struct strand *s, struct request *queue, size_t count,
          const struct cache *l2)
{
    struct cache *l1d = &s->core->l1d;
    uint32_t misses[REQUEST_KINDS] = {0};
    size_t kept = 0;

    for (size_t from = 0; from < count;) {
        size_t to = from;
        while (to < count && queue[to].kind != REQUEST_ATOMIC)
            to++;
        const size_t n = stage_l1d(l1d, queue + from, to - from, misses, l2);
        if (kept != from)
            memmove(queue + kept, queue + from, n * sizeof(*queue));
        kept += n;
        if (to < count) {
            const uint64_t line = queue[to].addr >> l1d->line_shift;
            if (queue[to].flags & REQUEST_TURN)
                cache_turn(l1d, line & l1d->set_mask);
            cache_invalidate(l1d, line);
            queue[kept++] = queue[to++];
        }
        from = to;
    }
    s->total[SIGNAL_L1D_LOAD_MISSES] += misses[REQUEST_LOAD];
    s->total[SIGNAL_L1D_STORE_MISSES] += misses[REQUEST_STORE];
    s->total[SIGNAL_NEAR_PREFETCH_MISSES] += misses[REQUEST_NEAR];
    s->total[SIGNAL_L1D_PREFETCHES] += misses[REQUEST_NEAR_AHEAD];
    s->total[SIGNAL_L1D_VICTIM_HITS] += cache_victim_hits(l1d);
    if (s->recorder != NULL)
        charge_l1d(s, queue, kept);
    return kept;
}

/* Adds the misses of a level; `queue` has the `count` requests that missed. */
static void
add_misses(struct strand *s, const uint16_t *signals, const uint32_t *misses,
           const struct request *queue, size_t count)
{
    for (size_t kind = 0; kind < REQUEST_FLOAT; kind++)
        s->total[signals[kind]] += misses[kind];
    if (s->recorder != NULL)
        recorder_charge_each(s, queue, count, signals, ALL_KINDS);
}

/* Does so for one request after the other, so that each is charged with what
 * its victim cache serves. */
static size_t
record_victims(struct strand *s, struct request *queue, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        const struct request asked = queue[i];
        queue[kept] = asked;
        kept += drain_l1d(s, &queue[kept], 1, s->l2);
        recorder_charge_request(s, &asked);
    }
    return kept;
}

/* Takes requests through the L2 and the L3 that fills from its victims: both
 * are asked before what the L2 drives out goes into the L3. Returns how many
 * requests are left. */
static size_t
take_exclusive(struct strand *s, struct request *queue, size_t count)
{
    uint64_t gone[2 * (QUEUE_LENGTH + QUEUE_SLACK)];
    uint32_t misses[REQUEST_KINDS] = {0};

    queue_widen(s->l2, queue, count, ALL_KINDS);
    count = exclusion_l2(s, queue, count, misses, gone);
    add_misses(s, queue_l2_signal, misses, queue, count);
    memset(misses, 0, sizeof(misses));
    count = exclusion_l3(s, queue, count, misses, gone);
    add_misses(s, s->chip->levels[0].row->misses, misses, queue, count);
    return count;
}

/* Takes requests to the level whose curve is drawn, through the levels in
 * front of it. */
static void
take_curve(struct strand *s, struct request *queue, size_t count)
{
    if (s->chip->curve->request.level == CURVE_L3 && s->l2 != NULL) {
        uint32_t misses[REQUEST_KINDS] = {0};
        count = stage_behind(s->l2, queue, count, misses, NULL);
        add_misses(s, queue_l2_signal, misses, queue, count);
    }
    curve_requests(s, queue, count);
}

/* The levels behind the L1s, where no write-backs are counted. */
static void
take_plain(struct strand *s, struct request *queue, size_t count)
{
    struct chip *chip = s->chip;

    if (__builtin_expect(chip->curve != NULL, 0)) {
        take_curve(s, queue, count);
        return;
    }
    struct level *level = chip->levels;
    const struct level *end = level + chip->level_count;

    if (__builtin_expect(chip->exclusive, 0)) {
        count = take_exclusive(s, queue, count);
        level++;
    } else if (s->l2 != NULL) {
        uint32_t misses[REQUEST_KINDS] = {0};
        count = stage_behind(s->l2, queue, count, misses,
                             level < end ? &level->cache : NULL);
        add_misses(s, queue_l2_signal, misses, queue, count);
    }
    for (; level < end; level++) {
        uint32_t misses[REQUEST_KINDS] = {0};
        count = stage_behind(&level->cache, queue, count, misses,
                             level + 1 < end ? &level[1].cache : NULL);
        add_misses(s, level->row->misses, misses, queue, count);
    }
}

const struct coherence coherence_plain = {.take = take_plain, .charges = true};

/*
 * Takes the requests through an L1D that writes back, and charges the
 * instruction of each: what comes out says which missed and which drove a dirty
 * line out. Where it does not say that a line became dirty (l2.dirty) or that a
 * victim cache had the line, the requests go one at a time.
 */
static size_t
record_l1d(struct strand *s, const struct request *queue, size_t count,
           struct request *out)
{
    const struct recorder *const r = s->recorder;
    size_t kept = 0;

    if ((s->chip->tells || !r->records[SIGNAL_L1D_UPDATES]) &&
        s->core->l1d.victims == NULL) {
        kept = memory_l1d(s, queue, count, out);
        charge_l1d(s, out, kept);
        return kept;
    }
    for (size_t i = 0; i < count; i++) {
        kept += memory_l1d(s, &queue[i], 1, out + kept);
        recorder_charge_request(s, &queue[i]);
    }
    return kept;
}

/* Takes the requests through what is behind the L1s, in the same way. */
static void
record_behind(struct strand *s, struct request *queue, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct request asked = queue[i];
        s->chip->coherence->take(s, &queue[i], 1);
        recorder_charge_request(s, &asked);
    }
}

/* Requests at which the queue is full. */
static size_t
queue_length(const struct strand *s, bool alone)
{
    if (__builtin_expect(s->chip->prefetching, 0))
        return 1;
    const size_t most = s->chip->inclusive
                            ? INCLUSION_REQUESTS - s->back->driven.asked
                            : QUEUE_LENGTH;

    return alone || !meets_others(s) || most < SHORT_QUEUE ? most : SHORT_QUEUE;
}

/* Takes requests of the strand through the caches. Returns whether one of them
 * has asked what is behind the L1s. */
static bool
take_requests(struct strand *s, struct request *requests, size_t count,
              bool alone)
{
    struct chip *chip = s->chip;
    struct request more[2 * (QUEUE_LENGTH + QUEUE_SLACK)];
    struct request *queue = requests;

    if (!alone) {
        lock_take(&s->core->lock);
        queue_void_siblings(s, requests, count);
    }
    count = queue_fetches(s, requests, count);
    if (s->runs.marks)
        count = s->recorder != NULL
                    ? record_l1d(s, requests, count, queue = more)
                    : memory_l1d(s, requests, count, queue = more);
    else if (s->recorder != NULL && s->core->l1d.victims != NULL)
        count = record_victims(s, requests, count);
    else
        count = drain_l1d(s, requests, count, s->l2);
    if (s->recorder != NULL && s->recorder->lines != NULL &&
        chip->classes == NULL) {
        recorder_fetched(s, queue, count);
        recorder_asked(s);
    }
    if (!alone) {
        lock_give(&s->core->lock);
        lock_take(&chip->lock);
    }
    if (s->recorder != NULL && !chip->coherence->charges)
        record_behind(s, queue, count);
    else
        chip->coherence->take(s, queue, count);
    if (!alone)
        lock_give(&chip->lock);
    return count != 0;
}

/* Takes the queue through the caches one request after the other, and tells why
 * each misses. */
static void
tell_requests(struct strand *s, size_t count, bool alone)
{
    struct classes *const c = s->chip->classes;

    if (!alone)
        lock_take(&c->lock);
    for (size_t i = 0; i < count; i++) {
        struct classes_step t;
        classes_before(&t, s, &s->queue.entries[i], s->sizes[i]);
        classes_after(&t, take_requests(s, &s->queue.entries[i], 1, alone));
    }
    if (!alone)
        lock_give(&c->lock);
    if (s->recorder != NULL && s->recorder->lines != NULL)
        recorder_asked(s);
}

/* A prefetching_taker; `context` is whether the strand runs alone. */
static bool
take_one(struct strand *s, struct request *r, void *context)
{
    return take_requests(s, r, 1, *(bool *)context);
}

/* Takes the queue through the caches one request after the other, each with the
 * lines that prefetchers ask for. */
static void
prefetch_requests(struct strand *s, size_t count, bool alone)
{
    if (!alone)
        lock_take(&s->chip->prefetching_lock);
    for (size_t i = 0; i < count; i++)
        prefetching_take(s, &s->queue.entries[i], take_one, &alone);
    if (!alone)
        lock_give(&s->chip->prefetching_lock);
}

static void
drain(struct strand *s, bool alone)
{
    struct chip *const chip = s->chip;
    const size_t asked = (size_t)(s->queue.next - s->queue.entries);

    strand_charge(s, 0);
    if (__builtin_expect(chip->classes != NULL, 0))
        tell_requests(s, asked, alone);
    else if (__builtin_expect(chip->prefetching, 0))
        prefetch_requests(s, asked, alone);
    else
        take_requests(s, s->queue.entries, asked, alone);
    if (!chip->inclusive && s->recorder == NULL)
        return;
    if (!alone)
        lock_take(&chip->lock);
    if (chip->inclusive)
        inclusion_drained(s, asked);
    if (s->recorder != NULL && asked != 0)
        recorder_charge_request(s, &s->queue.entries[asked - 1]);
    if (!alone)
        lock_give(&chip->lock);
}

/* Gives requests for data the addresses at which the caches see them; those of
 * fetches are so from the translation on. */
static void
lay_out(struct strand *s)
{
    for (struct request *r = s->queue.entries; r < s->queue.next; r++) {
        if (r->kind != REQUEST_FETCH)
            r->addr = layout_address(s->chip->layout, r->addr);
    }
}

void
strand_drain_queue(struct strand *s)
{
    const bool alone = runs_alone(s);

    if (__builtin_expect(s->chip->layout.lines != 0, 0))
        lay_out(s);
    if (__builtin_expect(s->runs.sharing, 0))
        sharing_drain(s);
    else
        drain(s, alone);
    if (__builtin_expect(s->chip->classes != NULL, 0))
        memset(s->sizes, 0,
               (size_t)(s->queue.next - s->queue.entries) * sizeof(*s->sizes));
    s->queue.next = s->queue.entries;
    s->queue.end = s->queue.entries + queue_length(s, alone);
}

void
strand_drain(struct strand *s)
{
    if (__builtin_expect(s->ooo != NULL, 0))
        ooo_drain(s);
    else
        strand_drain_queue(s);
}
