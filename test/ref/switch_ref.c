/* SPDX-License-Identifier: MIT */
#include "ref/switch_ref.h"

#include <stdlib.h>
#include <string.h>

enum what { MISS, HINT, END };

/* What a thread does next: it runs, and then this happens. */
struct step {
    uint64_t run;
    enum what what;
};

struct thread {
    struct step *steps;
    size_t next;
    bool here, over, waits;
    uint64_t back;    /* its line comes */
    uint64_t retired; /* its last instruction */
    int urgency;
};

struct core {
    const struct switch_times *times;
    const struct switch_load *loads;
    struct switch_counts *counts;
    struct thread threads[2];
    int owner;
    uint64_t ready, owned;
};

/* Hints among events, then cycles among pieces, as evenly as whole numbers
 * allow: what has come by the i-th is the floor of its share. */
static struct step *
make_steps(const struct switch_load *l, uint64_t probe)
{
    const uint64_t events = l->misses + l->hints;
    struct step *steps = calloc(events + 1, sizeof(*steps));
    uint64_t ran = 0, hinted = 0;

    for (uint64_t i = 0; i <= events; i++) {
        const uint64_t until = l->run * (i + 1) / (events + 1);
        steps[i] = (struct step){until - ran, END};
        ran = until;
        if (i == events)
            break;
        const bool hint = l->hints * (i + 1) / events > hinted;
        hinted += hint;
        steps[i].what = hint ? HINT : MISS;
        steps[i].run += hint ? 0 : probe;
    }
    return steps;
}

static void
change(struct core *c, uint64_t now, uint64_t stall)
{
    struct switch_counts *counts = &c->counts[c->owner];

    counts->cycles += c->times->change;
    for (unsigned n = 0; n < SWITCH_STALLS; n++)
        counts->stalls[n] += stall >= (uint64_t)4 << n;
    c->owner = !c->owner;
    c->ready = now + c->times->change;
    c->owned = now;
}

static void
compare(struct core *c, uint64_t now, uint64_t stall)
{
    const struct thread *mine = &c->threads[c->owner];
    const struct thread *other = &c->threads[!c->owner];

    if (!other->here)
        return;
    if (mine->urgency >= other->urgency || now < c->ready) {
        c->counts[c->owner].missed++;
        if (mine->urgency < other->urgency) {
            c->counts[c->owner].gated++;
            c->counts[c->owner].gated_cycles += c->ready - now;
        }
        return;
    }
    c->counts[c->owner].by_l3++;
    change(c, now, stall);
}

static uint64_t
stall_of(const struct core *c, uint64_t now)
{
    const struct thread *mine = &c->threads[c->owner];

    return mine->waits ? now - mine->retired : 0;
}

static bool
births(struct core *c, uint64_t now)
{
    bool any = false;

    for (int t = 0; t < 2; t++) {
        struct thread *thread = &c->threads[t];
        if (thread->here || thread->over || c->loads[t].start > now)
            continue;
        thread->here = any = true;
        if (!c->threads[!t].here) {
            c->owner = t;
            c->ready = c->owned = now;
        }
    }
    return any;
}

static bool
returns(struct core *c, uint64_t now)
{
    bool any = false;

    for (int t = 0; t < 2; t++) {
        struct thread *thread = &c->threads[t];
        if (!thread->waits || thread->back > now)
            continue;
        const uint64_t stall = stall_of(c, now);
        thread->waits = false;
        any = true;
        if (thread->urgency < 5)
            thread->urgency++;
        compare(c, now, stall);
    }
    return any;
}

static bool
runs(const struct core *c, uint64_t now)
{
    const struct thread *mine = &c->threads[c->owner];

    return mine->here && !mine->waits && now >= c->ready;
}

static bool
happens(struct core *c, uint64_t now)
{
    struct thread *mine = &c->threads[c->owner];
    const bool both = mine->here && c->threads[!c->owner].here;

    if (!runs(c, now) || mine->steps[mine->next].run != 0)
        return false;
    switch (mine->steps[mine->next++].what) {
    case END:
        mine->here = false;
        mine->over = true;
        c->counts[c->owner].by_halt += both;
        break;
    case HINT:
        c->counts[c->owner].by_hint += both;
        break;
    case MISS:
        mine->retired = now - c->times->probe;
        mine->waits = true;
        mine->back = now + c->times->memory;
        if (mine->urgency > 0)
            mine->urgency--;
        compare(c, now, c->times->probe);
        return true;
    }
    if (both)
        change(c, now, 0);
    return true;
}

static bool
times_out(struct core *c, uint64_t now)
{
    struct thread *mine = &c->threads[c->owner];

    if (c->times->quantum == 0 || !mine->here || !c->threads[!c->owner].here ||
        now <= c->ready || now - c->owned < c->times->quantum)
        return false;
    const uint64_t stall = stall_of(c, now);
    if (stall == 0)
        mine->urgency = 7;
    c->counts[c->owner].by_timer++;
    change(c, now, stall);
    return true;
}

void
switch_ref_run(const struct switch_times *times,
               const struct switch_load loads[2],
               struct switch_counts counts[2])
{
    struct core c = {.times = times, .loads = loads, .counts = counts};

    memset(counts, 0, 2 * sizeof(*counts));
    for (int t = 0; t < 2; t++)
        c.threads[t] = (struct thread){
            .steps = make_steps(&loads[t], times->probe),
            .urgency = 5,
        };
    for (uint64_t now = 0; !c.threads[0].over || !c.threads[1].over; now++) {
        bool any = true;
        while (any) {
            any = births(&c, now);
            any |= returns(&c, now);
            any |= happens(&c, now) || times_out(&c, now);
        }
        struct thread *mine = &c.threads[c.owner];
        if (runs(&c, now))
            mine->steps[mine->next].run--;
    }
    free(c.threads[0].steps);
    free(c.threads[1].steps);
}
