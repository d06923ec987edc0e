/* SPDX-License-Identifier: MIT */
#include "machine/writeback.h"

#include "machine/buffers.h"
#include "machine/coherence.h"
#include "machine/cache_avx2.h"
#include "machine/cache_dirty.h"
#include "machine/exclusion.h"
#include "machine/inclusion.h"
#include "machine/levels.h"
#include "machine/recorder.h"
#include "machine/coherence_snoop.h"

#define AHEAD 8 /* requests whose sets are fetched from the host's memory */

unsigned
memory_bank(const struct chip *chip, uint64_t addr)
{
    return (unsigned)(addr >> chip->bank_shift & chip->bank_mask);
}

/* A strand goes on while its stores wait in the store buffer, and its
 * prefetches bring their lines. */
#define GO_ON                                                    \
    (REQUEST_BIT(REQUEST_STORE) | REQUEST_BIT(REQUEST_THROUGH) | \
     REQUEST_BIT(REQUEST_NEAR) | REQUEST_BIT(REQUEST_FAR) |      \
     REQUEST_BIT(REQUEST_NEAR_AHEAD) | REQUEST_BIT(REQUEST_FAR_AHEAD))

static bool
waits_for(unsigned kind)
{
    return (GO_ON >> kind & 1) == 0;
}

void
memory_read(struct strand *s, unsigned channel, uint64_t addr, unsigned kind)
{
    s->total[SIGNAL_MEMORY_READS_0 + channel]++;
    if (s->chip->components & COMPONENT_DRAM)
        dram_read(&s->chip->dram, s->total, channel, addr, waits_for(kind));
}

void
memory_write(struct strand *s, unsigned channel, uint64_t addr)
{
    s->total[SIGNAL_MEMORY_WRITES_0 + channel]++;
    if (s->chip->components & COMPONENT_DRAM)
        dram_write(&s->chip->dram, channel, addr);
}

static void
write_memory(struct strand *s, uint64_t addr)
{
    memory_write(s, memory_bank(s->chip, addr), addr);
}

/* Writes a dirty line to the first of the levels from `first` on behind the L2
 * that has the line, or to memory. */
static void
write_behind(struct strand *s, unsigned first, uint64_t addr)
{
    struct chip *chip = s->chip;

    for (unsigned i = first; i < chip->level_count; i++) {
        struct cache *c = &chip->levels[i].cache;
        if (cache_mark(c, addr >> c->line_shift))
            return;
    }
    write_memory(s, addr);
}

/* A line that the L2 had clean is dirty from now on. */
static void
updated(struct strand *s, uint64_t line, bool meets, const struct request *r)
{
    const bool shared = meets && snoop_write(s, line, true) != 0;
    const unsigned signal =
        shared ? SIGNAL_L2_SHARED_UPDATES : SIGNAL_L2_UPDATES;

    if (!s->chip->tells)
        return;
    s->total[signal]++;
    if (s->recorder != NULL)
        recorder_charge_one(s, r, signal, 1);
}

/* A line of the L1D has become dirty, and so has the L2's. */
static void
update_l2(struct strand *s, const struct request *r, bool meets)
{
    struct cache *l2 = s->l2;
    const uint64_t line = r->addr >> l2->line_shift;
    const uint32_t place = cache_search(l2, line);

    if (place == l2->ways && meets)
        snoop_write(s, line, true);
    if (place == l2->ways || cache_dirty_at(l2, line, place))
        return;
    cache_mark(l2, line);
    updated(s, line, meets, r);
}

/* Writes a dirty line of the L1D to the L2; returns whether the L2 has the
 * line. */
static bool
write_l2(struct strand *s, uint64_t addr, bool meets)
{
    struct cache *l2 = s->l2;
    const uint64_t line = addr >> l2->line_shift;

    if (meets && cache_search(l2, line) < l2->ways)
        snoop_write(s, line, true);
    return cache_mark(l2, line);
}

/* Asks the levels from `first` on behind the L2 for a request that those in
 * front did not serve, and then memory. Returns whether one of the levels has
 * the line. */
