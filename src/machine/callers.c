/* SPDX-License-Identifier: MIT */
#include "machine/callers.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"

/* A return may go one instruction further in a machine with delay slots: SPARC
 * has a word with the size of a returned struct behind the slot. */
#define RETURN_SKIPS 4u

/* Jumps within a function do not go this far. */
#define FAR_JUMP (UINT64_C(1) << 14)

#define NO_LINK 0u

struct callers_path {
    uint64_t entry; /* where the call went */
    uint32_t cell;  /* that called, or what record_cell.caller may be else */
    uint32_t parent;
    uint32_t mark; /* callers_call.mark */
};

/* A path that a cell's call has led to. */
struct callers_link {
    uint64_t entry;
    uint32_t path;
    uint32_t next; /* or NO_LINK */
};

/* A place of the table. */
struct callers_place {
    uint32_t path, block;
    uint32_t cell; /* 0: free */
};

/* The path and the number of frames when a call last returned to a block. */
struct callers_return {
    uint32_t path; /* 0: none has */
    uint32_t depth;
};

/* A call that has not returned; or a signal handler. */
struct callers_frame {
    uint64_t back; /* of a handler: NO_LINE | the block that it interrupted */
    uint32_t path, cell; /* of the caller */
    /* The caller's stack pointer; with bit 0: not known, and here is that of
     * the frame below, so that pointers go down. */
    uint64_t pointer;
};

#define GUESSED 1u

static const struct callers_led no_call = {.entry = NO_LINE};

/* Closes nothing: stands before a thread's first block. */
static const struct block nothing = {.end = NO_LINE, .taken_pc = NO_LINE};
/* Stands before the block where a signal came, once its handler has ended. */
static const struct block resumed = {.end = NO_LINE, .taken_pc = NO_LINE};

static bool
is_handler(const struct callers_frame *frame)
{
    return (frame->back & NO_LINE) != 0;
}

/* Returns an array of `count` elements with room for one more; NULL: there is
 * no memory, and the array is as it was. */
static void *
grown(void *array, uint32_t count, uint32_t *room, size_t size)
{
    if (count < *room)
        return array;
    const uint32_t wanted = *room == 0 ? 256 : 2 * *room;
    void *larger = reallocarray(array, wanted, size);
    if (larger != NULL)
        *room = wanted;
    return larger;
}

/* Returns where the cell of a path and block is in the table, or the free place
 * where it goes. */
static inline struct callers_place *
table_find(const struct callers *c, uint32_t path, uint32_t block)
{
    const uint64_t key = (uint64_t)path << 32 | block;
    uint64_t at = (key ^ key >> 29) * 0x9e3779b97f4a7c15u >> 32;

    for (;; at++) {
        struct callers_place *place = &c->table[at & c->table_mask];
        if (place->cell == 0 || (place->path == path && place->block == block))
            return place;
    }
}

/* Doubles the table if it is half full. */
static bool
table_grow(struct callers *c)
{
    const uint64_t size = (uint64_t)c->table_mask + 1;
    struct callers_place *const old = c->table;

    if (c->cell_count < size / 2)
        return true;
    struct callers_place *table = calloc(2 * size, sizeof(*table));
    if (table == NULL)
        return false;
    c->table = table;
    c->table_mask = (uint32_t)(2 * size - 1);
    for (uint64_t i = 0; i < size; i++) {
        if (old[i].cell != 0)
            *table_find(c, old[i].path, old[i].block) = old[i];
    }
    free(old);
    return true;
}

/* Adds a cell that the table does not have; returns its number, or 0: there is
 * no memory. */
static uint32_t
add_cell(struct callers *c, uint32_t path, uint32_t block, uint32_t caller)
{
    if (c->cell_count >= RECORD_CELLS || !table_grow(c))
        return 0;
    struct callers_cell *cells =
        grown(c->cells, c->cell_count + 1, &c->cell_room, sizeof(*cells));
    if (cells == NULL)
        return 0;
    c->cells = cells;
    const uint32_t number = ++c->cell_count;
    c->cells[number] =
        (struct callers_cell){.path = path, .block = block, .led = no_call};
    *table_find(c, path, block) = (struct callers_place){path, block, number};
    c->record->cells[number - 1] = (struct record_cell){caller, block};
    atomic_store(&c->record->cell_count, number);
    return number;
}

/* Returns whether only cells are left that are kept for blocks whose path is
 * not known. */
static bool
is_full(const struct callers *c)
{
    return c->cell_count >= RECORD_CELLS - COUNTS_BLOCKS;
}

