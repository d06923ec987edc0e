/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The QEMU plugin that tells tally what a program does: its blocks with their
 * code, the order in which they run, their accesses and system calls. It runs
 * beside tally-plugin, which gives the program the clock and the random bytes
 * that it has when it is counted, and which counts its instructions.
 *
 * Where a part of the run is asked for, blocks have a call that counts
 * instructions, or none, until shortly before that part, and none behind it.
 *
 * All guest threads are told where they take turns, which tally-plugin sees to,
 * until the program makes a child. Of a part of the run the first one alone is,
 * until it makes a second. A program that it executes runs without this plugin.
 * Nothing is written here: tally takes the items from the ring
 * (trace/trace_ring.h).
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "isa/insn.h"
#include "isa/isa.h"
#include "plugin/mapped.h"
#include "plugin/memory.h"
#include "plugin/qemu.h"
#include "plugin/tracer_calls.h"
#include "trace/trace_format.h"
#include "trace/trace_ring.h"

QEMU_PLUGIN_EXPORT int
qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
                    char **argv);

/* Bytes of memory that are told from before and behind each block. */
#define BYTES_BEFORE 8u
#define BYTES_BEHIND 16u
#define PAGE 4096u
/* Bytes that are told of the memory that a call is given, whole words. */
#define PIECE_MOST 56u
#define WAIT_NS 50000

/* One access of a block. The callback's data. */
struct site {
    qemu_plugin_meminfo_t
        info; /* of the access before, whose bits these are: */
    uint16_t what;
    uint16_t insn; /* << TRACE_INSN */
    uint32_t block;
};

/* What the count of instructions needs of a block. */
struct counted {
    uint64_t pc, last_pc; /* of the first and the last instruction */
    uint32_t insns;
    bool resumes, repeats; /* the first, the last one repeats itself (REP) */
};

/* A block that was told. */
struct known {
    struct known *next; /* of the same hash */
    struct counted counted;
    uint64_t pc, hash;
    uint32_t number, insns, size;
    struct site *sites;        /* [insns] */
    bool *accesses;            /* [insns]: it may make some */
    uint8_t *sizes;            /* [insns], as TRACE_SIZE has them */
    uint8_t *code;             /* [size] */
    struct known *next_untold; /* the block that was found behind this one */
};

#define KNOWN_HASHES (1u << 16)
/* Instructions before the part that is asked for in which all calls are there:
 * QEMU translates all blocks anew to have them. */
#define ARM_AHEAD 1000000u
#define OURS "/memfd:tally" /* memory that tally shares with its plugins */
#define NOWHERE UINT64_MAX  /* no function begins there */

static struct {
    struct trace_ring *ring;
    const struct isa *isa;
    pid_t parent;
    uint64_t put, room; /* as of the last look at `taken` */
    bool off;           /* nothing is told: not yet, or not any more */
    bool begun;         /* the part that is asked for has */
    bool armed;         /* blocks have all calls */
    qemu_plugin_id_t id;
    /* The part: as the program's file has the addresses, until `placed`. */
    uint64_t code, from, to, skip, most;
    bool placed;
    uint64_t ran;               /* instructions before the part, then of it */
    const struct counted *last; /* the block that was counted last, or NULL */
    struct known *known[KNOWN_HASHES];
    struct known *untold, **last_untold; /* in the order in which they came */
    uint32_t count;
    uint32_t block;     /* that runs; 0: one of another thread ran last */
    unsigned running;   /* the thread that was told to run */
    const char *beside; /* the path of tally-plugin */
    /* Images that were told, by first and last address. */
    struct image {
        uint64_t first, last;
    } * images;
    size_t image_count;
    /* What is mapped is told, too. */
    bool maps;
    uint64_t *own; /* QEMU's own memory: where each piece begins */
    size_t own_count;
    uint64_t (*args)[TRACE_CALL_WORDS]; /* [arg_count], by thread: of the system
                                           call that it makes */
    size_t arg_count;
    uint64_t heap; /* the end that brk gave last; 0: none */
} tracer = {.from = NOWHERE, .to = NOWHERE};

static void register_calls(qemu_plugin_id_t id);

