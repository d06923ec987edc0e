/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The QEMU plugin that tells tally what a program does: its blocks with their
 * code, the order in which they run, their accesses and system calls. It runs
 * beside tally-plugin, which gives the program the clock and the random bytes
 * that it has when it is counted, and which counts its instructions.
 *
 * The first guest thread is told, until the program makes a second one or a
 * child. A program that it executes runs without this plugin. Nothing is
 * written here: tally takes the items from the ring (trace/trace_ring.h).
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "isa/insn.h"
#include "isa/isa.h"
#include "plugin/qemu.h"
#include "trace/trace_format.h"
#include "trace/trace_ring.h"

QEMU_PLUGIN_EXPORT int
qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
                    char **argv);

/* Bytes of memory that are told from before and behind each block. */
#define BYTES_BEFORE 8u
#define BYTES_BEHIND 16u
#define PAGE 4096u
#define WAIT_NS 50000

/* One access of a block. The callback's data. */
struct site {
    qemu_plugin_meminfo_t
        info; /* of the access before, whose bits these are: */
    uint16_t what;
    uint16_t insn; /* << TRACE_INSN */
    uint32_t block;
};

/* A block that was told. */
struct known {
    struct known *next; /* of the same hash */
    uint64_t pc, hash;
    uint32_t number, insns, size;
    struct site *sites; /* [insns] */
    bool *accesses;     /* [insns]: it may make some */
    uint8_t *sizes;     /* [insns], as TRACE_SIZE has them */
    uint8_t *code;      /* [size] */
};

#define KNOWN_HASHES (1u << 16)

static struct {
    struct trace_ring *ring;
    const struct isa *isa;
    pid_t parent;
    uint64_t put, room; /* as of the last look at `taken` */
    bool off;
    bool started;
    struct known *known[KNOWN_HASHES];
    uint32_t count;
    uint32_t block; /* that runs */
    /* Images that were told, by first and last address. */
    struct image {
        uint64_t first, last;
    } * images;
    size_t image_count;
} tracer;

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
    put_long(TRACE_ITEM_STOP, 1);
    put(why);
    tracer.off = true;
}

static const void *
memory_at(uint64_t addr)
{
    static const uintptr_t *base;

    if (base == NULL)
        base = dlsym(RTLD_DEFAULT, "guest_base");
    return (const void *)((uintptr_t)addr + (base != NULL ? *base : 0));
}

static bool
read_memory(uint64_t addr, void *out, size_t size)
{
    const struct iovec here = {out, size};
    const struct iovec there = {(void *)(uintptr_t)memory_at(addr), size};

    return process_vm_readv(gettid(), &here, 1, &there, 1, 0) == (ssize_t)size;
}

/* Tells the file that is mapped at the address, once. */
static void
tell_image(uint64_t pc)
{
    const uint64_t base = (uint64_t)(uintptr_t)memory_at(0);
    char line[4096 + 256];

    for (size_t i = 0; i < tracer.image_count; i++)
        if (pc >= tracer.images[i].first && pc <= tracer.images[i].last)
            return;
    FILE *const maps = fopen("/proc/self/maps", "re");
    while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
        uint64_t first, end, offset;
        int at = 0;
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n",
                   &first, &end, &offset, &at) != 3 ||
            pc + base < first || pc + base >= end)
            continue;
        line[strcspn(line, "\n")] = '\0';
        const char *const path = line[at] == '/' ? line + at : "";
        const size_t size = strlen(path);
        struct image *const images = reallocarray(
            tracer.images, tracer.image_count + 1, sizeof(*images));
        if (images == NULL)
            break;
        tracer.images = images;
        images[tracer.image_count++] =
            (struct image){first - base, end - 1 - base};
        put_long(TRACE_ITEM_IMAGE, 4 + words_of(size));
        put(first - base);
        put(end - 1 - base);
        put(offset);
        put(size);
        put_bytes(path, size);
        break;
    }
    if (maps != NULL)
        fclose(maps);
}

