/* SPDX-License-Identifier: MIT */
/*
 * Loads and stores that the filters do not know: the filters' new state, and
 * the queue, which drain.c takes through the caches.
 */
#include "machine/fetch.h"
#include "machine/layout_first.h"
#include "machine/pages.h"
#include "machine/recorder.h"
#include "machine/sharing.h"
#include "machine/turn.h"

/* Forgets the lines that wait for their page's used bit (LINE_WAITS). */
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
    fetch_settle(s);
    settle_lines(&s->data);
    settle_lines(&s->store);
    for (uint32_t i = 0; s->data.turns && i <= s->data.mask; i++) {
        if (s->data.second[i] & SECOND_TURNED)
            cache_turn(&s->core->l1d, i);
        s->data.second[i] = NO_LINE;
    }
}

/* Makes the line the first of its set if it is the second; returns whether it
 * was. */
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

/* Pushes a request that changes the order of its set, with the turn of the set
 * that the filter has kept back. */
static inline void
data_push(struct strand *s, uint64_t *second, uint64_t addr,
          enum request_kind kind, unsigned instruction)
{
    queue_turned(s, addr, kind, instruction, *second & SECOND_TURNED);
    layout_first(s, addr & s->data.line_mask);
    *second = s->data.turns && kind != REQUEST_ATOMIC && runs_alone(s)
                  ? known_line(&s->data, addr)
                  : NO_LINE;
}

/* Makes one line of an access: asks for its page, queues the request if the
 * filters do not know the line, and updates the filters. */
static inline __attribute__((always_inline)) void
access_line(struct strand *s, struct filter *f, uint64_t addr,
            enum request_kind kind, unsigned instruction)
{
    const uint64_t line = addr >> f->shift << f->shift;
    uint64_t *second = &s->data.second[addr >> s->data.shift & s->data.mask];

    touch_data_page(s, addr, kind, instruction);
    const uint64_t known = known_line(f, line);
    if (kind == REQUEST_ATOMIC) {
        /* Taken out of its own L1 line, shorter than the L2's. */
        data_push(s, second, addr, kind, instruction);
        filter_put(&s->data, addr, NO_LINE);
    } else if (kind == REQUEST_FLOAT) {
        if ((known & ~LINE_CLEAN) == line) {
            filter_put(f, line, known);
            return;
        }
        if (s->runs.store_filter)
            queue_push(s, addr, kind, instruction);
        filter_put(f, line, line | LINE_CLEAN);
        return;
    } else if (known == line) {
        filter_put(f, line, line);
        return;
    } else if (kind != REQUEST_THROUGH) {
        if (s->runs.marks)
            filter_put(&s->store, line, NO_LINE);
        if (data_turn(s, second, line))
            return;
        data_push(s, second, addr, kind, instruction);
    } else if (s->runs.store_filter) {
        queue_push(s, addr, kind, instruction);
    }
    filter_put(f, line, line);
    if (kind == REQUEST_LOAD && s->runs.store_filter)
        filter_put(&s->store, line, NO_LINE);
}

static inline __attribute__((always_inline)) void
access_slow(struct strand *s, struct filter *f, uint64_t addr, access_site at,
            enum request_kind kind)
{
    const uint64_t size = (uint64_t)1 << f->shift;

    access_line(s, f, addr, kind, site_instruction(at));
    if (__builtin_expect((addr & (size - 1)) > site_room(at), 0)) {
        s->total[SIGNAL_SPLIT_ACCESSES] +=
            kind == REQUEST_LOAD || kind == REQUEST_STORE;
        strand_charge_data(s, site_instruction(at), addr);
        access_line(s, f, (addr & ~(size - 1)) + size, kind,
                    site_instruction(at));
    }
    if (__builtin_expect(s->queue.next >= s->queue.end, 0) ||
        (kind == REQUEST_ATOMIC && drains_atomics(s)))
        strand_drain(s);
}

static __attribute__((noinline)) void
data_slow(struct strand *s, uint64_t addr, access_site at,
          enum request_kind kind)
{
    if (s->runs.sharing)
        sharing_access(s, addr, at, kind);
    else
        access_slow(s, &s->data, addr, at, kind);
}

/*
 * Makes an access as access_slow() does, quicker: for a lone strand and an
 * access of one line, which is not the most recent of its set, on a page whose
 * used bit is set. It calls nothing but as its last act, or it would save
 * registers each time.
 */
static inline __attribute__((always_inline)) void
data_quick(struct strand *s, uint64_t addr, access_site at,
           enum request_kind kind, uint32_t cell)
{
    const uint64_t line = addr & s->data.line_mask;

    if (__builtin_expect(addr - line > site_room(at) || !s->data.turns ||
                             !runs_alone(s) || !data_page_known(s, addr),
                         0)) {
        data_slow(s, addr, at, kind);
        return;
    }

