/* SPDX-License-Identifier: MIT */
#include "ref/bus_ref.h"

#include <stdlib.h>
#include <string.h>

#include "ref/branch_ref.h"
#include "ref/chip_ref.h"

static const struct {
    enum signal_id l2_misses, l3_misses;
} askers[] = {
    [BUS_REF_FETCH] = {SIGNAL_L2_FETCH_MISSES, SIGNAL_L3_FETCH_MISSES},
    [BUS_REF_LOAD] = {SIGNAL_L2_LOAD_MISSES, SIGNAL_L3_LOAD_MISSES},
    [BUS_REF_FLOAT] = {SIGNAL_L2_FLOAT_MISSES, SIGNAL_L3_FLOAT_MISSES},
    [BUS_REF_STORE] = {SIGNAL_L2_STORE_MISSES, SIGNAL_L3_STORE_MISSES},
    [BUS_REF_ATOMIC] = {SIGNAL_L2_STORE_MISSES, SIGNAL_L3_STORE_MISSES},
    [BUS_REF_AHEAD] = {SIGNAL_L2_PREFETCH_MISSES, SIGNAL_L3_PREFETCH_MISSES},
    [BUS_REF_WALK_I] = {SIGNAL_ITLB_WALK_MISSES, SIGNAL_ITLB_WALK_L3_MISSES},
    [BUS_REF_WALK_D] = {SIGNAL_DTLB_WALK_MISSES, SIGNAL_DTLB_WALK_L3_MISSES},
};

static void
init_level(struct bus_ref_level *l, const uint64_t *params, int size)
{
    if (params[size] == 0)
        return;
    l->ways = params[size + 1];
    l->line_size = params[size + 2];
    l->sets = params[size] / l->ways / l->line_size;
    l->lines = calloc(l->sets * l->ways, sizeof(*l->lines));
    if (l->lines == NULL)
        abort();
}

void
bus_ref_init(struct bus_ref *b, const uint64_t *params)
{
    memset(b, 0, sizeof(*b));
    init_level(&b->l2i, params, PARAM_L2I_SIZE);
    init_level(&b->l2d, params, PARAM_L2_SIZE);
    init_level(&b->l3, params, PARAM_L3_SIZE);
}

void
bus_ref_finish(struct bus_ref *b)
{
    free(b->l2i.lines);
    free(b->l2d.lines);
    free(b->l3.lines);
}

static struct bus_ref_line *
find(struct bus_ref_level *l, uint64_t addr)
{
    const uint64_t number = addr / l->line_size;
    struct bus_ref_line *set = &l->lines[number % l->sets * l->ways];

    for (uint64_t i = 0; i < l->ways; i++) {
        if (set[i].state != REF_INVALID && set[i].number == number)
            return &set[i];
    }
    return NULL;
}

/* A line that is not there takes the place of none, or of the one that was not
 * used for longest, which is returned. */
static struct bus_ref_line
fill(struct bus_ref *b, struct bus_ref_level *l, uint64_t addr,
     enum bus_ref_state state)
{
    const uint64_t number = addr / l->line_size;
    struct bus_ref_line *set = &l->lines[number % l->sets * l->ways];
    struct bus_ref_line *place = &set[0];

    for (uint64_t i = 0; i < l->ways; i++) {
        if (set[i].state == REF_INVALID) {
            place = &set[i];
            break;
        }
        if (set[i].used < place->used)
            place = &set[i];
    }
    const struct bus_ref_line gone = *place;
    *place = (struct bus_ref_line){number, ++b->now, state};
    return gone;
}

static bool
is_recent(const struct bus_ref_recent *q, uint64_t line)
{
    for (unsigned i = 0; i < q->count; i++) {
        if (q->lines[i] == line)
            return true;
    }
    return false;
}

/* The oldest of `most` goes. */
static void
enter(struct bus_ref_recent *q, unsigned most, uint64_t line)
{
    if (q->count == most) {
        memmove(q->lines, q->lines + 1, (most - 1) * sizeof(uint64_t));
        q->count--;
    }
    q->lines[q->count++] = line;
}

