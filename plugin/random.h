/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random bytes that repeat: what the guest reads from getrandom, /dev/urandom,
 * /dev/random and /proc/sys/kernel/random/uuid is overwritten in its memory
 * when the call returns, if the session asks for that. A call that fails, and
 * bytes beyond those it returned, stay as they are.
 *
 * Each thread reads a stream of its own. Word n of a stream with key K, from
 * 1 on, is mix(K + n * 0x9e3779b97f4a7c15), its least byte first; mix() is the
 * finalizer of SplitMix64. The first program's key is a constant. The key of a
 * thread follows from its process's key and its number in order of creation,
 * that of a forked child from its parent's key and the number of forks so far,
 * that of an executed program from the key before and the bytes read.
 */
#ifndef TALLY_PLUGIN_RANDOM_H
#define TALLY_PLUGIN_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/isa.h"
#include "source/process_counts.h"

struct random {
    const struct isa *isa;          /* set by the owner, as is the session */
    struct session_header *session; /* which counts the bytes */
    bool fixed;                     /* what is read is overwritten */
    uint64_t key;
    uint64_t forks;
};

/* The random bytes of a guest thread; begins as 0. */
struct random_stream {
    bool begun;
    uint64_t key;
    uint64_t at; /* bytes read */
};

/* Sets the process's key: that of the program before it as random_executes()
 * gave it, in hexadecimal; NULL: it is the first. */
void random_begin(struct random *r, const char *key);

/* Returns the key of the program that the thread of the stream executes. */
uint64_t
random_executes(const struct random *r, const struct random_stream *stream);

/* Called around fork(): in the parent before it, in the child after it. */
void random_before_fork(struct random *r);
void random_forks(struct random *r, struct random_stream *stream);

/* Overwrites what a call of a guest thread has read. `args` and `result` are
 * those of the call, which returns; `thread` is the number of the thread. */
void random_return(const struct random *r, struct random_stream *stream,
                   uint32_t thread, int64_t number, const uint64_t args[4],
                   int64_t result);

#endif
