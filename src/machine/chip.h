/* SPDX-License-Identifier: MIT */
/*
 * The model of one machine: strands, their cores' first-level caches and TLBs,
 * and the chip's shared caches. A stream of executed blocks and data accesses
 * goes in, signal totals come out; see doc/models/ for what is modelled.
 *
 * Shape of the hot path. An access to the most recent line of its set, on a
 * page whose TLB entry is marked used, changes no state: a small filter in
 * front of each first-level structure holds exactly those lines, and the access
 * is done after one compare. Every other access goes into the strand's queue;
 * a full queue is drained through the real caches in one loop. Order within a
 * strand is kept, so results equal those of simulating each access at once
 * (test/ref/chip_ref.c does that).
 *
 * Strands that run at the same time interleave by whole queues, in the order
 * in which their queues fill: locks are taken once a queue.
 *
 * Measured over bzip2 -9 for x86-64, 1.2 G accesses: 9 % reach the queue.
 */
#ifndef TALLY_MACHINE_CHIP_H
#define TALLY_MACHINE_CHIP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lock.h"
#include "machine/branch.h"
#include "machine/cache.h"
#include "machine/mesi.h"
#include "machine/dram.h"
#include "machine/prefetcher.h"
#include "machine/raw.h"
#include "machine/request.h"
#include "machine/tlb.h"
#include "machine/ways.h"
#include "source/block.h"
#include "source/process_counts.h"
#include "table/table.h"

#define FILTER_SETS 512u /* at most; more sets share an entry */
#define FILTER_PAGES 256u
#define QUEUE_LENGTH 448u
#define LOOK_LEAST 20000u /* instructions between looks at the clock */
#define QUEUE_SLACK 32u   /* one access adds no more than this */

/* A flag of a line in the filter `store`: the line is the first of its set, so
 * that a load that passes the L1 by changes nothing; a store may. */
#define LINE_CLEAN ((uint64_t)1 << 63)

/* A flag of a line in the filters `data` and `store`: the line is the first of
 * its set, but the used bit of its page may be clear, so that the TLB must be
 * asked. A prefetch sets the flag too, as it asks no TLB. The flag saves a
 * tenth of all time of bzip2 on Montecito, and half of a loop's that prefetches
 * each of four words in a line. */
#define LINE_WAITS ((uint64_t)1 << 62)

/*
 * Lines for which an access of one kind changes no state.
 *
 * `second` has the second most recent line of each set. For fetches: code
 * alternates between two lines of a set so often that the filter alone is
 * turned then, and the cache's own order is put right before a third line comes
 * in, by the queue (REQUEST_TURN); bit 0 says that the order is the wrong way
 * round. Measured on Lua for x86-64: 16 % of all time was spent on such
 * alternation. For data the queue always puts the order right. Measured on
 * x86-64: 40 % of bzip2's and 75 % of Lua's accesses that the filters do not
 * know are to the second line. Only while one strand runs.
 */
struct filter {
    uint32_t shift;             /* log2 of the line */
    uint32_t mask;              /* entries - 1 */
    uint32_t offset_shift;      /* an address's entry in bytes: shift and */
    uint32_t offset_mask;       /* mask; of lines of 8 bytes or more */
    uint64_t line_mask;         /* of an address, its line's first byte */
    uint64_t line[FILTER_SETS]; /* first byte of the line, or NO_LINE */
    /* Or the two entries of a set would be 4,096 bytes apart: hosts then take a
     * load of the one for a load of what was just stored to the other, and
     * wait (a third of the time of strand_load_slow() on Zen 4). */
    uint64_t apart[8];
    uint64_t second[FILTER_SETS];
    bool turns; /* each set has an entry of its own, and two lines */
};

#define SECOND_TURNED ((uint64_t)1)

/* Page-walk caches that a core may have, of level 2 and up. */
#define WALK_CACHES 3u

#define NODES_MAX 4u
/* Cache levels behind the L2 that a machine may have: the L3, the L4 and on. */
#define LEVELS_MOST (CACHE_COUNT - CACHE_L3)

/* A cache behind the L2 that all cores of the chip share; see levels.h. */
struct level {
    struct cache cache;
    const struct level_row *row;
};

