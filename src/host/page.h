/* SPDX-License-Identifier: MIT */
/*
 * Reads a counter without a system call, from the page that the kernel maps for
 * its event: struct perf_event_mmap_page of linux/perf_event.h, whose comments
 * are the rule. Works only on the thread that is counted.
 */
#ifndef TALLY_HOST_PAGE_H
#define TALLY_HOST_PAGE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "counter/counter.h"

#define PAGE_TRIES 64 /* the kernel writes the page rarely and briefly */

/* Keeps the order of loads: x86 does, so the compiler has to only. */
#define page_barrier() __asm__ volatile("" ::: "memory")

/* Returns whether the event can be read from the page, now or when it counts.
 */
static inline bool
page_usable(const struct perf_event_mmap_page *page)
{
    return page->cap_user_rdpmc && page->cap_user_time;
}

/* Returns the nanoseconds from the page's last update to cycle `now`. */
static inline uint64_t
page_elapsed(const volatile struct perf_event_mmap_page *page, uint64_t now)
{
    const unsigned shift = page->time_shift;
    const uint64_t mult = page->time_mult;

    if (page->cap_user_time_short)
        now = page->time_cycles + ((now - page->time_cycles) & page->time_mask);
    const uint64_t whole = now >> shift;
    const uint64_t rest = now & ((UINT64_C(1) << shift) - 1);
    return page->time_offset + whole * mult + (rest * mult >> shift);
}

/*
 * Reads the event; false: the event is not on a counter, or the kernel keeps
 * writing the page. `pmc` reads a counter of the processor, `tsc` its clock;
 * both are inlined.
 */
static inline __attribute__((always_inline)) bool
page_read_with(const volatile struct perf_event_mmap_page *page,
               uint64_t (*pmc)(uint32_t index), uint64_t (*tsc)(void),
               struct counter_reading *reading)
{
    for (int tries = 0; tries < PAGE_TRIES; tries++) {
        const uint32_t sequence = page->lock;
        page_barrier();
        const uint32_t index = page->index;
        if (index == 0 || !page->cap_user_rdpmc || !page->cap_user_time)
            return false;
        const uint64_t elapsed = page_elapsed(page, tsc());
        const uint64_t enabled = page->time_enabled + elapsed;
        const uint64_t running = page->time_running + elapsed;
        const int64_t offset = page->offset;
        const unsigned unused = 64U - page->pmc_width;
        /* The counter is signed, as wide as the page says. */
        const uint64_t raw = pmc(index - 1) << (unused & 63);
        const int64_t value = offset + ((int64_t)raw >> (unused & 63));
        page_barrier();
        if (page->lock != sequence || (sequence & 1) != 0)
            continue;
        *reading = (struct counter_reading){(uint64_t)value, enabled, running};
        return true;
    }
    return false;
}

#if defined(__x86_64__) || defined(__i386__)
#define PAGE_READS 1

static inline uint64_t
page_pmc(uint32_t index)
{
    uint32_t low, high;

    __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index));
    return (uint64_t)high << 32 | low;
}

static inline uint64_t
page_tsc(void)
{
    return __builtin_ia32_rdtsc();
}

static inline bool
page_read(const struct perf_event_mmap_page *page,
          struct counter_reading *reading)
{
    return page_read_with(page, page_pmc, page_tsc, reading);
}

#else
#define PAGE_READS 0

static inline bool
page_read(const struct perf_event_mmap_page *page,
          struct counter_reading *reading)
{
    (void)page;
    (void)reading;
    return false;
}
#endif

#endif
