/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/recording.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "machine/strides.h"
#include "plugin/calls.h"
#include "plugin/data_objects.h"
#include "plugin/mapped.h"
#include "plugin/memory.h"
#include "plugin/own_counts.h"
#include "plugin/phases.h"
#include "plugin/plugin.h"
#include "plugin/qemu.h"

/* What on_use() knows of an access, in a callback's data. */
enum use {
    USE_EIGHTHS = 15, /* of an access that a piece of it is */
    /* Of the level whose lines' use is recorded: these pass it by, or bring in
     * no line. */
    USE_PASSING_STORES = 1 << 4,
    USE_PASSING_LOADS = 1 << 5,
    USE_ATOMIC = 1 << 6, /* loads and stores */
    USE_FLOAT = 1 << 7,  /* loads that pass the L1D by */
    /* Where the numbers of the strides of the instruction's loads and stores
     * are, + 1; 0: none. */
    USE_LOADS_SHIFT = 8,
    USE_STORES_SHIFT = 36,
};

#define USE_STRIDE ((UINT64_C(1) << (USE_STORES_SHIFT - USE_LOADS_SHIFT)) - 1)

static_assert(sizeof(void *) == 8 && RECORD_STRIDES < USE_STRIDE,
              "a callback's data hold two numbers of strides");

/* Where struct clone_args has a thread's stack, and behind it its size. */
#define CLONE_ARGS_STACK 40u