/* Waits until the ring has room again. Returns false: nobody takes items. */
static __attribute__((noinline)) bool
wait_for_room(void)
{
    struct trace_ring *const ring = tracer.ring;

    for (;;) {
        const uint64_t taken =
            atomic_load_explicit(&ring->taken, memory_order_acquire);
        tracer.room = taken + TRACE_RING_ITEMS;
        if (atomic_load(&ring->closed) != 0 || getppid() != tracer.parent) {
            tracer.off = true;
            return false;
        }
        if (tracer.put < tracer.room)
            return true;
        nanosleep(&(struct timespec){0, WAIT_NS}, NULL);
    }
}

static inline void
put(uint64_t item)
{
    struct trace_ring *const ring = tracer.ring;

    if (__builtin_expect(tracer.put == tracer.room, 0) && !wait_for_room())
        return;
    ring->item[tracer.put % TRACE_RING_ITEMS] = item;
    tracer.put++;
    atomic_store_explicit(&ring->put, tracer.put, memory_order_release);
}

static size_t
words_of(size_t size)
{
    return (size + 7) / 8;
}

static void
put_bytes(const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = 0;
        memcpy(&word, (const uint8_t *)bytes + i, size - i < 8 ? size - i : 8);
        put(word);
    }
}

static void
put_long(enum trace_item kind, size_t words)
{
    put((uint64_t)words << 32 | (uint64_t)kind << 16 | TRACE_LONG);
}

/* Tells that nothing follows, and why. */
static void
stop(enum trace_end why)
{
    if (tracer.off)
        return;
    put_long(TRACE_ITEM_STOP, 2);
    put(why);
    put(tracer.last != NULL ? tracer.ran : 0);
    tracer.off = true;
}

static __attribute__((noinline)) void
tell_thread(enum trace_thread what, unsigned vcpu)
{
    put_long(TRACE_ITEM_THREAD, 2);
    put(what);
    put(vcpu);
}

/* Tells that another thread runs, where it does. */
static inline void
run_thread(unsigned vcpu)
{
    if (__builtin_expect(vcpu == tracer.running, 1))
        return;
    tracer.running = vcpu;
    tracer.block = 0;
    tell_thread(TRACE_THREAD_RUNS, vcpu);
}

/* Tells the file that is mapped at the address, once. */
static void
tell_image(uint64_t pc)
{
    struct mapped_walk walk;
    struct counts_file file;

    for (size_t i = 0; i < tracer.image_count; i++)
        if (pc >= tracer.images[i].first && pc <= tracer.images[i].last)
            return;
    mapped_walk_begin(&walk);
    while (mapped_walk_next(&walk, &file)) {
        if (pc < file.first || pc > file.last)
            continue;
        const size_t size = strlen(file.path);
        struct image *const images = reallocarray(
            tracer.images, tracer.image_count + 1, sizeof(*images));
        if (images == NULL)
            break;
        tracer.images = images;
        images[tracer.image_count++] = (struct image){file.first, file.last};
        put_long(TRACE_ITEM_IMAGE, 4 + words_of(size));
        put(file.first);
        put(file.last);
        put(file.offset);
        put(size);
        put_bytes(file.path, size);
        break;
    }
    mapped_walk_end(&walk);
}

static void
tell_piece(const struct counts_file *file)
{
    const size_t size = strlen(file->path);

    put_long(TRACE_ITEM_MAP, 4 + words_of(size));
    put(file->first);
    put(file->last);
    put(file->offset + 1);
    put(size);
    put_bytes(file->path, size);
}

/* Tells what is mapped in a range, and the pieces that touch it: the system
 * joins pieces. */
static void
tell_range(uint64_t first, uint64_t size)
{
    const uint64_t last = (first + size - 1) | (PAGE - 1);
    struct mapped_walk walk;
    struct counts_file file;

    if (size == 0 || last < first)
        return;
    put_long(TRACE_ITEM_MAP, 3);
    put(first);
    put(last);
    put(0);
    mapped_walk_begin(&walk);
    while (mapped_walk_next(&walk, &file) && file.first <= last + 1)
        if (file.last + 1 >= first)
            tell_piece(&file);
    mapped_walk_end(&walk);
}

/* Tells all that is mapped now and was not before QEMU had loaded the program.
 */
static void
tell_maps(void)
{
    struct mapped_walk walk;
    struct counts_file file;

    mapped_walk_begin(&walk);
    while (mapped_walk_next(&walk, &file)) {
        const uint64_t host = (uint64_t)(uintptr_t)plugin_memory(file.first);
        bool is_new = strncmp(file.path, OURS, sizeof(OURS) - 1) != 0;
        for (size_t i = 0; i < tracer.own_count && is_new; i++)
            is_new = tracer.own[i] != host;
        if (is_new)
            tell_piece(&file);
    }
    mapped_walk_end(&walk);
}

