/* SPDX-License-Identifier: MIT */
/*
 * The events of a mock kernel: what perf_event_open(2) accepts and answers, and
 * what a counter reads.
 *
 * Time is a step (script: clock step NS) that an enabled event ages by at each
 * read and at being disabled, so that results depend on the calls alone. A
 * task's event takes one more step once the task is gone and then stands still.
 * What an event counts is its rate by the time it ran; it runs the share of the
 * time that the kernel's rotation of groups over the PMU's counters leaves it.
 *
 * Not modelled: inheritance (a child adds nothing), samples and their buffers,
 * exec itself (an event waiting for it counts from its first read on),
 * competition between a task's events and a cpu's.
 */
#ifndef MOCK_EVENT_H
#define MOCK_EVENT_H

#include "script.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

/* In the memory behind the descriptor: a forked process sees the same. */
struct mock_state {
    struct perf_event_attr attr;
    uint64_t id;
    pid_t pid;
    int cpu;
    bool on;    /* enabled */
    bool armed; /* waits for exec */
    bool gone;  /* the task ended, and this has been counted */
    bool stopped;
    uint64_t value, enabled, running; /* ns */
    uint64_t aged;                    /* CLOCK_MONOTONIC, ns: clock real */
};

struct mock_event {
    struct mock_event *next; /* in the order of opening */
    struct mock_event *leader;
    const struct mock_pmu *pmu; /* NULL: counted by software */
    struct mock_state *state;
    struct perf_event_mmap_page *page;
    dev_t device;
    ino_t inode;
    unsigned descriptors; /* of this process */
};

struct mock_kernel {
    struct mock_machine machine;
    struct mock_event *events;
    uint64_t last_id;
};

/* The event behind a descriptor, or NULL. */
struct mock_event *mock_event_find(struct mock_kernel *kernel, int fd);

/* These return what the kernel does: a result, or a negative errno. */
int mock_event_open(struct mock_kernel *kernel, const void *attr, pid_t pid,
                    int cpu, int group, unsigned long flags);
ssize_t mock_event_read(struct mock_kernel *kernel, struct mock_event *event,
                        void *buffer, size_t size);
int mock_event_ioctl(struct mock_kernel *kernel, struct mock_event *event,
                     unsigned long request, unsigned long argument);

/* A descriptor more, one less. */
void mock_event_dup(struct mock_event *event);
void mock_event_close(struct mock_kernel *kernel, struct mock_event *event);

/* Whether the task that the event counts has ended. */
bool mock_event_task_gone(const struct mock_event *event);

/* The errno that the script wants this call to fail with, or 0. */
int mock_fault(struct mock_machine *machine, enum mock_call call,
               const struct perf_event_attr *attr, int cpu);

#endif