/* Signals that other cores' accesses raise for a strand; see snoop.h. */
#define SNOOPS 6u

/* Which node's memory has each page, open addressing; see coherence_nodes.c. */
struct homes {
    uint64_t *pages; /* page << 2 | node, plus 1; 0: none */
    uint64_t mask, used;
};

/* The state of a chip whose nodes have an L2 each; see coherence_nodes.c. */
struct nodes {
    struct homes homes;
    unsigned used; /* bits: a node whose L2 may hold lines */
};

/* The last lines that went through a queue of the bus, number + 1; or 0. */
struct bus_recent {
    uint64_t lines[8];
    unsigned next;
};

/* How far a line of code is out that was asked for; see machine/ahead.h. */
enum ahead_out { AHEAD_IN, AHEAD_L3, AHEAD_MEMORY };

#define AHEAD_LINES 8u
#define AHEAD_MOST 7u /* prefetch.lines at most */

/* Lines that are fetched ahead. */
struct ahead {
    struct ahead_line {
        uint64_t line; /* its number + 1; 0: none */
        enum ahead_out out;
        bool again; /* its request recirculates */
    } lines[AHEAD_LINES];
    unsigned next;  /* that is replaced */
    uint64_t to;    /* the last line that the stream has asked for */
    uint64_t asked; /* that a fetch waits for now */
    enum ahead_out asked_out;
};

#define FILLS_MOST 63u /* bus.reads at most */

/* Reads of memory for which nothing waits yet; see machine/fills.h. */
struct fills {
    uint64_t out;       /* reads that the strand has out */
    uint64_t out_ahead; /* of them, those of code fetched ahead */
    uint64_t left; /* cycles that the strand has to wait until they are there */
    unsigned count;
    unsigned victims;           /* dirty lines that made room for these: */
    uint64_t lines[FILLS_MOST]; /* [count] numbers of lines of the L2 */
};

/* Entries in use of an L2's buffers; see machine/buffers.h. */
struct buffers {
    unsigned misses, fills, writebacks;
};

/* The state of a strand whose core is on the bus; see coherence_bus.h. */
struct bus_strand {
    struct ahead ahead;
    struct fills fills;
};

/* The caches of a core with an L3 of its own; see coherence_bus.h. */
struct bus_caches {
    struct mesi l2i, l2d, l3;
    struct bus_recent writes, castouts; /* of the arbiter's queues */
};

/* The TLBs that are asked one after the other, each for what those in front of
 * the TLB lack: enum tlb_id, the first with the filters of pages in front. */
struct tlb_chain {
    unsigned count;
    uint8_t tlbs[TLB_COUNT];
};

struct core {
    struct lock lock;
    struct strand *strands; /* them, linked by `sibling` */
    /* Who ran last, with chip.one_at_a_time; never followed. */
    const struct strand *last;
    struct cache l1i, l1d;
    struct cache l2;  /* if it is the core's own */
    struct ways ways; /* of that */
    struct prefetcher l1d_prefetcher, l2_prefetcher; /* the latter of l2 */
    struct tlb *tlbs; /* [TLB_COUNT][strands_per_core], owned; zeroed where each
                       * core has one and not each strand, but for the first */
    struct tlb itlb_first, dtlb_first; /* in front of them, or zeroed */
    struct tlb dtlb_huge; /* the data TLB of huge pages, or zeroed */
    /* Page-walk caches of the levels from 2 on, or zeroed. */
    struct tlb walk_caches[WALK_CACHES];
    struct bus_caches *bus; /* owned; NULL: the core is on no bus */
};

/* Directions of conditional branches; see machine/branch.h. */
struct directions {
    uint64_t history;  /* newest lowest */
    uint8_t *counters; /* two-bit, owned; NULL: none run */
    uint64_t mask;     /* of the history */
};

/* Pages + 1 whose used bit is set in their TLB, and of which an access changes
 * nothing there; see machine/pages.h. */
