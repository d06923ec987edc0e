/* SPDX-License-Identifier: MIT */
/*
 * Virtual counters the slow way: every occurrence that is counted is written
 * down in a list, every unit of time is one addition, and when system mode
 * takes the counters every process is told at once. There are no hardware
 * counters: what is counted follows from whose turn it is.
 *
 * The answers and readings are those of counter/virtual.h.
 */
#ifndef TALLY_TEST_VIRTUAL_REF_H
#define TALLY_TEST_VIRTUAL_REF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counter/virtual.h"

#define REF_CPUS 4
#define REF_PROCESSES 16
#define REF_BUCKETS 8
#define REF_TOLD 64 /* signals of a step */

/* What was asked for, or nothing. */
struct ref_wish {
    struct virtual_request request;
    int place[VIRTUAL_EVENTS]; /* counter, or -1 */
};

struct ref_account {
    uint8_t *list; /* an index for each occurrence */
    size_t length, room;
    uint64_t enabled[VIRTUAL_EVENTS], running[VIRTUAL_EVENTS];
    uint32_t since[VIRTUAL_EVENTS]; /* the threshold */
    int turn[VIRTUAL_HARDWARE];     /* index, or -1 */
};

struct ref_process {
    bool alive, root, counting, saved;
    bool of_system; /* `foreign` of the occurrences are the whole system's */
    size_t foreign;
    unsigned group;
    int cpu; /* or -1 */
    int generation;
    struct ref_wish wish;
    struct ref_account account;
    bool profiled;
    uint64_t profile_from;
    uint16_t buckets[REF_BUCKETS]; /* of two bytes of code each */
};

struct ref_told {
    int process, signal;
    unsigned index;
};

struct ref_cpu {
    int process;   /* or -1 */
    unsigned mode; /* one of the four bits, or 0 */
    uint64_t pc;
    struct ref_account account; /* system mode */
};

struct ref {
    unsigned cpu_count, counters;
    bool any; /* every counter can count every event */
    struct ref_process process[REF_PROCESSES];
    struct ref_cpu cpu[REF_CPUS];
    bool system;
    int holder, watcher; /* or -1 */
    int generation;
    struct ref_wish wish;
    struct ref_account global;
    struct ref_told told[REF_TOLD];
    unsigned told_count;
    uint64_t dropped; /* occurrences whose counts nobody has any more */
};

void ref_init(struct ref *r, unsigned cpus, unsigned counters, bool any);
void ref_finish(struct ref *r);

void ref_create(struct ref *r, int p, unsigned group, bool root);
void ref_switch(struct ref *r, unsigned cpu, int p, uint64_t pc);
void ref_tick(struct ref *r, unsigned cpu, uint64_t pc);
void ref_service(struct ref *r, unsigned cpu, uint64_t pc);
void ref_occurs(struct ref *r, unsigned cpu, unsigned index);
/* A threshold has been reached of what is on a counter: it interrupts. */
bool ref_due(struct ref *r, unsigned cpu);
void ref_time_passes(struct ref *r);
void ref_fork(struct ref *r, int parent, int child);
void ref_exit(struct ref *r, int p, int parent, bool waiting);

int ref_start(struct ref *r, int caller, int p,
              const struct virtual_request *request);
int ref_read(struct ref *r, int caller, int p,
             struct counter_reading readings[VIRTUAL_EVENTS]);
int
ref_control(struct ref *r, int caller, int p, uint16_t spec[VIRTUAL_EVENTS]);
int ref_change(struct ref *r, int caller, int p,
               const struct virtual_request *request);
int ref_release(struct ref *r, int caller, int p);
int ref_save(struct ref *r, int caller, int p);
/* One range of REF_BUCKETS buckets of two bytes. */
int ref_profile(struct ref *r, int caller,
                const struct virtual_request *request, uint64_t from);
int ref_system_start(struct ref *r, int caller,
                     const struct virtual_request *request);
int
ref_system_read(struct ref *r, struct counter_reading readings[VIRTUAL_EVENTS]);
int ref_system_read_cpu(struct ref *r, unsigned cpu,
                        struct counter_reading readings[VIRTUAL_EVENTS]);
int ref_system_control(struct ref *r, uint16_t spec[VIRTUAL_EVENTS]);
int ref_system_change(struct ref *r, int caller,
                      const struct virtual_request *request);
int ref_system_release(struct ref *r, int caller);

/* Occurrences that somebody has. */
uint64_t ref_kept(const struct ref *r);

#endif
