/* SPDX-License-Identifier: MIT */
#include "machine/memory.h"

#define AHEAD 8 /* requests whose sets are fetched from the host's memory */

static_assert(REQUEST_WRITE_BACK <= REQUEST_MASK, "fits a request's kind");

/* What an access drove out: the line, dirty; or NO_LINE. */
struct driven {
    uint64_t line;
};

/* The bits of a set whose line at `place` has become the first. */
static inline uint32_t
moved_first(uint32_t bits, uint32_t place, uint32_t first)
{
    const uint32_t before = bits & ((1u << place) - 1);
    const uint32_t behind = bits & ~((2u << place) - 1);

    return behind | before << 1 | first;
}

static inline __attribute__((always_inline)) bool
touch_columns(struct cache *c, uint64_t line, bool write, uint32_t columns,
              struct driven *driven)
{
    const uint64_t set = line & c->set_mask;
    const uint32_t tag = cache_tag(c, line);
    const uint32_t bits = c->dirty[set];
    uint32_t *tags = c->tags + set * columns;
    const uint32_t last = tags[c->ways - 1];
    uint32_t place;

    if (tags[0] == tag) {
        c->dirty[set] = (uint16_t)(bits | write);
        return true;
    }
    const bool hit = cache_move(tags, tag, columns, c->ways, 0, &place);
    const bool was = bits >> place & 1;
    c->dirty[set] =
        (uint16_t)moved_first(bits, place, (hit && was) || write ? 1 : 0);
    if (!hit && was)
        driven->line = (uint64_t)(last - 1) << c->tag_shift | set;
    return hit;
}

static bool
touch_list(struct cache *c, uint64_t line, bool write, struct driven *driven)
{
    uint64_t *set = c->lines + (line & c->set_mask) * c->ways;
    const uint32_t place = cache_search(c, line);
    const bool hit = place < c->ways;
    const uint32_t moved = hit ? place : c->ways - 1;
    const uint64_t gone = set[moved];

    memmove(set + 1, set, moved * sizeof(*set));
    set[0] = line << 1 | 1 | (write ? CACHE_DIRTY : 0);
    if (hit)
        set[0] |= gone & CACHE_DIRTY;
    else if (gone & CACHE_DIRTY)
        driven->line = (gone & ~CACHE_DIRTY) >> 1;
    return hit;
}

/*
 * cache_access() that keeps which lines are dirty, and says which dirty line a
 * miss drove out.
 */
static inline bool
touch(struct cache *c, uint64_t line, bool write, struct driven *driven)
{
    driven->line = NO_LINE;
    if (__builtin_expect(!cache_fits(c, line), 0))
        cache_widen(c);
    switch (c->columns) {
    case 4:
        return touch_columns(c, line, write, 4, driven);
    case 8:
        return touch_columns(c, line, write, 8, driven);
    case 16:
        return touch_columns(c, line, write, 16, driven);
    default:
        return touch_list(c, line, write, driven);
    }
}

size_t
memory_l1d(struct strand *s, const uint64_t *queue, size_t count, uint64_t *out)
{
    struct cache *l1d = &s->core->l1d;
    uint64_t *total = s->total;
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        const unsigned kind = queue[i] & REQUEST_MASK;
        const uint64_t line = request_addr(queue[i]) >> l1d->line_shift;
        const bool store = kind == REQUEST_STORE;
        struct driven driven;
        if (store || kind == REQUEST_LOAD) {
            if (queue[i] & REQUEST_TURN)
                cache_turn(l1d, line & l1d->set_mask);
            if (touch(l1d, line, store, &driven))
                continue;
            total[store ? SIGNAL_L1D_STORE_MISSES : SIGNAL_L1D_LOAD_MISSES]++;
            if (driven.line != NO_LINE) {
                total[SIGNAL_L1D_WRITEBACKS]++;
                out[kept++] =
                    driven.line << l1d->line_shift | REQUEST_WRITE_BACK;
            }
        }
        out[kept++] = queue[i] & ~REQUEST_TURN;
    }
    return kept;
}

static unsigned
bank_of(const struct chip *chip, uint64_t addr)
{
    return (unsigned)(addr >> chip->bank_shift & chip->bank_mask);
}

static void
write_memory(struct strand *s, uint64_t addr)
{
    s->total[SIGNAL_MEMORY_WRITES_0 + bank_of(s->chip, addr)]++;
}

static void
write_l3(struct strand *s, uint64_t addr)
{
    struct chip *chip = s->chip;

    if ((chip->parts & PART_L3) == 0 ||
        !cache_mark(&chip->l3, addr >> chip->l3.line_shift))
        write_memory(s, addr);
}

static void
write_l2(struct strand *s, uint64_t addr)
{
    struct cache *l2 = s->l2;

    if (!cache_mark(l2, addr >> l2->line_shift))
        write_l3(s, addr);
}

/* A request that the L2 did not serve. */
static void
ask_memory(struct strand *s, uint64_t addr, unsigned kind)
{
    struct chip *chip = s->chip;
    struct driven driven;

    if (chip->parts & PART_L3) {
        if (touch(&chip->l3, addr >> chip->l3.line_shift, false, &driven))
            return;
        s->total[queue_l3_signal[kind]]++;
        if (driven.line != NO_LINE) {
            s->total[SIGNAL_L3_WRITEBACKS]++;
            write_memory(s, driven.line << chip->l3.line_shift);
        }
    }
    s->total[SIGNAL_MEMORY_READS_0 + bank_of(chip, addr)]++;
}

/* What goes through the L1 makes the L2's line dirty. */
#define WRITES (1u << REQUEST_THROUGH | 1u << REQUEST_ATOMIC)

void
memory_shared(struct strand *s, const uint64_t *queue, size_t count)
{
    struct cache *l2 = s->l2;

    for (size_t i = 0; i < count; i++) {
        const uint64_t addr = request_addr(queue[i]);
        const unsigned kind = queue[i] & REQUEST_MASK;
        struct driven driven;
        if (i + AHEAD < count)
            cache_prefetch(l2,
                           request_addr(queue[i + AHEAD]) >> l2->line_shift);
        if (kind == REQUEST_WRITE_BACK) {
            write_l2(s, addr);
            continue;
        }
        if (touch(l2, addr >> l2->line_shift, WRITES >> kind & 1, &driven))
            continue;
        s->total[queue_l2_signal[kind]]++;
        if (driven.line != NO_LINE) {
            s->total[SIGNAL_L2_WRITEBACKS]++;
            write_l3(s, driven.line << l2->line_shift);
        }
        ask_memory(s, addr, kind);
    }
}
