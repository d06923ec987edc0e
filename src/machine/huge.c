/* SPDX-License-Identifier: MIT */
#include "machine/huge.h"

#include <stdlib.h>

struct huge *
huge_create(void)
{
    return calloc(1, sizeof(struct huge));
}

void
huge_destroy(struct huge *h)
{
    free(h);
}

void
huge_allow(struct huge *h, uint64_t piece, bool may)
{
    _Atomic uint8_t *const bits = &h->pieces[piece];

    /* Memory of the host that is only read is not given to the process. */
    if (((atomic_load(bits) & HUGE_MAY) != 0) == may)
        return;
    if (may)
        atomic_fetch_or(bits, HUGE_MAY);
    else
        atomic_fetch_and(bits, (uint8_t)~HUGE_MAY);
}

void
huge_decide(struct huge *h, uint64_t piece, unsigned decision)
{
    uint8_t old = atomic_load(&h->pieces[piece]);

    if ((old & HUGE_DECIDED) == decision)
        return;
    while (!atomic_compare_exchange_weak(
        &h->pieces[piece], &old, (uint8_t)((old & HUGE_MAY) | decision)))
        ;
    if ((old & HUGE_DECIDED) != 0)
        atomic_fetch_add(&h->changes, 1);
}

bool
huge_first_access(struct huge *h, uint64_t piece)
{
    uint8_t old = atomic_load(&h->pieces[piece]);

    /* Another thread may be the first. */
    while ((old & HUGE_DECIDED) == 0) {
        const uint8_t decided =
            (uint8_t)(old | (old & HUGE_MAY ? HUGE_IS : HUGE_NOT));
        if (atomic_compare_exchange_weak(&h->pieces[piece], &old, decided))
            return (decided & HUGE_IS) != 0;
    }
    return (old & HUGE_IS) != 0;
}
