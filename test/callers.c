/* SPDX-License-Identifier: MIT */
/*
 * The paths of calls, on programs of a few blocks: what each block's cell says
 * of the calls that led to it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "machine/callers.h"

/* Blocks of 8 bytes; functions begin at multiples of 0x100. */
enum { MAIN = 0x1000, F = 0x1100, G = 0x1200, H = 0x9200, HANDLER = 0x1400 };
enum { BLOCKS = 96, SIZE = 8 };

struct fixture {
    struct callers callers;
    struct record_strand *record;
    struct block blocks[BLOCKS];
    unsigned count;
};

static int
set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    f->record = mmap(NULL, sizeof(*f->record), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(f->record != MAP_FAILED);
    assert_int_equal(callers_init(&f->callers, f->record, 0), 0);
    *state = f;
    return 0;
}

static int
tear_down(void **state)
{
    struct fixture *f = *state;

    callers_finish(&f->callers);
    munmap(f->record, sizeof(*f->record));
    free(f);
    return 0;
}

/* Returns the block at `pc`, which a branch of this kind closes. */
static const struct block *
block_at(struct fixture *f, uint64_t pc, uint32_t flags)
{
    for (unsigned i = 0; i < f->count; i++) {
        if (f->blocks[i].pc == pc && f->blocks[i].flags == flags)
            return &f->blocks[i];
    }
    assert_true(f->count < BLOCKS);
    f->blocks[f->count] = (struct block){
        .pc = pc,
        .end = pc + SIZE,
        .taken_pc = NO_LINE,
        .flags = flags,
        .index = f->count,
        .instructions = 2,
    };
    return &f->blocks[f->count++];
}

static void
run(struct fixture *f, uint64_t pc, uint32_t flags)
{
    const struct block *b = block_at(f, pc, flags);
    const uint32_t foreseen = callers_foresee(&f->callers, b);
    const uint32_t path = f->callers.path, frames = f->callers.frame_count;
    const uint32_t cell = callers_lead(&f->callers, b);

    if (foreseen != 0) {
        assert_int_equal(foreseen, cell);
        assert_int_equal(f->callers.path, path);
        assert_int_equal(f->callers.frame_count, frames);
    }
    callers_go(&f->callers, b, cell);
    assert_int_equal(cell, f->callers.cell);
    assert_int_equal(f->record->cells[cell - 1].block,
                     block_number(block_at(f, pc, flags)));
}

/* Writes the calls that led to the block that runs, innermost last, as "1000
 * 1100"; "?" where they are not known. */
static const char *
path(struct fixture *f)
{
    static char text[256];
    uint64_t pcs[32];
    unsigned count = 0;
    uint32_t cell = f->record->cells[f->callers.cell - 1].caller;

    for (; cell != RECORD_OUTERMOST && cell != RECORD_UNKNOWN;
         cell = f->record->cells[cell - 1].caller) {
        assert_true(count < 32);
        pcs[count++] = f->blocks[f->record->cells[cell - 1].block - 1].pc;
    }
    char *end = text;
    *end = '\0';
    if (cell == RECORD_UNKNOWN)
        end += sprintf(end, "?");
    while (count > 0)
        end +=
            sprintf(end, "%s%x", end > text ? " " : "", (unsigned)pcs[--count]);
    return text;
}

/* Returns how often a block has run on the path of the block that runs. */
static uint64_t
executions(struct fixture *f)
{
    return f->record->executions[f->callers.cell];
}

