/* SPDX-License-Identifier: MIT */
/*
 * Strands that take turns, one of each node, or of each core of a machine of
 * one node, against the twin: each access is taken through the caches before
 * the next.
 */
#ifndef TALLY_TEST_CLUSTER_H
#define TALLY_TEST_CLUSTER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "machine/inclusion.h"
#include "ref/chip_ref.h"
#include "ref/drive.h"
#include "ref/random.h"

#define PEERS_MOST 4

struct cluster {
    int line;
    unsigned count;
    struct chip chip;
    struct strand *strands[PEERS_MOST];
    struct counts_strand *counts[PEERS_MOST];
    struct chip_ref refs[PEERS_MOST];
    struct program program;
    struct stream streams[PEERS_MOST];
    uint64_t state;
};

static inline void
cluster_start(struct cluster *c, const struct machine *m, uint64_t *params,
              uint64_t seed)
{
    params_of(m, params);
    const uint64_t components = components_counted(params, 0, SIGNAL_COUNT);
    memset(c, 0, sizeof(*c));
    c->line = m->line;
    c->state = seed;
    c->count = (unsigned)(params[PARAM_NODES] > 1 ? params[PARAM_NODES]
                                                  : params[PARAM_CORES]);
    program_init(&c->program, params, 40, 1 << 16, &c->state);
    assert_int_equal(chip_init(&c->chip, params, components, PEERS_MOST), 0);
    for (unsigned i = 0; i < c->count; i++) {
        c->counts[i] = new_counts();
        c->strands[i] = new_strand(&c->chip, i, c->counts[i]);
        assert_non_null(c->strands[i]);
        if (params[PARAM_NODES] > 1)
            assert_int_equal(c->strands[i]->node, i);
        else
            assert_ptr_equal(c->strands[i]->core, &c->chip.cores[i]);
        chip_ref_init(&c->refs[i], params, components);
        stream_init(&c->streams[i], &c->program, params,
                    random_next(&c->state));
    }
    chip_ref_join(c->refs, c->count);
}

static inline void
cluster_finish(struct cluster *c)
{
    for (unsigned i = 0; i < c->count; i++) {
        free_strand(c->strands[i], i);
        free_counts(c->counts[i]);
        chip_ref_finish(&c->refs[i]);
    }
    chip_finish(&c->chip);
    program_finish(&c->program);
}

/* Where a peer executes. */
static inline uint64_t
code_of(const struct cluster *c, unsigned who)
{
    return c->program.blocks[c->streams[who].at].pc / 8 * 8;
}

/* Few lines of few pages, so that peers meet. */
static inline struct access
next_access(struct cluster *c, unsigned who)
{
    struct access a = stream_access(&c->streams[who]);

    if (random_below(&c->state, 4) != 0)
        a.addr = PROGRAM_DATA_AT + random_below(&c->state, 6) * 0x5000 +
                 random_below(&c->state, 12) * 16;
    else if (random_below(&c->state, 4) == 0)
        a.addr = code_of(c, (unsigned)random_below(&c->state, c->count));
    return a;
}

static inline void
do_access(struct cluster *c, unsigned who)
{
    const struct access a = next_access(c, who);
    struct chip_ref *r = &c->refs[who];

    access_data(c->strands[who], &a);
    strand_drain(c->strands[who]);
    if (a.kind == ACCESS_IS_LOAD)
        chip_ref_load(r, a.addr, a.size);
    else if (a.kind == ACCESS_IS_BULK)
        chip_ref_bulk(r, a.addr, a.size);
    else if (a.kind == ACCESS_IS_NEAR || a.kind == ACCESS_IS_FAR)
        chip_ref_prefetch(r, a.addr, a.kind == ACCESS_IS_NEAR);
    else if (a.kind == ACCESS_IS_FLOAT)
        chip_ref_float(r, a.addr, a.size);
    else if (a.kind == ACCESS_IS_STORE)
        chip_ref_store(r, a.addr, a.size);
    else
        chip_ref_atomic(r, a.addr, a.size);
}

static inline void
do_block(struct cluster *c, unsigned who)
{
    const struct block *b = stream_block(&c->streams[who]);

    enter(c->strands[who], b, work_of(c->chip.components));
    strand_drain(c->strands[who]);
    chip_ref_block(&c->refs[who], b);
}

static inline void
cluster_compare(const struct cluster *c, int step)
{
    for (unsigned i = 0; i < c->count; i++)
        strand_drain(c->strands[i]);
    for (unsigned i = 0; i < c->count; i++) {
        for (size_t s = 0; s < SIGNAL_COUNT; s++) {
            const uint64_t got = c->counts[i]->totals[0].signal[s];
            const uint64_t wanted = c->refs[i].signals[0][s];
            if (got != wanted)
                fail_msg("row at line %d, step %d, peer %u, %s: %" PRIu64
                         ", its twin says %" PRIu64,
                         c->line, step, i, tally_signals[s].name, got, wanted);
        }
    }
}

/* Now and then, and always before it is time. */
static inline void
cluster_settle(struct cluster *c, unsigned who)
{
    if (!c->chip.inclusive ||
        (c->strands[who]->back->driven.asked < INCLUSION_REQUESTS / 2 &&
         random_below(&c->state, 50) != 0))
        return;
    inclusion_settle(c->strands[who]);
    chip_ref_settle(&c->refs[who]);
}

static inline void
cluster_run(struct cluster *c, int steps)
{
    for (int i = 0; i < steps; i++) {
        const unsigned who = (unsigned)random_below(&c->state, c->count);
        cluster_settle(c, who);
        if (random_below(&c->state, 5) == 0)
            do_block(c, who);
        else
            do_access(c, who);
        if (random_below(&c->state, 50) == 0)
            cluster_compare(c, i);
    }
    cluster_compare(c, steps);
}

static inline struct totals
sum_of(const struct cluster *c)
{
    struct totals sum = {{0}};

    for (unsigned i = 0; i < c->count; i++)
        totals_add(&sum, &c->counts[i]->totals[0]);
    return sum;
}

static inline void
store(struct cluster *c, unsigned who, uint64_t addr)
{
    const struct access a = {ACCESS_IS_STORE, addr, 8};

    access_data(c->strands[who], &a);
    strand_drain(c->strands[who]);
}

static inline void
load(struct cluster *c, unsigned who, uint64_t addr)
{
    const struct access a = {ACCESS_IS_LOAD, addr, 8};

    access_data(c->strands[who], &a);
    strand_drain(c->strands[who]);
}

#endif
