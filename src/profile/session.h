/* SPDX-License-Identifier: MIT */
/*
 * One measured run: starts the program under QEMU on a modelled machine, waits
 * for it, and collects the totals of all its processes and threads.
 */
#ifndef TALLY_PROFILE_SESSION_H
#define TALLY_PROFILE_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "host/child.h"
#include "host/software.h"
#include "profile/gate.h"
#include "profile/hardware.h"
#include "source/launch.h"
#include "source/process_counts.h"
#include "table/table.h"

struct session_options {
    const struct machine_row *machine;
    const uint64_t *params; /* PARAM_COUNT values */
    const struct event_row *const *events;
    size_t event_count;
    /* Software events, which the kernel counts of QEMU as a whole. */
    const struct event_row *const *software;
    size_t software_count;
    const char *from, *to; /* function names or NULL */
    uint64_t skip;         /* instructions */
    uint64_t interval_ms;  /* of modelled time, or 0; not with hardware */
    /* --filter: as filter_parse() reads them. */
    const char *const *filters;
    size_t filter_count;
    /* Counts through the machine's own counters, or NULL; its readings are of
     * the last run. */
    struct hardware *hardware;
    /* SIGUSR1 and SIGUSR2 are not passed on, but open and close it: only what
     * is counted in between is in the totals, not in the threads; or NULL. Not
     * with intervals nor --filter data=. */
    struct gate *gate;
    /* What its event address registers and trace buffer capture, or NULL; not
     * with hardware nor --filter data=. */
    const struct capture_request *capture;
    struct launch_options launch;
    /* The signals that the caller holds around all its runs and its report, or
     * NULL: they are held for this run alone. */
    const struct child_signals *signals;
    /* Called about twice a second while the program runs, may be NULL. */
    void (*progress)(void *user, uint64_t instructions, double wall_s);
    void *progress_user;
};

/* The threads of a session that have rows of their own; later ones share the
 * row of another thread of their process and strand. A row is 6 KB. */
#define SESSION_ROWS 16384u

/* One thread of one process. */
struct session_thread {
    unsigned process; /* index into processes */
    unsigned thread;  /* in order of creation */
    unsigned strand;  /* of the machine it ran on */
    unsigned maker;   /* the thread that made it, or itself */
    uint64_t born;    /* cycles of the process until then, waits left out */
    struct totals totals;
    /* Of --filter data=, while counts are added up, or NULL; owned. */
    struct totals *data;
};

struct session_process {
    int pid;
    int parent; /* its pid; 0: the first program's */
    enum counts_begin begin;
    char program[COUNTS_NAME];
    uint64_t load_bias; /* of its addresses over the file's */
    unsigned together;  /* threads that lived at once, at most */
    bool beside;        /* counts may show that it ran beside another process */
    bool ended;         /* in good order; otherwise by a signal, unless */
    bool running;       /* it still was when the program had ended */
    struct totals totals; /* of its threads */
};

/* What the monitor of a process's thread held when it had frozen. */
struct session_capture {
    unsigned process;
    struct capture_record record;
};

/* The instruction for which QEMU raised the SIGILL that ended a process: it
 * lacks the instruction, or the bytes are none. Not found where another process
 * sent the signal, or the program itself. */
struct session_illegal {
    bool found;
    unsigned process;  /* index into processes */
    uint64_t pc;       /* in memory: load_bias over the file's address */
    uint8_t bytes[15]; /* in memory from there on */
    uint8_t size;      /* of these, the bytes that are there */
    /* The file that is mapped there, or empty, and where in it. */
    char file[COUNTS_NAME];
    uint64_t offset;
};

/* What a thread had counted at a boundary of time. */
struct session_snapshot {
    unsigned process, thread;
    uint64_t boundary; /* in intervals of the process */
    struct totals totals;
};

/* What a process counted up to a point of modelled time, from the one before.
 */
struct session_interval {
    unsigned process;
    uint64_t boundary; /* that the point is at, or before in the last one */
    double start_s, end_s;
    struct totals totals;
};

/* A process whose counts hold what no process of tally writes: its counts are
 * not in the result. pid 0: the session's header, and nobody knows whose counts
 * are wrong. */
struct session_inconsistent {
    int pid;
    char program[COUNTS_NAME];
    const char *why;
};

struct session_result {
    struct session_process *processes;
    size_t process_count; /* images: a process that executes has several */
    size_t pid_count;     /* processes */
    unsigned together; /* threads of one process that lived at once, at most */
    unsigned beside;   /* processes that ran beside others, as above */
    struct session_thread *threads;
    size_t thread_count;
    struct session_snapshot *snapshots; /* unless no interval was asked for */
    size_t snapshot_count;
    struct session_interval
        *intervals; /* likewise; one process after another */
    size_t interval_count;
    struct session_capture *captures;
    size_t capture_count;
    uint64_t captures_lost;      /* for want of room */
    struct host_value *software; /* of each software event */
    struct totals totals;        /* of all, cycles included */
    double modelled_s;           /* busiest strand of each process, summed */
    double wall_s, user_s, sys_s;
    int status;               /* as waitpid() gives it */
    bool started;             /* anything of the program ran */
    bool interrupted;         /* a signal to us was passed on */
    unsigned uncounted;       /* programs that ran outside */
    unsigned uncounted_named; /* of them, those with names */
    char uncounted_names[SESSION_UNCOUNTED][COUNTS_NAME];
    /* Programs that ran without the rights their files give. */
    unsigned rightless;
    char rightless_names[SESSION_UNCOUNTED][COUNTS_NAME];
    /* Random bytes that the program was given: fixed ones, and those that the
     * kernel moved itself, which stayed random although fixed were asked for.
     */
    bool random_asked;
    uint64_t random_fixed, random_left;
    struct session_illegal illegal;
    struct session_inconsistent *inconsistent;
    size_t inconsistent_count;
    /* Threads whose counts are in no sum: they had no room of their own, or
     * their process was killed before it could hand their counts over. */
    unsigned lost_threads;
    /* Blocks that were left before their end: their instructions that did not
     * run may be in the sums, or those that ran not. */
    /* Handlers of signals that began where a timer or a process outside chose;
     * and the signal from outside that ended the first process, or 0. */
    uint64_t signalled;
    int ended_by;
    uint64_t left_early;
    uint64_t told; /* deaths of processes by signals, that parents asked for */
    unsigned heaped_threads; /* that share a row with others of their strand */
    /* Processes whose later threads are not counted: QEMU's numbers for threads
     * ran out. */
    unsigned cut_processes;
    uint32_t components;
};

/*
 * Runs a program. On failure before it started the result is untouched and the
 * error logged. session_result_finish() frees what a result holds.
 */
int session_run(const struct session_options *options,
                const struct program *program, const struct tally_log *log,
                struct session_result *result);
void session_result_finish(struct session_result *result);

/* Returns whether threads of a process, or processes, ran side by side in a way
 * that counts may show. */
bool session_side_by_side(const struct session_result *result);

/* The value of an event: the sum of its signals. */
uint64_t
event_value(const struct event_row *event, const struct totals *totals);

/* Returns whether blocks of code were left before their end. */
bool session_left_early(const struct session_result *result);

/* Returns whether counts of threads or processes are missing in the sums. */
bool session_partial(const struct session_result *result);

#endif
