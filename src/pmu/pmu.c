/* SPDX-License-Identifier: MIT */
#include "pmu/pmu.h"

#include <string.h>

#define ALIGNMENT 16                          /* of a PMU's memory */
#define FLAGS (2u * TALLY_PMU_DENY_GUEST - 1) /* all of enum tally_pmu_flag */

const struct tally_pmu_context pmu_no_context = {.cycles = 1};

void
tally_pmu_options_init(struct tally_pmu_options *options, size_t size)
{
    memset(options, 0, size);
    options->size = size;
}

static const struct pmu_machine *
machine_named(const char *name)
{
    for (size_t i = 0; i < PMU_MACHINES; i++) {
        const struct pmu_machine *m = &tally_pmu_machines[i];

        if (pmu_same_name(m->name, name))
            return m;
        for (const char *const *a = m->aliases; *a != NULL; a++) {
            if (pmu_same_name(*a, name))
                return m;
        }
    }
    return NULL;
}

static const struct pmu_ops *const families[PMU_FAMILIES] = {
    [PMU_NIAGARA1] = &pmu_niagara1_ops,   [PMU_NIAGARA2] = &pmu_niagara2_ops,
    [PMU_SPARC_T4] = &pmu_t4_ops,         [PMU_R10000] = &pmu_r10000_ops,
    [PMU_MONTECITO] = &pmu_montecito_ops,
};

/* Fills in a PMU by the options, without its strands. */
static int
describe(const struct tally_pmu_options *options, struct tally_pmu *pmu)
{
    if (options->size != sizeof(*options) || options->machine == NULL ||
        (options->flags & ~FLAGS) != 0)
        return TALLY_ERANGE;
    pmu->machine = machine_named(options->machine);
    if (pmu->machine == NULL || families[pmu->machine->family]->strands == 0)
        return TALLY_EUNKNOWN;
    const bool plus =
        pmu->machine == &tally_pmu_machines[PMU_MACHINE_ULTRASPARC_T2PLUS];
    pmu->ops = families[pmu->machine->family];
    pmu->nodes = options->nodes == 0 ? 1 : options->nodes;
    if (pmu->nodes != 1 && (!plus || (pmu->nodes != 2 && pmu->nodes != 4)))
        return TALLY_ERANGE;
    pmu->strands = options->strands == 0 ? pmu->ops->strands * pmu->nodes
                                         : options->strands;
    if (pmu->strands > pmu->ops->strands * pmu->nodes)
        return TALLY_ERANGE;
    pmu->flags = options->flags;
    const size_t size = pmu->ops->base + pmu->strands * pmu->ops->strand;
    pmu->size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return 0;
}

size_t
tally_pmu_size(const struct tally_pmu_options *options)
{
    struct tally_pmu pmu;

    return describe(options, &pmu) == 0 ? pmu.size : 0;
}

int
tally_pmu_init(void *memory, size_t size,
               const struct tally_pmu_options *options, struct tally_pmu **made)
{
    struct tally_pmu pmu;
    const int error = describe(options, &pmu);

    if (error != 0)
        return error;
    if (size < pmu.size)
        return TALLY_ENOMEM;
    if ((uintptr_t)memory % ALIGNMENT != 0)
        return TALLY_ERANGE;
    memset(memory, 0, pmu.size);
    struct tally_pmu *p = memory;
    p->ops = pmu.ops;
    p->machine = pmu.machine;
    p->size = pmu.size;
    p->strands = pmu.strands;
    p->nodes = pmu.nodes;
    p->flags = pmu.flags;
    tally_pmu_reset(p);
    *made = p;
    return 0;
}

void
tally_pmu_reset(struct tally_pmu *pmu)
{
    pmu_shared_reset(pmu);
    pmu_sun4v_reset(pmu);
    pmu->ops->reset(pmu);
}