struct page_filter {
    uint32_t shift;      /* of data, */
    uint32_t code_shift; /* and of code: the smallest pages that a TLB has */
    uint64_t data[FILTER_PAGES];
    uint64_t code[FILTER_PAGES];
    /* Pages of the data TLB that stands behind a first one: what the first
     * forgets is asked again so often that this filter saves 6 % of all time of
     * bzip2 on Montecito. */
    uint64_t far[FILTER_PAGES];
    uint64_t tag;     /* of the strand's pages, if it has its own entries */
    uint64_t changes; /* of huge pages that the filter follows (huge.h) */
};

/* Accesses that the filters did not know, in order. */
struct queue {
    struct request *next, *end;
    struct request entries[QUEUE_LENGTH + QUEUE_SLACK];
};

/* The part of a run that is counted (--from, --to, --skip), and where. */
struct span {
    bool outside;          /* nothing is counted now */
    unsigned slice;        /* that counts go to */
    unsigned aside;        /* further on, of --filter data=: strand_aside() */
    uint64_t instructions; /* counted where it is needed (--skip) */
    struct totals ignored; /* what `total` means outside */
};

/* When the strand looks whether its interval, its slice or its thread's turn is
 * over: after `left` more instructions of `step`. */
struct look {
    int64_t left, step;
    /* For turns of cycles: those of the thread at the last look; instructions
     * and their cycles of some time before, to tell how fast it goes. */
    uint64_t cycles, pace_instructions, pace_cycles;
};

/* -I, or slices: the strand looks at its clock after `length` instructions. */
struct interval {
    uint64_t length;
    uint64_t passed;          /* instructions since the last look */
    uint64_t clock, boundary; /* what the clock showed, what it had passed */
};

/* The instruction whose accesses --filter data= looks at. */
struct filtered {
    bool counted;
    uint8_t loads, stores; /* counted so far */
};

/* What left an L2 that holds all that the L1s hold, by line number, and the
 * requests since it left those too; see machine/inclusion.h. */
struct driven {
    size_t count, asked;
    uint64_t lines[QUEUE_LENGTH + QUEUE_SLACK];
};

/* The state of a strand behind whose L1s caches write back; see writeback.c. */
struct back_strand {
    uint64_t snooped[SNOOPS]; /* not yet counted; under the chip's lock */
    struct buffers buffers;   /* of the L2, for this strand */
    struct driven driven;
};

/* What the slow path asks of the chip so often that it has copies. */
struct runs {
    bool itlb, dtlb;
    bool store_filter; /* stores go through to an L2 that is modelled */
    bool marks;        /* stores mark lines of the L1D, which writes back: those
                        * in `store` are the first of their sets and dirty */
    bool fetch_voids;  /* a fetch may reorder a set of the L2 for data */
    bool sharing;      /* what the filters say is as sharing.h has it */
};

struct strand {
    /* Read and written by every block. */
    uint64_t *exec;  /* execution counts by block, of the span we are in */
    uint64_t *total; /* dynamic signals, of the span we are in */
    const struct block *previous;
    struct directions direction;
    /* Of a recording: how conditional branches went, by cell, and the cells of
     * the blocks that run and ran before. */
    struct record_branches *branches;
    uint32_t cell, last_cell;
    /* What the slow path reads beside the filters: all in a few of the host's
     * cache lines, as what follows is large. */
    struct runs runs;
    struct chip *chip;
    struct callers *callers; /* the caller's; NULL: no callers are recorded */
    struct look look;
    struct queue queue;

    struct filter fetch, data, store;
    struct targets targets;
    struct page_filter pages;

    struct core *core;
    struct cache *l2;       /* that it asks; NULL: none runs */
    struct strand *sibling; /* the core's next */
    struct counts_strand *counts;
    unsigned number; /* of the machine's strands */
    unsigned node;
    const struct block *slot; /* the last delay slot in a block of its own */
    uint64_t repeats;         /* half iterations of a REP instruction */
    struct span span;
    struct interval interval;
    struct filtered filtered;

