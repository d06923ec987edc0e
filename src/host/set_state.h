/* SPDX-License-Identifier: MIT */
/* The inside of a set, for set.c and set_add.c only. */
#ifndef TALLY_HOST_SET_STATE_H
#define TALLY_HOST_SET_STATE_H

#include <linux/perf_event.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "host/set.h"

/* Events that one descriptor leads. */
struct set_group {
    size_t first;   /* in `order` */
    size_t count;   /* events */
    size_t fd;      /* the first target's leader in `fds` */
    size_t targets; /* tasks or cpus; `count` descriptors each */
    bool paged;     /* every event has a page to read */
    bool software;  /* the group of software events outside braces */
};

struct set_page {
    struct perf_event_mmap_page *page; /* NULL: not mapped */
    size_t size;
};

struct host_set {
    struct host_set_options options;
    pid_t tid, pid; /* that created it */
    pthread_t self;
    /* One byte that reads 0 in a child, where the kernel wipes its page; NULL:
     * the kernel cannot do that, and getpid() tells a child. */
    atomic_char *mark;
    size_t page_size;
    bool started;

    struct set_group *groups;
    size_t group_count;
    size_t *order;                 /* events, group by group */
    struct set_page *pages;        /* of each event */
    struct counter_reading *base;  /* of each event: the reading at a reset */
    struct counter_reading *spare; /* of each event: for the next reset */
    size_t event_count;
    int *fds;
    size_t fd_count;
    int overflow_fd; /* -1: none */
};

#define SET_RING_PAGES 8 /* for overflows; a power of two */

#endif
