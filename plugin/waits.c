/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/waits.h"

#include <stdlib.h>
#include <string.h>

#include "plugin/data_objects.h"
#include "plugin/plugin.h"
#include "table/signals.h"

#define NS_PER_S 1000000000u

/* What a row is of: all members of struct record_wait but its sums. */
#define ROW_WORDS 6u

static const struct wait_place nowhere = {NO_THREAD, RECORD_UNKNOWN, 0, 0};

static struct waits *
waits_of(void)
{
    return &tally_plugin.recording.waits;
}

/* Returns what is known of a thread that lives; NULL: it is not recorded. */
static struct wait_thread *
thread_of(unsigned vcpu)
{
    const struct plugin *const p = &tally_plugin;

    if (waits_of()->process == NULL || vcpu >= COUNTS_STRANDS ||
        p->counts[vcpu] == NULL || p->counts[vcpu] == p->spare)
        return NULL;
    return &waits_of()->threads[vcpu];
}

/* Returns the thread's own modelled cycles. */
static uint64_t
own_cycles(unsigned vcpu)
{
    const struct plugin *const p = &tally_plugin;
    struct totals sum;

    if (p->strands[vcpu] != NULL)
        strand_drain(p->strands[vcpu]);
    counts_sum_all(&p->process, p->counts[vcpu], &sum);
    signals_derive(p->request.params, p->request.components, sum.signal);
    return sum.signal[SIGNAL_CYCLES];
}

/* Returns where a thread is, and when. */
static struct wait_place
place_of(unsigned vcpu)
{
    struct plugin *const p = &tally_plugin;
    const struct wait_thread *const t = thread_of(vcpu);
    struct wait_place place = nowhere;

    if (t == NULL)
        return waits_of()->process != NULL && vcpu < COUNTS_STRANDS
                   ? waits_of()->threads[vcpu].ended
                   : nowhere;
    struct strand *const s = p->strands[vcpu];
    struct callers *const c = s != NULL ? s->callers : NULL;
    place.thread = p->counts[vcpu]->thread;
    place.clock = t->waited + own_cycles(vcpu);
    place.call = data_objects_path(&p->recording.objects, c);
    if (c != NULL && c->last != NULL)
        place.place = record_reason_place(block_number(c->last), 0);
    return place;
}

/* Counts a wait of `time` cycles. */
static void
count_wait(struct record_wait like, uint64_t time)
{
    struct waits *const w = waits_of();
    const uint64_t key[ROW_WORDS] = {
        (uint64_t)like.kind << 32 | like.object,      like.word,
        (uint64_t)like.thread << 32 | like.call,      like.place,
        (uint64_t)like.waker << 32 | like.waker_call, like.waker_place,
    };
    const size_t known = w->rows.count;
    const uint32_t row = known < RECORD_WAITS ? numbering_add(&w->rows, key)
                                              : numbering_find(&w->rows, key);

    if (row == NUMBERING_NONE) {
        atomic_store(&w->process->waits_lost, 1);
        return;
    }
    struct record_wait *const to = &w->process->waits[row];
    if (row == known) {
        *to = like;
        atomic_store(&w->process->wait_count, row + 1);
    }
    /* In this order: a reader never sees a longest wait of more than all. */
    to->time += time;
    if (time > to->longest)
        to->longest = time;
    to->count++;
}

/* Counts a wait of the thread at `at`, whose clock goes on to `end`. */
static void
end_wait(struct wait_thread *t, const struct wait_place *at,
         const struct wait_place *waker, enum record_wait_kind kind,
         uint64_t word, uint64_t end)
{
    const uint64_t time = end > at->clock ? end - at->clock : 0;

    t->waited += time;
    count_wait(
        (struct record_wait){
            .kind = kind,
            .object = word != 0 ? data_objects_find(
                                      &tally_plugin.recording.objects, word)
                                : 0,
            .word = word,
            .thread = at->thread,
            .call = at->call,
            .place = at->place,
            .waker = waker->thread,
            .waker_call = waker->call,
            .waker_place = waker->place,
        },
        time);
}

/* The functions of struct schedule_watch */

