/* SPDX-License-Identifier: MIT */
/*
 * The time of a core that executes out of order: blocks of instructions go in,
 * with what their loads and stores wait for, and the time that each block takes
 * comes out, by what it is spent on.
 *
 * The core takes blocks in, in the order of the program, as timing/ooo_block.h
 * has them. An operation executes as soon as it has been taken in and the
 * values that it needs are there. The core takes nothing in where the reorder
 * buffer (rob.entries micro-operations) is full; blocks leave it whole and in
 * order, when all of their operations have executed. So misses overlap that fit
 * into the buffer together and do not depend on each other, and what does not
 * wait for a miss is hidden behind it. After a mispredicted branch the core
 * goes on time.mispredict cycles after the branch has executed.
 *
 * The core fetches a line of code in a cycle (timing/ooo_block.h), and another
 * behind each branch that is taken, once that is foretold. It fetches up to
 * fetch.ahead cycles before it takes in; behind a misprediction it begins anew.
 * Branch target buffers behind the first foretell a branch cycles later, and
 * behind a branch that decode finds, fetching goes on time.resteer later. Such
 * cycles show only where the core takes in faster than it fetches.
 *
 * An operation whose kind of unit is among enum ooo_unit begins in the first
 * cycle in which fewer than units.* operations of the kind do that are before
 * it in the program.
 *
 * A page walk has one of tlb.walkers walkers until it is done, the first that
 * is free; the walk of a store begins when the core takes the store in.
 *
 * A miss has one of l1d.misses buffers until its line is there, the L1 takes in
 * a line every time.fill cycles and memory sends one every time.line cycles. A
 * load by the register that a load that waits has its address from, of the same
 * line, waits for that line too.
 *
 * What time is spent on is that of the operation that finishes last of those
 * that the core waits for: an operation inherits it from the value that it had
 * to wait for longest.
 *
 * After the instruction-window centric core model of T. Carlson, W. Heirman,
 * S. Eyerman, I. Hur and L. Eeckhout, "An Evaluation of High-Level Mechanistic
 * Core Models", ACM TACO 11(3), 2014. test/ref/ooo_ref.c is the slow, obvious
 * twin.
 */
#ifndef TALLY_MACHINE_OOO_CORE_H
#define TALLY_MACHINE_OOO_CORE_H

#include "timing/ooo_block.h"

/* What time is spent on. The first OOO_CAUSES stand in the lowest bits of the
 * time at which a value is there. */
enum ooo_reason {
    OOO_CORE, /* results of other operations, and units */
    OOO_L2,
    OOO_L3,
    OOO_MEMORY,
    OOO_TLB,
    OOO_STORE,              /* buffers for lines of stores */
    OOO_ISSUE = OOO_CAUSES, /* the core takes micro-operations in */
    OOO_FETCH,              /* code is not there, or not fetched yet */
    OOO_MISPREDICT,
    OOO_BTB, /* a taken branch is foretold late, or found at decode */
    OOO_REASONS
};

/* What an access of the block that runs waits for. */
struct ooo_wait {
    uint64_t addr;        /* that missed */
    uint64_t time;        /* beyond a hit */
    uint16_t instruction; /* of the block */
    uint8_t reason;       /* OOO_L2 to OOO_TLB */
    bool stores;
    bool walks; /* OOO_TLB: a page walk, which needs a walker */
};

/* The time that a block has taken. */
struct ooo_spent {
    uint64_t issue;  /* the core takes its micro-operations in: OOO_ISSUE */
    uint64_t units;  /* and waits for units: OOO_CORE */
    uint64_t fetch;  /* code is not there, or not fetched: OOO_FETCH */
    uint64_t stores; /* OOO_STORE */
    uint64_t walks;  /* stores wait for walkers: OOO_TLB */
    uint64_t memory; /* memory has too many lines to send; the reason is: */
    uint8_t memory_reason; /* OOO_MEMORY; OOO_TLB: the last line waits for a
                            * page longer than for memory */
    uint64_t fills;        /* the L1 has too many lines to take in: OOO_L2 */
    uint64_t room;  /* it waits until there is room in the reorder buffer, */
    uint8_t reason; /* enum ooo_reason, for */
    uint16_t instruction; /* this instruction */
    uint32_t tag;         /* of the block with this tag */
};

struct ooo_core;

/* Makes an idle core of a machine with these parameters; NULL: no memory. */
struct ooo_core *ooo_core_create(const uint64_t *params);
/* Accepts NULL. */
void ooo_core_destroy(struct ooo_core *core);
/* All values are there from now on, and the reorder buffer is empty. */
void ooo_core_reset(struct ooo_core *core);

/* The branch that closed the last block was mispredicted. Returns for how long
 * the core takes nothing in. */
uint64_t ooo_core_mispredicted(struct ooo_core *core);

/* The taken branch behind the last block was foretold so much later than a
 * cycle after the taken branch before. Returns for how long the core takes
 * nothing in. */
uint64_t ooo_core_bubble(struct ooo_core *core, uint64_t time);

/* The taken branch behind the last block was found at decode: fetching goes on
 * so much later than right behind the block. Returns for how long the core
 * takes nothing in. */
uint64_t ooo_core_resteer(struct ooo_core *core, uint64_t time);

/* Code of the next block is there so much later. */
void ooo_core_fetch(struct ooo_core *core, uint64_t time);

/* Page walks for the next block's code take so long. */
void ooo_core_walk_code(struct ooo_core *core, uint64_t time);

/* The next block's access waits. Returns false if no more waits can be kept. */
bool ooo_core_wait(struct ooo_core *core, const struct ooo_wait *wait);

/* Prefetchers have asked memory for so many lines, and have so many brought
 * into the L1. Memory sends them before lines that are asked for later, and the
 * L1 takes them in between others. The core goes on while at most OOO_AHEAD are
 * on their way, as many as are assumed to fit between memory and the L2. */
#define OOO_AHEAD 32u
void ooo_core_prefetched(struct ooo_core *core, uint64_t of_memory,
                         uint64_t into_l1);

/* Runs the next block. `taken`: the branch that closes it is. `tag`: what the
 * caller knows it by. Fills in *spent. */
void ooo_core_run(struct ooo_core *core, const struct ooo_block *block,
                  bool taken, uint32_t tag, struct ooo_spent *spent);

#endif
