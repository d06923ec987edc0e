/* SPDX-License-Identifier: MIT */
/*
 * The memory a session shares with the guest processes it measures.
 *
 * One sparse memory file: a header that says what is asked, then one part
 * for each guest process. A process writes plain counts into its part while
 * it runs: executions of each kind of block, and the dynamic signals. Whoever
 * maps the file can sum them at any time, also after the process was killed.
 * Nothing is ever shortened, so a reader needs no lock; a live reading may be a
 * few blocks apart between strands.
 *
 *   header | process 0: head, block infos, kinds, threads, snapshots,
 * captures, strands | process 1 ...
 */
#ifndef TALLY_SOURCE_PROCESS_COUNTS_H
#define TALLY_SOURCE_PROCESS_COUNTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "isa/insn.h"
#include "source/block.h"
#include "source/capture.h"
#include "source/curve.h"
#include "source/moves.h"
#include "source/phases.h"
#include "source/point.h"
#include "source/steps.h"
#include "table/table.h"

#define SESSION_MAGIC 0x74616c6c79303031u /* "tally001" */
#define SESSION_PROCESSES 65536u
#define COUNTS_BLOCKS (1u << 20) /* kinds of blocks, see block_info */
#define COUNTS_THREADS 65536u
#define COUNTS_STRANDS 4096u    /* live guest threads that share their counts */
#define COUNTS_VCPUS (1u << 20) /* numbers that QEMU gives to guest threads */
#define NO_THREAD UINT32_MAX    /* in place of a thread's number */
#define COUNTS_NAME 256u
#define COUNTS_SNAPSHOTS 65536u
#define COUNTS_CAPTURES 262144u
#define COUNTS_SLICES 32u            /* of events that share counters */
#define COUNTS_OUTSIDE COUNTS_SLICES /* not counted: --from, --to, --skip */
#define SESSION_UNCOUNTED 64u
#define SESSION_ARGS 16u
#define SESSION_PLACE 112u           /* bytes */
#define SESSION_VCOUNTERS (2u << 20) /* bytes */
#define SESSION_STANDARD 3u          /* standard input, output, error */

/* Totals of one strand or of one thread that has ended. */
struct totals {
    uint64_t signal[SIGNAL_COUNT];
};

enum span_mode { SPAN_ALL, SPAN_FROM_TO, SPAN_SKIP };

/* What a session records besides its totals. */
enum record_kind {
    RECORDS_NOTHING,
    RECORDS_INSTRUCTIONS, /* counts by instruction */
    RECORDS_CALLERS,      /* and by the calls that led to it */
};

/* What an allocator takes. */
enum allocator_kind {
    ALLOCATOR_SIZE,   /* the size is an argument, as malloc()'s */
    ALLOCATOR_CALLOC, /* the rest as the functions of that name */
    ALLOCATOR_REALLOC,
    ALLOCATOR_ALIGNED,
    ALLOCATOR_POSIX_MEMALIGN,
    ALLOCATOR_FREE,
};

/* A function of the program that gives or takes memory, where its registers
 * tell what. */
struct session_allocator {
    uint64_t address;  /* in the program's file */
    uint32_t kind;     /* enum allocator_kind */
    uint32_t argument; /* ALLOCATOR_SIZE: which one is the size, from 1 on */
    char name[64];
};

#define SESSION_ALLOCATORS 32u

