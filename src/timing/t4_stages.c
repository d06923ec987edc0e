/* SPDX-License-Identifier: MIT */
#include "timing/t4_stages.h"

#include <stdbool.h>

#include "timing/t4_class.h"
#include "table/table.h"

#define FETCH_WIDTH 4u

/* What one cycle has so far. */
struct cycle {
    unsigned count, stores;
};

static void
end_select(struct cycle *c, int16_t *fixed)
{
    if (c->count == 0)
        return;
    fixed[SIGNAL_SELECT_1 + c->count - 1]++;
    fixed[SIGNAL_PICK_1 + c->count + c->stores - 1]++;
    *c = (struct cycle){0, 0};
}

static void
end_commit(struct cycle *c, int16_t *fixed)
{
    if (c->count != 0)
        fixed[SIGNAL_COMMIT_1 + c->count - 1]++;
    c->count = 0;
}

static void
select_one(struct cycle *c, unsigned width, bool store, int16_t *fixed)
{
    if (c->count == width || (store && c->stores != 0))
        end_select(c, fixed);
    c->count++;
    c->stores += store;
}

static void
commit_one(struct cycle *c, unsigned width, bool alone, int16_t *fixed)
{
    if (c->count == width || alone)
        end_commit(c, fixed);
    c->count++;
    if (alone)
        end_commit(c, fixed);
}

unsigned
t4_stages_width(const uint64_t *params)
{
    if (params[PARAM_ISSUE_GROUPS] != ISSUE_GROUPS_BLOCK)
        return 0;
    return params[PARAM_TIME_ISSUE] == 1 ? 1 : 2;
}

void
t4_stages_add(const struct insn *insns, size_t count, unsigned width,
              int16_t *fixed)
{
    struct cycle selected = {0, 0}, committed = {0, 0};

    for (size_t i = 0; i < count; i++) {
        const struct insn *insn = &insns[i];
        const unsigned more = t4_more(insn);
        for (unsigned k = 0; k <= more; k++) {
            select_one(&selected, width, insn->stores != 0, fixed);
            commit_one(&committed, width, insn->class == CLASS_ATOMIC, fixed);
        }
    }
    end_select(&selected, fixed);
    end_commit(&committed, fixed);
    const int fetched = (int)((count + FETCH_WIDTH - 1) / FETCH_WIDTH);
    fixed[SIGNAL_FETCH_CYCLES] =
        (int16_t)(fixed[SIGNAL_FETCH_CYCLES] + fetched);
}