/* Notes where QEMU's own memory is: all plugins are there, and the program is
 * not. */
static void
note_own_memory(void)
{
    struct mapped_walk walk;
    struct counts_file file;

    mapped_walk_begin(&walk);
    while (mapped_walk_next(&walk, &file)) {
        uint64_t *const own =
            reallocarray(tracer.own, tracer.own_count + 1, sizeof(*own));
        if (own == NULL)
            break;
        tracer.own = own;
        own[tracer.own_count++] =
            (uint64_t)(uintptr_t)plugin_memory(file.first);
    }
    mapped_walk_end(&walk);
}

static void
on_block(unsigned vcpu, void *data)
{
    if (tracer.off)
        return;
    run_thread(vcpu);
    tracer.block = (uint32_t)(uintptr_t)data;
    put((uint64_t)(uintptr_t)data << 16 | TRACE_ENTER);
}

/* Registers nothing, so that QEMU translates blocks anew without calls. */
static void
free_program(qemu_plugin_id_t id)
{
    (void)id;
}

/* Notes the kind and size of an access that differs from the one before. */
static __attribute__((noinline)) void
note_info(struct site *s, qemu_plugin_meminfo_t info)
{
    s->info = info;
    s->what = (uint16_t)(s->insn |
                         (qemu_plugin_mem_is_store(info) ? TRACE_STORE : 0) |
                         (qemu_plugin_mem_size_shift(info) & TRACE_SHIFT));
}

/* Tells an access of a block that does not run, as QEMU stores the frame of a
 * signal by its helper for the instruction that was the last to use one; or an
 * access whose address has more than 48 bits. */
static __attribute__((noinline)) void
put_odd(const struct site *s, unsigned vcpu, uint64_t addr)
{
    const uint16_t what = s->what;

    run_thread(vcpu);
    if (s->block != tracer.block) {
        put_long(TRACE_ITEM_STRAY, 3);
        put(s->block);
        put(what);
        put(addr);
        return;
    }
    put_long(TRACE_ITEM_WIDE, 2);
    put(what);
    put(addr);
}

static void
on_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *data)
{
    struct site *const s = data;

    if (tracer.off)
        return;
    if (__builtin_expect(s->info != info, 0))
        note_info(s, info);
    if (__builtin_expect(addr >> 48 != 0 || s->block != tracer.block, 0))
        put_odd(s, vcpu, addr);
    else
        put(addr << 16 | s->what);
}

static void
on_passed(unsigned vcpu, void *data)
{
    const struct site *const s = data;

    (void)vcpu;
    if (!tracer.off)
        put(TRACE_PASSED | (uint64_t)s->insn);
}

/* Tells a new block, with the sizes of its instructions. Memory that cannot be
 * read is not told. */
static void
tell_block(const struct known *k)
{
    const uint64_t end = k->pc + k->size;
    uint64_t before = BYTES_BEFORE, behind = BYTES_BEHIND;
    uint8_t bytes[BYTES_BEFORE + BYTES_BEHIND];

    if (k->pc % PAGE < before)
        before = k->pc % PAGE;
    if (!plugin_read(k->pc - before, bytes, before))
        before = 0;
    uint8_t *const tail = bytes + before;
    if (!plugin_read(end, tail, behind)) {
        behind = -end % PAGE < behind ? -end % PAGE : behind;
        if (!plugin_read(end, tail, behind))
            behind = 0;
    }
    uint8_t *const all = malloc(before + k->size + behind + 1);
    if (all == NULL) {
        tracer.off = true;
        return;
    }
    memcpy(all, bytes, before);
    memcpy(all + before, k->code, k->size);
    memcpy(all + before + k->size, tail, behind);
    put_long(TRACE_ITEM_BLOCK,
             4 + words_of(k->insns) + words_of(before + k->size + behind));
    put(k->pc);
    put(k->insns);
    put(before);
    put(behind);
    put_bytes(k->sizes, k->insns);
    put_bytes(all, before + k->size + behind);
    free(all);
}

/* Finds which instructions of a block are told: those that may make accesses,
 * and each behind one where the block may end though more is translated. */
