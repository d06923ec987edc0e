/* SPDX-License-Identifier: MIT */
/*
 * A process's counts as its reader sees it: checked copies of what a guest
 * process wrote.
 *
 * A process can write anything into the session's header and into its own
 * part of the file, by its own mappings of them: the guest's memory is in the
 * same address space. So a reader maps nothing. It copies each record once,
 * checks the copy, and uses the checked copy alone. It reads by pread(), which
 * leaves the holes of the file holes, and skips holes by lseek(): a forged
 * number costs neither memory nor time, and the reader's cost follows what the
 * processes really wrote.
 *
 * A part of the file with anything in it that no process of tally writes is
 * inconsistent: `wrong` says in what, and none of its counts can be trusted.
 *
 * Not promised: a process of the same user may open tally's descriptors in
 * /proc, or trace tally and its other processes, and may then write counts that
 * are possible but wrong into any part. And the possible counts in its own
 * part are what a process says of itself.
 */
#ifndef TALLY_SOURCE_COUNTS_VIEW_H
#define TALLY_SOURCE_COUNTS_VIEW_H

#include "source/process_counts.h"

/* What the counts of each process of a session must agree with. */
struct counts_rules {
    unsigned slices, own_slices; /* as in counts_head */
    unsigned strands;            /* of the machine */
};

struct counts_view {
    int fd;
    const struct counts_rules *rules;
    uint64_t offset;   /* of the process's counts in the file */
    uint64_t from, to; /* a piece of the file that is no hole */
    const char *wrong; /* what is inconsistent, or NULL */
    enum counts_state state;
    int pid, parent;
    uint64_t pid_space;
    enum counts_begin begin;
    unsigned blocks, strands, threads, snapshots;
    unsigned captures; /* begun, may pass COUNTS_CAPTURES */
    unsigned together, apart, lost, heaped;
    uint64_t quantum;
    unsigned outside_wakes;
    unsigned asked;      /* enum counts_asked */
    unsigned stuck;      /* as in counts_head */
    uint64_t components; /* as in counts_head */
    unsigned left_early, told, raised, signalled;
    bool beside, cut;
    uint64_t load_bias;
    uint64_t seals; /* of the threads that were read, summed */
    char program[COUNTS_NAME];
};

/* What a live thread has counted, executions of blocks included. */
struct counts_view_strand {
    uint32_t strand, thread, maker;
    uint32_t suspect; /* as in counts_strand, of a block that is there */
    uint64_t born;
    struct totals totals[COUNTS_SLICES];
};

/* Memory to read a thread, which is too large for the stack. */
union counts_view_memory {
    struct counts_thread ended;
    struct counts_view_strand live;
};

/* Returns what the counts of a session that asks for this must agree with. */
struct counts_rules counts_rules_of(const struct session_request *request);

/* Returns the first process from `index` on that holds anything, or
 * SESSION_PROCESSES. */
unsigned counts_view_next(int fd, unsigned index);

/* Reads and checks the head of process `index`. 0, also for an inconsistent
 * one, or TALLY_ESYSTEM. Of COUNTS_FREE nothing else is filled in. */
int counts_view_open(struct counts_view *view, int fd, unsigned index,
                     const struct counts_rules *rules);

/*
 * Each fills in the last parameter. Returns false at the end, and where the
 * process proves inconsistent.
 */
bool counts_view_thread(struct counts_view *view, unsigned index,
                        struct counts_thread *thread);
bool counts_view_snapshot(struct counts_view *view, unsigned index,
                          struct counts_snapshot *snapshot);
bool counts_view_capture(struct counts_view *view, unsigned index,
                         struct capture_record *record);
bool counts_view_info(struct counts_view *view, unsigned block,
                      struct block_info *info);

/* Checks the head of an ended process, all of whose threads were read once. */
void counts_view_close(struct counts_view *view);

/* Returns whether the process has ended in good order since it was opened. */
bool counts_view_ended(const struct counts_view *view);

/* Returns the file that the guest's address is from, of all that were mapped
 * there the last; false if there is none. */
bool counts_view_file(struct counts_view *view, uint64_t address,
                      struct counts_file *file);

/* Reads the first strand from `*slot` on that was used, and leaves the slot
 * after that strand. */
bool counts_view_strand(struct counts_view *view, unsigned *slot,
                        struct counts_view_strand *strand);

/* Copies `size` bytes at `at` of the file. Returns false, with view->wrong set,
 * where they cannot be read. */
bool
counts_view_copy(struct counts_view *view, uint64_t at, void *to, size_t size);

/* Returns where in [at, end) the file holds something, or `end`; from there to
 * view->to no hole comes. */
uint64_t counts_view_skip(struct counts_view *view, uint64_t at, uint64_t end);

/* Instructions executed by all strands so far, those outside included. */
uint64_t counts_view_instructions(struct counts_view *view);

#endif
