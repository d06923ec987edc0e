/* SPDX-License-Identifier: MIT */
/*
 * What the filters do not know: TLBs, the filters' new state, and the queue,
 * which drain.c takes through the caches.
 */
#include "machine/ahead.h"
#include "machine/nodes.h"
#include "machine/strand.h"

/*
 * Where a hardware table walk reads: one 16-byte entry a page, a table for each
 * of its requests, in a region that no program uses; low enough that tags of
 * 32 bits do for the L2 of the T4 (its list form is 7 % of all time on bzip2).
 */
#define TABLES_AT ((uint64_t)0x3ff000000000u)
#define TABLE_ENTRY 16u
#define TABLE_ENTRIES 65536u

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

/* What nothing but its page keeps from being known. */
static inline uint64_t
known_line(const struct filter *f, uint64_t addr)
{
    return filter_line(f, addr) & ~LINE_WAITS;
}

/* Until their pages are touched, no lines are known. */
static void
lines_wait(struct filter *f)
{
    for (uint32_t i = 0; i <= f->mask; i++)
        f->line[i] |= LINE_WAITS;
}

/* Those that wait are not known. */
static void
settle_lines(struct filter *f)
{
    for (uint32_t i = 0; i <= f->mask; i++) {
        if (f->line[i] & LINE_WAITS)
            f->line[i] = NO_LINE;
    }
}

void
strand_settle(struct strand *s)
{
    settle_fetch(s);
    settle_lines(&s->data);
    settle_lines(&s->store);
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
    const bool alone = runs_alone(s);

    if (data && alone) {
        lines_wait(&s->data);
        lines_wait(&s->store);
    } else if (data) {
        filter_clear(&s->data, false);
        filter_clear(&s->store, false);
    } else {
        if (alone)
            settle_fetch(s);
        filter_clear(&s->fetch, alone);
    }
    filter_fill(data ? s->data_pages : s->code_pages, FILTER_PAGES, 0, alone);
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
        queue_push(s, addr, kind);
        filter_put(&s->store, addr, NO_LINE);
    }
}

/* Likewise of the pages that a data TLB behind a first has. */
static void
void_far_pages(struct core *core)
{
    for (struct strand *o = core->strands; o != NULL; o = o->sibling)
        filter_fill(o->far_pages, FILTER_PAGES, 0, runs_alone(o));
}

/* A TLB of the strand's core, for data or code, one or two levels of which the
 * filters stand for. */
static unsigned
tlb_locked(struct strand *s, struct tlb *tlb, bool data, uint64_t page)
{
    struct core *core = s->core;
    const bool alone = runs_alone(s);

    if (!alone)
        lock_take(&core->lock);
    const unsigned result = tlb_access(tlb, page | s->tlb_tag);
    if (result & TLB_CLEARED) {
        if (tlb == &core->dtlb)
            void_far_pages(core);
        void_core_pages(s, data);
        if (s->chip->joint_tlb)
            void_core_pages(s, !data);
    }
    if (!alone)
        lock_give(&core->lock);
    return result;
}

/* The data TLB, or the one behind a first. */
static inline unsigned
touch_far_page(struct strand *s, uint64_t page)
{
    uint64_t *known = &s->far_pages[page % FILTER_PAGES];

    if (s->core->dtlb_first.entries == 0)
        return tlb_locked(s, &s->core->dtlb, true, page);
    if (__atomic_load_n(known, __ATOMIC_RELAXED) == page + 1)
        return TLB_HIT;
    const unsigned result = tlb_locked(s, &s->core->dtlb, true, page);
    __atomic_store_n(known, page + 1, __ATOMIC_RELAXED);
    return result;
}

