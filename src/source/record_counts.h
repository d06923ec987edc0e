/* SPDX-License-Identifier: MIT */
/*
 * What a recording (`tally record`) adds to the counts of a process: where each
 * block is, how its closing branch went, and which instruction raised a dynamic
 * signal. The memory follows the counts in the session's file and is only
 * mapped where the session records.
 *
 * A recording's blocks are kinds of their own: the index of a block's counts is
 * the index of its place.
 *
 * Where callers are recorded a thread counts by cell: a block on one path of
 * calls. The path is the cell whose call led to it, and that cell's path.
 * Without callers the number of a block stands where that of a cell would.
 */
#ifndef TALLY_SOURCE_RECORD_COUNTS_H
#define TALLY_SOURCE_RECORD_COUNTS_H

#include <assert.h>

#include "source/process_counts.h"
#include "source/record_kinds.h"

#define RECORD_CODE (128u << 20) /* bytes of code of one process */
#define RECORD_ENDED (1u << 27)  /* sites of threads that have ended */
#define RECORD_SITES (1u << 24)  /* sites of one live thread */
#define RECORD_SITES_LEAST 1024u
#define RECORD_CELLS (1u << 22) /* cells of one live thread */
#define RECORD_CALLS (1u << 22) /* calls that led to objects of one process */
#define RECORD_OBJECTS (1u << 20)
#define RECORD_TEXT (1u << 24) /* bytes of the objects' names */
#define RECORD_REASONS (1u << 20)
#define RECORD_STRIDES (1u << 20) /* instructions */
#define RECORD_WAITS (1u << 18)
#define RECORD_BEGINS (1u << 13) /* threads */
#define RECORD_STRETCHES (1u << 15)

/* The number that all blocks share for which the counts have no room: nothing
 * counts in it. */
#define RECORD_NO_ROOM COUNTS_BLOCKS

/* A part of a block: where it is, and its code. */
struct record_place {
    uint64_t pc;    /* of the whole block */
    uint32_t code;  /* offset of the block's code: the size of each instruction,
                       one byte each, and then the instructions themselves */
    uint32_t image; /* 1 + index of the file it is from; 0: none */
    uint16_t instructions; /* of the whole block; at most 1024 */
    uint8_t piece;         /* index of struct block_piece, or RECORD_SLOT */
    uint8_t reserved[5];
};

#define RECORD_SLOT 255u /* what block_slot() takes back */

/* Instructions of a site that are not numbers of instructions in the block. */
enum record_instruction {
    RECORD_LINE = 0x4000,   /* and a line's number, cut to 14 bits: the first
                               instruction that begins in that line */
    RECORD_BRANCH = 0x8000, /* the branch that closes the block */
    RECORD_LAST,            /* the block's last instruction */
};

/* In place of a signal: executions of the block. */
#define RECORD_EXECUTIONS 0xffffu

/* In place of a signal: an access of a class of the curve that is drawn
 * (source/curve.h), whose number is added. */
#define RECORD_CLASS 0x8000u

/* In place of the cell of a call. */
#define RECORD_OUTERMOST 0u       /* code that no call led to */
#define RECORD_UNKNOWN UINT32_MAX /* the calls that led here are not known */

/* A cell: its number is 1 + its index, larger than its caller's. */
struct record_cell {
    uint32_t caller; /* the cell whose closing branch called, or one of the
                        two above */
    uint32_t block;  /* 1 + the index of its place */
};

/* In `block`: what the cell `caller` did to the data of an object, whose number
 * the other bits are. Such a cell is not executed, and calls nothing. */
#define RECORD_ON (UINT32_C(1) << 31)

/* How often an instruction raised a signal. */
struct record_site {
    uint64_t key; /* record_key(), or 0: none */
    uint64_t count;
};

/* Returns the key of a site. `cell`: its number, or 1 + the index of the
 * block's place. */
static inline uint64_t
record_key(uint32_t cell, unsigned instruction, unsigned signal)
{
    return (uint64_t)cell << 32 | (uint64_t)(uint16_t)instruction << 16 |
           (uint16_t)signal;
}

/* How the conditional branch went that closes a block: one count for each
 * outcome, so that a run of the block adds to one. */
struct record_branches {
    uint64_t outcome[4]; /* 2 x taken + mispredicted */
};

static inline uint64_t
record_taken(const struct record_branches *b)
{
    return b->outcome[2] + b->outcome[3];
}

/* Where control went from a block: to the first two blocks that came behind it,
 * by their numbers (1 + the index of the place); 0: none yet. Others are
 * sites. */
struct record_edges {
    uint32_t to[2];
    uint64_t count[2];
    uint64_t mispredicted[2]; /* of `count` */
};

/* In the key of a site: how often control went from one block to another,
 * whose numbers follow; 0: from or to nowhere. The lowest bit: the branch that
 * closed the first was mispredicted. */