    const uint64_t offset = addr >> s->data.offset_shift & s->data.offset_mask;
    uint64_t *first = (uint64_t *)((char *)s->data.line + offset);
    uint64_t *second = (uint64_t *)((char *)s->data.second + offset);
    *first &= ~LINE_WAITS;
    if (__builtin_expect(*first == line, 0))
        return;
    const uint64_t pushed =
        turn_or_push(s, first, second, line, addr,
                     request_rest(cell, site_instruction(at), kind, 0));
    if (kind == REQUEST_LOAD &&
        __builtin_expect(s->runs.store_filter | s->runs.marks, 0))
        filter_put(&s->store, line,
                   pushed | s->runs.marks ? NO_LINE
                                          : filter_line(&s->store, line));
    if (__builtin_expect(s->queue.next >= s->queue.end, 0))
        strand_drain(s);
}

/* Makes an access whose cell may be on the frame of the stack. */
static __attribute__((noinline)) void
data_of_callers(struct strand *s, uint64_t addr, access_site at,
                enum request_kind kind)
{
    data_quick(s, addr, at, kind, cell_of_access(s, addr));
}

void
strand_load_slow(struct strand *s, uint64_t addr, access_site at)
{
    if (__builtin_expect(s->callers != NULL, 0))
        data_of_callers(s, addr, at, REQUEST_LOAD);
    else
        data_quick(s, addr, at, REQUEST_LOAD, s->cell);
}

/* Drains the queue before and after the load, so that the misses between the
 * two are the load's. */
void
strand_bulk_slow(struct strand *s, uint64_t addr, access_site at)
{
#define LOAD_MISSES(level) , SIGNAL_##level##_LOAD_MISSES
    static const enum signal_id all[] = {
        SIGNAL_L1D_LOAD_MISSES,
        SIGNAL_L2_LOAD_MISSES,
        SIGNAL_L3_LOAD_MISSES EACH_LEVEL(LOAD_MISSES),
    };
    enum { COUNT = sizeof(all) / sizeof(*all) };
    static_assert(SIGNAL_BULK_L4_MISSES == SIGNAL_BULK_L1D_MISSES + 3,
                  "in this order");
    uint64_t before[COUNT];

    strand_drain(s);
    for (size_t i = 0; i < COUNT; i++)
        before[i] = s->total[all[i]];
    data_slow(s, addr, at, REQUEST_LOAD);
    strand_drain(s);
    for (size_t i = 0; i < COUNT; i++)
        s->total[SIGNAL_BULK_L1D_MISSES + i] += s->total[all[i]] - before[i];
    strand_charge_data(s, site_instruction(at), addr);
}

static void
prefetch_near(struct strand *s, uint64_t addr, unsigned instruction)
{
    uint64_t *second = &s->data.second[addr >> s->data.shift & s->data.mask];
    const uint64_t line = addr & s->data.line_mask;

    s->total[SIGNAL_NEAR_PREFETCHES]++;
    strand_charge_data(s, instruction, addr);
    if (s->runs.sharing) {
        sharing_prefetch(s, addr, REQUEST_NEAR, instruction);
        return;
    }
    if (known_line(&s->data, line) == line)
        return;
    data_push(s, second, addr, REQUEST_NEAR, instruction);
    *second = NO_LINE;
    filter_put(&s->data, line, line | LINE_WAITS);
    filter_put(&s->store, line, NO_LINE);
}

static void
prefetch_far(struct strand *s, uint64_t addr, unsigned instruction)
{
    if (s->runs.sharing) {
        sharing_prefetch(s, addr, REQUEST_FAR, instruction);
    } else {
        queue_push(s, addr, REQUEST_FAR, instruction);
        filter_put(&s->store, addr, NO_LINE);
    }
    s->total[SIGNAL_FAR_PREFETCHES]++;
    strand_charge_data(s, instruction, addr);
}

void
strand_prefetch(struct strand *s, uint64_t addr, bool near,
                unsigned instruction)
{
    /* No program has memory there: a difference went below 0. */
    if (!s->chip->prefetches || addr >> 62 != 0)
        return;
    if (near)
        prefetch_near(s, addr, instruction);
    else if (s->chip->components & COMPONENT_L2)
        prefetch_far(s, addr, instruction);
    if (s->queue.next >= s->queue.end)
        strand_drain(s);
}

void
strand_store_slow(struct strand *s, uint64_t addr, access_site at)
{
    if (__builtin_expect(s->callers != NULL, 0))
        data_of_callers(s, addr, at, REQUEST_STORE);
    else
        data_quick(s, addr, at, REQUEST_STORE, s->cell);
}

/* Queues the store that makes the most recent line of its set dirty. */
static inline void
mark_first(struct strand *s, uint64_t addr, unsigned instruction)
{
    const uint64_t line = addr & s->data.line_mask;
    uint64_t *second = &s->data.second[addr >> s->data.shift & s->data.mask];

    queue_turned(s, addr, REQUEST_STORE, instruction, *second & SECOND_TURNED);
    *second &= ~SECOND_TURNED;
    filter_put(&s->data, line, line);
    filter_put(&s->store, line, line);
}