void
recording_begin(struct plugin *p)
{
    struct recording *r = &p->recording;

    r->first = 1;
    numbering_init(&r->stride_keys, 4);
    if (p->request.records == RECORDS_NOTHING)
        return;
    p->table.apart = true;
    p->early.all = p->request.records == RECORDS_CALLERS;
    own_counts_open(p);
    r->process = record_map(&p->process, NULL);
    own_counts_close(p);
    r->spare = mmap(NULL, sizeof(struct record_branches) * (COUNTS_BLOCKS + 1),
                    PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (r->process == NULL || r->spare == MAP_FAILED ||
        (p->request.objects[0] != '\0' &&
         data_objects_begin(&r->objects, r->process) != 0) ||
        (p->request.locks != 0 && waits_begin(p, r->process) != 0))
        plugin_no_memory(p->process.head, "the recording");
    r->reasons.process = r->process;
    phases_begin(p);
}

/* Returns the level of caches that data miss, and of the lines whose use is
 * recorded. */
static enum cache_id
level_of_uses(const struct plugin *p)
{
    return p->request.reasons != 0 && p->request.level < CACHE_COUNT
               ? (enum cache_id)p->request.level
               : CACHE_L1D;
}

int
recording_model(struct plugin *p)
{
    struct recording *const r = &p->recording;

    if (p->request.reasons == 0 || r->process == NULL)
        return 0;
    const enum cache_id level = level_of_uses(p);
    if (level == CACHE_L1D && (p->components & COMPONENT_CLASSES)) {
        p->chip.reasons = &r->reasons;
    } else {
        classes_init(&r->classes, &r->reasons);
        p->chip.classes = &r->classes;
    }
    if (!p->executed && moves_are_valid(&p->request.moves))
        p->chip.moves = &p->request.moves;
    return reasons_begin(&r->reasons, &p->chip, level);
}

void
recording_program(struct plugin *p)
{
    if (!p->executed && p->program != NULL)
        data_objects_program(&p->recording.objects, p->program, p->load_bias);
    if (p->recording.objects.process != NULL)
        allocators_begin(p);
}

static bool
records_callers(const struct plugin *p)
{
    return p->request.records == RECORDS_CALLERS;
}

/* Returns where an address of code is in the image's file. */
static uint64_t
image_offset(const struct plugin *p, uint32_t image, uint64_t address)
{
    const struct counts_file *file = &p->process.head->file[image - 1];

    return address - file->first + file->offset;
}

bool
recording_is_pad(struct plugin *p, uint32_t image, uint64_t pc)
{
    struct recording *const r = &p->recording;

    if (image == 0 || r->process == NULL || !records_callers(p))
        return false;
    struct landing_pads **pads = &r->pads[image - 1];
    if (*pads == NULL) {
        *pads = calloc(1, sizeof(**pads));
        if (*pads == NULL)
            return false;
        landing_pads_read(p->process.head->file[image - 1].path, *pads);
    }
    return landing_pads_has(*pads, image_offset(p, image, pc));
}

/* For callers_lands. */
static bool
lands(const void *user, const struct block *pad, uint64_t back)
{
    const struct plugin *const p = user;
    const struct recording *const r = &p->recording;
    /* No image: of a block for which the counts have no room. */
    const uint32_t image = r->process->places[pad->index].image;

    return image != 0 && r->pads[image - 1] != NULL &&
           landing_pads_lead(r->pads[image - 1],
                             image_offset(p, image, pad->pc),
                             image_offset(p, image, back));
}

/* Begins to record the use of lines of a thread, none of which is in. */
static void
make_lines(struct plugin *p, struct recording_thread *t)
{
    if (lines_init(&t->lines,
                   p->request.params[tally_caches[level_of_uses(p)].line],
                   t->recorder.record->uses) != 0)
        plugin_no_memory(p->process.head, "the use of lines");
}

/* Returns what is recorded of the thread, or NULL: it is not. */
static struct recording_thread *
make_thread(struct plugin *p, unsigned vcpu)
{
    struct record_strand *record;
    struct recording_thread *t;

    if (p->counts[vcpu]->apart || p->counts[vcpu] == p->spare)
        return NULL;
    own_counts_open(p);
    record = record_map_strand(&p->process, vcpu, NULL);
    own_counts_close(p);
    t = record != NULL ? calloc(1, sizeof(*t)) : NULL;
    if (t != NULL && records_callers(p) &&
        callers_init(&t->callers, record, p->shape.isa->slots ? 4 : 0) != 0) {
        free(t);
        t = NULL;
    }
    if (t == NULL) {
        record_unmap_strand(record);
        return NULL;
    }
    t->recorder.record = record;
    t->callers.lands = lands;
    t->callers.user = p;
    if (p->request.all_accesses != 0)
        make_lines(p, t);
    return t;
}

void
recording_thread_starts(struct plugin *p, unsigned vcpu)
{
    struct recording *r = &p->recording;
    struct strand *s = p->strands[vcpu];

    if (r->process == NULL)
        return;
    s->branches = r->spare;
    phases_strand_starts(&p->phases, s);
    if (vcpu >= COUNTS_STRANDS)
        return;
    if (r->threads[vcpu] == NULL)
        r->threads[vcpu] = make_thread(p, vcpu);
    struct recording_thread *t = r->threads[vcpu];
    s->recorder = t != NULL ? &t->recorder : NULL;
    s->callers = t != NULL && records_callers(p) ? &t->callers : NULL;
    if (t == NULL)
        return;
    recorder_init(s->recorder, s->recorder->record, p->request.record_signals,
                  p->request.record_count, s->total);
    if (r->objects.process != NULL)
        s->recorder->objects = &r->objects.finder;
    if (p->request.all_accesses != 0)
        s->recorder->lines = &t->lines;
    recorder_switch(s, s->span.outside);
}

void
recording_fold(struct plugin *p, unsigned vcpu)
{
    struct recording_thread *t =
        vcpu < COUNTS_STRANDS ? p->recording.threads[vcpu] : NULL;

    phases_fold(p, vcpu);
    if (t == NULL)
        return;
    record_fold(&p->process, p->recording.process, p->counts[vcpu],
                t->recorder.record);
    t->recorder.used = 0;
    t->loads_due = t->stores_due = 0;
    /* As the totals. */
    memset(t->recorder.charged, 0, sizeof(t->recorder.charged));
    edges_restart(&t->recorder.edges);
}

void
recording_thread_ends(struct plugin *p, unsigned vcpu)
{
    struct recording_thread *t;

    if (vcpu >= COUNTS_STRANDS)
        return;
    t = p->recording.threads[vcpu];
    if (t != NULL) {
        record_unmap_strand(t->recorder.record);
        callers_finish(&t->callers);
        lines_finish(&t->lines);
    }
    free(t);
    p->recording.threads[vcpu] = NULL;
}

static struct callers *
callers_of(const struct plugin *p, unsigned vcpu)
{
    return p->strands[vcpu] != NULL ? p->strands[vcpu]->callers : NULL;
}

void
recording_syscall(struct plugin *p, unsigned vcpu, int64_t number,
                  const uint64_t args[6])
{
    const struct isa *const isa = p->shape.isa;
    struct callers *c = callers_of(p, vcpu);
    uint64_t stack[2]; /* the end members of struct clone_args that tell it */

    if (c != NULL && call_is(CALL_RT_SIGRETURN, isa, number))
        callers_resume(c);
    if (p->recording.objects.process == NULL)
        return;
    if (call_is(CALL_CLONE, isa, number))
        data_objects_thread(&p->recording.objects, args[1]);
    else if (call_is(CALL_CLONE3, isa, number) &&
             plugin_read_word(isa, args[0] + CLONE_ARGS_STACK, &stack[0]) &&
             plugin_read_word(isa, args[0] + CLONE_ARGS_STACK + 8, &stack[1]))
        data_objects_thread(&p->recording.objects, stack[0] + stack[1]);
}

void
recording_syscall_return(struct plugin *p, unsigned vcpu, int64_t number,
                         const uint64_t args[6], int64_t result)
{
    struct recording *r = &p->recording;

    data_objects_call(&r->objects, callers_of(p, vcpu), p->shape.isa, number,
                      args, result);
    if (!call_changes_memory(p->shape.isa, number))
        return;
    pthread_mutex_lock(&p->lock);
    recording_memory_changes(p);
    if (r->process != NULL && call_is(CALL_MMAP, p->shape.isa, number) &&
        (args[2] & PROT_EXEC) != 0)
        mapped_note_dump(p->process.head, (uint64_t)result);
    pthread_mutex_unlock(&p->lock);
}

void
recording_allocation(struct plugin *p, unsigned vcpu, const uint64_t args[4])
{
    data_objects_allocation(&p->recording.objects, callers_of(p, vcpu), args);
}

void
recording_stops(struct plugin *p)
{
    struct recording *r = &p->recording;

    for (unsigned i = 0; r->process != NULL && i < p->chip.slots_used; i++) {
        recording_thread_ends(p, i);
        if (p->strands[i] != NULL) {
            p->strands[i]->recorder = NULL;
            p->strands[i]->callers = NULL;
            p->strands[i]->branches = r->spare;
        }
    }
    phases_stop(p);
    data_objects_end(&r->objects);
    waits_end(p);
    p->chip.reasons = NULL;
    p->chip.classes = NULL;
    classes_finish(&r->classes);
    reasons_finish(&r->reasons);
    numbering_finish(&r->stride_keys);
    free(r->strides);
    r->strides = NULL;
    r->stride_room = 0;
    for (unsigned i = 0; i < COUNTS_FILES; i++) {
        if (r->pads[i] != NULL)
            landing_pads_finish(r->pads[i]);
        free(r->pads[i]);
        r->pads[i] = NULL;
    }
    record_unmap(r->process);
    r->process = NULL;
}

/* In a forked child: no reasons are recorded yet. The code that is translated
 * knows its instructions by their numbers. */
static void
fork_reasons(struct recording *r, const struct record_process *old)
{
    for (uint32_t i = 0; i < r->stride_count; i++) {
        r->process->strides[i].place = old->strides[i].place;
        r->process->strides[i].pieces = old->strides[i].pieces;
    }
    atomic_store(&r->process->stride_count, r->stride_count);
    reasons_fork(&r->reasons, r->process);
    tally_plugin.chip.moves = NULL; /* are of the first program */
}

void
recording_forks(struct plugin *p, unsigned slot)
{
    struct recording *r = &p->recording;
    struct record_process *old = r->process;
    struct recording_thread *t =
        slot < COUNTS_STRANDS ? r->threads[slot] : NULL;
    const size_t places = p->table.index_count * sizeof(struct record_place);

    if (old == NULL)
        return;
    for (unsigned i = 0; i < COUNTS_STRANDS; i++) {
        if (i != slot)
            recording_thread_ends(p, i);
    }
    own_counts_open(p);
    r->process = record_map(&p->process, NULL);
    if (t != NULL &&
        record_map_strand(&p->process, slot, t->recorder.record) == NULL)
        r->process = NULL;
    own_counts_close(p);
    if (r->process == NULL)
        plugin_no_memory(p->process.head, "the recording of a forked child");
    data_objects_fork(&r->objects, r->process);
    phases_fork(p);
    waits_forks(p, slot, r->process);
    if (p->request.reasons != 0)
        fork_reasons(r, old);
    /* The lines that are in came in for the parent. */
    if (t != NULL && p->request.all_accesses != 0) {
        lines_finish(&t->lines);
        make_lines(p, t);
    }
    const unsigned size = atomic_load(&old->code_size);
    memcpy(r->process->places, old->places, places);
    memcpy(r->process->code, old->code, size);
    atomic_store(&r->process->code_size, size);
    record_unmap(old);
    if (p->strands[slot] != NULL)
        recording_thread_starts(p, slot);
    if (p->strands[slot] != NULL && p->strands[slot]->callers != NULL)
        p->strands[slot]->cell = callers_fork(p->strands[slot]->callers);
}

void
recording_ends(struct plugin *p)
{
    if (p->recording.process != NULL)
        record_release(&p->process, atomic_load(&p->process.head->strands));
}

void
recording_memory_changes(struct plugin *p)
{
    p->recording.first = 1;
    p->recording.last = 0;
}

/* Notes the program's own code, which QEMU has copied into memory of its own
 * where the file's pages do not fit the host's. */
static unsigned
find_program(struct plugin *p, uint64_t pc)
{
    const struct session_request *r = &p->request;
    const uint64_t start = p->executed ? 0 : r->code + p->load_bias;
    struct counts_file file = {
        .first = start,
        .last = start + r->code_size - 1,
        .offset = r->code_offset,
    };

    if (p->executed || p->program == NULL || pc < file.first || pc > file.last)
        return 0;
    snprintf(file.path, sizeof(file.path), "%s", p->program);
    p->recording.first = file.first;
    p->recording.last = file.last;
    return mapped_add(p->process.head, &file);
}

uint32_t
recording_image(struct plugin *p, uint64_t pc)
{
    struct recording *r = &p->recording;

    /* A trace is made without a recording, and what is left out of that takes
     * no part of a turn either. */
    if (r->process == NULL && !p->steps.runs && p->request.objects[0] == '\0')
        return 0;
    if (pc < r->first || pc > r->last) {
        r->image = mapped_find(p->process.head, pc, &r->first, &r->last);
        if (r->image == 0)
            r->image = find_program(p, pc);
    }
    return r->image;
}

bool
recording_leaves_out(struct plugin *p, uint64_t pc)
{
    const uint32_t image =
        p->request.objects[0] != '\0' ? recording_image(p, pc) : 0;

    return image != 0 && strcmp(p->process.head->file[image - 1].path,
                                p->request.objects) == 0;
}

/* Takes the address of an access to the stack. */
static void
on_stack_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr,
                void *data)
{
    struct data_objects *const d = data;

    (void)vcpu, (void)info;
    if (d->stack.last < d->stack.first)
        data_objects_stack(d, addr);
}