static void
on_block(unsigned vcpu, void *data)
{
    (void)vcpu;
    tracer.block = (uint32_t)(uintptr_t)data;
    if (!tracer.off)
        put((uint64_t)(uintptr_t)data << 16 | TRACE_ENTER);
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
put_odd(const struct site *s, uint64_t addr)
{
    const uint16_t what = s->what;

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

    (void)vcpu;
    if (tracer.off)
        return;
    if (__builtin_expect(s->info != info, 0))
        note_info(s, info);
    if (__builtin_expect(addr >> 48 != 0 || s->block != tracer.block, 0))
        put_odd(s, addr);
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
    if (!read_memory(k->pc - before, bytes, before))
        before = 0;
    uint8_t *const tail = bytes + before;
    if (!read_memory(end, tail, behind)) {
        behind = -end % PAGE < behind ? -end % PAGE : behind;
        if (!read_memory(end, tail, behind))
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
    decode(k);
    k->next = *list;
    *list = k;
    tell_image(pc);
    tell_block(k);
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
    tracer.started = true;
}

static void
on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    if (tracer.off)
        return;
    if (!tracer.started)
        tell_start();
    if (qemu_plugin_tb_n_insns(tb) > TRACE_INSNS)
        abort(); /* QEMU makes blocks of 512 at most */
    const struct known *const k = find_block(tb);
    if (k == NULL) {
        fprintf(stderr, "tally: no memory for the trace\n");
        tracer.off = true;
        return;
    }
    qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS,
                                         (void *)(uintptr_t)k->number);
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

static bool
is_call(enum system_call call, int64_t number)
{
    return tracer.isa->calls[call] >= 0 && tracer.isa->calls[call] == number;
}

static void
on_syscall(qemu_plugin_id_t id, unsigned vcpu, int64_t num, uint64_t a1,
           uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6,
           uint64_t a7, uint64_t a8)
{
    const uint64_t args[TRACE_CALL_WORDS] = {a1, a2, a3, a4, a5, a6, a7, a8};
    uint8_t action[32];

    (void)id;
    if (tracer.off || vcpu != 0)
        return;
    /* What a handler of signals is, tally-plugin reads. */
    const bool piece = is_call(CALL_RT_SIGACTION, num) && a2 != 0 &&
                       read_memory(a2, action, sizeof(action));
    put_long(TRACE_ITEM_CALL,
             2 + TRACE_CALL_WORDS + (piece ? 2 + sizeof(action) / 8 : 0));
    put((uint64_t)num);
    for (unsigned i = 0; i < TRACE_CALL_WORDS; i++)
        put(args[i]);
    put(piece);
    if (piece) {
        put(a2);
        put(sizeof(action));
        put_bytes(action, sizeof(action));
    }
}

static void
on_syscall_return(qemu_plugin_id_t id, unsigned vcpu, int64_t num,
                  int64_t result)
{
    (void)id;
    if (tracer.off || vcpu != 0)
        return;
    put_long(TRACE_ITEM_RETURN, 2);
    put((uint64_t)num);
    put((uint64_t)result);
}

static void
on_vcpu_init(qemu_plugin_id_t id, unsigned vcpu)
{
    (void)id;
    if (vcpu != 0)
        stop(TRACE_END_THREAD);
}

static void
on_fork(void)
{
    stop(TRACE_END_FORK);
}

int
qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
                    char **argv)
{
    const char *const path =
        argc == 1 && strncmp(argv[0], "ring=", 5) == 0 ? argv[0] + 5 : NULL;
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
    pthread_atfork(on_fork, NULL, NULL);
    qemu_plugin_register_vcpu_init_cb(id, on_vcpu_init);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
    qemu_plugin_register_vcpu_syscall_ret_cb(id, on_syscall_return);
    return 0;
}
