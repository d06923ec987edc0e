/* SPDX-License-Identifier: MIT */
/*
 * What a recording session has found, by instruction: reads the processes'
 * recordings (source/record_view.h), decodes their blocks once more, and tells
 * each event of each instruction.
 *
 * The value of an event at an instruction is what the instruction adds to the
 * event's total: executions times what the instruction raises each time it
 * runs, and the dynamic signals that it was charged with; of a derived signal
 * the derivative of its formula along these (signals_derive_part()). What a
 * block raises as a whole, such as a stage that its first pair of instructions
 * leaves idle, is told at the first instruction of the block. Values are whole
 * numbers whose sum over all instructions is the rounded sum, so that with what
 * no instruction was charged with ("elsewhere") they add up to the totals.
 */
#ifndef TALLY_PROFILE_RECORDED_H
#define TALLY_PROFILE_RECORDED_H

#include "profile/session.h"
#include "source/record_counts.h"

/* A file that code is from, as it was mapped. */
struct recorded_image {
    const char *path;
    uint64_t first, last; /* addresses of the process */
    uint64_t offset;      /* of `first` in the file */
};

struct recorded_instruction {
    uint64_t address;    /* in the process */
    const uint8_t *code; /* `size` bytes */
    uint32_t image;      /* 1 + index; 0: no file's, as of code that was made
                            while the program ran */
    uint8_t size;
    /* A block that has the instruction: its address and code. */
    uint64_t block_address;
    const uint8_t *block;
    uint16_t block_size; /* bytes */
};

/* A process and the instructions that it executed, in order of image, address
 * and code: the same address may come twice, with other code. Code of no file
 * also comes twice where the code around it is another. */
struct recorded_process {
    const struct session_process *process;
    unsigned number; /* of the process in the session's result */
    const struct recorded_image *images;
    size_t image_count;
    const struct recorded_instruction *instructions;
    size_t instruction_count;
};

/* In place of the instruction of a call: calls that are not known. */
#define RECORDED_UNKNOWN UINT32_MAX

/* A path of calls: the instruction that called, and the path to there. Path 0
 * is of code that no call led to, and has neither. */
struct recorded_path {
    uint32_t parent; /* less than its own index */
    uint32_t call;   /* index of an instruction, or RECORDED_UNKNOWN */
};

/* What data accesses are of; its number is 1 + its index. */
struct recorded_object {
    enum record_object_kind kind;
    const char *name;  /* the allocator's, the variable's, or a file's path */
    const char *image; /* of a variable the path of its file, else "" */
    uint64_t size;     /* of a variable, bytes */
    uint32_t path;     /* of what an allocator gave: path of its calls */
    uint32_t instruction; /* of a stack: one of the function whose frames these
                             are, or RECORDED_UNKNOWN */
    uint64_t allocations, bytes; /* by an allocator, until now */
    struct record_use use; /* all accesses, where they are recorded; whole ones
                              instead of eighths */
};

/* Returns whether an object was used at all. */
static inline bool
recorded_is_used(const struct recorded_object *o)
{
    return (o->use.loads | o->use.stores | o->use.fetched) != 0;
}

/* What a row has of an event, not 0. Where the parts of a curve are recorded
 * (curve_recorder) the events are its classes: event N is class N + 1. */
struct recorded_value {
    uint32_t row, event;
    int64_t value;
};

/* Counts of one thread, or of a part of its time; sums add up. A row is an
 * instruction on a path; without callers all rows are on path 0. */
struct recorded_thread {
    const struct session_thread *thread;
    const struct recorded_path *paths; /* of the process, so far */
    size_t path_count;
    const struct recorded_object *objects; /* of the process */
    size_t object_count;
    size_t count;                 /* of rows with any count */
    const uint32_t *row_objects;  /* [count] ascending numbers; NULL: what is of
                                     no object */
    const uint32_t *row_paths;    /* [count] indices, ascending on an object */
    const uint32_t *instructions; /* [count] indices, ascending on a path */
    const struct recorded_value *values; /* [value_count] by event, then row */
    size_t value_count;
};

/* In place of an instruction of an edge: control came from nowhere, as where a
 * thread begins, or the thread went nowhere, as where it ended. */
#define RECORDED_NOWHERE UINT32_MAX

/* How control went from one instruction to another. */
enum recorded_way {
    RECORDED_ON,       /* to the next instruction: by none that branches, or
                          by a conditional branch that was not taken */
    RECORDED_TAKEN,    /* by a conditional branch that was taken, */
    RECORDED_JUMP,     /* a direct jump, */
    RECORDED_CALL,     /* a direct call, */
    RECORDED_RETURN,   /* a return, */
    RECORDED_INDIRECT, /* a jump through a register or memory, */
    RECORDED_INDIRECT_CALL, /* a call through one */
    RECORDED_BROKEN,        /* otherwise: a signal came, or the thread began or
                               ended */
};

