/* SPDX-License-Identifier: MIT */
/* Whether selections count together: the rules of plan.h. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "table/plan.h"
#include "table/sets.h"

#define COUNTERS_MAX 32
#define ITEMS_MAX 64
#define NONE 0xff

struct fit {
    const struct selection *const *list;
    size_t count;
    struct plan_row *rows;
    uint32_t allowed[ITEMS_MAX]; /* counters */
    char *why;
    size_t why_size;
};

__attribute__((format(printf, 2, 3))) static bool
refuse(const struct fit *f, const char *format, ...)
{
    va_list args;

    if (f->why == NULL)
        return false;
    va_start(args, format);
    vsnprintf(f->why, f->why_size, format, args);
    va_end(args);
    return false;
}

struct named {
    char text[SELECTION_TEXT];
};

static struct named
named(const struct selection *s)
{
    struct named n;

    selection_text(s, n.text, sizeof(n.text));
    return n;
}

static uint32_t
counter_set(const struct machine_row *m, const char *name)
{
    uint32_t bits = 0;

    for (size_t i = 0; i < m->counter_count; i++)
        for (const char *const *s = m->counters[i].sets; *s != NULL; s++)
            if (strcmp(*s, name) == 0)
                bits |= 1u << i;
    return bits;
}

uint32_t
plan_counters(const struct selection *s)
{
    uint32_t bits = 0;

    if (s->event != NULL)
        bits = s->event->counters;
    else
        for (size_t i = 0; i < s->machine->counter_count; i++)
            if (s->machine->counters[i].unit == s->unit &&
                s->machine->counters[i].sl_field >= 0)
                bits |= 1u << i;
    if (s->machine->family == FAMILY_MONTECITO &&
        selection_value(s, "all") != 0)
        bits &= counter_set(s->machine, "duplicated");
    return bits;
}

static bool
meet(const struct selection *a, const struct selection *b)
{
    return a->unit == b->unit &&
           (a->instance < 0 || b->instance < 0 || a->instance == b->instance);
}

/* Who of the others has the counter: FREE, STUCK (several, or fixed), or one.
 */
enum { FREE = -1, STUCK = -2 };

static int
holder_of(const struct fit *f, size_t i, uint8_t counter, uint64_t fixed)
{
    int holder = FREE;

    for (size_t k = 0; k < f->count; k++) {
        if (k == i || f->rows[k].counter != counter ||
            !meet(f->list[k], f->list[i]))
            continue;
        if (holder != FREE || (fixed >> k & 1) != 0)
            return STUCK;
        holder = (int)k;
    }
    return holder;
}

/*
 * Gives item `i` the first free counter, or one whose holder can move on
 * (Kuhn's matching). `fixed` items stay where they are.
 */
static bool
match(const struct fit *f, size_t i, uint32_t *tried, uint64_t fixed)
{
    for (uint8_t c = 0; c < COUNTERS_MAX; c++)
        if ((f->allowed[i] & ~*tried & 1u << c) != 0 &&
            holder_of(f, i, c, fixed) == FREE) {
            f->rows[i].counter = c;
            return true;
        }
    for (uint8_t c = 0; c < COUNTERS_MAX; c++) {
        const int holder = holder_of(f, i, c, fixed);
        if ((f->allowed[i] & ~*tried & 1u << c) == 0)
            continue;
        *tried |= 1u << c;
        if (holder >= 0 && match(f, (size_t)holder, tried, fixed)) {
            f->rows[i].counter = c;
            return true;
        }
    }
    return false;
}

static bool
match_all(const struct fit *f, uint64_t fixed)
{
    for (size_t i = 0; i < f->count; i++)
        if ((fixed >> i & 1) == 0)
            f->rows[i].counter = NONE;
    for (size_t i = 0; i < f->count; i++) {
        uint32_t tried = 0;
        if ((fixed >> i & 1) == 0 && !match(f, i, &tried, fixed))
            return false;
    }
    return true;
}

static bool
in_group(const struct fit *f, const struct l2d_group *group, size_t i)
{
    return l2d_set(f->list[i]) >= 0 &&
           (group->counters >> f->rows[i].counter & 1) != 0;
}

/* What one cares for, no other contradicts: they share the sum of all. */
static bool
l2d_group_fits(const struct fit *f, const struct l2d_group *group)
{
    unsigned value = 0;
    bool any = false, has_master = false;

    for (size_t i = 0; i < f->count; i++) {
        if (!in_group(f, group, i))
            continue;
        for (size_t k = 0; k < i; k++)
            if (in_group(f, group, k) &&
                l2d_compare(f->list[i], f->list[k]) != L2D_SAME)
                return false;
        any = true;
        has_master = has_master || f->rows[i].counter == group->master;
        value |= f->list[i]->umask_value;
    }
    if (any && !has_master)
        return false;
    for (size_t i = 0; i < f->count; i++)
        if (in_group(f, group, i))
            f->rows[i].umask_value = (uint8_t)value;
    return true;
}

/* One of the L1D events goes to PMD5; ordinary events to what is left. */
static bool
place_l1d(const struct fit *f, uint64_t placed)
{
    bool any = false;

    for (size_t i = 0; i < f->count; i++) {
        if (l1d_set(f->list[i]) < 0 || (placed >> i & 1) != 0)
            continue;
        any = true;
        bool taken = false;
        for (size_t k = 0; k < f->count; k++)
            taken = taken || ((placed >> k & 1) != 0 &&
                              f->rows[k].counter == L1D_MASTER);
        if (taken)
            return false;
        if ((f->allowed[i] >> L1D_MASTER & 1) == 0)
            continue;
        f->rows[i].counter = L1D_MASTER;
        if (match_all(f, placed | UINT64_C(1) << i))
            return true;
    }
    return !any && match_all(f, placed);
}

