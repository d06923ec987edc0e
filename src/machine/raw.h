/* SPDX-License-Identifier: MIT */
/*
 * Loads that are served by stores before them: the strand's last store.buffer
 * stores are in the store buffer, the store.queue before those in the store
 * queue, by their number alone: nothing is said of when a store reaches the L2.
 * A load looks for the last of them that has a byte of its data; it is a full
 * hit if that has all. Atomics do neither.
 *
 * `latest` has for each unit of 8 bytes, by hash, the last store to it, and
 * each store the one before it there: a load asks no others.
 *
 * Of every RAW_PERIOD stores but the first the loads are looked at that come
 * with the first RAW_SAMPLE, and each of these hits counts as 32: to look at
 * all takes bzip2 for sparc64 as long as everything else that is modelled.
 * test/ref/chip_ref.c is the slow twin.
 */
#ifndef TALLY_MACHINE_RAW_H
#define TALLY_MACHINE_RAW_H

#include <stdbool.h>
#include <stdint.h>

#define RAW_STORES 128u /* of buffer and queue at most */
#define RAW_UNITS 1024u
#define RAW_PERIOD 65536u
#define RAW_SAMPLE (RAW_PERIOD / 32)

struct raw {
    bool on;                /* loads are looked at, and stores kept */
    uint8_t weight;         /* of a hit */
    uint32_t count, turn;   /* of stores, modulo 2^32; when `on` may change */
    uint32_t since;         /* after which store it is on */
    uint32_t buffer, reach; /* store.buffer; and with store.queue */
    struct raw_store {
        uint64_t first, last; /* bytes, both included */
        uint32_t before[2];   /* the last store to the unit of each */
    } stores[RAW_STORES];     /* by number */
    uint32_t latest[RAW_UNITS];
};

/* Sets up the state of a strand that has stored nothing. */
void raw_init(struct raw *raw, const uint64_t *params);

/* The store that `count` has just counted. */
void raw_keep(struct raw *raw, uint64_t first, uint64_t last);

/* At each `turn`. */
void raw_turn(struct raw *raw);

/* A load of which a unit has been stored to, by a store in reach. */
void raw_search(const struct raw *raw, uint64_t *total, uint64_t first,
                uint64_t last);

static inline uint32_t
raw_unit(uint64_t addr)
{
    return (uint32_t)(addr / 8 % RAW_UNITS);
}

/* Returns whether raw_load() of the bytes from `first` to `last`, 8 at most,
 * has anything to do. */
static inline bool
raw_load_asks(const struct raw *raw, uint64_t first, uint64_t last)
{
    if (__builtin_expect(!raw->on, 1))
        return false;

    const uint32_t age0 = raw->count - raw->latest[raw_unit(first)];
    const uint32_t age1 = raw->count - raw->latest[raw_unit(last)];

    return age0 < raw->reach || age1 < raw->reach;
}

/* Counts the hit of a load of the bytes from `first` to `last`, 8 at most. */
static inline void
raw_load(const struct raw *raw, uint64_t *total, uint64_t first, uint64_t last)
{
    if (raw_load_asks(raw, first, last))
        raw_search(raw, total, first, last);
}

/* Returns whether one of the next `stores` stores needs raw_store(); if not,
 * adding `stores` to raw->count does the same. */
static inline bool
raw_stores_ask(const struct raw *raw, unsigned stores)
{
    return raw->on || raw->turn - raw->count <= stores;
}

/* Counts a store of the bytes from `first` to `last`, 8 at most. */
static inline void
raw_store(struct raw *raw, uint64_t first, uint64_t last)
{
    const uint32_t number = ++raw->count;

    if (__builtin_expect(raw->on, 0))
        raw_keep(raw, first, last);
    if (__builtin_expect(number == raw->turn, 0))
        raw_turn(raw);
}

#endif
