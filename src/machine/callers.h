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
 * known by where they go: behind a call from a frame further out. A jump to a
 * landing pad, by which an exception goes on in a function further out, is
 * matched with the innermost call that the landing pad is for. A handler of
 * signals is called by the block before, of which it may be that not all ran:
 * when the handler has returned, the thread goes on within that block or behind
 * it. A block that no branch leads to begins a handler too. A return to
 * anywhere else, as into a coroutine, makes the path unknown until a return is
 * matched. Where a return is not matched within the deepest frames that are
 * kept, or all cells are used, the path is unknown too. When half of the cells
 * are used, new paths begin with the function that calls, as if what called
 * that were not known.
 *
 * Each frame has the stack pointer that its function had when it called, as far
 * as accesses have told it: so much of the stack is the frames' that are called
 * from there.
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
    /* Where the cell led to on its path: to these cells, of these blocks. Of a
     * cell that calls also where its call returned to. First, as each run of a
     * block reads them: in one host cache line. */
    uint32_t next[2], next_block[2];
    uint32_t path, block;   /* the block's number; on an object the cell and
                               RECORD_ON | the object */
    uint32_t links;         /* to the other paths that its call has led to */
    struct callers_led led; /* where its call led last */
} __attribute__((aligned(16)));

struct callers_path;
struct callers_link;
struct callers_frame;
struct callers_place;
struct callers_return;

/* Returns whether an exception that leaves a call that returns to `back` may go
 * on at the landing pad, which has BLOCK_PAD. */
typedef bool
callers_lands(const void *user, const struct block *pad, uint64_t back);

/* Of one thread, by which alone it is used. */
struct callers {
    struct record_strand *record; /* the caller's */
    callers_lands *lands;         /* may be set; NULL: no block is a pad */
    const void *user;             /* for `lands` */
    const struct block *last;     /* that was entered */
    /* Once a handler has returned: the block that its signal came in or behind;
     * NULL: not known. */
    const struct block *interrupted;
    uint32_t interrupted_cell;  /* and its cell: `cell` is 0 until the next
                                   block is entered */
    uint64_t step;              /* what an execution counts: 1, or 0 */
    uint32_t path;              /* of the block that runs */
    uint32_t cell;              /* in which it counts */
    uint32_t size;              /* of a call whose slot is a block of its own:
                                   bytes from the block's end to the return */
    struct callers_cell *cells; /* by number; 0 leads nowhere */
    struct callers_path *paths;
    struct callers_link *links;
    struct callers_frame *frames;
    struct callers_return *returns; /* [COUNTS_BLOCKS], by block->index */
    struct callers_place *table;    /* of cells by path and block */
    uint32_t path_count, cell_count, link_count, frame_count;
    uint32_t path_room, cell_room, link_room, frame_room;
    uint32_t table_mask;
    uint32_t lost; /* the path that was left for one that is not known */
    /* Where objects are recorded: the stack pointer of the function that runs,
     * as callers_tell() had it last (0: not known); and the thread's stack. */
    uint64_t pointer;
    uint64_t stack_first, stack_size;
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

/* Returns the cell of what cell `cell` does to an object's data; the cell
 * itself where there is none (0), or no room for more cells. */
uint32_t callers_on(struct callers *c, uint32_t cell, uint32_t object);

/* The function that runs has the stack pointer `pointer`, before it calls. */
static inline void
callers_tell(struct callers *c, uint64_t pointer)
{
    c->pointer = pointer;
}

/* Returns the stack pointer that is known of the innermost function; 0: none.
 */
uint64_t callers_pointer(const struct callers *c);

/* The function that called the one that runs has it. */
void callers_tell_caller(struct callers *c, uint64_t pointer);

/* Returns the number of a block of the function whose stack frame has the
 * address, which is on the thread's stack: of the block that runs, or of the
 * one that called from there. 0: the frame is not known. */
uint32_t callers_frame(const struct callers *c, uint64_t addr);

/* Returns the cell that a cell on an object is of, else the cell itself. */
static inline uint32_t
callers_off(const struct callers *c, uint32_t cell)
{
    return c->cells[cell].block & RECORD_ON ? c->cells[cell].path : cell;
}

/* The innermost call. */
struct callers_called {
    uint64_t back;    /* where it returns */
    uint64_t pointer; /* the stack pointer of who called; 0: not known */
    uint32_t depth;   /* calls that have not returned */
};

/* Finds the innermost call; false: there is none that is known. */
bool callers_called(const struct callers *c, struct callers_called *called);

/* Paths that no call has led to, or that are not known. */
enum { CALLERS_OUTERMOST = 1, CALLERS_UNKNOWN = 2 };

/* The last call of any other path. */
struct callers_call {
    uint32_t parent; /* the path to the call */
    uint32_t block;  /* that called: 1 + the index of its place */
    uint32_t *mark;  /* the user's own, at first 0; until the next call */
};

struct callers_call callers_last_call(struct callers *c, uint32_t path);

/* Counts a block that does not follow the one before, or a part of one, on the
 * path; returns its cell. */
static inline uint32_t
callers_count(struct callers *c, const struct block *b)
{
    const uint32_t cell = callers_find(c, 0, b);

    c->record->executions[cell] += c->step;
    return cell;
}

/* Returns the cell of `b` that `from` has led to before on its path, which is
 * the thread's; 0: only callers_find() can tell. */
static inline uint32_t
callers_known(const struct callers *c, uint32_t from, const struct block *b)
{
    const struct callers_cell *cell = &c->cells[from];

    return __builtin_expect(cell->next_block[0] == block_number(b), 1)
               ? cell->next[0]
           : cell->next_block[1] == block_number(b) ? cell->next[1]
                                                    : 0;
}

/* Returns the cell that `from` leads to on its path, which is the thread's. */
static inline uint32_t
callers_next(struct callers *c, uint32_t from, const struct block *b)
{
    const uint32_t cell = callers_known(c, from, b);

    return cell != 0 ? cell : callers_find(c, from, b);
}

/* Returns whether the thread goes on with `b` in the function that runs. */
static inline bool
callers_stays(const struct callers *c, const struct block *b)
{
    const struct block *last = c->last;
    const bool moves =
        ((last->flags & (BLOCK_CALL | BLOCK_BACK | BLOCK_INDIRECT)) |
         (b->flags & BLOCK_HANDLER)) != 0;
    const bool leads = ((last->flags & BLOCK_JUMP) != 0) |
                       (b->pc == last->taken_pc) | (b->pc == last->end);

    return !moves & leads;
}

/* Returns the cell of `b` where the thread goes on in its function, to where it
 * went before; 0: only callers_lead() can tell. A cell has kept `b` only where
 * the thread stays in its function, each time that `b` follows the cell. */
static inline uint32_t
callers_foresee(const struct callers *c, const struct block *b)
{
    return callers_known(c, c->cell, b);
}

/* Counts a block that is entered in its cell. */
static inline void
callers_go(struct callers *c, const struct block *b, uint32_t cell)
{
    c->last = b;
    c->cell = cell;
    c->record->executions[cell] += c->step;
}

/* Returns the cell in which the block counts that is entered. */
static inline uint32_t
callers_lead(struct callers *c, const struct block *b)
{
    return callers_stays(c, b) ? callers_next(c, c->cell, b)
                               : callers_move(c, b);
}

#endif