/* How often control went from one instruction to another: from the branch that
 * closed a block, or its last instruction, to the first of the next block. */
struct recorded_edge {
    uint32_t from, to; /* indices, or RECORDED_NOWHERE */
    enum recorded_way way;
    uint64_t count;
    uint64_t mispredicted; /* of `count` */
};

/* The edges of one thread, or of a part of its time; sums add up. */
struct recorded_edges {
    const struct session_thread *thread;
    const struct recorded_edge *edges; /* ascending, no two are the same */
    size_t count;
};

/* Why data of an object missed, as struct record_reason has it. */
struct recorded_reason {
    enum record_reason_kind kind;
    uint32_t object; /* 0: not known */
    uint32_t other, thread;
    uint32_t instruction; /* index of the one that drove the line out, or
                             RECORDED_UNKNOWN */
    uint64_t place;       /* line, set or power of two; else 0 */
    uint64_t count;
    uint64_t bytes, other_bytes;
};

/* How far apart the addresses are that an instruction asks for. */
struct recorded_stride {
    uint32_t instruction; /* index */
    bool stores;          /* else loads */
    bool follows; /* the address is of what the instruction, or one that stands
                     near, has loaded last */
    int64_t steps[RECORD_STEPS];
    uint64_t counts[RECORD_STEPS];
    uint64_t other;
};

/* Why data of a process missed, of all its threads. */
struct recorded_reasons {
    const struct recorded_reason *reasons; /* ascending, no two are the same */
    size_t reason_count;
    const struct recorded_stride *strides; /* by instruction, then stores */
    size_t stride_count;
};

/* Waits of a thread that are alike, as struct record_wait has them. */
struct recorded_wait {
    enum record_wait_kind kind;
    uint32_t object; /* 0: not known */
    uint64_t word;
    uint32_t thread, waker; /* waker NO_THREAD: none */
    /* Paths of calls to the functions, and instructions in these: indices, or
     * RECORDED_UNKNOWN. */
    uint32_t path, instruction;
    uint32_t waker_path, waker_instruction;
    uint64_t count, time, longest;
};

/* A wait that has not ended, as struct record_unended has it. */
struct recorded_unended {
    enum record_wait_kind kind;
    uint32_t object; /* 0: not known */
    uint64_t word;
    uint32_t thread, holder;
    uint32_t path, instruction; /* as in a wait that has ended */
    uint64_t since;
    bool has_time;
};

/* What the threads of a process wait for, and when they began. */
struct recorded_waits {
    const struct recorded_wait *waits;
    size_t wait_count;
    const struct record_begin *begins; /* in the order of beginning */
    size_t begin_count;
    const struct record_stretch *stretches; /* in the order of beginning; of
                                               `waits`, or RECORD_UNKNOWN */
    size_t stretch_count;
    const struct recorded_unended *unended; /* in the order of their begin */
    size_t unended_count;
    unsigned stuck; /* threads that wait, and none is left; else 0 */
    bool lost;      /* some found no room */
};

/*
 * Takes what was recorded: begin(), each process with its threads behind it,
 * and end(), which has the totals of all. All of this comes again and again
 * while a long program runs, each time from the beginning, and once more when
 * it has ended. While it runs (`ended` false) it does not wait for us: its
 * totals are older than the counts of its instructions. The structs live until
 * the call returns. Each returns 0 or an error, which ends the collection.
 */
struct recorded_sink {
    bool callers;        /* is to have paths of calls */
    bool accesses;       /* objects are to have all their accesses */
    bool branches;       /* is to have edges() */
    bool reasons;        /* is to have reasons_of(); accesses is set, too */
    enum cache_id level; /* of the lines whose use is told, and that data miss,
                            with reasons */
    const struct moves *moves; /* of data, with reasons; or NULL */
    bool locks; /* is to have waits_of(); of sessions with objects */
    int (*begin)(void *user);
    int (*process)(void *user, const struct recorded_process *process);
    int (*thread)(void *user, const struct recorded_process *process,
                  const struct recorded_thread *thread);
    /* Behind the counts of the thread. */
    int (*edges)(void *user, const struct recorded_process *process,
                 const struct recorded_edges *edges);
    /* Behind all threads of the process. */
    int (*reasons_of)(void *user, const struct recorded_process *process,
                      const struct recorded_reasons *reasons);
    int (*waits_of)(void *user, const struct recorded_process *process,
                    const struct recorded_waits *waits);
    int (*end)(void *user, const struct session_result *result, bool ended);
    void *user;
};

/*
 * The recorder of sessions. Asks for the signals of the session's events, and
 * hands out to options->record what was recorded; processes that are not in the
 * result are left out. collect() returns 0, TALLY_ENOMEM, TALLY_ESYSTEM or an
 * error of the sink.
 */
extern const struct session_recorder recorded_recorder;

#endif
