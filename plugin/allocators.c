/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/allocators.h"

#include <elf.h>

#include "plugin/memory.h"
#include "plugin/plugin.h"

/* SPARC returns behind a word with the size of a struct. */
#define RETURN_SKIPS 4u

void
allocators_begin(struct plugin *p)
{
    struct allocators *a = &p->recording.allocators;

    a->is_found = registers_find(&a->registers, p->shape.isa);
    if (p->executed || !a->is_found)
        return;
    a->rows = p->request.allocators;
    a->bias = p->load_bias;
    a->count = p->request.allocator_count;
}

static const struct session_allocator *
allocator_at(const struct allocators *a, uint64_t pc)
{
    for (unsigned i = 0; i < a->count; i++) {
        if (a->rows[i].address + a->bias == pc)
            return &a->rows[i];
    }
    return NULL;
}

bool
allocators_enter(const struct allocators *a, uint64_t pc)
{
    return allocator_at(a, pc) != NULL;
}

static uint64_t
argument(const struct allocators *a, unsigned vcpu, unsigned number)
{
    uint64_t value = 0;

    registers_read(&a->registers, vcpu, number, &value);
    return value;
}

/* Returns whether the registers are those that the call is known to have left:
 * the stack pointer on x86-64, and else the return address. */
static bool
is_true(const struct allocators *a, unsigned vcpu,
        const struct callers_called *called)
{
    uint64_t value;

    if (registers_read(&a->registers, vcpu, REGISTERS_BACK, &value))
        return value + a->registers.isa->return_behind == called->back;
    return registers_read(&a->registers, vcpu, REGISTERS_POINTER, &value) &&
           value == called->pointer;
}

/* Takes what an allocator is asked for. */
static void
take_arguments(const struct allocators *a, unsigned vcpu,
               const struct session_allocator *row, struct allocator_call *call)
{
    const uint64_t first = argument(a, vcpu, 0), second = argument(a, vcpu, 1);

    switch (row->kind) {
    case ALLOCATOR_FREE:
        call->old = first;
        break;
    case ALLOCATOR_CALLOC:
        if (__builtin_mul_overflow(first, second, &call->size))
            call->size = 0;
        break;
    case ALLOCATOR_REALLOC:
        call->old = first;
        call->size = second;
        break;
    case ALLOCATOR_ALIGNED:
        call->size = second;
        break;
    case ALLOCATOR_POSIX_MEMALIGN:
        call->out = first;
        call->size = argument(a, vcpu, 2);
        break;
    default:
        call->size = argument(a, vcpu, row->argument - 1);
    }
}

/* An allocator is entered; its block has been, too. */
static void
on_entry(unsigned vcpu, void *data)
{
    const struct session_allocator *row = data;
    struct recording *r = &tally_plugin.recording;
    struct strand *s = tally_plugin.strands[vcpu];
    struct callers_called called;

    if (s == NULL || s->callers == NULL || vcpu >= COUNTS_STRANDS ||
        r->threads[vcpu] == NULL)
        return;
    struct allocator_call *call = &r->threads[vcpu]->allocator;
    if (!callers_called(s->callers, &called) ||
        (call->back != 0 && called.depth > call->depth) ||
        !is_true(&r->allocators, vcpu, &called))
        return;
    *call = (struct allocator_call){.back = called.back, .depth = called.depth};
    take_arguments(&r->allocators, vcpu, row, call);
    if (row->kind == ALLOCATOR_FREE) {
        strand_drain(s); /* what was asked before is of the block */
        data_objects_give(&r->objects, 0, 0, 0, call->old);
        call->back = 0;
    } else {
        call->object = data_objects_site(&r->objects, s->callers, row->name);
    }
}