/* What is asked; written by the session before the first process starts. */
struct session_request {
    uint32_t machine;    /* enum machine_id */
    uint32_t isa;        /* of the program, enum isa_place */
    uint64_t components; /* enum component_id bits of the model that must run */
    uint32_t span;       /* enum span_mode */
    uint64_t from, to;   /* addresses in the program's file, or NO_LINE */
    uint64_t skip;       /* instructions */
    /* Counts are kept apart by slices of `slice_length` instructions each, one
     * after the other; 1: all is one slice. */
    uint32_t slices;
    uint32_t mpi; /* not 0: the second of two slices is what runs inside of
                     functions of MPI (plugin/mpi.h), and no slice has turns */
    uint64_t slice_length;
    /* Cycles between snapshots of each thread, 0: none are made. */
    uint64_t interval;
    /* Code that is counted, as addresses in the program's file; 0: all. */
    struct code_range ranges[CODE_RANGES];
    uint32_t range_count;
    /* Data whose accesses count, as addresses; then each slice has two totals,
     * the second `slices` after the first, for what is raised while they run.
     */
    struct code_range data_ranges[CODE_RANGES];
    uint32_t data_count;
    struct capture_request capture;
    /* What the session records (source/record_counts.h), enum record_kind, and
     * the dynamic signals that it records. */
    uint32_t records;
    uint32_t record_edges; /* not 0: and where control went */
    uint32_t record_count;
    uint16_t record_signals[SIGNAL_COUNT];
    uint64_t code; /* lowest code address in the program's file */
    uint64_t code_offset, code_size; /* of its segment, in the file */
    uint64_t params[PARAM_COUNT];
    char plugin[COUNTS_NAME * 4]; /* path */
    char objects[COUNTS_NAME]; /* "" or the library that tells allocations: the
                                  session records objects */
    uint32_t all_accesses;     /* objects are told each access */
    uint32_t reasons;          /* and it is recorded why data miss */
    uint32_t level; /* of the caches that they miss, enum cache_id; and of the
                       lines whose use is recorded */
    struct moves moves; /* of data of the first program, with reasons; without
                           objects: none are moved */
    uint32_t locks;     /* it is recorded what threads wait for */
    uint32_t allocator_count;
    struct session_allocator allocators[SESSION_ALLOCATORS];
    char qemu_args[SESSION_ARGS][COUNTS_NAME]; /* for executed children too */
    uint32_t qemu_arg_count;
    uint32_t fixed_random; /* the program's random bytes repeat */
    uint64_t quantum;      /* instructions of a thread's turn; 0: all run */
    uint32_t by_cycles;    /* `quantum` is of modelled cycles */
    uint32_t turns_asked;  /* without turns the program is not to run */
    uint32_t processors;   /* that the program sees, with turns */
    uint64_t epoch;        /* its date at the start, in ns, with turns */
    struct point_request point;   /* where the run is to stop */
    struct curve_request curve;   /* of misses, that is drawn */
    struct phases_request phases; /* with RECORDS_INSTRUCTIONS */
    struct steps_request steps;   /* that are recorded */
    /* The standard files that the program starts with; 0: a closed one. */
    struct {
        uint64_t device, inode;
    } standard[SESSION_STANDARD];
};

/* Returns whether slices follow one another by turns of instructions. */
static inline bool
session_takes_turns(const struct session_request *request)
{
    return request->slices > 1 && request->mpi == 0;
}

struct session_header {
    uint64_t magic;
    uint64_t header_size, counts_size; /* both sides must agree */
    struct session_request request;
    atomic_uint processes; /* claimed so far, may pass SESSION_PROCESSES */
    atomic_uint forks;     /* children that have not claimed theirs yet */
    atomic_uint uncounted; /* programs that ran outside, may pass
                              SESSION_UNCOUNTED */
    /* Of some of them the names; not 0: the place is taken. */
    atomic_uint uncounted_taken[SESSION_UNCOUNTED];
    char uncounted_names[SESSION_UNCOUNTED][COUNTS_NAME];
    /* Random bytes that the programs were given: fixed ones, and those that
     * the kernel itself moved out of a device, which stay random. */
    atomic_uint_fast64_t random_fixed, random_left;
    /* Programs that have a user's or group's rights only outside. */
    atomic_uint rightless;
    char rightless_names[SESSION_UNCOUNTED][COUNTS_NAME];
    /* Some process has virtual counters; they are in the memory below, which
     * begins a page (gateway/vcounter_processes.h). */
    atomic_uint vcounters_used;
    _Alignas(4096) unsigned char vcounters[SESSION_VCOUNTERS];
    struct point
        point; /* where the run stopped, if the session asks for that */
    struct curve_counts curve; /* of all processes, if it asks for that */
    struct steps steps;        /* of the first, if it asks for that */
};

