/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which thread of the guest has made a new one. QEMU 7.2 says that a thread
 * begins on the thread that makes it, within its call of clone(); later
 * versions of QEMU say so on the new thread, and the maker may be out of its
 * call by then. There the maker stays in its call until the new thread has
 * begun, as with QEMU 7.2: threads then begin in the order in which they are
 * made, and the maker's own counts stand still while they are read. A thread is
 * known by its number of the host's, which is the result of clone().
 */
#ifndef TALLY_PLUGIN_BIRTHS_H
#define TALLY_PLUGIN_BIRTHS_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/isa.h"

/* Called before a system call is made. */
void births_call(const struct isa *isa, int64_t number, const uint64_t args[6]);

/* Called as the system call of thread `vcpu` has returned, before all others
 * look at its result: waits until the thread that the call has made, if it has
 * made one, has begun. */
void births_return(unsigned vcpu, int64_t result);

/*
 * Called as a thread begins that is not the first, before its first block, on
 * that thread or its maker; waits until the maker's call returns. Returns the
 * maker. births_end() is to be called once all that has to do with the
 * beginning is done. `vcpu`: of the last system call on this thread.
 */
unsigned births_begin(unsigned vcpu);
void births_end(void);

/* From now on QEMU does not say that threads begin: nobody waits for one. */
void births_stop(void);

/* Called in the child of a fork, which has one thread. */
void births_after_fork(void);

#endif
