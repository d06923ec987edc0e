/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each thread has the turn (schedule.current), is ready (schedule.ready), or
 * sleeps in a system call (schedule.asleep) until another thread or time ends
 * the call. Only the kernel knows whether a thread sleeps: the first of the
 * threads that are ready looks, by /proc or by futex(). Where all sleep, the
 * watcher, a thread of the plugin's own, ends the waits at their time.
 *
 * doc/threads.md says what repeats and what does not.
 */
#include "plugin/schedule.h"

#include <dlfcn.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "plugin/calls.h"
#include "plugin/file_waits.h"
#include "plugin/memory.h"
#include "plugin/wake_signal.h"

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

/* How long a thread waits until it looks again where all sleep, and another
 * whose time is the next is still in its call. */
#define IDLE_NS 500000

/* How often the word of a thread that ends is looked at: first without a pause,
 * then with one, for 10 seconds. */
#define ENDING_YIELDS 200u
#define ENDING_LOOKS 50000u
#define ENDING_US 200

/* A write up to this size into what is ready for one does not sleep. */
#define WRITE_WHOLE 4096u

#define CHILD_CLEARTID 0x200000u /* CLONE_CHILD_CLEARTID */

/* The operations of futex() that may sleep, and those that move who sleeps. */
#define FUTEX_OPERATION 127u

/* The nanoseconds that each look at the processor's own clock takes while the
 * process has one thread, whose instructions may not be counted yet. */
#define TICKS_STEP 100u

/* How often the schedule looks for the threads that a futex() has woken, until
 * it has found as many as the call says. */
#define WOKEN_LOOKS 100u

/* How often a thread that was woken is looked at until its call is over, and
 * how often without asking whether it sleeps again. */
#define RETURN_LOOKS 100000u
#define RETURN_YIELDS 16u

/* What QEMU returns from a call that it makes again after a signal. */
#define RESTARTS 512

/* The size of /proc's status of a thread up to its signals, and how often a
 * thread lets others run until one of them has taken its signal. */
#define STATUS_SIZE 4096u
#define SIGNAL_LOOKS 10000u

#define WATCHER_STACK 131072u /* bytes */

/* How far sched_yield() sets the program's clock forward, about as much as it
 * takes on Linux: who yields until another's time has come has few instructions
 * to count. */
#define YIELD_NS 1000u

enum call_kind {
    CALL_NONE,    /* runs the guest's code */
    CALL_OTHER,   /* a call that is not known to sleep */
    CALL_ENTERS,  /* is about to make a call that sleeps, and may wait for the
                     schedule's lock */
    CALL_SLEEPS,  /* one that may sleep until another thread does something */
    CALL_GOES_ON, /* one that sleeps, if at all, until QEMU does something:
                     its turn is not taken */
};

#define SWITCHES_NONE (-1L)

/* A pipe, by which all its descriptors are known; zeros: none. */
struct pipe_name {
    dev_t device;
    ino_t inode;
};

struct turn {
    struct turn *next;
    void *cpu; /* QEMU's */
    struct schedule *schedule;
    unsigned number;
    atomic_uint call;   /* enum call_kind */
    atomic_bool calls;  /* from a call until its return is seen to */
    atomic_uint wakes;  /* a change ends a wait for the turn */
    atomic_int thread;  /* the host's number of the thread; 0: not yet known */
    uint64_t used;      /* of this turn, as the quantum */
    uint64_t ran;       /* instructions of the thread */
    unsigned spins;     /* of this turn */
    bool spun;          /* it gives the turn away as it spins */
    uint64_t called;    /* the program's time as its call began */
    uint64_t idle;      /* idle_time() as its call began */
    atomic_bool leaves; /* work that ends the turn is queued */
    bool alone;         /* nobody else can go on while it is in this call */
    long switches;      /* own_switches() before a call in which no other thread
                           can end its sleep; SWITCHES_NONE: another call */
    bool blocked;       /* it has slept on the host in such a call */
    bool slept;         /* its turn was taken in this call */
    bool irregular;     /* its call was ended, or its turn taken, by what does
                           not repeat */
    bool asleep;        /* in a call; the turn went on */
    bool arrived;       /* its call is over, and it is in no queue yet */
    bool woken;         /* by the call of another thread, and in no queue yet */
    bool ended;         /* time ended its call, on the host's clock */
    bool due;           /* time ended its call, on the program's clock */
    bool untimed;       /* the host does not know the time of its call */
    bool signalled;     /* a signal came while it waited for the turn */
    bool struck;        /* a thread of the process sent the signal that ended
                           its call, or that comes while it waits for a turn */
    bool interrupted;   /* a signal ended its last call */
    int64_t number_of_call;
    uint64_t args[6];       /* of the call */
    struct timed_wait wait; /* of the call */
    struct file_sets sets;  /* of the call, if it has sets */
    bool found;             /* its call, which the host's clock has ended, is to
                               find a file ready */
    uint64_t word;          /* that it waits for in futex(); 0: it does not */
    struct pipe_name pipe;  /* that it reads or writes */
    uint64_t end_word;      /* that QEMU clears as the thread ends; 0: none */
    uint64_t child_word;    /* the same of the thread that it makes now */
    int64_t answer;         /* the result that the program is to have */
    uint64_t allowed;       /* processors, a bit each */
    struct affinity_change change; /* of its call */
};

