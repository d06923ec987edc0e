/* SPDX-License-Identifier: MIT */
#include "machine/memory.h"

#include "machine/cache_dirty.h"

#define AHEAD 8 /* requests whose sets are fetched from the host's memory */

static_assert(REQUEST_WRITE_BACK <= REQUEST_MASK, "fits a request's kind");

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
        struct cache_driven driven;
        if (store || kind == REQUEST_LOAD) {
            if (queue[i] & REQUEST_TURN)
                cache_turn(l1d, line & l1d->set_mask);
            if (cache_touch(l1d, line, store, &driven))
                continue;
            total[store ? SIGNAL_L1D_STORE_MISSES : SIGNAL_L1D_LOAD_MISSES]++;
            if (driven.line != CACHE_NOTHING) {
                total[SIGNAL_L1D_WRITEBACKS]++;
                out[kept++] =
                    driven.line << l1d->line_shift | REQUEST_WRITE_BACK;
            }
        }
        out[kept++] = queue[i] & ~REQUEST_TURN;
    }
    return kept;
}

unsigned
memory_bank(const struct chip *chip, uint64_t addr)
{
    return (unsigned)(addr >> chip->bank_shift & chip->bank_mask);
}

static void
write_memory(struct strand *s, uint64_t addr)
{
    s->total[SIGNAL_MEMORY_WRITES_0 + memory_bank(s->chip, addr)]++;
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
    struct cache_driven driven;

    if (chip->parts & PART_L3) {
        if (cache_touch(&chip->l3, addr >> chip->l3.line_shift, false, &driven))
            return;
        s->total[queue_l3_signal[kind]]++;
        if (driven.line != CACHE_NOTHING) {
            s->total[SIGNAL_L3_WRITEBACKS]++;
            write_memory(s, driven.line << chip->l3.line_shift);
        }
    }
    s->total[SIGNAL_MEMORY_READS_0 + memory_bank(chip, addr)]++;
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
        struct cache_driven driven;
        if (i + AHEAD < count)
            cache_prefetch(l2,
                           request_addr(queue[i + AHEAD]) >> l2->line_shift);
        if (kind == REQUEST_WRITE_BACK) {
            write_l2(s, addr);
            continue;
        }
        if (cache_touch(l2, addr >> l2->line_shift, WRITES >> kind & 1,
                        &driven))
            continue;
        s->total[queue_l2_signal[kind]]++;
        if (driven.line != CACHE_NOTHING) {
            s->total[SIGNAL_L2_WRITEBACKS]++;
            write_l3(s, driven.line << l2->line_shift);
        }
        s->total[SIGNAL_L2_CLEAN_EVICTIONS] += driven.clean;
        ask_memory(s, addr, kind);
    }
}
