/* SPDX-License-Identifier: MIT */
/*
 * Each core has a time of its own, up to which its jobs have been moved on, and
 * the time at which next something happens to one of them: cores meet only
 * where a thread is made or waits in line. So an event costs what its core has
 * strands, and all cost what there are threads: 4096 on 4096 strands take 6 ms.
 * The twin, test/ref/pipeline_ref.c, asks every thread at each event.
 */
#include "machine/pipeline.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/error.h"
#include "table/table.h"

#define NONE UINT32_MAX
#define STRANDS_MAX 4096u

enum job_state { JOB_UNBORN, JOB_QUEUED, JOB_RUNS, JOB_OVER };

struct job {
    enum job_state state;
    uint32_t pipe;
    uint32_t child, sibling; /* the next to be born, the maker's next */
    uint32_t behind;         /* the next that waits for its strand */
    uint32_t awaited; /* the child that has yet to have a strand, or NONE */
    double share;     /* of all cycles, alone */
    double speed;     /* own cycles in one cycle */
    double done, wait, idle;
};

struct pipe {
    double left; /* of its slots, to those who want more than their part */
    double used; /* of them, by all */
    unsigned hungry;
};

struct core {
    uint32_t *running; /* [running_count] jobs */
    uint32_t running_count;
    struct pipe *pipes;
    double since; /* when its jobs were what they are */
    double next;  /* when something happens to one, or INFINITY */
    double idle;  /* of all cycles, those in which nothing of it issues */
    bool touched; /* its jobs are to be settled and to share anew */
};

struct schedule {
    struct pipeline_thread *threads;
    struct job *jobs;
    struct pipe *pipes;
    struct core *cores;
    uint32_t *running; /* of all cores */
    uint32_t *touched; /* [touched_count] cores */
    size_t count, core_count, touched_count;
    uint32_t core_pipes; /* of each core */
    double now;
    uint32_t first[STRANDS_MAX]; /* the thread that has the strand, or NONE */
    uint32_t last[STRANDS_MAX];  /* of those that wait for it */
};

static uint32_t
pipe_of(const uint64_t *params, uint32_t strand)
{
    const uint64_t strands = params[PARAM_STRANDS];
    const uint64_t pipes = params[PARAM_PIPELINES];

    return (uint32_t)(strand / strands * pipes +
                      strand % strands * pipes / strands);
}

static bool
is_held(const struct job *job)
{
    return job->awaited != NONE;
}

/* Returns what the strand will have done when something next happens to it. */
static double
mark_of(const struct schedule *s, const struct job *job)
{
    const double end = (double)s->threads[job - s->jobs].cycles;

    if (job->child == NONE)
        return end;
    const double born = (double)s->threads[job->child].born;
    return born < end ? born : end;
}

/* When it will have done that. */
static double
time_of(const struct schedule *s, const struct core *core,
        const struct job *job)
{
    return core->since + (mark_of(s, job) - job->done) / job->speed;
}

/* Moves its jobs on to the present. */
static void
bring(struct schedule *s, struct core *core)
{
    const double time = s->now - core->since;

    for (uint32_t k = 0; time > 0 && k < core->running_count; k++) {
        struct job *job = &s->jobs[core->running[k]];
        if (is_held(job))
            continue;
        /* To the mark itself, whatever rounding would make of it. */
        const bool comes = time_of(s, core, job) <= s->now;
        job->done = comes ? mark_of(s, job) : job->done + time * job->speed;
        job->wait += time * (1 - job->speed);
        job->idle += time * core->idle;
    }
    core->since = s->now;
}

/* Before something about a job of it changes. */
static struct core *
touch(struct schedule *s, const struct job *job)
{
    struct core *core = &s->cores[job->pipe / s->core_pipes];

    bring(s, core);
    if (!core->touched)
        s->touched[s->touched_count++] = (uint32_t)(core - s->cores);
    core->touched = true;
    return core;
}

static void
run_job(struct schedule *s, uint32_t i)
{
    struct core *core = touch(s, &s->jobs[i]);

    s->jobs[i].state = JOB_RUNS;
    core->running[core->running_count++] = i;
}

/* Stops a job until `child` has a strand. */
static void
hold(struct schedule *s, uint32_t i, uint32_t child)
{
    touch(s, &s->jobs[i]);
    s->jobs[i].awaited = child;
}