/* Returns the number of the cell of a block on a path; 0: there is no memory,
 * or the counts have no room for the block. */
static uint32_t
cell_of(struct callers *c, uint32_t path, uint32_t block)
{
    if (block == 0 || block == RECORD_NO_ROOM)
        return 0;
    const uint32_t cell = table_find(c, path, block)->cell;
    if (cell != 0)
        return cell;
    if (path != CALLERS_UNKNOWN && is_full(c))
        return cell_of(c, CALLERS_UNKNOWN, block);
    return add_cell(c, path, block, c->paths[path].cell);
}

struct callers_call
callers_last_call(struct callers *c, uint32_t path)
{
    struct callers_path *p = &c->paths[path];

    return (struct callers_call){p->parent, c->cells[p->cell].block, &p->mark};
}

uint32_t
callers_on(struct callers *c, uint32_t cell, uint32_t object)
{
    if (object == 0)
        return cell;
    uint32_t on = table_find(c, cell, RECORD_ON | object)->cell;
    if (on == 0 && !is_full(c))
        on = add_cell(c, cell, RECORD_ON | object, cell);
    return on != 0 ? on : cell;
}

uint32_t
callers_find(struct callers *c, uint32_t from, const struct block *b)
{
    const uint32_t number = cell_of(c, c->path, block_number(b));
    struct callers_cell *cell = &c->cells[from];

    /* A jump through a register leads to too many cells, but for a return,
     * which leads to the one behind its call. */
    if (from == 0 || number == 0 ||
        (c->last->flags & (BLOCK_INDIRECT | BLOCK_BACK)) == BLOCK_INDIRECT ||
        c->cells[number].path != cell->path)
        return number;
    cell->next[1] = cell->next[0];
    cell->next_block[1] = cell->next_block[0];
    cell->next[0] = number;
    cell->next_block[0] = block_number(b);
    return number;
}

/* Returns the path that a call to `entry` leads to that was not made before. */
static uint32_t
new_path(struct callers *c, uint32_t cell, uint64_t entry)
{
    const uint32_t parent = c->cells[cell].path;

    for (uint32_t p = parent; p != 0; p = c->paths[p].parent) {
        if (c->paths[p].entry == entry)
            return p; /* recursion */
    }
    struct callers_path *paths =
        grown(c->paths, c->path_count, &c->path_room, sizeof(*paths));
    if (paths == NULL)
        return CALLERS_UNKNOWN;
    c->paths = paths;
    c->paths[c->path_count] = (struct callers_path){entry, cell, parent, 0};
    return c->path_count++;
}

/* Returns whether so many cells are used that further paths begin with the
 * function that calls. */
static bool
is_filling(const struct callers *c)
{
    return c->cell_count >= RECORD_CELLS - 2 * COUNTS_BLOCKS;
}

static void lead(struct callers *c, uint32_t cell, uint64_t entry);

/* Returns the path of the call of a cell whose own callers are left out: the
 * one that the same call of a path that is not known leads to. */
static uint32_t
short_path(struct callers *c, uint32_t cell, uint64_t entry)
{
    const uint32_t caller = cell_of(c, CALLERS_UNKNOWN, c->cells[cell].block);

    if (caller == 0)
        return CALLERS_UNKNOWN;
    if (c->cells[caller].led.entry != entry)
        lead(c, caller, entry);
    return c->cells[caller].led.path;
}

/* The call of a cell leads to `entry` now, where it did not lead last. */
static void
lead(struct callers *c, uint32_t cell, uint64_t entry)
{
    uint32_t i = c->cells[cell].links, path;

    while (i != NO_LINK && c->links[i].entry != entry)
        i = c->links[i].next;
    if (i != NO_LINK)
        path = c->links[i].path;
    else if (is_filling(c) && c->cells[cell].path != CALLERS_UNKNOWN)
        path = short_path(c, cell, entry);
    else
        path = new_path(c, cell, entry);
    c->cells[cell].led = (struct callers_led){entry, path, 0};
    if (i != NO_LINK)
        return;
    struct callers_link *links =
        grown(c->links, c->link_count, &c->link_room, sizeof(*links));
    if (links == NULL)
        return;
    c->links = links;
    links[c->link_count] =
        (struct callers_link){entry, path, c->cells[cell].links};
    c->cells[cell].links = c->link_count++;
}

