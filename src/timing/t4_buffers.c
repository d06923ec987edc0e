/* SPDX-License-Identifier: MIT */
#include "timing/t4_buffers.h"

#include "timing/t4_class.h"
#include "table/table.h"

struct t4_buffers
t4_buffers_of(const uint64_t *params)
{
    return (struct t4_buffers){
        .rob = (unsigned)params[PARAM_ROB_ENTRIES],
        .lb = (unsigned)params[PARAM_LB_ENTRIES],
        .sb = (unsigned)params[PARAM_STORE_BUFFER],
    };
}

/* Entries of the buffers that the instructions of a block take. */
struct uses {
    unsigned rob, lb, sb; /* entries that it takes */
    unsigned loads;       /* instructions */
};

static struct uses
uses_of(const struct insn *insns, size_t count)
{
    struct uses u = {0};

    for (size_t i = 0; i < count; i++) {
        const unsigned micro = t4_more(&insns[i]) + 1u;
        const bool load = insns[i].loads != 0 && insns[i].class != CLASS_ATOMIC;
        u.rob += micro;
        u.lb += load ? micro : 0;
        u.sb += insns[i].stores != 0 ? micro : 0;
        u.loads += load;
    }
    return u;
}

/* Returns whether these entries last for fewer repetitions of a block than the
 * others. */
static bool
fills_before(unsigned entries, unsigned uses, unsigned others,
             unsigned others_uses)
{
    return entries != 0 && entries * others_uses < others * uses;
}

void
t4_buffers_add(const struct t4_buffers *tags, const struct insn *insns,
               size_t count, int16_t *fixed)
{
    const struct uses u = uses_of(insns, count);
    enum signal_id first = SIGNAL_ROB_LOADS;
    unsigned entries = tags->rob, uses = u.rob;

    if (tags->rob == 0)
        return;
    if (fills_before(tags->lb, u.lb, entries, uses)) {
        first = SIGNAL_LB_LOADS;
        entries = tags->lb;
        uses = u.lb;
    }
    if (fills_before(tags->sb, u.sb, entries, uses))
        first = SIGNAL_SB_LOADS;
    fixed[first] = (int16_t)(fixed[first] + (int)u.loads);
}
