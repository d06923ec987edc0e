/* SPDX-License-Identifier: MIT */
#include "machine/pages.h"

#include "machine/fetch.h"
#include "machine/huge.h"
#include "machine/ooo.h"
#include "machine/recorder.h"

/*
 * Where a hardware table walk reads, in a region that no program uses. The
 * region ends below 2^43, so that tags of 32 bits do for the L2 of the T4,
 * whose list form takes 7 % of all time of bzip2, and no L1 need look which
 * requests of a queue are walks, which takes 2 % on the UltraSPARC T2.
 *
 * Flat tables have one 16-byte entry a page, a table for each request. Radix
 * tables have 8 bytes an entry. The tables of a level lie behind each other in
 * the order of their pages, and the levels one behind the other: of pages that
 * are 2^32 apart, the entries are the same.
 */
#define TABLES_AT ((uint64_t)0x7f000000000u)
#define TABLE_ENTRY 16u
#define TABLE_ENTRIES 65536u
#define RADIX_ENTRY 8u
#define RADIX_BITS 9u
#define RADIX_PAGES ((uint64_t)1 << 32)

/* Marks all lines of a filter as waiting for their page's used bit. */
static void
lines_wait(struct filter *f)
{
    for (uint32_t i = 0; i <= f->mask; i++)
        f->line[i] |= LINE_WAITS;
}

/* Forgets what a strand knows of its pages, of data or code, and of the lines
 * there: the used bits of a TLB were cleared. */
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
            fetch_settle(s);
        filter_clear(&s->fetch, alone);
    }
    filter_fill(data ? s->pages.data : s->pages.code, FILTER_PAGES, 0, alone);
}

/* Does so for all strands of the core. Under the core's lock where the core is
 * shared. */
static void
void_core_pages(struct strand *s, bool data)
{
    for (struct strand *o = s->core->strands; o != NULL; o = o->sibling)
        void_pages(o, data);
}

/* Marks the lines of a page in a filter as waiting for the page. */
static void
page_lines_wait(struct filter *f, uint64_t page, uint32_t shift)
{
    for (uint32_t i = 0; i <= f->mask; i++) {
        if ((f->line[i] & ~(LINE_CLEAN | LINE_WAITS)) >> shift == page)
            f->line[i] |= LINE_WAITS;
    }
}

/* Forgets the small pages of a huge page of the strand's data, and their lines.
 */
static void
void_huge_page(struct strand *s, uint64_t page)
{
    const uint32_t shift = HUGE_SHIFT - s->pages.shift;

    /* Without branches the loop takes vectors: a tenth of all time of random
     * loads in 64 MB. No page has the number that an empty place, 0, gives
     * here. */
    for (unsigned i = 0; i < FILTER_PAGES; i++) {
        const uint64_t known = s->pages.data[i];
        s->pages.data[i] = (known - 1) >> shift == page ? 0 : known;
    }
    page_lines_wait(&s->data, page, HUGE_SHIFT);
    page_lines_wait(&s->store, page, HUGE_SHIFT);
}

/* Forgets a page of the strand's data, and its lines, where the strand has the
 * page's number in the TLB. */
static void
void_data_page(struct strand *s, uint64_t lost)
{
    const uint64_t page = lost - s->pages.tag;
    uint64_t *known = &s->pages.data[page % FILTER_PAGES];

    if (page & HUGE_MARK) {
        void_huge_page(s, page & ~HUGE_MARK);
        return;
    }
    if (*known == page + 1)
        *known = 0;
    page_lines_wait(&s->data, page, s->pages.shift);
    page_lines_wait(&s->store, page, s->pages.shift);
}

/* Returns up to which level of the tables a walk for `page` reads: all, but for
 * those that a page-walk cache of the core has. `lowest`: the level that has
 * the page itself, 1, or 2 of a huge page. */
static unsigned
levels_to_read(struct strand *s, uint64_t page, unsigned lowest,
               unsigned levels, unsigned *served)
{
    struct core *const core = s->core;
    const bool alone = runs_alone(s);
    unsigned level;

    if (!alone)
        lock_take(&core->lock);
    for (level = lowest + 1; level < 2 + WALK_CACHES; level++) {
        struct tlb *const cache = &core->walk_caches[level - 2];
        const uint64_t covers = page >> RADIX_BITS * (level - 1);
        if (cache->entries != 0 &&
            (tlb_access(cache, covers | s->pages.tag) & TLB_MISS) == 0)
            break;
    }
    if (!alone)
        lock_give(&core->lock);
    *served = level - 2;
    return level == 2 + WALK_CACHES ? levels : level - 1;
}

