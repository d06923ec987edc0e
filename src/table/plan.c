/* SPDX-License-Identifier: MIT */
#include "table/plan.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHY_SIZE 512

/* What must count together: a selection, or what stands in one brace. */
struct atoms {
    const struct selection *list;
    size_t count; /* of selections */
    uint16_t *atom_of;
    size_t atom_count;
};

static void
find_atoms(struct atoms *a)
{
    for (size_t i = 0; i < a->count; i++) {
        size_t k = 0;
        while (k < i &&
               (a->list[i].group < 0 || a->list[k].group != a->list[i].group))
            k++;
        a->atom_of[i] = k < i ? a->atom_of[k] : (uint16_t)a->atom_count++;
    }
}

struct gathered {
    size_t count;
    const struct selection **list;
    uint16_t *index;
    struct plan_row *rows;
};

static bool
gather_fits(const struct atoms *a, struct gathered *g, const bool *wanted,
            char *why, size_t why_size)
{
    g->count = 0;
    for (size_t i = 0; i < a->count; i++) {
        if (!wanted[a->atom_of[i]])
            continue;
        g->list[g->count] = &a->list[i];
        g->index[g->count++] = (uint16_t)i;
    }
    return plan_fits(g->list, g->count, g->rows, why, why_size);
}

/* Writes the group's counters into the plan. */
static void
take_group(const struct gathered *g, struct plan *plan)
{
    for (size_t i = 0; i < g->count; i++) {
        struct plan_row *row = &plan->rows[g->index[i]];
        *row = g->rows[i];
        row->group = (uint16_t)plan->group_count;
    }
    plan->group_count++;
}

/* Returns whether `a` has the earliest atom that only one of the two has. */
static bool
has_earlier(size_t a, size_t b)
{
    const size_t differ = a ^ b;

    return (a & differ & (~differ + 1)) != 0;
}

/*
 * best[set] = fewest groups for the atoms of `set`; the group with the lowest
 * atom of the rest is tried in each size.
 */
static int
plan_exact(const struct atoms *a, struct gathered *g, struct plan *plan)
{
    const size_t sets = (size_t)1 << a->atom_count;
    uint8_t *best = malloc(sets);
    uint8_t *fits = calloc(sets, 1);
    uint16_t *last = malloc(sets * sizeof(*last));
    bool wanted[PLAN_EXACT];

    if (best == NULL || fits == NULL || last == NULL) {
        free(best);
        free(fits);
        free(last);
        return TALLY_ENOMEM;
    }
    for (size_t set = 1; set < sets; set++) {
        for (size_t i = 0; i < a->atom_count; i++)
            wanted[i] = set >> i & 1;
        fits[set] = gather_fits(a, g, wanted, NULL, 0);
    }
    best[0] = 0;
    for (size_t set = 1; set < sets; set++) {
        const size_t low = set & (~set + 1);
        best[set] = UINT8_MAX;
        for (size_t sub = set; sub != 0; sub = (sub - 1) & set) {
            if ((sub & low) == 0 || !fits[sub])
                continue;
            const unsigned groups = best[set & ~sub] + 1u;
            if (groups < best[set] ||
                (groups == best[set] && has_earlier(sub, last[set]))) {
                best[set] = (uint8_t)groups;
                last[set] = (uint16_t)sub;
            }
        }
    }
    for (size_t set = sets - 1; set != 0; set &= ~(size_t)last[set]) {
        for (size_t i = 0; i < a->atom_count; i++)
            wanted[i] = last[set] >> i & 1;
        const bool fit = gather_fits(a, g, wanted, NULL, 0);
        assert(fit);
        (void)fit;
        take_group(g, plan);
    }
    free(best);
    free(fits);
    free(last);
    return 0;
}

static unsigned
tightness(const struct atoms *a, size_t atom)
{
    unsigned least = 32;

    for (size_t i = 0; i < a->count; i++) {
        const struct event_row *e = a->list[i].event;
        if (a->atom_of[i] != atom || e == NULL)
            continue;
        unsigned n = (unsigned)__builtin_popcount(e->counters);
        if (e->l1d_set >= 0 || e->l2d_set >= 0)
            n = 1;
        least = n < least ? n : least;
    }
    return least;
}

/* The first group that takes it, the tightest first. */
static int
plan_first_fit(const struct atoms *a, struct gathered *g, struct plan *plan)
{
    uint16_t *group_of = calloc(a->atom_count, sizeof(*group_of));
    bool *wanted = calloc(a->atom_count, sizeof(*wanted));
    size_t groups = 0;

    if (group_of == NULL || wanted == NULL) {
        free(group_of);
        free(wanted);
        return TALLY_ENOMEM;
    }
    for (unsigned tight = 0; tight <= 32; tight++) {
        for (size_t i = 0; i < a->atom_count; i++) {
            if (tightness(a, i) != tight)
                continue;
            for (size_t group = 1;; group++) {
                for (size_t k = 0; k < a->atom_count; k++)
                    wanted[k] = group_of[k] == group || k == i;
                if (group <= groups && !gather_fits(a, g, wanted, NULL, 0))
                    continue;
                group_of[i] = (uint16_t)group;
                groups = group > groups ? group : groups;
                break;
            }
        }
    }
    for (size_t group = 1; group <= groups; group++) {
        for (size_t k = 0; k < a->atom_count; k++)
            wanted[k] = group_of[k] == group;
        gather_fits(a, g, wanted, NULL, 0);
        take_group(g, plan);
    }
    free(group_of);
    free(wanted);
    return 0;
}

