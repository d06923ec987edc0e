/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "plugin/calls.h"
#include "plugin/mapped.h"
#include "plugin/own_counts.h"
#include "plugin/plugin.h"

void
recording_begin(struct plugin *p)
{
    struct recording *r = &p->recording;

    r->first = 1;
    if (p->request.records == RECORDS_NOTHING)
        return;
    p->table.apart = true;
    own_counts_open(p);
    r->process = record_map(&p->process, NULL);
    own_counts_close(p);
    r->spare = mmap(NULL, sizeof(struct record_branches) * (COUNTS_BLOCKS + 1),
                    PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (r->process == NULL || r->spare == MAP_FAILED)
        plugin_no_memory(p->process.head, "the recording");
}

static bool
records_callers(const struct plugin *p)
{
    return p->request.records == RECORDS_CALLERS;
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
    recorder_switch(s, s->span.outside);
}

void
recording_fold(struct plugin *p, unsigned vcpu)
{
    struct recording_thread *t =
        vcpu < COUNTS_STRANDS ? p->recording.threads[vcpu] : NULL;

    if (t == NULL)
        return;
    record_fold(&p->process, p->recording.process, p->counts[vcpu],
                t->recorder.record);
    t->recorder.used = 0;
    /* As the totals. */
    memset(t->recorder.charged, 0, sizeof(t->recorder.charged));
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
    }
    free(t);
    p->recording.threads[vcpu] = NULL;
}

void
recording_syscall(struct plugin *p, unsigned vcpu, int64_t number)
{
    struct strand *s = p->strands[vcpu];

    if (s != NULL && s->callers != NULL &&
        call_is(CALL_RT_SIGRETURN, p->shape.isa, number))
        callers_resume(s->callers);
}

void
recording_syscall_return(struct plugin *p, int64_t number,
                         const uint64_t args[4], int64_t result)
{
    if (!call_changes_memory(p->shape.isa, number))
        return;
    pthread_mutex_lock(&p->lock);
    recording_memory_changes(p);
    if (p->recording.process != NULL &&
        call_is(CALL_MMAP, p->shape.isa, number) && (args[2] & PROT_EXEC) != 0)
        mapped_note_dump(p->process.head, (uint64_t)result);
    pthread_mutex_unlock(&p->lock);
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
    record_unmap(r->process);
    r->process = NULL;
}

void
recording_forks(struct plugin *p, unsigned slot)
{
    struct recording *r = &p->recording;
    struct record_process *old = r->process;
    struct recording_thread *t =
        slot < COUNTS_STRANDS ? r->threads[slot] : NULL;
    const size_t places = p->table.info_count * sizeof(struct record_place);

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

    if (r->process == NULL)
        return 0;
    if (pc < r->first || pc > r->last) {
        r->image = mapped_find(p->process.head, pc, &r->first, &r->last);
        if (r->image == 0)
            r->image = find_program(p, pc);
    }
    return r->image;
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
        sizes[i] = insns[i].size;
        memcpy(bytes, qemu_plugin_insn_data(qemu_plugin_tb_get_insn(tb, i)),
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
