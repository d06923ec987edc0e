/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/mpi.h"

#include <stdlib.h>
#include <string.h>

#include "machine/pages.h"
#include "machine/strand.h"
#include "plugin/allocators.h"
#include "plugin/mapped.h"
#include "plugin/memory.h"
#include "plugin/plugin.h"
#include "plugin/span.h"

bool
mpi_begin(struct plugin *p)
{
    struct mpi *const m = &p->mpi;

    m->runs = p->request.mpi != 0;
    m->first = 1;
    m->last = 0;
    m->start = NO_LINE;
    return !m->runs || registers_find(&m->registers, &isa_rows[p->request.isa]);
}

int
mpi_set_up(struct plugin *p, uint64_t components)
{
    struct mpi *const m = &p->mpi;

    if (!m->runs)
        return 0;
    chip_finish(&m->chip);
    memset(&m->chip, 0, sizeof(m->chip));
    const int error =
        chip_init(&m->chip, p->request.params, components, COUNTS_VCPUS);
    m->chip.huge = p->huge_pages.mappings.huge;
    return error;
}

void
mpi_memory_changes(struct plugin *p)
{
    p->mpi.first = 1;
    p->mpi.last = 0;
}

/* Returns whether a function of MPI begins at the address. */
static bool
is_entry(struct plugin *p, uint64_t pc)
{
    struct mpi *const m = &p->mpi;

    if (pc < m->first || pc > m->last)
        m->image = mapped_find(p->process.head, pc, &m->first, &m->last);
    if (m->image == 0)
        return false;
    const struct counts_file *const file = &p->process.head->file[m->image - 1];
    struct mpi_entries *const entries = &m->entries[m->image];
    const uint64_t offset = pc - file->first + file->offset;
    if (!entries->is_read && !mpi_entries_read(file->path, entries))
        plugin_no_memory(p->process.head, "the functions of MPI");
    return mpi_entries_have(entries, offset);
}

/* Threads */

/* Has the thread go on with block `b` on the other machine, where nothing is
 * known of the block before. The branch to `b` counts where it ran. */
static void
change_machine(struct plugin *p, unsigned vcpu, const struct block *b)
{
    struct mpi_thread *const t = &p->mpi.threads[vcpu];
    struct strand *const from = p->strands[vcpu], *const to = t->other;

    plugin_note_passed(from);
    strand_close(from, b, p->work);
    strand_drain(from);
    to->look = from->look;
    to->interval = from->interval;
    strand_forget(to);
    pages_follow_huge(to);
    p->strands[vcpu] = to;
    t->other = from;
    t->inside = !t->inside;
}

/* A function of MPI is entered, with a block that has not been. */
static void
on_entry(unsigned vcpu, void *data)
{
    struct plugin *const p = &tally_plugin;
    const struct registers *const registers = &p->mpi.registers;
    const struct block *const b = data;
    uint64_t pointer, back;

    if (vcpu >= COUNTS_STRANDS || p->mpi.threads[vcpu].other == NULL)
        return;
    struct mpi_thread *const t = &p->mpi.threads[vcpu];
    if (t->inside && t->pointer == 0)
        return;
    if (!registers_read(registers, vcpu, REGISTERS_POINTER, &pointer))
        return;
    if (t->inside && pointer <= t->pointer)
        return; /* MPI calls itself, or what it has called does */
    if (registers_read(registers, vcpu, REGISTERS_BACK, &back))
        back += registers->isa->return_behind;
    else if (!plugin_read_word(registers->isa, pointer, &back))
        return;
    if (!t->inside)
        change_machine(p, vcpu, b);
    t->back = back;
    t->pointer = pointer;
}

/* A block is entered that a function of MPI may return to. */
static void
on_back(unsigned vcpu, void *data)
{
    struct plugin *const p = &tally_plugin;
    const struct block *const b = data;
    uint64_t pointer;

    if (vcpu >= COUNTS_STRANDS)
        return;
    const struct mpi_thread *const t = &p->mpi.threads[vcpu];
    if (__builtin_expect(!t->inside || t->back != b->pc, 1) ||
        !registers_read(&p->mpi.registers, vcpu, REGISTERS_POINTER, &pointer) ||
        pointer < t->pointer)
        return;
    change_machine(p, vcpu, b);
    if (t->pointer != 0)
        targets_returned(&p->strands[vcpu]->targets);
}

