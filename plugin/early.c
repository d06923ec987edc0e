/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/early.h"

#include <endian.h>
#include <string.h>

#include "plugin/blocks.h"
#include "plugin/calls.h"

/* The same numbers for the guests of all architectures, but for SIGBUS. */
#define GUEST_SIGILL 4
#define GUEST_SIGTRAP 5
#define GUEST_SIGFPE 8
#define GUEST_SIGSEGV 11
#define GUEST_CLD_KILLED 2
#define GUEST_CLD_DUMPED 3
#define GUEST_WNOWAIT 0x01000000u

#define HANDLERS 64

/* Where the handlers of the process begin, and of which signals they are: those
 * that instructions raise, and others. Of a handler of both nobody sees which
 * of them came. Under the lock of translation. */
static struct handler {
    uint64_t pc;
    bool raised, other;
} handlers[HANDLERS];
static unsigned handler_count;

static __thread uint64_t call_args[4];

/* Returns whether instructions raise the signal. */
static bool
is_raised(uint64_t signal)
{
    return signal == GUEST_SIGILL || signal == GUEST_SIGTRAP ||
           signal == GUEST_SIGFPE || signal == GUEST_SIGSEGV ||
           signal == tally_plugin.shape.isa->sigbus;
}

static void
note_early(void)
{
    atomic_fetch_add(&tally_plugin.process.head->left_early, 1);
}

/* Notes where a handler begins. Where QEMU has translated that code already, it
 * does so once more. */
static void
add_handler(struct plugin *p, uint64_t pc, bool raised)
{
    bool translated = false;
    unsigned i = 0;

    pthread_mutex_lock(&p->lock);
    while (i < handler_count && handlers[i].pc != pc)
        i++;
    if (i == HANDLERS) {
        pthread_mutex_unlock(&p->lock);
        if (raised)
            note_early(); /* whether it is called nobody sees */
        return;
    }
    if (i == handler_count)
        handlers[handler_count++] = (struct handler){.pc = pc};
    if (raised && !handlers[i].raised)
        translated = !blocks_have_room(p) || blocks_begin_at(p, pc);
    handlers[i].raised |= raised;
    handlers[i].other |= !raised;
    pthread_mutex_unlock(&p->lock);
    if (translated)
        plugin_reset();
}

void
early_syscall(int64_t number, const uint64_t args[4])
{
    const struct isa *isa = tally_plugin.shape.isa;
    uint64_t pc;

    memcpy(call_args, args, sizeof(call_args));
    if (call_is(CALL_RT_SIGACTION, isa, number) && args[1] != 0 &&
        plugin_read_word(args[1] + isa->handler_at, &pc) && pc > 1)
        add_handler(&tally_plugin, pc, is_raised(args[0]));
}

/* Notes that a signal ended a child. */
static void
note_death(uint32_t signal)
{
    atomic_fetch_add(&tally_plugin.process.head->told, 1);
    if (is_raised(signal))
        note_early();
}

static bool
read_int(uint64_t addr, uint32_t *value)
{
    if (addr == 0 || !plugin_read(addr, value, sizeof(*value)))
        return false;
    *value =
        tally_plugin.shape.isa->big_endian ? be32toh(*value) : le32toh(*value);
    return true;
}

void
early_return(int64_t number, int64_t result)
{
    const struct isa *isa = tally_plugin.shape.isa;
    uint32_t status, code;

    if (call_is(CALL_WAIT4, isa, number) ||
        call_is(CALL_WAITPID, isa, number)) {
        /* 127: it has stopped or goes on. */
        if (result > 0 && read_int(call_args[1], &status) &&
            (status & 127) != 0 && (status & 127) != 127)
            note_death(status & 127);
    } else if (call_is(CALL_WAITID, isa, number)) {
        /* siginfo_t: the cause, and behind the child's user how it ended. */
        if (result == 0 && (call_args[3] & GUEST_WNOWAIT) == 0 &&
            read_int(call_args[2] + isa->cause_at, &code) &&
            (code == GUEST_CLD_KILLED || code == GUEST_CLD_DUMPED) &&
            read_int(call_args[2] + 24, &status))
            note_death(status);
    }
}

/* `data`: the handler that is entered, or NULL. */
static void
on_early(unsigned vcpu, void *data)
{
    const struct handler *const handler = data;

    if ((handler == NULL || !handler->other) &&
        tally_plugin.strands[vcpu] != NULL &&
        !tally_plugin.strands[vcpu]->span.outside)
        note_early();
}

/*
 * Returns whether the block is a write that QEMU repeats: alone, as QEMU makes
 * no other block that ends for no reason seen behind an instruction that it
 * knows. One that goes on in the next page is alone for that.
 */
static bool
is_repeated(const struct plugin *p, const struct block *block,
            const struct insn *insns, size_t count)
{
    return p->shape.isa->write_repeated && count == 1 &&
           (block->flags & BLOCK_ODD) != 0 &&
           (insns[0].flags & INSN_ILLEGAL) == 0 && insns[0].stores > 0 &&
           (block->pc & ~(p->shape.page - 1)) ==
               ((block->end - 1) & ~(p->shape.page - 1));
}

void
early_register(const struct plugin *p, struct qemu_plugin_tb *tb,
               const struct block *block, const struct insn *insns,
               size_t count)
{
    struct handler *handler = NULL;

    for (unsigned i = 0; i < handler_count; i++)
        if (handlers[i].pc == block->pc && handlers[i].raised)
            handler = &handlers[i];
    if (handler != NULL || is_repeated(p, block, insns, count))
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_early,
                                             QEMU_PLUGIN_CB_NO_REGS, handler);
}
