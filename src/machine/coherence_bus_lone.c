/* SPDX-License-Identifier: MIT */
#include "machine/coherence_bus_lone.h"

#include "machine/ahead.h"
#include "machine/coherence_bus_own.h"
#include "machine/fills.h"
#include "machine/mesi_avx2.h"
#include "machine/recorder.h"
#include "machine/strand.h"

/* Entries from which on count_hits() is quicker than count_each(). */
#define MANY 32u

#define ENTRIES (2 * (QUEUE_LENGTH + QUEUE_SLACK))

static void
fetch(struct strand *s, const struct request *r)
{
    if (s->chip->ahead != 0)
        ahead_fetch(s, r);
    else
        bus_code(s, r->addr, REQUEST_FETCH);
}

/* Counts a request that the L2 serves. An atomic only waits for the reads that
 * are under way. */
static void
hit_l2(struct strand *s, const struct request *r)
{
    if (r->kind == REQUEST_ATOMIC)
        fills_atomic(s, r->addr, true);
    else
        bus_read_hit(s, r->addr, r->kind);
}

/* `gone`: the word that left an L3 that lacks it. */
static void
ask_l3(struct strand *s, const struct request *r, bool hit, uint64_t gone)
{
    if (r->kind == REQUEST_ATOMIC)
        fills_atomic(s, r->addr, false);
    bus_ask(s, r->addr, r->kind, hit);
    if (!hit) {
        bus_read(s, r->addr, r->kind);
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
    struct request entries[ENTRIES];
    uint64_t addr[ENTRIES]; /* of a recording: where the access was, or the
                               access that drove a line out */
};

/* Returns the request whose instruction an entry is charged to. */
static struct request
asked(const struct behind *q, size_t i)
{
    struct request r = q->entries[i];

    r.addr = q->addr[i];
    if (r.kind == REQUEST_WRITE_BACK)
        r.kind = q->entries[i - 1].kind; /* that drove it out */
    return r;
}

/* Charges what the L2 for data has counted. */
static void
charge_l2d(struct strand *s, const struct behind *q)
{
    for (size_t i = 0; i < q->kept; i++) {
        const struct request *entry = &q->entries[i];
        const bool code =
            entry->kind == REQUEST_FETCH && s->core->bus->l2i.words != NULL;
        if (code || entry->flags & REQUEST_HIT)
            continue;
        const struct request r = asked(q, i);
        recorder_charge_one(
            s, &r,
            entry->kind == REQUEST_WRITE_BACK ? SIGNAL_L2_WRITEBACKS
            : BUS_WRITES >> entry->kind & 1   ? SIGNAL_L2D_FILLS_MODIFIED
                                              : SIGNAL_L2D_FILLS_EXCLUSIVE,
            1);
    }
}

/* Charges the instruction of an entry with what the entry has just raised. */
static void
charge_entry(struct strand *s, const struct behind *q, size_t i)
{
    const struct request r = asked(q, i);

    recorder_charge_request(s, &r);
}

static void
count_each(struct strand *s, const struct behind *q, size_t end)
{
    unsigned fills = 0; /* before the last request of the L3 */
    size_t missed = 0;

    for (size_t i = q->done; i < end; i++) {
        const struct request *r = &q->entries[i];
        const bool lacks = missed < q->missed && q->misses[missed] == i;

        if (r->kind == REQUEST_WRITE_BACK) {
            s->bus->fills.victims += s->bus->fills.count > fills;
            if (lacks)
                bus_write_past(s, r->addr >> s->core->bus->l3.line_shift);
        } else if (r->flags & REQUEST_HIT) {
            hit_l2(s, r);
        } else {
            fills = s->bus->fills.count;
            ask_l3(s, r, !lacks, q->gone[missed]);
        }
        missed += lacks;
        if (s->recorder != NULL)
            charge_entry(s, q, i);
    }
}

/* Charges what count_hits() has counted. */
static void
charge_hits(struct strand *s, const struct behind *q, size_t end)
{
    for (size_t i = q->done; i < end; i++) {
        const unsigned kind = q->entries[i].kind;
        if (kind == REQUEST_WRITE_BACK)
            continue;
        const struct request r = asked(q, i);
        const bool load = kind == REQUEST_LOAD || kind == REQUEST_FLOAT;
        if ((r.flags & REQUEST_HIT) == 0)
            recorder_charge_one(s, &r, queue_l2_signal[kind], 1);
        if ((r.flags & REQUEST_HIT) == 0 && load)
            recorder_charge_one(s, &r, SIGNAL_L3_BYPASSES, 1);
        else if (kind == REQUEST_LOAD)
            recorder_charge_one(s, &r, SIGNAL_L2D_BYPASSES, 1);
    }
}

/* Counts the entries where the L3 has all lines and no read of memory is under
 * way: no request waits, and no branch depends on what an entry is. */
static void
count_hits(struct strand *s, const struct behind *q, size_t end)
{
    uint64_t misses[REQUEST_KINDS] = {0}, hits[REQUEST_KINDS] = {0};
    uint64_t waits = 0;

    for (size_t i = q->done; i < end; i++) {
        const struct request *r = &q->entries[i];
        (r->flags & REQUEST_HIT ? hits : misses)[r->kind]++;
    }
    for (unsigned kind = 0; kind < REQUEST_WRITE_BACK; kind++) {
        s->total[queue_l2_signal[kind]] += misses[kind];
        waits += BUS_GO_ON >> kind & 1 ? 0 : misses[kind];
    }
    s->total[SIGNAL_L3_BYPASSES] +=
        misses[REQUEST_LOAD] + misses[REQUEST_FLOAT];
    s->total[SIGNAL_L2D_BYPASSES] += hits[REQUEST_LOAD];
    if (s->recorder != NULL)
        charge_hits(s, q, end);
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
bus_lone(struct strand *s, const struct request *queue, size_t count)
{
#ifdef __x86_64__
    if (cache_avx2_runs()) {
        lone_avx2(s, queue, count);
        return;
    }
#endif
    lone_any(s, queue, count);
}