static void
let_go(struct schedule *s, uint32_t i)
{
    hold(s, i, NONE);
}

/* Its maker has come to where it made it. */
static void
bear(struct schedule *s, uint32_t i)
{
    const uint32_t strand = s->threads[i].strand % STRANDS_MAX;
    const uint32_t maker = s->threads[i].maker;

    if (s->first[strand] == NONE) {
        s->first[strand] = s->last[strand] = i;
        run_job(s, i);
        return;
    }
    s->jobs[i].state = JOB_QUEUED;
    s->jobs[s->last[strand]].behind = i;
    s->last[strand] = i;
    if (maker != PIPELINE_NO_MAKER &&
        s->threads[maker].strand % STRANDS_MAX != strand)
        hold(s, maker, i);
}

/* The next in line gets the strand of a job that is over. */
static void
pass_strand(struct schedule *s, uint32_t i)
{
    const uint32_t strand = s->threads[i].strand % STRANDS_MAX;
    const uint32_t next = s->jobs[i].behind;

    s->first[strand] = next;
    if (next == NONE)
        return;
    const uint32_t maker = s->threads[next].maker;
    if (maker != PIPELINE_NO_MAKER && s->jobs[maker].awaited == next)
        let_go(s, maker);
    run_job(s, next);
}

/* Births and ends that are due on a core; whether there was any. */
static bool
settle(struct schedule *s, struct core *core)
{
    bool any = false;

    for (uint32_t k = 0; k < core->running_count;) {
        const uint32_t i = core->running[k];
        struct job *job = &s->jobs[i];
        if (is_held(job) || job->done < mark_of(s, job)) {
            k++;
            continue;
        }
        any = true;
        if (job->child != NONE) {
            const uint32_t child = job->child;
            job->child = s->jobs[child].sibling;
            bear(s, child);
            continue;
        }
        job->state = JOB_OVER;
        core->running[k] = core->running[--core->running_count];
        pass_strand(s, i);
    }
    return any;
}

static void
ask(struct schedule *s, struct core *core)
{
    for (uint32_t p = 0; p < s->core_pipes; p++)
        core->pipes[p] = (struct pipe){.left = 1};
    for (uint32_t k = 0; k < core->running_count; k++) {
        struct job *job = &s->jobs[core->running[k]];
        job->speed = 0;
        s->pipes[job->pipe].hungry += !is_held(job);
    }
}

/* Who wants no more than an equal part of what is left has it; the others then
 * have more. */
static void
satisfy(struct schedule *s, const struct core *core)
{
    for (bool any = true; any;) {
        any = false;
        for (uint32_t k = 0; k < core->running_count; k++) {
            struct job *job = &s->jobs[core->running[k]];
            struct pipe *pipe = &s->pipes[job->pipe];
            if (is_held(job) || job->speed > 0 ||
                job->share * pipe->hungry > pipe->left)
                continue;
            job->speed = 1;
            pipe->left -= job->share;
            pipe->hungry--;
            any = true;
        }
    }
}

static void
share(struct schedule *s, struct core *core)
{
    ask(s, core);
    satisfy(s, core);
    core->next = INFINITY;
    for (uint32_t k = 0; k < core->running_count; k++) {
        struct job *job = &s->jobs[core->running[k]];
        struct pipe *pipe = &s->pipes[job->pipe];
        if (is_held(job))
            continue;
        if (job->speed <= 0)
            job->speed = pipe->left / pipe->hungry / job->share;
        pipe->used += job->share * job->speed;
        const double time = time_of(s, core, job);
        core->next = time < core->next ? time : core->next;
    }
    core->idle = 1;
    for (uint32_t p = 0; p < s->core_pipes; p++)
        core->idle *= core->pipes[p].used < 1 ? 1 - core->pipes[p].used : 0;
}

/* All that is due now, on the cores that were touched and those that this
 * touches; then they share. */
static void
settle_all(struct schedule *s)
{
    for (bool any = true; any;) {
        any = false;
        for (size_t i = 0; i < s->touched_count; i++)
            any |= settle(s, &s->cores[s->touched[i]]);
    }
    for (size_t i = 0; i < s->touched_count; i++) {
        struct core *core = &s->cores[s->touched[i]];
        share(s, core);
        core->touched = false;
    }
    s->touched_count = 0;
}