static void
test_calls(void **state)
{
    struct fixture *f = *state;

    for (unsigned turn = 1; turn <= 3; turn++) {
        run(f, MAIN, BLOCK_CALL);
        assert_string_equal(path(f), "");
        run(f, F, BLOCK_CALL | BLOCK_INDIRECT);
        assert_string_equal(path(f), "1000");
        run(f, G, BLOCK_BACK);
        assert_string_equal(path(f), "1000 1100");
        assert_int_equal(executions(f), turn);
        run(f, F + SIZE, BLOCK_RETURN | BLOCK_BACK);
        assert_string_equal(path(f), "1000");
        run(f, MAIN + SIZE, BLOCK_CALL); /* another call of the same */
        run(f, F, BLOCK_CALL | BLOCK_INDIRECT);
        assert_string_equal(path(f), "1008");
        assert_int_equal(executions(f), turn);
        run(f, G, BLOCK_BACK);
        run(f, F + SIZE, BLOCK_RETURN | BLOCK_BACK);
        run(f, MAIN + 2 * SIZE, BLOCK_JUMP);
        assert_string_equal(path(f), "");
    }
}

static void
test_indirect_calls(void **state)
{
    static const unsigned callees[] = {F, G, F, H, G, F};
    struct fixture *f = *state;

    for (unsigned i = 0; i < sizeof(callees) / sizeof(*callees); i++) {
        run(f, MAIN, BLOCK_CALL | BLOCK_INDIRECT);
        run(f, callees[i], BLOCK_BACK);
        assert_string_equal(path(f), "1000");
        run(f, MAIN + SIZE, BLOCK_JUMP);
        assert_string_equal(path(f), "");
    }
    run(f, MAIN, BLOCK_CALL | BLOCK_INDIRECT);
    run(f, F, BLOCK_BACK);
    assert_int_equal(executions(f), 4);
}

/* f calls itself, and g which calls f: all are where f was called first. */
static void
test_recursion(void **state)
{
    struct fixture *f = *state;

    run(f, MAIN, BLOCK_CALL);
    run(f, F, BLOCK_CALL);
    for (unsigned i = 0; i < 1000; i++) {
        run(f, F, BLOCK_CALL);
        assert_string_equal(path(f), "1000");
    }
    run(f, G, BLOCK_CALL);
    assert_string_equal(path(f), "1000 1100");
    run(f, F, BLOCK_BACK);
    assert_string_equal(path(f), "1000");
    run(f, G + SIZE, BLOCK_BACK);
    assert_string_equal(path(f), "1000 1100");
    for (unsigned i = 0; i < 1001; i++) {
        run(f, F + SIZE, BLOCK_BACK);
        assert_string_equal(path(f), "1000");
    }
    run(f, MAIN + SIZE, BLOCK_JUMP);
    assert_string_equal(path(f), "");
}

/* A jump into another function keeps the path; the function returns to the
 * caller. */
static void
test_tail_call(void **state)
{
    struct fixture *f = *state;

    run(f, MAIN, BLOCK_CALL);
    run(f, F, BLOCK_JUMP);
    run(f, H, BLOCK_CALL);
    assert_string_equal(path(f), "1000");
    run(f, G, BLOCK_BACK);
    assert_string_equal(path(f), "1000 9200");
    run(f, H + SIZE, BLOCK_BACK);
    run(f, MAIN + SIZE, BLOCK_JUMP);
    assert_string_equal(path(f), "");
}

/* SPARC: a call whose slot restores the caller's window returns further out,
 * and a function that returns a struct one instruction further. */
static void
test_slots(void **state)
{
    struct fixture *f = *state;

    f->callers.size = 4;
    run(f, MAIN, BLOCK_CALL | BLOCK_PENDING); /* the slot is a block */
    run(f, F, BLOCK_CALL);                    /* never comes back */
    run(f, G, BLOCK_BACK);
    assert_string_equal(path(f), "1000 1100");
    run(f, MAIN + SIZE + 4, BLOCK_CALL);
    assert_string_equal(path(f), "");
    run(f, F, BLOCK_BACK);
    run(f, MAIN + 2 * SIZE + 4 + 4, BLOCK_JUMP);
    assert_string_equal(path(f), "");
}

/* A call to the next instruction, which asks for the address, is none. */
static void
test_own_address(void **state)
{
    struct fixture *f = *state;

    run(f, MAIN, BLOCK_CALL);
    run(f, MAIN + SIZE, BLOCK_CALL);
    assert_string_equal(path(f), "");
    run(f, F, BLOCK_BACK);
    run(f, MAIN + 2 * SIZE, BLOCK_JUMP);
    assert_string_equal(path(f), "");
}

