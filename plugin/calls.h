/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls of the guest by their numbers in its ABI, and what hands a
 * thread's processor over: one of them, and no-ops that stand for one. */
#ifndef TALLY_PLUGIN_CALLS_H
#define TALLY_PLUGIN_CALLS_H

#include "isa/insn.h"
#include "machine/chip.h"
#include "plugin/qemu_api.h"

enum call {
    CALL_EXECVE,
    CALL_EXECVEAT,
    CALL_SCHED_YIELD,
    CALL_READ,
    CALL_WRITE,
    CALL_PREAD,
    CALL_READV,
    CALL_PREADV,
    CALL_GETRANDOM,
    CALL_SENDFILE,
    CALL_SENDFILE64,
    CALL_SPLICE,
    CALL_RECVFROM,
    CALL_RECVMSG,
    CALL_WAIT4,
    CALL_WAITPID,
    CALL_WAITID,
    CALL_POLL,
    CALL_PPOLL,
    CALL_SELECT,
    CALL_NEWSELECT,
    CALL_PSELECT6,
    CALL_EPOLL_WAIT,
    CALL_EPOLL_PWAIT,
    CALL_RT_SIGRETURN,
    CALL_KILL,
    CALL_TKILL,
    CALL_TGKILL,
    CALL_PIDFD_SEND_SIGNAL,
    /* Change what the process may open: its user, root, /proc, capabilities. */
    CALL_SETUID,
    CALL_SETGID,
    CALL_SETREUID,
    CALL_SETREGID,
    CALL_SETGROUPS,
    CALL_SETRESUID,
    CALL_SETRESGID,
    CALL_SETFSUID,
    CALL_SETFSGID,
    CALL_CAPSET,
    CALL_PIVOT_ROOT,
    CALL_CHROOT,
    CALL_MOUNT,
    CALL_UMOUNT2,
    CALL_UNSHARE,
    CALL_SETNS,
    CALL_MOVE_MOUNT,
    CALL_RT_SIGACTION,
};

/* Whether `number` is `call` for a guest of this architecture. */
bool call_is(enum call call, enum isa isa, int64_t number);

/* Whether `number` is one of those from CALL_SETUID on. */
bool call_changes_rights(enum isa isa, int64_t number);

/* A thread makes a call: what it counts as. */
void call_count(struct strand *strand, enum isa isa, int64_t number);

/* Pauses of a block, which on a machine whose threads switch are hints. */
void call_register_pauses(const struct chip *chip, struct qemu_plugin_tb *tb,
                          const struct insn *insns, size_t count);

#endif