void
recording_find_stack(struct plugin *p, struct qemu_plugin_tb *tb,
                     const struct insn *insns, size_t count)
{
    struct data_objects *const d = &p->recording.objects;
    const int8_t pointer = p->shape.isa->stack_pointer;

    if (d->process == NULL || d->stack.last >= d->stack.first)
        return;
    for (size_t i = 0; i < count; i++) {
        if (insns[i].access == ACCESS_NONE || !insns[i].addr_known ||
            insns[i].addr_base != pointer)
            continue;
        qemu_plugin_register_vcpu_mem_cb(
            qemu_plugin_tb_get_insn(tb, i), on_stack_access,
            QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, d);
        return;
    }
}

/* What an access tells: the distance of its address from the stack pointer. */
static void
on_pointer(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *data)
{
    struct strand *const s = tally_plugin.strands[vcpu];

    (void)info;
    if (s != NULL && s->callers != NULL)
        callers_tell(s->callers, addr - (uint64_t)(intptr_t)data);
}

/* As on_pointer(), of the register with the caller's stack pointer. */
static void
on_caller_pointer(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr,
                  void *data)
{
    struct strand *const s = tally_plugin.strands[vcpu];

    (void)info;
    if (s != NULL && s->callers != NULL)
        callers_tell_caller(s->callers, addr - (uint64_t)(intptr_t)data);
}