/* longjmp() from two functions further in, by a jump and by a return. */
static void
test_longjmp(void **state)
{
    static const uint32_t jumps[] = {BLOCK_INDIRECT, BLOCK_BACK};
    struct fixture *f = *state;

    for (unsigned i = 0; i < 2; i++) {
        run(f, MAIN, BLOCK_CALL);
        run(f, F, BLOCK_CALL); /* setjmp() */
        run(f, H, BLOCK_BACK);
        run(f, F + SIZE, BLOCK_CALL);
        run(f, G, BLOCK_CALL);
        run(f, H + 0x100, jumps[i]); /* longjmp() */
        assert_string_equal(path(f), "1000 1108 1200");
        run(f, F + SIZE, BLOCK_CALL);
        assert_string_equal(path(f), "1000");
        run(f, G, BLOCK_BACK);
        run(f, F + 2 * SIZE, BLOCK_BACK);
        run(f, MAIN + SIZE, BLOCK_JUMP);
        assert_string_equal(path(f), "");
    }
}

/* A landing pad in F, for the calls that return to F + SIZE. */
static bool
lands(const void *user, const struct block *pad, uint64_t back)
{
    (void)user;
    return pad->pc == F + 8 * SIZE && back == F + SIZE;
}

/* An exception leaves G and what G calls: by a jump, near and far, and by a
 * return, of which one goes to where a call returns. */
static void
test_exception(void **state)
{
    static const uint32_t jumps[] = {BLOCK_INDIRECT, BLOCK_BACK};
    struct fixture *f = *state;

    f->callers.lands = lands;
    for (unsigned i = 0; i < 4; i++) {
        run(f, MAIN, BLOCK_CALL);
        run(f, F, BLOCK_CALL);
        run(f, G, BLOCK_CALL);
        run(f, i / 2 ? H : G + 0x80, jumps[i % 2]); /* the unwinder */
        assert_string_equal(path(f), "1000 1100 1200");
        run(f, F + 8 * SIZE, BLOCK_CALL | BLOCK_PAD);
        assert_string_equal(path(f), "1000");
        run(f, G, BLOCK_BACK);
        assert_string_equal(path(f), "1000 1140");
        run(f, F + 9 * SIZE, BLOCK_BACK);
        run(f, MAIN + SIZE, BLOCK_JUMP);
        assert_string_equal(path(f), "");
    }
}

/* A landing pad that is for no call that runs: the path is as it would be. */
static void
test_foreign_pad(void **state)
{
    struct fixture *f = *state;

    f->callers.lands = lands;
    run(f, MAIN, BLOCK_CALL);
    run(f, H, BLOCK_BACK);
    run(f, F + 8 * SIZE, BLOCK_BACK | BLOCK_PAD);
    assert_string_equal(path(f), "?");
    run(f, MAIN + SIZE, BLOCK_JUMP);
    assert_string_equal(path(f), "");
}

/* Calls functions that each have two calls of the next, until no more cells
 * are free for whole paths; then for none at all. */
static void
tree(struct fixture *f, unsigned level, unsigned depth, uint64_t first)
{
    const uint64_t entry = first + level * 0x100;

    if (level == depth) {
        run(f, entry, BLOCK_BACK);
        return;
    }
    run(f, entry, BLOCK_CALL);
    tree(f, level + 1, depth, first);
    run(f, entry + SIZE, BLOCK_CALL);
    tree(f, level + 1, depth, first);
    run(f, entry + 2 * SIZE, BLOCK_BACK);
}

