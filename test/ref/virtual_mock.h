/* SPDX-License-Identifier: MIT */
/*
 * Monitors with narrow counters, for virtual counters to stand on: 8 bits, so
 * that they interrupt all the time. An occurrence is of an event by index, on a
 * CPU, in the CPU's mode.
 */
#ifndef TALLY_TEST_VIRTUAL_MOCK_H
#define TALLY_TEST_VIRTUAL_MOCK_H

#include "counter/virtual.h"

#define MOCK_CPUS 4
#define MOCK_WIDTH 8

struct mock_counter {
    unsigned index;
    uint16_t spec; /* 0: off */
    uint8_t value;
    bool overflow;
};

struct mock {
    uint64_t limit; /* 128, or 256: counters that wrap */
    unsigned mode[MOCK_CPUS];
    struct mock_counter counter[MOCK_CPUS][VIRTUAL_HARDWARE];
    uint64_t taken; /* counted occurrences */
};

/* Two counters: indices 0 to 15 on one, 16 to 31 on the other. */
static inline uint32_t
mock_split_places(void *monitor, unsigned index, uint16_t spec)
{
    (void)monitor;
    return spec >> 5 == index % 16 ? 1u << index / 16 : 0;
}

/* Every counter counts every event. */
static inline uint32_t
mock_any_places(void *monitor, unsigned index, uint16_t spec)
{
    (void)monitor;
    return spec >> 5 == index ? 0xff : 0;
}

static inline void
mock_control(void *monitor, unsigned cpu, unsigned counter, unsigned index,
             uint16_t spec)
{
    struct mock *const m = monitor;

    m->counter[cpu][counter].index = index;
    m->counter[cpu][counter].spec = spec;
}

static inline uint64_t
mock_read(void *monitor, unsigned cpu, unsigned counter)
{
    return ((struct mock *)monitor)->counter[cpu][counter].value;
}

static inline void
mock_write(void *monitor, unsigned cpu, unsigned counter, uint64_t value)
{
    struct mock_counter *const c =
        &((struct mock *)monitor)->counter[cpu][counter];

    c->value = (uint8_t)value;
    c->overflow = false;
}

static inline void
mock_occurs(struct mock *m, unsigned cpu, unsigned index)
{
    for (unsigned k = 0; k < VIRTUAL_HARDWARE; k++) {
        struct mock_counter *const c = &m->counter[cpu][k];
        if (c->index != index || (c->spec & m->mode[cpu]) == 0)
            continue;
        c->value++;
        m->taken++;
        if (c->value == m->limit % 256)
            c->overflow = true;
    }
}

static inline bool
mock_pending(const struct mock *m, unsigned cpu)
{
    for (unsigned k = 0; k < VIRTUAL_HARDWARE; k++) {
        const struct mock_counter *const c = &m->counter[cpu][k];
        if (c->overflow && (c->spec & VIRTUAL_INTERRUPT) != 0)
            return true;
    }
    return false;
}

#define MOCK_OPS(number, where, highest)                               \
    {                                                                  \
        .counters = (number), .width = MOCK_WIDTH, .limit = (highest), \
        .places = (where), .control = mock_control, .read = mock_read, \
        .write = mock_write                                            \
    }

#endif