/* Asks the page-walk caches about a walk for `page`, and counts the one that
 * has an entry. Returns up to which level of the tables the walk reads. */
static unsigned
ask_walk_caches(struct strand *s, uint64_t page, unsigned lowest,
                enum request_kind kind, unsigned levels, unsigned instruction,
                uint64_t addr)
{
    static const uint16_t signals[2][WALK_CACHES + 1] = {
        {SIGNAL_ITLB_WALK_LEVEL2_HITS, SIGNAL_ITLB_WALK_LEVEL3_HITS,
         SIGNAL_ITLB_WALK_LEVEL4_HITS, SIGNAL_ITLB_WALK_CACHE_MISSES},
        {SIGNAL_DTLB_WALK_LEVEL2_HITS, SIGNAL_DTLB_WALK_LEVEL3_HITS,
         SIGNAL_DTLB_WALK_LEVEL4_HITS, SIGNAL_DTLB_WALK_CACHE_MISSES}};
    const bool data = kind == REQUEST_WALK_D;
    unsigned served;

    levels = levels_to_read(s, page, lowest, levels, &served);
    s->total[signals[data][served]]++;
    if (data)
        strand_charge_signal(s, instruction, addr, signals[data][served], 1);
    return levels;
}

/* Returns where a walk for `page` reads a level of radix tables. */
static uint64_t
radix_entry(uint64_t page, unsigned level)
{
    uint64_t at = TABLES_AT, entries = RADIX_PAGES;

    page %= RADIX_PAGES;
    for (unsigned i = 1; i < level; i++) {
        at += entries * RADIX_ENTRY;
        entries >>= RADIX_BITS;
        page >>= RADIX_BITS;
    }
    return at + page * RADIX_ENTRY;
}

/* Queues a request of a walk to the L2. */
static void
read_table(struct strand *s, uint64_t addr, enum request_kind kind,
           unsigned instruction)
{
    queue_push(s, addr, kind, instruction);
    filter_put(&s->store, addr, NO_LINE);
}

/* Queues the requests that a table walk for `page` sends to the L2, for the
 * access to `addr`. `lowest`: the level of radix tables that has the page. */
static void
walk(struct strand *s, uint64_t page, unsigned lowest, enum request_kind kind,
     unsigned instruction, uint64_t addr)
{
    const struct chip *const chip = s->chip;
    const unsigned levels = (unsigned)chip->params[PARAM_TLB_WALK];
    unsigned highest = levels;

    if (s->ooo != NULL)
        ooo_page(s, instruction, kind == REQUEST_WALK_I, true,
                 chip->params[PARAM_TIME_WALK]);
    if (chip->walk_caches)
        highest =
            ask_walk_caches(s, page, lowest, kind, levels, instruction, addr);
    for (unsigned level = highest; chip->radix && level >= lowest; level--)
        read_table(s, radix_entry(page, level), kind, instruction);
    for (unsigned i = 0; !chip->radix && i < levels; i++) {
        const uint64_t entry = i * TABLE_ENTRIES + page % TABLE_ENTRIES;
        read_table(s, TABLES_AT + entry * TABLE_ENTRY, kind, instruction);
    }
    const unsigned requests = highest < lowest ? 0 : highest - lowest + 1;
    s->total[kind == REQUEST_WALK_D ? SIGNAL_DTLB_WALK_REFS
                                    : SIGNAL_ITLB_WALK_REFS] += requests;
    if (kind == REQUEST_WALK_D)
        strand_charge_signal(s, instruction, addr, SIGNAL_DTLB_WALK_REFS,
                             requests);
}

/* Forgets what a core's strands know of the data TLB that stands behind a first
 * one. */
static void
void_far_pages(struct core *core)
{
    for (struct strand *o = core->strands; o != NULL; o = o->sibling)
        filter_fill(o->pages.far, FILTER_PAGES, 0, runs_alone(o));
}

/* Makes the filters of the core's strands forget what they know no more after
 * an access to a TLB with this result. Under the core's lock where the core is
 * shared. */