static void
test_full(void **state)
{
    enum { DEPTH = 19 };
    struct fixture *f = *state;
    uint64_t sum = 0;

    run(f, MAIN, BLOCK_CALL);
    tree(f, 0, DEPTH, F);
    run(f, MAIN + SIZE, BLOCK_CALL);
    tree(f, 0, 4, F);
    run(f, MAIN + 2 * SIZE, BLOCK_CALL);
    assert_string_equal(path(f), "");
    assert_true(f->callers.cell_count > RECORD_CELLS - 2 * COUNTS_BLOCKS);
    assert_true(f->callers.cell_count < RECORD_CELLS - COUNTS_BLOCKS);
    /* A new call of what is known has but its own caller. */
    run(f, F, BLOCK_CALL);
    assert_string_equal(path(f), "? 1010");
    run(f, F + 0x100, BLOCK_CALL);
    assert_string_equal(path(f), "? 1100");
    run(f, F + 0x200, BLOCK_BACK);
    assert_string_equal(path(f), "? 1200");
    run(f, F + 0x100 + SIZE, BLOCK_BACK);
    assert_string_equal(path(f), "? 1100");
    run(f, F + SIZE, BLOCK_BACK);
    assert_string_equal(path(f), "? 1010");
    run(f, MAIN + 3 * SIZE, BLOCK_JUMP);
    assert_string_equal(path(f), "");
    for (uint32_t i = 1; i <= f->callers.cell_count; i++)
        sum += f->record->executions[i];
    /* Each function of the tree runs three blocks, the last ones one. */
    assert_int_equal(sum,
                     3 * ((1u << DEPTH) - 1) + (1u << DEPTH) + 3 * 15 + 16 + 9);
}

/* A jump within a function to where a call returned further out. */
static void
test_jump_table(void **state)
{
    struct fixture *f = *state;

    run(f, MAIN, BLOCK_CALL);
    run(f, F, BLOCK_CALL);
    run(f, G, BLOCK_BACK);
    run(f, F + SIZE, BLOCK_CALL); /* back at depth 1 */
    run(f, F + 4 * SIZE, BLOCK_CALL);
    run(f, F + 6 * SIZE, BLOCK_INDIRECT);
    assert_string_equal(path(f), "1000 1108 1120");
    run(f, F + SIZE, BLOCK_CALL);
    assert_string_equal(path(f), "1000 1108 1120");
}

static void
test_signal(void **state)
{
    struct fixture *f = *state;

    run(f, MAIN, BLOCK_CALL);
    run(f, F, 0); /* ends at a system call, say */
    run(f, HANDLER, BLOCK_CALL);
    assert_string_equal(path(f), "1000 1100");
    run(f, G, BLOCK_BACK);
    assert_string_equal(path(f), "1000 1100 1400");
    run(f, HANDLER + SIZE, BLOCK_BACK);
    run(f, H, 0); /* the code that asks the system to go on */
    assert_string_equal(path(f), "1000");
    callers_resume(&f->callers);
    run(f, F + SIZE, BLOCK_BACK);
    assert_string_equal(path(f), "1000");
    run(f, MAIN + SIZE, BLOCK_JUMP);
    assert_string_equal(path(f), "");
}

/* A handler that comes where a function returns cannot be told from a return to
 * anywhere until it ends. */
static void
test_signal_at_return(void **state)
{
    struct fixture *f = *state;

    run(f, MAIN, BLOCK_CALL);
    run(f, F, BLOCK_BACK);
    run(f, HANDLER, BLOCK_BACK);
    assert_string_equal(path(f), "?");
    run(f, H, 0);
    callers_resume(&f->callers);
    run(f, MAIN + SIZE, BLOCK_JUMP);
    assert_string_equal(path(f), "");
}

/* A handler that is known: of a signal in a block before the branch that closes
 * it, and of one behind that branch, which is a call, a return, a jump or none.
 */