#define RECORD_EDGE (UINT64_C(1) << 63)

static inline uint64_t
record_edge_key(uint32_t from, uint32_t to, bool mispredicted)
{
    return RECORD_EDGE | (uint64_t)from << 32 | (uint64_t)to << 1 |
           mispredicted;
}

static inline uint32_t
record_edge_from(uint64_t key)
{
    return (uint32_t)(key >> 32 & INT32_MAX);
}

static inline uint32_t
record_edge_to(uint64_t key)
{
    return (uint32_t)key >> 1;
}

/* How an object is used, where the session records all accesses. */
struct record_use {
    uint64_t loads, stores; /* eighths of accesses: QEMU shows one of more than
                               8 bytes in pieces */
    uint64_t fetched;       /* bytes of the lines that came into the L1D */
    uint64_t touched;       /* and those that were touched */
};

/* Of one live thread. The sites are a hash table with open addressing in one of
 * two places; the other is where it grows to. Numbers of cells are indices, and
 * 0 is that of a block without a number. */
struct record_strand {
    atomic_uint place;      /* of `sites` */
    atomic_uint bits;       /* log2 of the table's size */
    atomic_uint cell_count; /* 0: callers are not recorded */
    /* Where edges are recorded: the block that runs, or 0. Edges from it are
     * not known yet. */
    uint32_t last;
    struct record_cell cells[RECORD_CELLS]; /* of number 1 on */
    uint64_t executions[RECORD_CELLS + 1];  /* of each cell */
    struct record_branches branches[RECORD_CELLS + 1];
    struct record_branches outside[RECORD_CELLS + 1]; /* what does not count */
    struct record_edges edges[COUNTS_BLOCKS + 1]; /* from each block; [0]: from
                                                     nowhere */
    struct record_site sites[2][RECORD_SITES];
    struct record_use uses[RECORD_OBJECTS + 1]; /* by number of the object */
};

/* A thread that has ended: `cells` cells (struct record_ended_cell) follow the
 * header in record_process.ended, then `count` sites. */
struct record_thread {
    uint32_t thread, strand;
    uint32_t cells, count;
};

/* A cell in the place of a site. */
struct record_ended_cell {
    struct record_cell cell;
    uint64_t executions;
};

static_assert(sizeof(struct record_ended_cell) == sizeof(struct record_site),
              "they stand in one array");
static_assert(RECORD_CELLS > COUNTS_BLOCKS, "a block has a cell at least");
static_assert(SIGNAL_COUNT <= RECORD_CLASS &&
                  RECORD_CLASS + CURVE_CLASSES <= RECORD_EXECUTIONS,
              "no number is of two kinds");

static_assert(sizeof(struct record_thread) == sizeof(struct record_site),
              "they stand in one array");

/* What data accesses are charged to; its number is 1 + its index. */
struct record_object {
    uint32_t kind;
    uint32_t call;  /* RECORD_HEAP: the number of the call of the allocator, or
                       in place of one as in struct record_cell; RECORD_STACK: 1
                       + the index of the place of a block of the function whose
                       frames they are, or 0 */
    uint32_t name;  /* where its text begins: the allocator's, the variable's,
                       or the path of the file */
    uint32_t image; /* RECORD_VARIABLE: the number of the file's other data */
    uint64_t size;  /* RECORD_VARIABLE: bytes */
    uint64_t allocations, bytes; /* RECORD_HEAP: until now */
};

/* A call on the way to an object; its number is 1 + its index. */
struct record_call {
    uint32_t parent; /* a lower number, or as in struct record_cell */
    uint32_t block;  /* that called: 1 + the index of its place */
};

/* Why data are not in the L1D, where the session records that. */
struct record_reason {
    uint32_t kind;   /* enum record_reason_kind */
    uint32_t object; /* by number; 0: not known */
    uint32_t other, thread;
    uint64_t place; /* of an instruction: record_reason_place() */
    uint64_t count;
    uint64_t bytes, other_bytes; /* of a line, a bit each */
};

/* Returns the place of an instruction of a block, by the block's number; 0: not
 * known. */
static inline uint64_t
record_reason_place(uint32_t block, unsigned instruction)
{
    return (uint64_t)block << 16 | (uint16_t)instruction;
}

#define RECORD_STEPS 6u

/* How far apart the addresses are that an instruction asks for one after the
 * other, where the session records that: of loads or of stores. */
struct record_stride {
    uint64_t place;  /* of the instruction, as in a reason; and its highest bit:
                        stores */
    uint64_t last;   /* the address that was asked for last */
    uint32_t thread; /* that asked, + 1; 0: none yet */
    uint32_t pieces; /* how often QEMU shows an access */
    uint32_t shown;  /* of these, of the last access */
    uint32_t reserved;
    int64_t steps[RECORD_STEPS]; /* the first that were seen */
    uint64_t counts[RECORD_STEPS];
    uint64_t other; /* further apart than these */
};

