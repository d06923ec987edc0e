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

#include <stdint.h>

/* Sets the process's key: that of the program before it as random_executes()
 * gave it, in hexadecimal; NULL: it is the first. */
void random_begin(const char *key);

/* The key of the program that the calling thread executes. */
uint64_t random_executes(void);

/* Called around fork(): in the parent before it, in the child after it. */
void random_before_fork(void);
void random_forks(void);

/* A guest thread makes a call, and returns from it. */
void random_syscall(const uint64_t args[4]);
void random_return(unsigned vcpu, int64_t number, int64_t result);

#endif