/* How a process came to run its program. */
enum counts_begin { BEGIN_FIRST, BEGIN_FORK, BEGIN_EXEC };

/* What a process asked the system for, and what may differ in another run;
 * bits. */
enum counts_asked {
    ASKED_NUMBER = 1,     /* its process number, or its parent's */
    ASKED_SYSTEM = 2,     /* the system's memory, load and time since boot */
    ASKED_CONNECTION = 4, /* connections of sockets */
    ASKED_INPUT = 8,      /* standard input that another program writes */
    ASKED_TIMER = 16,     /* how much of the time of a timer is left */
    ASKED_ALL = 31,
};

enum counts_state { COUNTS_FREE, COUNTS_RUNNING, COUNTS_ENDED };

/* A piece of a file that the guest's code is mapped from. */
struct counts_file {
    uint64_t first, last; /* addresses of the guest */
    uint64_t offset;      /* of `first` in the file */
    char path[COUNTS_NAME];
};

#define COUNTS_FILES 512u

struct counts_head {
    atomic_uint state; /* enum counts_state */
    int32_t pid;
    int32_t parent;      /* pid; 0: the first program's */
    uint64_t pid_space;  /* inode of its PID namespace, 0: unknown */
    uint32_t begin;      /* enum counts_begin */
    atomic_uint blocks;  /* that have counts of their own */
    atomic_uint strands; /* strand areas ever used */
    atomic_uint threads; /* threads that have ended */
    /* Threads that lived at once, at most; the child of a fork begins with its
     * parent's, whose memory it has. */
    atomic_uint together;
    /* The quantum of turns, where the threads ran one at a time, and how
     * often a thread went on because of time or of another process
     * (plugin/schedule.h). */
    uint64_t quantum;
    atomic_uint outside_wakes;
    atomic_uint asked; /* enum counts_asked */
    /* Threads that wait for each other, and none is left that can let one go
     * on; 0: some can. */
    atomic_uint stuck;
    atomic_uint children; /* not waited for yet */
    /* Not 0: the process ran beside another of its tree in a way that its
     * counts may show (plugin/beside.h). */
    atomic_uint beside;
    /* Blocks that were left before their end, by a signal that an instruction
     * raised or by a write to their own page (plugin/early.h). */
    atomic_uint left_early;
    /* Not 0: the process sent a signal to itself. */
    atomic_uint raised;
    /* Handlers of signals that began where a timer or another process chose. */
    atomic_uint signalled;
    atomic_uint told; /* deaths of children by signals, that it asked for */
    atomic_uint late_blocks; /* of kinds beyond COUNTS_BLOCKS */
    /* Live threads whose counts are in memory of the process alone, until the
     * threads end; and threads that had no memory for counts. */
    atomic_uint apart, lost;
    /* Threads that share the last of COUNTS_THREADS records. */
    atomic_uint heaped;
    /* Not 0: counting ended before the process, since QEMU's numbers for
     * threads ran out. */
    atomic_uint cut;
    atomic_uint snapshots; /* made, at most COUNTS_SNAPSHOTS */
    atomic_uint captures;  /* begun, may pass COUNTS_CAPTURES */
    uint32_t slices;       /* totals in use, at least 1 */
    uint32_t own_slices;   /* of them, those that blocks count in */
    uint64_t components;   /* of the model that run, enum component_id bits */
    /* System calls of the guest, and of them those that read and write. */
    atomic_uint_fast64_t calls, reads, writes;
    uint64_t load_bias;
    uint64_t seals; /* of the threads' records, summed */
    uint64_t seal;  /* of an ended process, see counts_end() */
    char program[COUNTS_NAME];
    /* Where the code of blocks with BLOCK_ODD is from, in a recording that of
     * all blocks; later maps last. */
    atomic_uint files; /* that are written */
    /* COUNTS_FILES of them follow in the session's file: a reader's copy of a
     * head has none, since they are too large for the stack. */
    struct counts_file file[];
};

struct counts_thread {
    uint32_t strand; /* of the machine */
    uint32_t thread; /* in order of creation, the main thread 0 */
    uint32_t maker;  /* the thread that made it; its own number: none */
    uint64_t born;   /* on its clock, which starts with its maker's */
    uint64_t seal;   /* of the rest, see counts_thread_seal() */
    struct totals totals[COUNTS_SLICES];
};