/* Each atom must fit alone. */
static int
check_atoms(const struct atoms *a, struct gathered *g,
            const struct tally_log *log)
{
    char why[WHY_SIZE] = "";
    bool *wanted = calloc(a->atom_count, sizeof(*wanted));
    int error = 0;

    if (wanted == NULL)
        return TALLY_ENOMEM;
    for (size_t i = 0; i < a->atom_count && error == 0; i++) {
        wanted[i] = true;
        if (!gather_fits(a, g, wanted, why, sizeof(why)))
            error = tally_fail(log, TALLY_ERULE, "%s%s",
                               g->count > 1 ? "the braces cannot count "
                                              "together: "
                                            : "",
                               why);
        wanted[i] = false;
    }
    free(wanted);
    return error;
}

static int
plan_atoms(const struct atoms *a, struct gathered *g,
           const struct tally_log *log, struct plan *plan)
{
    const int error = check_atoms(a, g, log);

    if (error != 0)
        return error;
    return a->atom_count <= PLAN_EXACT ? plan_exact(a, g, plan)
                                       : plan_first_fit(a, g, plan);
}

int
plan_make(const struct selection *list, size_t count,
          const struct tally_log *log, struct plan *plan)
{
    struct atoms a = {.list = list, .count = count};
    struct gathered g = {0};
    struct plan made = {0};
    int error = TALLY_ENOMEM;

    if (count > PLAN_MOST)
        return tally_fail(log, TALLY_ERANGE,
                          "%zu events to plan; at most %d are taken, each "
                          "once is enough",
                          count, PLAN_MOST);
    a.atom_of = calloc(count + 1, sizeof(*a.atom_of));
    g.list = calloc(count + 1, sizeof(*g.list));
    g.index = calloc(count + 1, sizeof(*g.index));
    g.rows = calloc(count + 1, sizeof(*g.rows));
    made.rows = calloc(count + 1, sizeof(*made.rows));
    if (a.atom_of != NULL && g.list != NULL && g.index != NULL &&
        g.rows != NULL && made.rows != NULL) {
        find_atoms(&a);
        error = plan_atoms(&a, &g, log, &made);
    }
    if (error == TALLY_ENOMEM)
        tally_fail(log, error, "no memory for a plan of %zu events", count);
    free(a.atom_of);
    free(g.list);
    free(g.index);
    free(g.rows);
    if (error == 0)
        *plan = made;
    else
        free(made.rows);
    return error;
}

void
plan_finish(struct plan *plan)
{
    free(plan->rows);
    *plan = (struct plan){0};
}

static int
add_clash(struct plan_clashes *c, size_t *room, size_t a, size_t b,
          const char *why)
{
    if (c->count == *room) {
        const size_t more = *room == 0 ? 16 : 2 * *room;
        void *rows = reallocarray(c->rows, more, sizeof(*c->rows));
        if (rows == NULL)
            return TALLY_ENOMEM;
        c->rows = rows;
        *room = more;
    }
    struct plan_clash *row = &c->rows[c->count];
    *row = (struct plan_clash){(uint16_t)a, (uint16_t)b, strdup(why)};
    c->count += row->why != NULL;
    return row->why != NULL ? 0 : TALLY_ENOMEM;
}

int
plan_clashes(const struct selection *list, size_t count,
             const struct tally_log *log, struct plan_clashes *clashes)
{
    struct plan_clashes found = {0};
    size_t room = 0;

    for (size_t a = 0; a < count; a++)
        for (size_t b = a + 1; b < count; b++) {
            const struct selection *const pair[] = {&list[a], &list[b]};
            struct plan_row rows[2];
            char why[WHY_SIZE];
            if (plan_fits(pair, 2, rows, why, sizeof(why)) ||
                add_clash(&found, &room, a, b, why) == 0)
                continue;
            plan_clashes_finish(&found);
            return tally_fail(log, TALLY_ENOMEM,
                              "no memory for the clashes of %zu events", count);
        }
    *clashes = found;
    return 0;
}

void
plan_clashes_finish(struct plan_clashes *clashes)
{
    for (size_t i = 0; i < clashes->count; i++)
        free(clashes->rows[i].why);
    free(clashes->rows);
    *clashes = (struct plan_clashes){0};
}

/* Compares two writes, for an order in which what enables counters stands last.
 */
static int
by_register(const void *a, const void *b)
{
    const struct reg_write *x = a, *y = b;

    if (x->enables != y->enables)
        return x->enables ? 1 : -1;
    return (x->reg > y->reg) - (x->reg < y->reg);
}

void
plan_encode(const struct selection *list, size_t count, const struct plan *plan,
            size_t group, struct write_list *writes)
{
    struct write_clash clash;

    writes->count = 0;
    for (size_t i = 0; i < count; i++) {
        struct selection s = list[i];
        if (plan->rows[i].group != group)
            continue;
        s.umask_value = plan->rows[i].umask_value;
        const bool fits = encode_add(writes, &s, plan->rows[i].counter, &clash);
        assert(fits);
        (void)fits;
    }
    qsort(writes->rows, writes->count, sizeof(writes->rows[0]), by_register);
}