static void
decode(struct known *k)
{
    const uint32_t leaves =
        INSN_SAVE | INSN_RESTORE | INSN_FLUSHW | INSN_SYSCALL | INSN_ILLEGAL;
    const uint8_t *code = k->code;
    uint64_t pc = k->pc;
    bool told = false;

    for (size_t i = 0; i < k->insns; i++) {
        const size_t size = k->sizes[i];
        struct insn insn;
        const bool whole = insn_decode(tracer.isa, code, size, pc, &insn);
        k->sites[i].info = UINT32_MAX;
        k->sites[i].block = k->number;
        k->sites[i].insn = (uint16_t)(i << TRACE_INSN);
        k->accesses[i] = !whole || insn.access != ACCESS_NONE;
        if (told)
            k->sizes[i] |= TRACE_TOLD;
        told = !whole || (insn.flags & leaves) != 0;
        code += size;
        pc += size;
    }
}

static bool
repeats(struct qemu_plugin_insn *insn)
{
    uint8_t room[QEMU_INSN_BYTES];
    struct insn found;

    return insn_decode(tracer.isa, qemu_insn_bytes(insn, room),
                       qemu_plugin_insn_size(insn),
                       qemu_plugin_insn_vaddr(insn), &found) &&
           found.access == ACCESS_REPEATED;
}

static void
find_counted(struct qemu_plugin_tb *tb, struct counted *b)
{
    const size_t insns = qemu_plugin_tb_n_insns(tb);
    struct qemu_plugin_insn *const first = qemu_plugin_tb_get_insn(tb, 0);
    struct qemu_plugin_insn *const last =
        qemu_plugin_tb_get_insn(tb, insns - 1);

    *b = (struct counted){
        .pc = qemu_plugin_tb_vaddr(tb),
        .last_pc = qemu_plugin_insn_vaddr(last),
        .insns = (uint32_t)insns,
        .resumes = repeats(first),
        .repeats = repeats(last),
    };
}

/* Finds the block among those that were told, or tells it. NULL: there is no
 * memory. */
static struct known *
find_block(struct qemu_plugin_tb *tb)
{
    const size_t insns = qemu_plugin_tb_n_insns(tb);
    const uint64_t pc = qemu_plugin_tb_vaddr(tb);
    uint64_t hash = 0xcbf29ce484222325u ^ pc;
    uint8_t sizes[TRACE_INSNS], code[TRACE_INSNS * QEMU_INSN_BYTES];
    uint8_t room[QEMU_INSN_BYTES];
    size_t size = 0;

    for (size_t i = 0; i < insns; i++) {
        const struct qemu_plugin_insn *const insn =
            qemu_plugin_tb_get_insn(tb, i);
        sizes[i] = (uint8_t)qemu_plugin_insn_size(insn);
        memcpy(code + size, qemu_insn_bytes(insn, room), sizes[i]);
        size += sizes[i];
    }
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ code[i]) * 0x100000001b3u;
    hash = (hash ^ insns) * 0x100000001b3u;
    struct known **const list = &tracer.known[(hash >> 24) % KNOWN_HASHES];
    for (struct known *k = *list; k != NULL; k = k->next)
        if (k->hash == hash && k->pc == pc && k->insns == insns &&
            k->size == size && memcmp(k->code, code, size) == 0)
            return k;
    struct known *const k = calloc(1, sizeof(*k));
    if (k == NULL)
        return NULL;
    k->sites = calloc(insns + 1, sizeof(*k->sites));
    k->accesses = calloc(insns + 1, sizeof(*k->accesses));
    k->sizes = malloc(insns + 1);
    k->code = malloc(size + 1);
    if (k->sites == NULL || k->accesses == NULL || k->sizes == NULL ||
        k->code == NULL)
        return NULL;
    memcpy(k->code, code, size);
    memcpy(k->sizes, sizes, insns);
    k->pc = pc;
    k->hash = hash;
    k->insns = (uint32_t)insns;
    k->size = (uint32_t)size;
    k->number = ++tracer.count;
    find_counted(tb, &k->counted);
    decode(k);
    k->next = *list;
    *list = k;
    if (tracer.begun) {
        tell_image(pc);
        tell_block(k);
    } else {
        *tracer.last_untold = k;
        tracer.last_untold = &k->next_untold;
    }
    return k;
}

/* Tells where the program is, at its first block: QEMU loads it after the
 * plugins. */