static __attribute__((noinline)) void
touch_data_page_slow(struct strand *s, uint64_t page, enum request kind)
{
    uint64_t *known = &s->data_pages[page % FILTER_PAGES];
    const uint64_t large = page >> (s->chip->page_shift - s->page_shift);
    struct tlb *first = &s->core->dtlb_first;
    const bool both = first->entries != 0 && kind != REQUEST_FLOAT;
    const unsigned near = both ? tlb_locked(s, first, true, page) : TLB_HIT;
    const unsigned result = touch_far_page(s, large);

    /* What passes the L1D by leaves its TLB alone. */
    if (both || first->entries == 0)
        __atomic_store_n(known, page + 1, __ATOMIC_RELAXED);
    if (result & TLB_MISS) {
        s->total[kind == REQUEST_LOAD || kind == REQUEST_FLOAT
                     ? SIGNAL_DTLB_LOAD_MISSES
                     : SIGNAL_DTLB_STORE_MISSES]++;
        walk(s, large, REQUEST_WALK_D);
    } else if (kind == REQUEST_LOAD) {
        s->total[SIGNAL_DTLB_TRANSFERS] += near & TLB_MISS;
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

/* The second level is asked for what the first lacks. */
static __attribute__((noinline)) void
touch_code_page_slow(struct strand *s, uint64_t addr, uint64_t page,
                     uint64_t *known)
{
    const uint64_t large = addr >> s->chip->page_shift;
    struct core *core = s->core;
    struct tlb *last = s->chip->joint_tlb ? &core->dtlb : &core->itlb;
    unsigned result = TLB_MISS;

    if (core->itlb_first.entries != 0) {
        result = tlb_locked(s, &core->itlb_first, false, page) & TLB_MISS;
        s->total[SIGNAL_ITLB_FIRST_MISSES] += result;
    }
    if (result & TLB_MISS)
        result = tlb_locked(s, last, false, large);
    __atomic_store_n(known, page + 1, __ATOMIC_RELAXED);
    if (result & TLB_MISS) {
        s->total[SIGNAL_ITLB_MISSES]++;
        walk(s, large, REQUEST_WALK_I);
    }
}

static inline __attribute__((always_inline)) void
touch_code_page(struct strand *s, uint64_t addr)
{
    const uint64_t page = addr >> s->code_shift;
    uint64_t *known = &s->code_pages[page % FILTER_PAGES];

    if (__atomic_load_n(known, __ATOMIC_RELAXED) != page + 1)
        touch_code_page_slow(s, addr, page, known);
}

/* True if the line was the second most recent, and is now the first. */
static inline bool
data_turn(struct strand *s, uint64_t *second, uint64_t line)
{
    if ((*second & ~SECOND_TURNED) != line)
        return false;
    *second = known_line(&s->data, line) |
              ((*second & SECOND_TURNED) ^ SECOND_TURNED);
    filter_put(&s->data, line, line);
    return true;
}

/* Pushes what changes a set's order, and what has changed it before. */
static inline void
data_push(struct strand *s, uint64_t *second, uint64_t addr, enum request kind)
{
    const uint64_t turn = (*second & SECOND_TURNED) ? REQUEST_TURN : 0;

    queue_push(s, addr | turn, kind);
    *second = s->data_turns && kind != REQUEST_ATOMIC && runs_alone(s)
                  ? known_line(&s->data, addr)
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
    const uint64_t known = known_line(f, line);
    if (kind == REQUEST_ATOMIC) {
        /* Taken out of its own L1 line, shorter than the L2's. */
        data_push(s, second, addr & ~REQUEST_MASK, kind);
        filter_put(&s->data, addr, NO_LINE);
    } else if (kind == REQUEST_FLOAT) {
        if ((known & ~LINE_CLEAN) == line) {
            filter_put(f, line, known);
            return;
        }
        if (s->store_filter)
            queue_push(s, line, kind);
        filter_put(f, line, line | LINE_CLEAN);
        return;
    } else if (known == line) {
        filter_put(f, line, line);
        return;
    } else if (kind != REQUEST_THROUGH) {
        if (s->marks)
            filter_put(&s->store, line, NO_LINE);
        if (data_turn(s, second, line))
            return;
        data_push(s, second, line, kind);
    } else if (s->store_filter) {
        queue_push(s, line, kind);
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
    if (__builtin_expect(s->queue_next >= s->queue_end, 0) ||
        (kind == REQUEST_ATOMIC && meets_others(s)))
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
    *first &= ~LINE_WAITS;
    if (__builtin_expect(*first == line, 0))
        return;
    const uint64_t pushed = turn_or_push(s, first, second, line, kind);
    if (kind == REQUEST_LOAD && __builtin_expect(s->store_filter | s->marks, 0))
        filter_put(&s->store, line,
                   pushed | s->marks ? NO_LINE : filter_line(&s->store, line));
    if (__builtin_expect(s->queue_next >= s->queue_end, 0))
        drain_full(s);
}

void
strand_load_slow(struct strand *s, uint64_t addr, uint64_t span)
{
    data_quick(s, addr, span, REQUEST_LOAD);
}

/* What it misses is known at once: nothing else waits in the queue. */
void
strand_bulk_slow(struct strand *s, uint64_t addr, uint64_t span)
{
    static const enum signal_id all[] = {
        SIGNAL_L1D_LOAD_MISSES,
        SIGNAL_L2_LOAD_MISSES,
        SIGNAL_L3_LOAD_MISSES,
    };
    static_assert(SIGNAL_BULK_L3_MISSES == SIGNAL_BULK_L1D_MISSES + 2,
                  "in this order");
    uint64_t before[3];

    strand_drain(s);
    for (size_t i = 0; i < 3; i++)
        before[i] = s->total[all[i]];
    data_slow(s, addr, span, REQUEST_LOAD);
    strand_drain(s);
    for (size_t i = 0; i < 3; i++)
        s->total[SIGNAL_BULK_L1D_MISSES + i] += s->total[all[i]] - before[i];
}

/* What a prefetch raises in place of what its request does. */
struct asked {
    enum signal_id as, to;
};

static const struct asked near_asked[] = {
    {SIGNAL_L1D_LOAD_MISSES, SIGNAL_NEAR_PREFETCH_MISSES},
    {SIGNAL_L2_LOAD_MISSES, SIGNAL_NEAR_PREFETCH_L2_MISSES},
    {SIGNAL_L3_LOAD_MISSES, SIGNAL_NEAR_PREFETCH_L3_MISSES},
};

static const struct asked far_asked[] = {
    {SIGNAL_DTLB_WALK_MISSES, SIGNAL_FAR_PREFETCH_L2_MISSES},
    {SIGNAL_DTLB_WALK_L3_MISSES, SIGNAL_FAR_PREFETCH_L3_MISSES},
};

#define ASKED_MOST 3

/* So that what is pushed next is drained alone. */
static inline void
drain_before(struct strand *s)
{
    if (s->queue_next != s->queue)
        strand_drain(s);
}

/* Drains what was pushed alone, and counts what it raises as a prefetch's. */
static void
drain_asked(struct strand *s, const struct asked *asked, size_t count)
{
    uint64_t before[ASKED_MOST];

    for (size_t i = 0; i < count; i++)
        before[i] = s->total[asked[i].as];
    s->goes_on = true;
    strand_drain(s);
    s->goes_on = false;
    for (size_t i = 0; i < count; i++) {
        s->total[asked[i].to] += s->total[asked[i].as] - before[i];
        s->total[asked[i].as] = before[i];
    }
}

static void
prefetch_near(struct strand *s, uint64_t addr)
{
    uint64_t *second = &s->data_second[addr >> s->data.shift & s->data.mask];
    const uint64_t line = addr & s->data.line_mask;
    const uint64_t missed = s->total[SIGNAL_NEAR_PREFETCH_MISSES];

    if (known_line(&s->data, line) != line) {
        drain_before(s);
        data_push(s, second, line, REQUEST_LOAD);
        *second = NO_LINE;
        filter_put(&s->data, line, line | LINE_WAITS);
        filter_put(&s->store, line, NO_LINE);
        drain_asked(s, near_asked, 3);
    }
    s->total[SIGNAL_NEAR_PREFETCH_HITS] +=
        s->total[SIGNAL_NEAR_PREFETCH_MISSES] == missed;
}

/* It is no walk's, but as that passes the L1s by and is looked up in the L2. */
static void
prefetch_far(struct strand *s, uint64_t addr)
{
    drain_before(s);
    queue_push(s, addr & s->data.line_mask, REQUEST_WALK_D);
    filter_put(&s->store, addr, NO_LINE);
    drain_asked(s, far_asked, 2);
    s->total[SIGNAL_FAR_PREFETCHES]++;
}

void
strand_prefetch(struct strand *s, uint64_t addr, bool near)
{
    /* No program has memory there: a difference went below 0. */
    if (!s->chip->prefetches || addr >> 62 != 0)
        return;
    if (near)
        prefetch_near(s, addr);
    else if (s->chip->parts & PART_L2)
        prefetch_far(s, addr);
}

void
strand_store_slow(struct strand *s, uint64_t addr, uint64_t span)
{
    data_quick(s, addr, span, REQUEST_STORE);
}

/*
 * A store to one line of an L1D that writes back. It goes to the queue although
 * the line is the first of its set, to become dirty.
 */
static void
mark_line(struct strand *s, uint64_t addr)
{
    const uint64_t line = addr & s->data.line_mask;
    uint64_t *second = &s->data_second[addr >> s->data.shift & s->data.mask];

    if (s->dtlb)
        touch_data_page(s, addr, REQUEST_STORE);
    if (known_line(&s->store, line) == line) {
        filter_put(&s->store, line, line);
        return;
    }
    if (known_line(&s->data, line) == line) {
        queue_push(s, line | (*second & SECOND_TURNED) << 63, REQUEST_STORE);
        *second &= ~SECOND_TURNED;
    } else {
        data_push(s, second, line, REQUEST_STORE);
    }
    filter_put(&s->data, line, line);
    filter_put(&s->store, line, line);
}

/* One line after the other, each read before it is marked where `atomic`. */
static void
marks_slow(struct strand *s, uint64_t addr, uint64_t span, bool atomic)
{
    const uint64_t size = (uint64_t)1 << s->data.shift;
    const bool two = (addr & (size - 1)) > span;

    for (unsigned i = 0; i <= two; i++) {
        if (atomic)
            access_line(s, &s->data, addr, REQUEST_LOAD);
        mark_line(s, addr);
        addr = (addr & ~(size - 1)) + size;
    }
    if (s->queue_next >= s->queue_end || (atomic && meets_others(s)))
        strand_drain(s);
}

void
strand_through_slow(struct strand *s, uint64_t addr, uint64_t span)
{
    if (__builtin_expect(s->marks, 0)) {
        marks_slow(s, addr, span, false);
        return;
    }
    access_slow(s, &s->store, addr, span, REQUEST_THROUGH);
}

void
strand_float_slow(struct strand *s, uint64_t addr, uint64_t span)
{
    access_slow(s, &s->store, addr, span, REQUEST_FLOAT);
}

void
strand_atomic_slow(struct strand *s, uint64_t addr, uint64_t span)
{
    if (__builtin_expect(s->marks, 0)) {
        marks_slow(s, addr, span, true);
        return;
    }
    access_slow(s, &s->store, addr, span, REQUEST_ATOMIC);
}

/* Looks a line up in the L1I of the core, which other strands may share. Of a
 * miss also those ahead: see machine/ahead.h. */
static bool
fetch_line(struct strand *s, uint64_t addr, uint64_t *has)
{
    struct cache *l1i = &s->core->l1i;
    const bool alone = runs_alone(s);

    if (!alone)
        lock_take(&s->core->lock);
    const bool hit = cache_access(l1i, addr >> l1i->line_shift);
    *has = hit ? 0 : ahead_has(l1i, addr >> l1i->line_shift, s->chip->ahead);
    for (struct strand *o = s->core->strands; !alone && o; o = o->sibling) {
        if (o != s)
            filter_void(&o->fetch, addr, addr);
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
    uint64_t has;

    settle(s, entry);
    const bool hit = fetch_line(s, line, &has);
    fetch_put(s, entry, line);
    if (!hit) {
        s->total[SIGNAL_L1I_MISSES]++;
        queue_push(s, s->chip->ahead == 0 ? line : (line & ~AHEAD_HAS) | has,
                   REQUEST_FETCH);
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
        queue_push(s, line | turn << 63 | REQUEST_LOOKUP, REQUEST_FETCH);
        s->second[entry] = filter_line(&s->fetch, line);
        filter_put(&s->fetch, line, line);
    } else {
        fetch_now(s, entry, line);
    }
    if (s->fetch_voids)
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
    if (s->fetch.line[entry] == line)
        return;
    if (s->itlb)
        touch_code_page(s, line);
    const uint64_t pushed =
        turn_or_push(s, &s->fetch.line[entry], &s->second[entry], line,
                     REQUEST_FETCH | REQUEST_LOOKUP);
    if (s->fetch_voids && pushed)
        filter_put(&s->store, line, NO_LINE);
}

/* As data_quick(), for blocks in two lines at most. */
void
strand_fetch_slow(struct strand *s, const struct block *b)
{
    if (__builtin_expect(
            b->line1 == MANY_LINES || !s->fetch_turns || !runs_alone(s), 0)) {
        fetch_all(s, b);
        return;
    }
    fetch_quick(s, b->slot0, b->line0);
    fetch_quick(s, b->slot1, b->line1);
    if (__builtin_expect(s->queue_next >= s->queue_end, 0))
        drain_full(s);
}
