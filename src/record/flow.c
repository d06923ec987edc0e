/* SPDX-License-Identifier: MIT */
#include "record/flow.h"

#include <stdlib.h>
#include <string.h>

#define NO_PART SIZE_MAX

/* A part of what comes to an instruction: executions that one edge began. */
struct part {
    uint32_t edge;
    bool mispredicted;
    uint32_t first; /* where the edge led to */
    uint64_t count;
    size_t next; /* in finding.parts, or NO_PART */
};

/* The parts that come to an instruction, in the order of their coming. */
struct queue {
    size_t first, last; /* in finding.parts, or NO_PART */
};

/* The state of a search. */
struct finding {
    const struct record_process_row *process;
    struct flow *flow;
    struct part *parts;
    size_t part_count, part_room;
    struct queue *queues; /* [insn_count] */
    uint32_t *inward;     /* [edge_count] indices of edges, by `to` */
    bool failed;          /* there was no memory */
};

static int
compare_edges(const void *x, const void *y)
{
    const struct record_edge *a = x, *b = y;

    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    return (a->way > b->way) - (a->way < b->way);
}

/* Lists the edges of all threads of the process, each once. */
static int
list_edges(const struct record *record, size_t process, struct flow *f)
{
    size_t count = 0, kept = 0;

    for (size_t i = 0; i < record->edges_count; i++)
        if (record->edges[i].process == process)
            count += record->edges[i].count;
    f->edges = calloc(count + 1, sizeof(*f->edges));
    if (f->edges == NULL)
        return TALLY_ENOMEM;
    for (size_t i = 0; i < record->edges_count; i++) {
        const struct record_edges_row *row = &record->edges[i];
        if (row->process != process || row->count == 0)
            continue;
        memcpy(f->edges + f->edge_count, row->edges,
               row->count * sizeof(*row->edges));
        f->edge_count += row->count;
    }
    qsort(f->edges, f->edge_count, sizeof(*f->edges), compare_edges);
    for (size_t i = 0; i < f->edge_count; i++) {
        struct record_edge *last = &f->edges[kept > 0 ? kept - 1 : 0];
        if (kept > 0 && compare_edges(last, &f->edges[i]) == 0) {
            last->count += f->edges[i].count;
            last->mispredicted += f->edges[i].mispredicted;
        } else {
            f->edges[kept++] = f->edges[i];
        }
    }
    f->edge_count = kept;
    return 0;
}

/* Returns the instruction behind another, or RECORD_NOWHERE. */
static uint32_t
next_of(const struct record_process_row *p, uint32_t at)
{
    const struct record_insn *insn = &p->insns[at];
    const uint64_t end = insn->address + insn->size;

    for (size_t i = (size_t)at + 1; i < p->insn_count; i++) {
        if (p->insns[i].image != insn->image || p->insns[i].address > end)
            break;
        if (p->insns[i].address == end)
            return (uint32_t)i;
    }
    return RECORD_NOWHERE;
}

static void
put_part(struct finding *f, uint32_t at, struct part part)
{
    struct queue *q = &f->queues[at];

    if (part.count == 0)
        return;
    if (f->part_count == f->part_room) {
        const size_t room = 2 * f->part_room + 1024;
        struct part *parts = reallocarray(f->parts, room, sizeof(*parts));
        if (parts == NULL) {
            f->failed = true;
            return;
        }
        f->parts = parts;
        f->part_room = room;
    }
    part.next = NO_PART;
    f->parts[f->part_count] = part;
    if (q->first == NO_PART)
        q->first = f->part_count;
    else
        f->parts[q->last].next = f->part_count;
    q->last = f->part_count++;
}

