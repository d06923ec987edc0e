/* SPDX-License-Identifier: MIT */
/*
 * Plays the whole machine through, from one happening to the next: at each it
 * asks of every thread what holds it, and deals every pipeline out anew.
 * Nothing is remembered between two happenings but how far each thread has
 * come.
 */
#include "ref/pipeline_ref.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/error.h"
#include "table/table.h"

enum phase { TO_COME, RUNS, CALLS, OVER };

struct life {
    const struct pipeline_thread *thread;
    uint32_t core, pipeline; /* of the machine */
    enum phase phase;
    size_t turn;     /* its number among the threads that were called, from 1 */
    size_t child;    /* the next that it makes; [count]: no more */
    long double own; /* cycles done, of its own */
    long double time;       /* cycles that this took */
    long double idle;       /* of them, without an issue on its core */
    long double part, pace; /* of the pipeline; own cycles a cycle */
};

struct world {
    struct life *lives;
    size_t count;
    size_t turns; /* that were given */
};

static size_t
next_child(const struct world *w, size_t maker, size_t after)
{
    size_t i = after + 1;

    while (i < w->count && w->lives[i].thread->maker != maker)
        i++;
    return i;
}

static void
be_born(struct world *w, const uint64_t *params,
        const struct pipeline_thread *threads)
{
    const uint32_t strands = (uint32_t)params[PARAM_STRANDS];
    const uint32_t pipelines = (uint32_t)params[PARAM_PIPELINES];

    for (size_t i = 0; i < w->count; i++) {
        w->lives[i] = (struct life){
            .thread = &threads[i],
            .core = threads[i].strand / strands,
            .pipeline = threads[i].strand / (strands / pipelines),
        };
    }
    for (size_t i = 0; i < w->count; i++) {
        w->lives[i].child = next_child(w, i, i);
        if (threads[i].maker == PIPELINE_NO_MAKER)
            w->lives[i].turn = ++w->turns;
    }
}

/* Returns whether the strand of thread i, which was called, is free for it: all
 * that were called to the strand before are over. */
static bool
has_strand(const struct world *w, size_t i)
{
    const struct life *l = &w->lives[i];

    for (size_t k = 0; k < w->count; k++) {
        const struct life *other = &w->lives[k];
        if (other->thread->strand == l->thread->strand && other->turn != 0 &&
            other->turn < l->turn && other->phase != OVER)
            return false;
    }
    return true;
}

/* Its own cycles until something happens to it: it makes a thread, or ends. */
static long double
goal(const struct world *w, const struct life *l)
{
    const uint64_t end = l->thread->cycles;
    const uint64_t born =
        l->child < w->count ? w->lives[l->child].thread->born : end;

    return (long double)(born < end ? born : end);
}

/* Turns from the thread that it has made to the next. */
static void
go_on(struct world *w, size_t i)
{
    w->lives[i].child = next_child(w, i, w->lives[i].child);
    w->lives[i].phase = RUNS;
}

/* Makes the next thread, and waits for it unless it is in line behind i. */
static void
make(struct world *w, size_t i)
{
    struct life *l = &w->lives[i];

    w->lives[l->child].turn = ++w->turns;
    if (w->lives[l->child].thread->strand == l->thread->strand)
        go_on(w, i);
    else
        l->phase = CALLS;
}

/* Takes the step that is due for a thread. False: none is. */
static bool
step(struct world *w, size_t i)
{
    struct life *l = &w->lives[i];

    switch (l->phase) {
    case TO_COME:
        if (l->turn == 0 || !has_strand(w, i))
            return false;
        l->phase = RUNS;
        return true;
    case RUNS:
        if (l->own < goal(w, l))
            return false;
        if (l->child < w->count)
            make(w, i);
        else
            l->phase = OVER;
        return true;
    case CALLS:
        if (w->lives[l->child].phase == TO_COME)
            return false;
        go_on(w, i);
        return true;
    case OVER:
        return false;
    }
    return false;
}

/* Nobody runs: each that makes a thread waits for others that wait. All of them
 * go on. */
