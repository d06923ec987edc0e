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

struct phases_found;
struct recorded_sink;
struct session_options;
struct session_result;

/* How a session records by instruction: profile/recorded.h has the one way
 * there is. A library that records nothing does without its decoders so. */
struct session_recorder {
    void (*ask)(const struct session_options *options,
                struct session_request *request);
    int (*collect)(const struct session_options *options, int fd,
                   const struct session_request *request,
                   const struct session_result *result, bool ended);
    /* Called about twice a second while the program runs; or NULL. */
    void (*look)(const struct session_options *options,
                 const struct session_request *request, int fd);
};

struct session_options {
    const struct machine_row *machine;
    const uint64_t *params; /* PARAM_COUNT values */
    unsigned feeds;         /* enum feed_id, of an imported trace; 0: all */
    const struct event_row *const *events;
    size_t event_count;
    /* Software events, which the kernel counts for QEMU as a whole. */
    const struct event_row *const *software;
    size_t software_count;
    /* What runs inside of functions of MPI is counted apart. Not with hardware,
     * intervals, a gate, --filter data=, captures nor a recorder. */
    bool mpi;
    const char *from, *to; /* function names or NULL */
    uint64_t skip;         /* instructions */
    uint64_t interval_ms;  /* of modelled time, or 0; not with hardware */
    /* Filters, as filter_parse() reads them. */
    const char *const *filters;
    size_t filter_count;
    /* The machine's own counters, to count through them, or NULL; their
     * readings are of the last run. */
    struct hardware *hardware;
    /* A gate that SIGUSR1 opens and SIGUSR2 closes (the program does not get
     * them), or NULL. The result's totals are those of the time while the gate
     * was open; the threads' are of the whole run. Not with intervals nor
     * --filter data=. */
    struct gate *gate;
    /* What the machine's event address registers and trace buffer capture, or
     * NULL; not with hardware nor --filter data=. */
    const struct capture_request *capture;
    /* Records by instruction, or NULL: nothing is recorded; and what takes the
     * recording. Not with hardware, intervals, a gate, --filter data= nor
     * captures. */
    const struct session_recorder *recorder;
    const struct recorded_sink *record;
    /* Of point_recorder: the point of the run that is looked for, and what was
     * found, which the caller frees; it was reached if it says so. */
    const struct point_request *point;
    struct point **point_found;
    /* Of steps_recorder: the steps of the run that are recorded, and what was
     * recorded, which the caller frees. */
    const struct steps_request *steps;
    struct steps **steps_found;
    /* Of curve_recorder: the curve of misses that is drawn, and what was
     * counted for it, which the caller frees. */
    const struct curve_request *curve;
    struct curve_counts **curve_found;
    /* Of phases_recorder: the intervals that are recorded, and what they ran,
     * which phases_found_destroy() frees. */
    const struct phases_request *phases;
    struct phases_found **phases_found;
    /* Called as the program waits at the point for its debugger, which `point`
     * asks for; or NULL. */
    void (*point_reached)(void *user, const struct point *point);
    void *point_user;
    struct launch_options launch;
    /* Called about twice a second while all threads of a process, so many, wait
     * for each other, where threads take turns; or NULL. */
    void (*stuck)(void *user, int pid, unsigned threads);
    void *stuck_user;
    /* Signals that the caller has held, around all its runs and its report; or
     * NULL: session_run() holds them for this run. */
    const struct child_signals *signals;
    /* Called about twice a second while the program runs; or NULL. */
    void (*progress)(void *user, uint64_t instructions, double wall_s);
    void *progress_user;
};

/* The threads of a session that have rows of their own. Each later thread
 * shares the row of another thread of its process and strand. A row is 6 KB. */
#define SESSION_ROWS 16384u

/* One thread of one process. */
struct session_thread {
    unsigned process; /* index into processes */
    unsigned thread;  /* in order of creation */
    unsigned strand;  /* of the machine, that the thread ran on */
    unsigned maker;   /* the thread that made it, or itself */
    uint64_t born;    /* cycles of the process until then, without waits */
    struct totals totals;
    /* Totals inside the filter of data, while counts are added up; or NULL;
     * owned. */
    struct totals *data;
    struct totals *in_mpi; /* with session_options.mpi, while counts are added
                              up; or NULL; owned */
};

struct session_process {
    unsigned place; /* of its counts in the session's file */
    int pid;
    int parent; /* pid; 0: this is the first process */
    enum counts_begin begin;
    char program[COUNTS_NAME];
    uint64_t load_bias;     /* address in memory less address in the file */
    unsigned together;      /* most threads that lived at once */
    uint64_t quantum;       /* of their turns; 0: they ran freely */
    unsigned outside_wakes; /* ends of waits that do not repeat */
    unsigned asked;         /* enum counts_asked */
    bool beside;  /* counts may show that it ran beside another process */
    bool ended;   /* by exit or exec, not by a signal */
    bool running; /* still, when the first program had ended */
    struct totals totals; /* of its threads */
};

/* A record that the monitor of a process's thread held when it froze. */
struct session_capture {
    unsigned process;
    struct capture_record record;
};

/* The instruction for which QEMU raised the SIGILL that ended a process: QEMU
 * does not know the instruction, or the bytes are no instruction. Not found if
 * a process sent the signal. */