/* Notes a thread that begins, which has counted nothing yet. */
static void
begin_thread(struct wait_thread *t, struct record_begin begin)
{
    struct record_process *const process = waits_of()->process;
    const unsigned count = atomic_load(&process->begin_count);

    *t = (struct wait_thread){begin.time, nowhere, nowhere};
    if (count >= RECORD_BEGINS) { /* which the program can write to */
        atomic_store(&process->waits_lost, 1);
        return;
    }
    process->begins[count] = begin;
    atomic_store(&process->begin_count, count + 1);
}

static void
on_start(unsigned vcpu, unsigned maker)
{
    const struct plugin *const p = &tally_plugin;
    struct wait_thread *const t = thread_of(vcpu);
    const struct wait_thread *const m = vcpu != maker ? thread_of(maker) : NULL;

    if (t != NULL)
        begin_thread(t,
                     (struct record_begin){
                         .thread = p->counts[vcpu]->thread,
                         .maker = p->counts[m != NULL ? maker : vcpu]->thread,
                         .time = m != NULL ? m->waited + own_cycles(maker) : 0,
                     });
}

static void
on_woken(unsigned vcpu, unsigned waker)
{
    struct wait_thread *const t = thread_of(vcpu);

    if (t != NULL && t->waker.thread == NO_THREAD)
        t->waker = place_of(waker);
}

static void
on_slept(unsigned vcpu, enum schedule_end end, uint64_t word, uint64_t ns)
{
    struct wait_thread *const t = thread_of(vcpu);
    const uint64_t clock = tally_plugin.request.params[PARAM_CLOCK];

    if (t == NULL)
        return;
    const struct wait_place at = place_of(vcpu);
    const bool woken = t->waker.thread != NO_THREAD;
    if (woken && end != SCHEDULE_TIME)
        end_wait(t, &at, &t->waker,
                 word != 0 ? RECORD_WAIT_FUTEX : RECORD_WAIT_THREAD, word,
                 t->waker.clock);
    else
        end_wait(t, &at, &nowhere,
                 end == SCHEDULE_TIME ? RECORD_WAIT_TIME : RECORD_WAIT_OUTSIDE,
                 word,
                 at.clock + (uint64_t)((double)ns / NS_PER_S * (double)clock));
    t->waker.thread = NO_THREAD;
}

static void
on_spun(unsigned vcpu, unsigned last)
{
    struct wait_thread *const t = thread_of(vcpu);
    struct wait_place other = place_of(last);

    if (t == NULL || other.thread == NO_THREAD)
        return;
    const struct wait_place at = place_of(vcpu);
    /* Where the other thread is by now says nothing of its store. */
    other.call = RECORD_UNKNOWN;
    other.place = 0;
    end_wait(t, &at, &other, RECORD_WAIT_SPIN, 0, other.clock);
}

static const struct schedule_watch watch = {on_start, on_woken, on_slept,
                                            on_spun};

int
waits_begin(struct plugin *p, struct record_process *process)
{
    struct waits *const w = &p->recording.waits;

    w->threads = calloc(COUNTS_STRANDS, sizeof(*w->threads));
    if (w->threads == NULL)
        return TALLY_ENOMEM;
    numbering_init(&w->rows, ROW_WORDS);
    w->process = process;
    p->schedule.waits = &watch;
    return 0;
}

void
waits_thread_ends(struct plugin *p, unsigned vcpu)
{
    struct wait_thread *const t = thread_of(vcpu);

    (void)p;
    if (t != NULL)
        t->ended = place_of(vcpu);
}

void
waits_before_fork(struct plugin *p, unsigned vcpu)
{
    const struct wait_thread *const t = thread_of(vcpu);

    if (t != NULL)
        p->recording.waits.forked = t->waited + own_cycles(vcpu);
}

void
waits_forks(struct plugin *p, unsigned vcpu, struct record_process *process)
{
    struct waits *const w = &p->recording.waits;

    if (w->process == NULL || vcpu >= COUNTS_STRANDS)
        return;
    w->process = process;
    numbering_finish(&w->rows);
    numbering_init(&w->rows, ROW_WORDS);
    begin_thread(&w->threads[vcpu], (struct record_begin){.time = w->forked});
}

void
waits_end(struct plugin *p)
{
    struct waits *const w = &p->recording.waits;

    p->schedule.waits = NULL;
    free(w->threads);
    numbering_finish(&w->rows);
    *w = (struct waits){.process = NULL};
}
