/* SPDX-License-Identifier: MIT */
/*
 * The calls of one thread in a circular buffer of records (Netra DPS, chapter
 * 3: the start and the end are preserved, what is between is overwritten).
 *
 * Of `size` records the last 2^n < size are a ring (of one record: that one)
 * and those before it keep the first ones. When the ring has gone round, what
 * comes out of it stands behind a gap and carries the overrun mark.
 *
 * Memory is the caller's, zeroed, and made of 64-bit words, so that it can be a
 * mapped file which is read after the program has died, on a host of the other
 * order of bytes too. One thread writes, its signal handlers included; any
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

/* Words of the memory; then selections of three, then records. */
enum call_log_word {
    CALL_LOG_IS, /* CALL_LOG_MAGIC, last of all */
    CALL_LOG_CPU,
    CALL_LOG_SIZE,  /* in records */
    CALL_LOG_WORDS, /* of the user, in each */
    CALL_LOG_HEAD,  /* calls so far */
    CALL_LOG_BASE,  /* of these were taken out */
    CALL_LOG_SELECTED,
    CALL_LOG_BEFORE, /* the base before this one */
    CALL_LOG_ROWS,
    CALL_LOG_RECORDS = CALL_LOG_ROWS + 3 * CALL_LOG_SELECTIONS,
};

/* Words of a record; those of the user follow. */
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
    uint64_t size, first, mask, stride; /* first: that stay; mask: the ring's */
    uint64_t words;
};

/* What a start chose. */
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

/* In bytes; 0: `size` is none, or either too large. */
size_t call_log_bytes(uint64_t size, uint64_t words);

/* Makes `memory` a log of call_log_bytes(size, words). */
void call_log_init(struct call_log *log, void *memory, uint64_t cpu,
                   uint64_t size, uint64_t words);

/* Of a log that was made before; false: `bytes` hold none that is whole. */
bool call_log_open(struct call_log *log, void *memory, size_t bytes);

/* Its index, or -1: there are CALL_LOG_SELECTIONS already. The writer's. */
int
call_log_select(struct call_log *log, const struct call_selection *selection);

/* One more call's number. Of this thread and its signal handlers only. */
static inline __attribute__((always_inline)) uint64_t
call_log_claim(const struct call_log *log)
{
    call_word *const head = &log->memory[CALL_LOG_HEAD];

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
    /* No other thread writes it: a lock would cost 18 cycles more. */
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

/* Words of the user beyond the log's are dropped, missing ones 0. */
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
    /* A reader that sees any of these also sees the 0 that was before. */
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
 * Hands the records over, oldest first; a nonzero answer of `take` ends that
 * and is returned. Records that are being written are left out, and so are
 * updates behind a gap whose start is lost and chose otherwise than the last
 * start before it. *head, unless NULL: for call_log_empty().
 */
int call_log_walk(const struct call_log *log,
                  int (*take)(void *user, const struct dump_record *record),
                  void *user, uint64_t *head);

/* Takes out what had come before `head`. */
void call_log_empty(struct call_log *log, uint64_t head);

/* Words of the other order of bytes into this host's. */
void call_log_swap(uint64_t *words, size_t count);

#endif