static bool
ask_behind(struct strand *s, unsigned first, const struct request *r)
{
    struct chip *chip = s->chip;
    const uint64_t addr = r->addr;
    const unsigned kind = r->kind;
    struct cache_driven driven;

    for (unsigned i = first; i < chip->level_count; i++) {
        struct level *level = &chip->levels[i];
        const unsigned shift = level->cache.line_shift;
        if (cache_touch(&level->cache, addr >> shift, false, &driven))
            return true;
        s->total[level->row->misses[kind]]++;
        if (s->recorder != NULL)
            recorder_charge_one(s, r, level->row->misses[kind], 1);
        if (driven.line != CACHE_NOTHING) {
            s->total[level->row->writebacks]++;
            write_behind(s, i + 1, driven.line << shift);
        }
    }
    memory_read(s, memory_bank(chip, addr), addr, kind);
    return false;
}

/* Returns the kinds that make the L2's line dirty: what goes through the L1
 * does. */
static unsigned
writes_l2(const struct strand *s)
{
    return 1u << REQUEST_THROUGH | 1u << REQUEST_ATOMIC |
           (unsigned)s->chip->tells << REQUEST_STORE;
}

static inline void
ask_ways(struct strand *s, uint64_t line, const struct request *r)
{
    const unsigned signal = r->kind == REQUEST_FETCH
                                ? SIGNAL_L2_FETCH_WAY_MISPREDICTS
                                : SIGNAL_L2_DATA_WAY_MISPREDICTS;
    const bool wrong = ways_ask(&s->core->ways, s->l2, line);

    s->total[signal] += wrong;
    if (s->recorder != NULL && wrong)
        recorder_charge_one(s, r, signal, 1);
}

/* Returns whether the L2 of another core serves the request. */
static bool
ask_others(struct strand *s, uint64_t line, bool write)
{
    if (!write) {
        if (!snoop_read(s, line))
            return false;
        write_behind(s, 0, line << s->l2->line_shift);
        return true;
    }
    if ((snoop_write(s, line, false) & SNOOP_DIRTY) == 0)
        return false;
    s->total[SIGNAL_L2_STORE_TRANSFERS]++;
    return true;
}

/* A request that passes on from the L2 to the levels behind it. */
struct passed {
    struct request request; /* that it lacks, or REQUEST_WRITE_BACK */
    uint64_t driven; /* the dirty line that went for it; or CACHE_NOTHING */
    uint64_t any;    /* that or a clean one */
};

/* The L3 takes in the line that the L2 has driven out. */
static void
fill_l3(struct strand *s, const struct passed *p)
{
    struct level *const l3 = &s->chip->levels[0];
    struct cache_driven driven;

    if (p->any == CACHE_NOTHING)
        return;
    cache_touch(&l3->cache, p->any, p->driven != CACHE_NOTHING, &driven);
    if (driven.line == CACHE_NOTHING)
        return;
    s->total[l3->row->writebacks]++;
    write_behind(s, 1, driven.line << l3->cache.line_shift);
}

/* Asks the L3 that fills from victims, and what is behind, for a request that
 * the L2 did not serve. Returns whether a cache has the line. */
static bool
ask_exclusive(struct strand *s, const struct passed *p)
{
    const struct request *const r = &p->request;
    const uint16_t miss = s->chip->levels[0].row->misses[r->kind];
    bool dirty;

    const bool found = exclusion_take(s, r, &dirty);
    if (dirty)
        cache_mark(s->l2, r->addr >> s->l2->line_shift);
    fill_l3(s, p);
    if (found)
        return true;
    s->total[miss]++;
    if (s->recorder != NULL)
        recorder_charge_one(s, r, miss, 1);
    return ask_behind(s, 1, r);
}

