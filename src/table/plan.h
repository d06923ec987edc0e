/* SPDX-License-Identifier: MIT */
/*
 * Which selections count together and on which counters, in the fewest
 * groups: a pure function of the tables. Exact for up to PLAN_EXACT events or
 * braces, beyond that the first group that fits, tightest event first.
 *
 * The rules: the counters an event is allowed; fields that selections share;
 * and of Montecito the sets of L1D events (one set, one of its events on PMD5)
 * and of L2D events (PMC4 governs PMD4, 5 and 8, PMC6 governs PMD6, 7 and 9:
 * set, unit mask and `all`), `all` on PMD4 to 9 alone, and that only one of
 * L2D_OZQ_CANCELS0 and 1 counts at a time.
 */
#ifndef TALLY_TABLE_PLAN_H
#define TALLY_TABLE_PLAN_H

#include "table/encode.h"

#define PLAN_EXACT 12
#define PLAN_MOST 1024 /* selections; no machine has as many events */

struct plan_row {
    uint16_t group;
    uint8_t counter;     /* of the machine */
    uint8_t umask_value; /* where counters share one, the common value */
};

struct plan {
    size_t group_count;
    struct plan_row *rows; /* one for each selection */
};

/*
 * TALLY_ERULE, logged with the rule, if a selection or what stands in one
 * pair of braces cannot count; TALLY_ERANGE for more than PLAN_MOST selections;
 * TALLY_ENOMEM. The caller calls plan_finish().
 */
int plan_make(const struct selection *list, size_t count,
              const struct tally_log *log, struct plan *plan);
void plan_finish(struct plan *plan);

/* Bits: the counters that can count it; with :all they are fewer. */
uint32_t plan_counters(const struct selection *selection);

/*
 * Returns whether all of `list` can count together; fills rows[].counter and
 * .umask_value. If not, and `why` is not NULL, it says which rule forbids it.
 */
bool plan_fits(const struct selection *const *list, size_t count,
               struct plan_row *rows, char *why, size_t why_size);

/* Two selections that cannot count together. */
struct plan_clash {
    uint16_t a, b; /* their places in the list, a < b */
    char *why;     /* which rule forbids it */
};

struct plan_clashes {
    size_t count;
    struct plan_clash *rows; /* in the order of the list */
};

/*
 * All pairs of `list` that clash; where there is none and yet several groups,
 * counters are short. TALLY_ENOMEM, logged. The caller calls
 * plan_clashes_finish().
 */
int plan_clashes(const struct selection *list, size_t count,
                 const struct tally_log *log, struct plan_clashes *clashes);
void plan_clashes_finish(struct plan_clashes *clashes);

/* The writes of one group of a plan, in the order of the registers. */
void
plan_encode(const struct selection *list, size_t count, const struct plan *plan,
            size_t group, struct write_list *writes);

#endif
