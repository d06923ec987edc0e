/* SPDX-License-Identifier: MIT */
/*
 * Text as `perf script --show-mmap-events -F ip,brstack` prints samples with
 * branch stacks, each behind the line with its count that llvm-profgen knows:
 * for each run of instructions between two branches one sample, of one image.
 *
 * Its stack has the branch that led to the run, and before it, as the younger
 * one, the run's end with the target 0. Readers take 0 for code that they do
 * not know: they add up the run, and no branch from its end, which has samples
 * of its own as the branch that led to other runs. A run that code of another
 * file led to has a third branch, the oldest, which leaves the run's file: from
 * the first byte of the file's code, since where control left the file before
 * is not known.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/escape.h"
#include "record/export.h"
#include "record/export_segments.h"
#include "record/flow.h"

/* The segments of a process. */
struct segments {
    struct export_segment *all; /* owned */
    size_t count;
};

/* Writes where the process has the code of the image. */
static void
put_mappings(const struct export_list *list, FILE *out, int pid,
             const struct segments *segments)
{
    for (size_t i = 0; i < segments->count; i++) {
        const struct export_segment *s = &segments->all[i];
        if (s->image != list->image)
            continue;
        escape_printf(out,
                      "PERF_RECORD_MMAP2 %d/%d: [0x%" PRIx64 "(0x%" PRIx64
                      ") @ 0x%" PRIx64 " 00:00 0 0]: r-xp %s\n",
                      pid, pid, s->start, s->size, s->offset,
                      list->record->images[s->image].path);
    }
}

/* Returns the first address of the segment that has the instruction, or 0. */
static uint64_t
segment_of(const struct segments *segments, const struct record_insn *insn)
{
    for (size_t i = 0; i < segments->count; i++) {
        const struct export_segment *s = &segments->all[i];
        if (s->image == insn->image && insn->address - s->start < s->size)
            return s->start;
    }
    return 0;
}

/* Writes a run. A reader of one file passes by a branch into the file, unless
 * an older one leaves it: it then takes both for one. Readers know no code of
 * PLT stubs, and where there is no need pass by the older branch. */
static void
put_run(FILE *out, const struct record_process_row *p, const struct flow *flow,
        const struct flow_run *run, const struct segments *segments)
{
    const struct record_edge *e = &flow->edges[run->edge];
    const struct record_insn *first = &p->insns[run->first];
    const uint64_t last = p->insns[run->last].address;
    const struct record_insn *from =
        e->from != RECORD_NOWHERE && e->way != RECORD_WAY_BROKEN
            ? &p->insns[e->from]
            : NULL;

    fprintf(out,
            "%" PRIu64 "\n%16" PRIx64 "  0x%" PRIx64 "/0x0/P/-/-/0  "
            "0x%" PRIx64 "/0x%" PRIx64 "/%c/-/-/0",
            run->count, last, last, from != NULL ? from->address : 0,
            first->address, run->mispredicted ? 'M' : 'P');
    if (from == NULL || from->image != first->image ||
        e->way == RECORD_WAY_INDIRECT)
        fprintf(out, "  0x%" PRIx64 "/0x0/P/-/-/0",
                segment_of(segments, first));
    fputc('\n', out);
}

/* Writes a process. */
static int
put_process(const struct export_list *list, FILE *out, size_t process)
{
    const struct record_process_row *p = &list->record->processes[process];
    struct segments segments = {0};
    struct flow flow;
    int error = flow_find(list->record, process, &flow);

    if (error == 0)
        error = export_segments(list->record, process, &segments.all,
                                &segments.count);
    if (error == 0)
        put_mappings(list, out, p->pid, &segments);
    for (size_t i = 0; error == 0 && i < flow.run_count; i++)
        if (p->insns[flow.runs[i].first].image == list->image)
            put_run(out, p, &flow, &flow.runs[i], &segments);
    flow_finish(&flow);
    free(segments.all);
    return error;
}

int
export_brstack(const struct export_list *list, FILE *out, int64_t *left_out)
{
    int error = 0;

    (void)left_out;
    for (size_t i = 0; error == 0 && i < list->record->process_count; i++)
        error = put_process(list, out, i);
    return error == 0 && ferror(out) ? TALLY_EIO : error;
}
