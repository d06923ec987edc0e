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
 * Counts come from outside, struct owners_source: how often an event has risen
 * in a process, or on a strand in all.
 */
#ifndef TALLY_GATEWAY_OWNERS_H
#define TALLY_GATEWAY_OWNERS_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "counter/virtual.h"

#define OWNERS_STRANDS 256
#define OWNERS_SEATS 256
#define OWNERS_AT ((void *)0x3fe0000000) /* where it is mapped */
#define OWNERS_ANY (-1)                  /* waits for any child */
#define OWNERS_NOWHERE (-1)              /* virtual_owner.cpu of none */

/* A counter of a CPU. */
struct owners_counter {
    uint64_t value, base; /* the source's count when value was that */
    uint8_t index;
    bool on;
};

struct owners_seat {
    pid_t pid; /* 0: free */
    pid_t parent;
    pid_t waits;      /* for whom, OWNERS_ANY, or 0 */
    uint32_t process; /* what the source knows it by */
    /* Parts of its model that others want, and what it has of them. */
    uint32_t wanted;
    int host_signal; /* the request's */
    struct virtual_owner owner;
};

struct owners {
    atomic_uint state; /* 0, 1: being set up, 2 */
    pthread_mutex_t lock;
    /* Changes when a process is to look whether others want something of it. */
    atomic_uint changes;
    uint32_t strands, seat_count; /* ever used */
    uint32_t wanted;              /* components, of all processes */
    struct virtual_system system;
    struct virtual_cpu cpus[OWNERS_STRANDS + OWNERS_SEATS];
    struct owners_counter counters[OWNERS_STRANDS + OWNERS_SEATS]
                                  [VIRTUAL_EVENTS];
    struct owners_seat seats[OWNERS_SEATS];
};

struct owners_source {
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
struct owners_client {
    struct owners *shared;
    const struct owners_source *source;
    void *user;
    uint32_t strands;
    struct owners_seat *seat; /* of this process, or NULL */
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
int owners_enter(struct owners_client *client);
void owners_leave(struct owners_client *client);

/* The rest between the two. */

struct owners_seat *owners_find(struct owners *owners, pid_t pid);

/* The process's seat, a new one if need be; NULL and -ESRCH or -EMFILE. */
struct owners_seat *
owners_seat_of(struct owners_client *client, pid_t pid, int *error);

/* A child of fork(), if its parent has a seat. */
void owners_fork(struct owners_client *client, pid_t parent, pid_t child,
                 uint32_t process);

/* The process ends, or another program is in its place from `process` on. */
void owners_exit(struct owners_client *client, struct owners_seat *seat);
void owners_pause(struct owners_client *client, struct owners_seat *seat);
void owners_resume(struct owners_client *client, struct owners_seat *seat,
                   uint32_t process);

/* How much the event of a seat is short of its threshold; 0: it has none. */
uint64_t owners_left(struct owners_client *client,
                     const struct owners_seat *seat, unsigned index);

/* An event of the seat has perhaps reached its threshold. */
void owners_overflow(struct owners_client *client, struct owners_seat *seat,
                     uint64_t pc);

/* A cpu's counts, 0 if there is no such. */
int owners_read_cpu(struct owners_client *client, unsigned cpu,
                    struct counter_reading readings[VIRTUAL_EVENTS]);

#endif
