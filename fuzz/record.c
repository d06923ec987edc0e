/* SPDX-License-Identifier: MIT */
/*
 * Chunks of whatever contents as a record. The input is a list of chunks: a
 * byte that says which kind, two bytes of length, and the contents. They are
 * written as a record file, so that what is behind compression and checksums is
 * reached at once (the target chunks has these), and read.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "fuzz/fuzz_record.h"
#include "record/record.h"
#include "record/record_format.h"

static const struct tally_log hear = {fuzz_hear, NULL};

static const uint32_t types[] = {
    RECORD_HEAD,         RECORD_PROCESS,   RECORD_COUNTS,
    RECORD_TOTALS,       RECORD_RUN,       1,
    RECORD_SET,          RECORD_MADE_CODE, RECORD_PATHS,
    RECORD_DATA_OBJECTS, RECORD_DATA_USES, RECORD_DATA_COUNTS,
    RECORD_EDGES,        RECORD_NAMES,     RECORD_REASONS_OF,
    RECORD_WAITS_OF,
};

static const struct fuzz_chunks kinds = {types, sizeof(types) / sizeof(*types)};

static const char head[] =
    "{\"schema\":1,\"tally\":\"0\",\"machine\":\"m\",\"isa\":\"x86_64\","
    "\"cpu\":null,\"command\":[\"a\"],\"events\":[{\"name\":\"cycles\","
    "\"asked\":\"cycles\",\"unit\":\"\",\"brief\":\"b\",\"standing\":\"exact\"}"
    ",{\"name\":\"misses\",\"asked\":\"misses\",\"unit\":\"\",\"brief\":\"b\","
    "\"standing\":\"exact\"}]}";

static bool
write_record(const char *path, const uint8_t *data, size_t size)
{
    struct chunk_writer *writer;

    if (chunks_create(path, NULL, &writer) != 0)
        return false;
    if (size >= 3 && fuzz_chunk_type(&kinds, data[0]) != RECORD_HEAD)
        chunks_write(writer, RECORD_HEAD, head, sizeof(head) - 1);
    return fuzz_write_chunks(writer, &kinds, data, size);
}

/* Returns a sum over all rows and values that a walk finds one by one. */
static uint64_t
walk_all(const struct record_counts_row *t, size_t event)
{
    struct record_walk walk;
    uint64_t sum = 0, next = 0;
    int64_t value;
    size_t row;

    record_walk_begin(&walk, t, event);
    while (record_walk_next(&walk, &row, &value)) {
        fuzz_check(row >= next && row < t->count && value != 0);
        sum = (sum * 3 + row) * 3 + (uint64_t)value;
        next = row + 1;
    }
    fuzz_check(!record_walk_next(&walk, &row, &value));
    return sum;
}

/* The walks find what is found by row when the values are expanded: all values,
 * and the sums of runs of 0, 1, 2 ... rows. */
static void
check_values(const struct record_counts_row *t, size_t event)
{
    const uint64_t all = walk_all(t, event);
    struct record_walk walk;
    uint64_t walked = 0, sum = 0, rest = 0;

    record_walk_begin(&walk, t, event);
    for (size_t at = 0, size = 0; at < t->count; at += size++) {
        const size_t left = t->count - at;
        walked = walked * 3 + (uint64_t)record_walk_sum(
                                  &walk, at, at + (size < left ? size : left));
    }
    const int64_t *const values = record_values(t, event);
    fuzz_check(values != NULL);
    for (size_t at = 0, size = 0; at < t->count; at += size++) {
        uint64_t run = 0;
        for (size_t k = at; k < t->count && k < at + size; k++)
            run += (uint64_t)values[k];
        sum = sum * 3 + run;
    }
    for (size_t k = 0; k < t->count; k++)
        if (values[k] != 0)
            rest = (rest * 3 + k) * 3 + (uint64_t)values[k];
    fuzz_check(walked == sum);
    fuzz_check(all == rest && walk_all(t, event) == rest);
}