/* Registers the last access of a block whose address is at a fixed distance
 * from what a register has. */
static void
register_pointer(struct qemu_plugin_tb *tb, const struct insn *insns,
                 size_t count, int8_t base, int64_t bias,
                 qemu_plugin_vcpu_mem_cb_t call)
{
    for (size_t i = count; i > 0; i--) {
        const struct insn *insn = &insns[i - 1];
        if (insn->access == ACCESS_NONE || !insn->addr_known ||
            insn->addr_base != base || insn->addr_scale != 0)
            continue;
        qemu_plugin_register_vcpu_mem_cb(
            qemu_plugin_tb_get_insn(tb, i - 1), call, QEMU_PLUGIN_CB_NO_REGS,
            QEMU_PLUGIN_MEM_RW, (void *)(intptr_t)(insn->addr_disp - bias));
        return;
    }
}

/* Has calls of x86-64, which write their return address to the stack, tell the
 * stack pointer; elsewhere, accesses by it. */
static void
register_pointers(const struct plugin *p, struct qemu_plugin_tb *tb,
                  const struct insn *insns, size_t count)
{
    const struct isa *const isa = p->shape.isa;
    const int64_t bias = isa->stack_bias;

    if (isa->slots != SLOTS_NONE) {
        register_pointer(tb, insns, count, isa->stack_pointer, bias,
                         on_pointer);
        if (isa->frame_pointer >= 0)
            register_pointer(tb, insns, count, isa->frame_pointer, bias,
                             on_caller_pointer);
        return;
    }
    if (insns[count - 1].branch == BRANCH_CALL ||
        insns[count - 1].branch == BRANCH_INDIRECT_CALL)
        qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, count - 1),
                                         on_pointer, QEMU_PLUGIN_CB_NO_REGS,
                                         QEMU_PLUGIN_MEM_W, NULL);
}

