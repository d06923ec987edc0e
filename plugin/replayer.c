/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program that plays QEMU's part for a trace: it takes QEMU's command line,
 * loads the same plugin, offers it the functions of QEMU's plugin interface,
 * version 1, and makes the calls that QEMU would make while the program runs.
 * So the code that counts a live run counts the trace.
 *
 * What the trace tells of the program's memory, code above all, is put at its
 * own addresses; the rest is not there. Threads run in the turns that the trace
 * tells, all on one host thread. There are no registers to read.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/escape.h"
#include "gateway/protocol.h"
#include "isa/imported.h"
#include "names/elf_file.h"
#include "plugin/mapped.h"
/* The plugin finds here what it takes of QEMU. */
#pragma GCC visibility push(default)
#include "plugin/qemu_api.h"
#pragma GCC visibility pop
#include "plugin/replay.h"
#include "record/bytes.h"
#include "trace/trace_ahead.h"
#include "trace/trace_maps.h"

#define PAGE 4096u
#define STATUS_OURS 125
#define ARGUMENTS_MOST 16

enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };

/* One of QEMU's functions that no other file here declares. */
QEMU_PLUGIN_EXPORT void
qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb,
                                         enum qemu_plugin_op op, void *at,
                                         uint64_t add);

struct qemu_plugin_insn {
    uint64_t vaddr;
    const uint8_t *data;
    size_t size;
    size_t index;
};

enum call_kind {
    CALL_UDATA,  /* a block's or an instruction's */
    CALL_ADD,    /* to a number */
    CALL_MEMORY, /* an access's */
};

/* What the plugin registered for a block. */
struct registered {
    enum call_kind kind;
    size_t index; /* of the instruction; of the block: SIZE_MAX */
    unsigned rw;  /* of an access */
    union {
        qemu_plugin_vcpu_udata_cb_t udata;
        qemu_plugin_vcpu_mem_cb_t memory;
        uint64_t *number;
    } to;
    void *data;
    uint64_t add;
};

/* One call of a block's run. */
struct step {
    union {
        qemu_plugin_vcpu_udata_cb_t udata;
        qemu_plugin_vcpu_mem_cb_t memory;
        uint64_t *number;
    } to;
    void *data;
    uint32_t access; /* the number of its address */
    uint16_t info;
    uint16_t kind; /* enum call_kind */
};

/* The calls of a block's run that has the accesses of one pattern. */
struct script {
    size_t count;
    struct step step[];
};

/* What is known of a block, by its number. */
struct code {
    unsigned translated; /* replayer.translations, then; 0: never */
    struct registered *registered;
    size_t count, room;
    struct script **scripts; /* by the pattern's number */
    size_t script_count;
};

struct qemu_plugin_tb {
    uint64_t pc;
    size_t count;
    struct qemu_plugin_insn insns[TRACE_INSNS];
    /* Of an imported trace, what stands for the instructions' code. */
    uint8_t imported[TRACE_INSNS][IMPORTED_SIZE];
    struct code *code;
};

static struct {
    struct trace_reader *reader;
    struct code *codes;
    uint32_t code_room;
    unsigned translations; /* how often all was to be translated */
    struct qemu_plugin_tb tb;
    unsigned vcpu; /* the thread that runs */
    bool threaded; /* a second one was made */
    replay_turn *turn;
    /* The plugin's calls. */
    qemu_plugin_vcpu_simple_cb_t vcpu_init, vcpu_exit;
    qemu_plugin_vcpu_tb_trans_cb_t translate;
    qemu_plugin_vcpu_syscall_cb_t syscall;
    qemu_plugin_vcpu_syscall_ret_cb_t syscall_return;
    qemu_plugin_udata_cb_t exit;
    void *exit_data;
    qemu_plugin_simple_cb_t reset; /* that is due, or NULL */
    struct trace_maps maps;
    /* Whether the file of an image was looked at, by its number. */
    bool *looked;
    size_t looked_count;
    /* Pages of the program that are there, a set. */
    uint64_t *pages;
    size_t page_count, page_room;
} replayer = {.translations = 1};

