/* SPDX-License-Identifier: MIT */
/*
 * The slow half of the model: filling the queue, and draining it through the
 * caches. The stages run one after another over the whole queue, so that each
 * cache's sets are fetched from memory while others are searched.
 */
#include "machine/chip.h"

#include <string.h>

#include "machine/cache_avx2.h"
#include "machine/strand.h"

/*
 * Where a hardware table walk reads: one 16-byte entry a page, a table for each
 * of its requests, in a region that no program uses.
 */
#define TABLES_AT ((uint64_t)0x7ff000000000u)
#define TABLE_ENTRY 16u
#define TABLE_ENTRIES 65536u

static const uint8_t l2_signal[REQUEST_COUNT] = {
    [REQUEST_LOAD] = SIGNAL_L2_LOAD_MISSES,
    [REQUEST_STORE] = SIGNAL_L2_STORE_MISSES,
    [REQUEST_THROUGH] = SIGNAL_L2_STORE_MISSES,
    [REQUEST_ATOMIC] = SIGNAL_L2_STORE_MISSES,
    [REQUEST_FETCH] = SIGNAL_L2_FETCH_MISSES,
    [REQUEST_WALK_I] = SIGNAL_ITLB_WALK_MISSES,
    [REQUEST_WALK_D] = SIGNAL_DTLB_WALK_MISSES,
};

static const uint8_t l3_signal[REQUEST_COUNT] = {
    [REQUEST_LOAD] = SIGNAL_L3_LOAD_MISSES,
    [REQUEST_STORE] = SIGNAL_L3_STORE_MISSES,
    [REQUEST_THROUGH] = SIGNAL_L3_STORE_MISSES,
    [REQUEST_ATOMIC] = SIGNAL_L3_STORE_MISSES,
    [REQUEST_FETCH] = SIGNAL_L3_FETCH_MISSES,
    [REQUEST_WALK_I] = SIGNAL_L3_LOAD_MISSES,
    [REQUEST_WALK_D] = SIGNAL_L3_LOAD_MISSES,
};

/* Misses of one stage by kind, each in bits of its own. */
typedef uint64_t miss_counts;
#define MISS_BITS 9

static_assert(QUEUE_LENGTH + QUEUE_SLACK < 1u << MISS_BITS,
              "a full queue of one kind");
static_assert(REQUEST_COUNT * MISS_BITS <= 64, "all kinds");

static uint64_t
misses_of(miss_counts m, size_t kind)
{
    return m >> kind * MISS_BITS & ((1u << MISS_BITS) - 1);
}