/* Counts an access for its object. */
static inline void
count_use(const struct strand *s, uintptr_t use, uint64_t addr, bool store,
          unsigned size, uint32_t number)
{
    struct lines *const lines = s->recorder->lines;
    const struct moves *const moves = s->chip->moves;
    struct record_use *const object = &lines->uses[number];

    if (store)
        object->stores += use & USE_EIGHTHS;
    /* QEMU shows an atomic as a load and a store, or where several threads run
     * as a store alone. */
    if ((use & USE_ATOMIC) != 0 ? store : !store)
        object->loads += use & USE_EIGHTHS;
    if ((use & (store ? USE_PASSING_STORES : USE_PASSING_LOADS)) == 0)
        lines_touch(lines,
                    moves_object(moves, number) ? moves_address(moves, addr)
                                                : addr,
                    size);
}

/* Counts how far an access is from the instruction's last. */
static inline void
count_stride(const struct strand *s, uintptr_t use, uint64_t addr, bool store)
{
    const uint64_t number =
        use >> (store ? USE_STORES_SHIFT : USE_LOADS_SHIFT) & USE_STRIDE;
    struct record_process *const process = tally_plugin.recording.process;

    if (number != 0 && process != NULL)
        strides_note(&process->strides[number - 1], s->counts->thread, addr);
}

/* Tells an access to those who say why data miss. */
static void
tell_access(struct strand *s, uintptr_t use, uint64_t addr, bool store,
            unsigned size, uint32_t object)
{
    const unsigned whole = (use & USE_EIGHTHS) < 8 && (use & USE_EIGHTHS) != 0
                               ? 64u / (unsigned)(use & USE_EIGHTHS)
                               : size;

    classes_access(s, &(struct classes_access){
                          .addr = addr,
                          .size = size,
                          .all = whole > size ? whole : size,
                          .object = object,
                          .store = store,
                          .passes = (use & USE_FLOAT) != 0,
                      });
}

/* An instruction begins for which QEMU does not show as many accesses as the
 * instruction counts. `data`: its loads, and 256 times its stores. They are of
 * no object until QEMU shows one. */
static void
on_begin(unsigned vcpu, void *data)
{
    struct strand *const s = tally_plugin.strands[vcpu];
    const uintptr_t due = (uintptr_t)data;

    if (s == NULL || s->recorder == NULL || s->recorder->lines == NULL)
        return;
    struct recording_thread *const t = tally_plugin.recording.threads[vcpu];
    struct record_use *const none = &t->lines.uses[0];
    t->loads_due = t->stores_due = 0;
    if (s->recorder->outside)
        return;
    t->loads_due = (uint8_t)due;
    t->stores_due = (uint8_t)(due >> 8);
    none->loads += 8u * t->loads_due;
    none->stores += 8u * t->stores_due;
}

/* Returns the use for what on_begin() has told the instruction of: an access
 * whose object is now known, or, once all have one, a piece that is no access
 * and no step. */
