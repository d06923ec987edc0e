/* SPDX-License-Identifier: MIT */
/* The system calls of a guest that tally looks at; their numbers stand in the
 * rows of data/isa.toml. */
#ifndef TALLY_ISA_CALLS_H
#define TALLY_ISA_CALLS_H

#include <stdbool.h>
#include <stdint.h>

enum system_call {
    CALL_EXECVE,
    CALL_EXECVEAT,
    CALL_SCHED_YIELD,
    /* Change which memory is a file's. */
    CALL_MMAP,
    CALL_MUNMAP,
    CALL_MREMAP,
    CALL_BRK,
    CALL_MPROTECT,
    CALL_MADVISE,
    CALL_CLONE,
    CALL_CLONE3,
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
    CALL_RT_SIGQUEUEINFO,
    CALL_RT_TGSIGQUEUEINFO,
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
    /* May sleep until another thread does something. */
    CALL_FUTEX,
    CALL_NANOSLEEP,
    CALL_CLOCK_NANOSLEEP,
    CALL_ACCEPT,
    CALL_ACCEPT4,
    CALL_CONNECT,
    CALL_SENDTO,
    CALL_SENDMSG,
    CALL_WRITEV,
    CALL_RT_SIGTIMEDWAIT,
    CALL_RT_SIGSUSPEND,
    CALL_PAUSE,
    CALL_FLOCK,
    CALL_SEMTIMEDOP,
    CALL_MSGRCV,
    CALL_MSGSND,
    CALL_SCHED_GETAFFINITY,
    CALL_EXIT, /* of a thread */
    CALL_SCHED_SETAFFINITY,
    CALL_GETCPU,
    CALL_OPEN,
    CALL_OPENAT,
    CALL_FCNTL,
    CALL_MQ_TIMEDSEND,
    CALL_MQ_TIMEDRECEIVE,
    CALL_RECVMMSG,
    CALL_SENDMMSG,
    CALL_SEMOP,
    CALL_EPOLL_PWAIT2,
    CALL_FUTEX_WAITV,
    CALL_IO_GETEVENTS,
    /* Read a clock. */
    CALL_CLOCK_GETTIME,
    CALL_GETTIMEOFDAY,
    CALL_TIME,
    CALL_TIMES,
    CALL_GETRUSAGE,
    /* Set a timer. */
    CALL_TIMERFD_SETTIME,
    CALL_TIMER_SETTIME,
    /* Ask for what may differ in another run. */
    CALL_GETPID,
    CALL_GETPPID,
    CALL_SYSINFO,
    CALL_GETITIMER,
    CALL_TIMER_GETTIME,
    /* Known to wake nobody, as many above. */
    CALL_RT_SIGPROCMASK,
    CALL_SET_ROBUST_LIST,
    CALL_RSEQ,
    CALL_COUNT,
};

/* Returns whether the result of a system call, a word of the guest, is an
 * error: one of the highest 4,095. */
static inline bool
call_failed(uint64_t result)
{
    return result > UINT64_MAX - 4095;
}

#endif