static void
tell_start(void)
{
    const char *const path = qemu_plugin_path_to_binary();
    const size_t size = path != NULL ? strlen(path) : 0;

    put_long(TRACE_ITEM_START, 2 + words_of(size));
    put(qemu_plugin_start_code());
    put(size);
    put_bytes(path, size);
    if (tracer.maps)
        tell_maps();
}

/* Begins to tell, with the block that is entered. */
static void
begin(void)
{
    tracer.begun = true;
    tracer.off = false;
    tracer.ran = 0;
    tell_start();
    for (const struct known *k = tracer.untold; k != NULL; k = k->next_untold) {
        tell_image(k->pc);
        tell_block(k);
    }
    if (!tracer.armed)
        qemu_plugin_reset(tracer.id, register_calls);
    tracer.armed = true;
}

/* Returns the instructions that a block that is entered adds to those that ran:
 * none where it is the next iteration of one. */
static uint64_t
count(const struct counted *b)
{
    const struct counted *const last = tracer.last;

    if (b->resumes && last != NULL && last->repeats && last->last_pc == b->pc)
        return 0;
    tracer.last = b;
    return b->insns;
}

/* Enters a block of a program of which a part is asked for. */
static void
on_watched_block(unsigned vcpu, void *data)
{
    const struct known *const k = data;

    if (vcpu != 0)
        return;
    const uint64_t insns = count(&k->counted);
    if (!tracer.begun) {
        tracer.ran += insns;
        if (k->pc == tracer.from ||
            (tracer.skip != 0 && tracer.ran >= tracer.skip))
            begin();
    }
    if (tracer.off)
        return;
    if (k->pc == tracer.to ||
        (tracer.most != 0 && tracer.ran + insns > tracer.most)) {
        stop(TRACE_END_PART);
        qemu_plugin_reset(tracer.id, free_program);
        return;
    }
    tracer.ran += insns;
    on_block(vcpu, (void *)(uintptr_t)k->number);
}

/* Counts a block long before the part that is asked for. */
static void
on_early_block(unsigned vcpu, void *data)
{
    if (vcpu != 0 || tracer.begun)
        return;
    tracer.ran += count(data);
    if (!tracer.armed && tracer.ran + ARM_AHEAD >= tracer.skip) {
        tracer.armed = true;
        qemu_plugin_reset(tracer.id, register_calls);
    }
}

/* Returns whether the block needs no more than to be counted: it is not, or not
 * yet, a part of what is asked for. */
static bool
is_early(uint64_t pc)
{
    return !tracer.begun && !tracer.armed && pc != tracer.from;
}

/* Finds where the functions are that were asked for: QEMU loads the program
 * after the plugins. */
static void
place(void)
{
    const uint64_t bias = qemu_plugin_start_code() - tracer.code;

    tracer.from += tracer.from != NOWHERE ? bias : 0;
    tracer.to += tracer.to != NOWHERE ? bias : 0;
    tracer.placed = true;
}

/* Returns whether each block is to be looked at when it is entered. */
static bool
is_watched(void)
{
    return !tracer.begun || tracer.to != NOWHERE || tracer.most != 0;
}

static void
register_block(struct qemu_plugin_tb *tb, struct known *k)
{
    if (is_watched())
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_watched_block,
                                             QEMU_PLUGIN_CB_NO_REGS, k);
    else
        qemu_plugin_register_vcpu_tb_exec_cb(
            tb, on_block, QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)k->number);
    for (size_t i = 0; i < k->insns; i++) {
        struct qemu_plugin_insn *const insn = qemu_plugin_tb_get_insn(tb, i);
        if ((k->sizes[i] & TRACE_TOLD) != 0)
            qemu_plugin_register_vcpu_insn_exec_cb(
                insn, on_passed, QEMU_PLUGIN_CB_NO_REGS, &k->sites[i]);
        if (k->accesses[i])
            qemu_plugin_register_vcpu_mem_cb(insn, on_access,
                                             QEMU_PLUGIN_CB_NO_REGS,
                                             QEMU_PLUGIN_MEM_RW, &k->sites[i]);
    }
}

