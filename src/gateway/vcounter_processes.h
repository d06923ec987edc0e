/* SPDX-License-Identifier: MIT */
/*
 * The processes of one session as owners of virtual counters
 * (counter/virtual.h), in memory that all processes map at one address, under a
 * lock that survives a process that dies with it.
 *
 * Each process has a machine of its own and runs from its birth to its end: so
 * each has a seat, which counter/virtual.h sees as a CPU. In system mode the
 * machine's strands count for all processes, and seats count nothing. Each
 * event has a counter, so events take no turns. The kernel is not emulated: an
 * event without user mode stays 0.
 *
 * The caller supplies the counts, struct vcounter_source: how often an event
 * has risen in a process, or on a strand in all processes.
 */
#ifndef TALLY_GATEWAY_VCOUNTER_PROCESSES_H
#define TALLY_GATEWAY_VCOUNTER_PROCESSES_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "counter/virtual.h"

#define VCOUNTER_STRANDS 256
#define VCOUNTER_SEATS 256
#define VCOUNTER_AT ((void *)0x3fe0000000) /* address of the mapping */
#define VCOUNTER_ANY (-1)                  /* waits for any child */
#define VCOUNTER_NOWHERE (-1)              /* virtual_owner.cpu of none */

/* A counter of a CPU. */
struct vcounter_counter {
    uint64_t value, base; /* base: the source's count when `value` was set */
    uint8_t index;
    bool on;
};

struct vcounter_seat {
    pid_t pid; /* 0: free */
    pid_t parent;
    pid_t waits;      /* the child waited for, VCOUNTER_ANY, or 0 */
    uint32_t process; /* number of the process in the source */
    uint32_t wanted; /* events that others want the process to count, as bits */
    int host_signal; /* of the request */
    struct virtual_owner owner;
};

struct vcounter_processes {
    atomic_uint state; /* 0, 1: being set up, 2 */
    pthread_mutex_t lock;
    /* Changes whenever processes must look at `wanted` again. */
    atomic_uint changes;
    uint32_t strands, seat_count; /* ever used */
    uint32_t wanted;              /* events, of all processes, as bits */
    struct virtual_system system;
    struct virtual_cpu cpus[VCOUNTER_STRANDS + VCOUNTER_SEATS];
    struct vcounter_counter counters[VCOUNTER_STRANDS + VCOUNTER_SEATS]
                                    [VIRTUAL_EVENTS];
    struct vcounter_seat seats[VCOUNTER_SEATS];
};

struct vcounter_source {
    unsigned numbers; /* index i stands for event number i % numbers */
    /* Returns whether the event has counts; `at_once`: and each block shows how
     * far the event rises. */
    bool (*has)(void *user, unsigned index, bool at_once);
    uint64_t (*process)(void *user, uint32_t process, unsigned index);
    uint64_t (*strand)(void *user, unsigned strand, unsigned index);
    uint64_t (*time)(void *user); /* ns */
    void (*send)(void *user, pid_t pid, int signal);
    /* Finds a process that runs and has no seat yet. */
    bool (*find)(void *user, pid_t pid, uint32_t *process, pid_t *parent);
};

/* A process's access to the memory. */
struct vcounter_client {
    struct vcounter_processes *shared;
    const struct vcounter_source *source;
    void *user;
    uint32_t strands;
    struct vcounter_seat *seat; /* of this process, or NULL */
    /* Of this process's profile, while the lock is not held. */
    const struct virtual_range *ranges;
    uint32_t range_count;
};

/*
 * Takes the lock, checks the memory, and exits the owners of processes that
 * have ended. Returns 0, or -EIO: the memory holds values that no process of
 * the session writes, or the lock cannot be had; then the counters cannot be
 * used. There is no defence against a process that writes into the memory
 * without the lock, between the check and the use.
 */
int vcounter_enter(struct vcounter_client *client);

/* Releases the lock. */
void vcounter_leave(struct vcounter_client *client);

/* The functions below, and those of counter/virtual.h, need the lock. */

struct vcounter_seat *
vcounter_find(struct vcounter_processes *processes, pid_t pid);

/* Returns the process's seat, a new one if it has none. NULL: `error` is -ESRCH
 * or -EMFILE. */
struct vcounter_seat *
vcounter_seat_of(struct vcounter_client *client, pid_t pid, int *error);

/* Gives a child of fork() a seat, if its parent has one. */
void vcounter_fork(struct vcounter_client *client, pid_t parent, pid_t child,
                   uint32_t process);

/* Ends the owner of a seat, and frees the seat. */
void vcounter_exit(struct vcounter_client *client, struct vcounter_seat *seat);

/* Stops the owner of a seat. */
void vcounter_pause(struct vcounter_client *client, struct vcounter_seat *seat);

/* Has the owner of a seat count on, from the counts of `process` on. */
void vcounter_resume(struct vcounter_client *client, struct vcounter_seat *seat,
                     uint32_t process);

/* Returns how far an event of a seat is from its threshold; 0: there is none.
 */
uint64_t vcounter_left(struct vcounter_client *client,
                       const struct vcounter_seat *seat, unsigned index);

/* Sends the signals of events of the seat that have reached their threshold. */
void vcounter_overflow(struct vcounter_client *client,
                       struct vcounter_seat *seat, uint64_t pc);

/* Reads the counts of a strand. Returns 0 if there is no such strand. */
int vcounter_read_cpu(struct vcounter_client *client, unsigned cpu,
                      struct counter_reading readings[VIRTUAL_EVENTS]);

#endif
