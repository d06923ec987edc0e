/* SPDX-License-Identifier: MIT */
#include "machine/coherence_bus.h"

#include <stdlib.h>

#include "machine/ahead.h"
#include "machine/coherence.h"
#include "machine/coherence_bus_lone.h"
#include "machine/coherence_bus_own.h"
#include "machine/fills.h"
#include "machine/levels.h"
#include "machine/recorder.h"
#include "machine/strand.h"

#define AHEAD 8 /* as in writeback.c */

/* Chapter 2, 2.5; the last is the most that SI_IOQ_LIVE_REQ counts. */
#define WRITE_ENTRIES 2u
#define CASTOUT_ENTRIES 4u
#define ORDER_ENTRIES 8u

static const uint16_t fill_signal[] = {
    [MESI_SHARED] = SIGNAL_L2D_FILLS_SHARED,
    [MESI_EXCLUSIVE] = SIGNAL_L2D_FILLS_EXCLUSIVE,
    [MESI_MODIFIED] = SIGNAL_L2D_FILLS_MODIFIED,
};

static int
init_level(struct mesi *c, const uint64_t *params, enum param_id size)
{
    if (params[size] == 0)
        return 0;
    return mesi_init(c, params[size], (uint32_t)params[size + 1],
                     (uint32_t)params[size + 2]);
}

static int
init_core(struct core *core, const struct chip *chip)
{
    const uint64_t *params = chip->params;
    struct bus_caches *b = core->bus = calloc(1, sizeof(*b));
    int error =
        b == NULL ? TALLY_ENOMEM : init_level(&b->l2i, params, PARAM_L2I_SIZE);

    if (error == 0)
        error = init_level(&b->l2d, params, PARAM_L2_SIZE);
    if (error == 0)
        error = init_level(&b->l3, params, PARAM_L3_SIZE);
    return error;
}

static void
finish_core(struct core *core)
{
    struct bus_caches *b = core->bus;

    if (b == NULL)
        return;
    mesi_finish(&b->l2i);
    mesi_finish(&b->l2d);
    mesi_finish(&b->l3);
    free(b);
    core->bus = NULL;
}

static void
clear_core(struct core *core)
{
    struct bus_caches *b = core->bus;

    mesi_clear(&b->l2i);
    mesi_clear(&b->l2d);
    mesi_clear(&b->l3);
    memset(&b->writes, 0, sizeof(b->writes));
    memset(&b->castouts, 0, sizeof(b->castouts));
}

static bool
is_recent(const struct bus_recent *r, uint64_t line)
{
    bool found = false;

    for (size_t i = 0; i < sizeof(r->lines) / sizeof(r->lines[0]); i++)
        found |= r->lines[i] == line + 1;
    return found;
}

static void
note_recent(struct bus_recent *r, unsigned most, uint64_t line)
{
    r->lines[r->next] = line + 1;
    r->next = (r->next + 1) % most;
}

/* A transaction goes out on the bus. */
static void
note_order(struct strand *s, uint64_t line)
{
    struct bus_recent *order = s->chip->bus_order;

    s->total[SIGNAL_ORDER_COLLISIONS] += is_recent(order, line);
    note_recent(order, ORDER_ENTRIES, line);
}

/* A modified line goes to memory. */
static void
note_write(struct strand *s, uint64_t line)
{
    note_order(s, line);
    note_recent(&s->core->bus->writes, WRITE_ENTRIES, line);
}

static void
end_fills(struct strand *s)
{
    if (s->bus->fills.out != 0)
        fills_end(s);
}

static void
read_memory(struct strand *s, uint64_t addr, unsigned kind)
{
    if (BUS_GO_ON >> kind & 1)
        fills_add(s, addr, kind == REQUEST_THROUGH);
    else
        fills_end_with(s);
}

/* The strands of a core no longer know a line of the L2; nor that of the L1D
 * where `gone`. */
static void
void_line(const struct core *core, uint64_t addr, bool gone)
{
    for (struct strand *o = core->strands; o != NULL; o = o->sibling) {
        filter_put(&o->store, addr, NO_LINE);
        if (gone)
            filter_forget(&o->data, addr, (uint64_t)1 << o->store.shift);
    }
}

/* Takes a line of the L2 out of a core's L1D. */
static void
invalidate_l1d(struct core *core, uint64_t addr)
{
    lock_take(&core->lock);
    cache_drop(&core->l1d, addr, (uint64_t)1 << core->bus->l2d.line_shift);
    void_line(core, addr, true);
    lock_give(&core->lock);
}

/* Snoops one cache of another core. Returns the state in which the cache had
 * the line. */
static enum mesi_state
snoop_cache(struct mesi *c, uint64_t line, bool take)
{
    uint64_t *word = mesi_find(c, line);

    if (word == NULL)
        return MESI_INVALID;
    const enum mesi_state state = mesi_state(*word);
    if (take)
        mesi_drop(c, word);
    else
        mesi_set(word, MESI_SHARED);
    return state;
}