/*
 * Stores to one line of an L1D that writes back. The store goes to the queue
 * although its line may be the first of its set: the line becomes dirty.
 */
static void
mark_line(struct strand *s, uint64_t addr, unsigned instruction)
{
    const uint64_t line = addr & s->data.line_mask;

    touch_data_page(s, addr, REQUEST_STORE, instruction);
    if (known_line(&s->store, line) == line) {
        filter_put(&s->store, line, line);
        return;
    }
    if (known_line(&s->data, line) == line) {
        mark_first(s, addr, instruction);
        return;
    }
    data_push(s, &s->data.second[line >> s->data.shift & s->data.mask], addr,
              REQUEST_STORE, instruction);
    filter_put(&s->data, line, line);
    filter_put(&s->store, line, line);
}

/* Stores to the one or two lines of an access. An atomic reads each line before
 * it marks the line. */
static __attribute__((noinline)) void
marks_slow(struct strand *s, uint64_t addr, access_site at, bool atomic)
{
    const uint64_t size = (uint64_t)1 << s->data.shift;
    const bool two = (addr & (size - 1)) > site_room(at);

    s->total[SIGNAL_SPLIT_ACCESSES] += two;
    strand_charge_signal(s, site_instruction(at), addr, SIGNAL_SPLIT_ACCESSES,
                         two);
    for (unsigned i = 0; i <= two; i++) {
        if (atomic)
            access_line(s, &s->data, addr, REQUEST_LOAD, site_instruction(at));
        mark_line(s, addr, site_instruction(at));
        addr = (addr & ~(size - 1)) + size;
    }
    if (s->queue.next >= s->queue.end || (atomic && drains_atomics(s)))
        strand_drain(s);
}

/* Makes a store as marks_slow() does, of one line. */
static __attribute__((noinline)) void
marks_one(struct strand *s, uint64_t addr, access_site at)
{
    mark_line(s, addr, site_instruction(at));
    if (s->queue.next >= s->queue.end)
        strand_drain(s);
}

/* Makes a store as marks_slow() does, quicker: of one line, which is the most
 * recent of its set and not known to be dirty, on a page that is known. */
static inline void
marks_quick(struct strand *s, uint64_t addr, access_site at)
{
    const uint64_t line = addr & s->data.line_mask;

    if (__builtin_expect(addr - line > site_room(at), 0)) {
        marks_slow(s, addr, at, false);
        return;
    }
    if (!data_page_known(s, addr) || known_line(&s->data, line) != line ||
        known_line(&s->store, line) == line) {
        marks_one(s, addr, at);
        return;
    }
    mark_first(s, addr, site_instruction(at));
    if (__builtin_expect(s->queue.next >= s->queue.end, 0))
        strand_drain(s);
}

static __attribute__((noinline)) void
through_slow(struct strand *s, uint64_t addr, access_site at)
{
    if (s->runs.sharing)
        sharing_access(s, addr, at, REQUEST_STORE);
    else
        access_slow(s, &s->store, addr, at, REQUEST_THROUGH);
}

/* Makes a store as through_slow() does, quicker: of one line, on a page that is
 * known. */
static inline void
through_quick(struct strand *s, uint64_t addr, access_site at)
{
    const uint64_t line = addr & s->store.line_mask;

    if (__builtin_expect(addr - line > site_room(at), 0) ||
        !data_page_known(s, addr) || !s->runs.store_filter) {
        through_slow(s, addr, at);
        return;
    }
    if (known_line(&s->store, line) != line)
        queue_push(s, addr, REQUEST_THROUGH, site_instruction(at));
    filter_put(&s->store, line, line);
    if (__builtin_expect(s->queue.next >= s->queue.end, 0))
        strand_drain(s);
}

void
strand_through_slow(struct strand *s, uint64_t addr, access_site at)
{
    if (s->runs.marks)
        marks_quick(s, addr, at);
    else
        through_quick(s, addr, at);
}

void
strand_float_slow(struct strand *s, uint64_t addr, access_site at)
{
    access_slow(s, &s->store, addr, at, REQUEST_FLOAT);
}

void
strand_atomic_slow(struct strand *s, uint64_t addr, access_site at)
{
    if (__builtin_expect(s->runs.marks, 0)) {
        marks_slow(s, addr, at, true);
        return;
    }
    if (s->runs.sharing) {
        sharing_access(s, addr, at, REQUEST_ATOMIC);
        return;
    }
    if (s->chip->sharing != NULL) {
        strand_load(s, addr, at);
        return;
    }
    access_slow(s, &s->store, addr, at, REQUEST_ATOMIC);
}
