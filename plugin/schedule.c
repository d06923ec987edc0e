/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/schedule.h"

#include <dlfcn.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "plugin/calls.h"
#include "plugin/memory.h"

/* Spins, as enum spin weighs them, that end a turn. */
#define SPINS_MOST 512u

/* How long the first in the queue waits before it looks whether the thread that
 * has the turn sleeps in a call that is not known to sleep, and how often it
 * finds that before it takes the turn: a call that waits for a disk alone ends
 * by itself. */
#define LOOK_NS 20000000
#define LOOKS 25u

/* How often it looks without a pause where the call is known to sleep, and the
 * pause after that. */
#define QUICK_LOOKS 50u
#define QUICK_NS 50000

/* How often the word of a thread that ends is looked at: first without a pause,
 * then with one, for 10 seconds. */
#define ENDING_YIELDS 200u
#define ENDING_LOOKS 50000u
#define ENDING_US 200

/* A write up to this size into what is ready for one does not sleep. */
#define WRITE_WHOLE 4096u

#define CHILD_CLEARTID 0x200000u /* CLONE_CHILD_CLEARTID */
#define ANY_WORD UINT64_MAX

/* The operations of futex() that may sleep, and those that move who sleeps. */
#define FUTEX_OPERATION 127u

enum call_kind {
    CALL_NONE,    /* runs the guest's code */
    CALL_OTHER,   /* a call that is not known to sleep */
    CALL_SLEEPS,  /* one that may sleep until another thread does something */
    CALL_GOES_ON, /* one that waits for QEMU alone */
};

struct turn {
    struct turn *next;
    void *cpu; /* QEMU's */
    struct schedule *schedule;
    atomic_uint call;    /* enum call_kind */
    atomic_bool calls;   /* from a call until its return is seen to */
    atomic_uint wakes;   /* a change ends a wait for the turn */
    atomic_int thread;   /* the host's number of the thread; 0: not yet known */
    uint64_t used;       /* instructions of this turn */
    unsigned spins;      /* of this turn */
    bool leaves;         /* work that ends the turn is queued */
    bool slept;          /* its turn was taken in this call */
    bool irregular;      /* its call was ended, or its turn taken, by what does
                            not repeat */
    bool asleep;         /* in a call; the turn went on */
    bool arrived;        /* its call is over, and it is in no queue yet */
    uint64_t word;       /* that it waits for in futex(); 0: it does not */
    uint64_t end_word;   /* that QEMU clears as the thread ends; 0: none */
    uint64_t child_word; /* the same of the thread that it makes now */
};

static struct schedule_qemu
find_qemu(void)
{
    struct schedule_qemu q;

    *(void **)&q.run_on_cpu = dlsym(RTLD_DEFAULT, "async_run_on_cpu");
    *(void **)&q.cpu_of = dlsym(RTLD_DEFAULT, "qemu_get_cpu");
    return q;
}

bool
schedule_possible(void)
{
    const struct schedule_qemu q = find_qemu();

    return q.run_on_cpu != NULL && q.cpu_of != NULL;
}

static void
queue_put(struct turn_queue *q, struct turn *t)
{
    t->next = NULL;
    if (q->first == NULL)
        q->first = t;
    else
        q->last->next = t;
    q->last = t;
}

/* Takes a thread out of a queue that it may be in. */
static void
queue_remove(struct turn_queue *q, struct turn *t)
{
    struct turn *before = NULL;

    for (struct turn *at = q->first; at != NULL; before = at, at = at->next) {
        if (at != t)
            continue;
        if (before == NULL)
            q->first = t->next;
        else
            before->next = t->next;
        if (q->last == t)
            q->last = before;
        return;
    }
}