static void
say(void *user, enum tally_level level, const char *text)
{
    (void)user, (void)level;
    escape_printf(stderr, "tally: %s\n", text);
}

QEMU_PLUGIN_EXPORT mapped_replayed tally_replayed_mapping;
QEMU_PLUGIN_EXPORT mapped_replayed_piece tally_replayed_piece;

static const struct tally_log log_stderr = {say, NULL};

__attribute__((noreturn)) static void
give_up(const char *what)
{
    escape_printf(stderr, "tally: %s\n", what);
    _exit(STATUS_OURS);
}

static void *
check(void *memory)
{
    if (memory == NULL)
        give_up("no memory for the replay of a trace");
    return memory;
}

/* The program's memory */

static size_t
page_slot(const uint64_t *pages, size_t room, uint64_t page)
{
    size_t at = (page / PAGE * UINT64_C(0x9e3779b97f4a7c15) >> 32) % room;

    while (pages[at] != 0 && pages[at] != page + 1)
        at = (at + 1) % room;
    return at;
}

static void
grow_pages(void)
{
    const size_t room = replayer.page_room != 0 ? 2 * replayer.page_room : 256;
    uint64_t *const pages = check(calloc(room, sizeof(*pages)));

    for (size_t i = 0; i < replayer.page_room; i++)
        if (replayer.pages[i] != 0)
            pages[page_slot(pages, room, replayer.pages[i] - 1)] =
                replayer.pages[i];
    free(replayer.pages);
    replayer.pages = pages;
    replayer.page_room = room;
}

/* Has the page be there. Returns false if it cannot be. */
static bool
need_page(uint64_t page)
{
    if (2 * replayer.page_count >= replayer.page_room)
        grow_pages();
    uint64_t *const slot =
        &replayer.pages[page_slot(replayer.pages, replayer.page_room, page)];
    if (*slot != 0)
        return true;
    void *const wanted = (void *)(uintptr_t)page;
    void *const got =
        mmap(wanted, PAGE, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (got != wanted) {
        if (got != MAP_FAILED)
            munmap(got, PAGE);
        return false;
    }
    *slot = page + 1;
    replayer.page_count++;
    return true;
}

/* Puts bytes into the program's memory. Returns false where there is no place.
 */
static bool
put_memory(uint64_t addr, const uint8_t *bytes, size_t size)
{
    if (size == 0)
        return true;
    for (uint64_t page = addr & ~(uint64_t)(PAGE - 1); page <= addr + size - 1;
         page += PAGE)
        if (!need_page(page))
            return false;
    memcpy((void *)(uintptr_t)addr, bytes, size);
    return true;
}

/* QEMU's functions */

void
qemu_plugin_reset(qemu_plugin_id_t id, qemu_plugin_simple_cb_t cb)
{
    (void)id;
    replayer.reset = cb;
}

void
qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id,
                                  qemu_plugin_vcpu_simple_cb_t cb)
{
    (void)id;
    replayer.vcpu_init = cb;
}

void
qemu_plugin_register_vcpu_exit_cb(qemu_plugin_id_t id,
                                  qemu_plugin_vcpu_simple_cb_t cb)
{
    (void)id;
    replayer.vcpu_exit = cb;
}

void
qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_udata_cb_t cb,
                               void *data)
{
    (void)id;
    replayer.exit = cb;
    replayer.exit_data = data;
}

void
qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                      qemu_plugin_vcpu_tb_trans_cb_t cb)
{
    (void)id;
    replayer.translate = cb;
}

void
qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id,
                                     qemu_plugin_vcpu_syscall_cb_t cb)
{
    (void)id;
    replayer.syscall = cb;
}

void
qemu_plugin_register_vcpu_syscall_ret_cb(qemu_plugin_id_t id,
                                         qemu_plugin_vcpu_syscall_ret_cb_t cb)
{
    (void)id;
    replayer.syscall_return = cb;
}

