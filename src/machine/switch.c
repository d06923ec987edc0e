/* SPDX-License-Identifier: MIT */
#include "machine/switch.h"

#include <string.h>

#define NEVER UINT64_MAX

void
switch_init(struct switch_core *core)
{
    *core = (struct switch_core){
        .urgency = {SWITCH_NOMINAL, SWITCH_NOMINAL},
        .present = {true, true},
    };
}

static enum switch_outcome
yield_if(struct switch_core *core, bool lower)
{
    if (!core->present[core->front ^ 1])
        return SWITCH_ALONE;
    if (!lower)
        return SWITCH_KEPT;
    core->front ^= 1;
    return SWITCH_TAKEN;
}

/* At each event of the L3 the less urgent thread yields. */
static enum switch_outcome
compare(struct switch_core *core)
{
    const unsigned front = core->front;

    return yield_if(core, core->urgency[front] < core->urgency[front ^ 1]);
}

enum switch_outcome
switch_miss(struct switch_core *core)
{
    uint8_t *urgency = &core->urgency[core->front];

    *urgency = (uint8_t)(*urgency - (*urgency > 0));
    return compare(core);
}

enum switch_outcome
switch_return(struct switch_core *core, unsigned thread)
{
    uint8_t *urgency = &core->urgency[thread];

    *urgency = (uint8_t)(*urgency + (*urgency < SWITCH_NOMINAL));
    return compare(core);
}

enum switch_outcome
switch_timeout(struct switch_core *core, bool stalled)
{
    if (!stalled && core->present[core->front ^ 1])
        core->urgency[core->front] = SWITCH_TIMED_OUT;
    return yield_if(core, true);
}

enum switch_outcome
switch_hint(struct switch_core *core)
{
    return yield_if(core, true);
}

enum switch_outcome
switch_halt(struct switch_core *core)
{
    core->present[core->front] = false;
    return yield_if(core, true);
}

void
switch_interrupt(struct switch_core *core, unsigned thread)
{
    if (thread != core->front)
        core->urgency[thread] = SWITCH_INTERRUPTED;
}

/* A thread under way. */
struct job {
    const struct switch_load *load;
    uint64_t pieces; /* of what it runs, between events, begun so far */
    uint64_t left;   /* cycles of the piece */
    uint64_t until;  /* its line is there; NEVER: it waits for none */
    uint64_t since;  /* it has waited */
    bool over;
};

struct schedule {
    const struct switch_times *times;
    struct switch_counts *counts;
    struct switch_core core;
    struct job jobs[2];
    uint64_t now;
    uint64_t ready; /* the one in front runs from then on */
    uint64_t taken; /* and owns the core since */
};

/* Returns the part of `all` that stands before piece `i` of `of`. */
static uint64_t
before(uint64_t all, uint64_t i, uint64_t of)
{
    return (uint64_t)((unsigned __int128)all * i / of);
}

static uint64_t
events_of(const struct switch_load *load)
{
    return load->misses + load->hints;
}

/* Returns whether the event behind piece i is a hint. */
static bool
is_hint(const struct switch_load *load, uint64_t i)
{
    const uint64_t all = events_of(load);

    return before(load->hints, i + 1, all) != before(load->hints, i, all);
}

static void
next_piece(const struct schedule *s, struct job *job)
{
    const struct switch_load *load = job->load;
    const uint64_t all = events_of(load), i = job->pieces++;

    job->left =
        before(load->run, i + 1, all + 1) - before(load->run, i, all + 1);
    if (i < all && !is_hint(load, i))
        job->left += s->times->probe;
}

static struct job *
front(struct schedule *s)
{
    return &s->jobs[s->core.front];
}

/* Cycles for which the thread in front has retired nothing. */
static uint64_t
stalled(struct schedule *s)
{
    const struct job *job = front(s);

    return job->until != NEVER ? s->now - job->since : 0;
}

/* The thread `from` has lost the core to the other. */
static void
count_switch(struct schedule *s, unsigned from, uint64_t stall)
{
    struct switch_counts *c = &s->counts[from];

    c->cycles += s->times->change;
    for (unsigned n = 0; n < SWITCH_STALLS && stall >= UINT64_C(4) << n; n++)
        c->stalls[n]++;
    s->ready = s->now + s->times->change;
    s->taken = s->now;
}

/* An event of the L3. While a switch is under way no other begins. */
static void
count_l3(struct schedule *s, unsigned from, enum switch_outcome outcome,
         uint64_t stall)
{
    if (outcome == SWITCH_TAKEN && s->now < s->ready) {
        s->core.front = (uint8_t)from;
        outcome = SWITCH_KEPT;
        s->counts[from].gated++;
        s->counts[from].gated_cycles += s->ready - s->now;
    }
    s->counts[from].missed += outcome == SWITCH_KEPT;
    s->counts[from].by_l3 += outcome == SWITCH_TAKEN;
    if (outcome == SWITCH_TAKEN)
        count_switch(s, from, stall);
}

