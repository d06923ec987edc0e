/* SPDX-License-Identifier: MIT */
#include "profile/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define BITS_FIRST 10
#define BITS_LAST 2

void
series_finish(struct series *s)
{
    free(s->entries);
    s->entries = NULL;
}

/* The smallest value that is rounded to the same. */
static uint64_t
rounded(const struct series *s, uint64_t value)
{
    const int excess =
        s->bits == 0 || value == 0 ? 0 : 64 - __builtin_clzll(value) - s->bits;

    return excess > 0 ? value >> excess << excess : value;
}

/* Fewer leading bits: entries that become equal are one. */
static void
coarsen(struct series *s)
{
    uint32_t kept = 0;

    s->bits = s->bits == 0 ? BITS_FIRST : (uint8_t)(s->bits - 1);
    for (uint32_t i = 0; i < s->used; i++) {
        const uint64_t value = rounded(s, s->entries[i].value);
        if (kept > 0 && s->entries[kept - 1].value == value) {
            s->entries[kept - 1].count += s->entries[i].count;
            continue;
        }
        s->entries[kept].value = value;
        s->entries[kept++].count = s->entries[i].count;
    }
    s->used = kept;
    s->recent = 0;
}

static uint32_t
allowed(const struct series_limit *limit)
{
    const size_t share = SERIES_TOTAL / (limit->lists > 0 ? limit->lists : 1);

    return share >= SERIES_ENTRIES ? SERIES_ENTRIES
           : share > SERIES_LEAST  ? (uint32_t)share
                                   : SERIES_LEAST;
}

/* Half of what is allowed, so that not each new value has to. */
static void
make_fit(struct series *s, uint32_t most)
{
    while (s->used > most / 2 && s->bits != BITS_LAST)
        coarsen(s);
    if (s->room > 2 * most) {
        struct series_entry *less =
            realloc(s->entries, 2 * most * sizeof(*less));
        if (less != NULL) {
            s->entries = less;
            s->room = 2 * most;
        }
    }
}

static int
grow(struct series *s)
{
    const uint32_t room = s->room > 0 ? 2 * s->room : 4;
    struct series_entry *more = realloc(s->entries, room * sizeof(*more));

    if (more == NULL)
        return TALLY_ENOMEM;
    s->entries = more;
    s->room = room;
    return 0;
}

/* The first entry that is not less; without a branch that depends on values,
 * which would be mispredicted half of the time. */
static uint32_t
place_of(const struct series *s, uint64_t value)
{
    const struct series_entry *base = s->entries;
    uint32_t left = s->used;

    while (left > 1) {
        const uint32_t half = left / 2;
        base = base[half - 1].value < value ? base + half : base;
        left -= half;
    }
    return (uint32_t)(base - s->entries) + (left == 1 && base->value < value);
}

static int
keep(struct series *s, uint64_t value, struct series_limit *limit)
{
    const uint32_t most = allowed(limit);

    limit->lists += s->room == 0;
    if (s->used >= most && s->bits != BITS_LAST)
        make_fit(s, most);
    value = rounded(s, value);
    if (s->recent < s->used && s->entries[s->recent].value == value) {
        s->entries[s->recent].count++;
        return 0;
    }
    const uint32_t at = s->used > 0 ? place_of(s, value) : 0;
    s->recent = at;
    if (at < s->used && s->entries[at].value == value) {
        s->entries[at].count++;
        return 0;
    }
    if (s->used == s->room && grow(s) != 0)
        return TALLY_ENOMEM;
    memmove(s->entries + at + 1, s->entries + at,
            (s->used - at) * sizeof(*s->entries));
    s->entries[at] = (struct series_entry){value, 1};
    s->used++;
    return 0;
}

int
series_add(struct series *s, uint64_t value, struct series_limit *limit)
{
    const int error = limit != NULL ? keep(s, value, limit) : 0;

    if (error != 0)
        return error;
    if (s->count == 0 || value < s->min)
        s->min = value;
    if (s->count == 0 || value > s->max)
        s->max = value;
    s->count++;
    s->sum += value;
    const double off = (double)value - s->mean;
    s->mean += off / (double)s->count;
    s->squares += off * ((double)value - s->mean);
    return 0;
}

double
series_deviation(const struct series *s)
{
    return s->count > 0 ? sqrt(s->squares / (double)s->count) : 0;
}

/* The middle of what an entry stands for. */
static uint64_t
middle(const struct series *s, uint64_t value)
{
    const int excess =
        s->bits == 0 || value == 0 ? 0 : 64 - __builtin_clzll(value) - s->bits;
    const uint64_t half =
        excess > 0 ? value + (UINT64_C(1) << (excess - 1)) : value;

    return half < s->min ? s->min : half > s->max ? s->max : half;
}

uint64_t
series_percentile(const struct series *s, double percent)
{
    const double rank = ceil(percent / 100 * (double)s->count);
    uint64_t seen = 0;

    for (uint32_t i = 0; i < s->used; i++) {
        seen += s->entries[i].count;
        if ((double)seen >= rank)
            return middle(s, s->entries[i].value);
    }
    return s->max;
}

double
series_error(const struct series *s)
{
    return s->bits == 0 ? 0 : ldexp(1, -s->bits);
}
