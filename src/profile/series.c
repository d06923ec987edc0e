/* SPDX-License-Identifier: MIT */
#include "profile/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

void
series_finish(struct series *s)
{
    free(s->entries);
    s->entries = NULL;
}

static int
compare(const void *a, const void *b)
{
    const struct series_entry *x = a, *y = b;

    return (x->value > y->value) - (x->value < y->value);
}

void
series_settle(struct series *s)
{
    struct series_entry merged[SERIES_ENTRIES];
    const struct series_entry *a = s->entries, *b = s->entries + s->used;
    const struct series_entry *const a_end = b, *const b_end = b + s->waiting;
    uint32_t count = 0;

    if (s->waiting == 0)
        return;
    qsort(s->entries + s->used, s->waiting, sizeof(*s->entries), compare);
    while (a < a_end || b < b_end) {
        const bool old = b == b_end || (a < a_end && a->value <= b->value);
        struct series_entry next = old ? *a++ : *b++;
        /* Values joined to the entry behind may be less than a new one. */
        if (!old && a < a_end)
            next.beyond = a->joined + a->beyond;
        if (count > 0 && merged[count - 1].value == next.value)
            merged[count - 1].count += next.count;
        else
            merged[count++] = next;
    }
    memcpy(s->entries, merged, count * sizeof(*merged));
    s->used = count;
    s->waiting = 0;
}

/* Joins neighbouring entries as long as an entry has no more than `share`
 * values whose rank is uncertain. */
static void
join(struct series *s, uint64_t share)
{
    uint32_t kept = s->used - 1;

    for (uint32_t i = s->used - 1; i-- > 0;) {
        const struct series_entry e = s->entries[i];
        struct series_entry *next = &s->entries[kept];
        if (e.count + next->joined + next->beyond <= share) {
            next->count += e.count;
            next->joined += (uint32_t)e.count;
        } else {
            s->entries[--kept] = e;
        }
    }
    s->used -= kept;
    memmove(s->entries, s->entries + kept, s->used * sizeof(*s->entries));
}

/* Adds the value to those that wait; makes room first if there is none. */
static int
keep(struct series *s, uint64_t value, struct series_limit *limit)
{
    limit->lists += s->room == 0;
    if (s->waiting > 0 && s->entries[s->used + s->waiting - 1].value == value) {
        s->entries[s->used + s->waiting - 1].count++;
        return 0;
    }
    const size_t own = SERIES_TOTAL / (limit->lists > 0 ? limit->lists : 1);
    const uint32_t most = own >= SERIES_ENTRIES ? SERIES_ENTRIES
                          : own > SERIES_LEAST  ? (uint32_t)own
                                                : SERIES_LEAST;
    if (s->used + s->waiting >= most) {
        series_settle(s);
        uint64_t share = 1 + s->count / most;
        for (; s->used > most / 4 * 3 && share < UINT32_MAX / 4; share *= 2)
            join(s, share);
    }
    if (s->used + s->waiting == s->room) {
        const uint32_t room = s->room > 0 ? 2 * s->room : 4;
        struct series_entry *more = realloc(s->entries, room * sizeof(*more));
        if (more == NULL)
            return TALLY_ENOMEM;
        s->entries = more;
        s->room = room;
    }
    s->entries[s->used + s->waiting++] =
        (struct series_entry){.value = value, .count = 1};
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

uint64_t
series_percentile(const struct series *s, double percent)
{
    const double rank = ceil(percent / 100 * (double)s->count);
    uint64_t seen = 0;

    for (uint32_t i = 0; i < s->used; i++) {
        seen += s->entries[i].count;
        if ((double)seen >= rank)
            return s->entries[i].value;
    }
    return s->max;
}

double
series_error(const struct series *s)
{
    uint64_t most = 0;

    for (uint32_t i = 0; i < s->used; i++) {
        const uint64_t unsure =
            (uint64_t)s->entries[i].joined + s->entries[i].beyond;
        most = unsure > most ? unsure : most;
    }
    return s->count > 0 ? (double)most / (double)s->count : 0;
}
