/* SPDX-License-Identifier: MIT */
/*
 * The path of calls that leads to each block of a thread, and the thread's
 * executions by block and path (cells, source/record_counts.h).
 *
 * A path is a chain of calls: the cell that called, and the address that the
 * call went to. A call to an address that the path has already leads back to
 * where it was called first, so that recursion folds and paths are no longer
 * than the program has functions.
 *
 * Calls push a frame with the address that they return to. A return is matched
 * by the address of the block that follows it, with the innermost frame that
 * has that address: several frames may go at once, as where a function was left
 * by a tail call of SPARC. Jumps that leave frames, such as longjmp(), are
 * known by where they go: behind a call from a frame further out. A block that
 * no branch leads to begins a signal handler. A return to anywhere else, as to
 * the handler of an exception or into a coroutine, makes the path unknown until
 * a return is matched. Where a return is not matched within the deepest frames
 * that are kept, or all cells are used, the path is unknown too.
 */
#ifndef TALLY_MACHINE_CALLERS_H
#define TALLY_MACHINE_CALLERS_H

#include "source/block.h"
#include "source/record_counts.h"

/* Frames that are kept; of deeper calls the outermost are forgotten. */
#define CALLERS_FRAMES (1u << 20)

/* A path that a cell's call has led to. */
struct callers_led {
    uint64_t entry; /* NO_LINE: none yet */
    uint32_t path;
    uint32_t cell; /* that was entered there; or 0 */
};

/* What is known of a cell. */
struct callers_cell {
    uint32_t path, block; /* the block's number */
    uint32_t links;       /* to the other paths that its call has led to */
    /* Where the cell led to on its path: to these cells, of these blocks. */
    uint32_t next[2], next_block[2];
    struct callers_led led; /* where its call led last */
} __attribute__((aligned(16)));

struct callers_path;
struct callers_link;
struct callers_frame;
struct callers_place;
struct callers_return;

/* Of one thread, by which alone it is used. */
struct callers {
    struct record_strand *record; /* the caller's */
    const struct block *last;     /* that was entered */
    uint64_t step;                /* what an execution counts: 1, or 0 */
    uint32_t path;                /* of the block that runs */
    uint32_t cell;                /* in which it counts */
    uint32_t size;                /* of a call whose slot is a block of its own:
                                     bytes from the block's end to the return */
    struct callers_cell *cells;   /* by number; 0 leads nowhere */
    struct callers_path *paths;
    struct callers_link *links;
    struct callers_frame *frames;
    struct callers_return *returns; /* [COUNTS_BLOCKS], by block->index */
    struct callers_place *table;    /* of cells by path and block */
    uint32_t path_count, cell_count, link_count, frame_count;
    uint32_t path_room, cell_room, link_room, frame_room;
    uint32_t table_mask;
    uint32_t lost; /* the path that was left for one that is not known */
};

/* Sets up the paths of a thread that has called nothing. `slot`: bytes of a
 * delay slot, or 0. 0 or TALLY_ENOMEM; callers_finish() accepts a zeroed
 * struct. */
int
callers_init(struct callers *c, struct record_strand *record, unsigned slot);
void callers_finish(struct callers *c);

/* The thread goes on in a forked child, whose `record` is empty. Returns the
 * cell of the block that runs. */
uint32_t callers_fork(struct callers *c);

/* The thread has asked the system to go on where a signal came. */
void callers_resume(struct callers *c);

/* Follows the branch that closed c->last to `b`, where that is a call or a
 * return, or is none. Returns the cell of `b`. */
uint32_t callers_move(struct callers *c, const struct block *b);

/* Returns the cell of the block on the path, where the thread comes from cell
 * `from`; 0: from anywhere. */
uint32_t callers_find(struct callers *c, uint32_t from, const struct block *b);

/* Counts a block that does not follow the one before, or a part of one, on the
 * path; returns its cell. */
static inline uint32_t
callers_count(struct callers *c, const struct block *b)
{
    const uint32_t cell = callers_find(c, 0, b);

    c->record->executions[cell] += c->step;
    return cell;
}

/* Returns the cell that `from` leads to on its path, which is the thread's. */
static inline uint32_t
callers_next(struct callers *c, uint32_t from, const struct block *b)
{
    const struct callers_cell *cell = &c->cells[from];

    if (__builtin_expect(cell->next_block[0] == b->number, 1))
        return cell->next[0];
    if (cell->next_block[1] == b->number)
        return cell->next[1];
    return callers_find(c, from, b);
}

/* Enters a block; returns its cell. */
static inline uint32_t
callers_enter(struct callers *c, const struct block *b)
{
    const struct block *last = c->last;
    const bool moves =
        (last->flags & (BLOCK_CALL | BLOCK_BACK | BLOCK_INDIRECT)) != 0;
    const bool leads = ((last->flags & BLOCK_JUMP) != 0) |
                       (b->pc == last->taken_pc) | (b->pc == last->end);
    uint32_t cell;

    if (__builtin_expect(moves | !leads, 0))
        cell = callers_move(c, b);
    else
        cell = callers_next(c, c->cell, b);
    c->last = b;
    c->cell = cell;
    c->record->executions[cell] += c->step;
    return cell;
}

#endif