/* Makes room for one more frame. */
static __attribute__((noinline)) bool
make_room(struct callers *c)
{
    if (c->frame_count == CALLERS_FRAMES) {
        c->frame_count /= 2;
        memmove(c->frames, c->frames + c->frame_count,
                c->frame_count * sizeof(*c->frames));
        return true;
    }
    struct callers_frame *frames =
        grown(c->frames, c->frame_count, &c->frame_room, sizeof(*frames));
    if (frames != NULL)
        c->frames = frames;
    return frames != NULL;
}

/* Pushes a frame of the block that ran, which leads to `b`. Returns the cell of
 * `b`. */
static inline uint32_t
push(struct callers *c, uint64_t back, const struct block *b)
{
    const uint32_t caller = c->cell;
    const struct callers_led *led = &c->cells[caller].led;

    if ((c->frame_count == c->frame_room || c->frame_count == CALLERS_FRAMES) &&
        !make_room(c)) {
        c->path = CALLERS_UNKNOWN;
        return callers_find(c, 0, b);
    }
    const uint64_t outer =
        c->frame_count != 0 ? c->frames[c->frame_count - 1].pointer : ~0ull;
    c->frames[c->frame_count++] = (struct callers_frame){
        back, c->path, caller, c->pointer != 0 ? c->pointer : outer | GUESSED};
    c->pointer = 0;
    if (__builtin_expect(caller == 0, 0)) {
        c->path = CALLERS_UNKNOWN;
        return callers_find(c, 0, b);
    }
    if (__builtin_expect(led->entry != b->pc, 0)) {
        lead(c, caller, b->pc);
        led = &c->cells[caller].led; /* cells may have moved */
    }
    c->path = led->path;
    if (__builtin_expect(c->cells[led->cell].block != block_number(b), 0)) {
        const uint32_t cell = callers_find(c, 0, b);
        c->cells[caller].led.cell = cell;
        return cell;
    }
    return led->cell;
}

/* Goes back to where `count` frames are left. */
static inline void
pop(struct callers *c, uint32_t count)
{
    const uint64_t pointer = c->frames[count].pointer;

    c->path = c->frames[count].path;
    c->frame_count = count;
    c->pointer = pointer & GUESSED ? 0 : pointer;
}

uint64_t
callers_pointer(const struct callers *c)
{
    if (c->pointer != 0 || c->frame_count == 0)
        return c->pointer;
    const uint64_t pointer = c->frames[c->frame_count - 1].pointer;
    return pointer & GUESSED ? 0 : pointer;
}

bool
callers_called(const struct callers *c, struct callers_called *called)
{
    if (c->frame_count == 0 || is_handler(&c->frames[c->frame_count - 1]))
        return false;
    const struct callers_frame *frame = &c->frames[c->frame_count - 1];
    *called = (struct callers_called){
        .back = frame->back,
        .pointer = frame->pointer & GUESSED ? 0 : frame->pointer,
        .depth = c->frame_count,
    };
    return true;
}

void
callers_tell_caller(struct callers *c, uint64_t pointer)
{
    if (c->frame_count != 0)
        c->frames[c->frame_count - 1].pointer = pointer;
}

/* Frames that are looked at one by one: nearly all accesses are to them. */
#define NEAR_FRAMES 64u

uint32_t
callers_frame(const struct callers *c, uint64_t addr)
{
    const uint32_t near =
        c->frame_count > NEAR_FRAMES ? c->frame_count - NEAR_FRAMES : 0;
    uint32_t high = c->frame_count;

    while (high > near && addr >= (c->frames[high - 1].pointer & ~1ull))
        high--;
    if (high == near) {
        /* Pointers go down but where frames were left in an unusual way. */
        uint32_t low = 0;
        while (low < high) {
            const uint32_t middle = low + (high - low) / 2;
            if (addr < (c->frames[middle].pointer & ~1ull))
                low = middle + 1;
            else
                high = middle;
        }
    }
    if (high == 0 || (c->frames[high - 1].pointer & GUESSED))
        return 0;
    return c->cells[high == c->frame_count ? c->cell : c->frames[high].cell]
        .block;
}

/* Matches a return with a frame. */
static inline bool
match(struct callers *c, const struct block *b)
{
    const unsigned skips = c->size != 0 ? RETURN_SKIPS : 0;

    for (uint32_t i = c->frame_count; i > 0; i--) {
        const uint64_t back = c->frames[i - 1].back;
        if (b->pc != back && b->pc != back + skips)
            continue;
        pop(c, i - 1);
        c->returns[b->index] = (struct callers_return){c->path, i - 1};
        return true;
    }
    return false;
}

/* Follows a jump to where a call has returned to before, as longjmp() makes:
 * the frames that were called since are gone. */
