/* SPDX-License-Identifier: MIT */
/*
 * The processes of one session as owners of virtual counters
 * (counter/virtual.h), in memory that all of them map at one address, under a
 * lock that survives whoever holds it.
 *
 * The machine of each process is its own, and a process runs from its birth to
 * its end: each has a seat, which is a CPU to the core. In system mode the
 * machine's strands count, over all processes, and seats count nothing. There
 * is a counter for each event: nothing takes turns. The kernel is not emulated:
 * an event without user mode stays 0.
 *
 * Counts come from outside, struct vcounter_source: how often an event has
 * risen in a process, or on a strand in all.
 */
#ifndef TALLY_GATEWAY_VCOUNTER_PROCESSES_H
#define TALLY_GATEWAY_VCOUNTER_PROCESSES_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "counter/virtual.h"

#define VCOUNTER_STRANDS 256
#define VCOUNTER_SEATS 256
#define VCOUNTER_AT ((void *)0x3fe0000000) /* where it is mapped */
#define VCOUNTER_ANY (-1)                  /* waits for any child */
#define VCOUNTER_NOWHERE (-1)              /* virtual_owner.cpu of none */

/* A counter of a CPU. */
struct vcounter_counter {
    uint64_t value, base; /* the source's count when value was that */
    uint8_t index;
    bool on;
};

struct vcounter_seat {
    pid_t pid; /* 0: free */
    pid_t parent;
    pid_t waits;      /* for whom, VCOUNTER_ANY, or 0 */
    uint32_t process; /* what the source knows it by */
    /* Parts of its model that others want, and what it has of them. */
    uint32_t wanted;
    int host_signal; /* the request's */
    struct virtual_owner owner;
};

struct vcounter_processes {
    atomic_uint state; /* 0, 1: being set up, 2 */
    pthread_mutex_t lock;
    /* Changes when a process is to look whether others want something of it. */
    atomic_uint changes;
    uint32_t strands, seat_count; /* ever used */
    uint32_t wanted;              /* components, of all processes */
    struct virtual_system system;
    struct virtual_cpu cpus[VCOUNTER_STRANDS + VCOUNTER_SEATS];
    struct vcounter_counter counters[VCOUNTER_STRANDS + VCOUNTER_SEATS]
                                    [VIRTUAL_EVENTS];
    struct vcounter_seat seats[VCOUNTER_SEATS];
};

struct vcounter_source {
    unsigned numbers; /* an index's event is index % numbers */
    /* Whether the event has counts; with each rise known at once. */
    bool (*has)(void *user, unsigned index, bool at_once);
    uint64_t (*process)(void *user, uint32_t process, unsigned index);
    uint64_t (*strand)(void *user, unsigned strand, unsigned index);
    uint64_t (*time)(void *user); /* ns */
    void (*send)(void *user, pid_t pid, int signal);
    /* A process that runs and has no seat yet. */
    bool (*find)(void *user, pid_t pid, uint32_t *process, pid_t *parent);
};

/* One process's way to it. */
struct vcounter_client {
    struct vcounter_processes *shared;
    const struct vcounter_source *source;
    void *user;
    uint32_t strands;
    struct vcounter_seat *seat; /* of this process, or NULL */
    /* Of this process's profile. */
    const struct virtual_range *ranges;
    uint32_t range_count;
};

/*
 * 0, or a negative errno: -EIO where the memory holds what no process of the
 * session writes, or the lock is not to be had; then the counters are of no
 * use. Between the two the core may be called; those that were gone meanwhile
 * have exited. A process that writes into the memory without the lock, between
 * the check and the use, is not defended against.
 */
int vcounter_enter(struct vcounter_client *client);
void vcounter_leave(struct vcounter_client *client);

/* The rest between the two. */

struct vcounter_seat *
vcounter_find(struct vcounter_processes *processes, pid_t pid);

/* The process's seat, a new one if need be; NULL and -ESRCH or -EMFILE. */
struct vcounter_seat *
vcounter_seat_of(struct vcounter_client *client, pid_t pid, int *error);

/* A child of fork(), if its parent has a seat. */
void vcounter_fork(struct vcounter_client *client, pid_t parent, pid_t child,
                   uint32_t process);

/* The process ends, or another program is in its place from `process` on. */
void vcounter_exit(struct vcounter_client *client, struct vcounter_seat *seat);
void vcounter_pause(struct vcounter_client *client, struct vcounter_seat *seat);
void vcounter_resume(struct vcounter_client *client, struct vcounter_seat *seat,
                     uint32_t process);

/* How much the event of a seat is short of its threshold; 0: it has none. */
uint64_t vcounter_left(struct vcounter_client *client,
                       const struct vcounter_seat *seat, unsigned index);

/* An event of the seat has perhaps reached its threshold. */
void vcounter_overflow(struct vcounter_client *client,
                       struct vcounter_seat *seat, uint64_t pc);

/* A cpu's counts, 0 if there is no such. */
int vcounter_read_cpu(struct vcounter_client *client, unsigned cpu,
                      struct counter_reading readings[VIRTUAL_EVENTS]);

#endif