/* Gives the thread its strand of the second machine. */
static void
start_other(struct plugin *p, unsigned vcpu)
{
    struct mpi_thread *const t = &p->mpi.threads[vcpu];
    struct counts_strand *const counts = p->counts[vcpu];
    const uint32_t number = counts->strand;
    void *memory;

    if (posix_memalign(&memory, 64, sizeof(struct strand)) != 0 ||
        strand_start(&p->mpi.chip, vcpu, counts, memory) != 0)
        plugin_no_memory(p->process.head, "a guest thread");
    counts->strand = number;
    t->other = memory;
    strand_begin_slice(t->other, MPI_SLICE);
}

/* Makes the strand of the first machine the one that runs. */
static void
run_first(struct plugin *p, unsigned vcpu)
{
    struct mpi_thread *const t = &p->mpi.threads[vcpu];

    if (!t->inside)
        return;
    struct strand *const first = t->other;
    t->other = p->strands[vcpu];
    p->strands[vcpu] = first;
    t->inside = false;
}

static void
run_second(struct plugin *p, unsigned vcpu)
{
    struct mpi_thread *const t = &p->mpi.threads[vcpu];
    struct strand *const second = t->other;

    t->other = p->strands[vcpu];
    p->strands[vcpu] = second;
    t->inside = true;
}

void
mpi_program(struct plugin *p)
{
    struct mpi *const m = &p->mpi;
    uint64_t start;

    if (!m->runs || p->program == NULL || m->threads[0].other == NULL ||
        !mpi_entries_start(p->program, &start))
        return;
    m->start = qemu_plugin_start_code() + start;
    m->threads[0].back = m->start;
    run_second(p, 0);
}

void
mpi_thread_starts(struct plugin *p, unsigned vcpu, unsigned maker)
{
    if (!p->mpi.runs || vcpu >= COUNTS_STRANDS)
        return;
    p->mpi.threads[vcpu] = (struct mpi_thread){.back = NO_LINE};
    start_other(p, vcpu);
    if (vcpu != maker && maker < COUNTS_STRANDS && p->mpi.threads[maker].inside)
        run_second(p, vcpu);
}

void
mpi_thread_ends(struct plugin *p, unsigned vcpu)
{
    if (!p->mpi.runs || vcpu >= COUNTS_STRANDS ||
        p->mpi.threads[vcpu].other == NULL)
        return;
    struct mpi_thread *const t = &p->mpi.threads[vcpu];
    run_first(p, vcpu);
    strand_end(t->other, vcpu);
    free(t->other);
    t->other = NULL;
}

void
mpi_before_restart(struct plugin *p)
{
    struct mpi_thread *const t = &p->mpi.threads[0];
    const struct mpi_thread before = *t;

    mpi_thread_ends(p, 0);
    t->inside = before.inside;
}

void
mpi_after_restart(struct plugin *p)
{
    struct mpi_thread *const t = &p->mpi.threads[0];

    if (!p->mpi.runs)
        return;
    start_other(p, 0);
    if (t->inside)
        run_second(p, 0);
}

void
mpi_rest(struct plugin *p)
{
    for (unsigned i = 0; p->mpi.runs && i < COUNTS_STRANDS; i++) {
        if (p->mpi.threads[i].other != NULL)
            strand_rest(p->mpi.threads[i].other);
    }
}

void
mpi_forks(struct plugin *p, unsigned slot)
{
    struct mpi *const m = &p->mpi;

    if (!m->runs)
        return;
    if (slot < COUNTS_STRANDS)
        chip_after_fork(&m->chip, slot);
    for (unsigned i = 0; i < COUNTS_STRANDS; i++) {
        if (i == slot || m->threads[i].other == NULL)
            continue;
        run_first(p, i);
        free(m->threads[i].other);
        m->threads[i].other = NULL;
    }
}

void
mpi_register(struct plugin *p, struct qemu_plugin_tb *tb,
             const struct block *block)
{
    void *const data = (void *)(uintptr_t)block;

    if (!p->mpi.runs)
        return;
    if (is_entry(p, block->pc))
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_entry,
                                             QEMU_PLUGIN_CB_NO_REGS, data);
    if (block->pc == p->mpi.start ||
        allocators_may_follow_call(p->shape.isa, block->pc))
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_back,
                                             QEMU_PLUGIN_CB_NO_REGS, data);
}