static struct schedule_qemu
find_qemu(void)
{
    struct schedule_qemu q;

    *(void **)&q.run_on_cpu = dlsym(RTLD_DEFAULT, "async_run_on_cpu");
    *(void **)&q.cpu_of = dlsym(RTLD_DEFAULT, "qemu_get_cpu");
    *(void **)&q.end_accesses =
        dlsym(RTLD_DEFAULT, "qemu_plugin_disable_mem_helpers");
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

/* Calls futex() of the host, for an operation that does not wait, and returns
 * the result; less than 0: an error. */
static long
host_futex(const void *word, unsigned operation, uint32_t value, uint64_t most,
           void *other)
{
    return syscall(SYS_futex, word, operation, value, most, other, 0);
}

static void
lock(struct schedule *s)
{
    pthread_mutex_lock(&s->lock);
}

/* Ends the waits for words that have changed. The thread that is woken needs
 * the lock, and on one processor it may run at once: so the lock is given up
 * first. A word may be gone by then, with its thread, which needed no waking:
 * the kernel does not read it. */
static void
unlock(struct schedule *s)
{
    const atomic_uint *const changed = s->changed;

    s->changed = NULL;
    pthread_mutex_unlock(&s->lock);
    if (changed != NULL)
        host_futex(changed, FUTEX_WAKE_PRIVATE, 1, 0, NULL);
}

/* Ends a wait for the change of a word of the schedule's own, once the lock is
 * given up. */
static void
tell_change(struct schedule *s, atomic_uint *word)
{
    atomic_fetch_add(word, 1);
    if (s->changed != NULL && s->changed != word)
        host_futex(s->changed, FUTEX_WAKE_PRIVATE, 1, 0, NULL);
    s->changed = word;
}

static void
wake(struct turn *t)
{
    tell_change(t->schedule, &t->wakes);
}

static uint64_t
host_now(void)
{
    return host_time(CLOCK_MONOTONIC);
}

static bool
is_timed(const struct turn *t)
{
    return t->wait.deadline != NO_DEADLINE;
}

static void
fall_asleep(struct schedule *s, struct turn *t)
{
    t->asleep = true;
    s->timed += is_timed(t);
    s->elsewhere += t->word == 0;
    queue_put(&s->asleep, t);
}

/* The call of a thread that sleeps is over. */
static void
arrive(struct schedule *s, struct turn *t)
{
    s->arrived += !t->arrived;
    t->arrived = true;
}

/* The thread sleeps no longer, and is in no queue. */
static void
stop_sleeping(struct schedule *s, struct turn *t)
{
    if (!t->asleep)
        return;
    queue_remove(&s->asleep, t);
    s->timed -= is_timed(t);
    s->elsewhere -= t->word == 0;
    s->arrived -= t->arrived;
    t->asleep = t->arrived = false;
}

static void
get_ready(struct schedule *s, struct turn *t)
{
    stop_sleeping(s, t);
    queue_put(&s->ready, t);
}

static void
begin_turn(struct schedule *s, struct turn *t)
{
    s->current = t;
    if (s->holder != t->number) {
        s->previous = s->holder;
        s->holder = t->number;
        if (s->turn_begins != NULL)
            s->turn_begins(t->number);
    }
    t->used = 0;
    t->spins = 0;
    t->spun = false;
}

/* Has the watcher look again. */
static void
tell_watcher(struct schedule *s)
{
    if (s->watched)
        tell_change(s, &s->watch);
}

/* Returns the thread that looks whether the turn's holder sleeps: the first
 * thread that is ready; where no thread is, the first to have fallen asleep
 * among the threads whose calls are over. NULL: no thread waits for a turn. */
static struct turn *
first_waiting(const struct schedule *s)
{
    struct turn *at = s->asleep.first;

    if (s->ready.first != NULL || s->arrived == 0)
        return s->ready.first;
    while (!at->arrived)
        at = at->next;
    return at;
}

/* Wakes the thread that is to look whether the one that has the turn sleeps;
 * the watcher, where no thread waits for a turn. */
static void
wake_looker(struct schedule *s)
{
    struct turn *const first = first_waiting(s);

    if (first != NULL)
        wake(first);
    else
        tell_watcher(s);
}

static void
set_forward(struct schedule *s, uint64_t time)
{
    if (s->time.now < time)
        s->time.now = time;
}

/* Returns how much of the program's time no thread has run. */
static uint64_t
idle_time(const struct schedule *s)
{
    return s->time.now - s->time.ran;
}

/* Returns the sleeper whose time comes first, or NULL. */
static struct turn *
first_deadline(const struct schedule *s)
{
    struct turn *first = NULL;

    for (struct turn *at = s->timed > 0 ? s->asleep.first : NULL; at != NULL;
         at = at->next) {
        if (is_timed(at) &&
            (first == NULL || at->wait.deadline < first->wait.deadline))
            first = at;
    }
    return first;
}

static bool
somebody_is_due(const struct schedule *s)
{
    const struct turn *const first = first_deadline(s);

    return first != NULL && first->wait.deadline <= s->time.now;
}

/* Returns whether the thread is in futex() to wait for a change of a word. */
static bool
waits_on_word(const struct turn *t)
{
    const uint64_t operation = t->args[1] & FUTEX_OPERATION;

    return t->word != 0 &&
           (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET);
}

/* Returns whether the thread is in a call of which the host does not know the
 * time, and which wake_signal_send() ends. */
static bool
waits_for_signal(const struct schedule *s, const struct turn *t)
{
    return t->untimed && virtual_time_signal_ends(s->isa, t->number_of_call);
}

/* Returns whether the host does not know when the thread's wait ends. */
static bool
waits_long(const struct schedule *s, const struct turn *t)
{
    return waits_on_word(t) || waits_for_signal(s, t);
}

/* Returns whether the host's clock may end the call of a thread. */
static bool
host_may_end(const struct schedule *s, const struct turn *t)
{
    return is_timed(t) && !waits_long(s, t);
}

/* Ends the wait of a thread in futex(), where the host would wait for ever
 * (HOST_WAIT_LONG). Those that fell asleep on the word before the thread are
 * put aside for that moment, and those after it then, so that their order
 * stays. */
static void
end_word_wait(struct schedule *s, const struct turn *t)
{
    const void *const word = plugin_memory(t->word);
    const unsigned shared = (unsigned)t->args[1] & FUTEX_PRIVATE_FLAG;
    uint64_t before = 0;

    for (const struct turn *at = s->asleep.first; at != t; at = at->next)
        before += at->word == t->word && !at->arrived;
    if (before > 0)
        host_futex(word, FUTEX_REQUEUE | shared, 0, before, &s->aside);
    host_futex(word, FUTEX_WAKE | shared, 1, 0, NULL);
    if (before > 0) {
        host_futex(word, FUTEX_REQUEUE | shared, 0, INT_MAX, &s->aside);
        host_futex(&s->aside, FUTEX_REQUEUE | shared, 0, INT_MAX, (void *)word);
    }
}

/* Ends the wait of a thread of which the host does not know the time. */
static void
end_wait(struct schedule *s, const struct turn *t)
{
    if (waits_on_word(t))
        end_word_wait(s, t);
    else
        wake_signal_send(atomic_load(&t->thread));
}

/* Returns whether the thread waits for files until some time. */
static bool
waits_for_files(const struct turn *t)
{
    return is_timed(t) && t->word == 0 && !t->wait.alone &&
           !virtual_time_signal_ends(t->schedule->isa, t->number_of_call);
}

/* Returns whether a file is ready that the thread waits for. */
static bool
finds_files(const struct schedule *s, const struct turn *t)
{
    return files_are_ready(s->isa, t->number_of_call, t->args, &t->sets);
}

/* Readies the threads whose time has come, in order of their times. */
static void
ready_due(struct schedule *s)
{
    while (somebody_is_due(s)) {
        struct turn *const t = first_deadline(s);
        t->due = true;
        if (waits_long(s, t) && !t->arrived)
            end_wait(s, t);
        /* Whether a file is ready now, or only when the thread goes on, was
         * not the threads' doing. */
        if (waits_for_files(t))
            t->irregular |= finds_files(s, t);
        get_ready(s, t);
    }
}

/* Gives the turn to the next that is ready, if any is. */
static void
pass_turn(struct schedule *s)
{
    s->current = NULL;
    ready_due(s);
    struct turn *const next = s->ready.first;
    if (next == NULL) {
        s->idle_since = host_now();
        wake_looker(s);
        tell_watcher(s); /* also where a thread looks: it ends no waits */
        return;
    }
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

/* Returns whether the host's call that a thread sleeps in, as a line of /proc
 * shows it, is another than the one that its guest's call is to make: QEMU
 * waits for a lock or a page on the way to that call or out of it. */
static bool
is_other_call(const struct turn *t, const char *line)
{
    long number = -1; /* none: on a page */
    uint64_t first = 0;

    sscanf(line, "%ld %" SCNx64, &number, &first);
    if (t->word == 0)
        return number < 0 || number == SYS_futex;
    /* A sleeper that was moved to another word is still in the call by which it
     * came to the first. */
    return number != SYS_futex || first != (uintptr_t)plugin_memory(t->args[0]);
}

/* Returns whether the thread sleeps in a host's call, as the kernel has it, and
 * not for a moment on the way: on a lock of the process's memory, on a page.
 * Without /proc each look counts. */
static bool
host_sleeps(const struct turn *t, unsigned call)
{
    static const char *const passing[] = {"fault", "rwsem", "down_",
                                          "mutex", "folio", "page"};
    char text[64];

    if (!read_proc(t, "syscall", text, sizeof(text)))
        return true;
    if (text[0] == 'r') /* "running" */
        return false;
    if (call == CALL_SLEEPS && is_other_call(t, text))
        return false;
    /* The function of the kernel that the thread sleeps in; "0": it runs by
     * now, or the kernel does not tell. */
    if (!read_proc(t, "wchan", text, sizeof(text)))
        return true;
    if (text[0] == '0')
        return !read_proc(t, "syscall", text, sizeof(text)) || text[0] != 'r';
    if (t->word != 0)
        return strncmp(text, "futex", strlen("futex")) == 0 ||
               strstr(text, "rt_mutex") != NULL; /* FUTEX_LOCK_PI */
    for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++) {
        if (strstr(text, passing[i]) != NULL)
            return false;
    }
    return true;
}

/* Returns whether the thread sleeps in its call. A thread whose call has
 * returned in the meantime may wait for the schedule's lock. */
static bool
sleeps(const struct turn *t)
{
    const unsigned call = atomic_load(&t->call);

    return call != CALL_NONE && host_sleeps(t, call) &&
           atomic_load(&t->call) == call;
}

/* Returns how many sleep in futex() on a word, by what the schedule knows. */
static long
known_waiters(const struct schedule *s, uint64_t word)
{
    long count = 0;

    for (const struct turn *at = s->asleep.first; at != NULL; at = at->next)
        count += at->word == word && !at->arrived && !at->woken;
    return count;
}

/* Returns how many threads of the process the kernel has waiting on the word of
 * a thread's call; less than 0: that is not known. They are moved to that word
 * itself, which leaves them as they are. */
static long
kernel_waiters(const struct turn *t)
{
    const void *const word = plugin_memory(t->word);

    return host_futex(word, FUTEX_REQUEUE_PRIVATE, 0, INT_MAX, (void *)word);
}

/* Puts those who arrived while a call was made into the queue, in the order in
 * which they fell asleep: the order of their arrival does not repeat. Whose
 * call was ended by time waits for that time on the program's clock. */
static void
queue_arrived(struct schedule *s)
{
    if (s->arrived == 0)
        return;
    for (struct turn *at = s->asleep.first, *next; at != NULL; at = next) {
        next = at->next;
        if (at->arrived && !at->ended)
            get_ready(s, at);
    }
}

/* What the first in the queue has seen of the thread that has the turn. */
struct looks {
    const struct turn *at;
    unsigned call; /* enum call_kind, at the last look */
    unsigned count, asleep;
};

/* Returns whether one look that finds the thread asleep in such a call is
 * enough: the thread sleeps until another thread does something. One look is
 * not enough for a thread that slept in futex() and has the turn again: it may
 * have been given the turn before the kernel has woken it, since QEMU wakes who
 * waits for the end of a thread after that thread has given its turn away. */
static bool
is_quick(const struct turn *t, unsigned call)
{
    return call == CALL_SLEEPS && !(t->slept && t->word != 0);
}

/* Returns whether the thread that has the turn sleeps, and will until another
 * thread does something. */
static bool
holder_sleeps(const struct schedule *s, struct looks *looks)
{
    const struct turn *const holder = s->current;
    const unsigned call = atomic_load(&holder->call);

    if (looks->at != holder)
        *looks = (struct looks){.at = holder};
    looks->call = call;
    if (call == CALL_NONE || call == CALL_ENTERS || call == CALL_GOES_ON ||
        holder->due) {
        looks->count = looks->asleep = 0;
        return false;
    }
    looks->count++;
    /* The kernel's number of waiters tells so some 20 us sooner than /proc. It
     * may stay less where a signal has ended another's wait. */
    if (is_quick(holder, call) && waits_on_word(holder) &&
        (holder->args[1] & FUTEX_PRIVATE_FLAG) != 0 &&
        looks->count < QUICK_LOOKS)
        return kernel_waiters(holder) == known_waiters(s, holder->word) + 1;
    if (!sleeps(holder)) {
        looks->asleep = 0;
        return false;
    }
    return ++looks->asleep >= (is_quick(holder, call) ? 1 : LOOKS);
}

/* Waits until a word changes, for some ns at most; 0: lets others run. Returns
 * whether a signal came. */
static bool
wait_for_change(struct schedule *s, atomic_uint *word, uint64_t ns)
{
    const unsigned value = atomic_load(word);
    const struct timespec most = {(time_t)(ns / SECOND), (long)(ns % SECOND)};
    bool signalled = false;

    unlock(s);
    if (ns == 0)
        sched_yield();
    else
        signalled = syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &most,
                            NULL, 0) != 0 &&
                    errno == EINTR;
    lock(s);
    return signalled;
}