static bool
leave(struct callers *c, const struct block *b)
{
    const struct callers_return *r = &c->returns[b->index];

    if (r->path == 0 || r->depth >= c->frame_count ||
        c->frames[r->depth].path != r->path)
        return false;
    pop(c, r->depth);
    return true;
}

/* Follows an exception to a landing pad. */
static bool
land(struct callers *c, const struct block *b)
{
    if ((b->flags & BLOCK_PAD) == 0 || c->lands == NULL)
        return false;
    for (uint32_t i = c->frame_count; i > 0; i--) {
        const struct callers_frame *frame = &c->frames[i - 1];
        if (is_handler(frame) || !c->lands(c->user, b, frame->back))
            continue;
        pop(c, i - 1);
        return true;
    }
    return false;
}

/* Returns the number of frames below the innermost signal handler's, or
 * UINT32_MAX. */
static uint32_t
handler(const struct callers *c)
{
    for (uint32_t i = c->frame_count; i > 0; i--) {
        if (is_handler(&c->frames[i - 1]))
            return i - 1;
    }
    return UINT32_MAX;
}

/* Follows a return that matches no frame. */
static void
lose(struct callers *c, const struct block *b)
{
    const uint32_t signal = handler(c);

    if (leave(c, b))
        return;
    if (signal != UINT32_MAX) {
        /* The code that the system has a handler return to. */
        c->path = c->frames[signal].path;
        c->frame_count = signal + 1;
        c->pointer = 0;
    } else if (c->frame_count == 0) {
        c->path = CALLERS_OUTERMOST;
    } else if (c->path != CALLERS_UNKNOWN) {
        c->lost = c->path;
        c->path = CALLERS_UNKNOWN;
        c->pointer = 0;
    }
}

void
callers_resume(struct callers *c)
{
    const uint32_t signal = handler(c);

    c->last = &resumed;
    c->interrupted = NULL;
    c->interrupted_cell = c->cell;
    if (signal != UINT32_MAX) {
        const struct callers_frame *frame = &c->frames[signal];
        c->interrupted =
            (const struct block *)(uintptr_t)(frame->back & ~NO_LINE);
        c->interrupted_cell = frame->cell;
        pop(c, signal);
    } else if (c->path == CALLERS_UNKNOWN)
        c->path = c->lost; /* the handler came behind a branch */
    c->cell = 0;           /* leads nowhere: callers_move() is to follow */
}

/* Returns whether `b` may follow a block that no branch closes that is known
 * of: an instruction is made again, or a delay slot is a block of its own and
 * the branch stands in the block before. */
static bool
goes_on(const struct callers *c, const struct block *last,
        const struct block *b)
{
    return (b->pc >= last->pc && b->pc <= last->end + c->size) ||
           (c->size != 0 && last->instructions == 1);
}

/* Returns whether a signal has led to the block. */
static bool
is_signalled(const struct block *last, const struct block *b)
{
    return (b->flags & BLOCK_HANDLER) && b->pc != last->taken_pc &&
           b->pc != last->end;
}

/* Returns whether a block is the slot of the branch that closes another. */
static bool
is_slot_of(const struct callers *c, const struct block *b,
           const struct block *whole)
{
    return c->size != 0 && b->instructions == 1 && b->end == whole->end;
}

uint32_t
callers_move(struct callers *c, const struct block *b)
{
    const struct block *last = c->last;
    const struct block *whole = c->interrupted;

    if (last == &resumed)
        c->cell = c->interrupted_cell;
    if (whole != NULL && (last == &resumed || is_slot_of(c, last, whole))) {
        if (last == &resumed && b->pc >= whole->pc && b->pc < whole->end)
            return callers_find(c, 0, b); /* not all of it had run */
        last = whole;
        c->interrupted = NULL;
    }
    const uint32_t flags = last->flags;
    if (b->flags & BLOCK_HANDLER) {
        if (is_signalled(last, b))
            return push(c, NO_LINE | (uintptr_t)last, b);
        if ((flags & (BLOCK_CALL | BLOCK_BACK | BLOCK_INDIRECT)) == 0)
            return callers_next(c, c->cell, b);
    }
    if (flags & BLOCK_CALL) {
        const uint64_t back =
            last->end + (flags & BLOCK_PENDING ? c->size : 0u);
        /* A call to the next instruction asks for its own address. */
        return b->pc != back ? push(c, back, b) : callers_next(c, c->cell, b);
    }
    if ((flags & (BLOCK_BACK | BLOCK_INDIRECT)) && land(c, b)) {
        /* The path is the function's that has the landing pad. */
    } else if (flags & BLOCK_BACK) {
        if (match(c, b)) { /* with the frame behind the last one */
            const struct callers_frame *frame = &c->frames[c->frame_count];
            return b->pc == frame->back ? callers_next(c, frame->cell, b)
                                        : callers_find(c, 0, b);
        }
        lose(c, b);
    } else if (flags & BLOCK_INDIRECT) {
        if (b->pc - last->pc + FAR_JUMP > 2 * FAR_JUMP)
            leave(c, b);
    } else if (last == &resumed) {
        match(c, b);
    } else if (last != &nothing && !goes_on(c, last, b)) {
        return push(c, NO_LINE | (uintptr_t)last, b); /* a signal's handler */
    }
    return callers_find(c, 0, b);
}

