/* SPDX-License-Identifier: MIT */
/*
 * Where control went in a process of a record, as the branches that were made
 * and the runs of instructions between them, added up over its threads.
 *
 * A run begins where a branch led to, or where control came otherwise, and ends
 * with the next branch that is made. A record has edges, not the whole way of
 * the program: which of the branches that led to an instruction went on to
 * which of those that left is not known, and the first that came is taken for
 * the first that left. The sums of all runs over an instruction are its
 * executions, and those of all runs that begin behind a branch are its count.
 */
#ifndef TALLY_RECORD_FLOW_H
#define TALLY_RECORD_FLOW_H

#include "record/record.h"

struct flow_run {
    uint32_t edge;        /* of flow.edges: it led here */
    bool mispredicted;    /* the branch of the edge */
    uint32_t first, last; /* indices of instructions, the last included */
    uint64_t count;
};

struct flow {
    struct record_edge *edges; /* ascending: from, to, way; RECORD_NOWHERE is
                                  the last */
    size_t edge_count;
    struct flow_run *runs; /* by `last` */
    size_t run_count, run_room;
};

/* Finds the flow of process `process` of the record, of an architecture without
 * delay slots. 0 or TALLY_ENOMEM; the caller calls flow_finish() in any case.
 */
int flow_find(const struct record *record, size_t process, struct flow *flow);
void flow_finish(struct flow *flow);

#endif