#define RECORD_STRIDE_STORES (UINT64_C(1) << 63)

/* Waits of a thread that are alike. Calls are numbers as in struct
 * record_object, of the path to the function that the place is in; places are
 * those of blocks (record_reason_place()), or 0. */
struct record_wait {
    uint32_t kind;
    uint32_t object; /* that `word` is in, by number; 0: not known */
    uint64_t word;   /* address, or 0 */
    uint32_t thread, call;
    uint64_t place;
    /* Who ended the wait, and where; of a spin, the thread that had the turn
     * last. */
    uint32_t waker, waker_call;
    uint64_t waker_place;
    uint64_t count; /* waits that `waker` ended there, */
    /* Modelled cycles of all these waits but of the parts until another thread
     * let the lock go, which are in rows with that thread as `waker`; and such
     * parts of other waits. */
    uint64_t time;
    uint64_t longest; /* the longest of the waits that are counted, in whole */
};

/* Waits of a thread that follow each other, in the order in which they began:
 * one, or where there is no room for each by itself, those that begin in the
 * same part of the thread's time. Times are modelled cycles of its clock. */
struct record_stretch {
    uint32_t thread;
    uint32_t wait;       /* the row of waits that has most of the longest */
    uint64_t begin, end; /* of the first and of the last */
    uint64_t count;
    uint64_t longest;
    uint64_t time[RECORD_WAIT_KINDS]; /* by what ended them */
};

/* When a thread began, in modelled cycles with all waits. */
struct record_begin {
    uint32_t thread, maker; /* the first thread: itself */
    uint64_t time;
};

/* The wait that a thread is in now. Its thread writes the members, then sets
 * `waits`; a process that is killed leaves those of its threads. Names are as
 * in struct record_wait. */
struct record_unended {
    atomic_uint waits; /* 0: the thread waits for nothing */
    uint32_t kind, object;
    uint32_t thread, call;
    /* The thread that holds the lock, or whose end is waited for; NO_THREAD:
     * not known; or RECORD_HOLDER_ENDED. */
    uint32_t holder;
    uint64_t word, place;
    uint64_t since;    /* the modelled cycle in which the wait began */
    uint32_t has_time; /* 1: the wait ends by itself after some time */
    uint32_t reserved;
};

/* Of one process. */
struct record_process {
    atomic_uint code_size;
    atomic_uint ended_count; /* records used of `ended` */
    /* Numbers used of what follows; 0 unless the session records objects. */
    atomic_uint call_count, object_count, text_size;
    atomic_uint reason_count, stride_count; /* the same, of reasons */
    atomic_uint wait_count, begin_count;    /* the same, of waits */
    atomic_uint waits_lost;                 /* 1: some found no room */
    atomic_uint stretch_count;              /* 0 while they are merged */
    atomic_uint unended_count;              /* places used of `unended` */
    struct record_place places[COUNTS_BLOCKS];
    unsigned char code[RECORD_CODE];
    struct record_site ended[RECORD_ENDED];
    struct record_call calls[RECORD_CALLS];
    struct record_object objects[RECORD_OBJECTS];
    char text[RECORD_TEXT];                     /* names, each with its NUL */
    struct record_use uses[RECORD_OBJECTS + 1]; /* by threads that ended */
    struct record_reason reasons[RECORD_REASONS];
    struct record_stride strides[RECORD_STRIDES];
    struct record_wait waits[RECORD_WAITS];
    struct record_begin begins[RECORD_BEGINS];
    struct record_stretch stretches[RECORD_STRETCHES];
    struct record_unended unended[COUNTS_STRANDS];
};

/* Maps the recording of a process that counts_map() mapped, and of its strand
 * area `slot`; `at` NULL or where to lay the memory over. NULL: errno. */
struct record_process *
record_map(const struct process_counts *process, void *at);
struct record_strand *record_map_strand(const struct process_counts *process,
                                        unsigned slot, void *at);
void record_unmap(struct record_process *record);
void record_unmap_strand(struct record_strand *record);

/*
 * Appends what a thread has recorded to the sites of ended threads, and zeroes
 * what it has recorded; the block that ran last leads nowhere. The thread's
 * counts must still be there. What finds no
 * room is lost to the sites, and stays in the thread's totals.
 */
void
record_fold(const struct process_counts *process, struct record_process *record,
            const struct counts_strand *counts, struct record_strand *strand);

/* Maps the phases of a process that counts_map() mapped. NULL: errno. */
struct phases_process *phases_map(const struct process_counts *process);
void phases_unmap(struct phases_process *phases);

/* Gives back the memory of the strands' areas below `strands`. */
void record_release(const struct process_counts *process, unsigned strands);

#endif
