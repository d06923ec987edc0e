/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/waits.h"

#include <endian.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/data_objects.h"
#include "plugin/memory.h"
#include "plugin/plugin.h"
#include "table/signals.h"

#define NS_PER_S 1000000000u

/* What the word of glibc's mutexes is where a thread waits. */
#define GLIBC_CONTENDED 2u

/* What a row is of: all members of struct record_wait but its sums. */
#define ROW_WORDS 6u

/* Rows from which on a part of a wait gets no new row, and is counted with the
 * rest of the wait: parts may have as many rows as threads times threads. */
#define ROWS_OF_PARTS (RECORD_WAITS / 2)

/* What a stretch is of: a thread, and a part of its time. */
#define STRETCH_WORDS 2u
#define PART_MOST (UINT64_C(1) << 52) /* of which each thread has one */

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

/* Adds waits to the stretch of their thread's part of time. False: there is no
 * room for one more stretch. */
static bool
add_to_stretch(struct waits *w, const struct record_stretch *more)
{
    const uint64_t key[STRETCH_WORDS] = {more->thread, more->begin / w->part};
    const size_t known = w->stretches.count;
    const uint32_t row = known < RECORD_STRETCHES
                             ? numbering_add(&w->stretches, key)
                             : numbering_find(&w->stretches, key);

    if (row == NUMBERING_NONE)
        return false;
    struct record_stretch *const to = &w->process->stretches[row];
    if (row == known) {
        *to = *more;
        return true;
    }
    if (more->longest > to->longest) {
        to->longest = more->longest;
        to->wait = more->wait;
    }
    to->begin = more->begin < to->begin ? more->begin : to->begin;
    to->end = more->end > to->end ? more->end : to->end;
    to->count += more->count;
    for (unsigned i = 0; i < RECORD_WAIT_KINDS; i++)
        to->time[i] += more->time[i];
    return true;
}

/* Merges stretches until half of the room is free. False: that cannot be. */
static bool
merge_stretches(struct waits *w)
{
    size_t count = w->stretches.count;

    atomic_store(&w->process->stretch_count, 0);
    while (count > RECORD_STRETCHES / 2 && w->part < PART_MOST) {
        w->part *= 2;
        numbering_finish(&w->stretches);
        numbering_init(&w->stretches, STRETCH_WORDS);
        /* A stretch goes to its own place, or to one before it. */
        for (size_t i = 0; i < count; i++) {
            const struct record_stretch more = w->process->stretches[i];
            if (!add_to_stretch(w, &more))
                return false;
        }
        count = w->stretches.count;
    }
    return count < RECORD_STRETCHES;
}

/* Notes when a wait was that is counted in a row. */
static void
note_stretch(uint32_t row, const struct record_wait *wait, uint64_t begin,
             uint64_t time)
{
    struct waits *const w = waits_of();
    struct record_stretch more = {
        .thread = wait->thread,
        .wait = row,
        .begin = begin,
        .end = begin + time,
        .count = 1,
        .longest = time,
    };

    if (time == 0)
        return;
    more.time[wait->kind] = time;
    if (!add_to_stretch(w, &more) &&
        !(merge_stretches(w) && add_to_stretch(w, &more)))
        atomic_store(&w->process->waits_lost, 1);
    atomic_store(&w->process->stretch_count, (unsigned)w->stretches.count);
}

/* Returns the row of waits that are like this one; NUMBERING_NONE: there is
 * none, and there are as many rows as `most` by now. */
static uint32_t
find_row(const struct record_wait *like, size_t most)
{
    struct waits *const w = waits_of();
    const uint64_t key[ROW_WORDS] = {
        (uint64_t)like->kind << 32 | like->object,      like->word,
        (uint64_t)like->thread << 32 | like->call,      like->place,
        (uint64_t)like->waker << 32 | like->waker_call, like->waker_place,
    };
    const size_t known = w->rows.count;
    const uint32_t row = known < most ? numbering_add(&w->rows, key)
                                      : numbering_find(&w->rows, key);

    if (row == known && row != NUMBERING_NONE) {
        w->process->waits[row] = *like;
        atomic_store(&w->process->wait_count, row + 1);
    }
    return row;
}

/* Parts of waits */

/* Returns whether two threads let go in the same place. */
static bool
lets_go_there(const struct wait_place *a, const struct wait_place *b)
{
    return a->thread == b->thread && a->call == b->call && a->place == b->place;
}