static void
go_out(struct chip_ref *r, uint64_t line)
{
    struct bus_ref_recent *order = &r->peers[0]->bus.order;

    if (is_recent(order, line))
        chip_ref_count(r, SIGNAL_ORDER_COLLISIONS);
    enter(order, 8, line);
}

static void
end_burst(struct chip_ref *r)
{
    uint64_t *n = r->signals[r->outside];

    n[SIGNAL_READS_OUT_LOW] += r->bus.out % 8;
    n[SIGNAL_READS_OUT_HIGH] += r->bus.out / 8;
    if (r->bus.out == r->params[PARAM_BUS_READS])
        n[SIGNAL_READS_OUT_FULL]++;
    if (r->bus.victims > 7)
        n[SIGNAL_VICTIMS_FULL] += r->bus.victims - 7;
    r->bus.out = r->bus.out_ahead = 0;
    r->bus.line_count = 0;
    r->bus.victims = r->bus.left = 0;
}

static bool
is_out(const struct chip_ref *r, uint64_t addr)
{
    const uint64_t size = r->bus.l2d.line_size;

    for (unsigned i = 0; i < r->bus.line_count; i++) {
        if (r->bus.lines[i] / size == addr / size)
            return true;
    }
    return false;
}

static void
wait_cycles(struct chip_ref *r, uint64_t cycles)
{
    if (r->bus.left == 0)
        return;
    r->bus.left -= cycles < r->bus.left ? cycles : r->bus.left;
    if (r->bus.left == 0 && r->bus.out != 0)
        end_burst(r);
}

/* What is out has to be there first. */
static void
wait_all(struct chip_ref *r, enum signal_id cycles)
{
    r->signals[r->outside][cycles] += r->bus.left;
    end_burst(r);
}

/* What a snoop finds in a level, and leaves. */
static enum bus_ref_state
snoop_level(struct bus_ref_level *l, uint64_t addr, bool take)
{
    struct bus_ref_line *line = l->lines == NULL ? NULL : find(l, addr);

    if (line == NULL)
        return REF_INVALID;
    const enum bus_ref_state state = line->state;
    line->state = take ? REF_INVALID : REF_SHARED;
    return state;
}

static enum bus_ref_state
snoop_core(struct chip_ref *r, struct chip_ref *o, uint64_t addr, bool take)
{
    const uint64_t size = o->bus.l2d.line_size, first = addr / size * size;
    const enum bus_ref_state l2 = snoop_level(&o->bus.l2d, addr, take);
    const enum bus_ref_state l3 = snoop_level(&o->bus.l3, addr, take);

    if (is_recent(&o->bus.writes, addr / size))
        chip_ref_count(r, SIGNAL_WRITE_COLLISIONS);
    if (is_recent(&o->bus.castouts, addr / size))
        chip_ref_count(r, SIGNAL_CASTOUT_COLLISIONS);
    if (snoop_level(&o->bus.l2i, addr, true) != REF_INVALID)
        chip_ref_count(r, SIGNAL_L2I_SNOOP_HITS);
    for (uint64_t at = first; take && at < first + size; at++)
        cache_ref_invalidate(&o->l1d, at / o->l1d.line_size);
    return l2 > l3 ? l2 : l3;
}

static enum bus_ref_state
snoop(struct chip_ref *r, uint64_t addr, bool take)
{
    enum bus_ref_state best = REF_INVALID;

    for (unsigned n = 0; n < 4; n++) {
        struct chip_ref *o = r->peers[n];
        if (o == NULL || o == r)
            continue;
        const enum bus_ref_state state = snoop_core(r, o, addr, take);
        if (state > best)
            best = state;
    }
    return best;
}

/* The copies of others go; the core's own are then its alone. */
static void
own(struct chip_ref *r, uint64_t addr)
{
    struct bus_ref_line *l3 = find(&r->bus.l3, addr);

    go_out(r, addr / r->bus.l3.line_size);
    chip_ref_count(r, SIGNAL_BUS_INVALIDATES);
    if (snoop(r, addr, true) != REF_INVALID)
        chip_ref_count(r, SIGNAL_BUS_OWN_HITS);
    if (l3 != NULL)
        l3->state = REF_EXCLUSIVE;
}