struct session_illegal {
    bool found;
    unsigned process;  /* index into processes */
    uint64_t pc;       /* address in memory */
    uint8_t bytes[15]; /* the memory at pc */
    uint8_t size;      /* how many of `bytes` are there */
    /* The file that is mapped at pc, or empty, and the offset in the file. */
    char file[COUNTS_NAME];
    uint64_t offset;
};

/* The totals of a thread at a boundary of time. */
struct session_snapshot {
    unsigned process, thread;
    uint64_t boundary; /* in intervals of the process */
    struct totals totals;
};

/* The totals of a process from one point of modelled time to the next. */
struct session_interval {
    unsigned process;
    uint64_t boundary; /* at the end, or behind the end of the last interval */
    double start_s, end_s;
    struct totals totals;
};

/* A process whose counts hold values that tally never writes: they are not in
 * the result. pid 0: the session's header holds such values, and the process
 * that wrote them is not known. */
struct session_inconsistent {
    int pid;
    char program[COUNTS_NAME];
    const char *why;
};

struct session_result {
    struct session_process *processes;
    size_t process_count; /* programs: a process that executes has several */
    size_t pid_count;     /* processes */
    unsigned together;    /* most threads of one process that lived at once */
    unsigned beside;      /* processes that ran beside others */
    unsigned free;        /* processes whose threads ran side by side, or whose
                             turns were changed from outside */
    uint64_t quantum;     /* of the turns of threads; 0: they ran freely */
    bool by_cycles;       /* and `quantum` is of modelled cycles */
    unsigned outside_wakes; /* of all processes with several threads */
    unsigned asked;         /* enum counts_asked, by these processes */
    struct session_thread *threads;
    size_t thread_count;
    struct session_snapshot *snapshots; /* if intervals were asked for */
    size_t snapshot_count;
    struct session_interval
        *intervals; /* if asked for; one process after another */
    size_t interval_count;
    struct session_capture *captures;
    size_t capture_count;
    uint64_t captures_lost;      /* for want of room */
    struct host_value *software; /* of each software event */
    struct totals totals;        /* of all, cycles included; with mpi, of what
                                    is outside */
    struct totals *in_mpi;       /* the rest, with mpi; or NULL; owned */
    double modelled_s;           /* sum of each process's busiest strand */
    double wall_s, user_s, sys_s;
    int status;               /* as waitpid() gives it */
    bool started;             /* anything of the program ran */
    bool interrupted;         /* as in struct child */
    unsigned uncounted;       /* programs that ran outside the emulation */
    unsigned uncounted_named; /* how many of the uncounted have names */
    char uncounted_names[SESSION_UNCOUNTED][COUNTS_NAME];
    /* Programs that ran without the rights their files give. */
    unsigned rightless;
    char rightless_names[SESSION_UNCOUNTED][COUNTS_NAME];
    /* Random bytes that the program was given. If fixed ones were asked for,
     * random_left counts those that stayed random: the kernel itself
     * copied them out of a device. */
    bool random_asked;
    uint64_t random_fixed, random_left;
    struct session_illegal illegal;
    struct session_inconsistent *inconsistent;
    size_t inconsistent_count;
    /* Threads whose counts are in no sum: they had no room of their own, or
     * their process was killed before it could hand their counts over. */
    unsigned lost_threads;
    /* Handlers of signals that a timer or another process started. */
    uint64_t signalled;
    int ended_by; /* signal from outside that ended the first process, or 0 */
    /* Blocks that were left before their end: the sums may hold instructions
     * of these blocks that did not run, or lack some that ran. */
    uint64_t left_early;
    uint64_t told; /* deaths by signals that parents were told of by wait() */
    unsigned heaped_threads; /* threads that share a row */
    /* Processes whose later threads are not counted, since QEMU's numbers for
     * threads ran out. */
    unsigned cut_processes;
    enum trace_part trace; /* what of the program was there to be counted */
    uint64_t components;
};

/*
 * Runs a program. Errors are logged; if the program was not started, the result
 * is untouched. session_result_finish() frees what a result holds.
 */
int session_run(const struct session_options *options,
                const struct program *program, const struct tally_log *log,
                struct session_result *result);
void session_result_finish(struct session_result *result);

/* Why another run may count differently, a bit each. */
enum session_varies {
    /* Threads of a process, or processes, ran side by side in a way that counts
     * may show. */
    SESSION_BESIDE = 1,
    /* The host's clock, another process or a signal ended a wait of a thread
     * that takes turns. */
    SESSION_OUTSIDE = 2,
    /* A signal from outside started a handler or ended the first process. */
    SESSION_SIGNALLED = 4,
};

/* Returns the reasons why another run may count differently; 0: there are none.
 */
unsigned session_varies(const struct session_result *result);

/* Returns the value of an event: the sum of its signals. */
uint64_t
event_value(const struct event_row *event, const struct totals *totals);

/* Returns whether blocks of code were left before their end. */
bool session_left_early(const struct session_result *result);

/* Returns whether counts of threads or processes are missing in the sums, or
 * some processes still run, so that the rest of theirs is missing. */
bool session_partial(const struct session_result *result);

#endif
