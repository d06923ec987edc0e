/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A schedule of the guest's threads that repeats: one thread runs at a time and
 * the others wait, so that a program whose threads talk to each other alone
 * runs the same way each time. A turn lasts a number of instructions or
 * modelled cycles, the quantum. A thread gives its turn away early where it
 * sleeps in a system call, yields, spins or ends; whoever is ready gets turns
 * in order of becoming ready.
 *
 * Waiting threads stand outside of QEMU's execution loop: a thread queues work
 * for its own virtual CPU, by which QEMU leaves the loop before the next block,
 * and the work waits. So nothing in QEMU waits for a thread that waits: a fork,
 * an atomic step or new translations find it stopped.
 *
 * QEMU's functions for that are no part of its plugin interface; they are
 * looked up by name, and where they are missing there is no schedule.
 */
#ifndef TALLY_PLUGIN_SCHEDULE_H
#define TALLY_PLUGIN_SCHEDULE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "isa/isa.h"
#include "plugin/processors.h"
#include "plugin/registers.h"
#include "plugin/virtual_time.h"
#include "source/process_counts.h"

struct turn;

/* QEMU's own functions, those of <hw/core/cpu.h>: queues work for a virtual
 * CPU, and finds the CPU by its number. The data is a union of 8 bytes there.
 */
struct schedule_qemu {
    void (*run_on_cpu)(void *cpu, void (*work)(void *cpu, void *data),
                       void *data);
    void *(*cpu_of)(int vcpu);
    /* Ends QEMU's calls to plugins for accesses of the instruction that ran
     * last. QEMU 7.2 does not end the calls of every instruction, and makes
     * them again as it stores the registers for a signal's handler. NULL: this
     * QEMU ends all by itself. */
    void (*end_accesses)(void *cpu);
};

/* Threads in order of their coming. */
struct turn_queue {
    struct turn *first, *last;
};

/* How a call ended in which a thread slept. */
enum schedule_end {
    SCHEDULE_WOKEN,   /* by another thread, if woken() was called since */
    SCHEDULE_TIME,    /* by its time, on the program's clock */
    SCHEDULE_OUTSIDE, /* otherwise, */
    SCHEDULE_SIGNAL,  /* by a signal: QEMU makes the call again, or the thread
                         ends */
};

/* Who is told what threads wait for. All functions are called with the
 * schedule's lock; the thread that runs, or a thread that stands still, is of
 * that number. */
struct schedule_watch {
    /* The thread `maker`, the caller, makes a thread. Thread 0 makes itself. */
    void (*starts)(unsigned vcpu, unsigned maker);
    /* The thread `waker`, the caller, ends the sleep of a thread; `waker` may
     * be a thread that ends. */
    void (*woken)(unsigned vcpu, unsigned waker);
    /* The thread, the caller, is about to make a call in which it may sleep.
     * `word`: of futex(), else 0; `has_time`: the sleep ends by itself. */
    void (*sleeps)(unsigned vcpu, uint64_t word, bool has_time);
    /* The thread, the caller, is out of that call, or has run on since a signal
     * ended it: called after slept(), and also where the thread did not sleep.
     */
    void (*goes_on)(unsigned vcpu);
    /* All threads sleep, and none can go on (schedule.stuck_changes). */
    void (*stuck)(void);
    /* The thread, the caller, has slept and goes on. `word`: of futex(), else
     * 0; `ns`: of its time, or of the time that all threads slept. */
    void (*slept)(unsigned vcpu, enum schedule_end end, uint64_t word,
                  uint64_t ns);
    /* The thread, the caller, has given its turn away as it spun, and has the
     * turn again, behind the thread `last`. */
    void (*spun)(unsigned vcpu, unsigned last);
};

