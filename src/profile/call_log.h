/* SPDX-License-Identifier: MIT */
/*
 * The calls of one thread in a circular buffer of records. As the Netra DPS
 * profiler (chapter 3), the log keeps the first and the last records and
 * overwrites those between.
 *
 * Of `size` records the last 2^n < size are a ring (the only one, if `size` is
 * 1); the records before the ring keep the first calls. When the ring has gone
 * round, its records stand behind a gap and carry the overrun mark.
 *
 * The caller owns the memory and zeroes it. The memory is made of 64-bit words:
 * it can be a mapped file that is read after the program has died, also on a
 * host of the other byte order. One thread and its signal handlers write; any
 * thread reads and empties. No call locks, allocates or enters the system.
 */
#ifndef TALLY_PROFILE_CALL_LOG_H
#define TALLY_PROFILE_CALL_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/dump.h"

#define CALL_LOG_MAGIC UINT64_C(0x74616c6c79206c67) /* "tally lg" */
#define CALL_LOG_SIZE_MAX (UINT64_C(1) << 32)       /* records */
#define CALL_LOG_SELECTIONS 64

typedef _Atomic uint64_t call_word;

/* Words of the memory; behind them records. */
enum call_log_word {
    CALL_LOG_IS, /* CALL_LOG_MAGIC, written last */
    CALL_LOG_CPU,
    CALL_LOG_SIZE,     /* in records */
    CALL_LOG_WORDS,    /* user words of a record */
    CALL_LOG_HEAD,     /* calls so far */
    CALL_LOG_BASE,     /* calls that were taken out */
    CALL_LOG_SELECTED, /* selections so far */
    CALL_LOG_BEFORE,   /* CALL_LOG_BASE before the last change */
    CALL_LOG_ROWS,     /* selections, three words each */
    CALL_LOG_RECORDS = CALL_LOG_ROWS + 3 * CALL_LOG_SELECTIONS,
};

/* Words of a record; the user words follow. */
enum call_log_field {
    CALL_SEQUENCE, /* the call's number from 1; 0: being written, or empty */
    CALL_CYCLES,
    CALL_PC,
    CALL_HI,
    CALL_LO,
    CALL_WHAT, /* caller, call << 32, overflow << 40, selection << 48 */
    CALL_FIELDS,
};

struct call_log {
    call_word *memory;
    uint64_t size, first, mask, stride; /* first: records in front
                                           of the ring; mask: of the ring */
    uint64_t words;
};

/* The events that a start chose. */
struct call_selection {
    uint64_t group, hi, lo; /* codes */
};

struct call {
    uint64_t cycles, pc, hi, lo;
    uint32_t caller;
    unsigned call, overflow, selection;
    const uint64_t *words;
    size_t word_count;
};

/* Returns the bytes of a log; 0: `size` is 0, or a number is too large. */
size_t call_log_bytes(uint64_t size, uint64_t words);

/* Makes `memory` a log of call_log_bytes(size, words). */
void call_log_init(struct call_log *log, void *memory, uint64_t cpu,
                   uint64_t size, uint64_t words);

/* Opens a log that was made before; false: `bytes` hold no whole log. */
bool call_log_open(struct call_log *log, void *memory, size_t bytes);

/* Adds a selection. Returns its index, or -1: there are CALL_LOG_SELECTIONS
 * already. For the writer only. */
int
call_log_select(struct call_log *log, const struct call_selection *selection);

/* Returns the number of the next call. For the writer and its signal handlers
 * only. */
static inline __attribute__((always_inline)) uint64_t
call_log_claim(const struct call_log *log)
{
    call_word *const head = &log->memory[CALL_LOG_HEAD];

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
    /* No other thread writes the head: no lock, which costs 18 cycles more. */
    uint64_t number = 1;
    __asm__ volatile("xaddq %0, %1"
                     : "+r"(number), "+m"(*(volatile uint64_t *)head)
                     :
                     : "cc", "memory");
    return number;
#else
    return atomic_fetch_add_explicit(head, 1, memory_order_relaxed);
#endif
}

static inline __attribute__((always_inline)) void
call_log_put(call_word *word, uint64_t value)
{
    atomic_store_explicit(word, value, memory_order_release);
}

/* Adds a record. User words for which the log has no room are dropped, missing
 * ones are 0. */
static inline __attribute__((always_inline)) void
call_log_add(const struct call_log *log, const struct call *c)
{
    const uint64_t number = call_log_claim(log);
    const uint64_t base =
        atomic_load_explicit(&log->memory[CALL_LOG_BASE], memory_order_relaxed);
    const uint64_t place = number - base;
    const uint64_t slot = place < log->first
                              ? place
                              : log->first + ((place - log->first) & log->mask);
    call_word *const r = log->memory + CALL_LOG_RECORDS + slot * log->stride;
    const uint64_t what = (uint64_t)c->caller | (uint64_t)c->call << 32 |
                          (uint64_t)c->overflow << 40 |
                          (uint64_t)c->selection << 48;
    const uint64_t given =
        c->word_count < log->words ? c->word_count : log->words;

    call_log_put(&r[CALL_SEQUENCE], 0);
    atomic_signal_fence(memory_order_seq_cst);
    /* A reader that sees one of these stores also sees the 0 in the sequence.
     */
    call_log_put(&r[CALL_CYCLES], c->cycles);
    call_log_put(&r[CALL_PC], c->pc);
    call_log_put(&r[CALL_HI], c->hi);
    call_log_put(&r[CALL_LO], c->lo);
    call_log_put(&r[CALL_WHAT], what);
    for (uint64_t i = 0; i < given; i++)
        call_log_put(&r[CALL_FIELDS + i], c->words[i]);
    for (uint64_t i = given; i < log->words; i++)
        call_log_put(&r[CALL_FIELDS + i], 0);
    call_log_put(&r[CALL_SEQUENCE], number + 1);
}

/*
 * Hands the records to `take`, oldest first, until `take` answers other than 0;
 * returns the last answer. Leaves out records that are being written, and
 * updates behind a gap that lost their start, if that start chose other events
 * than the last one in front of the gap. *head, unless NULL, is the end of the
 * records, for call_log_empty().
 */
int call_log_walk(const struct call_log *log,
                  int (*take)(void *user, const struct dump_record *record),
                  void *user, uint64_t *head);

/* Takes out the records before `head`. */
void call_log_empty(struct call_log *log, uint64_t head);

/* Turns words of the other byte order into words of this host's. */
void call_log_swap(uint64_t *words, size_t count);

#endif
