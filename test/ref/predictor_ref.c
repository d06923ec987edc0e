/* SPDX-License-Identifier: MIT */
#include "ref/predictor_ref.h"

#include <stdlib.h>

void
predictor_ref_init(struct predictor_ref *p, uint64_t kind, uint64_t entries,
                   uint64_t history)
{
    *p = (struct predictor_ref){.kind = (enum predictor_kind)kind,
                                .entries = entries,
                                .history = history};
    switch (p->kind) {
    case PREDICTOR_KIND_NONE:
        break;
    case PREDICTOR_KIND_TAGE:
        tage_ref_init(&p->tage, entries < 64 ? 64 : entries, (unsigned)history);
        break;
    case PREDICTOR_KIND_PERCEPTRON:
        perceptron_ref_init(&p->perceptrons, entries, (unsigned)history);
        break;
    default:
        p->counts = malloc(entries * sizeof(*p->counts));
        if (p->counts == NULL)
            abort();
        for (uint64_t i = 0; i < entries; i++)
            p->counts[i] = 1;
        break;
    }
}

void
predictor_ref_finish(struct predictor_ref *p)
{
    if (p->kind == PREDICTOR_KIND_TAGE)
        tage_ref_finish(&p->tage);
    if (p->kind == PREDICTOR_KIND_PERCEPTRON)
        perceptron_ref_finish(&p->perceptrons);
    free(p->counts);
}

bool
predictor_ref_step(struct predictor_ref *p, uint64_t branch, bool taken)
{
    if (p->kind == PREDICTOR_KIND_TAGE)
        return tage_ref_step(&p->tage, branch, taken);
    if (p->kind == PREDICTOR_KIND_PERCEPTRON)
        return perceptron_ref_step(&p->perceptrons, branch, taken);

    /* The last directions, as far as the predictor looks back. */
    const uint64_t before = p->kind == PREDICTOR_KIND_BIMODAL ? 0
                            : p->history < 63
                                ? p->past % ((uint64_t)1 << p->history)
                                : p->past;
    unsigned *const count =
        &p->counts[(branch % p->entries) ^ (before % p->entries)];
    const bool wrong = taken != (*count >= 2);
    if (taken && *count < 3)
        ++*count;
    if (!taken && *count > 0)
        --*count;
    p->past = p->past * 2 + taken;
    return wrong;
}
