/* SPDX-License-Identifier: MIT */
#include "table/sets.h"

#include <string.h>

#define BIT(n) (1u << PMD(n))

const struct l2d_group tally_l2d_groups[L2D_GROUPS] = {
    {PMD(4), BIT(4) | BIT(5) | BIT(8)},
    {PMD(6), BIT(6) | BIT(7) | BIT(9)},
};

const struct l2d_group *
l2d_group_of(size_t counter)
{
    for (size_t i = 0; i < L2D_GROUPS; i++)
        if ((tally_l2d_groups[i].counters >> counter & 1) != 0)
            return &tally_l2d_groups[i];
    return NULL;
}

int
l1d_set(const struct selection *s)
{
    return s->event != NULL ? s->event->l1d_set : -1;
}

int
l2d_set(const struct selection *s)
{
    return s->event != NULL ? s->event->l2d_set : -1;
}

enum l2d_difference
l2d_compare(const struct selection *a, const struct selection *b)
{
    const unsigned care = a->umask_care & b->umask_care;

    if (l2d_set(a) != l2d_set(b))
        return L2D_OTHER_SET;
    if (((a->umask_value ^ b->umask_value) & care) != 0)
        return L2D_OTHER_UMASK;
    return selection_value(a, "all") != selection_value(b, "all")
               ? L2D_OTHER_ALL
               : L2D_SAME;
}

static bool
names_other(const struct event_row *a, const struct event_row *b)
{
    for (const char *const *name = a->excludes; *name != NULL; name++)
        if (strcmp(*name, b->name) == 0 && strcmp(a->unit, b->unit) == 0)
            return true;
    return false;
}

bool
selections_exclude(const struct selection *a, const struct selection *b)
{
    return a->event != NULL && b->event != NULL &&
           (names_other(a->event, b->event) || names_other(b->event, a->event));
}