static enum mesi_state
snoop_core(struct strand *s, struct core *core, uint64_t addr, bool take)
{
    struct bus_caches *b = core->bus;
    const uint64_t line = addr >> b->l2d.line_shift;
    const enum mesi_state l2 = snoop_cache(&b->l2d, line, take);
    const enum mesi_state l3 = snoop_cache(&b->l3, line, take);

    s->total[SIGNAL_WRITE_COLLISIONS] += is_recent(&b->writes, line);
    s->total[SIGNAL_CASTOUT_COLLISIONS] += is_recent(&b->castouts, line);
    if (b->l2i.words != NULL)
        s->total[SIGNAL_L2I_SNOOP_HITS] +=
            snoop_cache(&b->l2i, line, true) != MESI_INVALID;
    if (take)
        invalidate_l1d(core, addr);
    else
        void_line(core, addr, false);
    return l2 > l3 ? l2 : l3;
}

/* Returns the best state that another core had the line in. */
static enum mesi_state
snoop(struct strand *s, uint64_t addr, bool take)
{
    struct chip *chip = s->chip;
    enum mesi_state best = MESI_INVALID;

    for (unsigned i = 0; i < chip->core_count; i++) {
        struct core *core = &chip->cores[i];
        if (core == s->core || core->bus == NULL)
            continue;
        const enum mesi_state state = snoop_core(s, core, addr, take);
        best = state > best ? state : best;
    }
    return best;
}

enum mesi_state
bus_read(struct strand *s, uint64_t addr, unsigned kind)
{
    const bool own = BUS_WRITES >> kind & 1;

    s->total[level_rows[0].misses[kind]]++;
    note_order(s, addr >> s->core->bus->l3.line_shift);
    const enum mesi_state other = snoop(s, addr, own);
    uint64_t *total = s->total;

    if (own) {
        total[SIGNAL_BUS_OWN_READS]++;
        total[SIGNAL_BUS_OWN_HITMS] += other == MESI_MODIFIED;
        total[SIGNAL_BUS_OWN_HITS] +=
            other == MESI_SHARED || other == MESI_EXCLUSIVE;
    } else {
        total[BUS_CODE >> kind & 1 ? SIGNAL_BUS_CODE_READS
                                   : SIGNAL_BUS_DATA_READS]++;
        total[SIGNAL_BUS_READ_HITMS] += other == MESI_MODIFIED;
        total[SIGNAL_BUS_READ_HITS] +=
            other == MESI_SHARED || other == MESI_EXCLUSIVE;
    }
    read_memory(s, addr, kind);
    return other == MESI_INVALID || own ? MESI_EXCLUSIVE : MESI_SHARED;
}

/* A line that the core shares becomes its own. */
static void
invalidate_others(struct strand *s, uint64_t addr)
{
    note_order(s, addr >> s->core->bus->l3.line_shift);
    s->total[SIGNAL_BUS_INVALIDATES]++;
    s->total[SIGNAL_BUS_OWN_HITS] += snoop(s, addr, true) != MESI_INVALID;
}

void
bus_drive_out(struct strand *s, uint64_t gone)
{
    const uint64_t line = gone >> 2;

    if (mesi_state(gone) == MESI_MODIFIED) {
        s->total[SIGNAL_L3_WRITEBACKS]++;
        note_write(s, line);
    } else if (gone != 0) {
        s->total[SIGNAL_L3_CASTOUTS]++;
        if (s->chip->params[PARAM_BUS_CASTOUTS] != BUS_CASTOUTS_CLEAN)
            return;
        note_order(s, line);
        note_recent(&s->core->bus->castouts, CASTOUT_ENTRIES, line);
    }
}

/* Takes a request that the L2 did not serve to the L3. Returns the state in
 * which the line comes. */
static enum mesi_state
ask_l3(struct strand *s, uint64_t addr, unsigned kind)
{
    struct mesi *l3 = &s->core->bus->l3;
    const bool write = BUS_WRITES >> kind & 1;
    uint64_t *word = mesi_use(l3, addr >> l3->line_shift);

    bus_ask(s, addr, kind, word != NULL);
    if (word == NULL) {
        const enum mesi_state state = bus_read(s, addr, kind);
        bus_drive_out(s, mesi_fill(l3, addr >> l3->line_shift, state));
        return write ? MESI_MODIFIED : state;
    }
    if (mesi_state(*word) == MESI_SHARED && !write)
        return MESI_SHARED;
    if (mesi_state(*word) == MESI_SHARED) {
        invalidate_others(s, addr);
        mesi_set(word, MESI_EXCLUSIVE);
    }
    return write ? MESI_MODIFIED : MESI_EXCLUSIVE;
}

void
bus_write_past(struct strand *s, uint64_t line)
{
    s->total[SIGNAL_L3_WRITE_MISSES]++;
    note_write(s, line);
}

void
bus_void_line(struct strand *s, uint64_t addr)
{
    for (struct strand *o = s->core->strands; o != NULL; o = o->sibling) {
        if (o != s && (filter_line(&o->store, addr) & ~LINE_CLEAN) == addr)
            filter_put(&o->store, addr, NO_LINE);
    }
}

/* A modified line that leaves the L2 goes to the L3, or past it. */
static void
write_back(struct strand *s, uint64_t line)
{
    if (!mesi_mark(&s->core->bus->l3, line))
        bus_write_past(s, line);
}

