/* SPDX-License-Identifier: MIT */
/*
 * A region as its reader sees it: checked copies of what a guest process wrote.
 *
 * A process can write anything into the session's header and into its own
 * region, by its own mappings of them: the guest's memory is in the same
 * address space. So a reader maps nothing. It copies each record once, checks
 * the copy, and uses the checked copy alone. It reads by pread(), which leaves
 * the holes of the file holes, and skips holes by lseek(): a forged number
 * costs neither memory nor time, and the reader's cost follows what the
 * processes really wrote.
 *
 * A region with anything in it that no process of tally writes is
 * inconsistent: `wrong` says in what, and none of its counts can be trusted.
 *
 * Not promised: a process of the same user may open tally's descriptors in
 * /proc, or trace tally and its other processes, and may then write counts that
 * are possible but wrong into any region. And the possible counts in its own
 * region are what a process says of itself.
 */
#ifndef TALLY_SOURCE_REGION_VIEW_H
#define TALLY_SOURCE_REGION_VIEW_H

#include "source/region.h"

/* What each region of a session must agree with. */
struct region_rules {
    unsigned turns, own_turns; /* as in region_head */
    unsigned strands;          /* of the machine */
};

struct region_view {
    int fd;
    const struct region_rules *rules;
    uint64_t offset;   /* of the region in the file */
    uint64_t from, to; /* a piece of the file that is no hole */
    const char *wrong; /* what is inconsistent, or NULL */
    enum region_state state;
    int pid, parent;
    uint64_t pid_space;
    enum region_begin begin;
    unsigned blocks, strands, threads, snapshots;
    unsigned captures; /* begun, may pass REGION_CAPTURES */
    unsigned together, apart, lost, heaped;
    uint32_t components; /* as in region_head */
    unsigned left_early, told;
    bool beside, cut;
    uint64_t load_bias;
    uint64_t seals; /* of the threads that were read, summed */
    char program[REGION_NAME];
};

/* What a live thread has counted, executions of blocks included. */
struct region_view_strand {
    uint32_t strand, thread, maker;
    uint32_t suspect; /* as in region_strand, of a block that is there */
    uint64_t born;
    struct totals totals[REGION_TURNS];
};

/* Returns what the regions of a session that asks for this must agree with. */
struct region_rules region_rules_of(const struct session_request *request);

/* Returns the first region from `index` on that holds anything, or
 * SESSION_REGIONS. */
unsigned region_view_next(int fd, unsigned index);

/* Reads and checks the head of region `index`. 0, also for an inconsistent one,
 * or TALLY_ESYSTEM. Of REGION_FREE nothing else is filled in. */
int region_view_open(struct region_view *view, int fd, unsigned index,
                     const struct region_rules *rules);

/*
 * Each fills in the last parameter. Returns false at the end, and where the
 * region proves inconsistent.
 */
bool region_view_thread(struct region_view *view, unsigned index,
                        struct region_thread *thread);
bool region_view_snapshot(struct region_view *view, unsigned index,
                          struct region_snapshot *snapshot);
bool region_view_capture(struct region_view *view, unsigned index,
                         struct capture_record *record);
bool region_view_info(struct region_view *view, unsigned block,
                      struct block_info *info);

/* Checks the head of an ended process, all of whose threads were read once. */
void region_view_close(struct region_view *view);

/* Returns whether the process has ended in good order since it was opened. */
bool region_view_ended(const struct region_view *view);

/* Returns the file that the guest's address is from, of all that were mapped
 * there the last; false if there is none. */
bool region_view_file(struct region_view *view, uint64_t address,
                      struct region_file *file);

/* Reads the first strand from `*slot` on that was used, and leaves the slot
 * after that strand. */
bool region_view_strand(struct region_view *view, unsigned *slot,
                        struct region_view_strand *strand);

/* Instructions executed by all strands so far, those outside included. */
uint64_t region_view_instructions(struct region_view *view);

#endif