int
tally_pmu_copy(struct tally_pmu *to, const struct tally_pmu *from)
{
    if (to->machine != from->machine || to->size != from->size ||
        to->nodes != from->nodes || to->flags != from->flags)
        return TALLY_ERANGE;
    if (to != from)
        memcpy(to, from, from->size);
    return 0;
}

unsigned
tally_pmu_strands(const struct tally_pmu *pmu)
{
    return pmu->strands;
}

static bool
exists(const struct tally_pmu *pmu, unsigned strand, unsigned id)
{
    return strand < pmu->strands && id < pmu->machine->registers_count;
}

int
tally_pmu_read(struct tally_pmu *pmu, unsigned strand, unsigned id,
               enum tally_pmu_level level, uint64_t *value)
{
    if (!exists(pmu, strand, id))
        return TALLY_ERANGE;
    return pmu->ops->read(pmu, strand, id, level, value);
}

int
tally_pmu_write(struct tally_pmu *pmu, unsigned strand, unsigned id,
                enum tally_pmu_level level, uint64_t value)
{
    if (!exists(pmu, strand, id))
        return TALLY_ERANGE;
    return pmu->ops->write(pmu, strand, id, level, value);
}

int
tally_pmu_set_state(struct tally_pmu *pmu, unsigned strand,
                    enum tally_pmu_state state, uint64_t value)
{
    if (strand >= pmu->strands)
        return TALLY_ERANGE;
    return pmu->ops->set_state(pmu, strand, state, value);
}

int
tally_pmu_state(const struct tally_pmu *pmu, unsigned strand,
                enum tally_pmu_state state, uint64_t *value)
{
    if (strand >= pmu->strands)
        return TALLY_ERANGE;
    return pmu->ops->state(pmu, strand, state, value);
}

uint32_t
tally_pmu_signal(struct tally_pmu *pmu, unsigned strand, uint32_t signal,
                 uint64_t n, const struct tally_pmu_context *context)
{
    if (strand >= pmu->strands)
        return 0;
    if (signal >> 24 == TALLY_PMU_CPU) {
        if (!pmu_heard(pmu, strand, signal))
            return 0;
        pmu->ops->signal(pmu, strand, signal, n,
                         context == NULL ? &pmu_no_context : context);
        return pmu->ops->pending(pmu, strand);
    }
    pmu_shared_signal(pmu, signal, n,
                      context == NULL ? &pmu_no_context : context);
    return 0;
}

uint32_t
tally_pmu_batch(struct tally_pmu *pmu, unsigned strand,
                const struct tally_pmu_total *totals, size_t count,
                const struct tally_pmu_context *context)
{
    if (strand >= pmu->strands)
        return 0;
    pmu->ops->batch(pmu, strand, totals, count,
                    context == NULL ? &pmu_no_context : context);
    return pmu->ops->pending(pmu, strand);
}

uint32_t
tally_pmu_retire(struct tally_pmu *pmu, unsigned strand, uint64_t n,
                 const struct tally_pmu_context *context)
{
    if (strand >= pmu->strands)
        return 0;
    pmu->ops->retire(pmu, strand, n,
                     context == NULL ? &pmu_no_context : context);
    return pmu->ops->pending(pmu, strand);
}

uint32_t
tally_pmu_pending(const struct tally_pmu *pmu, unsigned strand)
{
    return strand < pmu->strands ? pmu->ops->pending(pmu, strand) : 0;
}

int
tally_pmu_take(struct tally_pmu *pmu, unsigned strand, enum tally_pmu_trap trap,
               struct tally_pmu_taken *taken)
{
    if (strand >= pmu->strands)
        return TALLY_ERANGE;
    return pmu->ops->take(pmu, strand, trap, taken);
}

const struct pmu_group *
pmu_group(const struct pmu_machine *machine, unsigned sl)
{
    for (size_t i = 0; i < machine->groups_count; i++) {
        if (machine->groups[i].sl == sl)
            return &machine->groups[i];
    }
    return NULL;
}