/* Returns whether the word that leaves an L2 is a modified line's, and the
 * model follows such lines. */
static bool
is_back(const struct strand *s, uint64_t gone)
{
    return mesi_state(gone) == MESI_MODIFIED &&
           (s->chip->components & COMPONENT_BUS_BACKS) != 0;
}

/* A line has to leave the L2 for data, and what other strands know of it. */
static void
drive_out(struct strand *s, uint64_t gone)
{
    bus_void_line(s, gone >> 2 << s->core->bus->l2d.line_shift);
    if (!is_back(s, gone))
        return;
    s->total[SIGNAL_L2_WRITEBACKS]++;
    write_back(s, gone >> 2);
}

/* A store or atomic finds its line in the L2. */
static void
write_hit(struct strand *s, uint64_t *word, uint64_t addr)
{
    struct mesi *l3 = &s->core->bus->l3;

    if (mesi_state(*word) == MESI_SHARED) {
        uint64_t *behind = mesi_find(l3, addr >> l3->line_shift);
        s->total[SIGNAL_L2D_HITS_SHARED]++;
        invalidate_others(s, addr);
        if (behind != NULL)
            mesi_set(behind, MESI_EXCLUSIVE);
    }
    mesi_set(word, MESI_MODIFIED);
}

void
bus_read_hit(struct strand *s, uint64_t addr, unsigned kind)
{
    if (kind == REQUEST_LOAD && fills_load(s, addr))
        return;
    if (kind == REQUEST_LOAD)
        s->total[SIGNAL_L2D_BYPASSES] +=
            s->bus->fills.out == s->bus->fills.out_ahead;
    if (kind != REQUEST_FLOAT)
        fills_wait(s, s->chip->params[PARAM_TIME_L2]);
}

static void
fill_data(struct strand *s, uint64_t addr, unsigned kind)
{
    struct mesi *l2 = &s->core->bus->l2d;
    const unsigned before = s->bus->fills.count;
    const enum mesi_state state = ask_l3(s, addr, kind);
    const uint64_t gone = mesi_fill(l2, addr >> l2->line_shift, state);

    s->total[fill_signal[state]]++;
    s->bus->fills.victims += s->bus->fills.count > before && is_back(s, gone);
    drive_out(s, gone);
}

static void
ask_data(struct strand *s, uint64_t addr, unsigned kind)
{
    struct mesi *l2 = &s->core->bus->l2d;
    uint64_t *word = mesi_use(l2, addr >> l2->line_shift);

    if (kind == REQUEST_ATOMIC)
        fills_atomic(s, addr, word != NULL);
    if (word == NULL)
        fill_data(s, addr, kind);
    else if (BUS_WRITES >> kind & 1)
        write_hit(s, word, addr);
    else
        bus_read_hit(s, addr, kind);
}

enum ahead_out
bus_code(struct strand *s, uint64_t addr, unsigned kind)
{
    struct mesi *l2 = &s->core->bus->l2i, *l3 = &s->core->bus->l3;
    const uint64_t line = addr >> l2->line_shift;

    if (mesi_use(l2, line) != NULL)
        return AHEAD_IN;
    const bool behind = mesi_find(l3, addr >> l3->line_shift) != NULL;
    ask_l3(s, addr, kind);
    s->total[SIGNAL_L2I_VICTIMS] += mesi_fill(l2, line, MESI_SHARED) != 0;
    return behind ? AHEAD_L3 : AHEAD_MEMORY;
}

static void
take_queue(struct strand *s, struct request *queue, size_t count)
{
    const struct bus_caches *b = s->core->bus;
    const uint64_t line_mask = ~(((uint64_t)1 << b->l2d.line_shift) - 1);

    if (!meets_others(s)) {
        bus_lone(s, queue, count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const uint64_t addr = queue[i].addr & line_mask;
        const unsigned kind = queue[i].kind;
        if (i + AHEAD < count)
            __builtin_prefetch(mesi_set_of(&b->l2d, queue[i + AHEAD].addr >>
                                                        b->l2d.line_shift));
        if (kind == REQUEST_FETCH && s->chip->ahead != 0)
            ahead_fetch(s, &queue[i]);
        else if (kind == REQUEST_FETCH && b->l2i.words != NULL)
            bus_code(s, addr, kind);
        else
            ask_data(s, addr, kind);
        if (s->recorder != NULL)
            recorder_charge_request(s, &queue[i]);
    }
}

/* Stores go through to the L2 for data. */
static void
store_sets(const struct strand *s, uint64_t *set_mask, uint32_t *line_shift)
{
    *set_mask = s->core->bus->l2d.set_mask;
    *line_shift = s->core->bus->l2d.line_shift;
}

const struct coherence coherence_bus = {
    .chip_size = sizeof(struct bus_recent),
    .strand_size = sizeof(struct bus_strand),
    .take = take_queue,
    .charges = true,
    .rest = end_fills,
    .core_init = init_core,
    .core_finish = finish_core,
    .core_clear = clear_core,
    .store_sets = store_sets,
};