/* A block is entered that an allocator may return to. */
static void
on_block(unsigned vcpu, void *data)
{
    struct recording *r = &tally_plugin.recording;
    struct recording_thread *t =
        vcpu < COUNTS_STRANDS ? r->threads[vcpu] : NULL;
    const uint64_t pc = (uintptr_t)data;
    uint64_t result;

    if (__builtin_expect(t == NULL || t->allocator.back == 0, 1) ||
        (pc != t->allocator.back && pc != t->allocator.back + RETURN_SKIPS))
        return;
    const struct allocator_call call = t->allocator;
    t->allocator.back = 0;
    if (!registers_read(&r->allocators.registers, vcpu, REGISTERS_RESULT,
                        &result))
        return;
    if (call.out != 0 &&
        (result != 0 ||
         !plugin_read_word(r->allocators.registers.isa, call.out, &result)))
        return;
    strand_drain(tally_plugin.strands[vcpu]);
    if (result != 0 || call.size == 0)
        data_objects_give(&r->objects, call.object, result, call.size,
                          call.old);
}

bool
allocators_ask_pointer(const struct allocators *a, const struct insn *insns,
                       size_t count)
{
    const struct isa *const isa = a->registers.isa;
    bool calls = false;

    if (!a->is_found || isa->slots == SLOTS_NONE)
        return false;
    for (size_t i = 0; i < count; i++) {
        calls |= insns[i].branch == BRANCH_CALL ||
                 insns[i].branch == BRANCH_INDIRECT_CALL;
        if ((insns[i].flags & (INSN_SAVE | INSN_RESTORE)) != 0 ||
            (insns[i].reg_writes >> isa->stack_pointer & 1) != 0)
            return false;
    }
    return calls;
}

/* A block is entered that ends with a call. */
static void
on_calling_block(unsigned vcpu, void *data)
{
    const struct allocators *a = data;
    struct strand *s = tally_plugin.strands[vcpu];
    uint64_t pointer;

    if (s == NULL || s->callers == NULL || s->callers->pointer != 0 ||
        !registers_read(&a->registers, vcpu, REGISTERS_POINTER, &pointer))
        return;
    callers_tell(s->callers, pointer + a->registers.isa->stack_bias);
}

void
allocators_register_pointer(const struct allocators *a,
                            struct qemu_plugin_tb *tb)
{
    qemu_plugin_register_vcpu_tb_exec_cb(
        tb, on_calling_block, QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)a);
}

/* Returns whether the bytes before `end` may be a call of x86-64: one with its
 * distance, or one whose operand is a register or memory. */
static bool
may_be_call(const uint8_t *end)
{
    static const uint8_t sizes[] = {2, 3, 4, 6, 7};

    if (end[-5] == 0xe8)
        return true;
    for (size_t i = 0; i < sizeof(sizes); i++) {
        const uint8_t *at = end - sizes[i];
        if (at[0] == 0xff && (at[1] >> 3 & 7) == 2)
            return true;
    }
    return false;
}

#define BEFORE 12u /* bytes in front of where a call returns to, at most */

bool
allocators_may_follow_call(const struct isa *isa, uint64_t pc)
{
    struct insn insn;
    bool calls = false;

    if (pc % isa->page < BEFORE)
        return true; /* the page before may not be there */
    if (isa->slots == SLOTS_NONE)
        return may_be_call(plugin_memory(pc));
    for (unsigned back = 8; back <= BEFORE; back += RETURN_SKIPS) {
        insn_decode(isa, plugin_memory(pc - back), 4, pc - back, &insn);
        calls |=
            insn.branch == BRANCH_CALL || insn.branch == BRANCH_INDIRECT_CALL;
    }
    return calls;
}

void
allocators_register(const struct allocators *a, struct qemu_plugin_tb *tb)
{
    const uint64_t pc = qemu_plugin_tb_vaddr(tb);

    if (a->count == 0)
        return;
    const struct session_allocator *const row = allocator_at(a, pc);
    if (allocators_may_follow_call(a->registers.isa, pc))
        qemu_plugin_register_vcpu_tb_exec_cb(
            tb, on_block, QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)pc);
    if (row != NULL)
        qemu_plugin_register_vcpu_tb_exec_cb(
            tb, on_entry, QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)row);
}
