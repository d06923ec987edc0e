/* SPDX-License-Identifier: MIT */
#include "machine/coherence_bus_lone.h"

#include "machine/ahead.h"
#include "machine/coherence_bus_own.h"
#include "machine/fills.h"
#include "machine/mesi_avx2.h"
#include "machine/strand.h"

/* Of an entry behind the L2: a line that has to leave it, modified. */
#define BACK REQUEST_TURN /* bit 63 */

/* Likewise: the L2 has the line, but who reads it may wait for what is out. */
#define HIT REQUEST_LOOKUP /* bit 62 */

/* Entries from which on count_hits() is quicker than count_each(). */
#define MANY 32u

#define ENTRIES (2 * (QUEUE_LENGTH + QUEUE_SLACK))

static uint64_t
addr_of(uint64_t entry)
{
    return entry & ~(BACK | HIT | REQUEST_MASK);
}

static void
fetch(struct strand *s, uint64_t entry)
{
    if (s->chip->ahead != 0)
        ahead_fetch(s, entry);
    else
        bus_code(s, request_addr(entry), REQUEST_FETCH);
}

/* Of an atomic there is no more than what it waits for. */
static void
hit_l2(struct strand *s, uint64_t entry)
{
    const unsigned kind = entry & REQUEST_MASK;

    if (kind == REQUEST_ATOMIC)
        fills_atomic(s, addr_of(entry), true);
    else
        bus_read_hit(s, addr_of(entry), kind);
}

/* `gone`: the word that left an L3 that lacks it. */
static void
ask_l3(struct strand *s, uint64_t entry, bool hit, uint64_t gone)
{
    const unsigned kind = entry & REQUEST_MASK;
    const uint64_t addr = addr_of(entry);

    if (kind == REQUEST_ATOMIC)
        fills_atomic(s, addr, false);
    bus_ask(s, addr, kind, hit);
    if (!hit) {
        bus_read(s, addr, kind);
        bus_drive_out(s, gone);
    }
}

/* What the L2 leaves to do, in order. */
struct behind {
    size_t kept, asked, missed;
    size_t done;              /* of the entries, counted */
    uint16_t asks[ENTRIES];   /* [asked] the entries of the L3 */
    uint16_t misses[ENTRIES]; /* [missed] those of them that it lacks, not */
    uint64_t gone[ENTRIES];   /* yet counted, and what left it for each */
    uint64_t entries[ENTRIES];
};

static void
count_each(struct strand *s, const struct behind *q, size_t end)
{
    unsigned fills = 0; /* before the last request of the L3 */
    size_t missed = 0;

    for (size_t i = q->done; i < end; i++) {
        const uint64_t entry = q->entries[i];
        const bool lacks = missed < q->missed && q->misses[missed] == i;

        if (entry & BACK) {
            s->bus->fills.victims += s->bus->fills.count > fills;
            if (lacks)
                bus_write_past(s,
                               addr_of(entry) >> s->core->bus->l3.line_shift);
        } else if (entry & HIT) {
            hit_l2(s, entry);
        } else {
            fills = s->bus->fills.count;
            ask_l3(s, entry, !lacks, q->gone[missed]);
        }
        missed += lacks;
    }
}

/* Likewise, where the L3 has all and nothing is out in memory: nothing waits,
 * and no branch depends on what an entry is. */
static void
count_hits(struct strand *s, const struct behind *q, size_t end)
{
    uint64_t n[4][REQUEST_MASK + 1] = {0}; /* by BACK and HIT, and by kind */
    uint64_t waits = 0;

    for (size_t i = q->done; i < end; i++)
        n[q->entries[i] >> 62][q->entries[i] & REQUEST_MASK]++;
    for (unsigned kind = 0; kind <= REQUEST_MASK; kind++) {
        s->total[queue_l2_signal[kind]] += n[0][kind];
        waits += BUS_GO_ON >> kind & 1 ? 0 : n[0][kind];
    }
    s->total[SIGNAL_L3_BYPASSES] += n[0][REQUEST_LOAD] + n[0][REQUEST_FLOAT];
    s->total[SIGNAL_L2D_BYPASSES] += n[1][REQUEST_LOAD];
    if (s->chip->ahead != 0 && waits != 0)
        ahead_settle(s, AHEAD_L3);
}

static void
count_until(struct strand *s, struct behind *q, size_t end)
{
    if (q->missed == 0 && s->bus->fills.out == 0 && s->bus->fills.left == 0 &&
        end - q->done >= MANY)
        count_hits(s, q, end);
    else
        count_each(s, q, end);
    q->missed = 0;
}

#define LONE_TARGET
#define LONE_TOUCH mesi_touch
#define LONE_EITHER mesi_touch_or_mark
#define LONE_NAME lone_any
#include "machine/coherence_bus_lone.inc"

#ifdef __x86_64__
#define LONE_TARGET CACHE_AVX2
#define LONE_TOUCH mesi_touch_avx2
#define LONE_EITHER mesi_touch_or_mark_avx2
#define LONE_NAME lone_avx2
#include "machine/coherence_bus_lone.inc"
#endif

void
bus_lone(struct strand *s, const uint64_t *queue, size_t count)
{
#ifdef __x86_64__
    if (cache_avx2_runs()) {
        lone_avx2(s, queue, count);
        return;
    }
#endif
    lone_any(s, queue, count);
}
