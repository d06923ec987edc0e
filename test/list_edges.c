/* SPDX-License-Identifier: MIT */
/*
 * list_edges RECORD: prints the instructions of a record with the values of
 * each event, and its edges, for test/branches.py:
 *
 *   insn PROCESS INDEX ADDRESS SIZE NEXT VALUE...
 *   edge PROCESS FROM TO WAY COUNT MISPREDICTED
 *   run PROCESS FIRST LAST COUNT
 *
 * NEXT is the index of the instruction behind, FROM and TO are indices; -1 is
 * none. Edges and runs are sums over the threads of the process.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "record/flow.h"

static void
complain(void *user, enum tally_level level, const char *text)
{
    (void)user, (void)level;
    fprintf(stderr, "%s\n", text);
}

/* Adds up the events of each instruction over all threads and paths. */
static void
add_values(const struct record *r, size_t process, int64_t *values)
{
    for (size_t i = 0; i < r->counts_count; i++) {
        const struct record_counts_row *t = &r->counts[i];
        for (size_t e = 0; t->process == process && e < r->event_count; e++) {
            const int64_t *of = record_values(t, e);
            for (size_t k = 0; k < t->count; k++)
                values[t->insns[k] * r->event_count + e] += of[k];
        }
    }
}

static long
next_of(const struct record_process_row *p, size_t at)
{
    for (size_t i = at + 1; i < p->insn_count; i++) {
        if (p->insns[i].image == p->insns[at].image &&
            p->insns[i].address == p->insns[at].address + p->insns[at].size)
            return (long)i;
    }
    return -1;
}

static void
list_process(const struct record *r, size_t n)
{
    const struct record_process_row *p = &r->processes[n];
    int64_t *values =
        calloc(p->insn_count * r->event_count + 1, sizeof(*values));
    struct flow flow;

    if (values == NULL || flow_find(r, n, &flow) != 0)
        exit(1);
    add_values(r, n, values);
    for (size_t i = 0; i < p->insn_count; i++) {
        printf("insn %zu %zu %" PRIu64 " %u %ld", n, i, p->insns[i].address,
               p->insns[i].size, next_of(p, i));
        for (size_t e = 0; e < r->event_count; e++)
            printf(" %" PRId64, values[i * r->event_count + e]);
        putchar('\n');
    }
    for (size_t i = 0; i < flow.edge_count; i++) {
        const struct record_edge *e = &flow.edges[i];
        printf("edge %zu %d %d %d %" PRIu64 " %" PRIu64 "\n", n, (int)e->from,
               (int)e->to, (int)e->way, e->count, e->mispredicted);
    }
    for (size_t i = 0; i < flow.run_count; i++)
        printf("run %zu %u %u %" PRIu64 "\n", n, flow.runs[i].first,
               flow.runs[i].last, flow.runs[i].count);
    flow_finish(&flow);
    free(values);
}

int
main(int argc, char **argv)
{
    const struct tally_log log = {complain, NULL};
    struct record *record;

    if (argc != 2 || record_open(argv[1], &log, &record) != 0)
        return 1;
    for (size_t i = 0; i < record->process_count; i++)
        list_process(record, i);
    record_close(record);
    return 0;
}