    /* The state of the kind of coherence, owned; see machine/coherence.h. */
    union {
        void *behind;
        struct bus_strand *bus;   /* of coherence_bus */
        struct back_strand *back; /* of coherence_writeback */
    };
    struct tlb *tlbs[TLB_COUNT]; /* of the core, that the strand asks */
    struct raw raw;              /* only where it runs */
    struct recorder *recorder;   /* the caller's; NULL: nothing is recorded */
    struct ooo *ooo;             /* owned; NULL: it does not run (ooo.h) */
    uint8_t *sizes; /* bytes of each request in the queue, owned; 0: not known
                       yet; NULL: they are not needed (sharing.h, classes.h) */
    /* Of each request in the queue: the instructions of the turn before it;
     * owned; NULL: they are not needed (strand_begins_turn()). */
    uint32_t *ran;
    uint64_t turn_ran;  /* and of the turn before look.step instructions */
    uint64_t last_line; /* of the strand's data; with COMPONENT_CLASSES */
    uint64_t uses;      /* of lines, where a curve is drawn (curve.h) */
    /* With a layout, by the set that a line has in it: the entry of the filters
     * for data that has the set's most recent line (layout_first()). */
    uint16_t firsts[FILTER_SETS];
};

struct curve;

struct chip {
    uint64_t params[PARAM_COUNT];
    uint64_t components;                   /* enum component_id bits that run */
    unsigned core_count, strands_per_core; /* of all nodes */
    uint32_t page_shift;
    bool write_through;
    bool shared_l2;
    unsigned node_count;
    uint64_t used_cores; /* bits: a core whose own L2 may hold lines */
    /* Set by the owner, before a second strand starts: one strand runs at a
     * time, and strand_goes_on() is called before another does. */
    bool one_at_a_time;
    /* Several L2s see each other: queues are short. */
    atomic_bool meets;
    bool store_filter; /* stores go through to an L2 that is modelled */
    bool marks;        /* stores mark lines of an L1D that writes back */
    bool tells;        /* and the L2's line with the L1D's */
    bool inclusive;    /* what leaves the L2 leaves the L1s */
    bool exclusive;    /* the L3 takes in what leaves the L2s (exclusion.h) */
    bool buffers;      /* those of the L2 fill up */
    bool joint_tlb;
    bool radix;        /* tables that are walked are radix tables */
    bool walk_caches;  /* a walk asks page-walk caches */
    struct huge *huge; /* which pages are huge, the caller's; NULL: none */
    struct tlb_chain code_tlbs, data_tlbs;
    bool prefetches;  /* are performed */
    bool prefetching; /* a level has a prefetcher (prefetching.h) */
    bool passes;      /* loads of floating-point registers pass the L1D by */
    /* Stores are looked up in the strand's filter `store`, not in `data`. */
    bool stores_apart;
    struct layout layout;            /* of the requests that are drained */
    uint32_t microtag;               /* bits of an L1I's tags; 0: none */
    unsigned ahead;                  /* lines of code fetched ahead; 0: none */
    uint32_t bank_shift, bank_mask;  /* of memory, by address */
    struct core *cores;              /* set up when a strand first runs there */
    struct cache l2[NODES_MAX];      /* the L2 of each node */
    struct prefetcher l2_prefetcher; /* of the first of them */
    struct lock prefetching_lock;    /* of all prefetchers, and what they see */
    struct level levels[LEVELS_MOST]; /* behind the L2, the nearest first */
    unsigned level_count;
    const struct coherence *coherence;
    /* The state of the kind of coherence, owned; see machine/coherence.h. */
    union {
        void *behind;
        struct nodes *nodes;          /* of coherence_nodes */
        struct bus_recent *bus_order; /* of coherence_bus: of all cores */
    };
    struct sharing *sharing; /* owned; NULL: no core takes a line from another's
                                L1 data cache, or coherence does */
    struct reasons *reasons; /* the caller's, set before the first access; NULL:
                                none are noted (reasons.h) */
    struct classes *classes; /* the caller's, set before the first strand
                                starts; NULL: no level's misses are told apart
                                (classes.h) */
    struct curve *curve; /* the caller's, set before the first strand starts;
                            NULL: no curve of misses is drawn (curve.h) */
    const struct moves *moves; /* the caller's, where requests to data are moved
                                  on their way (moves.h), as only a machine with
                                  `sharing` does; or NULL */
    struct dram dram;
    /* Guards all of the above, the cores' L2s and the list of strands. */
    struct lock lock;
    atomic_uint live;        /* strands running */
    struct strand **strands; /* by slot: live ones, or NULL */
    unsigned slots_used;     /* slots from here on were never used */
};

