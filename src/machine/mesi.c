/* SPDX-License-Identifier: MIT */
#include "machine/mesi.h"

#include <assert.h>
#include <stdlib.h>

#include "base/error.h"

static size_t
bytes_of(const struct mesi *c)
{
    return (c->set_mask + 1) * c->columns * sizeof(*c->words);
}

int
mesi_init(struct mesi *c, uint64_t size, uint32_t ways, uint32_t line)
{
    const uint64_t sets = size / ((uint64_t)ways * line);

    assert(sets > 0 && (sets & (sets - 1)) == 0);
    c->set_mask = sets - 1;
    c->ways = ways;
    c->columns = (ways + 3) & ~3u;
    c->line_shift = (uint32_t)__builtin_ctz(line);
    c->words = aligned_alloc(64, (bytes_of(c) + 63) & ~(size_t)63);
    if (c->words == NULL)
        return TALLY_ENOMEM;
    mesi_clear(c);
    return 0;
}

void
mesi_finish(struct mesi *c)
{
    free(c->words);
    memset(c, 0, sizeof(*c));
}

void
mesi_clear(struct mesi *c)
{
    if (c->words != NULL)
        memset(c->words, 0, bytes_of(c));
}

void
mesi_drop(struct mesi *c, uint64_t *word)
{
    uint64_t *set =
        c->words + (size_t)(word - c->words) / c->columns * c->columns;
    const size_t behind = c->ways - (size_t)(word - set) - 1;

    memmove(word, word + 1, behind * sizeof(*word));
    set[c->ways - 1] = 0;
}