static __attribute__((noinline)) void
void_filters(struct strand *s, const struct tlb *tlb, bool data,
             unsigned result)
{
    if (result & TLB_LOST && runs_alone(s) && data && !s->chip->joint_tlb &&
        s->core->dtlb_first.entries == 0) {
        void_data_page(s, tlb->lost);
        return;
    }
    if (tlb == s->tlbs[TLB_DTLB])
        void_far_pages(s->core);
    void_core_pages(s, data);
    if (s->chip->joint_tlb)
        void_core_pages(s, !data);
}

/* Asks a TLB of the strand, the first with filters in front or one in front of
 * this TLB, for data or code. Returns enum tlb_result bits. */
static unsigned
tlb_locked(struct strand *s, struct tlb *tlb, bool data, uint64_t page)
{
    struct core *core = s->core;
    const bool alone = runs_alone(s);

    if (!alone)
        lock_take(&core->lock);
    const unsigned result = tlb_access(tlb, page | s->pages.tag);
    if (result & (TLB_CLEARED | TLB_LOST))
        void_filters(s, tlb, data, result);
    if (!alone)
        lock_give(&core->lock);
    return result;
}

/* Asks the TLBs behind the first of a chain for a page that the first lacks.
 * Returns whether one of them has the page. */
static __attribute__((noinline)) bool
ask_behind(struct strand *s, const struct tlb_chain *chain, uint64_t page,
           enum tlb_asker asker, unsigned instruction, uint64_t addr)
{
    const bool alone = runs_alone(s);

    for (unsigned i = 1; i < chain->count; i++) {
        const struct tlb_row *row = &tally_tlbs[chain->tlbs[i]];
        if (!alone)
            lock_take(&s->core->lock);
        const bool miss =
            tlb_access(s->tlbs[chain->tlbs[i]], page | s->pages.tag) & TLB_MISS;
        if (!alone)
            lock_give(&s->core->lock);
        const unsigned signal = miss ? row->misses[asker] : row->hits[asker];
        s->total[signal]++;
        if (s->ooo != NULL && !miss && asker != TLB_STORE)
            ooo_page(s, instruction, asker == TLB_FETCH, false,
                     s->chip->params[row->time]);
        if (asker != TLB_FETCH)
            strand_charge_signal(s, instruction, addr, signal, 1);
        if (!miss)
            return true;
    }
    return false;
}

/* Asks the data TLB, or where there are two levels the second. */
static inline unsigned
touch_far_page(struct strand *s, uint64_t page)
{
    uint64_t *known = &s->pages.far[page % FILTER_PAGES];

    if (s->core->dtlb_first.entries == 0)
        return tlb_locked(s, s->tlbs[TLB_DTLB], true, page);
    if (__atomic_load_n(known, __ATOMIC_RELAXED) == page + 1)
        return TLB_HIT;
    const unsigned result = tlb_locked(s, s->tlbs[TLB_DTLB], true, page);
    __atomic_store_n(known, page + 1, __ATOMIC_RELAXED);
    return result;
}

/* Asks the TLBs for the huge page of an access to data, whose small page is
 * known from then on. */
static __attribute__((noinline)) void
touch_huge_page(struct strand *s, uint64_t addr, bool load,
                unsigned instruction)
{
    static const uint16_t misses[2] = {SIGNAL_DTLB_STORE_MISSES,
                                       SIGNAL_DTLB_LOAD_MISSES};
    static const uint16_t of_huge[2] = {SIGNAL_HUGE_STORE_MISSES,
                                        SIGNAL_HUGE_LOAD_MISSES};
    static const uint16_t walks[2] = {SIGNAL_HUGE_STORE_WALKS,
                                      SIGNAL_HUGE_LOAD_WALKS};
    const uint64_t page = addr >> s->pages.shift;
    const uint64_t huge = addr >> HUGE_SHIFT | HUGE_MARK;
    struct tlb *const own = &s->core->dtlb_huge;
    struct tlb *const tlb = own->entries != 0 ? own : s->tlbs[TLB_DTLB];
    const unsigned result = tlb_locked(s, tlb, true, huge);

    __atomic_store_n(&s->pages.data[page % FILTER_PAGES], page + 1,
                     __ATOMIC_RELAXED);
    if ((result & TLB_MISS) == 0)
        return;
    s->total[misses[load]]++;
    s->total[of_huge[load]]++;
    strand_charge_signal(s, instruction, addr, misses[load], 1);
    strand_charge_signal(s, instruction, addr, of_huge[load], 1);
    if (s->chip->data_tlbs.count > 1 &&
        ask_behind(s, &s->chip->data_tlbs, huge, load ? TLB_LOAD : TLB_STORE,
                   instruction, addr))
        return;
    s->total[walks[load]]++;
    strand_charge_signal(s, instruction, addr, walks[load], 1);
    walk(s, page, 2, REQUEST_WALK_D, instruction, addr);
}

