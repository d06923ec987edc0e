/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/early.h"

#include <endian.h>

#include "plugin/calls.h"
#include "plugin/memory.h"
#include "plugin/qemu.h"

/* The same numbers for the guests of all architectures, but for SIGBUS. */
#define GUEST_SIGILL 4
#define GUEST_SIGTRAP 5
#define GUEST_SIGFPE 8
#define GUEST_SIGSEGV 11
#define GUEST_CLD_KILLED 2
#define GUEST_CLD_DUMPED 3
#define GUEST_WNOWAIT 0x01000000u

bool
early_is_raised(const struct isa *isa, uint64_t signal)
{
    return signal == GUEST_SIGILL || signal == GUEST_SIGTRAP ||
           signal == GUEST_SIGFPE || signal == GUEST_SIGSEGV ||
           signal == isa->sigbus;
}

/* Returns what is known of a handler that begins at the address, or NULL. */
static struct early_handler *
find_handler(struct early *e, uint64_t pc)
{
    for (unsigned i = 0; i < e->handler_count; i++)
        if (e->handlers[i].pc == pc)
            return &e->handlers[i];
    return NULL;
}

static void
note_early(const struct early *e)
{
    atomic_fetch_add(&e->process->head->left_early, 1);
}

/* Notes where a handler begins. Returns whether QEMU has translated that code
 * already. */
static bool
add_handler(struct early *e, uint64_t pc, bool raised)
{
    bool translated = false;

    pthread_mutex_lock(e->lock);
    struct early_handler *handler = find_handler(e, pc);
    if (handler == NULL && e->handler_count == EARLY_HANDLERS) {
        pthread_mutex_unlock(e->lock);
        if (raised)
            note_early(e); /* whether it is called nobody sees */
        return false;
    }
    if (handler == NULL) {
        handler = &e->handlers[e->handler_count++];
        *handler = (struct early_handler){.early = e, .pc = pc};
    }
    if (!handler->raised && (raised || (e->all && !handler->other)))
        translated =
            !blocks_have_room(e->blocks) || blocks_begin_at(e->blocks, pc);
    handler->raised |= raised;
    handler->other |= !raised;
    pthread_mutex_unlock(e->lock);
    return translated;
}

bool
early_syscall(struct early *e, int64_t number, const uint64_t args[4])
{
    const struct isa *isa = e->shape->isa;
    uint64_t pc;

    return call_is(CALL_RT_SIGACTION, isa, number) && args[1] != 0 &&
           plugin_read_word(isa, args[1] + isa->handler_at, &pc) && pc > 1 &&
           add_handler(e, pc, early_is_raised(isa, args[0]));
}

/* Notes that a signal ended a child. */
static void
note_death(const struct early *e, uint32_t signal)
{
    atomic_fetch_add(&e->process->head->told, 1);
    if (early_is_raised(e->shape->isa, signal))
        note_early(e);
}

static bool
read_int(const struct isa *isa, uint64_t addr, uint32_t *value)
{
    if (addr == 0 || !plugin_read(addr, value, sizeof(*value)))
        return false;
    *value = isa->big_endian ? be32toh(*value) : le32toh(*value);
    return true;
}

void
early_return(const struct early *e, int64_t number, const uint64_t args[4],
             int64_t result)
{
    const struct isa *isa = e->shape->isa;
    uint32_t status, code;

    if (call_is(CALL_WAIT4, isa, number) ||
        call_is(CALL_WAITPID, isa, number)) {
        /* 127: it has stopped or goes on. */
        if (result > 0 && read_int(isa, args[1], &status) &&
            (status & 127) != 0 && (status & 127) != 127)
            note_death(e, status & 127);
    } else if (call_is(CALL_WAITID, isa, number)) {
        /* siginfo_t: the cause, and behind the child's user how it ended. */
        if (result == 0 && (args[3] & GUEST_WNOWAIT) == 0 &&
            read_int(isa, args[2] + isa->cause_at, &code) &&
            (code == GUEST_CLD_KILLED || code == GUEST_CLD_DUMPED) &&
            read_int(isa, args[2] + 24, &status))
            note_death(e, status);
    }
}

bool
early_begins_handler(struct early *e, uint64_t pc)
{
    return find_handler(e, pc) != NULL;
}

/* Counts the block before as left, unless its handler is one of other signals
 * too, or the strand of the thread counts nothing now. */
static void
on_early(unsigned vcpu, void *data)
{
    const struct early_handler *const handler = data;
    const struct early *const e = handler->early;

    if (!handler->other && e->strands[vcpu] != NULL &&
        !e->strands[vcpu]->span.outside)
        note_early(e);
}

/* Returns whether the instruction at the address goes on in the next page. */
static bool
crosses_page(const struct block_shape *shape, uint64_t pc)
{
    const uint64_t left = shape->page - (pc & (shape->page - 1));
    uint8_t bytes[QEMU_INSN_BYTES];
    struct insn insn;

    return left < sizeof(bytes) && plugin_read(pc, bytes, left) &&
           !insn_decode(shape->isa, bytes, left, pc, &insn);
}

/*
 * Returns whether the block is a write that QEMU repeats: alone, as QEMU makes
 * no other block that ends for no reason seen behind an instruction that it
 * knows. One that goes on in the next page is alone for that, and one may end
 * where the next instruction does so.
 */
static bool
is_repeated(const struct block_shape *shape, const struct block *block,
            const struct insn *insns, size_t count)
{
    return shape->isa->write_repeated && count == 1 &&
           (block->flags & BLOCK_ODD) != 0 &&
           (insns[0].flags & INSN_ILLEGAL) == 0 && insns[0].stores > 0 &&
           (block->pc & ~(shape->page - 1)) ==
               ((block->end - 1) & ~(shape->page - 1)) &&
           !crosses_page(shape, block->end);
}

void
early_register(struct early *e, struct qemu_plugin_tb *tb,
               const struct block *block, const struct insn *insns,
               size_t count)
{
    struct early_handler *handler = find_handler(e, block->pc);

    if (handler != NULL && !handler->raised)
        handler = NULL;
    if (handler == NULL && is_repeated(e->shape, block, insns, count)) {
        handler = &e->write;
        handler->early = e;
    }
    if (handler != NULL)
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_early,
                                             QEMU_PLUGIN_CB_NO_REGS, handler);
}
