/* SPDX-License-Identifier: MIT */
/*
 * The queues of memory's channels (COMPONENT_DRAM): how long reads and writes
 * stand in them, and what they wait for. Nothing else depends on it.
 *
 * A channel's lines are in its DRAM banks by turns. A request is in the queue
 * from when it comes until its bank has served it, time.bank cycles; a bank
 * serves one at a time. Reads go before the writes that wait for their bank,
 * but for one of their own line and those that memory.passes reads have passed.
 * A read comes when it is asked for; one that its strand waits for holds up the
 * next request of any strand until time.memory cycles after its bank has begun.
 * What a miss drives out comes with its read and goes behind it. A full queue
 * holds up what comes. Otherwise no time passes between requests. Not modelled:
 * open rows, the data bus, refresh.
 *
 * All is counted when a request comes: what it will wait, and what others wait
 * longer as it passes them. So nothing is left over at the end of a window.
 * test/ref/dram_ref.c is the slow twin, cycle by cycle.
 */
#ifndef TALLY_MACHINE_DRAM_H
#define TALLY_MACHINE_DRAM_H

#include <stdbool.h>
#include <stdint.h>

#define DRAM_CHANNELS 8u /* with signals of their own */
#define DRAM_QUEUE_MAX 32u
#define DRAM_WRITES 4u /* that one request may cause at most */

struct dram_request {
    uint64_t line, start; /* cycle in which its bank begins */
    uint32_t bank, passed;
    bool write;
};

struct dram_channel {
    uint64_t busy_until;    /* the last of the queue is served */
    uint64_t stalled_until; /* stalls are counted up to this cycle */
    unsigned count;
    struct dram_request queue[DRAM_QUEUE_MAX];
};

struct dram {
    uint64_t time, wait; /* time.bank, time.memory */
    uint32_t size, passes;
    uint32_t inner_shift, outer_shift, line_shift, bank_mask;
    uint64_t now, resume; /* cycle; in which the next request comes */
    bool open;            /* dram_settle() has something to do */
    unsigned written_count;
    struct dram_written {
        uint64_t addr;
        unsigned channel;
    } written[DRAM_WRITES];
    struct dram_channel channel[DRAM_CHANNELS];
};

void dram_init(struct dram *dram, const uint64_t *params);

/* Empties the queues. */
void dram_clear(struct dram *dram);

/* `waits`: whoever asks goes on only when it has the line. */
void dram_read(struct dram *dram, uint64_t *total, unsigned channel,
               uint64_t addr, bool waits);

/* At most DRAM_WRITES before dram_settle(). */
void dram_write(struct dram *dram, unsigned channel, uint64_t addr);

/* After all reads and writes of one request. */
void dram_settle(struct dram *dram, uint64_t *total);

#endif
