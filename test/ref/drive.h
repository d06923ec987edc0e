/* SPDX-License-Identifier: MIT */
/*
 * For tests of the machine: parameter sets by name, and the calls that the
 * plugin makes.
 */
#ifndef TALLY_TEST_DRIVE_H
#define TALLY_TEST_DRIVE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "machine/strand.h"
#include "ref/stream.h"
#include "table/signals.h"

#define SETS 16

struct machine {
    int line; /* of the row, for messages */
    const char *name;
    const char *sets[SETS]; /* as of --set */
};

#define AND_LEVEL(level) | COMPONENT_##level

/* Every part of the model but the classes of misses, which sharing.c adds;
 * cycles are no part of it but made from totals. */
#define ALL_COMPONENTS                                                         \
    (COMPONENT_DIRECTION | COMPONENT_PREDICTOR | COMPONENT_L1I |               \
     COMPONENT_L1D | COMPONENT_L2 | COMPONENT_L3 EACH_LEVEL(AND_LEVEL) |       \
     COMPONENT_ITLB | COMPONENT_DTLB | COMPONENT_WRITEBACK | COMPONENT_NODES | \
     COMPONENT_RAW | COMPONENT_WAYS | COMPONENT_BULK | COMPONENT_SNOOP |       \
     COMPONENT_BUS | COMPONENT_BUS_BACKS | COMPONENT_SHARING |                 \
     COMPONENTS_TARGETS)

static inline void
params_of(const struct machine *m, uint64_t *params)
{
    const struct machine_row *row = machine_find(m->name);

    assert_non_null(row);
    for (size_t i = 0; i < PARAM_COUNT; i++)
        params[i] = row->params[i].value;
    for (size_t i = 0; i < SETS && m->sets[i] != NULL; i++)
        assert_int_equal(param_set(m->sets[i], NULL, params), 0);
    if (params_check(params, NULL) != 0)
        fail_msg("row at line %d: impossible", m->line);
}

/* Returns the components that count one signal, or all of them. */
static inline uint64_t
components_counted(const uint64_t *params, uint16_t first, uint16_t count)
{
    uint16_t signals[SIGNAL_COUNT];
    const struct event_row row = {.signals = signals, .signal_count = count};
    const struct event_row *event = &row;

    for (uint16_t i = 0; i < count; i++)
        signals[i] = (uint16_t)(first + i);
    return components_of(&event, 1, params) & ALL_COMPONENTS;
}

/* Sparse, as in a session's file. */
static inline struct counts_strand *
new_counts(void)
{
    void *memory =
        mmap(NULL, sizeof(struct counts_strand), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    assert_ptr_not_equal(memory, MAP_FAILED);
    return memory;
}

static inline void
free_counts(struct counts_strand *counts)
{
    munmap(counts, sizeof(*counts));
}

/* A strand on memory of its own; NULL without memory. */
static inline struct strand *
new_strand(struct chip *chip, unsigned slot, struct counts_strand *counts)
{
    struct strand *strand = aligned_alloc(64, (sizeof(*strand) + 63) / 64 * 64);

    if (strand != NULL && strand_start(chip, slot, counts, strand) == 0)
        return strand;
    free(strand);
    return NULL;
}

static inline void
free_strand(struct strand *strand, unsigned slot)
{
    strand_end(strand, slot);
    free(strand);
}

/* The calls that the plugin makes. */
static inline void
enter(struct strand *s, const struct block *b, unsigned work)
{
    const struct block *last = s->previous;

    if (strand_block(s, b, 0, work))
        targets_ask(&s->targets, s->total, last, b->pc);
    if ((work & WORK_FETCH) &&
        !strand_fetch_known(s, b,
                            b->line0 == b->line1 ? work | WORK_ONE_LINE : work))
        strand_fetch_slow(s, b);
}

static inline bool
is_load(const struct access *a)
{
    return a->kind == ACCESS_IS_LOAD || a->kind == ACCESS_IS_BULK;
}

static inline access_site
site_of(const struct strand *s, const struct access *a)
{
    const uint64_t *params = s->chip->params;
    const bool through = !is_load(a) && s->chip->store_filter;

    const uint64_t line = params[through ? PARAM_L2_LINE : PARAM_L1D_LINE];

    return site_make(line - a->size, 0);
}

static inline void
access_data(struct strand *s, const struct access *a)
{
    const bool through = s->chip->stores_apart;
    const access_site at = site_of(s, a);
    const uint64_t last = a->addr + a->size - 1;

    if ((s->chip->components & COMPONENT_RAW) && is_load(a))
        raw_load(&s->raw, s->total, a->addr, last);
    if ((s->chip->components & COMPONENT_RAW) && a->kind == ACCESS_IS_STORE)
        raw_store(&s->raw, a->addr, last);
    if (a->kind == ACCESS_IS_BULK && (s->chip->components & COMPONENT_BULK))
        strand_bulk(s, a->addr, at);
    else if (is_load(a))
        strand_load(s, a->addr, at);
    else if (a->kind == ACCESS_IS_NEAR || a->kind == ACCESS_IS_FAR)
        strand_prefetch(s, a->addr, a->kind == ACCESS_IS_NEAR, 0);
    else if (a->kind == ACCESS_IS_FLOAT)
        strand_float(s, a->addr, at);
    else if (a->kind == ACCESS_IS_STORE)
        strand_store(s, a->addr, at, through);
    else if (through || s->chip->sharing != NULL)
        strand_atomic_slow(s, a->addr, at);
    else
        strand_load(s, a->addr, at);
}

#endif