static bool
untie(struct world *w)
{
    bool any = false;

    for (size_t i = 0; i < w->count; i++) {
        if (w->lives[i].phase == RUNS)
            return false;
    }
    for (size_t i = 0; i < w->count; i++) {
        any |= w->lives[i].phase == CALLS;
        if (w->lives[i].phase == CALLS)
            go_on(w, i);
    }
    return any;
}

static void
settle(struct world *w)
{
    bool moved;

    do {
        moved = false;
        for (size_t i = 0; i < w->count; i++)
            moved |= step(w, i);
    } while (moved || untie(w));
}

static long double
wish(const struct life *l)
{
    return (long double)l->thread->issue / (long double)l->thread->cycles;
}

/* The water level: at it, or at its wish where that is less, each thread of the
 * pipeline has its part, and the parts fill the pipeline. Found by raising it
 * from one wish to the next. Above 1: all have what they wish. */
static long double
level_of(const struct world *w, uint32_t pipeline)
{
    long double level = 0, filled = 0;

    for (;;) {
        long double next = 2;
        unsigned thirsty = 0;
        for (size_t i = 0; i < w->count; i++) {
            const struct life *l = &w->lives[i];
            if (l->phase != RUNS || l->pipeline != pipeline || wish(l) <= level)
                continue;
            thirsty++;
            next = wish(l) < next ? wish(l) : next;
        }
        if (thirsty == 0)
            return 2;
        if (filled + thirsty * (next - level) >= 1)
            return level + (1 - filled) / thirsty;
        filled += thirsty * (next - level);
        level = next;
    }
}

static void
deal(struct world *w)
{
    for (size_t i = 0; i < w->count; i++) {
        struct life *l = &w->lives[i];
        if (l->phase != RUNS)
            continue;
        const long double level = level_of(w, l->pipeline);
        l->part = wish(l) < level ? wish(l) : level;
        l->pace = wish(l) > 0 ? l->part / wish(l) : 1;
    }
}

/* The part of the time in which no pipeline of a core issues. */
static long double
idle_of(const struct world *w, uint32_t core)
{
    long double idle = 1;

    for (size_t i = 0; i < w->count; i++) {
        const struct life *first = &w->lives[i];
        long double left = 1;
        bool seen = first->phase != RUNS || first->core != core;
        for (size_t k = 0; k < w->count && !seen; k++) {
            const struct life *l = &w->lives[k];
            if (l->phase != RUNS || l->pipeline != first->pipeline)
                continue;
            seen = k < i;
            left -= l->part;
        }
        if (!seen)
            idle *= left > 0 ? left : 0;
    }
    return idle;
}

/* Lets time pass until the next happening. False: there is none. */
static bool
pass(struct world *w)
{
    long double time = -1;

    for (size_t i = 0; i < w->count; i++) {
        const struct life *l = &w->lives[i];
        if (l->phase != RUNS)
            continue;
        const long double needs = (goal(w, l) - l->own) / l->pace;
        if (time < 0 || needs < time)
            time = needs;
    }
    for (size_t i = 0; i < w->count; i++) {
        struct life *l = &w->lives[i];
        if (l->phase != RUNS)
            continue;
        const long double needs = (goal(w, l) - l->own) / l->pace;
        l->own = needs <= time ? goal(w, l) : l->own + time * l->pace;
        l->time += time;
        l->idle += time * idle_of(w, l->core);
    }
    return time >= 0;
}

int
pipeline_ref_share(const uint64_t *params, struct pipeline_thread *threads,
                   size_t count)
{
    struct world w = {calloc(count, sizeof(*w.lives)), count, 0};

    if (w.lives == NULL)
        return TALLY_ENOMEM;
    be_born(&w, params, threads);
    do {
        settle(&w);
        deal(&w);
    } while (pass(&w));
    for (size_t i = 0; i < count; i++) {
        const struct life *l = &w.lives[i];
        threads[i].wait =
            (uint64_t)(l->time - (long double)l->thread->cycles + 0.5L);
        threads[i].idle = (uint64_t)(l->idle + 0.5L);
    }
    free(w.lives);
    return 0;
}