static void
pass_on(struct strand *s, const struct passed *p, bool meets)
{
    const uint64_t addr = p->request.addr;
    const unsigned kind = p->request.kind;
    const unsigned shift = s->l2->line_shift;

    if (kind == REQUEST_WRITE_BACK) {
        write_behind(s, 0, addr);
    } else {
        s->total[queue_l2_signal[kind]]++;
        if (s->recorder != NULL)
            recorder_charge_one(s, &p->request, queue_l2_signal[kind], 1);
        if (p->driven != CACHE_NOTHING) {
            s->total[SIGNAL_L2_WRITEBACKS]++;
            if (!s->chip->exclusive)
                write_behind(s, 0, p->driven << shift);
        }
        if (s->chip->inclusive && p->any != CACHE_NOTHING)
            inclusion_note(s, p->any);
        const bool behind =
            s->chip->exclusive
                ? ask_exclusive(s, p)
                : (meets &&
                   ask_others(s, addr >> shift, writes_l2(s) >> kind & 1)) ||
                      ask_behind(s, 0, &p->request);
        if (s->chip->buffers)
            buffers_miss(s, waits_for(kind), behind,
                         p->driven != CACHE_NOTHING);
    }
    memory_settle(s);
    if (s->recorder == NULL)
        return;
    if (meets)
        recorder_charge_request(s, &p->request);
    else
        recorder_charge_behind(s, &p->request);
}

/* Passes requests on to the levels behind the L2, whose sets in the first of
 * them are fetched from the host's memory in time. */
static void
pass_all(struct strand *s, const struct passed *passed, size_t count)
{
    const struct cache *next = &s->chip->levels[0].cache;
    const unsigned shift = s->l2->line_shift;

    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count) {
            const struct passed *p = &passed[i + AHEAD];
            cache_prefetch(next, p->request.addr >> next->line_shift);
            if (p->driven != CACHE_NOTHING)
                cache_prefetch(next, p->driven << shift >> next->line_shift);
        }
        pass_on(s, &passed[i], false);
    }
}

/* Returns the request of a dirty line that leaves the L1D for request `r`, or
 * that a store has made dirty. */
static inline struct request
writes_back(struct request r, uint64_t addr, uint8_t flags)
{
    r.addr = addr;
    r.kind = REQUEST_WRITE_BACK;
    r.flags = flags;
    return r;
}

static const uint16_t l1d_signal[] = {
    [REQUEST_LOAD] = SIGNAL_L1D_LOAD_MISSES,
    [REQUEST_STORE] = SIGNAL_L1D_STORE_MISSES,
    [REQUEST_NEAR] = SIGNAL_NEAR_PREFETCH_MISSES,
    [REQUEST_NEAR_AHEAD] = SIGNAL_L1D_PREFETCHES,
};

#define WRITEBACK_NAME(name) name##_any
#define WRITEBACK_TARGET
#define WRITEBACK_MOVE cache_move
#include "machine/writeback.inc"

#ifdef __x86_64__
#define WRITEBACK_NAME(name) name##_avx2
#define WRITEBACK_TARGET CACHE_AVX2
#define WRITEBACK_MOVE cache_move_avx2
#include "machine/writeback.inc"
#endif

size_t
memory_l1d(struct strand *s, const struct request *queue, size_t count,
           struct request *out)
{
    size_t kept;

    queue_widen(&s->core->l1d, queue, count, DATA_KINDS);
#ifdef __x86_64__
    if (cache_avx2_runs())
        kept = l1d_avx2(s, queue, count, out);
    else
#endif
        kept = l1d_any(s, queue, count, out);
    s->total[SIGNAL_L1D_VICTIM_HITS] += cache_victim_hits(&s->core->l1d);
    return kept;
}

static void
take_through(struct strand *s, const struct request *queue, size_t count,
             bool meets)
{
    const bool each = meets || s->chip->exclusive;

    queue_widen(s->l2, queue, count, ALL_KINDS);
#ifdef __x86_64__
    if (cache_avx2_runs()) {
        l2_avx2(s, queue, count, meets, each);
        return;
    }
#endif
    l2_any(s, queue, count, meets, each);
}

static void
take_queue(struct strand *s, struct request *queue, size_t count)
{
    if ((s->chip->components & COMPONENT_SNOOP) == 0 || !meets_others(s)) {
        take_through(s, queue, count, false);
        return;
    }
    snoop_count(s);
    take_through(s, queue, count, true);
}

static void
rest(struct strand *s)
{
    lock_take(&s->chip->lock);
    inclusion_settle(s);
    lock_give(&s->chip->lock);
}

const struct coherence coherence_writeback = {
    .strand_size = sizeof(struct back_strand),
    .take = take_queue,
    .charges = true,
    .rest = rest,
    .leave = snoop_count,
};