static void
on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    const size_t insns = qemu_plugin_tb_n_insns(tb);

    (void)id;
    if (tracer.begun && tracer.off)
        return;
    if (!tracer.placed)
        place();
    if (insns > TRACE_INSNS)
        abort(); /* QEMU makes blocks of 512 at most */
    if (is_early(qemu_plugin_tb_vaddr(tb))) {
        struct counted *const b = tracer.skip != 0 ? malloc(sizeof(*b)) : NULL;
        if (b != NULL) {
            find_counted(tb, b);
            qemu_plugin_register_vcpu_tb_exec_cb(tb, on_early_block,
                                                 QEMU_PLUGIN_CB_NO_REGS, b);
        }
        return;
    }
    if (!tracer.begun && tracer.from == NOWHERE && tracer.skip == 0)
        begin();
    struct known *const k = find_block(tb);
    if (k == NULL) {
        fprintf(stderr, "tally: no memory for the trace\n");
        tracer.off = true;
        return;
    }
    register_block(tb, k);
}

static bool
is_call(enum system_call call, int64_t number)
{
    return tracer.isa->calls[call] >= 0 && tracer.isa->calls[call] == number;
}

/* Tells what a system call that has returned has mapped, or has not any more.
 */
static void
tell_mapped(int64_t number, const uint64_t *a, uint64_t result)
{

    if (call_failed(result))
        return;
    if (is_call(CALL_MMAP, number)) {
        tell_range(result, a[1]);
    } else if (is_call(CALL_MUNMAP, number)) {
        tell_range(a[0], a[1]);
    } else if (is_call(CALL_MREMAP, number)) {
        tell_range(a[0], a[1]);
        tell_range(result, a[2]);
    } else if (is_call(CALL_BRK, number)) {
        if (tracer.heap != 0 && result != tracer.heap)
            tell_range(result < tracer.heap ? result : tracer.heap,
                       result < tracer.heap ? tracer.heap - result
                                            : result - tracer.heap);
        tracer.heap = result;
    }
}

/* Returns where the arguments of a thread's call are kept; NULL: there is no
 * memory. */
static uint64_t *
args_of(unsigned vcpu)
{
    if (vcpu >= tracer.arg_count) {
        const size_t count = 2 * (size_t)vcpu + 16;
        uint64_t(*const args)[TRACE_CALL_WORDS] =
            reallocarray(tracer.args, count, sizeof(*args));
        if (args == NULL)
            return NULL;
        memset(args + tracer.arg_count, 0,
               (count - tracer.arg_count) * sizeof(*args));
        tracer.args = args;
        tracer.arg_count = count;
    }
    return tracer.args[vcpu];
}

/* Reads what tally-plugin reads of the memory that a call is given: what a
 * handler of signals is, and where a new thread has its stack. Returns the
 * bytes, 0 if there are none, and sets *at to their address. */
static size_t
read_piece(int64_t num, const uint64_t args[TRACE_CALL_WORDS], uint64_t *at,
           uint8_t piece[PIECE_MOST])
{
    const bool action = is_call(CALL_RT_SIGACTION, num);
    const size_t size = action                      ? 32
                        : is_call(CALL_CLONE3, num) ? PIECE_MOST
                                                    : 0;

    *at = args[action ? 1 : 0];
    return size != 0 && *at != 0 && plugin_read(*at, piece, size) ? size : 0;
}

static void
on_syscall(unsigned vcpu, int64_t num, const uint64_t args[TRACE_CALL_WORDS])
{
    uint8_t piece[PIECE_MOST];
    uint64_t at;

    if (tracer.off)
        return;
    const size_t size = read_piece(num, args, &at, piece);
    uint64_t *const kept = args_of(vcpu);
    if (kept != NULL)
        memcpy(kept, args, TRACE_CALL_WORDS * sizeof(*args));
    run_thread(vcpu);
    put_long(TRACE_ITEM_CALL,
             2 + TRACE_CALL_WORDS + (size != 0 ? 2 + size / 8 : 0));
    put((uint64_t)num);
    for (unsigned i = 0; i < TRACE_CALL_WORDS; i++)
        put(args[i]);
    put(size != 0);
    if (size != 0) {
        put(at);
        put(size);
        put_bytes(piece, size);
    }
}

static void
on_syscall_return(unsigned vcpu, int64_t num, int64_t result)
{
    if (tracer.off && is_call(CALL_BRK, num))
        tracer.heap = (uint64_t)result;
    if (tracer.off)
        return;
    run_thread(vcpu);
    const uint64_t *const args = args_of(vcpu);
    if (tracer.maps && args != NULL)
        tell_mapped(num, args, (uint64_t)result);
    put_long(TRACE_ITEM_RETURN, 2);
    put((uint64_t)num);
    put((uint64_t)result);
}

