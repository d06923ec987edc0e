/* SPDX-License-Identifier: MIT */
#include "machine/fetch.h"

#include "machine/ahead.h"
#include "machine/microtag.h"
#include "machine/pages.h"
#include "machine/recorder.h"
#include "machine/turn.h"

/* Puts the order of the L1I's set right that an entry of the filter has turned.
 */
static void
settle(struct strand *s, uint32_t entry)
{
    struct cache *l1i = &s->core->l1i;
    const uint64_t line =
        __atomic_load_n(&s->fetch.line[entry], __ATOMIC_RELAXED);

    if (s->fetch.second[entry] & SECOND_TURNED)
        cache_turn(l1i, line >> l1i->line_shift & l1i->set_mask);
    s->fetch.second[entry] = NO_LINE;
}

void
fetch_settle(struct strand *s)
{
    strand_drain(s);
    for (uint32_t i = 0; i <= s->fetch.mask; i++)
        settle(s, i);
}

/* Looks a line up in the L1I of the core, which other strands may share. After
 * a miss *next says which lines behind the line the L1I has: see ahead.h. */
static bool
fetch_line(struct strand *s, uint64_t addr, uint16_t *next)
{
    struct cache *l1i = &s->core->l1i;
    const uint64_t line = addr >> l1i->line_shift;
    const uint32_t microtag = s->chip->microtag;
    const bool alone = runs_alone(s);

    if (!alone)
        lock_take(&s->core->lock);
    const bool found = microtag != 0 && microtag_found(l1i, line, microtag);
    const bool hit = cache_access(l1i, line);
    *next = hit ? 0 : ahead_next(l1i, line, s->chip->ahead);
    s->total[SIGNAL_L1I_MICROTAG_FINDS] += found & !hit;
    for (struct strand *o = strands_to_void(s); !alone && o; o = o->sibling) {
        if (o != s)
            filter_void(&o->fetch, addr, addr);
    }
    if (!alone)
        lock_give(&s->core->lock);
    return hit;
}

/* Makes the line the first of its set if it is the second; returns whether it
 * was. */
static inline bool
fetch_turn(struct strand *s, uint32_t entry, uint64_t line)
{
    const uint64_t second = s->fetch.second[entry];

    if ((second & ~SECOND_TURNED) != line)
        return false;
    s->fetch.second[entry] = filter_line(&s->fetch, line) |
                             ((second & SECOND_TURNED) ^ SECOND_TURNED);
    filter_put(&s->fetch, line, line);
    return true;
}

/* Makes the line the first of its filter entry; the line before becomes the
 * second if both are of one set. */
static void
fetch_put(struct strand *s, uint32_t entry, uint64_t line)
{
    const uint64_t before = filter_line(&s->fetch, line);
    const uint64_t sets = s->core->l1i.set_mask << s->fetch.shift;

    s->fetch.second[entry] =
        ((before ^ line) & sets) == 0 && before != NO_LINE &&
                s->core->l1i.ways > 1 &&
                s->core->l1i.replacement == L2_REPLACEMENT_LRU && runs_alone(s)
            ? before
            : NO_LINE;
    filter_put(&s->fetch, line, line);
}

/* Looks a line up in the L1I at once. */
static void
fetch_now(struct strand *s, uint32_t entry, uint64_t line)
{
    uint16_t next;

    settle(s, entry);
    const bool hit = fetch_line(s, line, &next);
    fetch_put(s, entry, line);
    if (!hit) {
        s->total[SIGNAL_L1I_MISSES]++;
        queue_push(s, line, REQUEST_FETCH, 0);
        s->queue.next[-1].next = next;
    }
    strand_charge(s, fetch_number(s, line));
}

/* Fetches a line that is neither of the two that the filter holds. */
static inline __attribute__((always_inline)) void
fetch_new(struct strand *s, const struct block *block, uint32_t entry,
          uint64_t line)
{
    touch_code_page(s, line < block->pc ? block->pc : line);
    fetch_now(s, entry, line);
    if (s->runs.fetch_voids)
        filter_put(&s->store, line, NO_LINE);
    if (s->queue.next >= s->queue.end)
        strand_drain(s);
}