/* What a thread had counted when its clock had passed a boundary. */
struct counts_snapshot {
    uint32_t thread;
    uint64_t boundary; /* the last passed, in intervals of the process */
    struct totals totals;
};

/* Counts of one live guest thread. */
struct counts_strand {
    struct totals totals[COUNTS_SLICES]; /* dynamic signals only */
    uint32_t strand;                     /* of the machine */
    uint32_t thread, maker;              /* as in counts_thread */
    uint64_t born;
    struct totals folded; /* counts of the same thread before, see exec.c */
    /* The index + 1 of the block with BLOCK_ODD that the thread has entered
     * since its last system call, or 0. */
    uint32_t suspect;
    uint32_t apart; /* not 0: memory of the process alone */
    atomic_uint live;
    uint64_t exec[COUNTS_SLICES + 1][COUNTS_BLOCKS]; /* and COUNTS_OUTSIDE */
};

/* One process, as mapped by itself or by a reader. */
struct process_counts {
    struct counts_head *head;
    struct block_info *infos; /* [COUNTS_BLOCKS] */
    uint32_t *kinds; /* [COUNTS_BLOCKS], of each block 1 + the index of its
                        info, or 0: the index of the info is the block's */
    struct counts_thread *threads;     /* [COUNTS_THREADS] */
    struct counts_snapshot *snapshots; /* [COUNTS_SNAPSHOTS] */
    struct capture_record *captures;   /* [COUNTS_CAPTURES] */
    /* Needed only while mapping: the caller's file, or if that is negative
     * memory that maps its header. */
    int fd;
    const struct session_header *session;
    uint64_t offset; /* of the process's counts in the file */
};

/* Returns what a block counts each time it runs, by the index of its counts. */
static inline const struct block_info *
counts_info(const struct process_counts *process, uint32_t index)
{
    const uint32_t kind = process->kinds[index];

    /* The program can write into the kinds. */
    return &process->infos[kind != 0 ? (kind - 1) % COUNTS_BLOCKS : index];
}

/* Creates the file. The descriptor is close-on-exec; 0 or an error. */
int session_create(const struct session_request *request,
                   const struct tally_log *log, int *fd,
                   struct session_header **header);
void session_destroy(int fd, struct session_header *header);

/*
 * Writes the place of a session's file: a path under which other processes open
 * it, the file's identity, and a checksum of what the session asks for. `size`
 * is at least SESSION_PLACE. 0 or TALLY_ESYSTEM.
 */
int session_place(int fd, const struct session_request *request, char *place,
                  size_t size);

/*
 * Opens the session's file at its place. The process that made the session may
 * have ended, and its path may lead to another process's file by now, which is
 * neither opened nor changed. Returns the descriptor, close-on-exec, or -1 with
 * errno: ESTALE where the file is another one.
 */
int session_open(const char *place);

/* Returns whether the descriptor is of the session's file at that place. */
bool session_is_open(int fd, const char *place);

/*
 * Maps the header of the session's file, which session_open() gave, after
 * checking it; or says why it could not, if `fd` is negative by errno.
 * `request` becomes a copy of what the session asks for, as the place has it:
 * any process of the session may have overwritten the original.
 */
int
session_attach(const char *place, const struct tally_log *log, int fd,
               struct session_header **header, struct session_request *request);

/* Maps the header's `vcounters` once more, at this address; NULL if that cannot
 * be.
 */
void *session_map_vcounters(const struct session_header *header, void *at);

/* Returns whether the header is of a session of this version. */
bool session_is_whole(const struct session_header *header);

/* Maps process `index` of the file. 0 or TALLY_ESYSTEM, also for an index
 * beyond the last process. */
int counts_map(int fd, unsigned index, struct process_counts *process);

/* The same; without a file (fd negative) by its header, which stays mapped. */
int counts_map_session(const struct session_header *header, int fd,
                       unsigned index, struct process_counts *process);
void counts_unmap(struct process_counts *process);