static void
come_back(struct schedule *s, unsigned thread)
{
    const unsigned from = s->core.front;
    const uint64_t stall = stalled(s);

    s->jobs[thread].until = NEVER;
    count_l3(s, from, switch_return(&s->core, thread), stall);
}

/* The thread in front has run its piece. */
static void
end_piece(struct schedule *s)
{
    const unsigned from = s->core.front;
    struct job *job = front(s);
    const uint64_t i = job->pieces - 1;

    if (i == events_of(job->load)) {
        job->over = true;
        if (switch_halt(&s->core) == SWITCH_TAKEN) {
            s->counts[from].by_halt++;
            count_switch(s, from, 0);
        }
        return;
    }
    next_piece(s, job);
    if (is_hint(job->load, i)) {
        if (switch_hint(&s->core) == SWITCH_TAKEN) {
            s->counts[from].by_hint++;
            count_switch(s, from, 0);
        }
        return;
    }
    job->since = s->now - s->times->probe;
    job->until = s->now + s->times->memory;
    count_l3(s, from, switch_miss(&s->core), s->times->probe);
}

static void
time_out(struct schedule *s)
{
    const unsigned from = s->core.front;
    const uint64_t stall = stalled(s);

    switch_timeout(&s->core, stall != 0);
    s->counts[from].by_timer++;
    count_switch(s, from, stall);
}

/* A thread comes to an empty core without a switch. */
static void
arrive(struct schedule *s, unsigned thread)
{
    s->core.present[thread] = true;
    if (s->core.present[thread ^ 1])
        return;
    s->core.front = (uint8_t)thread;
    s->ready = s->taken = s->now;
}

static bool
is_to_come(const struct schedule *s, unsigned thread)
{
    return !s->core.present[thread] && !s->jobs[thread].over;
}

static uint64_t
least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* From when on the thread in front runs; NEVER: it waits, or there is none. */
static uint64_t
runs_from(struct schedule *s)
{
    const struct job *job = front(s);

    if (!s->core.present[s->core.front] || job->until != NEVER)
        return NEVER;
    return s->now > s->ready ? s->now : s->ready;
}

/* Not before the thread has run for a cycle: none would ever end. */
static uint64_t
quantum_ends(const struct schedule *s)
{
    const uint64_t end = s->taken + s->times->quantum;

    if (s->times->quantum == 0 || !s->core.present[0] || !s->core.present[1])
        return NEVER;
    return end > s->ready ? end : s->ready + 1;
}

static uint64_t
next_time(struct schedule *s)
{
    const uint64_t from = runs_from(s);
    uint64_t time = from != NEVER ? from + front(s)->left : NEVER;

    for (unsigned t = 0; t < 2; t++) {
        time = least(time, s->jobs[t].until);
        if (is_to_come(s, t))
            time = least(time, s->jobs[t].load->start);
    }
    time = least(time, quantum_ends(s));
    return time < s->now ? s->now : time;
}

/* What happens now, in this order: threads come, lines come, the thread in
 * front is at the end of its piece, its quantum is over. */
static void
happen(struct schedule *s)
{
    for (unsigned t = 0; t < 2; t++) {
        if (is_to_come(s, t) && s->jobs[t].load->start <= s->now)
            arrive(s, t);
    }
    for (unsigned t = 0; t < 2; t++) {
        if (s->jobs[t].until <= s->now)
            come_back(s, t);
    }
    if (runs_from(s) == s->now && front(s)->left == 0)
        end_piece(s);
    else if (quantum_ends(s) <= s->now)
        time_out(s);
}

void
switch_run(const struct switch_times *times, const struct switch_load loads[2],
           struct switch_counts counts[2])
{
    struct schedule s = {.times = times, .counts = counts};

    memset(counts, 0, 2 * sizeof(*counts));
    switch_init(&s.core);
    for (unsigned t = 0; t < 2; t++) {
        s.core.present[t] = false;
        s.jobs[t] = (struct job){.load = &loads[t], .until = NEVER};
        next_piece(&s, &s.jobs[t]);
    }
    while (!s.jobs[0].over || !s.jobs[1].over) {
        const uint64_t from = runs_from(&s), time = next_time(&s);
        if (from != NEVER && time > from)
            front(&s)->left -= time - from;
        s.now = time;
        happen(&s);
    }
}