/* All that run are held: each by a job in line behind it. They go on. */
static bool
release(struct schedule *s)
{
    bool any = false;

    for (size_t c = 0; c < s->core_count; c++) {
        const struct core *core = &s->cores[c];
        for (uint32_t k = 0; k < core->running_count; k++) {
            any |= is_held(&s->jobs[core->running[k]]);
            let_go(s, core->running[k]);
        }
    }
    return any;
}

/* Lets time pass until something happens; false: nothing will. */
static bool
advance(struct schedule *s)
{
    double least = INFINITY;

    for (size_t c = 0; c < s->core_count; c++)
        least = s->cores[c].next < least ? s->cores[c].next : least;
    if (isinf(least))
        return release(s);
    s->now = least;
    for (size_t c = 0; c < s->core_count; c++) {
        if (s->cores[c].next <= least)
            touch(s, &s->jobs[s->cores[c].running[0]]);
    }
    return true;
}

static void
init_job(struct schedule *s, const uint64_t *params, uint32_t i)
{
    const struct pipeline_thread *t = &s->threads[i];

    s->jobs[i] = (struct job){
        .pipe = pipe_of(params, t->strand),
        .child = NONE,
        .sibling = NONE,
        .behind = NONE,
        .awaited = NONE,
        .share = t->cycles > 0 ? (double)t->issue / (double)t->cycles : 0,
    };
}

static void
run(struct schedule *s, const uint64_t *params)
{
    for (size_t i = 0; i < STRANDS_MAX; i++)
        s->first[i] = s->last[i] = NONE;
    for (size_t i = 0; i < s->count; i++)
        init_job(s, params, (uint32_t)i);
    /* From the last, so that each maker's children are in order. */
    for (size_t i = s->count; i-- > 0;) {
        const uint32_t maker = s->threads[i].maker;
        if (maker == PIPELINE_NO_MAKER)
            continue;
        s->jobs[i].sibling = s->jobs[maker].child;
        s->jobs[maker].child = (uint32_t)i;
    }
    for (size_t i = 0; i < s->count; i++) {
        if (s->threads[i].maker == PIPELINE_NO_MAKER)
            bear(s, (uint32_t)i);
    }
    do
        settle_all(s);
    while (advance(s));
    for (size_t i = 0; i < s->count; i++) {
        s->threads[i].wait = (uint64_t)(s->jobs[i].wait + 0.5);
        s->threads[i].idle = (uint64_t)(s->jobs[i].idle + 0.5);
    }
}

/* The memory of all cores, and where in it each begins. */
static bool
init_cores(struct schedule *s, const uint64_t *params)
{
    const size_t strands = params[PARAM_STRANDS];

    s->core_count = params[PARAM_NODES] * params[PARAM_CORES];
    s->core_pipes = (uint32_t)params[PARAM_PIPELINES];
    s->jobs = calloc(s->count, sizeof(*s->jobs));
    s->pipes = calloc(s->core_count * s->core_pipes, sizeof(*s->pipes));
    s->cores = calloc(s->core_count, sizeof(*s->cores));
    s->running = calloc(s->core_count * strands, sizeof(*s->running));
    s->touched = calloc(s->core_count, sizeof(*s->touched));
    if (s->jobs == NULL || s->pipes == NULL || s->cores == NULL ||
        s->running == NULL || s->touched == NULL)
        return false;
    for (size_t c = 0; c < s->core_count; c++) {
        s->cores[c].running = s->running + c * strands;
        s->cores[c].pipes = s->pipes + c * s->core_pipes;
        s->cores[c].next = INFINITY;
    }
    return true;
}

int
pipeline_share(const uint64_t *params, struct pipeline_thread *threads,
               size_t count)
{
    struct schedule *s = calloc(1, sizeof(*s));
    int error = TALLY_ENOMEM;

    if (s == NULL)
        return error;
    s->threads = threads;
    s->count = count;
    if (init_cores(s, params)) {
        run(s, params);
        error = 0;
    }
    free(s->jobs);
    free(s->pipes);
    free(s->cores);
    free(s->running);
    free(s->touched);
    free(s);
    return error;
}
