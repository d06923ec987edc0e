/* SPDX-License-Identifier: MIT */
/* The system calls of a guest that tally looks at; their numbers stand in the
 * rows of data/isa.toml. */
#ifndef TALLY_ISA_CALLS_H
#define TALLY_ISA_CALLS_H

enum system_call {
    CALL_EXECVE,
    CALL_EXECVEAT,
    CALL_SCHED_YIELD,
    /* Change which memory is a file's. */
    CALL_MMAP,
    CALL_MUNMAP,
    CALL_MREMAP,
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
    CALL_PRCTL,
    CALL_COUNT,
};

#endif