static __attribute__((noinline)) void
fetch_all(struct strand *s, const struct block *block)
{
    const uint64_t size = (uint64_t)1 << s->fetch.shift;

    for (uint64_t line = block->pc & ~(size - 1); line < block->end;
         line += size) {
        const uint64_t seen = layout_address(s->chip->layout, line);
        const uint32_t entry =
            (uint32_t)(seen >> s->fetch.shift) & s->fetch.mask;
        if (filter_line(&s->fetch, seen) != seen && !fetch_turn(s, entry, seen))
            fetch_new(s, block, entry, seen);
    }
}

/* Fetches a line for a lone strand, also one that the filter knows. `pages`:
 * the line's page may not be known. */
static inline __attribute__((always_inline)) void
fetch_quick(struct strand *s, uint32_t entry, uint64_t line, bool pages)
{
    if (s->fetch.line[entry] == line)
        return;
    if (pages)
        touch_code_page(s, line);
    const uint64_t pushed = turn_or_push(
        s, &s->fetch.line[entry], &s->fetch.second[entry], line, line,
        request_rest(s->cell, 0, REQUEST_FETCH, REQUEST_LOOKUP));
    if (s->runs.fetch_voids && pushed)
        filter_put(&s->store, line, NO_LINE);
}

/* Fetches the lines of a block from `line` on, for a lone strand. */
static __attribute__((noinline)) void
fetch_rest(struct strand *s, const struct block *b, uint64_t line)
{
    const uint64_t size = (uint64_t)1 << s->fetch.shift;
    const struct layout layout = s->chip->layout;

    for (; line < b->end; line += size) {
        const uint64_t seen = layout_address(layout, line);
        if (__builtin_expect(s->queue.next >= s->queue.end, 0))
            strand_drain(s);
        fetch_quick(s, (uint32_t)(seen >> s->fetch.shift) & s->fetch.mask, seen,
                    true);
    }
    if (__builtin_expect(s->queue.next >= s->queue.end, 0))
        strand_drain(s);
}

/* Returns whether touch_code_page() does nothing for all lines of a block. */
static inline bool
pages_known(const struct strand *s, const struct block *b, uint64_t line)
{
    return !s->runs.itlb ||
           (code_page_known(s, line) && code_page_known(s, b->end - 1) &&
            b->end - line <= (uint64_t)1 << s->pages.code_shift);
}

/* Fetches a block of more than two lines, for a lone strand; calls nothing but
 * as its last act. */
static __attribute__((noinline)) void
fetch_many(struct strand *s, const struct block *b)
{
    const uint64_t size = (uint64_t)1 << s->fetch.shift;
    uint64_t line = b->pc & s->fetch.line_mask;

    if (__builtin_expect(s->chip->layout.lines != 0 || !pages_known(s, b, line),
                         0)) {
        fetch_rest(s, b, line);
        return;
    }
    for (; line < b->end && s->queue.next < s->queue.end; line += size)
        fetch_quick(s, (uint32_t)(line >> s->fetch.shift) & s->fetch.mask, line,
                    false);
    if (__builtin_expect(s->queue.next >= s->queue.end, 0))
        fetch_rest(s, b, line);
}

/* Fetches a block of one line or two, for a lone strand. */
static inline __attribute__((always_inline)) void
fetch_two(struct strand *s, const struct block *b, bool pages)
{
    fetch_quick(s, b->slot0, b->line0, pages);
    fetch_quick(s, b->slot1, b->line1, pages);
    if (__builtin_expect(s->queue.next >= s->queue.end, 0))
        strand_drain(s);
}

static __attribute__((noinline)) void
fetch_two_pages(struct strand *s, const struct block *b)
{
    fetch_two(s, b, true);
}

/* Fetches a block, quicker for a lone strand whose filter holds two lines of
 * each set: as data_quick() in access.c does for data, and it calls nothing but
 * as its last act either. */
void
strand_fetch_slow(struct strand *s, const struct block *b)
{
    if (__builtin_expect(!s->fetch.turns || !runs_alone(s), 0)) {
        fetch_all(s, b);
        return;
    }
    if (b->line1 == MANY_LINES) {
        fetch_many(s, b);
        return;
    }
    if (__builtin_expect(
            !code_page_known(s, b->line0) || !code_page_known(s, b->line1), 0))
        fetch_two_pages(s, b);
    else
        fetch_two(s, b, false);
}