struct schedule {
    pthread_mutex_t lock;  /* of all that follows */
    const struct isa *isa; /* set by the owner */
    /* Set by the owner: called on a thread that has the turn, between two
     * blocks, before another thread gets the turn. May be NULL. */
    void (*turn_ends)(unsigned vcpu);
    /* Set by the owner: called before a thread gets a turn after another's, on
     * any thread, while none runs. May be NULL. */
    void (*turn_begins)(unsigned vcpu);
    const struct schedule_watch *waits; /* set by the owner; NULL: nobody */
    /* Set by the owner: called where all threads, so many, sleep at words of
     * futex(), and nothing outside of the process can wake one but a signal;
     * with 0 once one has gone on. After `stuck` of `waits`. */
    void (*stuck_changes)(unsigned threads);
    /* Instructions or modelled cycles; 0: there is no schedule. Read without
     * the lock. */
    _Atomic uint64_t quantum;
    struct virtual_time time;     /* its start is set by the owner */
    struct processors processors; /* their number is set by the owner */
    /* Instructions since the last system call, as long as the process has had
     * no second thread: QEMU's translated code adds to it. */
    uint64_t ran_alone;
    struct schedule_qemu qemu;  /* found as the first thread starts, */
    struct registers registers; /* and these too */
    struct turn *current;       /* who has the turn; NULL: all sleep */
    const atomic_uint *changed; /* a word that a thread waits for, which is to
                                   be woken when the lock is given up */
    struct turn_queue ready;    /* who waits for a turn */
    struct turn_queue asleep;   /* who sleeps in a system call */
    /* Of the threads in `asleep`: how many sleep until some time; how many are
     * out of their call; how many sleep in another call than futex(); how many
     * were found to be woken. */
    unsigned timed, arrived, elsewhere, woken;
    uint64_t idle_since; /* the host's time when all fell asleep */
    uint64_t ending;   /* the guest's word that QEMU clears as a thread ends; 0:
                          none is to be waited for */
    bool threaded;     /* the process has had a second thread */
    bool handles;      /* set by the owner: the process handles signals that no
                          instruction raises */
    bool watched;      /* the watcher runs, */
    bool keeps_time;   /* and ends waits at their time */
    bool stuck;        /* who watches was told that all threads sleep */
    atomic_uint watch; /* a change ends its wait */
    uint32_t aside;    /* where sleepers are while one is woken */
    unsigned living;   /* threads */
    unsigned holder;   /* number of the thread that got the turn last, */
    unsigned previous; /* and of another one, before that */
    unsigned turn_count;              /* of the numbers of threads */
    struct turn *turns[COUNTS_VCPUS]; /* by number of the thread; owned */
};

/* Returns whether this QEMU has what a schedule needs. */
bool schedule_possible(void);

/* A thread begins, and becomes ready; called by the thread that makes it, which
 * is `maker`. The first thread, 0, has the turn. Returns false where there is
 * no memory. */
bool schedule_thread_starts(struct schedule *s, unsigned vcpu, unsigned maker);

/* A thread ends, and gives its turn away; called by itself. */
void schedule_thread_ends(struct schedule *s, unsigned vcpu);

/* Called around each system call of a thread, after all others have looked at
 * the call and before all others look at its result, with all instructions of
 * the thread told by schedule_ran(). Both may wait for the thread's turn. They
 * return whether the thread had slept until something happened that does not
 * repeat (time went by, or another process did something), or has set a timer
 * that does not: the first where a signal has ended the call before. *result is
 * what the host's call gave, and becomes the result that the program gets. */
bool schedule_call(struct schedule *s, unsigned vcpu, int64_t number,
                   const uint64_t args[6]);
bool schedule_return(struct schedule *s, unsigned vcpu, int64_t number,
                     int64_t *result);

/* The thread that has the turn, the caller, has run `instructions` more, and
 * has used as much of its turn as `used` says, in units of the quantum. Where
 * the turn is over the thread waits before its next block. Returns what is left
 * of the turn, in units of the quantum, 1 at least. */
uint64_t schedule_ran(struct schedule *s, uint64_t instructions, uint64_t used);

/* The thread, the caller, has read the processor's own clock (INSN_TICKS), and
 * is about to run the next instruction: puts the program's clock in the
 * registers that the host's went to. Within the block QEMU has those two in
 * memory, as after each instruction that it runs by a function. */
void schedule_read_ticks(struct schedule *s, unsigned vcpu);

/* Returns the program's time, and the processors of the thread that has the
 * turn, a bit each: what a program that it executes begins with. */
uint64_t schedule_time(const struct schedule *s);
uint64_t schedule_processors(const struct schedule *s);

/* What a thread does that may wait for another thread without a system call:
 * a hint to the processor, or a block that repeats itself. */
enum spin { SPIN_PAUSE = 64, SPIN_BLOCK = 32 };

/* The thread that has the turn, the caller, spins. Its turn ends soon. */
void schedule_spins(struct schedule *s, enum spin spin);

/* Called around fork(): by the thread that forks. The child has that thread
 * alone, with the turn. */
void schedule_before_fork(struct schedule *s);
void schedule_after_fork(struct schedule *s);
void schedule_forks(struct schedule *s, unsigned vcpu);

/* Returns the living thread that has this number of the host's, by which the
 * program knows it too. NO_THREAD: there is none. With the schedule's lock. */
unsigned schedule_find_thread(const struct schedule *s, uint32_t number);

/* From now on all threads run freely. */
void schedule_stop(struct schedule *s);

#endif