/* Returns the part of the thread's wait until `waker` let the lock go there,
 * which begins with no time; NULL: no memory. */
static struct wait_part *
part_until(struct wait_thread *t, const struct wait_place *waker)
{
    for (size_t i = 0; i < t->part_count; i++) {
        if (lets_go_there(&t->parts[i].waker, waker))
            return &t->parts[i];
    }
    if (t->part_count == t->part_room) {
        const size_t room = t->part_room * 2 + 4;
        struct wait_part *const parts =
            realloc(t->parts, room * sizeof(*parts));
        if (parts == NULL)
            return NULL;
        t->parts = parts;
        t->part_room = room;
    }
    struct wait_part *const part = &t->parts[t->part_count++];
    *part = (struct wait_part){.waker = *waker};
    return part;
}

/* The thread goes on waiting while `waker` has let the lock go: the time until
 * then is a part of the wait. */
static void
end_part(struct wait_thread *t, const struct wait_place *waker)
{
    struct wait_part *const part =
        waker->thread != NO_THREAD && waker->clock > t->parts_end
            ? part_until(t, waker)
            : NULL;

    if (part == NULL)
        return;
    part->time += waker->clock - t->parts_end;
    t->parts_end = waker->clock;
}

/* Counts the parts of a wait of `time` cycles but of those until `waker`, who
 * ended the wait. Returns the cycles that are left. *row is the row of the
 * longest part, if that has more cycles than are left. Clocks of threads are
 * not in order: parts may be longer than the whole, and the last are then cut.
 */
static uint64_t
count_parts(const struct wait_thread *t, const struct wait_place *waker,
            struct record_wait like, uint64_t time, uint32_t *row)
{
    uint64_t left = time, most = 0;
    uint32_t longest = NUMBERING_NONE;

    for (size_t i = 0; i < t->part_count; i++) {
        const struct wait_part *const part = &t->parts[i];
        const uint64_t cycles = part->time < left ? part->time : left;
        if (cycles == 0 || lets_go_there(&part->waker, waker))
            continue;
        like.waker = part->waker.thread;
        like.waker_call = part->waker.call;
        like.waker_place = part->waker.place;
        const uint32_t to = find_row(&like, ROWS_OF_PARTS);
        if (to == NUMBERING_NONE)
            continue;
        waits_of()->process->waits[to].time += cycles;
        left -= cycles;
        if (cycles > most) {
            most = cycles;
            longest = to;
        }
    }
    if (most > left)
        *row = longest;
    return left;
}

/* Counts a wait of `time` cycles that `waker` ended, and notes when it was. */
static void
count_wait(const struct wait_thread *t, const struct wait_place *waker,
           const struct record_wait *like, uint64_t begin, uint64_t time)
{
    const uint32_t row = find_row(like, RECORD_WAITS);
    uint32_t most = row;

    if (row == NUMBERING_NONE) {
        atomic_store(&waits_of()->process->waits_lost, 1);
        return;
    }
    const uint64_t left = like->kind == RECORD_WAIT_FUTEX
                              ? count_parts(t, waker, *like, time, &most)
                              : time;
    struct record_wait *const to = &waits_of()->process->waits[row];
    to->time += left;
    if (time > to->longest)
        to->longest = time;
    to->count++;
    note_stretch(most, like, begin, time);
}

/* Counts a wait of the thread at `at`, whose clock goes on to `end`. */
static void
end_wait(struct wait_thread *t, const struct wait_place *at,
         const struct wait_place *waker, enum record_wait_kind kind,
         uint64_t word, uint64_t end)
{
    const uint64_t time = end > at->clock ? end - at->clock : 0;

    const struct record_wait like = {
        .kind = kind,
        .object = word != 0
                      ? data_objects_find(&tally_plugin.recording.objects, word)
                      : 0,
        .word = word,
        .thread = at->thread,
        .call = at->call,
        .place = at->place,
        .waker = waker->thread,
        .waker_call = waker->call,
        .waker_place = waker->place,
    };

    t->waited += time;
    count_wait(t, waker, &like, at->clock, time);
    t->part_count = 0;
}

/* Waits that have not ended */

/* Returns the wait that a thread is in; NULL: it waits for nothing. */
static struct record_unended *
unended_of(unsigned vcpu)
{
    struct record_process *const process = waits_of()->process;

    return process != NULL && vcpu < COUNTS_STRANDS &&
                   atomic_load(&process->unended[vcpu].waits) != 0
               ? &process->unended[vcpu]
               : NULL;
}

