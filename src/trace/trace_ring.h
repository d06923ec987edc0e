/* SPDX-License-Identifier: MIT */
/*
 * The memory through which the tracer in QEMU hands what a program does to
 * tally, which writes the trace. The tracer puts items of 64 bits into a ring,
 * and tally takes them; each waits for the other where the ring is full or
 * empty. Each item is in the ring before `put` counts it, so that of a program
 * that is killed all items until then are there.
 *
 * An item of one word is an access or a block:
 *
 *   bits 0-15: what, an access: TRACE_STORE, TRACE_SHIFT and the number of its
 *              instruction in the block; bits 16-63: its address
 *   bits 0-15: TRACE_ENTER; bits 16-63: the number of the block that begins
 *
 * Any other item is a word with TRACE_LONG in bits 0-15, its kind in bits 16-31
 * and the number of words that follow in bits 32-63.
 */
#ifndef TALLY_TRACE_TRACE_RING_H
#define TALLY_TRACE_TRACE_RING_H

#include <stdatomic.h>
#include <stdint.h>

#define TRACE_RING_ITEMS (UINT64_C(1) << 18)
#define TRACE_RING_VERSION 3u

enum trace_what {
    TRACE_SHIFT = 7,          /* mask: log2 of the bytes of an access */
    TRACE_STORE = 8,          /* a store, else a load */
    TRACE_INSN = 4,           /* how far up the instruction's number stands */
    TRACE_PASSED = 1 << 14,   /* no access: the instruction began */
    TRACE_WHAT_END = 1 << 15, /* no access has a greater one */
    TRACE_ENTER = 0xffff,
    TRACE_LONG = 0xfffe,
};

/* The most instructions of a block. */
#define TRACE_INSNS 1024u

/* The size of an instruction as blocks have it: its bytes, and whether each run
 * tells that the instruction begins (TRACE_PASSED). One behind an instruction
 * that may leave the block is told. */
#define TRACE_SIZE 0x1fu
#define TRACE_TOLD 0x80u

/* Items of several words. Numbers are words; texts and bytes fill words, with
 * zeroes behind them, their size in a word before. */
enum trace_item {
    TRACE_ITEM_START = 1, /* where the first instruction is; the path */
    TRACE_ITEM_BLOCK,     /* its address, instructions, bytes that are before
                             and behind it; the size of each instruction, a byte
                             each; the bytes before, of it, and behind */
    TRACE_ITEM_IMAGE,     /* first and last address, offset, path */
    TRACE_ITEM_CALL,      /* number, 8 arguments; pieces of memory: the address
                             and the bytes of each */
    TRACE_ITEM_RETURN,    /* number, result */
    TRACE_ITEM_WIDE,   /* an access whose address has more than 48 bits: what,
                          address */
    TRACE_ITEM_STRAY,  /* an access of a block that does not run: block, what,
                          address */
    TRACE_ITEM_STOP,   /* enum trace_end: nothing follows; the instructions of
                          the part that was asked for, or 0 */
    TRACE_ITEM_MAP,    /* what is mapped from an address to another: the first,
                          the last; 0, or 1 and the offset in the file and the
                          path ("": no file's) */
    TRACE_ITEM_THREAD, /* enum trace_thread, number of the thread */
};

/* What happens to a thread, by QEMU's number for it. The first is 0, lives and
 * runs. */
enum trace_thread {
    TRACE_THREAD_STARTS, /* the thread that runs has made it */
    TRACE_THREAD_RUNS,   /* what follows is done by it */
    TRACE_THREAD_ENDS,
    TRACE_THREAD_EVENTS
};

/* Numbers of threads are less. */
#define TRACE_THREADS (1u << 20)

/* How the program ended, or why the trace ends before. */
enum trace_end {
    TRACE_END_EXIT = 1, /* it ended by itself */
    TRACE_END_SIGNAL,   /* a signal ended it */
    TRACE_END_THREAD,   /* it made a second thread, and threads do not take
                           turns, or a part of the run was asked for */
    TRACE_END_FORK,     /* it made a child */
    TRACE_END_EXEC,     /* it executed another program */
    TRACE_END_SIZE,     /* the trace had its largest size */
    TRACE_END_PART,     /* it has the part that was asked for */
};

struct trace_ring {
    uint32_t version;
    _Alignas(64) _Atomic uint64_t put;   /* items, by the tracer */
    _Alignas(64) _Atomic uint64_t taken; /* items, by tally */
    /* Set by tally: no more items are wanted. */
    _Alignas(64) atomic_uint closed;
    _Alignas(64) uint64_t item[TRACE_RING_ITEMS];
};

#endif