static uintptr_t
take_due(unsigned vcpu, uintptr_t use, bool store)
{
    struct recording_thread *const t = tally_plugin.recording.threads[vcpu];
    struct record_use *const none = &t->lines.uses[0];
    uint8_t *const due = store ? &t->stores_due : &t->loads_due;

    if (*due == 0)
        return use & ((UINT64_C(1) << USE_LOADS_SHIFT) - 1) &
               ~(uintptr_t)USE_EIGHTHS;
    (*due)--;
    *(store ? &none->stores : &none->loads) -= 8;
    return (use & ~(uintptr_t)USE_EIGHTHS) | 8;
}

/* Counts an access for its object and its stride. `begun`: on_begin() has told
 * its instruction. */
static inline void
take_use(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr,
         uintptr_t use, bool begun)
{
    struct strand *const s = tally_plugin.strands[vcpu];

    if (s == NULL || s->recorder == NULL || s->recorder->lines == NULL)
        return;
    const bool store = qemu_plugin_mem_is_store(info);
    const unsigned size = 1u << qemu_plugin_mem_size_shift(info);
    if (s->recorder->lines->seen != s->queue.next)
        recorder_asks(s);
    if (s->chip->classes == NULL && s->recorder->outside)
        return;
    const uint32_t object = recorder_object(s, addr);
    if (s->chip->classes != NULL)
        tell_access(s, use, addr, store, size, object);
    if (s->recorder->outside)
        return;
    if (begun)
        use = take_due(vcpu, use, store);
    count_use(s, use, addr, store, size, object);
    count_stride(s, use, addr, store);
}

static void
on_use(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *data)
{
    take_use(vcpu, info, addr, (uintptr_t)data, false);
}

static void
on_begun_use(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr,
             void *data)
{
    take_use(vcpu, info, addr, (uintptr_t)data, true);
}

/* Returns whether QEMU may show more or fewer accesses than the instruction
 * counts: the state of an FPU (XSAVE), a block of SPARC, what a mask leaves
 * out, a store conditional. */
static bool
is_begun(const struct insn *insn)
{
    return insn->access == ACCESS_MIXED || (insn->flags & INSN_NO_FAULT) != 0;
}

/* Returns the number of the stride that counts for all blocks that an
 * instruction stands in: for its loads or its stores, the first that was begun.
 * Code that was made again at an address is another instruction. `stride`: of
 * this block. */
static uint32_t
stride_of_all(struct recording *r, const struct qemu_plugin_insn *insn,
              size_t size, bool stores, uint32_t stride)
{
    uint64_t key[4] = {qemu_plugin_insn_vaddr(insn), 2 * size + stores};
    uint8_t room[QEMU_INSN_BYTES];

    if (size > 2 * sizeof(key[0]))
        return stride;
    memcpy(&key[2], qemu_insn_bytes(insn, room), size);
    const size_t known = r->stride_keys.count;
    const uint32_t number = numbering_add(&r->stride_keys, key);
    if (number == NUMBERING_NONE)
        return stride;
    if (number >= r->stride_room) {
        const size_t wanted = 2 * (size_t)number + 256;
        uint32_t *const more = realloc(r->strides, wanted * sizeof(*more));
        if (more == NULL)
            plugin_no_memory(tally_plugin.process.head, "strides");
        r->strides = more;
        r->stride_room = wanted;
    }
    if (number == known)
        r->strides[number] = stride;
    return r->strides[number];
}

/* Begins a stride of the loads or the stores of an instruction at `place`.
 * Returns the number + 1 of the stride that counts; 0: there is no room. A
 * stride of another block tells its place alone. */
static uintptr_t
begin_stride(struct recording *r, const struct insn *insn,
             const struct qemu_plugin_insn *its, uint64_t place, bool stores)
{
    const uint32_t stride = r->stride_count;
    const uint64_t name = place | (stores ? RECORD_STRIDE_STORES : 0);

    if (stride == RECORD_STRIDES)
        return 0;
    const uint32_t counts = stride_of_all(r, its, insn->size, stores, stride);
    if (counts != stride && r->process->strides[counts].place == name)
        return counts + UINT32_C(1); /* the block is translated again */
    r->process->strides[stride].place = name;
    r->process->strides[stride].pieces =
        insn->access_size > 8 && !is_begun(insn) ? insn->access_size / 8u : 1;
    atomic_store(&r->process->stride_count, ++r->stride_count);
    return counts + UINT32_C(1);
}