/* Returns the number of a thread for the system, in the word of a lock or of a
 * thread's end, or beside the word: glibc's mutexes keep their owner in the
 * second word behind it. 0: there is none. */
static uint32_t
owner_at(uint64_t word)
{
    const bool big = tally_plugin.schedule.isa->big_endian;
    uint32_t words[3];

    if (!plugin_read(word, words, sizeof(words[0])))
        return 0;
    const uint32_t lock = big ? be32toh(words[0]) : le32toh(words[0]);
    const uint32_t number = lock & FUTEX_TID_MASK;
    if (lock != GLIBC_CONTENDED)
        return schedule_find_thread(&tally_plugin.schedule, number) != NO_THREAD
                   ? number
                   : 0;
    if (!plugin_read(word, words, sizeof(words)))
        return 0;
    return big ? be32toh(words[2]) : le32toh(words[2]);
}

/* Finds who holds the lock that a thread waits at. Returns the thread by its
 * number of QEMU's; NO_THREAD: it is not known, or has ended. */
static unsigned
find_holder(struct record_unended *u)
{
    const struct plugin *const p = &tally_plugin;
    const uint32_t owner = u->kind == RECORD_WAIT_FUTEX ? owner_at(u->word) : 0;
    const unsigned vcpu = schedule_find_thread(&p->schedule, owner);

    u->holder = owner == 0 ? NO_THREAD
                : vcpu != NO_THREAD && thread_of(vcpu) != NULL
                    ? p->counts[vcpu]->thread
                    : RECORD_HOLDER_ENDED;
    return vcpu;
}

/* Finds the holder of a lock again, and that of the lock which the holder waits
 * at, and so on: a lock may have gone to another thread since its wait began,
 * but in a circle of threads no lock goes on. */
static void
find_holders(unsigned vcpu)
{
    struct record_unended *u = unended_of(vcpu);

    for (unsigned i = 0; u != NULL && i < tally_plugin.schedule.living; i++)
        u = unended_of(find_holder(u));
}

/* Finds the holders of all locks again. */
static void
find_all_holders(void)
{
    struct record_process *const process = waits_of()->process;
    const unsigned count =
        process != NULL ? atomic_load(&process->unended_count) : 0;

    for (unsigned i = 0; i < count && i < COUNTS_STRANDS; i++) {
        struct record_unended *const u = unended_of(i);
        if (u != NULL)
            find_holder(u);
    }
}

/* A thread has let go the lock at a word: another thread holds it now, or none
 * does, and the threads that still wait there wait for that. */
static void
let_go(uint64_t word, const struct wait_place *waker)
{
    struct record_process *const process = waits_of()->process;
    const unsigned count = atomic_load(&process->unended_count);

    for (unsigned i = 0; i < count && i < COUNTS_STRANDS; i++) {
        struct record_unended *const u = unended_of(i);
        struct wait_thread *const t = thread_of(i);
        if (u == NULL || t == NULL || u->word != word)
            continue;
        if (u->holder == waker->thread)
            u->holder = NO_THREAD;
        if (t->at_lock)
            end_part(t, waker);
    }
}

/* The functions of struct schedule_watch */

/* Notes a thread that begins, which has counted nothing yet. */
static void
begin_thread(struct wait_thread *t, struct record_begin begin)
{
    struct record_process *const process = waits_of()->process;
    const unsigned count = atomic_load(&process->begin_count);

    free(t->parts);
    *t = (struct wait_thread){.waited = begin.time,
                              .waker = nowhere,
                              .ended = nowhere,
                              .asleep = nowhere};
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

    if (t != NULL) {
        atomic_store(&waits_of()->process->unended[vcpu].waits, 0);
        begin_thread(t,
                     (struct record_begin){
                         .thread = p->counts[vcpu]->thread,
                         .maker = p->counts[m != NULL ? maker : vcpu]->thread,
                         .time = m != NULL ? m->waited + own_cycles(maker) : 0,
                     });
    }
}

static void
on_woken(unsigned vcpu, unsigned waker)
{
    struct wait_thread *const t = thread_of(vcpu);

    if (t == NULL || t->waker.thread != NO_THREAD)
        return;
    struct record_unended *const u = unended_of(vcpu);
    t->waker = place_of(waker);
    if (u == NULL)
        return;
    atomic_store(&u->waits, 0); /* it is ready to go on */
    if (u->word != 0)
        let_go(u->word, &t->waker);
}