/* Adds a run that ends at an instruction. */
static void
add_run(struct finding *f, const struct part *part, uint32_t last,
        uint64_t count)
{
    struct flow *flow = f->flow;

    if (flow->run_count == flow->run_room) {
        const size_t room = 2 * flow->run_room + 1024;
        struct flow_run *runs =
            reallocarray(flow->runs, room, sizeof(*flow->runs));
        if (runs == NULL) {
            f->failed = true;
            return;
        }
        flow->runs = runs;
        flow->run_room = room;
    }
    flow->runs[flow->run_count++] = (struct flow_run){
        part->edge, part->mispredicted, part->first, last, count};
}

/* Ends `count` of the executions of an instruction as runs, those that came
 * first, and hands the rest on to the instruction behind, if there is one. */
static void
leave(struct finding *f, uint32_t at, uint64_t count)
{
    const uint32_t next = next_of(f->process, at);
    size_t i = f->queues[at].first;

    while (i != NO_PART && !f->failed) {
        struct part part = f->parts[i];
        const uint64_t ends =
            next == RECORD_NOWHERE || part.count < count ? part.count : count;
        i = part.next;
        if (ends != 0)
            add_run(f, &part, at, ends);
        count -= ends < count ? ends : count;
        part.count -= ends;
        if (part.count != 0)
            put_part(f, next, part);
    }
}

/* Begins the runs that an edge leads to. */
static void
begin(struct finding *f, uint32_t edge)
{
    const struct record_edge *e = &f->flow->edges[edge];

    put_part(f, e->to,
             (struct part){.edge = edge,
                           .first = e->to,
                           .count = e->count - e->mispredicted});
    put_part(f, e->to,
             (struct part){.edge = edge,
                           .mispredicted = true,
                           .first = e->to,
                           .count = e->mispredicted});
}

static int
compare_inward(const void *x, const void *y, void *user)
{
    const struct record_edge *edges = user;
    const uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

    if (edges[a].to != edges[b].to)
        return edges[a].to < edges[b].to ? -1 : 1;
    return (a > b) - (a < b);
}

/* Goes through the instructions in their order, along which all runs go. */
static void
sweep(struct finding *f)
{
    const struct flow *flow = f->flow;
    size_t in = 0, out = 0;

    for (uint32_t at = 0; at < f->process->insn_count && !f->failed; at++) {
        uint64_t leaves = 0;
        for (; in < flow->edge_count && flow->edges[f->inward[in]].to == at;
             in++) {
            if (flow->edges[f->inward[in]].way != RECORD_WAY_ON)
                begin(f, f->inward[in]);
        }
        for (; out < flow->edge_count && flow->edges[out].from == at; out++) {
            if (flow->edges[out].way != RECORD_WAY_ON)
                leaves += flow->edges[out].count;
        }
        leave(f, at, leaves);
    }
}

int
flow_find(const struct record *record, size_t process, struct flow *flow)
{
    struct finding f = {.process = &record->processes[process], .flow = flow};
    const size_t insns = f.process->insn_count;

    memset(flow, 0, sizeof(*flow));
    if (list_edges(record, process, flow) != 0)
        return TALLY_ENOMEM;
    f.queues = calloc(insns + 1, sizeof(*f.queues));
    f.inward = calloc(flow->edge_count + 1, sizeof(*f.inward));
    f.failed = f.queues == NULL || f.inward == NULL;
    for (size_t i = 0; !f.failed && i < insns; i++)
        f.queues[i] = (struct queue){NO_PART, NO_PART};
    for (size_t i = 0; !f.failed && i < flow->edge_count; i++)
        f.inward[i] = (uint32_t)i;
    if (!f.failed)
        qsort_r(f.inward, flow->edge_count, sizeof(*f.inward), compare_inward,
                flow->edges);
    sweep(&f);
    free(f.parts);
    free(f.queues);
    free(f.inward);
    return f.failed ? TALLY_ENOMEM : 0;
}

void
flow_finish(struct flow *flow)
{
    free(flow->edges);
    free(flow->runs);
    memset(flow, 0, sizeof(*flow));
}
