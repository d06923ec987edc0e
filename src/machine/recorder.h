/* SPDX-License-Identifier: MIT */
/*
 * Where a strand's dynamic signals are raised: for `tally record`, which tells
 * each count by instruction.
 *
 * The model adds to totals only. The recorder looks at the totals that the
 * session asks for wherever the model has just done something for one
 * instruction, and charges the instruction with what has come since the last
 * look. So whatever raises a signal, the parts add up to the total; what a part
 * of the model raises long after its cause is charged to the instruction that
 * was then looked at. A hit of a filter raises nothing and costs nothing.
 *
 * Misses of the L1s and of the levels behind them, page walks, and the branches
 * that leave a block are charged to the instruction that caused them. Lines
 * that leave an L1 because an inclusive L2 drives them out are charged to the
 * last request of the queue that was drained.
 *
 * Where objects are recorded, what an access to data raises is charged to the
 * instruction on the object that the access was to (callers_on()); the write of
 * a line that leaves the L1D to the object at the line's first byte. On a
 * stack the object is the function whose frame has the address.
 */
#ifndef TALLY_MACHINE_RECORDER_H
#define TALLY_MACHINE_RECORDER_H

#include "machine/chip.h"
#include "machine/edges.h"
#include "machine/lines.h"
#include "machine/objects.h"
#include "source/record_counts.h"

/* Totals that are compared at once. */
#define RECORDER_LINE 8u
#define RECORDER_LINES (SIGNAL_COUNT / RECORDER_LINE + 1)

/* Signals that are looked at together. */
struct recorder_set {
    unsigned count;                 /* of lines with any of the signals */
    uint16_t lines[RECORDER_LINES]; /* the first signal of each */
    uint64_t mask[SIGNAL_COUNT];    /* all ones: the set has the signal */
};

/* Finds the objects of the process's data. */
struct recorder_objects {
    /* Returns the number of the object at the address; 0: none. */
    uint32_t (*find)(void *user, uint64_t addr);
    /* Returns the object of the stack frames of the function that has the
     * block, by its number. */
    uint32_t (*frame)(void *user, uint32_t block);
    /* Finds the stack that has an address. */
    void (*stack)(void *user, uint64_t addr, uint64_t *first, uint64_t *size);
    void *user;
    const struct objects *map; /* what find() knows already */
    uint32_t plain_stack; /* the object of stacks where frames are not known */
};

/* In place of the address of data. */
#define RECORDER_NO_DATA UINT64_MAX

struct recorder {
    struct record_strand *record; /* the caller's */
    struct record_site *sites;    /* in `record`, with mask + 1 places */
    uint64_t mask, used;
    bool outside;                           /* nothing is recorded now */
    const struct recorder_objects *objects; /* the caller's; NULL: objects are
                                               not recorded, else callers are */
    struct lines *lines; /* the caller's; NULL: the use of lines is not
                            recorded */
    /* Signals that the look-up of a branch's target raises, as many blocks ask
     * for it and nothing else raises them; and all others. */
    struct recorder_set branch, other;
    struct recorder_set behind; /* of `other`, those that what is behind an L2
                                   raises, but for misses */
    bool records[SIGNAL_COUNT]; /* the signal is recorded */
    uint64_t charged[SIGNAL_COUNT]; /* the total that instructions have been
                                       charged with */
    struct edges edges;             /* where they are recorded */
};

/* Starts recording a strand into `record`, which is empty, or goes on with what
 * is there. */
void
recorder_init(struct recorder *r, struct record_strand *record,
              const uint16_t *signals, unsigned count, const uint64_t *total);

/* The strand's totals are others from now on; `outside`: they do not count. */
void recorder_switch(struct strand *s, bool outside);

/* Adds to the count of a site, by its key. */
void recorder_add(struct recorder *r, uint64_t key, uint64_t count);

/* Charges an instruction of a cell (source/record_counts.h; 0 is not known and
 * stays unattributed) with what the totals have gained. `addr`: of the data
 * that the instruction touched, or RECORDER_NO_DATA. */