/* Adds what the plugin registers while it translates a block. */
static struct registered *
add_registered(enum call_kind kind, size_t index, void *data)
{
    struct code *const c = replayer.tb.code;

    if (c->count == c->room) {
        c->room = c->room != 0 ? 2 * c->room : 8;
        c->registered =
            check(reallocarray(c->registered, c->room, sizeof(*c->registered)));
    }
    struct registered *const r = &c->registered[c->count++];
    *r = (struct registered){.kind = kind, .index = index, .data = data};
    return r;
}

void
qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
                                     qemu_plugin_vcpu_udata_cb_t cb,
                                     enum qemu_plugin_cb_flags flags,
                                     void *data)
{
    (void)tb, (void)flags;
    add_registered(CALL_UDATA, SIZE_MAX, data)->to.udata = cb;
}

void
qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb,
                                         enum qemu_plugin_op op, void *at,
                                         uint64_t add)
{
    (void)tb, (void)op;
    struct registered *const r = add_registered(CALL_ADD, SIZE_MAX, NULL);
    r->to.number = at;
    r->add = add;
}

void
qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
                                       qemu_plugin_vcpu_udata_cb_t cb,
                                       enum qemu_plugin_cb_flags flags,
                                       void *data)
{
    (void)flags;
    add_registered(CALL_UDATA, insn->index, data)->to.udata = cb;
}

void
qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
                                 qemu_plugin_vcpu_mem_cb_t cb,
                                 enum qemu_plugin_cb_flags flags,
                                 enum qemu_plugin_mem_rw rw, void *data)
{
    (void)flags;
    struct registered *const r = add_registered(CALL_MEMORY, insn->index, data);
    r->to.memory = cb;
    r->rw = rw;
}

size_t
qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb)
{
    return tb->count;
}

uint64_t
qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb)
{
    return tb->pc;
}

struct qemu_plugin_insn *
qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index)
{
    return (struct qemu_plugin_insn *)(uintptr_t)&tb->insns[index];
}

const void *
qemu_plugin_insn_data(const struct qemu_plugin_insn *insn)
{
    return insn->data;
}

size_t
qemu_plugin_insn_size(const struct qemu_plugin_insn *insn)
{
    return insn->size;
}

uint64_t
qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn)
{
    return insn->vaddr;
}

/* An access is told as the trace has it: enum trace_what, without the
 * instruction. */
bool
qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info)
{
    return (info & TRACE_STORE) != 0;
}

unsigned
qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info)
{
    return info & TRACE_SHIFT;
}

/* The plugin frees what it gets. */
const char *
qemu_plugin_path_to_binary(void)
{
    const char *path;

    trace_reader_start(replayer.reader, &path);
    return strdup(path);
}

uint64_t
qemu_plugin_start_code(void)
{
    const char *path;

    return trace_reader_start(replayer.reader, &path);
}

void
qemu_plugin_outs(const char *text)
{
    fputs(text, stderr);
}

/* The program's files */

/* Says so where the file of an image is another one than the one that ran. */
static void
check_file(const struct trace_image *image, size_t number)
{
    const struct tally_log silent = {0};
    struct elf_file elf = ELF_FILE_NONE;

    if (number >= replayer.looked_count) {
        replayer.looked = check(reallocarray(replayer.looked, number + 1,
                                             sizeof(*replayer.looked)));
        memset(replayer.looked + replayer.looked_count, 0,
               number + 1 - replayer.looked_count);
        replayer.looked_count = number + 1;
    }
    if (replayer.looked[number] || image->build_id_size == 0)
        return;
    replayer.looked[number] = true;
    if (elf_file_open(image->path, &silent, &elf) == 0 &&
        (elf.build_id_size != image->build_id_size ||
         memcmp(elf.build_id, image->build_id, elf.build_id_size) != 0))
        escape_printf(stderr,
                      "tally: warning: %s is not the file that ran when the "
                      "trace was made: names of its functions and "
                      "variables may be wrong\n",
                      image->path);
    elf_file_close(&elf);
}