/* Returns whether a part of the run is asked for. */
static bool
is_part(void)
{
    return tracer.from != NOWHERE || tracer.to != NOWHERE || tracer.skip != 0 ||
           tracer.most != 0;
}

static void
on_start(unsigned vcpu, bool turns)
{
    if (turns && !is_part()) {
        if (!tracer.off)
            tell_thread(TRACE_THREAD_STARTS, vcpu);
        return;
    }
    /* Before the part, too: of a part a trace has one thread. */
    if (!tracer.begun) {
        tracer.off = false;
        tracer.last = NULL; /* what ran is no part */
    }
    tracer.begun = true;
    stop(TRACE_END_THREAD);
}

static void
on_end(unsigned vcpu)
{
    if (tracer.off)
        return;
    run_thread(vcpu);
    tell_thread(TRACE_THREAD_ENDS, vcpu);
    tracer.running = TRACE_THREADS;
}

/* Has tally-plugin tell of calls and threads. */
static void
join_plugin(void)
{
    void *const plugin = dlopen(tracer.beside, RTLD_LAZY | RTLD_NOLOAD);
    struct tracer_calls *const calls =
        plugin != NULL ? dlsym(plugin, TRACER_CALLS) : NULL;

    if (calls == NULL) {
        fprintf(stderr, "tally: the tracer does not find tally-plugin\n");
        abort();
    }
    *calls =
        (struct tracer_calls){on_syscall, on_syscall_return, on_start, on_end};
}

static void
on_vcpu_init(qemu_plugin_id_t id, unsigned vcpu)
{
    (void)id;
    if (vcpu != 0)
        return;
    join_plugin();
    if (tracer.maps && tracer.own == NULL)
        note_own_memory();
}

static void
on_fork(void)
{
    if (tracer.begun)
        stop(TRACE_END_FORK);
}

/* The child tells nothing. */
static void
on_forked(void)
{
    tracer.begun = true;
    tracer.off = true;
}

static void
register_calls(qemu_plugin_id_t id)
{
    qemu_plugin_register_vcpu_init_cb(id, on_vcpu_init);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
}

/* Takes what `tally trace record` gives: the ring, and what is asked for.
 * Returns the ring's path, or NULL. */
static const char *
take_arguments(int argc, char **argv)
{
    static const struct {
        const char *name;
        uint64_t *number;
    } numbers[] = {
        {"code=", &tracer.code}, {"from=", &tracer.from}, {"to=", &tracer.to},
        {"skip=", &tracer.skip}, {"most=", &tracer.most},
    };
    const char *path = NULL;

    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "ring=", 5) == 0)
            path = argv[i] + 5;
        if (strncmp(argv[i], "beside=", 7) == 0)
            tracer.beside = argv[i] + 7;
        tracer.maps |= strcmp(argv[i], "maps=on") == 0;
        for (size_t n = 0; n < sizeof(numbers) / sizeof(numbers[0]); n++) {
            const size_t size = strlen(numbers[n].name);
            if (strncmp(argv[i], numbers[n].name, size) == 0)
                *numbers[n].number = strtoull(argv[i] + size, NULL, 0);
        }
    }
    return path;
}

int
qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
                    char **argv)
{
    const char *const path = take_arguments(argc, argv);
    const char *const refused = qemu_begin(info);
    const int fd = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;

    if (refused != NULL)
        return -1; /* tally-plugin says so */
    if (fd < 0) {
        fprintf(stderr,
                "tally: this plugin is started by `tally trace record`\n");
        return -1;
    }
    void *const ring = mmap(NULL, sizeof(struct trace_ring),
                            PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    tracer.isa = isa_find(info->target_name);
    if (ring == MAP_FAILED || tracer.isa == NULL ||
        ((struct trace_ring *)ring)->version != TRACE_RING_VERSION) {
        fprintf(stderr, "tally: the tracer does not fit this tally\n");
        return -1;
    }
    tracer.ring = ring;
    tracer.room = TRACE_RING_ITEMS;
    tracer.parent = getppid();
    tracer.id = id;
    tracer.off = true;
    tracer.last_untold = &tracer.untold;
    tracer.armed = tracer.from == NOWHERE && tracer.skip <= ARM_AHEAD;
    pthread_atfork(on_fork, NULL, on_forked);
    register_calls(id);
    return 0;
}