static void
wake(struct turn *t)
{
    atomic_fetch_add(&t->wakes, 1);
    syscall(SYS_futex, &t->wakes, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void
get_ready(struct schedule *s, struct turn *t)
{
    t->asleep = t->arrived = false;
    queue_put(&s->ready, t);
}

static void
begin_turn(struct schedule *s, struct turn *t)
{
    s->current = t;
    t->used = 0;
    t->spins = 0;
}

/* Gives the turn to the next that is ready, if any is. */
static void
pass_turn(struct schedule *s)
{
    struct turn *const next = s->ready.first;

    s->current = NULL;
    if (next == NULL)
        return;
    queue_remove(&s->ready, next);
    begin_turn(s, next);
    wake(next);
}

/* Reads the start of a file of /proc of the thread. Returns false where it
 * cannot be read, for instance in a root of the program's own. */
static bool
read_proc(const struct turn *t, const char *file, char *text, size_t size)
{
    char path[48];

    snprintf(path, sizeof(path), "/proc/self/task/%d/%s",
             atomic_load(&t->thread), file);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const ssize_t n = read(fd, text, size - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* Returns whether the thread sleeps in its call, as the kernel has it, and not
 * for a moment on the way to it: on a lock of the process's memory, on a page.
 * Without /proc each look counts. */
static bool
sleeps(const struct turn *t)
{
    static const char *const passing[] = {"fault", "rwsem", "down_",
                                          "mutex", "folio", "page"};
    char text[64];

    if (!read_proc(t, "syscall", text, sizeof(text)))
        return true;
    if (text[0] == 'r') /* "running" */
        return false;
    /* The function of the kernel that the thread sleeps in; "0" if unknown. */
    if (!read_proc(t, "wchan", text, sizeof(text)) || text[0] == '0')
        return true;
    if (t->word != 0)
        return strncmp(text, "futex", strlen("futex")) == 0;
    for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++) {
        if (strstr(text, passing[i]) != NULL)
            return false;
    }
    return true;
}

/* Puts those who arrived while a call was made into the queue, in the order in
 * which they fell asleep: the order of their arrival does not repeat. */
static void
queue_arrived(struct schedule *s)
{
    for (struct turn *at = s->asleep.first, *next; at != NULL; at = next) {
        next = at->next;
        if (!at->arrived)
            continue;
        queue_remove(&s->asleep, at);
        get_ready(s, at);
    }
}

/* What the first in the queue has seen of the thread that has the turn. */
struct looks {
    const struct turn *at;
    unsigned count, asleep;
};

/* Returns whether the thread that has the turn sleeps, and will until another
 * thread does something. */
static bool
holder_sleeps(const struct schedule *s, struct looks *looks)
{
    const struct turn *const holder = s->current;
    const unsigned call = atomic_load(&holder->call);

    if (looks->at != holder)
        *looks = (struct looks){.at = holder};
    if (call == CALL_NONE || call == CALL_GOES_ON) {
        looks->count = looks->asleep = 0;
        return false;
    }
    looks->count++;
    if (!sleeps(holder)) {
        looks->asleep = 0;
        return false;
    }
    return ++looks->asleep >= (call == CALL_SLEEPS ? 1 : LOOKS);
}

static void
wait_for_wake(struct schedule *s, struct turn *t, long ns)
{
    const unsigned wakes = atomic_load(&t->wakes);
    const struct timespec most = {ns / 1000000000, ns % 1000000000};

    pthread_mutex_unlock(&s->lock);
    if (ns == 0)
        sched_yield();
    else
        syscall(SYS_futex, &t->wakes, FUTEX_WAIT_PRIVATE, wakes, &most, NULL,
                0);
    pthread_mutex_lock(&s->lock);
}

/* Waits until QEMU has cleared the word of a thread that has ended: who waits
 * for that thread reads the word, and would go another way. */
static void
await_ending(struct schedule *s)
{
    uint32_t word = 1;

    for (unsigned i = 0; s->ending != 0 && i < ENDING_LOOKS; i++) {
        if (!plugin_read(s->ending, &word, sizeof(word)) || word == 0)
            break;
        if (i < ENDING_YIELDS)
            sched_yield();
        else
            usleep(ENDING_US);
    }
    s->ending = 0;
}

/* Returns whether no other thread gets a turn before this one: the thread looks
 * after the one that has the turn. */
static bool
is_first(const struct schedule *s, const struct turn *t)
{
    const struct turn *at = s->asleep.first;

    if (s->ready.first != NULL)
        return s->ready.first == t;
    while (at != NULL && !at->arrived)
        at = at->next;
    return at == t;
}

/* Waits until the thread has the turn. */
static void
await_turn(struct schedule *s, struct turn *t)
{
    struct looks looks = {0};

    while (s->current != t && s->quantum != 0) {
        const bool first = is_first(s, t);

        if (first && (s->current == NULL || holder_sleeps(s, &looks))) {
            if (s->current != NULL) {
                s->current->irregular |=
                    atomic_load(&s->current->call) != CALL_SLEEPS;
                s->current->asleep = s->current->slept = true;
                queue_put(&s->asleep, s->current);
            }
            queue_arrived(s);
            pass_turn(s);
            continue;
        }
        const bool quick = first && looks.count != 0 &&
                           atomic_load(&s->current->call) == CALL_SLEEPS;
        wait_for_wake(s, t,
                      !first                      ? LOOK_NS * 50
                      : !quick                    ? LOOK_NS
                      : looks.count < QUICK_LOOKS ? 0
                                                  : QUICK_NS);
    }
    if (s->ending != 0)
        await_ending(s);
}

/* Waits for the first turn of a thread: on the thread, before its first block.
 */
static void
enter_first(void *cpu, void *data)
{
    struct turn *const t = data;

    (void)cpu;
    atomic_store(&t->thread, gettid());
    pthread_mutex_lock(&t->schedule->lock);
    await_turn(t->schedule, t);
    pthread_mutex_unlock(&t->schedule->lock);
}

/* Ends the turn of a thread: on the thread, between two blocks. */
static void
end_turn(void *cpu, void *data)
{
    struct turn *const t = data;
    struct schedule *const s = t->schedule;

    (void)cpu;
    pthread_mutex_lock(&s->lock);
    t->leaves = false;
    if (s->current == t && s->quantum != 0) {
        get_ready(s, t);
        pass_turn(s);
        await_turn(s, t);
    }
    pthread_mutex_unlock(&s->lock);
}

/* Has the thread, which has the turn, end its turn at its next block, where
 * another thread waits for the turn. */
static void
leave(struct turn *t)
{
    struct schedule *const s = t->schedule;

    pthread_mutex_lock(&s->lock);
    const bool awaited = s->ready.first != NULL;
    pthread_mutex_unlock(&s->lock);
    if (!awaited || t->leaves)
        return;
    t->leaves = true;
    s->qemu.run_on_cpu(t->cpu, end_turn, t);
}

/* Keeps all threads on the processor where the first runs: the turn goes from
 * one thread to another in 2 to 3 us there, in 11 to 24 us between two. */
static void
pin(struct schedule *s)
{
    cpu_set_t one;
    const int processor = sched_getcpu();

    if (s->pinned || processor < 0 ||
        sched_getaffinity(0, sizeof(s->processors), &s->processors) != 0)
        return;
    CPU_ZERO(&one);
    CPU_SET((size_t)processor, &one);
    s->pinned = sched_setaffinity(0, sizeof(one), &one) == 0;
}

void
schedule_release_processors(const struct schedule *s)
{
    if (s->pinned)
        sched_setaffinity(0, sizeof(s->processors), &s->processors);
}

bool
schedule_thread_starts(struct schedule *s, unsigned vcpu, unsigned maker)
{
    struct turn *const t = calloc(1, sizeof(*t));

    if (t == NULL)
        return false;
    t->schedule = s;
    pthread_mutex_lock(&s->lock);
    if (s->qemu.cpu_of == NULL)
        s->qemu = find_qemu();
    t->cpu = s->qemu.cpu_of((int)vcpu);
    s->turns[vcpu] = t;
    s->living++;
    if (s->turn_count <= vcpu)
        s->turn_count = vcpu + 1;
    if (vcpu == 0) {
        t->thread = gettid();
        begin_turn(s, t);
    } else {
        pin(s);
        t->end_word = s->turns[maker]->child_word;
        get_ready(s, t);
    }
    pthread_mutex_unlock(&s->lock);
    if (vcpu != 0)
        s->qemu.run_on_cpu(t->cpu, enter_first, t);
    return true;
}

void
schedule_thread_ends(struct schedule *s, unsigned vcpu)
{
    struct turn *const t = s->turns[vcpu];

    if (t == NULL)
        return;
    pthread_mutex_lock(&s->lock);
    /* QEMU wakes who sleeps on the word later, at a time that does not repeat:
     * they are ready now. */
    for (struct turn *at = s->asleep.first, *next; at != NULL; at = next) {
        next = at->next;
        if (t->end_word == 0 || at->word != t->end_word)
            continue;
        queue_remove(&s->asleep, at);
        get_ready(s, at);
    }
    queue_remove(&s->ready, t);
    queue_remove(&s->asleep, t);
    s->turns[vcpu] = NULL;
    s->living--;
    if (s->current == t) {
        s->ending = t->end_word;
        pass_turn(s);
    }
    pthread_mutex_unlock(&s->lock);
    free(t);
}

static bool
file_is_ready(uint64_t fd, short events)
{
    struct pollfd p = {.fd = (int)fd, .events = events};

    return poll(&p, 1, 0) != 0;
}

/* Returns whether futex() may sleep: the operation waits, and the word has the
 * value that the wait is for. */
static bool
futex_sleeps(const struct schedule *s, const uint64_t args[6])
{
    uint32_t word;

    switch (args[1] & FUTEX_OPERATION) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
        if (!plugin_read(args[0], &word, sizeof(word)))
            return false;
        word = s->isa->big_endian ? be32toh(word) : le32toh(word);
        return word == (uint32_t)args[2];
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
    case FUTEX_WAIT_REQUEUE_PI:
        return true;
    }
    return false;
}

static enum call_kind
kind_of(const struct schedule *s, int64_t number, const uint64_t args[6])
{
    static const enum system_call reads[] = {
        CALL_READ,   CALL_READV,   CALL_RECVFROM, CALL_RECVMSG,
        CALL_ACCEPT, CALL_ACCEPT4, CALL_COUNT};
    static const enum system_call writes[] = {
        CALL_WRITE, CALL_WRITEV, CALL_SENDTO, CALL_SENDMSG, CALL_COUNT};
    static const enum system_call waits[] = {
        CALL_NANOSLEEP,       CALL_CLOCK_NANOSLEEP,
        CALL_WAIT4,           CALL_WAITPID,
        CALL_WAITID,          CALL_CONNECT,
        CALL_RT_SIGTIMEDWAIT, CALL_RT_SIGSUSPEND,
        CALL_PAUSE,           CALL_FLOCK,
        CALL_SEMTIMEDOP,      CALL_MSGRCV,
        CALL_MSGSND,          CALL_COUNT};
    /* A thread or a child is made while its maker waits for it to begin; a
     * thread ends while others end. */
    static const enum system_call makes[] = {CALL_CLONE, CALL_CLONE3, CALL_EXIT,
                                             CALL_COUNT};
    const struct isa *const isa = s->isa;

    if (call_is(CALL_FUTEX, isa, number))
        return futex_sleeps(s, args) ? CALL_SLEEPS : CALL_GOES_ON;
    if (call_is_any(reads, isa, number))
        return file_is_ready(args[0], POLLIN) ? CALL_OTHER : CALL_SLEEPS;
    if (call_is_any(writes, isa, number))
        return file_is_ready(args[0], POLLOUT) && args[2] <= WRITE_WHOLE
                   ? CALL_OTHER
                   : CALL_SLEEPS;
    if (call_waits_for_files(isa, number) || call_is_any(waits, isa, number))
        return CALL_SLEEPS;
    return call_is_any(makes, isa, number) ? CALL_GOES_ON : CALL_OTHER;
}

void
schedule_call(struct schedule *s, unsigned vcpu, int64_t number,
              const uint64_t args[6])
{
    struct turn *const t = s->turns[vcpu];

    if (t == NULL || s->quantum == 0)
        return;
    if (call_is(CALL_CLONE, s->isa, number))
        t->child_word =
            args[0] & CHILD_CLEARTID ? args[s->isa->clone_child - 1] : 0;
    t->word = call_is(CALL_FUTEX, s->isa, number) ? args[0] : 0;
    if (call_is(CALL_SCHED_YIELD, s->isa, number)) {
        end_turn(NULL, t);
        return;
    }
    /* Where the thread is alone none is to be woken or waited for. */
    const enum call_kind kind =
        s->living == 1 ? CALL_GOES_ON : kind_of(s, number, args);
    atomic_store(&t->calls, true);
    atomic_store(&t->call, kind);
    if (kind != CALL_SLEEPS)
        return;
    pthread_mutex_lock(&s->lock);
    if (s->current == t && s->ready.first != NULL)
        wake(s->ready.first);
    pthread_mutex_unlock(&s->lock);
}

/* Returns whether the operation of futex() moves sleepers to another word. */
static bool
futex_moves(const uint64_t args[6])
{
    const uint64_t operation = args[1] & FUTEX_OPERATION;

    return operation == FUTEX_REQUEUE || operation == FUTEX_CMP_REQUEUE ||
           operation == FUTEX_CMP_REQUEUE_PI;
}

/* Returns whether a call, which has returned, may have woken the sleeper: who
 * sleeps in futex() is woken by futex() and by signals alone. */
static bool
may_wake(const struct schedule *s, int64_t number, const uint64_t args[6],
         const struct turn *sleeper)
{
    if (sleeper->word == 0 || call_sends_signal(s->isa, number))
        return true;
    return call_is(CALL_FUTEX, s->isa, number) &&
           (sleeper->word == args[0] || sleeper->word == args[4] ||
            sleeper->word == ANY_WORD);
}

/* Puts those that this call has woken into the queue, in the order in which
 * they fell asleep. The kernel wakes those who sleep on one word in that order,
 * too, so that the search ends with as many as futex() has woken. */
static void
wake_sleepers(struct schedule *s, int64_t number, const uint64_t args[6],
              int64_t result)
{
    const bool futex = call_is(CALL_FUTEX, s->isa, number);
    const bool moves = futex && futex_moves(args);

    for (struct turn *at = s->asleep.first, *next; at != NULL; at = next) {
        next = at->next;
        if (futex && (moves ? result < 0 : result <= 0))
            break;
        if (!may_wake(s, number, args, at))
            continue;
        if (atomic_load(&at->call) == CALL_NONE || !sleeps(at)) {
            queue_remove(&s->asleep, at);
            get_ready(s, at);
            result -= moves ? 0 : 1;
        } else if (moves) {
            at->word = ANY_WORD; /* it may have been moved to another word */
        }
    }
}

/* Queues those who arrived although no other thread has woken them. */
static void
queue_outside(struct schedule *s)
{
    for (struct turn *at = s->asleep.first; at != NULL; at = at->next)
        at->irregular |= at->arrived;
    queue_arrived(s);
}

/* Returns whether a call in which a thread slept, and which returns now, was
 * ended by time or another process and not by another thread. */
static bool
ends_by_itself(const struct schedule *s, int64_t number, int64_t result)
{
    static const enum system_call calls[] = {
        CALL_NANOSLEEP, CALL_CLOCK_NANOSLEEP, CALL_WAIT4,
        CALL_WAITPID,   CALL_WAITID,          CALL_COUNT};

    if (call_is_any(calls, s->isa, number))
        return true;
    if (call_waits_for_files(s->isa, number))
        return result == 0;
    return call_is(CALL_FUTEX, s->isa, number) && result == -s->isa->timed_out;
}

/* Shows the program the processors that it had, not the one that all its
 * threads are kept on. */
static void
show_processors(const struct schedule *s, const uint64_t args[6],
                int64_t result)
{
    const unsigned char *const from = (const unsigned char *)&s->processors;
    unsigned char mask[sizeof(s->processors)];
    const size_t size =
        (size_t)result < sizeof(mask) ? (size_t)result : sizeof(mask);

    if (args[0] != 0 && (pid_t)args[0] != getpid())
        return;
    for (size_t i = 0; i < sizeof(mask); i++)
        mask[i] = from[s->isa->big_endian ? i ^ 7 : i];
    plugin_write(args[2], mask, size);
}

bool
schedule_return(struct schedule *s, unsigned vcpu, int64_t number,
                const uint64_t args[6], int64_t result)
{
    struct turn *const t = s->turns[vcpu];
    bool outside;

    if (t == NULL || s->quantum == 0)
        return false;
    /* First: who waits for the lock sleeps, too. */
    atomic_store(&t->call, CALL_NONE);
    pthread_mutex_lock(&s->lock);
    t->irregular |= t->slept && ends_by_itself(s, number, result);
    if (t->asleep) {
        t->arrived = true;
        if (s->current == NULL || !atomic_load(&s->current->calls))
            queue_outside(s);
    }
    if (s->current != t) {
        await_turn(s, t);
    } else if (s->asleep.first != NULL) {
        wake_sleepers(s, number, args, result);
        queue_outside(s);
    }
    outside = t->irregular;
    t->irregular = t->slept = false;
    t->word = 0;
    atomic_store(&t->calls, false);
    pthread_mutex_unlock(&s->lock);
    if (s->pinned && result > 0 &&
        call_is(CALL_SCHED_GETAFFINITY, s->isa, number))
        show_processors(s, args, result);
    return outside;
}

uint64_t
schedule_ran(struct schedule *s, uint64_t instructions)
{
    struct turn *const t = s->current;
    const uint64_t quantum = s->quantum;

    if (quantum == 0 || t == NULL)
        return UINT64_MAX / 2;
    t->used += instructions;
    if (t->used < quantum)
        return quantum - t->used;
    t->used = 0;
    leave(t);
    return quantum;
}

void
schedule_spins(struct schedule *s, enum spin spin)
{
    struct turn *const t = s->current;

    if (s->quantum == 0 || t == NULL)
        return;
    t->spins += (unsigned)spin;
    if (t->spins < SPINS_MOST)
        return;
    t->spins = 0;
    leave(t);
}

void
schedule_before_fork(struct schedule *s)
{
    pthread_mutex_lock(&s->lock);
}

void
schedule_after_fork(struct schedule *s)
{
    pthread_mutex_unlock(&s->lock);
}

void
schedule_forks(struct schedule *s, unsigned vcpu)
{
    struct turn *const t = s->turns[vcpu];

    pthread_mutex_init(&s->lock, NULL);
    schedule_release_processors(s);
    s->pinned = false;
    s->ready = s->asleep = (struct turn_queue){0};
    s->ending = 0;
    for (unsigned i = 0; i < s->turn_count; i++) {
        if (s->turns[i] != t)
            free(s->turns[i]);
        s->turns[i] = NULL;
    }
    if (t == NULL)
        return;
    s->turns[vcpu] = t;
    s->living = 1;
    t->thread = gettid();
    begin_turn(s, t);
}

void
schedule_stop(struct schedule *s)
{
    pthread_mutex_lock(&s->lock);
    s->quantum = 0;
    for (struct turn *t = s->ready.first; t != NULL; t = t->next)
        wake(t);
    pthread_mutex_unlock(&s->lock);
}