/* MAPPED_REPLAYED */
QEMU_PLUGIN_EXPORT bool
tally_replayed_mapping(uint64_t address, struct counts_file *file)
{
    struct trace_image image;
    size_t number;

    if (!trace_reader_find_image(replayer.reader, address, &image, &number))
        return false;
    file->first = image.first;
    file->last = image.last;
    file->offset = image.offset;
    snprintf(file->path, sizeof(file->path), "%s", image.path);
    check_file(&image, number);
    return true;
}

/* MAPPED_REPLAYED_PIECE */
QEMU_PLUGIN_EXPORT bool
tally_replayed_piece(size_t number, struct counts_file *file)
{
    if (number >= replayer.maps.count)
        return false;
    const struct trace_map *const row = &replayer.maps.rows[number];
    file->first = row->first;
    file->last = row->last;
    file->offset = row->offset;
    snprintf(file->path, sizeof(file->path), "%s", row->path);
    return true;
}

/* Notes what the program has mapped from now on. */
static void
map_memory(const struct trace_step *t)
{
    const struct trace_map row = {
        .first = t->args[0],
        .last = t->args[1],
        .offset = t->args[2] - 1,
        .path = (char *)(uintptr_t)t->pieces[0].bytes,
    };
    const bool done =
        t->args[2] == 0
            ? trace_maps_clear(&replayer.maps, row.first, row.last)
            : trace_maps_add(&replayer.maps, &row, t->pieces[0].size);

    if (!done)
        check(NULL);
}

/* The program's run */

/* Has the plugin begin anew, if it asked for that: no block is translated then.
 */
static void
reset_if_due(void)
{
    const qemu_plugin_simple_cb_t reset = replayer.reset;

    if (reset == NULL)
        return;
    replayer.reset = NULL;
    replayer.vcpu_init = replayer.vcpu_exit = NULL;
    replayer.translate = NULL;
    replayer.syscall = NULL;
    replayer.syscall_return = NULL;
    replayer.exit = NULL;
    replayer.translations++;
    reset(0);
}

static void
forget(struct code *c)
{
    for (size_t i = 0; i < c->script_count; i++)
        free(c->scripts[i]);
    free(c->scripts);
    c->scripts = NULL;
    c->script_count = 0;
    c->count = 0;
}

/* Makes what stands for the code of the instructions of an imported block,
 * whose bytes the trace has. */
static void
make_imported(struct qemu_plugin_tb *tb, const struct trace_block *b)
{
    const uint8_t *told = trace_block_bytes(b);
    uint64_t pc = b->pc;

    for (uint32_t i = 0; i < b->insns; i++, told += TRACE_IMPORTED) {
        const bool last = i + 1 == b->insns;
        const struct imported_insn insn = {
            .size = b->sizes[i],
            .branch = told[0],
            .loads = told[1],
            .stores = told[2],
            .target = last ? bytes_get_u64(told + TRACE_IMPORTED) : 0,
        };
        imported_encode(&insn, tb->imported[i]);
        tb->insns[i] =
            (struct qemu_plugin_insn){pc, tb->imported[i], insn.size, i};
        pc += insn.size;
    }
}

/* Has the plugin translate the block. */
static void
translate(uint32_t number, struct code *c)
{
    const struct trace_block *const b =
        trace_model_block(trace_reader_model(replayer.reader), number);
    const uint8_t *const bytes = trace_block_bytes(b);
    const uint8_t *code = bytes + b->before;
    struct qemu_plugin_tb *const tb = &replayer.tb;
    uint64_t pc = b->pc;

    forget(c);
    c->translated = replayer.translations;
    tb->pc = pc;
    tb->count = b->insns;
    tb->code = c;
    if (trace_reader_head(replayer.reader)->source != NULL) {
        make_imported(tb, b);
        if (replayer.translate != NULL)
            replayer.translate(0, tb);
        return;
    }
    if (!put_memory(b->pc - b->before, bytes,
                    (size_t)b->before + b->size + b->after)) {
        fprintf(stderr,
                "tally: the trace has code at 0x%" PRIx64
                ", where this computer has no place for it\n",
                b->pc);
        _exit(STATUS_OURS);
    }
    for (uint32_t i = 0; i < b->insns; i++) {
        const size_t size = b->sizes[i] & TRACE_SIZE;
        tb->insns[i] = (struct qemu_plugin_insn){pc, code, size, i};
        code += size;
        pc += size;
    }
    if (replayer.translate != NULL)
        replayer.translate(0, tb);
}