/* Whether the strand does so while the request waits. */
static bool
goes_on(enum bus_ref_asker asker)
{
    return asker == BUS_REF_STORE || asker == BUS_REF_AHEAD;
}

static enum bus_ref_state
read_line(struct chip_ref *r, uint64_t addr, enum bus_ref_asker asker)
{
    const bool write = asker == BUS_REF_STORE || asker == BUS_REF_ATOMIC;
    go_out(r, addr / r->bus.l3.line_size);
    const enum bus_ref_state other = snoop(r, addr, write);

    chip_ref_count(r, write                    ? SIGNAL_BUS_OWN_READS
                      : asker == BUS_REF_FETCH ? SIGNAL_BUS_CODE_READS
                      : asker == BUS_REF_AHEAD ? SIGNAL_BUS_CODE_READS
                                               : SIGNAL_BUS_DATA_READS);
    if (other == REF_MODIFIED)
        chip_ref_count(r, write ? SIGNAL_BUS_OWN_HITMS : SIGNAL_BUS_READ_HITMS);
    else if (other != REF_INVALID)
        chip_ref_count(r, write ? SIGNAL_BUS_OWN_HITS : SIGNAL_BUS_READ_HITS);
    r->bus.out++;
    if (asker == BUS_REF_AHEAD)
        r->bus.out_ahead++;
    if (asker == BUS_REF_STORE)
        r->bus.lines[r->bus.line_count++] = addr;
    if (!goes_on(asker) || r->bus.out == r->params[PARAM_BUS_READS])
        end_burst(r);
    if (goes_on(asker))
        r->bus.left = r->params[PARAM_TIME_L3] + r->params[PARAM_TIME_MEMORY];
    return write || other == REF_INVALID ? REF_EXCLUSIVE : REF_SHARED;
}

static void
refuse(struct chip_ref *r, uint64_t addr, enum bus_ref_asker asker)
{
    const bool code = asker == BUS_REF_FETCH || asker == BUS_REF_AHEAD;
    const bool full = r->bus.out == 0 && r->bus.left != 0;

    if (full || (code && is_out(r, addr)))
        chip_ref_count(r, asker == BUS_REF_AHEAD ? SIGNAL_L2I_PREFETCH_REJECTS
                          : code                 ? SIGNAL_L2I_L3_REJECTS
                                                 : SIGNAL_L2D_L3_REJECTS);
    if (full)
        r->bus.left = 0;
    else if (asker == BUS_REF_FETCH && is_out(r, addr))
        end_burst(r);
}

static enum bus_ref_state
ask_l3(struct chip_ref *r, uint64_t addr, enum bus_ref_asker asker)
{
    const bool write = asker == BUS_REF_STORE || asker == BUS_REF_ATOMIC;
    struct bus_ref_line *line = find(&r->bus.l3, addr);

    chip_ref_count(r, askers[asker].l2_misses);
    refuse(r, addr, asker);
    if (!goes_on(asker))
        ahead_ref_wait(r, line == NULL ? 2 : 1);
    if (line == NULL) {
        chip_ref_count(r, askers[asker].l3_misses);
        const enum bus_ref_state state = read_line(r, addr, asker);
        const struct bus_ref_line gone = fill(&r->bus, &r->bus.l3, addr, state);
        if (gone.state == REF_MODIFIED) {
            chip_ref_count(r, SIGNAL_L3_WRITEBACKS);
            go_out(r, gone.number);
            enter(&r->bus.writes, 2, gone.number);
        } else if (gone.state != REF_INVALID) {
            chip_ref_count(r, SIGNAL_L3_CASTOUTS);
            if (r->params[PARAM_BUS_CASTOUTS] == BUS_CASTOUTS_CLEAN) {
                go_out(r, gone.number);
                enter(&r->bus.castouts, 4, gone.number);
            }
        }
        return write ? REF_MODIFIED : state;
    }
    line->used = ++r->bus.now;
    if ((asker == BUS_REF_LOAD || asker == BUS_REF_FLOAT) &&
        r->bus.out == r->bus.out_ahead)
        chip_ref_count(r, SIGNAL_L3_BYPASSES);
    if (!goes_on(asker))
        wait_cycles(r, r->params[PARAM_TIME_L2] + r->params[PARAM_TIME_L3]);
    if (write && line->state == REF_SHARED)
        own(r, addr);
    if (write)
        return REF_MODIFIED;
    return line->state == REF_SHARED ? REF_SHARED : REF_EXCLUSIVE;
}

