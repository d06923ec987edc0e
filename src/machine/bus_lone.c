/* SPDX-License-Identifier: MIT */
#include "machine/bus_lone.h"

#include "machine/ahead.h"
#include "machine/bus_own.h"
#include "machine/fills.h"
#include "machine/mesi_avx2.h"
#include "machine/strand.h"

/* Of an entry behind the L2: a line that has to leave it, modified. */
#define BACK REQUEST_TURN

/* Likewise: the L2 has the line, but who reads it may wait for what is out. */
#define HIT REQUEST_LOOKUP

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

/* Behind a request of the L3: it drives a modified line out of the L2. */
static void
write_back(struct strand *s, uint64_t entry, unsigned fills)
{
    s->fills.victims += s->fills.count > fills;
    bus_write_back(s, addr_of(entry) >> s->core->bus.l2d.line_shift);
}

#define LONE_TARGET
#define LONE_TOUCH mesi_touch
#define LONE_NAME lone_any
#include "machine/bus_lone.inc"

#ifdef __x86_64__
#define LONE_TARGET CACHE_AVX2
#define LONE_TOUCH mesi_touch_avx2
#define LONE_NAME lone_avx2
#include "machine/bus_lone.inc"
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