/* Adds the calls of the block (SIZE_MAX) or of an instruction that are no
 * access's. */
static void
add_calls(struct script *s, const struct code *c, size_t index)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct registered *const r = &c->registered[i];
        if (r->index != index || r->kind == CALL_MEMORY)
            continue;
        struct step *const step = &s->step[s->count++];
        step->kind = (uint16_t)r->kind;
        step->data = r->data;
        if (r->kind == CALL_ADD) {
            step->to.number = r->to.number;
            step->data = (void *)(uintptr_t)r->add;
        } else {
            step->to.udata = r->to.udata;
        }
    }
}

static void
add_access(struct script *s, const struct code *c,
           const struct trace_pattern *p, uint32_t access)
{
    const uint16_t what = p->site[access].what;
    const unsigned way = what & TRACE_STORE ? 2 : 1;

    for (size_t i = 0; i < c->count; i++) {
        const struct registered *const r = &c->registered[i];
        if (r->kind != CALL_MEMORY || r->index != what >> TRACE_INSN ||
            (r->rw & way) == 0)
            continue;
        struct step *const step = &s->step[s->count++];
        step->kind = CALL_MEMORY;
        step->to.memory = r->to.memory;
        step->data = r->data;
        step->access = access;
        step->info = what & (TRACE_STORE | TRACE_SHIFT);
    }
}

/* Makes the calls of a run with these accesses, in QEMU's order: the block's,
 * then each instruction's own, then its accesses'. */
static struct script *
make_script(const struct code *c, const struct trace_block *b,
            const struct trace_pattern *p)
{
    size_t most = c->count;
    uint32_t insn = 0; /* of those before all calls are there */

    for (uint32_t i = 0; i < p->count; i++)
        for (size_t k = 0; k < c->count; k++)
            most += c->registered[k].kind == CALL_MEMORY &&
                    c->registered[k].index == p->site[i].what >> TRACE_INSN;
    struct script *const s =
        check(malloc(sizeof(*s) + most * sizeof(struct step)));
    s->count = 0;
    add_calls(s, c, SIZE_MAX);
    for (uint32_t i = 0; i < p->count; i++) {
        const uint16_t what = p->site[i].what;
        const uint32_t its = (what & (TRACE_PASSED - 1u)) >> TRACE_INSN;
        for (; insn <= its; insn++)
            add_calls(s, c, insn);
        if (what < TRACE_PASSED)
            add_access(s, c, p, i);
    }
    /* Behind its last access the block goes on, unless it was left where the
     * tracer would have told more. */
    for (; insn < b->insns && (b->sizes[insn] & TRACE_TOLD) == 0; insn++)
        add_calls(s, c, insn);
    return s;
}

/* Finds the block, translated. */
static struct code *
find_code(uint32_t number)
{
    if (__builtin_expect(number >= replayer.code_room, 0)) {
        const uint32_t room = 2 * number + 1024;
        replayer.codes =
            check(reallocarray(replayer.codes, room, sizeof(*replayer.codes)));
        memset(replayer.codes + replayer.code_room, 0,
               (room - replayer.code_room) * sizeof(*replayer.codes));
        replayer.code_room = room;
    }
    struct code *const c = &replayer.codes[number];
    if (c->translated != replayer.translations)
        translate(number, c);
    return c;
}

/* Makes the calls of the block's run with accesses of the pattern. */
static const struct script *
add_script(struct code *c, uint32_t block, const struct trace_pattern *p)
{
    if (p->number >= c->script_count) {
        const size_t count = p->number + 1;
        c->scripts =
            check(reallocarray(c->scripts, count, sizeof(*c->scripts)));
        memset(c->scripts + c->script_count, 0,
               (count - c->script_count) * sizeof(*c->scripts));
        c->script_count = count;
    }
    c->scripts[p->number] = make_script(
        c, trace_model_block(trace_reader_model(replayer.reader), block), p);
    return c->scripts[p->number];
}