/*
 * Lays process `index` over the memory where `process` is mapped now: all
 * pointers into it stay valid and read zero. For the child of a fork.
 */
int counts_remap(struct process_counts *process, unsigned index);

/*
 * Lays private memory over a process's counts and one of its strands, or NULL:
 * what is written from now on reaches nobody. For a child that finds no process
 * of its own.
 */
int counts_detach(struct process_counts *process, struct counts_strand *strand);

/*
 * Gives back the memory of the block infos and kinds and of the strands below
 * `strands`; thread records stay. For a process that has ended and summed its
 * counts.
 */
void counts_release(struct process_counts *process, unsigned strands);

/* Zeroes memory of a process's counts, and gives its whole pages back. */
void counts_clear(void *memory, size_t size);

/* Writes the strand's sum as a thread record and zeroes its counts. Threads
 * beyond COUNTS_THREADS share the last record. */
void counts_fold(struct process_counts *process, struct counts_strand *strand);

/*
 * Ends a process in good order: seals its head, and sets its state. The seals
 * of the head and of each thread's record are checksums. A reader finds by them
 * records that were overwritten after the process had written them. Seals are
 * no signatures: whoever overwrites a record on purpose can compute its seal,
 * too.
 */
void counts_end(struct process_counts *process);

/* Returns the seal of a thread's record with these slices, at this place. */
uint64_t counts_thread_seal(const struct counts_thread *thread, unsigned slices,
                            uint64_t place);

/* Returns the seal of a head whose threads' seals have this sum. */
uint64_t counts_head_seal(const struct counts_head *head, uint64_t threads);

/* Maps `size` bytes of the session's file from `offset` on, at `at` or, where
 * that is NULL, anywhere. MAP_FAILED: errno. */
void *counts_map_memory(const struct process_counts *process, void *at,
                        size_t size, uint64_t offset);

/* Maps the strand area `slot`; `at` NULL or where to lay it over. */
struct counts_strand *counts_map_strand(const struct process_counts *process,
                                        unsigned slot, void *at);
void counts_unmap_strand(struct counts_strand *strand);

/*
 * Sums what a strand has counted in a slice: dynamic totals plus executions x
 * fixed signals of each block. Safe while it runs.
 */
void counts_sum(const struct process_counts *process,
                const struct counts_strand *strand, unsigned slice,
                struct totals *sum);

/* Sums what a strand has counted in all slices. Safe while it runs. */
void counts_sum_all(const struct process_counts *process,
                    const struct counts_strand *strand, struct totals *sum);

/* Keeps a snapshot, unless there are too many; one caller at a time. */
void
counts_snap(struct process_counts *process, const struct counts_strand *strand,
            uint64_t boundary, const struct totals *sum);

/* Keeps a record, unless there are too many. */
void counts_capture(struct process_counts *process,
                    const struct capture_record *record);

/* The same since the thread's last record. */
void counts_sum_now(const struct process_counts *process,
                    const struct counts_strand *strand, struct totals *sum);

/* Hands out what each thread of the process has counted in all slices; a thread
 * may come in pieces. The second does it for the records of those that have
 * ended alone. */
void counts_each(const struct process_counts *process,
                 void (*take)(void *user, const struct process_counts *process,
                              uint32_t strand, struct totals *sum),
                 void *user);
void
counts_each_ended(const struct process_counts *process,
                  void (*take)(void *user, const struct process_counts *process,
                               uint32_t strand, struct totals *sum),
                  void *user);

/* Returns the slices of the process's counts. */
unsigned counts_slices(const struct process_counts *process);

/* Notes the name of a program that runs outside. Returns the place of the name,
 * SESSION_UNCOUNTED: there was none. */
unsigned
session_note_uncounted(struct session_header *header, const char *name);

/* Takes a note back, of a program that did not run. */
void session_forget_uncounted(struct session_header *header, unsigned place);

/* Notes a program that has the rights of another user or group (setuid), which
 * QEMU runs without them: once each. */
void session_note_rights(struct session_header *header, const char *path);

void totals_add(struct totals *sum, const struct totals *more);

#endif
