/* SPDX-License-Identifier: MIT */
/*
 * The slow twin of src/table/plan.c and fit.c: all partitions, all counters,
 * and the rules once more, each from its sentence in the manual. It reads of
 * the tables only what an event is (code, number, type), not where it counts.
 */
#ifndef TALLY_TEST_PLAN_REF_H
#define TALLY_TEST_PLAN_REF_H

#include "table/plan.h"

#define PLAN_REF_MAX 40

/*
 * NULL if the selections may count together on these counters with these
 * unit masks, else the rule that forbids it.
 */
const char *plan_ref_breaks(const struct selection *const *list, size_t count,
                            const struct plan_row *rows);

/* Whether any choice of counters lets them count together. */
bool plan_ref_fits(const struct selection *const *list, size_t count);

/*
 * The fewest groups, what has the same selection.group >= 0 together; 0 if
 * there is no way. For up to 8.
 */
size_t plan_ref_groups(const struct selection *list, size_t count);

#endif