static void
run_block(const struct trace_ran *ran, const uint64_t *address)
{
    struct code *const c = find_code(ran->block);
    const uint32_t number = ran->pattern->number;
    const unsigned vcpu = replayer.vcpu;
    const struct script *s =
        number < c->script_count ? c->scripts[number] : NULL;

    if (__builtin_expect(s == NULL, 0))
        s = add_script(c, ran->block, ran->pattern);
    for (const struct step *step = s->step; step < s->step + s->count; step++) {
        if (step->kind == CALL_MEMORY)
            step->to.memory(vcpu, step->info, address[step->access],
                            step->data);
        else if (step->kind == CALL_ADD)
            *step->to.number += (uintptr_t)step->data;
        else
            step->to.udata(vcpu, step->data);
    }
    if (__builtin_expect(replayer.reset != NULL, 0))
        reset_if_due();
}

/* Makes the calls of an access of a block that does not run. */
static void
run_stray(const struct trace_step *t)
{
    const struct code *const c = find_code(t->block);
    const unsigned way = t->what & TRACE_STORE ? 2 : 1;

    for (size_t i = 0; i < c->count; i++) {
        const struct registered *const r = &c->registered[i];
        if (r->kind == CALL_MEMORY && r->index == t->what >> TRACE_INSN &&
            (r->rw & way) != 0)
            r->to.memory(replayer.vcpu, t->what & (TRACE_STORE | TRACE_SHIFT),
                         t->args[0], r->data);
    }
}

static void
call(const struct trace_step *t)
{
    const uint64_t *const a = t->args;

    /* What has no place in memory is absent, as the rest of it. */
    for (size_t i = 0; i < t->piece_count; i++)
        put_memory(t->pieces[i].address, t->pieces[i].bytes, t->pieces[i].size);
    if (replayer.syscall != NULL)
        replayer.syscall(0, replayer.vcpu, t->number, a[0], a[1], a[2], a[3],
                         a[4], a[5], a[6], a[7]);
    reset_if_due();
}

/* The thread that runs makes a thread. QEMU translates everything anew for the
 * second one. */
static void
start_thread(unsigned vcpu)
{
    replayer.translations += !replayer.threaded;
    replayer.threaded = true;
    if (replayer.vcpu_init != NULL)
        replayer.vcpu_init(0, vcpu);
    reset_if_due();
}

static void
end_thread(void)
{
    if (replayer.vcpu_exit != NULL)
        replayer.vcpu_exit(0, replayer.vcpu);
    reset_if_due();
}

static void
run_thread(unsigned vcpu)
{
    replayer.vcpu = vcpu;
    replayer.turn(vcpu);
}

/* Ends as the program did; where the trace ends before the program, as one that
 * ends by itself, so that what was counted until then is whole. */
__attribute__((noreturn)) static void
end(bool calls)
{
    const struct trace_run *const run = trace_reader_run(replayer.reader);
    const uint64_t why = run != NULL ? run->end : TRACE_END_SIZE;

    if (why == TRACE_END_SIGNAL) {
        const struct rlimit none = {0, 0};
        const int number = WTERMSIG((int)run->status);
        setrlimit(RLIMIT_CORE, &none);
        signal(number, SIG_DFL);
        raise(number);
        _exit(STATUS_OURS);
    }
    /* An empty request of the gateway counts as no system call. */
    if (!calls && replayer.syscall != NULL)
        replayer.syscall(0, replayer.vcpu, GATEWAY_CALL, GATEWAY_ALLOCATION, 0,
                         0, 0, 0, 0, 0, 0);
    if (replayer.exit != NULL)
        replayer.exit(0, replayer.exit_data);
    _exit(why == TRACE_END_EXIT || why == TRACE_END_PART
              ? WEXITSTATUS((int)run->status)
              : 0);
}

/* Says so where the program's file is another one than the one that ran: names
 * of options were looked up there. */
static void
check_program(void)
{
    struct counts_file file;
    const char *path;

    tally_replayed_mapping(trace_reader_start(replayer.reader, &path), &file);
}