/* Returns how long to wait until the next look at the thread that has the turn.
 * `looks`: what the looks so far have seen of it. */
static uint64_t
until_next_look(const struct schedule *s, const struct looks *looks)
{
    if (s->current == NULL)
        return IDLE_NS;
    const unsigned call = atomic_load(&s->current->call);
    if (call == CALL_ENTERS)
        return 0;
    if (looks->count == 0 || !is_quick(s->current, call))
        return LOOK_NS;
    return looks->count < QUICK_LOOKS ? 0 : QUICK_NS;
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

/* Takes the turn from the thread that has it, which slept in its call at the
 * last look: by now the call may have returned. */
static void
take_turn(struct schedule *s, const struct looks *looks)
{
    struct turn *const t = s->current;

    t->irregular |= !is_quick(t, looks->call);
    t->slept = true;
    s->idle_since = host_now();
    virtual_time_restore(&t->wait); /* the host has read it */
    fall_asleep(s, t);
    s->current = NULL;
}

/* Where all sleep, gives the turn to whoever goes on first, if that thread has
 * arrived or its time has come already. */
static void
go_on(struct schedule *s)
{
    queue_arrived(s);
    if (s->ready.first == NULL) {
        const struct turn *const t = first_deadline(s);
        if (t == NULL || (!t->arrived && t->wait.deadline > s->time.now))
            return;
        set_forward(s, t->wait.deadline);
    }
    pass_turn(s);
}

static void end_turn(void *cpu, void *data);

/* Has the thread, which has the turn, end its turn at its next block. */
static void
queue_end(struct schedule *s, struct turn *t)
{
    if (!atomic_exchange(&t->leaves, true))
        s->qemu.run_on_cpu(t->cpu, end_turn, t);
}

/* Has the turn end soon although its instructions are not over: a signal came
 * to a thread that waits, and who has the turn may wait for its handler. */
static void
hurry(struct schedule *s, struct turn *t)
{
    t->signalled = false;
    t->irregular = true;
    queue_end(s, s->current);
}

/* Waits until the thread has the turn. */
static void
await_turn(struct schedule *s, struct turn *t)
{
    struct looks looks = {0};
    unsigned waits = 0; /* since a signal came */

    while (s->current != t && s->quantum != 0) {
        const bool first = first_waiting(s) == t;

        const bool takes =
            first && s->current != NULL && holder_sleeps(s, &looks);
        if (takes)
            take_turn(s, &looks);
        if (s->current == NULL) {
            go_on(s);
            if (s->current == t)
                break;
        }
        if (takes && s->current == NULL)
            tell_watcher(s); /* the first to go on waits for its time */
        if (t->signalled && s->current != NULL && ++waits > LOOKS) {
            hurry(s, t);
            waits = 0;
        }
        t->signalled |= wait_for_change(s, &t->wakes,
                                        first ? until_next_look(s, &looks)
                                        : t->signalled ? LOOK_NS
                                                       : LOOK_NS * 50) &&
                        !t->struck;
    }
    t->signalled = false;
    if (s->ending != 0)
        await_ending(s);
}

/* Returns whether only a thread of the process can end the call that a thread
 * is in: it waits for the word of a private lock, or for a word that has the
 * number of a thread, which the thread's end clears. */
static bool
waits_for_threads(const struct schedule *s, const struct turn *t)
{
    const unsigned call = atomic_load(&t->call);

    return (call == CALL_ENTERS || call == CALL_SLEEPS) && t->word != 0 &&
           !is_timed(t) && !t->arrived && !t->interrupted &&
           ((t->args[1] & FUTEX_PRIVATE_FLAG) != 0 ||
            schedule_find_thread(s, (uint32_t)t->args[2]) != NO_THREAD);
}

/* Returns whether the end of a timer or of a child may come, whose signal may
 * wake a thread. */
static bool
awaits_signal(void)
{
    const int fd = open("/proc/self/timers", O_RDONLY | O_CLOEXEC);
    struct itimerval timer;
    siginfo_t child;
    char text[8];
    bool any = getitimer(ITIMER_REAL, &timer) == 0 &&
               (timer.it_value.tv_sec != 0 || timer.it_value.tv_usec != 0);

    if (fd >= 0) {
        any |= read(fd, text, sizeof(text)) > 0;
        close(fd);
    }
    return any || waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/* Returns whether each thread is in a call that only another thread of the
 * process can end. */
static bool
all_wait_for_threads(const struct schedule *s)
{
    if (s->ready.first != NULL || s->timed > 0)
        return false;
    /* A program of one thread may wait in futex() for its handler. */
    if (!s->threaded && s->handles)
        return false;
    for (unsigned i = 0; i < s->turn_count; i++) {
        if (s->turns[i] != NULL && !waits_for_threads(s, s->turns[i]))
            return false;
    }
    return s->living > 0;
}

/* Tells the owner how many threads are stuck; 0: one of them has gone on. */
static void
tell_stuck(struct schedule *s, unsigned threads)
{
    if (s->waits != NULL && threads != 0)
        s->waits->stuck();
    s->stuck_changes(threads);
}

/* Tells who watches where no thread can go on: each sleeps, as the kernel has
 * it too. Returns how long to wait until the next look; 0: nothing is to be
 * looked for. */
static uint64_t
look_for_stuck(struct schedule *s)
{
    if (s->stuck || !all_wait_for_threads(s))
        return 0;
    for (unsigned i = 0; i < s->turn_count; i++) {
        if (s->turns[i] != NULL && !sleeps(s->turns[i]))
            return LOOK_NS;
    }
    if (!awaits_signal()) {
        s->stuck = true;
        tell_stuck(s, s->living);
    }
    return 0;
}

/* Waits where all threads sleep, and the first to go on waits in futex() until
 * some time: for as long as that is on the host. Returns how long to wait. */
static uint64_t
watch_sleepers(struct schedule *s)
{
    const struct turn *const t = first_deadline(s);
    const uint64_t host = host_now();

    if (t == NULL)
        return SECOND;
    if (!waits_long(s, t) && t->word == 0 && !t->arrived)
        return LOOK_NS; /* it comes by itself */
    const uint64_t left =
        t->wait.deadline > s->time.now ? t->wait.deadline - s->time.now : 0;
    if (!t->arrived && host - s->idle_since < left)
        return left - (host - s->idle_since);
    set_forward(s, t->wait.deadline);
    pass_turn(s);
    return LOOK_NS;
}

/* The thread that sees to it that waits in futex() end at their time: all
 * threads of the guest may sleep then, and the host's own time-outs are for
 * ever. Where somebody watches what threads wait for, it also finds that none
 * can go on. */
static void *
watch(void *data)
{
    struct schedule *const s = data;
    struct looks looks = {0};

    lock(s);
    while (s->quantum != 0) {
        uint64_t ns = s->timed > 0 ? LOOK_NS : SECOND;

        if (s->keeps_time && s->ready.first == NULL && s->current != NULL &&
            holder_sleeps(s, &looks)) {
            take_turn(s, &looks);
            pass_turn(s);
        }
        if (s->current == NULL && s->keeps_time)
            ns = watch_sleepers(s);
        else if (s->timed > 0 && s->ready.first == NULL)
            ns = until_next_look(s, &looks);
        const uint64_t next = look_for_stuck(s);
        if (next != 0 && next < ns)
            ns = next;
        if (s->current == NULL)
            looks = (struct looks){0};
        wait_for_change(s, &s->watch, ns);
    }
    unlock(s);
    return NULL;
}

/* Returns whether the watcher runs, which this starts. No signal of the guest's
 * may come to it. */
static bool
have_watcher(struct schedule *s)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;

    if (s->watched || pthread_attr_init(&attributes) != 0)
        return s->watched;
    sigfillset(&all);
    pthread_attr_setstacksize(&attributes, WATCHER_STACK);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    s->watched = pthread_create(&thread, &attributes, watch, s) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return s->watched;
}

/* Waits for the first turn of a thread: on the thread, before its first block.
 */
static void
enter_first(void *cpu, void *data)
{
    struct turn *const t = data;

    (void)cpu;
    atomic_store(&t->thread, gettid());
    lock(t->schedule);
    await_turn(t->schedule, t);
    t->struck = false;
    unlock(t->schedule);
}

/* Ends the turn of a thread: on the thread, between two blocks, or within a
 * call with NULL for its CPU. */
static void
end_turn(void *cpu, void *data)
{
    struct turn *const t = data;
    struct schedule *const s = t->schedule;

    if (cpu != NULL && s->qemu.end_accesses != NULL)
        s->qemu.end_accesses(cpu);
    if (s->turn_ends != NULL)
        s->turn_ends(t->number);
    lock(s);
    t->leaves = false;
    if (s->current == t && s->quantum != 0) {
        const bool spun = t->spun;
        ready_due(s);
        get_ready(s, t);
        pass_turn(s);
        await_turn(s, t);
        t->struck = false;
        if (spun && s->waits != NULL && s->previous != t->number)
            s->waits->spun(t->number, s->previous);
    }
    unlock(s);
}

/* Ends the turn of the thread, which has it, where another waits for the turn.
 */
static void
leave(struct turn *t)
{
    struct schedule *const s = t->schedule;

    lock(s);
    const bool awaited = s->ready.first != NULL || somebody_is_due(s);
    unlock(s);
    if (awaited)
        queue_end(s, t);
}

/* Sets the program's clock forward by so much that the thread has run. */
static void
count_time(struct schedule *s, struct turn *t, uint64_t ns)
{
    s->time.now += ns;
    s->time.ran += ns;
    t->ran += ns;
}

/* Counts what the only thread has run. */
static void
count_alone(struct schedule *s, struct turn *t)
{
    count_time(s, t, s->ran_alone);
    s->ran_alone = 0;
}

bool
schedule_thread_starts(struct schedule *s, unsigned vcpu, unsigned maker)
{
    struct turn *const t = calloc(1, sizeof(*t));

    if (t == NULL)
        return false;
    t->schedule = s;
    lock(s);
    if (s->qemu.cpu_of == NULL) {
        s->qemu = find_qemu();
        registers_find(&s->registers, s->isa);
    }
    t->cpu = s->qemu.cpu_of((int)vcpu);
    t->number = vcpu;
    t->wait.deadline = NO_DEADLINE;
    t->allowed = vcpu == 0 ? s->processors.first : s->turns[maker]->allowed;
    s->turns[vcpu] = t;
    s->living++;
    if (s->turn_count <= vcpu)
        s->turn_count = vcpu + 1;
    if (vcpu == 0) {
        t->thread = gettid();
        begin_turn(s, t);
    } else {
        count_alone(s, s->turns[maker]);
        s->threaded = true;
        processors_pin(&s->processors);
        t->end_word = s->turns[maker]->child_word;
        get_ready(s, t);
    }
    if (s->waits != NULL)
        s->waits->starts(vcpu, vcpu != 0 ? maker : vcpu);
    unlock(s);
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
    lock(s);
    /* QEMU wakes who sleeps on the word later, at a time that does not repeat:
     * they are ready now. */
    for (struct turn *at = s->asleep.first, *next; at != NULL; at = next) {
        next = at->next;
        if (t->end_word == 0 || at->word != t->end_word)
            continue;
        if (s->waits != NULL)
            s->waits->woken(at->number, t->number);
        get_ready(s, at);
    }
    queue_remove(&s->ready, t);
    stop_sleeping(s, t);
    s->turns[vcpu] = NULL;
    s->living--;
    if (s->current == t) {
        s->ending = t->end_word;
        pass_turn(s);
    }
    unlock(s);
    free(t);
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

/* Returns whether the call opens a pipe by its name, which waits for somebody
 * who opens the other end. */
static bool
opens_pipe(const struct isa *isa, int64_t number, const uint64_t args[6])
{
    const bool at = call_is(CALL_OPENAT, isa, number);
    struct stat file;

    if (!at && !call_is(CALL_OPEN, isa, number))
        return false;
    char *const path = plugin_read_string(args[at], PATH_MAX);
    const bool pipe =
        path != NULL &&
        fstatat(at ? (int)args[0] : AT_FDCWD, path, &file, 0) == 0 &&
        S_ISFIFO(file.st_mode);
    free(path);
    return pipe;
}

static const enum system_call reads[] = {
    CALL_READ,     CALL_READV,  CALL_RECVFROM, CALL_RECVMSG,
    CALL_RECVMMSG, CALL_ACCEPT, CALL_ACCEPT4,  CALL_COUNT};
static const enum system_call writes[] = {CALL_WRITE,    CALL_WRITEV,
                                          CALL_SENDTO,   CALL_SENDMSG,
                                          CALL_SENDMMSG, CALL_COUNT};
static const enum system_call waits[] = {
    CALL_NANOSLEEP,       CALL_CLOCK_NANOSLEEP,
    CALL_WAIT4,           CALL_WAITPID,
    CALL_WAITID,          CALL_CONNECT,
    CALL_RT_SIGTIMEDWAIT, CALL_RT_SIGSUSPEND,
    CALL_PAUSE,           CALL_FLOCK,
    CALL_FCNTL,           CALL_SEMOP,
    CALL_SEMTIMEDOP,      CALL_MSGRCV,
    CALL_MSGSND,          CALL_MQ_TIMEDSEND,
    CALL_MQ_TIMEDRECEIVE, CALL_FUTEX_WAITV,
    CALL_IO_GETEVENTS,    CALL_COUNT};

/* Returns the pipe that the call reads or writes, if it does. */
static struct pipe_name
pipe_of_call(const struct schedule *s, int64_t number, const uint64_t args[6])
{
    struct pipe_name pipe = {0};
    struct stat file;

    if ((call_is_any(reads, s->isa, number) ||
         call_is_any(writes, s->isa, number)) &&
        fstat((int)args[0], &file) == 0 && S_ISFIFO(file.st_mode))
        pipe = (struct pipe_name){file.st_dev, file.st_ino};
    return pipe;
}

static enum call_kind
kind_of(const struct schedule *s, int64_t number, const uint64_t args[6])
{
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
    if (call_waits_for_files(isa, number) || call_is_any(waits, isa, number) ||
        (s->living > 1 && opens_pipe(isa, number, args)))
        return CALL_SLEEPS;
    return call_is_any(makes, isa, number) ? CALL_GOES_ON : CALL_OTHER;
}

/* Returns whether the watcher runs and ends waits at their time, which this
 * starts. */
static bool
keep_time(struct schedule *s)
{
    if (!have_watcher(s))
        return false;
    s->keeps_time = true;
    return true;
}

/* Looks at the time-out and the processors that a call names. */
static void
change_arguments(struct schedule *s, struct turn *t, bool sleeps,
                 int64_t number, const uint64_t args[6])
{
    const bool signal = virtual_time_signal_ends(s->isa, number);
    const bool ends = t->word != 0 ? args[3] != 0
                      : signal     ? wake_signal_handle()
                                   : false;

    t->wait = virtual_time_wait(
        &s->time, number, args,
        sleeps && ends && keep_time(s) ? HOST_WAIT_LONG : HOST_WAIT_SAME);
    /* The time may stand where the program cannot write. */
    t->untimed = sleeps && ends && s->keeps_time && t->wait.set_at != 0;
    if (sleeps && call_has_sets(s->isa, number))
        file_sets_keep(&t->sets, s->isa, args);
    if (call_is(CALL_SCHED_SETAFFINITY, s->isa, number))
        processors_change(&s->processors, s->isa, args, &t->change);
}

/* A thread that has slept goes on: so not all threads sleep. */
static void
tell_goes_on(struct schedule *s, struct turn *t)
{
    t->interrupted = false;
    if (s->stuck)
        tell_stuck(s, 0);
    s->stuck = false;
    if (s->waits != NULL)
        s->waits->goes_on(t->number);
}

/* Tells who watches that the thread is about to sleep. */
static void
tell_sleeps(struct schedule *s, const struct turn *t)
{
    if (s->waits != NULL)
        s->waits->sleeps(t->number, t->word, is_timed(t));
    if (t->word != 0 && !is_timed(t))
        have_watcher(s);
}

/* Returns whether the call sends a signal to a thread of this process. Which
 * thread gets one that is for the process alone is the kernel's choice, and may
 * not repeat. */
static bool
strikes_thread(const struct schedule *s, int64_t number, const uint64_t args[6])
{
    bool thread;

    return call_signals_own(s->isa, number, args, &thread) && thread;
}

/* Returns the thread that the call, of which strikes_thread() is true, sends a
 * signal to; NULL: it has ended, or has not begun. */
static struct turn *
struck_by(const struct schedule *s, int64_t number, const uint64_t args[6])
{
    const bool group = call_names_group(s->isa, number);
    const unsigned i = schedule_find_thread(s, (uint32_t)args[group]);

    return i != NO_THREAD ? s->turns[i] : NULL;
}

/* A thread is about to send another thread of the process a signal. If the
 * other waits for a turn, it has the signal before its next turn begins, in
 * each run. If it sleeps until some time, it depends on the host whether the
 * signal or the host's clock ends the sleep: that does not repeat. */
static void
expect_signal(struct schedule *s, int64_t number, const uint64_t args[6])
{
    lock(s);
    struct turn *const at = struck_by(s, number, args);
    if (at != NULL) {
        at->struck = !at->asleep || at->arrived;
        at->irregular |= at->asleep && host_may_end(s, at);
    }
    unlock(s);
}

/* Returns whether a signal that the thread does not block waits to come to it,
 * as the kernel has it. */
static bool
has_signal(const struct turn *t)
{
    char text[STATUS_SIZE];
    uint64_t pending, blocked;

    if (!read_proc(t, "status", text, sizeof(text)))
        return false;
    const char *const first = strstr(text, "SigPnd:");
    const char *const second = strstr(text, "SigBlk:");
    return first != NULL && second != NULL &&
           sscanf(first, "SigPnd: %" SCNx64, &pending) == 1 &&
           sscanf(second, "SigBlk: %" SCNx64, &blocked) == 1 &&
           (pending & ~blocked) != 0;
}

/* The thread, which has the turn, has sent a thread a signal: waits until that
 * has come to the other. A second signal would be one with the first or not, as
 * the host has it. */
static void
await_signal(struct schedule *s, struct turn *t)
{
    const struct turn *const other = struck_by(s, t->number_of_call, t->args);

    if (other == NULL || other == t)
        return;
    for (unsigned k = 0; k < SIGNAL_LOOKS; k++) {
        if (!has_signal(other))
            return;
        sched_yield();
    }
    t->irregular = true;
}

/* Returns whether no other thread can go on while the thread, which has the
 * turn, is in its call, and no file is ready for that: then something outside
 * ends the call, or its time does. */
static bool
is_alone(const struct schedule *s, const struct turn *t)
{
    return t->word == 0 && s->ready.first == NULL &&
           !(call_waits_for_files(s->isa, t->number_of_call) &&
             finds_files(s, t));
}

/* Returns how often the calling thread has slept on the host so far. While it
 * only waits for a processor, this does not change. */
static long
own_switches(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nvcsw : 0;
}

/* The thread is about to make a call, which no other thread ends. */
static void
begin_idle(struct schedule *s, struct turn *t)
{
    s->idle_since = host_now();
    t->switches = own_switches();
}

bool
schedule_call(struct schedule *s, unsigned vcpu, int64_t number,
              const uint64_t args[6])
{
    struct turn *const t = s->turns[vcpu];

    if (t == NULL || s->quantum == 0)
        return false;
    const bool outside = t->irregular; /* as schedule_return() left it */
    t->irregular = false;
    if (t->interrupted && s->waits != NULL) {
        lock(s);
        tell_goes_on(s, t);
        unlock(s);
    }
    if (!s->threaded)
        count_alone(s, t);
    if (call_is(CALL_CLONE, s->isa, number))
        t->child_word =
            args[0] & CHILD_CLEARTID ? args[s->isa->clone_child - 1] : 0;
    t->word = call_is(CALL_FUTEX, s->isa, number) ? args[0] : 0;
    t->number_of_call = number;
    memcpy(t->args, args, sizeof(t->args));
    t->called = s->time.now;
    t->idle = idle_time(s);
    t->switches = SWITCHES_NONE;
    if (call_is(CALL_SCHED_YIELD, s->isa, number)) {
        count_time(s, t, YIELD_NS);
        t->spun = true;
        end_turn(NULL, t);
        return outside;
    }
    const enum call_kind kind = kind_of(s, number, args);
    if (s->living > 1 && strikes_thread(s, number, args))
        expect_signal(s, number, args);
    atomic_store(&t->calls, true);
    atomic_store(&t->call, kind == CALL_SLEEPS ? CALL_ENTERS : kind);
    change_arguments(s, t, kind == CALL_SLEEPS && s->living > 1, number, args);
    if (kind != CALL_SLEEPS)
        return outside;
    t->pipe = pipe_of_call(s, number, args);
    if (s->living > 1 || s->waits != NULL || t->word != 0) {
        lock(s);
        t->alone = is_alone(s, t);
        tell_sleeps(s, t);
        wake_looker(s);
        if (t->alone)
            begin_idle(s, t);
        unlock(s);
    }
    if (s->living == 1)
        begin_idle(s, t);
    atomic_store(&t->call, CALL_SLEEPS);
    return outside;
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
 * sleeps in futex() is woken by futex() and by signals alone, who waits for
 * time alone by signals. */
static bool
may_wake(const struct schedule *s, int64_t number, const uint64_t args[6],
         const struct pipe_name *pipe, const struct turn *sleeper)
{
    if (call_sends_signal(s->isa, number))
        return true;
    if (call_is(CALL_FUTEX, s->isa, number))
        return sleeper->word != 0 &&
               (sleeper->word == args[0] || sleeper->word == args[4]);
    if (sleeper->word != 0 || sleeper->wait.alone)
        return false;
    return pipe->inode == 0 || sleeper->pipe.inode == 0 ||
           (pipe->inode == sleeper->pipe.inode &&
            pipe->device == sleeper->pipe.device);
}

/* Returns whether a sleeper whose call a thread may have ended sleeps no
 * longer. Where the sleeper waits for files until some time, the files are
 * asked: that its call is over may be the doing of the host's clock. */
static bool
is_woken(const struct schedule *s, int64_t number, const struct turn *sleeper)
{
    if (waits_for_files(sleeper) && !call_sends_signal(s->isa, number))
        return finds_files(s, sleeper);
    return !sleeper->ended && !sleeps(sleeper);
}

/* Returns whether a call is known to wake no thread. Of a sleeper that is not
 * in futex(), only /proc tells whether it sleeps, which takes some 20 us. */
static bool
wakes_nobody(const struct schedule *s, int64_t number)
{
    static const enum system_call calls[] = {
        CALL_BRK,
        CALL_MPROTECT,
        CALL_MADVISE,
        CALL_CLONE,
        CALL_CLONE3,
        CALL_RT_SIGPROCMASK,
        CALL_RT_SIGACTION,
        CALL_SET_ROBUST_LIST,
        CALL_RSEQ,
        CALL_NANOSLEEP,
        CALL_CLOCK_NANOSLEEP,
        CALL_GETRANDOM,
        CALL_GETPID,
        CALL_GETPPID,
        CALL_SYSINFO,
        CALL_SCHED_GETAFFINITY,
        CALL_GETCPU,
        CALL_COUNT,
    };

    return call_changes_memory(s->isa, number) ||
           virtual_time_is_read(s->isa, number) ||
           call_is_any(calls, s->isa, number);
}

/* Finds those that this call has woken, in the order in which they fell asleep.
 * The kernel wakes those who sleep on one word in that order, too, so that the
 * search ends with as many as futex() has woken, and moves them in that order.
 * Returns how many that futex() has woken were not found. */
static int64_t
find_woken(struct schedule *s, int64_t number, const uint64_t args[6],
           int64_t result)
{
    const bool futex = call_is(CALL_FUTEX, s->isa, number);
    const bool moves = futex && futex_moves(args);
    uint64_t moved = 0;

    /* It wakes one, and returns 0. */
    if (futex && (args[1] & FUTEX_OPERATION) == FUTEX_UNLOCK_PI && result == 0)
        result = 1;
    if (!futex && (wakes_nobody(s, number) ||
                   (s->elsewhere == 0 && !call_sends_signal(s->isa, number))))
        return 0;
    const struct pipe_name pipe = pipe_of_call(s, number, args);
    const bool strikes = strikes_thread(s, number, args);
    const struct turn *const struck =
        strikes ? struck_by(s, number, args) : NULL;
    for (struct turn *at = s->asleep.first; at != NULL; at = at->next) {
        if (futex && (moves ? result < 0 : result <= 0))
            break;
        if (at->woken || (strikes && at != struck) ||
            !may_wake(s, number, args, &pipe, at))
            continue;
        if (is_woken(s, number, at)) {
            if (waits_for_files(at))
                at->found = at->ended;
            else
                at->irregular |= at->ended;
            /* The host's clock may have ended the wait just now. */
            at->irregular |= !strikes && call_sends_signal(s->isa, number) &&
                             host_may_end(s, at);
            at->woken = true;
            at->struck |= strikes;
            s->woken++;
            result -= moves ? 0 : 1;
        } else if (moves && at->word == args[0] && moved < args[3]) {
            at->word = args[4];
            moved++;
        }
    }
    return futex && !moves && result > 0 ? result : 0;
}

/* Waits until the call of a thread is over, which was seen to sleep no longer.
 * Returns whether it is: the thread may sleep again. */
static bool
returns_now(const struct turn *t)
{
    for (unsigned i = 0; i < RETURN_LOOKS; i++) {
        if (atomic_load(&t->call) == CALL_NONE)
            return true;
        if (i % RETURN_YIELDS == RETURN_YIELDS - 1 && sleeps(t))
            return false;
        sched_yield();
    }
    return true;
}

/* Waits until those that this call has woken, in another call than futex(),
 * have done what they were woken for: of several that read one pipe the kernel
 * wakes the next only where the one before has left something, and a thread
 * that runs on would find what the woken one has not read yet. */
static void
await_woken(struct schedule *s, int64_t number, const uint64_t args[6],
            int64_t result)
{
    unsigned before = 0;

    while (s->woken > before) {
        for (struct turn *at = s->asleep.first; at != NULL; at = at->next) {
            if (at->woken && at->word == 0 && !returns_now(at)) {
                at->woken = at->struck = false;
                s->woken--;
            }
        }
        before = s->woken;
        find_woken(s, number, args, result);
    }
}

/* Puts those that this call has woken into the queue, in the order in which
 * they fell asleep. Who was woken in futex() and sleeps again at once, on the
 * way out of its call, is looked for again: futex() says how many there are.
 * Only then is anyone queued, since who sleeps again does not repeat. */
static void
wake_sleepers(struct schedule *s, int64_t number, const uint64_t args[6],
              int64_t result)
{
    int64_t left = find_woken(s, number, args, result);

    for (unsigned i = 0; left > 0 && i < WOKEN_LOOKS; i++) {
        sched_yield();
        left = find_woken(s, number, args, left);
    }
    if (!call_is(CALL_FUTEX, s->isa, number))
        await_woken(s, number, args, result);
    for (struct turn *at = s->asleep.first, *next; s->woken > 0; at = next) {
        next = at->next;
        if (!at->woken)
            continue;
        at->woken = false;
        s->woken--;
        if (s->waits != NULL && s->current != NULL)
            s->waits->woken(at->number, s->current->number);
        get_ready(s, at);
    }
}

/* Sets the clock forward by the whole milliseconds that the program has slept
 * until something outside went on, no further than to the next time that a
 * thread waits for. */
static void
count_idle_time(struct schedule *s)
{
    const struct turn *const first = first_deadline(s);
    const uint64_t slept = host_now() - s->idle_since;
    const uint64_t time = s->time.now + slept / MILLISECOND * MILLISECOND;

    set_forward(s, first != NULL && first->wait.deadline < time
                       ? first->wait.deadline
                       : time);
    s->idle_since += slept;
}

/* Queues those who arrived although no other thread has woken them. */
static void
queue_outside(struct schedule *s)
{
    bool any = false;

    if (s->arrived == 0)
        return;
    for (struct turn *at = s->asleep.first; at != NULL; at = at->next) {
        at->irregular |= at->arrived && !at->ended;
        any |= at->arrived && !at->ended;
    }
    if (any && s->current == NULL)
        count_idle_time(s);
    queue_arrived(s);
}

/* Returns whether the call asks for the end of a child, and there is one: when
 * it ends, and who has turns until then, does not repeat. */
static bool
waits_for_child(const struct schedule *s, int64_t number, int64_t result)
{
    static const enum system_call calls[] = {CALL_WAIT4, CALL_WAITPID,
                                             CALL_WAITID, CALL_COUNT};

    return s->living > 1 && result != -ECHILD &&
           call_is_any(calls, s->isa, number);
}

/* Returns whether the call sets a timer that files tell of (timerfd_settime),
 * and does not stop it: it ends by the host's clock, and the program may see
 * whether it has without a wait. */
static bool
sets_timer_file(const struct schedule *s, int64_t number,
                const uint64_t args[6])
{
    uint64_t first[2]; /* seconds and nanoseconds */

    return call_is(CALL_TIMERFD_SETTIME, s->isa, number) &&
           plugin_read(args[2] + 16, first, sizeof(first)) &&
           (first[0] | first[1]) != 0;
}

/* Returns whether a signal has ended a call. */
static bool
is_interrupted(int64_t result)
{
    return result == -EINTR || result == -RESTARTS;
}

/* Sees to the call of a thread that time has ended on the host's clock, and to
 * the program's. Returns the result that the program is to have. */
static int64_t
end_by_time(struct schedule *s, struct turn *t, int64_t result)
{
    const bool ended =
        virtual_time_ended(s->isa, t->number_of_call, &t->wait, result);

    if (t->due && (waits_on_word(t)         ? result == 0
                   : waits_for_signal(s, t) ? result == -EINTR
                                            : false))
        return virtual_time_result(s->isa, t->number_of_call); /* end_wait() */
    if (t->asleep) {
        t->ended = ended;
    } else if (s->living == 1) {
        if (ended)
            set_forward(s, t->wait.deadline);
        else if (t->blocked && t->word == 0) /* else QEMU ends a thread */
            count_idle_time(s);
    } else if (t->blocked && t->alone && !ended && s->current == t) {
        const uint64_t before = s->time.now;
        count_idle_time(s);
        t->irregular |= s->time.now != before;
    } else if (ended && s->current == t && t->wait.deadline > s->time.now) {
        /* The others run until then. */
        t->ended = t->slept = true;
        fall_asleep(s, t);
        arrive(s, t);
        pass_turn(s);
    }
    return result;
}

/* Asks for the files of a thread, which has the turn and whose call the host's
 * clock has ended before the program's clock did. Where another thread has used
 * what a file had, the thread sleeps on. Returns the result that the program is
 * to have. */
static int64_t
ask_again(struct schedule *s, struct turn *t)
{
    int64_t result;

    while ((result = files_ask(s->isa, t->number_of_call, t->args, &t->sets)) ==
           0) {
        t->irregular |= t->found;
        t->found = false;
        if (t->due || s->quantum == 0)
            break;
        fall_asleep(s, t);
        arrive(s, t);
        pass_turn(s);
        await_turn(s, t);
    }
    return result;
}

/* Waits until the thread, whose call has returned, has the turn, and sees who
 * was woken by the call. Returns the result that the program is to have. */
static int64_t
return_in_turn(struct schedule *s, struct turn *t, int64_t result)
{
    const int64_t number = t->number_of_call;
    const bool arrives = t->asleep;

    result = end_by_time(s, t, result);
    t->irregular |= waits_for_child(s, number, result);
    /* By a time that is not the program's. */
    t->irregular |= t->slept && !is_timed(t) && result == -s->isa->timed_out;
    if (arrives) {
        arrive(s, t);
        if (s->current == NULL || !atomic_load(&s->current->calls))
            queue_outside(s);
    }
    if (s->current != t) {
        await_turn(s, t);
        if (t->ended && result == 0 && waits_for_files(t))
            result = ask_again(s, t);
    } else if (s->ending != 0) {
        await_ending(s); /* the thread was given the turn in its call */
    } else if (s->asleep.first != NULL) {
        wake_sleepers(s, number, t->args, result);
        queue_outside(s);
    }
    /* When a signal from outside ends a sleep does not repeat. */
    t->irregular |= t->slept && is_interrupted(result) && !t->struck;
    return result;
}

/* Returns the thread that the program names by number; 0 is the thread itself.
 * NULL: it is of another process. */
static struct turn *
named_thread(struct schedule *s, struct turn *t, uint64_t thread)
{
    if (thread == 0)
        return t;
    for (unsigned i = 0; i < s->turn_count; i++) {
        if (s->turns[i] != NULL &&
            (uint64_t)atomic_load(&s->turns[i]->thread) == thread)
            return s->turns[i];
    }
    return NULL;
}

/* Sees to a call that asks for or changes the processors of a thread. */
static void
change_processors(struct schedule *s, struct turn *t, bool asks, int64_t result)
{
    struct turn *const named = named_thread(s, t, (uint32_t)t->args[0]);

    if (named == NULL)
        return;
    if (asks)
        processors_show(s->isa, t->args, result, named->allowed);
    else
        named->allowed = t->change.allowed;
}

/* Returns how long the thread has run whose clock the call asks for: the
 * calling thread unless the clock is another's (pthread_getcpuclockid). */
static uint64_t
ran_of_clock(struct schedule *s, struct turn *t)
{
    const int32_t clock = (int32_t)t->args[0];

    if (!call_is(CALL_CLOCK_GETTIME, s->isa, t->number_of_call) ||
        !virtual_time_is_threads(clock))
        return t->ran;
    const struct turn *const named =
        named_thread(s, t, (uint32_t) ~(clock >> 3));
    return named != NULL ? named->ran : 0;
}

/* Writes what the program is to see in place of the host's time and processors.
 * Returns the result that it is to have. */
static int64_t
change_answer(struct schedule *s, struct turn *t, int64_t result)
{
    const struct isa *const isa = s->isa;
    const int64_t number = t->number_of_call;
    const uint64_t *const args = t->args;

    if (t->wait.alone ? result == -EINTR : result >= 0)
        virtual_time_write_left(&s->time, &t->wait);
    virtual_time_tell(&s->time, number, args, ran_of_clock(s, t), &result);
    if (result < 0)
        return result;
    if (call_is(CALL_SCHED_GETAFFINITY, isa, number))
        change_processors(s, t, true, result);
    else if (call_is(CALL_SCHED_SETAFFINITY, isa, number))
        change_processors(s, t, false, result);
    else if (call_is(CALL_GETCPU, isa, number))
        processors_show_current(isa, args, t->number, t->allowed);
    else if (call_is(CALL_OPEN, isa, number))
        processors_open(&s->processors, args[0], (int)result);
    else if (call_is(CALL_OPENAT, isa, number))
        processors_open(&s->processors, args[1], (int)result);
    return result;
}

/* Tells who watches how the thread, which goes on, has slept. */
static void
tell_slept(const struct schedule *s, const struct turn *t, int64_t result)
{
    const bool timed = t->due || virtual_time_ended(s->isa, t->number_of_call,
                                                    &t->wait, result);
    const uint64_t idle = idle_time(s) - t->idle;
    const enum schedule_end end = is_interrupted(result) ? SCHEDULE_SIGNAL
                                  : t->slept             ? SCHEDULE_WOKEN
                                                         : SCHEDULE_OUTSIDE;

    if (timed && is_timed(t) && t->wait.deadline > t->called)
        s->waits->slept(t->number, SCHEDULE_TIME, t->word,
                        t->wait.deadline - t->called);
    else
        s->waits->slept(t->number, end, t->word, idle);
}

/* Tells who watches that the call is over in which the thread may have slept. A
 * call that a signal has ended is made again, or the signal ends the process:
 * the wait has ended only once the thread is seen to go on. */
static void
tell_over(struct schedule *s, struct turn *t, bool slept, int64_t result)
{
    if (t->slept || (s->living == 1 && idle_time(s) != t->idle))
        tell_slept(s, t, result);
    if (slept && is_interrupted(result))
        t->interrupted = true;
    else if (slept)
        tell_goes_on(s, t);
}

/* Writes the result of the call that the thread has made: on the thread, before
 * its next instruction. QEMU writes its own result after all callbacks of the
 * call. Where the handler of a signal runs first, the handler's registers are
 * written and the result stays as it was. */
static void
write_answer(void *cpu, void *data)
{
    const struct turn *const t = data;

    (void)cpu;
    registers_write_result(&t->schedule->registers, t->number, t->answer);
}

bool
schedule_return(struct schedule *s, unsigned vcpu, int64_t number,
                int64_t *told)
{
    const int64_t result = *told;
    struct turn *const t = s->turns[vcpu];
    bool outside;

    if (t == NULL || s->quantum == 0 || number != t->number_of_call)
        return false;
    /* First: who waits for the lock sleeps, too. */
    const bool slept = atomic_exchange(&t->call, CALL_NONE) == CALL_SLEEPS;
    t->blocked = t->switches != SWITCHES_NONE && own_switches() != t->switches;
    lock(s);
    if (s->living > 1 && result == 0 && strikes_thread(s, number, t->args))
        await_signal(s, t);
    virtual_time_restore(&t->wait);
    processors_changed(&t->change);
    t->answer = return_in_turn(s, t, result);
    if (s->waits != NULL)
        tell_over(s, t, slept, t->answer);
    else if (slept)
        tell_goes_on(s, t);
    t->answer = change_answer(s, t, t->answer);
    /* The signal that has ended a call may end the process, which is told by
     * itself: that it has ended a wait is told as the thread's next call
     * begins. */
    const bool interrupted = is_interrupted(t->answer);
    outside =
        (t->irregular && !interrupted) || sets_timer_file(s, number, t->args);
    t->irregular &= interrupted;
    t->slept = t->ended = t->due = t->found = false;
    t->struck = false;
    t->wait.deadline = NO_DEADLINE;
    t->word = 0;
    atomic_store(&t->calls, false);
    unlock(s);
    if (t->answer != result)
        s->qemu.run_on_cpu(t->cpu, write_answer, t);
    *told = t->answer;
    return outside;
}

uint64_t
schedule_ran(struct schedule *s, uint64_t instructions, uint64_t used)
{
    struct turn *const t = s->current;
    const uint64_t quantum = s->quantum;

    if (quantum == 0 || t == NULL || !s->threaded)
        return UINT64_MAX / 2;
    count_time(s, t, instructions);
    t->used += used;
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
    t->spun = true;
    leave(t);
}

void
schedule_read_ticks(struct schedule *s, unsigned vcpu)
{
    const struct turn *const t = s->turns[vcpu];

    if (t == NULL || s->quantum == 0)
        return;
    if (!s->threaded)
        s->ran_alone += TICKS_STEP;
    const uint64_t ticks = schedule_time(s);
    registers_write(&s->registers, vcpu, REGISTERS_TICKS_LOW, (uint32_t)ticks);
    registers_write(&s->registers, vcpu, REGISTERS_TICKS_HIGH, ticks >> 32);
}

unsigned
schedule_find_thread(const struct schedule *s, uint32_t number)
{
    for (unsigned i = 0; number != 0 && i < s->turn_count; i++) {
        if (s->turns[i] != NULL &&
            (uint32_t)atomic_load(&s->turns[i]->thread) == number)
            return i;
    }
    return NO_THREAD;
}

uint64_t
schedule_time(const struct schedule *s)
{
    return s->time.now + s->ran_alone;
}

uint64_t
schedule_processors(const struct schedule *s)
{
    return s->current != NULL ? s->current->allowed : s->processors.first;
}

void
schedule_before_fork(struct schedule *s)
{
    lock(s);
}

void
schedule_after_fork(struct schedule *s)
{
    unlock(s);
}

void
schedule_forks(struct schedule *s, unsigned vcpu)
{
    struct turn *const t = s->turns[vcpu];

    pthread_mutex_init(&s->lock, NULL);
    processors_release(&s->processors);
    s->processors.pinned = false;
    s->watched = s->keeps_time = s->stuck = false;
    s->timed = s->arrived = s->elsewhere = s->woken = 0;
    s->time.ran = 0;
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
    t->ran = 0;
    t->idle = idle_time(s);
    s->holder = s->previous = t->number;
    begin_turn(s, t);
}

void
schedule_stop(struct schedule *s)
{
    lock(s);
    s->quantum = 0;
    for (struct turn *t = s->ready.first; t != NULL; t = t->next)
        wake(t);
    for (struct turn *t = s->asleep.first; t != NULL; t = t->next) {
        if (t->arrived)
            wake(t);
        else if (waits_long(s, t) && is_timed(t))
            end_wait(s, t);
    }
    unlock(s);
}