void recorder_charge(struct strand *s, uint32_t cell, unsigned instruction,
                     uint64_t addr);

/* Charges the instruction of a request in the same way. */
void recorder_charge_request(struct strand *s, const struct request *r);

/* Charges the instruction of a request that an L2 lacks with what the caches
 * and the memory behind the L2 have raised, but for misses of those caches. */
void recorder_charge_behind(struct strand *s, const struct request *r);

/* Charges the branch that closed a block with what the look-up of its target
 * raised (machine/branch.h). */
void recorder_charge_branch(struct strand *s, uint32_t cell);

/* Charges the instruction of a request with `count` of one signal, which its
 * total has gained already. */
void recorder_charge_one(struct strand *s, const struct request *r,
                         unsigned signal, uint64_t count);

/* Charges the instruction of each request of these kinds, which is a set of
 * REQUEST_BIT(), with one count of the signal of its kind. */
void
recorder_charge_each(struct strand *s, const struct request *queue,
                     size_t count, const uint16_t *signals, unsigned kinds);

/* Charges an instruction of a cell with an access of a class of a curve
 * (source/curve.h); `addr` as for recorder_charge(). */
void
recorder_charge_class(struct strand *s, uint32_t cell, unsigned instruction,
                      uint64_t addr, unsigned number);

/* Returns the instruction of a request, as record_key() takes it. */
unsigned request_instruction(const struct strand *s, const struct request *r);

/* Returns the address of the data that a request is for, or RECORDER_NO_DATA.
 */
uint64_t request_data(const struct request *r);

/* Returns the cell of the block that runs on the object of an access to the
 * thread's stack. */
uint32_t recorder_stack_cell(const struct strand *s, uint64_t addr);

/* Returns the object of an access that the block that runs makes. */
uint32_t recorder_object(const struct strand *s, uint64_t addr);

/* What a request is an access to, and the place of its instruction
 * (record_reason_place()); 0: not known, as where objects are not recorded. */
struct recorder_access {
    uint32_t object;
    uint64_t place;
};

/* Returns what a request to data is, of a strand that records objects. */
struct recorder_access
recorder_access_of(const struct strand *s, const struct request *request);

/* Notes the lines that the accesses of the strand ask for since it was called
 * last: before what these touch, as lines_touch() has it. */
void recorder_asks(struct strand *s);

/* The L1D has brought in the lines of these requests to data. */
void
recorder_fetched(struct strand *s, const struct request *queue, size_t count);

/* The L1D has been asked for all of the strand's queue, and what the L1D has
 * brought in was told. */
void recorder_asked(struct strand *s);

/* Charges the block that runs, if the strand records, with what its access to
 * data at `addr` has raised. */
static inline void
strand_charge_data(struct strand *s, unsigned instruction, uint64_t addr)
{
    if (__builtin_expect(s->recorder != NULL, 0))
        recorder_charge(s, s->cell, instruction, addr);
}

/* Charges an instruction of a cell with `count` of one signal, which its total
 * has gained already; `addr` as for recorder_charge(). */
void
recorder_charge_signal(struct strand *s, uint32_t cell, unsigned instruction,
                       uint64_t addr, unsigned signal, uint64_t count);

/* Charges the block that runs with what its access to data at `addr` has raised
 * of one signal, if the strand records: quicker than strand_charge_data(). */
static inline void
strand_charge_signal(struct strand *s, unsigned instruction, uint64_t addr,
                     unsigned signal, uint64_t count)
{
    if (__builtin_expect(s->recorder != NULL, 0) && count != 0)
        recorder_charge_signal(s, s->cell, instruction, addr, signal, count);
}

/* Charges the block that runs, if the strand records. */
static inline void
strand_charge(struct strand *s, unsigned instruction)
{
    strand_charge_data(s, instruction, RECORDER_NO_DATA);
}

/* Returns whether targets_ask() alone raises the signal, of those that are
 * given to a recorder. */
bool recorder_is_of_branch(unsigned signal);

#endif