/* Makes all calls of the trace. */
__attribute__((noreturn)) static void
replay(void)
{
    struct trace_ahead *const ahead = check(trace_ahead_begin(replayer.reader));
    bool calls = false, checked = false;

    for (;;) {
        const struct trace_batch *const b = trace_ahead_next(ahead);
        const struct trace_step *const event = &b->event;
        if (!checked)
            check_program();
        checked = true;
        for (size_t i = 0; i < b->count; i++)
            run_block(&b->ran[i], b->address + b->ran[i].first);
        switch (b->next) {
        case TRACE_NEXT_BLOCK:
            break;
        case TRACE_NEXT_CALL:
            call(event);
            calls = true;
            break;
        case TRACE_NEXT_RETURN:
            if (replayer.syscall_return != NULL)
                replayer.syscall_return(0, replayer.vcpu, event->number,
                                        event->result);
            reset_if_due();
            calls = false;
            break;
        case TRACE_NEXT_STRAY:
            run_stray(event);
            break;
        case TRACE_NEXT_MAP:
            map_memory(event);
            break;
        case TRACE_NEXT_STARTS:
            start_thread((unsigned)event->args[0]);
            break;
        case TRACE_NEXT_RUNS:
            run_thread((unsigned)event->args[0]);
            calls = false;
            break;
        case TRACE_NEXT_ENDS:
            end_thread();
            break;
        case TRACE_NEXT_END:
            end(calls);
        default: /* the reader said why; what came before is whole */
            if (replayer.exit != NULL)
                replayer.exit(0, replayer.exit_data);
            _exit(STATUS_OURS);
        }
    }
}

/* Takes the parts of -plugin's value apart, in place: commas are between them,
 * and two commas stand for one. Returns how many there are. */
static int
take_apart(char *value, char **parts)
{
    char *to = value;
    int count = 0;

    parts[count++] = value;
    for (const char *from = value; *from != '\0'; from++) {
        if (*from == ',' && from[1] != ',' && count < ARGUMENTS_MOST) {
            *to++ = '\0';
            parts[count++] = to;
            continue;
        }
        *to++ = *from;
        from += *from == ',' && from[1] == ',';
    }
    *to = '\0';
    return count;
}

/* Loads the plugin as QEMU does. */
static void
load_plugin(char *value)
{
    int (*install)(qemu_plugin_id_t, const qemu_info_t *, int, char **);
    char *parts[ARGUMENTS_MOST];
    const int count = take_apart(value, parts);
    void *const plugin = dlopen(parts[0], RTLD_NOW);
    const qemu_info_t info = {
        .target_name = trace_reader_head(replayer.reader)->isa,
        .version = {.min = 0, .cur = 1},
    };

    if (plugin == NULL)
        give_up(dlerror());
    *(void **)&install = dlsym(plugin, "qemu_plugin_install");
    if (install == NULL)
        give_up(dlerror());
    *(void **)&replayer.turn = dlsym(plugin, REPLAY_TURN);
    if (replayer.turn == NULL)
        give_up(dlerror());
    if (install(0, &info, count - 1, parts + 1) != 0)
        _exit(STATUS_OURS);
    if (replayer.vcpu_init != NULL)
        replayer.vcpu_init(0, 0);
}

int
main(int argc, char **argv)
{
    const char *trace = NULL;
    char *plugin = NULL;

    /* All options of QEMU that tally gives take a value. */
    for (int i = 1; i + 1 < argc && argv[i][0] == '-'; i += 2) {
        if (strcmp(argv[i], "-replay") == 0)
            trace = argv[i + 1];
        else if (strcmp(argv[i], "-plugin") == 0)
            plugin = argv[i + 1];
    }
    if (trace == NULL || plugin == NULL) {
        fprintf(stderr, "tally: this program is started by `tally count` for "
                        "a trace\n");
        return STATUS_OURS;
    }
    if (trace_reader_open(trace, &log_stderr, &replayer.reader) != 0)
        return STATUS_OURS;
    load_plugin(plugin);
    replay();
}
