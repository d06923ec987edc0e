/* SPDX-License-Identifier: MIT */
#include "ref/pipeline_ref.h"

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
    bool held;               /* until its child has a strand */
    double share;            /* of all cycles, alone */
    double speed;            /* own cycles in one cycle */
    double done, wait, idle;
};

struct pipe {
    double left; /* of its slots, to those who want more than their part */
    double used; /* of them, by all */
    unsigned hungry;
};

struct schedule {
    struct pipeline_thread *threads;
    struct job *jobs;
    struct pipe *pipes;
    uint32_t *running;
    size_t count, running_count;
    uint32_t core_pipes;         /* of each core */
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

static void
run_job(struct schedule *s, uint32_t i)
{
    s->jobs[i].state = JOB_RUNS;
    s->running[s->running_count++] = i;
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
        s->jobs[maker].held = true;
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
    if (s->threads[next].maker != PIPELINE_NO_MAKER)
        s->jobs[s->threads[next].maker].held = false;
    run_job(s, next);
}

/* What it will have done when next something happens to it. */
static double
mark_of(const struct schedule *s, const struct job *job)
{
    const double end = (double)s->threads[job - s->jobs].cycles;

    if (job->child == NONE)
        return end;
    const double born = (double)s->threads[job->child].born;
    return born < end ? born : end;
}

/* Births and ends that are due; whether there was any. */
static bool
settle(struct schedule *s)
{
    bool any = false;

    for (size_t k = 0; k < s->running_count;) {
        const uint32_t i = s->running[k];
        struct job *job = &s->jobs[i];
        if (job->held || job->done < mark_of(s, job)) {
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
        s->running[k] = s->running[--s->running_count];
        pass_strand(s, i);
    }
    return any;
}

/* All that run are held: each by a job in line behind it. They go on. */
static bool
release(struct schedule *s)
{
    bool any = false;

    for (size_t k = 0; k < s->running_count; k++) {
        any |= s->jobs[s->running[k]].held;
        s->jobs[s->running[k]].held = false;
    }
    return any;
}

/* The first pipeline of its core. */
static struct pipe *
core_of(const struct schedule *s, const struct job *job)
{
    return &s->pipes[job->pipe - job->pipe % s->core_pipes];
}

static void
ask(struct schedule *s)
{
    for (size_t k = 0; k < s->running_count; k++) {
        struct job *job = &s->jobs[s->running[k]];
        struct pipe *core = core_of(s, job);
        for (uint32_t p = 0; p < s->core_pipes; p++)
            core[p] = (struct pipe){.left = 1};
        job->speed = 0;
    }
    for (size_t k = 0; k < s->running_count; k++) {
        const struct job *job = &s->jobs[s->running[k]];
        s->pipes[job->pipe].hungry += !job->held;
    }
}

/* Who wants no more than an equal part of what is left has it; the others then
 * have more. */
static void
share(struct schedule *s)
{
    bool any = true;

    ask(s);
    while (any) {
        any = false;
        for (size_t k = 0; k < s->running_count; k++) {
            struct job *job = &s->jobs[s->running[k]];
            struct pipe *pipe = &s->pipes[job->pipe];
            if (job->held || job->speed > 0 ||
                job->share * pipe->hungry > pipe->left)
                continue;
            job->speed = 1;
            pipe->left -= job->share;
            pipe->hungry--;
            any = true;
        }
    }
    for (size_t k = 0; k < s->running_count; k++) {
        struct job *job = &s->jobs[s->running[k]];
        struct pipe *pipe = &s->pipes[job->pipe];
        if (!job->held && job->speed <= 0)
            job->speed = pipe->left / pipe->hungry / job->share;
        pipe->used += job->share * job->speed;
    }
}

/* Of all cycles, those in which nothing of the job's core issues. */
static double
idle_share(const struct schedule *s, const struct job *job)
{
    const struct pipe *core = core_of(s, job);
    double idle = 1;

    for (uint32_t p = 0; p < s->core_pipes; p++)
        idle *= core[p].used < 1 ? 1 - core[p].used : 0;
    return idle;
}

/* Lets time pass until something happens; false: nothing will. */
static bool
advance(struct schedule *s)
{
    double least = INFINITY;

    share(s);
    for (size_t k = 0; k < s->running_count; k++) {
        const struct job *job = &s->jobs[s->running[k]];
        if (job->held)
            continue;
        const double time = (mark_of(s, job) - job->done) / job->speed;
        least = time < least ? time : least;
    }
    if (isinf(least))
        return release(s);
    for (size_t k = 0; k < s->running_count; k++) {
        struct job *job = &s->jobs[s->running[k]];
        if (job->held)
            continue;
        /* To the mark itself, whatever rounding would make of it. */
        const double mark = mark_of(s, job);
        const bool comes = (mark - job->done) / job->speed <= least;
        job->done = comes ? mark : job->done + least * job->speed;
        job->wait += least * (1 - job->speed);
        job->idle += least * idle_share(s, job);
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
    do {
        while (settle(s))
            ;
    } while (advance(s));
    for (size_t i = 0; i < s->count; i++) {
        s->threads[i].wait = (uint64_t)(s->jobs[i].wait + 0.5);
        s->threads[i].idle = (uint64_t)(s->jobs[i].idle + 0.5);
    }
}

int
pipeline_ref_share(const uint64_t *params, struct pipeline_thread *threads,
                   size_t count)
{
    const size_t pipes =
        params[PARAM_NODES] * params[PARAM_CORES] * params[PARAM_PIPELINES];
    struct schedule *s = calloc(1, sizeof(*s));
    int error = TALLY_ENOMEM;

    if (s != NULL) {
        s->threads = threads;
        s->count = count;
        s->core_pipes = (uint32_t)params[PARAM_PIPELINES];
        s->jobs = calloc(count, sizeof(*s->jobs));
        s->running = calloc(count, sizeof(*s->running));
        s->pipes = calloc(pipes, sizeof(*s->pipes));
        if (s->jobs != NULL && s->running != NULL && s->pipes != NULL) {
            run(s, params);
            error = 0;
        }
        free(s->jobs);
        free(s->running);
        free(s->pipes);
    }
    free(s);
    return error;
}