/* Empties the tables. */
static void
clear(struct callers *c)
{
    madvise(c->returns, COUNTS_BLOCKS * sizeof(*c->returns), MADV_DONTNEED);
    memset(c->table, 0, ((size_t)c->table_mask + 1) * sizeof(*c->table));
    c->paths[CALLERS_OUTERMOST] =
        (struct callers_path){0, RECORD_OUTERMOST, 0, 0};
    c->paths[CALLERS_UNKNOWN] = (struct callers_path){0, RECORD_UNKNOWN, 0, 0};
    c->path_count = CALLERS_UNKNOWN + 1;
    c->cells[0] = (struct callers_cell){.led = no_call};
    c->cell_count = c->cell = 0;
    c->link_count = NO_LINK + 1;
    atomic_store(&c->record->cell_count, 0);
}

int
callers_init(struct callers *c, struct record_strand *record, unsigned slot)
{
    void *returns =
        mmap(NULL, COUNTS_BLOCKS * sizeof(*c->returns), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    *c = (struct callers){
        .record = record,
        .last = &nothing,
        .step = 1,
        .path = CALLERS_OUTERMOST,
        .lost = CALLERS_UNKNOWN,
        .size = slot,
        .returns = returns != MAP_FAILED ? returns : NULL,
        .table = calloc(4096, sizeof(*c->table)),
        .table_mask = 4095,
    };
    c->paths = grown(NULL, 0, &c->path_room, sizeof(*c->paths));
    c->links = grown(NULL, 0, &c->link_room, sizeof(*c->links));
    c->cells = grown(NULL, 0, &c->cell_room, sizeof(*c->cells));
    if (c->returns == NULL || c->table == NULL || c->paths == NULL ||
        c->links == NULL || c->cells == NULL) {
        callers_finish(c);
        return TALLY_ENOMEM;
    }
    clear(c);
    return 0;
}

void
callers_finish(struct callers *c)
{
    if (c->returns != NULL)
        munmap(c->returns, COUNTS_BLOCKS * sizeof(*c->returns));
    free(c->paths);
    free(c->cells);
    free(c->links);
    free(c->frames);
    free(c->table);
    memset(c, 0, sizeof(*c));
}

/* A call of the stack of frames. */
struct call {
    uint32_t block;
    uint64_t entry;
    bool known; /* the path to the call */
};

uint32_t
callers_fork(struct callers *c)
{
    const uint32_t running = c->cells[c->cell].block;
    const bool known = c->path != CALLERS_UNKNOWN;
    struct call *calls = malloc((c->frame_count + 1) * sizeof(*calls));
    const uint32_t count = calls != NULL ? c->frame_count : 0;
    uint32_t path = CALLERS_OUTERMOST;

    for (uint32_t i = 0; i < count; i++) {
        const uint32_t callee = i + 1 < count ? c->frames[i + 1].path : c->path;
        calls[i] = (struct call){
            .block = c->cells[c->frames[i].cell].block,
            .entry = c->paths[callee].entry,
            .known = c->frames[i].path != CALLERS_UNKNOWN,
        };
    }
    clear(c);
    c->frame_count = count;
    for (uint32_t i = 0; i < count; i++) {
        if (!calls[i].known)
            path = CALLERS_UNKNOWN;
        const uint32_t cell = cell_of(c, path, calls[i].block);
        c->frames[i].path = path;
        c->frames[i].cell = cell;
        if (cell != 0)
            lead(c, cell, calls[i].entry);
        path = cell != 0 ? c->cells[cell].led.path : CALLERS_UNKNOWN;
    }
    free(calls);
    c->path = known ? path : CALLERS_UNKNOWN;
    c->lost = CALLERS_UNKNOWN;
    c->cell = cell_of(c, c->path, running);
    return c->cell;
}