void
pages_follow_huge(struct strand *s)
{
    struct huge *const huge = s->chip->huge;
    const uint64_t changes = huge != NULL ? atomic_load(&huge->changes) : 0;

    if (s->pages.changes == changes)
        return;
    s->pages.changes = changes;
    void_pages(s, true);
}

/* Returns whether an access to data is to a huge page. */
static bool
is_huge(struct strand *s, uint64_t addr)
{
    if (s->chip->huge == NULL)
        return false;
    pages_follow_huge(s);
    return huge_access(s->chip->huge, addr);
}

void
touch_data_page_slow(struct strand *s, uint64_t addr, enum request_kind kind,
                     unsigned instruction)
{
    if (is_huge(s, addr)) {
        touch_huge_page(s, addr, kind == REQUEST_LOAD || kind == REQUEST_FLOAT,
                        instruction);
        return;
    }
    const uint64_t page = addr >> s->pages.shift;
    uint64_t *known = &s->pages.data[page % FILTER_PAGES];
    const uint64_t large = page >> (s->chip->page_shift - s->pages.shift);
    struct tlb *first = &s->core->dtlb_first;
    const bool both = first->entries != 0 && kind != REQUEST_FLOAT;
    const unsigned near = both ? tlb_locked(s, first, true, page) : TLB_HIT;
    const unsigned result = touch_far_page(s, large);

    /* What passes the L1D by leaves its TLB alone. */
    if (both || first->entries == 0)
        __atomic_store_n(known, page + 1, __ATOMIC_RELAXED);
    if (result & TLB_MISS) {
        const bool load = kind == REQUEST_LOAD || kind == REQUEST_FLOAT;
        const unsigned misses =
            load ? SIGNAL_DTLB_LOAD_MISSES : SIGNAL_DTLB_STORE_MISSES;
        s->total[misses]++;
        strand_charge_signal(s, instruction, addr, misses, 1);
        if (s->chip->data_tlbs.count > 1 &&
            ask_behind(s, &s->chip->data_tlbs, large,
                       load ? TLB_LOAD : TLB_STORE, instruction, addr))
            return;
        walk(s, large, 1, REQUEST_WALK_D, instruction, addr);
    } else if (kind == REQUEST_LOAD) {
        s->total[SIGNAL_DTLB_TRANSFERS] += near & TLB_MISS;
        strand_charge_signal(s, instruction, addr, SIGNAL_DTLB_TRANSFERS,
                             near & TLB_MISS);
    }
}

void
touch_code_page_slow(struct strand *s, uint64_t addr, uint64_t page,
                     uint64_t *known)
{
    const uint64_t large = addr >> s->chip->page_shift;
    struct core *core = s->core;
    const struct tlb_chain *chain = &s->chip->code_tlbs;
    unsigned result = TLB_MISS;

    if (core->itlb_first.entries != 0) {
        result = tlb_locked(s, &core->itlb_first, false, page) & TLB_MISS;
        s->total[SIGNAL_ITLB_FIRST_MISSES] += result;
        if (result != 0)
            strand_charge(s, 0);
    }
    if (result & TLB_MISS)
        result = tlb_locked(s, s->tlbs[chain->tlbs[0]], false, large);
    __atomic_store_n(known, page + 1, __ATOMIC_RELAXED);
    if (result & TLB_MISS) {
        s->total[SIGNAL_ITLB_MISSES]++;
        if (chain->count == 1 || !ask_behind(s, chain, large, TLB_FETCH, 0, 0))
            walk(s, large, 1, REQUEST_WALK_I, 0, addr);
        strand_charge(s, 0);
    }
}
