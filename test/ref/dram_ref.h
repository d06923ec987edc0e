/* SPDX-License-Identifier: MIT */
/*
 * The slow, obvious twin of machine/dram.h: each channel goes from cycle to
 * cycle, and in each of them counts what stands in its queue. A DRAM bank has
 * two lists, of reads and of writes, each served in order; a read knows which
 * write it must not pass.
 */
#ifndef TALLY_TEST_DRAM_REF_H
#define TALLY_TEST_DRAM_REF_H

#include <stdbool.h>
#include <stdint.h>

#include "table/table.h"

#define DRAM_REF_CHANNELS 8
#define DRAM_REF_QUEUE 32

/* In order of arrival. */
struct dram_ref_request {
    uint64_t number; /* 1 and up */
    uint64_t line, bank;
    bool write;
    uint64_t left;   /* cycles of service; 0: it waits */
    uint64_t behind; /* of a read: the number of the write before it, or 0 */
    uint64_t passed; /* of a write */
};

struct dram_ref_channel {
    uint64_t cycle;
    unsigned count;
    struct dram_ref_request queue[DRAM_REF_QUEUE];
    uint64_t reads, writes, stalls, deferred, starved; /* what it has counted */
};

struct dram_ref {
    const uint64_t *params;
    uint64_t now, last; /* cycle; number of the last request */
    struct dram_ref_channel channels[DRAM_REF_CHANNELS];
};

/* `params` must outlive it. */
void dram_ref_init(struct dram_ref *r, const uint64_t *params);

/* A miss: its read, then what it drove out of the last cache. */
struct dram_ref_miss {
    unsigned channel;
    uint64_t addr;
    bool reads, waits;
    unsigned write_count;
    struct {
        unsigned channel;
        uint64_t addr;
    } writes[2];
};
void dram_ref_miss(struct dram_ref *r, const struct dram_ref_miss *miss);

/* What a channel counts until its queue is empty. */
struct dram_ref_channel
dram_ref_counts(const struct dram_ref *r, unsigned channel);

#endif