unsigned
bus_ref_code(struct chip_ref *r, uint64_t addr, enum bus_ref_asker asker)
{
    struct bus_ref_line *line = find(&r->bus.l2i, addr);

    if (line != NULL) {
        line->used = ++r->bus.now;
        return 0;
    }
    const unsigned served = find(&r->bus.l3, addr) != NULL ? 1 : 2;
    ask_l3(r, addr, asker);
    if (fill(&r->bus, &r->bus.l2i, addr, REF_SHARED).state != REF_INVALID)
        chip_ref_count(r, SIGNAL_L2I_VICTIMS);
    return served;
}

static void
miss(struct chip_ref *r, uint64_t addr, enum bus_ref_asker asker)
{
    const unsigned out = r->bus.line_count;
    const enum bus_ref_state state = ask_l3(r, addr, asker);
    const bool joined = r->bus.line_count == out + 1;
    const struct bus_ref_line gone = fill(&r->bus, &r->bus.l2d, addr, state);

    chip_ref_count(r, state == REF_MODIFIED    ? SIGNAL_L2D_FILLS_MODIFIED
                      : state == REF_EXCLUSIVE ? SIGNAL_L2D_FILLS_EXCLUSIVE
                                               : SIGNAL_L2D_FILLS_SHARED);
    if (gone.state != REF_MODIFIED ||
        (r->components & COMPONENT_BUS_BACKS) == 0)
        return;
    chip_ref_count(r, SIGNAL_L2_WRITEBACKS);
    r->bus.victims += joined;
    struct bus_ref_line *behind =
        find(&r->bus.l3, gone.number * r->bus.l2d.line_size);
    if (behind != NULL) {
        behind->state = REF_MODIFIED;
        return;
    }
    chip_ref_count(r, SIGNAL_L3_WRITE_MISSES);
    go_out(r, gone.number);
    enter(&r->bus.writes, 2, gone.number);
}

void
bus_ref_ask(struct chip_ref *r, uint64_t addr, enum bus_ref_asker asker)
{
    struct bus_ref_line *line;

    if (asker == BUS_REF_FETCH && r->bus.l2i.lines != NULL) {
        ahead_ref_fetch(r, addr);
        return;
    }
    line = find(&r->bus.l2d, addr);
    if (asker == BUS_REF_ATOMIC && r->bus.line_count > 0) {
        chip_ref_count(r, SIGNAL_L2D_ATOMIC_CANCELS);
        if (line != NULL && is_out(r, addr))
            chip_ref_count(r, SIGNAL_L2D_SECONDARY_ATOMICS);
        wait_all(r, SIGNAL_ATOMIC_WAIT);
    }
    if (line == NULL) {
        miss(r, addr, asker);
        return;
    }
    line->used = ++r->bus.now;
    if (asker == BUS_REF_LOAD && is_out(r, addr)) {
        chip_ref_count(r, SIGNAL_L2D_SECONDARY_LOADS);
        wait_all(r, SIGNAL_SECONDARY_WAIT);
        return;
    }
    if (asker == BUS_REF_LOAD && r->bus.out == r->bus.out_ahead)
        chip_ref_count(r, SIGNAL_L2D_BYPASSES);
    if (asker != BUS_REF_STORE && asker != BUS_REF_ATOMIC) {
        if (asker != BUS_REF_FLOAT)
            wait_cycles(r, r->params[PARAM_TIME_L2]);
        return;
    }
    if (line->state == REF_SHARED) {
        chip_ref_count(r, SIGNAL_L2D_HITS_SHARED);
        own(r, addr);
    }
    line->state = REF_MODIFIED;
}