/* Reasons and strides are of objects and instructions that there are. */
static void
check_reasons(const struct record_process_row *p)
{
    for (size_t i = 0; i < p->reason_count; i++) {
        const struct record_reason_row *r = &p->reasons[i];
        const bool driven = record_reason_is_driven(r->why);
        fuzz_check(r->why > 0 && r->why < RECORD_REASON_KINDS);
        fuzz_check(r->object <= p->object_count &&
                   (!driven || r->other <= p->object_count));
        fuzz_check(r->insn == RECORD_NO_CALL || r->insn < p->insn_count);
    }
    for (size_t i = 0; i < p->stride_count; i++) {
        const struct record_stride_row *s = &p->strides[i];
        fuzz_check(s->insn < p->insn_count);
        fuzz_check(s->step_count <= RECORD_STEPS_MOST);
    }
}

/* When threads waited: of rows that there are. */
static void
check_stretches(const struct record_process_row *p)
{
    for (size_t i = 0; i < p->stretch_count; i++) {
        const struct record_stretch_row *const s = &p->stretches[i];
        fuzz_check(s->wait == RECORD_NO_NUMBER || s->wait < p->wait_count);
        fuzz_check(s->begin <= s->end);
    }
}

/* Waits are of objects, paths and instructions that there are. */
static void
check_waits(const struct record_process_row *p)
{
    for (size_t i = 0; i < p->wait_count; i++) {
        const struct record_wait_row *w = &p->waits[i];
        fuzz_check(w->kind > 0 && w->kind < RECORD_WAIT_KINDS);
        fuzz_check(w->object <= p->object_count && w->longest >> 52 == 0);
        fuzz_check(w->path == RECORD_NO_NUMBER || w->path < p->path_count);
        fuzz_check(w->insn == RECORD_NO_CALL || w->insn < p->insn_count);
        fuzz_check(w->waker_path == RECORD_NO_NUMBER ||
                   w->waker_path < p->path_count);
        fuzz_check(w->waker_insn == RECORD_NO_CALL ||
                   w->waker_insn < p->insn_count);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const int fd = memfd_create("record", MFD_CLOEXEC);
    struct record *record = NULL;
    char path[64];

    fuzz_check(fd >= 0);
    snprintf(path, sizeof(path), "/dev/fd/%d", fd);
    if (write_record(path, data, size) &&
        record_open(path, &hear, &record) == 0) {
        size_t events[64], count = 0;
        for (size_t i = 0; i < record->counts_count; i++) {
            const struct record_counts_row *t = &record->counts[i];
            fuzz_check(t->process < record->process_count);
            for (size_t k = 0; k < t->count; k++)
                fuzz_check(t->insns[k] <
                           record->processes[t->process].insn_count);
            for (size_t e = 0; t->count != 0 && e < record->event_count; e++)
                check_values(t, e);
        }
        for (size_t i = 0; i < record->edges_count; i++) {
            const struct record_edges_row *t = &record->edges[i];
            fuzz_check(t->process < record->process_count);
            const size_t insns = record->processes[t->process].insn_count;
            for (size_t k = 0; k < t->count; k++)
                fuzz_check((t->edges[k].from < insns ||
                            t->edges[k].from == RECORD_NOWHERE) &&
                           (t->edges[k].to < insns ||
                            t->edges[k].to == RECORD_NOWHERE) &&
                           t->edges[k].mispredicted <= t->edges[k].count);
        }
        for (size_t i = 0; i < record->process_count; i++) {
            const struct record_process_row *p = &record->processes[i];
            check_reasons(p);
            check_waits(p);
            check_stretches(p);
            for (size_t k = 0; k < p->object_count; k++)
                fuzz_check(p->objects[k].path < p->path_count &&
                           (p->objects[k].insn == RECORD_NO_CALL ||
                            p->objects[k].insn < p->insn_count) &&
                           p->objects[k].used.touched <=
                               p->objects[k].used.fetched);
            for (size_t k = 0; k < p->insn_count; k++)
                fuzz_check(p->insns[k].code + p->insns[k].size <=
                               p->code_size &&
                           (p->insns[k].image == RECORD_NO_IMAGE ||
                            p->insns[k].image < record->image_count));
        }
        if (record->event_count <= 64)
            record_events(record, "cyc,misses", &hear, events, &count);
        fuzz_check(count <= record->event_count);
        record_close(record);
    }
    close(fd);
    return 0;
}