/* Sets up a machine with empty caches. `slots`: strands live at once at most.
 * chip_finish() accepts a zeroed struct. */
int chip_init(struct chip *chip, const uint64_t *params, uint64_t components,
              unsigned slots);
void chip_finish(struct chip *chip);

/*
 * Starts a strand on the caller's memory (64-byte aligned) in the caller's slot
 * (its guest thread). Strands are taken in order; beyond the machine's last
 * they share: the number in the struct says which. TALLY_ENOMEM or 0. The
 * counts must outlive it. Where one strand lives, the call comes from that
 * strand's thread, as a program's first thread starts the second.
 */
int strand_start(struct chip *chip, unsigned slot, struct counts_strand *counts,
                 struct strand *strand);

/* Returns the layout of a machine's caches and predictors, for block_build().
 */
struct layout chip_layout(const uint64_t *params);

/* Returns whether the filter for data can hold two lines of each set of the
 * L1D. */
bool chip_turns(const struct strand *s);

/* Entries of the fetch filter, for block_build(). */
uint64_t chip_fetch_slots(const uint64_t *params);

/* With chip.one_at_a_time: the strand, which does not run yet and whose queue
 * is empty, runs next, on any thread of the host while none runs. What its
 * filters know of its core's L1s is forgotten if another strand of the core ran
 * since. */
void strand_goes_on(struct strand *strand);

/* Returns the instructions that the strand's thread has run in its turn, with
 * those of the block that runs. */
static inline uint32_t
strand_ran(const struct strand *s)
{
    return (uint32_t)(s->turn_ran + (uint64_t)(s->look.step - s->look.left));
}

/* A turn of the strand's thread begins behind that of another: does what
 * strand_goes_on() does, and counts the turn where it is recorded why data
 * miss. */
void strand_begins_turn(struct strand *strand);

/* Drains its queue and lets go of its memory. */
void strand_end(struct strand *strand, unsigned slot);

/*
 * In the child of a fork: the strand in `slot` alone lives on (the memory of
 * the others is the caller's to free), its machine is cold, its counts start at
 * zero (the caller has remapped them).
 */
void chip_after_fork(struct chip *chip, unsigned slot);

/* Puts all that waits in the queue through the caches. */
void strand_drain(struct strand *strand);

/* Drains the queue, and counts the reads of memory that are under way: the
 * strand asks for nothing more. */
void strand_rest(struct strand *strand);

/* Counts from now on as inside the span or as outside. */
void strand_switch_span(struct strand *strand, bool counted);

/* Counts from now on in this slice. */
void strand_begin_slice(struct strand *strand, unsigned slice);

/* Dynamic signals count from now on `aside` slices after the strand's own. */
void strand_aside(struct strand *strand, unsigned aside);

/* There was no block before the next one. */
void strand_forget(struct strand *strand);

/* Ends what only a lone strand may do: its filters turn no more sets. */
void strand_settle(struct strand *strand);

/* The slow ends of the inline functions in machine/strand.h: the filters do not
 * know a line, or not all lines, of the block or access. */
void strand_fetch_slow(struct strand *s, const struct block *block);
void strand_load_slow(struct strand *s, uint64_t addr, access_site at);
/* A load whose misses do not count as others do; with COMPONENT_BULK. */
void strand_bulk_slow(struct strand *s, uint64_t addr, access_site at);
void strand_store_slow(struct strand *s, uint64_t addr, access_site at);
/* A prefetch for the L1D and what stands behind it (`near`), or for the L2 and
 * what stands behind that; where the chip performs them. */
void strand_prefetch(struct strand *s, uint64_t addr, bool near,
                     unsigned instruction);
void strand_float_slow(struct strand *s, uint64_t addr, access_site at);
void strand_through_slow(struct strand *s, uint64_t addr, access_site at);
void strand_atomic_slow(struct strand *s, uint64_t addr, access_site at);

#endif
