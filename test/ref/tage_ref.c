/* SPDX-License-Identifier: MIT */
#include "ref/tage_ref.h"

#include <stdlib.h>

/* Returns the newest `length` branches folded to a width: the newest is bit 0,
 * and bits beyond the width come back from below. */
static uint64_t
fold(const struct tage_ref *t, unsigned length, unsigned width)
{
    uint64_t bits = 0;

    for (unsigned age = 0; age < length && age < t->count; age++) {
        if (t->past[t->count - 1 - age])
            bits ^= (uint64_t)1 << age % width;
    }
    return bits;
}

static unsigned
log_of(uint64_t number)
{
    return number > 1 ? 1 + log_of(number / 2) : 0;
}

void
tage_ref_init(struct tage_ref *t, uint64_t counters, unsigned longest)
{
    *t = (struct tage_ref){.counters = counters, .random = 1};
    tage_histories(longest, t->histories);
    t->base = malloc(counters / 8 * sizeof(*t->base));
    for (uint64_t i = 0; i < counters / 8; i++)
        t->base[i] = 1;
    for (unsigned i = 0; i < TAGE_TABLES; i++) {
        t->tables[i] = calloc(counters / 64, sizeof(*t->tables[i]));
        for (uint64_t k = 0; k < counters / 64; k++)
            t->tables[i][k].counter = -1;
    }
}

void
tage_ref_finish(struct tage_ref *t)
{
    for (unsigned i = 0; i < TAGE_TABLES; i++)
        free(t->tables[i]);
    free(t->base);
    free(t->past);
}

static int
limited(int value, int least, int most)
{
    return value < least ? least : value > most ? most : value;
}

static unsigned
draw(struct tage_ref *t)
{
    t->random = t->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(t->random >> 62);
}

static void
allocate(struct tage_ref *t, struct tage_ref_entry **found,
         const uint32_t *tags, unsigned from, bool taken)
{
    static const unsigned passed[] = {0, 0, 1, 2};
    unsigned first = from + passed[draw(t)];

    if (first >= TAGE_TABLES)
        first = from;
    for (unsigned i = first; i < TAGE_TABLES; i++) {
        if (found[i]->useful == 0) {
            *found[i] =
                (struct tage_ref_entry){true, tags[i], taken ? 0 : -1, 0};
            return;
        }
    }
    for (unsigned i = from; i < TAGE_TABLES; i++)
        found[i]->useful = limited(found[i]->useful - 1, 0, 3);
}

bool
tage_ref_step(struct tage_ref *t, uint64_t branch, bool taken)
{
    const uint64_t each = t->counters / 64;
    const unsigned width = log_of(each);
    struct tage_ref_entry *found[TAGE_TABLES];
    uint32_t tags[TAGE_TABLES];
    int *const base = &t->base[branch % (t->counters / 8)];
    int provider = -1, alternate = -1;

    for (unsigned i = 0; i < TAGE_TABLES; i++) {
        const unsigned length = t->histories[i];
        const uint64_t index =
            branch ^ branch >> width ^ fold(t, length, width > 0 ? width : 1);
        found[i] = &t->tables[i][index % each];
        tags[i] =
            (branch ^ fold(t, length, 11) ^ fold(t, length, 10) * 2) % 2048;
        if (found[i]->used && found[i]->tag == tags[i]) {
            alternate = provider;
            provider = (int)i;
        }
    }

    const int step = taken ? 1 : -1;
    const bool other =
        alternate >= 0 ? found[alternate]->counter >= 0 : *base >= 2;
    bool predicted = other;
    bool base_learns = provider < 0;
    if (provider >= 0) {
        struct tage_ref_entry *const e = found[provider];
        const bool own = e->counter >= 0;
        const bool is_new =
            e->useful == 0 && e->counter >= -1 && e->counter <= 0;
        predicted = is_new && t->trust_alternate >= 0 ? other : own;
        if (is_new && own != other)
            t->trust_alternate =
                limited(t->trust_alternate + (other == taken ? 1 : -1), -8, 7);
        if (e->useful == 0 && alternate >= 0)
            found[alternate]->counter =
                limited(found[alternate]->counter + step, -4, 3);
        base_learns = e->useful == 0 && alternate < 0;
        if (own != other)
            e->useful = limited(e->useful + (own == taken ? 1 : -1), 0, 3);
        e->counter = limited(e->counter + step, -4, 3);
    }
    if (base_learns)
        *base = limited(*base + step, 0, 3);
    if (predicted != taken && provider + 1 < (int)TAGE_TABLES)
        allocate(t, found, tags, (unsigned)(provider + 1), taken);
    if (t->count == t->room) {
        t->room = t->room * 2 + 1024;
        t->past = realloc(t->past, t->room * sizeof(*t->past));
        if (t->past == NULL)
            abort();
    }
    t->past[t->count++] = taken;
    if (t->count % TAGE_PERIOD == 0) {
        for (unsigned i = 0; i < TAGE_TABLES; i++)
            for (uint64_t k = 0; k < each; k++)
                t->tables[i][k].useful /= 2;
    }
    return predicted != taken;
}