static void
test_handler(void **state)
{
    static const uint32_t closing[] = {BLOCK_CALL, BLOCK_BACK, BLOCK_JUMP,
                                       BLOCK_INDIRECT, 0};
    struct fixture *f = *state;
    struct callers *c = &f->callers;

    for (unsigned i = 0; i < 10; i++) {
        const uint32_t flags = closing[i % 5];
        const bool early = i < 5;
        run(f, MAIN, BLOCK_CALL);
        run(f, F, flags);
        run(f, HANDLER, BLOCK_CALL | BLOCK_HANDLER);
        assert_string_equal(path(f), "1000 1100");
        run(f, G, BLOCK_BACK);
        run(f, HANDLER + SIZE, BLOCK_BACK);
        run(f, H, 0); /* the code that asks the system to go on */
        callers_resume(c);
        if (early) {
            run(f, F + 4, flags); /* the instruction is made again */
            assert_string_equal(path(f), "1000");
        }
        if (flags == BLOCK_CALL) {
            run(f, G, BLOCK_BACK);
            assert_string_equal(path(f), early ? "1000 1104" : "1000 1100");
            run(f, early ? F + 4 + SIZE : F + SIZE, BLOCK_BACK);
            assert_string_equal(path(f), "1000");
        } else if (flags != BLOCK_BACK) {
            run(f, early ? F + 4 + SIZE : F + SIZE, BLOCK_BACK);
            assert_string_equal(path(f), "1000");
        }
        run(f, MAIN + SIZE, BLOCK_JUMP);
        assert_string_equal(path(f), "");
    }
}

/* A program calls its handler itself, and jumps back to its beginning. */
static void
test_handler_called(void **state)
{
    struct fixture *f = *state;

    run(f, MAIN, BLOCK_CALL);
    run(f, HANDLER, BLOCK_CONDITIONAL | BLOCK_HANDLER);
    assert_string_equal(path(f), "1000");
    block_at(f, HANDLER + SIZE, BLOCK_CONDITIONAL);
    f->blocks[f->count - 1].taken_pc = HANDLER;
    run(f, HANDLER + SIZE, BLOCK_CONDITIONAL);
    run(f, HANDLER, BLOCK_CONDITIONAL | BLOCK_HANDLER);
    assert_string_equal(path(f), "1000");
    run(f, HANDLER + SIZE, BLOCK_BACK);
    run(f, MAIN + SIZE, BLOCK_JUMP);
    assert_string_equal(path(f), "");
}

/* An instruction that is made again is no signal. */
static void
test_again(void **state)
{
    struct fixture *f = *state;

    run(f, MAIN, BLOCK_CALL);
    run(f, F, 0);
    run(f, F + 4, 0);
    run(f, F, 0);
    assert_string_equal(path(f), "1000");
}

/* A return to a place that nothing called, as into a coroutine: its path is not
 * known until a return is matched. */
static void
test_unknown(void **state)
{
    struct fixture *f = *state;

    run(f, MAIN, BLOCK_CALL);
    run(f, F, BLOCK_CALL);
    run(f, G, BLOCK_BACK);
    run(f, F + 0x40, BLOCK_CALL); /* the handler in f */
    assert_string_equal(path(f), "?");
    run(f, H, BLOCK_BACK);
    assert_string_equal(path(f), "? 1140");
    run(f, F + 0x48, BLOCK_BACK);
    assert_string_equal(path(f), "?");
    run(f, MAIN + SIZE, BLOCK_JUMP);
    assert_string_equal(path(f), "");
    run(f, MAIN + 0x80, BLOCK_BACK); /* the outermost function returns */
    run(f, 0x7000, BLOCK_JUMP);
    assert_string_equal(path(f), "");
}

static void
test_fork(void **state)
{
    struct fixture *f = *state;

    run(f, MAIN, BLOCK_CALL);
    run(f, F, BLOCK_CALL);
    run(f, F, BLOCK_CALL); /* recursion */
    run(f, G, 0);
    memset(f->record->executions, 0, 64);
    callers_fork(&f->callers);
    assert_string_equal(path(f), "1000 1100");
    run(f, G + SIZE, BLOCK_BACK);
    assert_string_equal(path(f), "1000 1100");
    assert_int_equal(executions(f), 1);
    run(f, F + SIZE, BLOCK_BACK);
    assert_string_equal(path(f), "1000");
    run(f, F + SIZE, BLOCK_BACK);
    run(f, MAIN + SIZE, BLOCK_CALL);
    assert_string_equal(path(f), "");
}

