/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guest's system calls by their numbers, and the instructions and calls by
 * which a thread hands its processor over. */
#ifndef TALLY_PLUGIN_CALLS_H
#define TALLY_PLUGIN_CALLS_H

#include <sys/syscall.h>
#include <unistd.h>

#include "isa/insn.h"
#include "isa/isa.h"
#include "machine/chip.h"
#include "plugin/qemu_api.h"
#include "source/process_counts.h"

/* Returns whether `number` is `call` for a guest of this architecture. */
static inline bool
call_is(enum system_call call, const struct isa *isa, int64_t number)
{
    return number == isa->calls[call];
}

/* Returns whether `number` is one of these calls, CALL_COUNT ends them. */
static inline bool
call_is_any(const enum system_call *calls, const struct isa *isa,
            int64_t number)
{
    for (; *calls != CALL_COUNT; calls++) {
        if (call_is(*calls, isa, number))
            return true;
    }
    return false;
}

/* Returns whether the call waits for one of several files to be ready. */
static inline bool
call_waits_for_files(const struct isa *isa, int64_t number)
{
    static const enum system_call calls[] = {
        CALL_POLL,     CALL_PPOLL,      CALL_SELECT,      CALL_NEWSELECT,
        CALL_PSELECT6, CALL_EPOLL_WAIT, CALL_EPOLL_PWAIT, CALL_COUNT};

    return call_is_any(calls, isa, number);
}

/* Returns whether such a call has sets of files, which it writes over. */
static inline bool
call_has_sets(const struct isa *isa, int64_t number)
{
    static const enum system_call calls[] = {CALL_SELECT, CALL_NEWSELECT,
                                             CALL_PSELECT6, CALL_COUNT};

    return call_is_any(calls, isa, number);
}

/* Returns whether the call reads from the file that its first argument names.
 */
static inline bool
call_reads(const struct isa *isa, int64_t number)
{
    static const enum system_call calls[] = {CALL_READ,     CALL_READV,
                                             CALL_RECVFROM, CALL_RECVMSG,
                                             CALL_SPLICE,   CALL_COUNT};

    return call_is_any(calls, isa, number);
}

/* Returns whether the call sends a signal. */
static inline bool
call_sends_signal(const struct isa *isa, int64_t number)
{
    static const enum system_call calls[] = {CALL_KILL,
                                             CALL_TKILL,
                                             CALL_TGKILL,
                                             CALL_RT_SIGQUEUEINFO,
                                             CALL_RT_TGSIGQUEUEINFO,
                                             CALL_PIDFD_SEND_SIGNAL,
                                             CALL_COUNT};

    return call_is_any(calls, isa, number);
}

/* Returns whether the call names a process and then a thread of it, to which it
 * sends a signal. */
static inline bool
call_names_group(const struct isa *isa, int64_t number)
{
    return call_is(CALL_TGKILL, isa, number) ||
           call_is(CALL_RT_TGSIGQUEUEINFO, isa, number);
}

/* Returns whether the call, which has these arguments, sends a signal that
 * reaches this process; `thread`: one of its threads alone. */
static inline bool
call_signals_own(const struct isa *isa, int64_t number, const uint64_t args[4],
                 bool *thread)
{
    const pid_t named = (pid_t)args[0];

    *thread = true;
    if (!call_sends_signal(isa, number))
        return false;
    const pid_t self = getpid(); /* a system call */
    if (call_names_group(isa, number))
        return args[2] != 0 && named == self;
    if (call_is(CALL_TKILL, isa, number))
        return args[1] != 0 && syscall(SYS_tgkill, self, named, 0) == 0;
    *thread = false;
    if (call_is(CALL_RT_SIGQUEUEINFO, isa, number))
        return args[1] != 0 && named == self;
    return call_is(CALL_KILL, isa, number) && args[1] != 0 &&
           (named == self || named == 0 || named == -getpgrp());
}

/* Returns whether `number` is one of the calls from CALL_SETUID on. */
bool call_changes_rights(const struct isa *isa, int64_t number);

/* Returns whether `number` is one of the calls that change which memory is a
 * file's. */
static inline bool
call_changes_memory(const struct isa *isa, int64_t number)
{
    return call_is(CALL_MMAP, isa, number) ||
           call_is(CALL_MUNMAP, isa, number) ||
           call_is(CALL_MREMAP, isa, number);
}

/* Returns what the call, which gave `result`, asked of the system: bits of enum
 * counts_asked. `first`: its first argument. */
unsigned call_asks(const struct isa *isa, int64_t number, uint64_t first,
                   int64_t result);

/* Counts the call that a thread makes. */
void call_count(struct strand *strand, const struct isa *isa, int64_t number);

/* Registers the calls that count the pauses of a block, which are hints on a
 * machine whose threads switch. `strands`: by the number of the guest thread.
 */
void call_register_pauses(const struct chip *chip, struct strand **strands,
                          struct qemu_plugin_tb *tb, const struct insn *insns,
                          size_t count);

#endif
