/* SPDX-License-Identifier: MIT */
#include "machine/coherence_snoop.h"

#include "machine/cache_dirty.h"
#include "machine/strand.h"

/* As the R10000's events 28 and 29 number them; 0 is none. */
enum line_state { LINE_SHARED = 1, LINE_EXCLUSIVE, LINE_DIRTY };

static_assert(SIGNAL_EXTERNAL_INTERVENTION_STATES -
                      SIGNAL_L1I_SNOOP_INVALIDATIONS + 1 ==
                  SNOOPS,
              "signals that other cores raise stand together");

/* Returns the other cores whose L2s have the line, a bit each. */
static uint64_t
holders(const struct strand *s, uint64_t line)
{
    const struct chip *chip = s->chip;
    const uint64_t own = (uint64_t)1 << (s->core - chip->cores);
    uint64_t bits = 0;

    for (uint64_t left = chip->used_cores & ~own; left != 0; left &= left - 1) {
        const struct cache *l2 = &chip->cores[__builtin_ctzll(left)].l2;
        if (cache_search(l2, line) < l2->ways)
            bits |= left & -left;
    }
    return bits;
}

static enum line_state
state_of(const struct cache *l2, uint64_t line, bool sole)
{
    if (cache_dirty_at(l2, line, cache_search(l2, line)))
        return LINE_DIRTY;
    return sole ? LINE_EXCLUSIVE : LINE_SHARED;
}

/* For the core's last strand to come; it may run and counts at its drain. */
static void
note(const struct core *core, enum signal_id signal, uint64_t n)
{
    if (core->strands != NULL)
        core->strands->back->snooped[signal - SIGNAL_L1I_SNOOP_INVALIDATIONS] +=
            n;
}

/* First the caches: what strands learn between the two is forgotten. */
static void
take(struct strand *s, struct core *core, uint64_t line, enum line_state state)
{
    const bool alone = runs_alone(s);
    const uint64_t addr = line << core->l2.line_shift;
    const uint64_t size = (uint64_t)1 << core->l2.line_shift;

    if (s->chip->components & COMPONENT_WAYS)
        ways_drop(&core->ways, &core->l2, line);
    cache_invalidate(&core->l2, line);
    if (!alone)
        lock_take(&core->lock);
    note(core, SIGNAL_L1I_SNOOP_INVALIDATIONS,
         cache_drop(&core->l1i, addr, size));
    note(core, SIGNAL_L1D_SNOOP_INVALIDATIONS,
         cache_drop(&core->l1d, addr, size));
    note(core, SIGNAL_EXTERNAL_INVALIDATIONS, 1);
    note(core, SIGNAL_EXTERNAL_INVALIDATION_STATES, state);
    for (struct strand *o = core->strands; o != NULL; o = o->sibling) {
        filter_forget(&o->fetch, addr, size);
        filter_forget(&o->data, addr, size);
        filter_forget(&o->store, addr, size);
    }
    if (!alone)
        lock_give(&core->lock);
}

unsigned
snoop_write(struct strand *s, uint64_t line, bool has)
{
    uint64_t left = holders(s, line);
    const bool sole = !has && (left & (left - 1)) == 0;
    unsigned found = left != 0 ? SNOOP_COPY : 0;

    for (; left != 0; left &= left - 1) {
        struct core *core = &s->chip->cores[__builtin_ctzll(left)];
        const enum line_state state = state_of(&core->l2, line, sole);
        if (state == LINE_DIRTY)
            found |= SNOOP_DIRTY;
        take(s, core, line, state);
    }
    return found;
}

/* The core keeps the line clean: its strands must ask before they write. */
static void
clean(struct strand *s, struct core *core, uint64_t line)
{
    const bool alone = runs_alone(s);
    const uint64_t addr = line << core->l2.line_shift;
    const uint64_t size = (uint64_t)1 << core->l2.line_shift;
    const uint64_t step = (uint64_t)1 << core->l1d.line_shift;

    cache_unmark(&core->l2, line);
    if (!alone)
        lock_take(&core->lock);
    for (uint64_t at = addr; at < addr + size; at += step)
        cache_unmark(&core->l1d, at >> core->l1d.line_shift);
    for (struct strand *o = core->strands; o != NULL; o = o->sibling)
        filter_forget(&o->store, addr, size);
    if (!alone)
        lock_give(&core->lock);
}

bool
snoop_read(struct strand *s, uint64_t line)
{
    uint64_t left = holders(s, line);
    const bool sole = (left & (left - 1)) == 0;
    bool served = false;

    for (; left != 0; left &= left - 1) {
        struct core *core = &s->chip->cores[__builtin_ctzll(left)];
        const enum line_state state = state_of(&core->l2, line, sole);
        if (state == LINE_SHARED)
            continue;
        note(core, SIGNAL_EXTERNAL_INTERVENTIONS, 1);
        note(core, SIGNAL_EXTERNAL_INTERVENTION_STATES, state);
        served |= state == LINE_DIRTY;
        /* The L1D may have it dirty although the L2 does not. */
        clean(s, core, line);
    }
    return served;
}

void
snoop_count(struct strand *s)
{
    for (unsigned i = 0; i < SNOOPS; i++) {
        s->total[SIGNAL_L1I_SNOOP_INVALIDATIONS + i] += s->back->snooped[i];
        s->back->snooped[i] = 0;
    }
}