/* More frames than are kept, and more cells than the table begins with. */
static void
test_deep(void **state)
{
    struct fixture *f = *state;
    const unsigned depth = CALLERS_FRAMES + 1000;

    run(f, MAIN, BLOCK_CALL);
    for (unsigned i = 0; i < depth; i++)
        run(f, F, BLOCK_CALL);
    run(f, G, BLOCK_BACK);
    for (unsigned i = 0; i < 1000; i++) {
        run(f, F + SIZE, BLOCK_BACK);
        assert_string_equal(path(f), "1000");
    }
}

/* What runs outside the span has a path and no count. */
static void
test_outside(void **state)
{
    struct fixture *f = *state;

    f->callers.step = 0;
    run(f, MAIN, BLOCK_CALL);
    f->callers.step = 1;
    run(f, F, 0);
    assert_string_equal(path(f), "1000");
    assert_int_equal(executions(f), 1);
    assert_int_equal(f->record->executions[1], 0);
}

/* The slow twin's path: which calls, to where. */
struct twin {
    unsigned count;
    uint64_t calls[16], entries[16];
};

/* The path of a call: one that goes where the path has been leads back there.
 */
static struct twin
twin_call(struct twin path, uint64_t call, uint64_t entry)
{
    for (unsigned i = 0; i < path.count; i++) {
        if (path.entries[i] == entry) {
            path.count = i + 1;
            return path;
        }
    }
    path.calls[path.count] = call;
    path.entries[path.count++] = entry;
    return path;
}

static void
assert_path(struct fixture *f, const struct twin *twin)
{
    char wanted[256] = "";

    for (unsigned i = 0; i < twin->count; i++)
        sprintf(wanted + strlen(wanted), "%s%x", i > 0 ? " " : "",
                (unsigned)twin->calls[i]);
    assert_string_equal(path(f), wanted);
}

/* The number of the block at `pc`, which was run with these flags. */
static uint32_t
number_at(struct fixture *f, uint64_t pc, uint32_t flags)
{
    return block_number(block_at(f, pc, flags));
}

/* Each frame of the stack is of the function that had it, told by the stack
 * pointers at the calls. */
static void
test_frames(void **state)
{
    struct fixture *f = *state;
    struct callers *c = &f->callers;

    run(f, MAIN, BLOCK_CALL);
    callers_tell(c, 0x9000);
    run(f, F, BLOCK_CALL);
    callers_tell(c, 0x8f00);
    run(f, G, BLOCK_BACK);
    assert_int_equal(callers_frame(c, 0x8e00), number_at(f, G, BLOCK_BACK));
    assert_int_equal(callers_frame(c, 0x8eff), number_at(f, G, BLOCK_BACK));
    assert_int_equal(callers_frame(c, 0x8f00), number_at(f, F, BLOCK_CALL));
    assert_int_equal(callers_frame(c, 0x8fff), number_at(f, F, BLOCK_CALL));
    /* Above the outermost call that is known are the program's arguments. */
    assert_int_equal(callers_frame(c, 0x9000), 0);
    run(f, F + SIZE, BLOCK_JUMP);
    assert_int_equal(callers_frame(c, 0x8e00),
                     number_at(f, F + SIZE, BLOCK_JUMP));
    assert_int_equal(callers_pointer(c), 0x8f00);
}

/* A function that tells no stack pointer leaves its frame and that of the one
 * it calls untold, until the latter tells it. */