/* Every place for the L2D events from `next` on, then the rest. */
static bool
place_l2d(const struct fit *f, size_t next, uint32_t used, uint64_t placed)
{
    while (next < f->count && l2d_set(f->list[next]) < 0)
        next++;
    if (next == f->count)
        return l2d_group_fits(f, &tally_l2d_groups[0]) &&
               l2d_group_fits(f, &tally_l2d_groups[1]) && place_l1d(f, placed);
    for (uint8_t c = 0; l2d_group_of(c) != NULL; c++) {
        if (((f->allowed[next] & ~used) >> c & 1) == 0)
            continue;
        f->rows[next].counter = c;
        if (place_l2d(f, next + 1, used | 1u << c,
                      placed | UINT64_C(1) << next))
            return true;
    }
    f->rows[next].counter = NONE;
    return false;
}

static bool
l1d_pair_fits(const struct fit *f, const struct selection *a,
              const struct selection *b)
{
    if (l1d_set(a) >= 0 && l1d_set(b) >= 0 && l1d_set(a) != l1d_set(b))
        return refuse(f,
                      "%s is of L1D set %d and %s of set %d: PMC5 chooses one "
                      "set at a time",
                      named(a).text, l1d_set(a), named(b).text, l1d_set(b));
    return true;
}

static bool
montecito_fits(const struct fit *f)
{
    size_t l1d = 0, l2d = 0;

    for (size_t i = 0; i < f->count; i++) {
        l1d += l1d_set(f->list[i]) >= 0;
        l2d += l2d_set(f->list[i]) >= 0;
        for (size_t k = 0; k < i; k++)
            if (!l1d_pair_fits(f, f->list[k], f->list[i]))
                return false;
    }
    if (l2d <= 6 && place_l2d(f, 0, 0, 0))
        return true;
    if (l2d > 0)
        return refuse(
            f,
            "L2D events share the set, unit mask and :all of PMC4 (on PMD4, 5 "
            "and 8) or of PMC6 (on PMD6, 7 and 9)%s",
            l1d > 0 ? ", and an L1D event needs PMD5" : "");
    return refuse(f,
                  "%s%zu events, more than the counters allowed for them "
                  "can take",
                  l1d > 0 ? "one L1D event must be on PMD5; " : "", f->count);
}

static void
counter_names(const struct machine_row *m, uint32_t bits, char *text,
              size_t size)
{
    const char *names[COUNTERS_MAX];
    size_t count = 0, at;

    for (size_t i = 0; i < m->counter_count; i++)
        if ((bits >> i & 1) != 0)
            names[count++] = m->counters[i].name;
    at = 0;
    text[0] = '\0';
    for (size_t i = 0; i < count && at < size; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%s",
                               i == 0          ? ""
                               : i + 1 < count ? ", "
                                               : " and ",
                               names[i]);
}

static bool
has_counters(const struct fit *f)
{
    for (size_t i = 0; i < f->count; i++) {
        const struct selection *s = f->list[i];
        const char *all = selection_value(s, "all") != 0 && s->event != NULL &&
                                  s->event->counters != 0
                              ? " with :all"
                              : "";
        if (f->allowed[i] == 0)
            return refuse(f, "no counter of %s counts %s%s", s->machine->name,
                          named(s).text, all);
    }
    return true;
}

static bool
none_excluded(const struct fit *f)
{
    for (size_t i = 0; i < f->count; i++)
        for (size_t k = 0; k < i; k++)
            if (selections_exclude(f->list[k], f->list[i]))
                return refuse(f,
                              "%s and %s: only one of the two counts at a time",
                              named(f->list[k]).text, named(f->list[i]).text);
    return true;
}

static bool
matches(const struct fit *f)
{
    char names[256];
    uint32_t all = 0;

    if (match_all(f, 0))
        return true;
    for (size_t i = 0; i < f->count; i++)
        all |= f->allowed[i];
    counter_names(f->list[0]->machine, all, names, sizeof(names));
    if (f->count == 2)
        return refuse(f, "%s and %s both need %s", named(f->list[0]).text,
                      named(f->list[1]).text, names);
    return refuse(f, "%zu events for %s", f->count, names);
}

/* Two want different values in a field that they share. */
static bool
fields_fit(const struct fit *f)
{
    struct write_list writes;
    struct write_clash clash;

    writes.count = 0;
    for (size_t i = 0; i < f->count; i++) {
        struct selection s = *f->list[i];
        const struct machine_row *m = s.machine;
        s.umask_value = f->rows[i].umask_value;
        if (encode_add(&writes, &s, f->rows[i].counter, &clash))
            continue;
        const struct register_row *r = &m->registers[clash.reg];
        return refuse(f, "%s would need %u in %s.%s, where another has %u",
                      named(&s).text, clash.wanted, r->name,
                      r->fields[clash.field].name, clash.old);
    }
    return true;
}

bool
plan_fits(const struct selection *const *list, size_t count,
          struct plan_row *rows, char *why, size_t why_size)
{
    struct fit f = {.list = list,
                    .count = count,
                    .rows = rows,
                    .why = why,
                    .why_size = why_size};

    if (count > ITEMS_MAX)
        return refuse(&f, "%zu events are more than any group takes", count);
    for (size_t i = 0; i < count; i++) {
        f.allowed[i] = plan_counters(list[i]);
        rows[i].counter = NONE;
        rows[i].umask_value = list[i]->umask_value;
    }
    if (count == 0 || !has_counters(&f))
        return count == 0;
    if (!none_excluded(&f))
        return false;
    if (list[0]->machine->family == FAMILY_MONTECITO ? !montecito_fits(&f)
                                                     : !matches(&f))
        return false;
    return fields_fit(&f);
}