/* Begins the strides of an instruction, and returns them as on_use() has them.
 */
static uintptr_t
begin_strides(struct recording *r, const struct insn *insn,
              const struct qemu_plugin_insn *its, uint64_t place)
{
    uintptr_t use = 0;

    if (insn->access != ACCESS_STORE)
        use |= begin_stride(r, insn, its, place, false) << USE_LOADS_SHIFT;
    if (insn->access != ACCESS_LOAD && insn->access != ACCESS_FLOAT)
        use |= begin_stride(r, insn, its, place, true) << USE_STORES_SHIFT;
    return use;
}

/* Registers all accesses of a block. */
static void
register_uses(struct plugin *p, struct qemu_plugin_tb *tb, uint32_t index,
              const struct insn *insns, size_t count)
{
    const bool is_l1d = level_of_uses(p) == CACHE_L1D;

    for (size_t i = 0; i < count; i++) {
        const struct insn *insn = &insns[i];
        /* QEMU shows an access of more than 8 bytes in pieces of 8. */
        const unsigned size = insn->access_size;
        uintptr_t use = size > 8 && size <= 64 ? 64 / size : 8;
        if (insn->access == ACCESS_NONE)
            continue;
        if (p->chip.write_through && is_l1d)
            use |= USE_PASSING_STORES;
        if (insn->access == ACCESS_FLOAT)
            use |= is_l1d ? USE_FLOAT | USE_PASSING_LOADS : USE_FLOAT;
        if (insn->access == ACCESS_ATOMIC)
            use |= USE_ATOMIC;
        struct qemu_plugin_insn *const its = qemu_plugin_tb_get_insn(tb, i);
        if (p->request.reasons != 0 && index != RECORD_NO_ROOM)
            use |= begin_strides(&p->recording, insn, its,
                                 record_reason_place(index + 1, (unsigned)i));
        const bool begun = is_begun(insn);
        if (begun)
            qemu_plugin_register_vcpu_insn_exec_cb(
                its, on_begin, QEMU_PLUGIN_CB_NO_REGS,
                (void *)(uintptr_t)(insn->loads | insn->stores << 8));
        qemu_plugin_register_vcpu_mem_cb(its, begun ? on_begun_use : on_use,
                                         QEMU_PLUGIN_CB_NO_REGS,
                                         QEMU_PLUGIN_MEM_RW, (void *)use);
    }
}

void
recording_register(struct plugin *p, struct qemu_plugin_tb *tb, uint32_t index,
                   const struct insn *insns, size_t count)
{
    if (p->recording.objects.process == NULL || count == 0)
        return;
    register_pointers(p, tb, insns, count);
    if (p->request.all_accesses != 0)
        register_uses(p, tb, index, insns, count);
    if (allocators_ask_pointer(&p->recording.allocators, insns, count))
        allocators_register_pointer(&p->recording.allocators, tb);
    allocators_register(&p->recording.allocators, tb);
}

uint32_t
recording_code(struct plugin *p, struct qemu_plugin_tb *tb,
               const struct insn *insns, size_t count)
{
    struct record_process *record = p->recording.process;
    size_t size = count;

    if (record == NULL)
        return 0;
    for (size_t i = 0; i < count; i++)
        size += insns[i].size;
    const unsigned at = atomic_load(&record->code_size);
    if (size > RECORD_CODE - at)
        return UINT32_MAX;
    unsigned char *sizes = record->code + at, *bytes = sizes + count;
    for (size_t i = 0; i < count; i++) {
        uint8_t room[QEMU_INSN_BYTES];
        sizes[i] = insns[i].size;
        memcpy(bytes, qemu_insn_bytes(qemu_plugin_tb_get_insn(tb, i), room),
               sizes[i]);
        bytes += sizes[i];
    }
    atomic_store(&record->code_size, at + (unsigned)size);
    return at;
}

void
recording_place(struct plugin *p, const struct block *block, uint32_t code,
                uint32_t image, unsigned instructions, unsigned piece)
{
    if (p->recording.process == NULL)
        return;
    p->recording.process->places[block->index] = (struct record_place){
        .pc = block->pc,
        .code = code,
        .image = image,
        .instructions = (uint16_t)(code == UINT32_MAX ? 0 : instructions),
        .piece = (uint8_t)piece,
    };
}