static void
test_frames_untold(void **state)
{
    struct fixture *f = *state;
    struct callers *c = &f->callers;

    run(f, MAIN, BLOCK_CALL);
    callers_tell(c, 0x9000);
    run(f, F, BLOCK_CALL);
    run(f, G, BLOCK_CALL);
    callers_tell(c, 0x8e00);
    run(f, H, BLOCK_JUMP);
    assert_int_equal(callers_frame(c, 0x8d00), number_at(f, H, BLOCK_JUMP));
    assert_int_equal(callers_frame(c, 0x8f00), 0);
    run(f, H + SIZE, BLOCK_BACK);
    run(f, G + SIZE, BLOCK_JUMP);
    callers_tell_caller(c, 0x8f00);
    assert_int_equal(callers_frame(c, 0x8e80),
                     number_at(f, G + SIZE, BLOCK_JUMP));
    assert_int_equal(callers_frame(c, 0x8f80), number_at(f, F, BLOCK_CALL));
}

/* In deep recursion each frame is still found. */
static void
test_frames_deep(void **state)
{
    enum { DEPTH = 5000 };
    struct fixture *f = *state;
    struct callers *c = &f->callers;

    run(f, MAIN, BLOCK_CALL);
    callers_tell(c, 0x1000000);
    for (unsigned i = 0; i < DEPTH; i++) {
        run(f, i % 2 == 0 ? F : G, BLOCK_CALL);
        callers_tell(c, 0x1000000 - 0x100 * (i + 1));
    }
    run(f, H, BLOCK_JUMP);
    for (unsigned i = 0; i < DEPTH; i++)
        assert_int_equal(callers_frame(c, 0x1000000 - 0x100 * (i + 1) + 8),
                         number_at(f, i % 2 == 0 ? F : G, BLOCK_CALL));
}

/* The innermost call says where it returns, and that of a signal nothing. */
static void
test_called(void **state)
{
    struct fixture *f = *state;
    struct callers_called called;

    run(f, MAIN, BLOCK_CALL);
    assert_false(callers_called(&f->callers, &called));
    callers_tell(&f->callers, 0x9000);
    run(f, F, BLOCK_JUMP);
    assert_true(callers_called(&f->callers, &called));
    assert_int_equal(called.back, MAIN + SIZE);
    assert_int_equal(called.pointer, 0x9000);
    assert_int_equal(called.depth, 1);
}

/* A random walk of calls and returns. */
static void
test_walk(void **state)
{
    enum { FUNCTIONS = 7, DEPTH = 60, STEPS = 30000 };
    struct fixture *f = *state;
    struct twin paths[DEPTH + 1] = {{0}};
    uint64_t at[DEPTH + 1] = {MAIN}, seed = 7;
    unsigned depth = 0;

    for (unsigned i = 0; i < STEPS; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const unsigned next = (unsigned)(seed >> 33);
        if (depth == 0 || (depth < DEPTH && next % 16 < 7)) {
            const uint64_t entry = F + next / 16 % FUNCTIONS * 0x100;
            run(f, at[depth], BLOCK_CALL | BLOCK_INDIRECT);
            assert_path(f, &paths[depth]);
            paths[depth + 1] = twin_call(paths[depth], at[depth], entry);
            at[depth] += SIZE; /* where the call returns to */
            at[++depth] = entry;
        } else {
            run(f, at[depth], BLOCK_BACK);
            assert_path(f, &paths[depth]);
            at[--depth] -= SIZE;
            run(f, at[depth] + SIZE, BLOCK_JUMP);
            assert_path(f, &paths[depth]);
        }
    }
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(test_calls),
        CASE(test_indirect_calls),
        CASE(test_recursion),
        CASE(test_tail_call),
        CASE(test_slots),
        CASE(test_own_address),
        CASE(test_longjmp),
        CASE(test_jump_table),
        CASE(test_exception),
        CASE(test_foreign_pad),
        CASE(test_full),
        CASE(test_handler),
        CASE(test_handler_called),
        CASE(test_signal),
        CASE(test_signal_at_return),
        CASE(test_again),
        CASE(test_unknown),
        CASE(test_fork),
        CASE(test_deep),
        CASE(test_outside),
        CASE(test_walk),
        CASE(test_frames),
        CASE(test_frames_untold),
        CASE(test_frames_deep),
        CASE(test_called),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