static void
on_sleep(unsigned vcpu, uint64_t word, bool has_time)
{
    struct wait_thread *const t = thread_of(vcpu);
    struct record_process *const process = waits_of()->process;

    if (t == NULL)
        return;
    struct record_unended *const u = &process->unended[vcpu];
    t->asleep = place_of(vcpu);
    t->part_count = 0;
    t->parts_end = t->asleep.clock;
    atomic_store(&u->waits, 0);
    u->kind = word != 0  ? RECORD_WAIT_FUTEX
              : has_time ? RECORD_WAIT_TIME
                         : RECORD_WAIT_OUTSIDE;
    u->object = word != 0
                    ? data_objects_find(&tally_plugin.recording.objects, word)
                    : 0;
    u->word = word;
    u->thread = t->asleep.thread;
    u->call = t->asleep.call;
    u->place = t->asleep.place;
    u->since = t->asleep.clock;
    u->has_time = has_time;
    u->holder = NO_THREAD;
    atomic_store(&u->waits, 1);
    if (atomic_load(&process->unended_count) <= vcpu)
        atomic_store(&process->unended_count, vcpu + 1);
    find_holders(vcpu);
    t->at_lock = u->holder != NO_THREAD;
}

/* Counts a sleep that a signal has ended, `ns` after its begin. */
static void
end_interrupted(struct wait_thread *t, uint64_t word, uint64_t ns)
{
    const uint64_t clock = tally_plugin.request.params[PARAM_CLOCK];

    end_wait(t, &t->asleep, &nowhere, RECORD_WAIT_OUTSIDE, word,
             t->asleep.clock +
                 (uint64_t)((double)ns / NS_PER_S * (double)clock));
}

static void
on_goes_on(unsigned vcpu)
{
    struct wait_thread *const t = thread_of(vcpu);

    if (t == NULL)
        return;
    struct record_unended *const u = &waits_of()->process->unended[vcpu];
    if (t->interrupted)
        end_interrupted(t, u->word, t->ns);
    t->interrupted = false;
    t->asleep = nowhere;
    atomic_store(&u->waits, 0);
}

static void
on_stuck(void)
{
    if (waits_of()->process != NULL)
        find_all_holders();
}

static void
on_slept(unsigned vcpu, enum schedule_end end, uint64_t word, uint64_t ns)
{
    struct wait_thread *const t = thread_of(vcpu);
    const uint64_t clock = tally_plugin.request.params[PARAM_CLOCK];

    if (t == NULL)
        return;
    const bool known = t->asleep.thread != NO_THREAD;
    const struct wait_place at = known ? t->asleep : place_of(vcpu);
    const bool woken = t->waker.thread != NO_THREAD;
    if (known && end == SCHEDULE_SIGNAL && !woken) {
        find_all_holders();
        t->interrupted = true;
        t->ns = ns;
        return;
    }
    if (vcpu < COUNTS_STRANDS)
        atomic_store(&waits_of()->process->unended[vcpu].waits, 0);
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

static const struct schedule_watch watch = {
    .starts = on_start,
    .woken = on_woken,
    .sleeps = on_sleep,
    .goes_on = on_goes_on,
    .stuck = on_stuck,
    .slept = on_slept,
    .spun = on_spun,
};

static void
begin_rows(struct waits *w)
{
    numbering_init(&w->rows, ROW_WORDS);
    numbering_init(&w->stretches, STRETCH_WORDS);
    w->part = 1;
}

int
waits_begin(struct plugin *p, struct record_process *process)
{
    struct waits *const w = &p->recording.waits;

    w->threads = calloc(COUNTS_STRANDS, sizeof(*w->threads));
    if (w->threads == NULL)
        return TALLY_ENOMEM;
    begin_rows(w);
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
    numbering_finish(&w->stretches);
    begin_rows(w);
    begin_thread(&w->threads[vcpu], (struct record_begin){.time = w->forked});
}

void
waits_end(struct plugin *p)
{
    struct waits *const w = &p->recording.waits;

    p->schedule.waits = NULL;
    for (unsigned i = 0; w->threads != NULL && i < COUNTS_STRANDS; i++)
        free(w->threads[i].parts);
    free(w->threads);
    numbering_finish(&w->rows);
    numbering_finish(&w->stretches);
    *w = (struct waits){.process = NULL};
}