static inline uint64_t
request_addr(uint64_t entry)
{
    return entry & ~(REQUEST_MASK | REQUEST_TURN | REQUEST_LOOKUP);
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

/*
 * Whether all lines that the cache will see have tags of 32 bits. The walks of
 * page tables, which pass the L1s by, are too far up for some.
 */
static bool
all_fit(const struct cache *c, const uint64_t *queue, size_t count,
        unsigned wanted)
{
    uint64_t any = 0;

    for (size_t i = 0; i < count; i++)
        any |= queue[i];
    if (__builtin_expect(cache_fits(c, request_addr(any) >> c->line_shift), 1))
        return true;
    any = 0;
    for (size_t i = 0; i < count; i++)
        any |= wanted >> (queue[i] & REQUEST_MASK) & 1 ? queue[i] : 0;
    return cache_fits(c, request_addr(any) >> c->line_shift);
}

static size_t
stage(struct cache *c, uint64_t *queue, size_t count, unsigned wanted,
      miss_counts *misses, const struct cache *next)
{
    if (c->columns != 0 && !all_fit(c, queue, count, wanted))
        cache_widen(c);
#ifdef __x86_64__
    if (cache_avx2_runs())
        return stage_avx2(c, queue, count, wanted, misses, next);
#endif
    return stage_any(c, queue, count, wanted, misses, next);
}

#define KIND(request) (1u << (request))
#define DATA_KINDS (KIND(REQUEST_LOAD) | KIND(REQUEST_STORE))
#define ALL_KINDS (KIND(REQUEST_COUNT) - 1)

/*
 * Whether no other strand runs: then nothing is locked. A lone strand can only
 * be joined from its own thread, see strand_start(), so the answer holds until
 * we leave the model. Acquire: what a strand that has left wrote is seen.
 */
static bool
runs_alone(const struct strand *s)
{
    return atomic_load_explicit(&s->chip->live, memory_order_acquire) <= 1;
}

/*
 * Other strands of the core must not take for most recent what we have moved.
 */
static void
void_siblings(const struct strand *s, const uint64_t *queue, size_t count)
{
    for (struct strand *o = s->core->strands; o != NULL; o = o->sibling) {
        for (size_t k = 0; o != s && k < count; k++)
            filter_put(&o->data, request_addr(queue[k]), NO_LINE);
    }
}

/*
 * The fetches that wait for their lookup: those that hit leave the queue. Found
 * first and looked up then, as no branch can foresee what an entry is.
 */
static size_t
drain_l1i(struct strand *s, uint64_t *queue, size_t count)
{
    struct cache *l1i = &s->core->l1i;
    uint16_t waiting[QUEUE_LENGTH + QUEUE_SLACK];
    size_t waits = 0, kept = 0;

    for (size_t i = 0; i < count; i++) {
        waiting[waits] = (uint16_t)i;
        waits += (queue[i] & REQUEST_LOOKUP) != 0;
    }
    if (waits == 0)
        return count;
    for (size_t i = 0; i < waits; i++) {
        uint64_t *entry = &queue[waiting[i]];
        const uint64_t line = request_addr(*entry) >> l1i->line_shift;
        const bool hit = cache_access_turned(l1i, line, *entry >> 63);
        *entry = hit ? 0 : *entry & ~(REQUEST_TURN | REQUEST_LOOKUP);
        s->total[SIGNAL_L1I_MISSES] += !hit;
    }
    for (size_t i = 0; i < count; i++) {
        const uint64_t entry = queue[i];
        queue[kept] = entry;
        kept += entry != 0;
    }
    return kept;
}

/* An atomic and a load of its line must keep their order: the queue is cut at
 * atomics, which are few. */
static size_t
drain_l1d(struct strand *s, uint64_t *queue, size_t count,
          const struct cache *l2)
{
    struct cache *l1d = &s->core->l1d;
    miss_counts misses = 0;
    size_t kept = 0;

    for (size_t from = 0; from < count;) {
        size_t to = from;
        while (to < count && (queue[to] & REQUEST_MASK) != REQUEST_ATOMIC)
            to++;
        const size_t n =
            stage(l1d, queue + from, to - from, DATA_KINDS, &misses, l2);
        if (kept != from)
            memmove(queue + kept, queue + from, n * sizeof(*queue));
        kept += n;
        if (to < count) {
            const uint64_t line = request_addr(queue[to]) >> l1d->line_shift;
            if (queue[to] & REQUEST_TURN)
                cache_turn(l1d, line & l1d->set_mask);
            cache_invalidate(l1d, line);
            queue[kept++] = queue[to++] & ~REQUEST_TURN;
        }
        from = to;
    }
    s->total[SIGNAL_L1D_LOAD_MISSES] += misses_of(misses, REQUEST_LOAD);
    s->total[SIGNAL_L1D_STORE_MISSES] += misses_of(misses, REQUEST_STORE);
    return kept;
}

static void
add_misses(uint64_t *total, const uint8_t *signals, miss_counts misses)
{
    for (size_t kind = 0; kind < REQUEST_COUNT; kind++)
        total[signals[kind]] += misses_of(misses, kind);
}

static void
drain_shared(struct strand *s, uint64_t *queue, size_t count)
{
    struct chip *chip = s->chip;
    struct cache *l2 = chip->shared_l2 ? &chip->l2 : &s->core->l2;
    struct cache *l3 = (chip->parts & PART_L3) ? &chip->l3 : NULL;
    uint64_t *total = s->total;

    if (chip->parts & PART_L2) {
        miss_counts misses = 0;
        count = stage(l2, queue, count, ALL_KINDS, &misses, l3);
        add_misses(total, l2_signal, misses);
    }
    if (l3 != NULL) {
        miss_counts misses = 0;
        stage(l3, queue, count, ALL_KINDS, &misses, NULL);
        add_misses(total, l3_signal, misses);
    }
}

void
strand_drain(struct strand *s)
{
    struct chip *chip = s->chip;
    const struct cache *l2 = (chip->parts & PART_L2) == 0 ? NULL
                             : chip->shared_l2            ? &chip->l2
                                                          : &s->core->l2;
    const bool alone = runs_alone(s);
    size_t count = (size_t)(s->queue_next - s->queue);

    if (!alone) {
        lock_take(&s->core->lock);
        void_siblings(s, s->queue, count);
    }
    count = drain_l1i(s, s->queue, count);
    count = drain_l1d(s, s->queue, count, l2);
    if (!alone) {
        lock_give(&s->core->lock);
        lock_take(&chip->lock);
    }
    drain_shared(s, s->queue, count);
    if (!alone)
        lock_give(&chip->lock);
    s->queue_next = s->queue;
}

static void
push(struct strand *s, uint64_t addr, enum request kind)
{
    *s->queue_next++ = addr | kind;
}

static void
filter_void(struct filter *f)
{
    for (uint32_t i = 0; i <= f->mask; i++)
        __atomic_store_n(&f->line[i], NO_LINE, __ATOMIC_RELAXED);
}

static void
pages_void(uint64_t *pages)
{
    for (size_t i = 0; i < FILTER_PAGES; i++)
        __atomic_store_n(&pages[i], 0, __ATOMIC_RELAXED);
}

/* Puts the order right in the set of the most recent line of an entry. */
static void
settle(struct strand *s, uint32_t entry)
{
    struct cache *l1i = &s->core->l1i;
    const uint64_t line =
        __atomic_load_n(&s->fetch.line[entry], __ATOMIC_RELAXED);

    if (s->second[entry] & SECOND_TURNED)
        cache_turn(l1i, line >> l1i->line_shift & l1i->set_mask);
    s->second[entry] = NO_LINE;
}

static void
settle_fetch(struct strand *s)
{
    strand_drain(s);
    for (uint32_t i = 0; i <= s->fetch.mask; i++)
        settle(s, i);
}

void
strand_settle(struct strand *s)
{
    settle_fetch(s);
    for (uint32_t i = 0; s->data_turns && i <= s->data.mask; i++) {
        if (s->data_second[i] & SECOND_TURNED)
            cache_turn(&s->core->l1d, i);
        s->data_second[i] = NO_LINE;
    }
}

/* Used bits were cleared: nothing is known of the core's pages any more. */
static void
void_pages(struct strand *s, bool data)
{
    if (data) {
        filter_void(&s->data);
        filter_void(&s->store);
        pages_void(s->data_pages);
    } else {
        if (runs_alone(s))
            settle_fetch(s);
        filter_void(&s->fetch);
        pages_void(s->code_pages);
    }
}

/* Under the core's lock where the core is shared. */
static void
void_core_pages(struct strand *s, bool data)
{
    for (struct strand *o = s->core->strands; o != NULL; o = o->sibling)
        void_pages(o, data);
}

/* The requests a table walk for `page` sends to the L2. */
static void
walk(struct strand *s, uint64_t page, enum request kind)
{
    const uint64_t requests = s->chip->params[PARAM_TLB_WALK];

    s->total[kind == REQUEST_WALK_D ? SIGNAL_DTLB_WALK_REFS
                                    : SIGNAL_ITLB_WALK_REFS] += requests;
    for (uint64_t i = 0; i < requests; i++) {
        const uint64_t entry = i * TABLE_ENTRIES + page % TABLE_ENTRIES;
        const uint64_t addr = TABLES_AT + entry * TABLE_ENTRY;
        push(s, addr, kind);
        filter_put(&s->store, addr, NO_LINE);
    }
}

static unsigned
tlb_locked(struct strand *s, bool data, uint64_t page)
{
    struct core *core = s->core;
    const bool alone = runs_alone(s);

    if (!alone)
        lock_take(&core->lock);
    const unsigned result = tlb_access(data ? &core->dtlb : &core->itlb, page);
    if (result & TLB_CLEARED)
        void_core_pages(s, data);
    if (!alone)
        lock_give(&core->lock);
    return result;
}

static __attribute__((noinline)) void
touch_data_page_slow(struct strand *s, uint64_t page, enum request kind)
{
    uint64_t *known = &s->data_pages[page % FILTER_PAGES];
    const unsigned result = tlb_locked(s, true, page);
    __atomic_store_n(known, page + 1, __ATOMIC_RELAXED);
    if (result & TLB_MISS) {
        s->total[kind == REQUEST_LOAD ? SIGNAL_DTLB_LOAD_MISSES
                                      : SIGNAL_DTLB_STORE_MISSES]++;
        walk(s, page, REQUEST_WALK_D);
    }
}

static inline void
touch_data_page(struct strand *s, uint64_t addr, enum request kind)
{
    const uint64_t page = addr >> s->page_shift;
    const uint64_t known =
        __atomic_load_n(&s->data_pages[page % FILTER_PAGES], __ATOMIC_RELAXED);

    if (known != page + 1)
        touch_data_page_slow(s, page, kind);
}

static void
touch_code_page(struct strand *s, uint64_t addr)
{
    const uint64_t page = addr >> s->chip->page_shift;
    uint64_t *known = &s->code_pages[page % FILTER_PAGES];

    if (__atomic_load_n(known, __ATOMIC_RELAXED) == page + 1)
        return;

    const unsigned result = tlb_locked(s, false, page);
    __atomic_store_n(known, page + 1, __ATOMIC_RELAXED);
    if (result & TLB_MISS) {
        s->total[SIGNAL_ITLB_MISSES]++;
        walk(s, page, REQUEST_WALK_I);
    }
}

/* True if the line was the second most recent, and is now the first. */
static inline bool
data_turn(struct strand *s, uint64_t *second, uint64_t line)
{
    if ((*second & ~SECOND_TURNED) != line)
        return false;
    *second = filter_line(&s->data, line) |
              ((*second & SECOND_TURNED) ^ SECOND_TURNED);
    filter_put(&s->data, line, line);
    return true;
}

/* Pushes what changes a set's order, and what has changed it before. */
static inline void
data_push(struct strand *s, uint64_t *second, uint64_t addr, enum request kind)
{
    const uint64_t turn = (*second & SECOND_TURNED) ? REQUEST_TURN : 0;

    push(s, addr | turn, kind);
    *second = s->data_turns && kind != REQUEST_ATOMIC && runs_alone(s)
                  ? filter_line(&s->data, addr)
                  : NO_LINE;
}

/* One line of an access: its page, its place in the queue, the filters. */
static inline __attribute__((always_inline)) void
access_line(struct strand *s, struct filter *f, uint64_t addr,
            enum request kind)
{
    const uint64_t line = addr >> f->shift << f->shift;
    uint64_t *second = &s->data_second[addr >> s->data.shift & s->data.mask];

    if (s->dtlb)
        touch_data_page(s, addr, kind);
    if (kind == REQUEST_ATOMIC) {
        /* Taken out of its own L1 line, shorter than the L2's. */
        data_push(s, second, addr & ~REQUEST_MASK, kind);
        filter_put(&s->data, addr, NO_LINE);
    } else if (filter_line(f, line) == line) {
        return;
    } else if (kind != REQUEST_THROUGH) {
        if (data_turn(s, second, line))
            return;
        data_push(s, second, line, kind);
    } else if (s->store_filter) {
        push(s, line, kind);
    }
    filter_put(f, line, line);
    if (kind == REQUEST_LOAD && s->store_filter)
        filter_put(&s->store, line, NO_LINE);
}

static inline __attribute__((always_inline)) void
access_slow(struct strand *s, struct filter *f, uint64_t addr, uint64_t span,
            enum request kind)
{
    const uint64_t size = (uint64_t)1 << f->shift;

    access_line(s, f, addr, kind);
    if (__builtin_expect((addr & (size - 1)) > span, 0))
        access_line(s, f, (addr & ~(size - 1)) + size, kind);
    if (__builtin_expect(s->queue_next >= s->queue_end, 0))
        strand_drain(s);
}

static __attribute__((noinline)) void
data_slow(struct strand *s, uint64_t addr, uint64_t span, enum request kind)
{
    access_slow(s, &s->data, addr, span, kind);
}

static __attribute__((noinline)) void
drain_full(struct strand *s)
{
    strand_drain(s);
}

/*
 * A line that is not the most recent of its set, where a lone strand's filters
 * hold two of each: it becomes the first of them. Returns 0 if it was the
 * second, else pushes the request and returns 1. No branch depends on which,
 * as it cannot be foreseen.
 */
static inline __attribute__((always_inline)) uint64_t
turn_or_push(struct strand *s, uint64_t *first, uint64_t *second, uint64_t line,
             uint64_t request)
{
    const uint64_t turned = *second & SECOND_TURNED; /* 0 or 1 */
    uint64_t pushed = (*second ^ turned) != line;

    __asm__("" : "+r"(pushed)); /* a number, or compilers make a branch of it */
    *s->queue_next = line | request | turned << 63;
    *second = *first | ((pushed ^ 1) & (turned ^ 1));
    *first = line;
    s->queue_next += pushed;
    return pushed;
}

/*
 * What access_slow() does, for a lone strand and one line, not the most recent
 * of its set, on a page whose used bit is set.
 */
static inline __attribute__((always_inline)) void
data_quick(struct strand *s, uint64_t addr, uint64_t span, enum request kind)
{
    const uint64_t line = addr & s->data.line_mask;
    const uint64_t page = addr >> s->page_shift;

    if (__builtin_expect(
            addr - line > span || !s->data_turns || !runs_alone(s) ||
                (s->dtlb && s->data_pages[page % FILTER_PAGES] != page + 1),
            0)) {
        data_slow(s, addr, span, kind);
        return;
    }

    const uint64_t offset = addr >> s->data.offset_shift & s->data.offset_mask;
    uint64_t *first = (uint64_t *)((char *)s->data.line + offset);
    uint64_t *second = (uint64_t *)((char *)s->data_second + offset);
    const uint64_t pushed = turn_or_push(s, first, second, line, kind);
    if (kind == REQUEST_LOAD && __builtin_expect(s->store_filter, 0))
        filter_put(&s->store, line,
                   pushed ? NO_LINE : filter_line(&s->store, line));
    if (__builtin_expect(s->queue_next >= s->queue_end, 0))
        drain_full(s);
}

void
strand_load_slow(struct strand *s, uint64_t addr, uint64_t span)
{
    data_quick(s, addr, span, REQUEST_LOAD);
}

void
strand_store_slow(struct strand *s, uint64_t addr, uint64_t span)
{
    data_quick(s, addr, span, REQUEST_STORE);
}

void
strand_through_slow(struct strand *s, uint64_t addr, uint64_t span)
{
    access_slow(s, &s->store, addr, span, REQUEST_THROUGH);
}

void
strand_atomic_slow(struct strand *s, uint64_t addr, uint64_t span)
{
    access_slow(s, &s->store, addr, span, REQUEST_ATOMIC);
}

/* Looks a line up in the L1I of the core, which other strands may share. */
static bool
fetch_line(struct strand *s, uint64_t addr)
{
    struct cache *l1i = &s->core->l1i;
    const bool alone = runs_alone(s);

    if (!alone)
        lock_take(&s->core->lock);
    const bool hit = cache_access(l1i, addr >> l1i->line_shift);
    for (struct strand *o = s->core->strands; !alone && o; o = o->sibling) {
        if (o != s)
            filter_put(&o->fetch, addr, NO_LINE);
    }
    if (!alone)
        lock_give(&s->core->lock);
    return hit;
}

/* True if the line was the second most recent, and is now the first. */
static inline bool
fetch_turn(struct strand *s, uint32_t entry, uint64_t line)
{
    const uint64_t second = s->second[entry];

    if ((second & ~SECOND_TURNED) != line)
        return false;
    s->second[entry] = filter_line(&s->fetch, line) |
                       ((second & SECOND_TURNED) ^ SECOND_TURNED);
    filter_put(&s->fetch, line, line);
    return true;
}

/* The line that was most recent becomes second, if it is of the same set. */
static void
fetch_put(struct strand *s, uint32_t entry, uint64_t line)
{
    const uint64_t before = filter_line(&s->fetch, line);
    const uint64_t sets = s->core->l1i.set_mask << s->fetch.shift;

    s->second[entry] = ((before ^ line) & sets) == 0 && before != NO_LINE &&
                               s->core->l1i.ways > 1 && runs_alone(s)
                           ? before
                           : NO_LINE;
    filter_put(&s->fetch, line, line);
}

/* A lookup that does not wait. */
static void
fetch_now(struct strand *s, uint32_t entry, uint64_t line)
{
    settle(s, entry);
    const bool hit = fetch_line(s, line);
    fetch_put(s, entry, line);
    if (!hit) {
        s->total[SIGNAL_L1I_MISSES]++;
        push(s, line, REQUEST_FETCH);
    }
}

/* The line is neither of the two that the filters hold. */
static inline __attribute__((always_inline)) void
fetch_new(struct strand *s, const struct block *block, uint32_t entry,
          uint64_t line)
{
    if (s->itlb)
        touch_code_page(s, line < block->pc ? block->pc : line);
    if (__builtin_expect(s->fetch_turns && runs_alone(s), 1)) {
        const uint64_t turn = s->second[entry] & SECOND_TURNED;
        push(s, line | turn << 63 | REQUEST_LOOKUP, REQUEST_FETCH);
        s->second[entry] = filter_line(&s->fetch, line);
        filter_put(&s->fetch, line, line);
    } else {
        fetch_now(s, entry, line);
    }
    if (s->store_filter)
        filter_put(&s->store, line, NO_LINE);
    if (s->queue_next >= s->queue_end)
        strand_drain(s);
}

static __attribute__((noinline)) void
fetch_all(struct strand *s, const struct block *block)
{
    const uint64_t size = (uint64_t)1 << s->fetch.shift;

    for (uint64_t line = block->pc & ~(size - 1); line < block->end;
         line += size) {
        const uint32_t entry =
            (uint32_t)(line >> s->fetch.shift) & s->fetch.mask;
        if (filter_line(&s->fetch, line) != line && !fetch_turn(s, entry, line))
            fetch_new(s, block, entry, line);
    }
}

static inline __attribute__((always_inline)) void
fetch_quick(struct strand *s, uint32_t entry, uint64_t line)
{
    if (s->fetch.line[entry] != line)
        turn_or_push(s, &s->fetch.line[entry], &s->second[entry], line,
                     REQUEST_FETCH | REQUEST_LOOKUP);
}

/* As data_quick(), for blocks in two lines at most. */
void
strand_fetch_slow(struct strand *s, const struct block *b)
{
    if (__builtin_expect(
            b->line1 == MANY_LINES || !s->fetch_quick || !runs_alone(s), 0)) {
        fetch_all(s, b);
        return;
    }
    fetch_quick(s, b->slot0, b->line0);
    fetch_quick(s, b->slot1, b->line1);
    if (__builtin_expect(s->queue_next >= s->queue_end, 0))
        drain_full(s);
}
