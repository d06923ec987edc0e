/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "plugin/mapped.h"
#include "plugin/own_counts.h"
#include "plugin/plugin.h"

void
recording_begin(struct plugin *p)
{
    struct recording *r = &p->recording;

    r->first = 1;
    if (p->request.records == 0)
        return;
    p->table.apart = true;
    own_counts_open(p);
    r->process = record_map(&p->process, NULL);
    own_counts_close(p);
    r->spare = mmap(NULL, sizeof(struct record_branches) * COUNTS_BLOCKS,
                    PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (r->process == NULL || r->spare == MAP_FAILED)
        plugin_no_memory(p->process.head, "the recording");
}

/* Returns a recorder for the thread, or NULL: the thread is not recorded. */
static struct recorder *
make_recorder(struct plugin *p, unsigned vcpu)
{
    struct record_strand *record;
    struct recorder *recorder;

    if (p->counts[vcpu]->apart || p->counts[vcpu] == p->spare)
        return NULL;
    own_counts_open(p);
    record = record_map_strand(&p->process, vcpu, NULL);
    own_counts_close(p);
    recorder = record != NULL ? malloc(sizeof(*recorder)) : NULL;
    if (recorder == NULL) {
        record_unmap_strand(record);
        return NULL;
    }
    recorder->record = record;
    return recorder;
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
    if (r->recorders[vcpu] == NULL)
        r->recorders[vcpu] = make_recorder(p, vcpu);
    s->recorder = r->recorders[vcpu];
    if (s->recorder == NULL)
        return;
    recorder_init(s->recorder, s->recorder->record, p->request.record_signals,
                  p->request.record_count, s->total);
    recorder_switch(s, s->span.outside);
}

void
recording_fold(struct plugin *p, unsigned vcpu)
{
    struct recorder *recorder =
        vcpu < COUNTS_STRANDS ? p->recording.recorders[vcpu] : NULL;

    if (recorder == NULL)
        return;
    record_fold(&p->process, p->recording.process, p->counts[vcpu],
                recorder->record);
    recorder->used = 0;
    memset(recorder->charged, 0, sizeof(recorder->charged)); /* as the totals */
}

void
recording_thread_ends(struct plugin *p, unsigned vcpu)
{
    struct recorder *recorder;

    if (vcpu >= COUNTS_STRANDS)
        return;
    recorder = p->recording.recorders[vcpu];
    if (recorder != NULL)
        record_unmap_strand(recorder->record);
    free(recorder);
    p->recording.recorders[vcpu] = NULL;
}

void
recording_stops(struct plugin *p)
{
    struct recording *r = &p->recording;

    for (unsigned i = 0; r->process != NULL && i < p->chip.slots_used; i++) {
        recording_thread_ends(p, i);
        if (p->strands[i] != NULL) {
            p->strands[i]->recorder = NULL;
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
    struct recorder *recorder =
        slot < COUNTS_STRANDS ? r->recorders[slot] : NULL;
    const size_t places = p->table.info_count * sizeof(struct record_place);

    if (old == NULL)
        return;
    for (unsigned i = 0; i < COUNTS_STRANDS; i++) {
        if (i != slot)
            recording_thread_ends(p, i);
    }
    own_counts_open(p);
    r->process = record_map(&p->process, NULL);
    if (recorder != NULL &&
        record_map_strand(&p->process, slot, recorder->record) == NULL)
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
