/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The callbacks of one variant (callbacks.h): VARIANT, a sum of enum
 * callbacks_variant.
 *
 * Callbacks are the largest cost there is: 0.7 ns each and more with what they
 * do. So the entry of a block is merged with its first access where that
 * access is certain to happen (20 % of the time of empty callbacks on bzip2),
 * and the strand of a process with one thread is at a fixed address (8 % of all
 * time on bzip2 for x86-64 against looking it up).
 */
#include "plugin/callbacks.h"

#include "machine/align.h"
#include "machine/curve.h"
#include "machine/recorder.h"
#include "plugin/ear.h"
#include "plugin/gateway.h"
#include "plugin/plugin.h"
#include "plugin/span.h"

#define CALL static void

static const bool records = (VARIANT & VARIANT_RECORD) != 0;
static const bool curves = (VARIANT & VARIANT_CURVE) != 0;

/* What the entry of a block does in this variant alone, enum block_work. */
#define WORK_OF_VARIANT                                        \
    ((VARIANT & VARIANT_RECORD ? (unsigned)WORK_RECORD : 0u) | \
     (VARIANT & VARIANT_CALLERS ? (unsigned)WORK_CALLERS : 0u))

STRAND_INLINE bool
counts_raw(void)
{
    return (VARIANT & VARIANT_RAW) != 0 &&
           (!records || (tally_plugin.components & COMPONENT_RAW) != 0);
}

STRAND_INLINE bool
counts_alignment(void)
{
    return (VARIANT & VARIANT_ALIGN) != 0 &&
           (!records || (tally_plugin.components & COMPONENT_ALIGN) != 0);
}

/* Charges an instruction of the block that runs with what its access has
 * raised, in a recording. */
STRAND_INLINE void
charge(struct strand *s, uint64_t addr, access_site at)
{
    if (records)
        strand_charge_data(s, site_instruction(at), addr);
}

/* Charges an access with read-after-write hits and misalignment. */
STRAND_INLINE void
charge_noted(struct strand *s, uint64_t addr, access_site at)
{
    if (counts_raw() || counts_alignment())
        charge(s, addr, at);
}

STRAND_INLINE struct strand *
strand_of(unsigned vcpu)
{
    return VARIANT & VARIANT_MANY ? tally_plugin.strands[vcpu]
                                  : &tally_plugin.first;
}

/* Single accesses */

/* Returns the site of an access, which is the callback's data. */
STRAND_INLINE access_site
site_of(void *data)
{
    return (access_site)(uintptr_t)data;
}

/* Returns the last byte of an access whose room is in a line of the filter. */
STRAND_INLINE uint64_t
last_of(const struct filter *f, uint64_t addr, uint64_t room)
{
    return addr + ~f->line_mask - room;
}

/* Counts read-after-write hits and misaligned loads, before the caches see the
 * load. */
STRAND_INLINE void
note_load(struct strand *s, uint64_t addr, access_site at)
{
    if (counts_raw())
        raw_load(&s->raw, s->total, addr,
                 last_of(&s->data, addr, site_room(at)));
    if (counts_alignment())
        align_load(s->total, addr, last_of(&s->data, addr, site_room(at)));
    charge_noted(s, addr, at);
}

STRAND_INLINE void
note_store(struct strand *s, uint64_t addr, access_site at, bool through)
{
    const struct filter *f = through ? &s->store : &s->data;

    if (counts_raw())
        raw_store(&s->raw, addr, last_of(f, addr, site_room(at)));
    if (counts_alignment())
        align_store(s->total, addr, last_of(f, addr, site_room(at)));
    charge_noted(s, addr, at);
}

/* Makes a load in the caches. */
STRAND_INLINE void
make_load(struct strand *s, uint64_t addr, access_site at)
{
    if (curves)
        curve_access(s, addr, at);
    else
        strand_load(s, addr, at);
}

/* Makes a store in the caches. A store that goes through to the L2 passes the
 * level whose curve is drawn. */
STRAND_INLINE void
make_store(struct strand *s, uint64_t addr, access_site at, bool through)
{
    if (!curves)
        strand_store(s, addr, at, through);
    else if (!through)
        curve_access(s, addr, at);
}

STRAND_INLINE void
do_load(struct strand *s, uint64_t addr, access_site at)
{
    note_load(s, addr, at);
    make_load(s, addr, at);
}

STRAND_INLINE void
do_bulk(struct strand *s, uint64_t addr, access_site at)
{
    note_load(s, addr, at);
    if (curves)
        curve_access(s, addr, at);
    else
        strand_bulk(s, addr, at);
}

STRAND_INLINE void
do_store(struct strand *s, uint64_t addr, access_site at, bool through)
{
    note_store(s, addr, at, through);
    make_store(s, addr, at, through);
}

CALL
on_float(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *data)
{
    struct strand *s = strand_of(vcpu);

    (void)info;
    if (counts_alignment())
        align_load(s->total, addr,
                   last_of(&s->store, addr, site_room(site_of(data))));
    charge_noted(s, addr, site_of(data));
    if (!curves)
        strand_float(s, addr, site_of(data));
}

/* Makes a piece of 8 bytes of a wider store, which alone is not misaligned. */
CALL
on_wide_store(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr,
              void *data)
{
    struct strand *s = strand_of(vcpu);
    const bool through = s->chip->stores_apart;
    const struct filter *f = through ? &s->store : &s->data;

    (void)info;
    if (counts_raw())
        raw_store(&s->raw, addr, last_of(f, addr, site_room(site_of(data))));
    charge_noted(s, addr, site_of(data));
    make_store(s, addr, site_of(data), through);
}

/* Makes an access whose size or kind only QEMU can tell. `bulk`: of a block
 * load or twin load, where those count apart. */
static void
do_asked(struct strand *s, qemu_plugin_meminfo_t info, uint64_t addr,
         unsigned instruction, bool bulk)
{
    const uint64_t size = (uint64_t)1 << qemu_plugin_mem_size_shift(info);
    const bool through = s->chip->stores_apart;
    const bool store = qemu_plugin_mem_is_store(info);
    const struct filter *f = store && through ? &s->store : &s->data;
    const uint64_t line = (uint64_t)1 << f->shift;
    const access_site at =
        site_make(line >= size ? line - size : 0, instruction);

    if (store)
        do_store(s, addr, at, through);
    else if (bulk)
        do_bulk(s, addr, at);
    else
        do_load(s, addr, at);
}

CALL
on_mixed(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *data)
{
    do_asked(strand_of(vcpu), info, addr, site_instruction(site_of(data)),
             false);
}

CALL
on_bulk(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *data)
{
    do_asked(strand_of(vcpu), info, addr, site_instruction(site_of(data)),
             true);
}

/* Makes an access of a store conditional. QEMU makes none where the load linked
 * was elsewhere, and for one that compares a load and a store, or one store. */
CALL
on_conditional(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr,
               void *data)
{
    struct strand *s = strand_of(vcpu);

    s->total[SIGNAL_STORED_CONDITIONALS] += qemu_plugin_mem_is_store(info);
    charge(s, addr, site_of(data));
    if (s->chip->components & COMPONENT_L1D)
        do_asked(s, info, addr, site_instruction(site_of(data)), false);
}

/* Makes an access of an atomic, which QEMU shows as a load and a store or as
 * one store. */
CALL
on_atomic(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *data)
{
    struct strand *s = strand_of(vcpu);

    if (curves)
        make_store(s, addr, site_of(data), s->chip->stores_apart);
    else if (s->chip->sharing != NULL)
        strand_atomic_slow(s, addr, site_of(data));
    else if (!s->chip->stores_apart)
        strand_load(s, addr, site_of(data));
    else if (qemu_plugin_mem_is_store(info))
        strand_atomic_slow(s, addr, site_of(data));
}

/*
 * Makes one access of a REP string instruction. The room of its site says
 * whether an iteration makes two accesses.
 */
CALL
on_repeated(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr,
            void *data)
{
    struct strand *s = strand_of(vcpu);
    const bool store = qemu_plugin_mem_is_store(info);

    s->total[store ? SIGNAL_REP_STORES : SIGNAL_REP_LOADS]++;
    s->repeats += site_room(site_of(data)) != 0 ? 1 : 2;
    s->total[SIGNAL_REP_ITERATIONS] += s->repeats >> 1;
    s->repeats &= 1;
    /* Each iteration is a block, but the block that began the instruction, its
     * last one, still counts as the one that runs. */
    const access_site at = site_make(0, s->previous->flags & BLOCK_REPEAT
                                            ? s->previous->instructions - 1u
                                            : site_instruction(site_of(data)));
    charge(s, addr, at);
    if (s->chip->components & COMPONENT_L1D)
        do_asked(s, info, addr, site_instruction(at), false);
}

/* Begins an instruction, of which nothing has counted yet, for --filter data=.
 */
STRAND_INLINE void
begin_insn(struct strand *s)
{
    s->filtered.counted = false;
    s->filtered.loads = s->filtered.stores = 0;
}

CALL
on_data_begin(unsigned vcpu, void *data)
{
    (void)data;
    begin_insn(strand_of(vcpu));
}

static bool
data_inside(uint64_t first, uint64_t last)
{
    const struct plugin *p = &tally_plugin;

    for (unsigned i = 0; i < p->data_count; i++) {
        if (first <= p->data_ranges[i].last && last >= p->data_ranges[i].first)
            return true;
    }
    return false;
}

/* Counts the fixed signals of an access inside the ranges. */
static void
count_data(struct strand *s, const struct data_insn *d, bool store,
           unsigned slices)
{
    uint64_t *total = s->counts->totals[s->span.slice + slices].signal;

    if (store && s->filtered.stores < d->stores) {
        s->filtered.stores++;
        total[SIGNAL_STORES]++;
    } else if (!store && s->filtered.loads < d->loads) {
        s->filtered.loads++;
        total[SIGNAL_LOADS]++;
    }
    for (unsigned i = 0; !s->filtered.counted && i < d->signal_count; i++)
        total[d->signals[i]]++;
    s->filtered.counted = true;
}

/* Makes any access, for --filter data=: an access inside the ranges raises
 * totals of its own. */
CALL
on_data_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr,
               void *data)
{
    struct strand *s = strand_of(vcpu);
    const struct data_insn *d = data;
    const unsigned slices = tally_plugin.request.slices;
    const uint64_t size = (uint64_t)1 << qemu_plugin_mem_size_shift(info);
    const bool inside = data_inside(addr, addr + size - 1);
    void *const other = d->data;

    if (inside && !s->span.outside)
        count_data(s, d, qemu_plugin_mem_is_store(info), slices);
    strand_aside(s, inside ? slices : 0);
    s->total[SIGNAL_DATA_MATCHES] += inside;
    if (d->conditional)
        s->total[SIGNAL_STORED_CONDITIONALS] += qemu_plugin_mem_is_store(info);
    if (d->access == ACCESS_REPEATED)
        on_repeated(vcpu, info, addr, other);
    else if ((s->chip->components & COMPONENT_L1D) &&
             d->access == ACCESS_ATOMIC)
        on_atomic(vcpu, info, addr, other);
    else if ((s->chip->components & COMPONENT_L1D) && d->access == ACCESS_FLOAT)
        on_float(vcpu, info, addr, other);
    else if (s->chip->components & COMPONENT_L1D)
        do_asked(s, info, addr, site_instruction(site_of(other)), d->bulk);
}

/* Makes a prefetch whose address this access tells. */
CALL
on_prefetch(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr,
            void *data)
{
    struct strand *s = strand_of(vcpu);
    const uint64_t at = addr + (uint64_t)prefetch_distance_of(data);

    (void)info;
    if (tally_plugin.data_filter)
        strand_aside(s, data_inside(at, at) ? tally_plugin.request.slices : 0);
    strand_prefetch(s, at, prefetch_near_of(data),
                    prefetch_instruction_of(data));
}

/* One access that is certain, or two, alone or with the entry of their block.
 * `touch`, `first`, `second` and `work` are constants, except in the slow
 * functions. */

STRAND_INLINE bool
is_known(const struct strand *s, uint64_t addr, uint64_t room, enum touch touch)
{
    if (curves)
        return touch == TOUCH_THROUGH || strand_data_known(s, addr, room);
    return touch == TOUCH_LOAD
               ? strand_data_known(s, addr, room)
               : strand_store_known(s, addr, room, touch == TOUCH_THROUGH);
}

STRAND_INLINE void
note_access(struct strand *s, uint64_t addr, access_site at, enum touch touch)
{
    if (touch == TOUCH_LOAD)
        note_load(s, addr, at);
    else
        note_store(s, addr, at, touch == TOUCH_THROUGH);
}

/* Returns whether note_quick() does for an access that follows `stores` stores
 * what note_access() does. A callback calls no function but as its last act, or
 * it would save registers each time. */
STRAND_INLINE bool
is_noted_quick(const struct strand *s, uint64_t addr, access_site at,
               enum touch touch, unsigned stores)
{
    if (!counts_raw())
        return true;
    if (touch != TOUCH_LOAD)
        return !raw_stores_ask(&s->raw, stores + 1);
    return !raw_load_asks(&s->raw, addr,
                          last_of(&s->data, addr, site_room(at)));
}

STRAND_INLINE void
note_quick(struct strand *s, uint64_t addr, access_site at, enum touch touch)
{
    const struct filter *f = touch == TOUCH_THROUGH ? &s->store : &s->data;
    const uint64_t last = last_of(f, addr, site_room(at));

    if (counts_raw() && touch != TOUCH_LOAD)
        s->raw.count++;
    if (counts_alignment() && touch == TOUCH_LOAD)
        align_load(s->total, addr, last);
    if (counts_alignment() && touch != TOUCH_LOAD)
        align_store(s->total, addr, last);
}

STRAND_INLINE void
make_access(struct strand *s, uint64_t addr, access_site at, enum touch touch)
{
    if (touch == TOUCH_LOAD)
        make_load(s, addr, at);
    else
        make_store(s, addr, at, touch == TOUCH_THROUGH);
}

/* Counts the block's instructions until the next look at the clock (-I), at the
 * slice and at the turn of the thread. Returns whether it is time for one. */
STRAND_INLINE bool
is_time_to_look(struct strand *s, const struct block *b, unsigned work)
{
    if ((work & WORK_CLOCK) == 0)
        return false;
    s->look.left -= b->instructions;
    return __builtin_expect(s->look.left <= 0, 0);
}

/* Makes an access that note_quick() does not note. */
static __attribute__((noinline)) void
access_slow(struct strand *s, uint64_t addr, access_site at, enum touch touch)
{
    note_access(s, addr, at, touch);
    make_access(s, addr, at, touch);
}

STRAND_INLINE void
make_one(struct strand *s, uint64_t addr, access_site at, enum touch touch)
{
    if (__builtin_expect(is_noted_quick(s, addr, at, touch, 0), 1)) {
        note_quick(s, addr, at, touch);
        make_access(s, addr, at, touch);
    } else {
        access_slow(s, addr, at, touch);
    }
}

/* Makes two accesses that the filters do not know, or that note_quick() does
 * not note. */
static __attribute__((noinline)) void
two_slow(struct strand *s, const struct access_pair *p, uint64_t addr,
         enum touch first, enum touch second)
{
    const uint64_t other = addr + (uint64_t)p->delta;

    note_access(s, addr, p->first, first);
    note_access(s, other, p->second, second);
    make_access(s, addr, p->first, first);
    make_access(s, other, p->second, second);
}

/* Returns whether the filters know both accesses, and note_quick() does for
 * both what note_access() does. */
STRAND_INLINE bool
are_known(const struct strand *s, const struct access_pair *p, uint64_t addr,
          enum touch first, enum touch second)
{
    const uint64_t other = addr + (uint64_t)p->delta;
    const unsigned stores = first != TOUCH_LOAD;

    return is_known(s, addr, site_room(p->first), first) &
           is_known(s, other, site_room(p->second), second) &
           is_noted_quick(s, addr, p->first, first, 0) &
           is_noted_quick(s, other, p->second, second, stores);
}

/* Makes two accesses of which are_known() is true. */
STRAND_INLINE void
note_two_quick(struct strand *s, const struct access_pair *p, uint64_t addr,
               enum touch first, enum touch second)
{
    if (curves && first != TOUCH_THROUGH)
        curve_use(s, addr);
    if (curves && second != TOUCH_THROUGH)
        curve_use(s, addr + (uint64_t)p->delta);
    note_quick(s, addr, p->first, first);
    note_quick(s, addr + (uint64_t)p->delta, p->second, second);
}

/* The seldom ends of a block's entry: some line of the block is not known, or
 * the target of the branch that closed `last`. Each is a function of its own
 * and a tail call, so that the quick ends save no registers. */

static __attribute__((noinline)) void
enter_slow(struct strand *s, const struct block *b)
{
    strand_fetch_slow(s, b);
}

static __attribute__((noinline)) void
enter_one_slow(struct strand *s, const struct block *b, uint64_t addr,
               enum touch touch)
{
    note_access(s, addr, b->site, touch);
    strand_fetch_slow(s, b);
    make_access(s, addr, b->site, touch);
}

STRAND_INLINE void
ask_target(struct strand *s, const struct block *b, const struct block *last)
{
    targets_ask(&s->targets, s->total, last, b->pc);
    if (records && s->recorder != NULL)
        recorder_charge_branch(s, s->last_cell);
    if ((tally_plugin.work & WORK_FETCH) && !strand_fetch_known(s, b, 0))
        strand_fetch_slow(s, b);
}

static __attribute__((noinline)) void
enter_ask(struct strand *s, const struct block *b, const struct block *last)
{
    ask_target(s, b, last);
}

static __attribute__((noinline)) void
enter_one_ask(struct strand *s, const struct block *b, uint64_t addr,
              const struct block *last, enum touch touch)
{
    note_access(s, addr, b->site, touch);
    ask_target(s, b, last);
    make_access(s, addr, b->site, touch);
}

static __attribute__((noinline)) void
enter_two_ask(struct strand *s, const struct block *b, uint64_t addr,
              const struct block *last, enum touch first, enum touch second)
{
    ask_target(s, b, last);
    two_slow(s, &b->pair, addr, first, second);
}

/* Entries of a block whose cell is `cell`, in a recording, but for the look. */

STRAND_INLINE void
enter_looked(struct strand *s, const struct block *b, uint32_t cell,
             unsigned work)
{
    const struct block *last = s->previous;
    if (__builtin_expect(strand_block(s, b, cell, work), 0))
        enter_ask(s, b, last);
    else if (curves && (work & WORK_FETCH))
        curve_fetch(s, b, work);
    else if ((work & WORK_FETCH) &&
             __builtin_expect(!strand_fetch_known(s, b, work), 0))
        enter_slow(s, b);
}

STRAND_INLINE void
enter_one_looked(struct strand *s, const struct block *b, uint32_t cell,
                 uint64_t addr, unsigned work, enum touch touch)
{
    const struct block *last = s->previous;
    if (__builtin_expect(strand_block(s, b, cell, work), 0))
        enter_one_ask(s, b, addr, last, touch);
    else if ((work & WORK_FETCH) &&
             __builtin_expect(!strand_fetch_known(s, b, work), 0))
        enter_one_slow(s, b, addr, touch);
    else
        make_one(s, addr, b->site, touch);
}

static __attribute__((noinline)) void
enter_two_slow(struct strand *s, const struct block *b, uint64_t addr,
               enum touch first, enum touch second)
{
    if ((tally_plugin.work & WORK_FETCH) && !strand_fetch_known(s, b, 0))
        strand_fetch_slow(s, b);
    two_slow(s, &b->pair, addr, first, second);
}

STRAND_INLINE void
make_two(struct strand *s, const struct access_pair *p, uint64_t addr,
         enum touch first, enum touch second)
{
    if (__builtin_expect(are_known(s, p, addr, first, second), 1))
        note_two_quick(s, p, addr, first, second);
    else
        two_slow(s, p, addr, first, second);
}

STRAND_INLINE void
enter_two_looked(struct strand *s, const struct block *b, uint32_t cell,
                 uint64_t addr, unsigned work, enum touch first,
                 enum touch second)
{
    bool known = are_known(s, &b->pair, addr, first, second);
    const struct block *last = s->previous;
    const bool asks = strand_block(s, b, cell, work);
    if (work & WORK_FETCH)
        known &= strand_fetch_known(s, b, work);
    if (__builtin_expect(asks, 0))
        enter_two_ask(s, b, addr, last, first, second);
    else if (__builtin_expect(!known, 0))
        enter_two_slow(s, b, addr, first, second);
    else
        note_two_quick(s, &b->pair, addr, first, second);
}

/* Entries that look first. Tail calls, as the seldom ends are. */

static __attribute__((noinline)) void
enter_looking(struct strand *s, const struct block *b, uint32_t cell,
              unsigned work)
{
    plugin_look(s, b);
    enter_looked(s, b, cell, work);
}

static __attribute__((noinline)) void
enter_one_looking(struct strand *s, const struct block *b, uint32_t cell,
                  uint64_t addr, unsigned work, enum touch touch)
{
    plugin_look(s, b);
    enter_one_looked(s, b, cell, addr, work, touch);
}

static __attribute__((noinline)) void
enter_two_looking(struct strand *s, const struct block *b, uint32_t cell,
                  uint64_t addr, unsigned work, enum touch first,
                  enum touch second)
{
    plugin_look(s, b);
    enter_two_looked(s, b, cell, addr, work, first, second);
}

/* Entries of a block whose cell is `cell`. */

STRAND_INLINE void
enter_cell(struct strand *s, const struct block *b, uint32_t cell,
           unsigned work)
{
    if (is_time_to_look(s, b, work))
        enter_looking(s, b, cell, work);
    else
        enter_looked(s, b, cell, work);
}

STRAND_INLINE void
enter_one_cell(struct strand *s, const struct block *b, uint32_t cell,
               uint64_t addr, unsigned work, enum touch touch)
{
    if (is_time_to_look(s, b, work))
        enter_one_looking(s, b, cell, addr, work, touch);
    else
        enter_one_looked(s, b, cell, addr, work, touch);
}

STRAND_INLINE void
enter_two_cell(struct strand *s, const struct block *b, uint32_t cell,
               uint64_t addr, unsigned work, enum touch first,
               enum touch second)
{
    if (is_time_to_look(s, b, work))
        enter_two_looking(s, b, cell, addr, work, first, second);
    else
        enter_two_looked(s, b, cell, addr, work, first, second);
}

/* Entries of a block whose cell must be looked for, as behind a call or a
 * return. Tail calls, as the seldom ends are: a call in the middle of an entry
 * makes it save five registers, 5 % of all time of a recording of bzip2. */

static __attribute__((noinline)) void
enter_lead(struct strand *s, const struct block *b, unsigned work)
{
    enter_cell(s, b, strand_lead(s, b, work), work);
}

static __attribute__((noinline)) void
enter_one_lead(struct strand *s, const struct block *b, uint64_t addr,
               unsigned work, enum touch touch)
{
    enter_one_cell(s, b, strand_lead(s, b, work), addr, work, touch);
}

static __attribute__((noinline)) void
enter_two_lead(struct strand *s, const struct block *b, uint64_t addr,
               unsigned work, enum touch first, enum touch second)
{
    enter_two_cell(s, b, strand_lead(s, b, work), addr, work, first, second);
}

/* Entries of a block, alone or with its first accesses. */

STRAND_INLINE void
enter(struct strand *s, const struct block *b, unsigned work)
{
    const uint32_t cell = work & WORK_RECORD ? strand_foresee(s, b, work) : 1;

    if (__builtin_expect(cell == 0, 0))
        enter_lead(s, b, work);
    else
        enter_cell(s, b, cell, work);
}

STRAND_INLINE void
enter_one(struct strand *s, const struct block *b, uint64_t addr, unsigned work,
          enum touch touch)
{
    const uint32_t cell = work & WORK_RECORD ? strand_foresee(s, b, work) : 1;

    if (__builtin_expect(cell == 0, 0))
        enter_one_lead(s, b, addr, work, touch);
    else
        enter_one_cell(s, b, cell, addr, work, touch);
}

STRAND_INLINE void
enter_two(struct strand *s, const struct block *b, uint64_t addr, unsigned work,
          enum touch first, enum touch second)
{
    const uint32_t cell = work & WORK_RECORD ? strand_foresee(s, b, work) : 1;

    if (__builtin_expect(cell == 0, 0))
        enter_two_lead(s, b, addr, work, first, second);
    else
        enter_two_cell(s, b, cell, addr, work, first, second);
}

/* The table: every choice of every dimension */

/* What one access, or two, of a call may be: enum touch without TOUCH_. The two
 * are of one machine, whose stores either allocate or go through. */
#define EACH_ONE(X, ...)  \
    X(LOAD, __VA_ARGS__)  \
    X(STORE, __VA_ARGS__) \
    X(THROUGH, __VA_ARGS__)
#define EACH_TWO(X, ...)          \
    X(LOAD, LOAD, __VA_ARGS__)    \
    X(LOAD, STORE, __VA_ARGS__)   \
    X(STORE, LOAD, __VA_ARGS__)   \
    X(STORE, STORE, __VA_ARGS__)  \
    X(LOAD, THROUGH, __VA_ARGS__) \
    X(THROUGH, LOAD, __VA_ARGS__) \
    X(THROUGH, THROUGH, __VA_ARGS__)

/* What the work of an entry may be: one of each of three kinds, added up. ENDS
 * is work for the branch that ended the block before. */
enum {
    ENDS_UNSEEN = 0,
    ENDS_DIRECTION = WORK_DIRECTION,
    ENDS_PREDICTED = WORK_DIRECTION | WORK_PREDICTOR,
    ENDS_TARGETS = WORK_DIRECTION | WORK_TARGETS,
    ENDS_ALL = WORK_DIRECTION | WORK_PREDICTOR | WORK_TARGETS,
    FETCH_NONE = 0,
    FETCH_LINES = WORK_FETCH,
    FETCH_ONE_LINE = WORK_FETCH | WORK_ONE_LINE,
    CLOCK_NONE = 0,
    CLOCK_LOOK = WORK_CLOCK,
};
#define EACH_ENDS(X, fetch, clock)  \
    X(ENDS_UNSEEN, fetch, clock)    \
    X(ENDS_DIRECTION, fetch, clock) \
    X(ENDS_PREDICTED, fetch, clock) \
    X(ENDS_TARGETS, fetch, clock)   \
    X(ENDS_ALL, fetch, clock)
#define EACH_FETCH(X, clock)         \
    EACH_ENDS(X, FETCH_NONE, clock)  \
    EACH_ENDS(X, FETCH_LINES, clock) \
    EACH_ENDS(X, FETCH_ONE_LINE, clock)
#define EACH_WORK(X)          \
    EACH_FETCH(X, CLOCK_NONE) \
    EACH_FETCH(X, CLOCK_LOOK)

/* The function of each choice, and its row in the table. WORK is the index that
 * the choice of ends, fetch and clock makes. */
#define MEM_CALL(name)                                                  \
    CALL name(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, \
              void *data)
#define WORK(ends, fetch, clock) \
    ((unsigned)(ends) | (unsigned)(fetch) | (unsigned)(clock))

#define ACCESS_ONE(touch, ...)                           \
    MEM_CALL(access_##touch)                             \
    {                                                    \
        struct strand *s = strand_of(vcpu);              \
        (void)info;                                      \
        make_one(s, addr, site_of(data), TOUCH_##touch); \
    }
#define ACCESS_TWO(first, second, ...)                                        \
    MEM_CALL(access_##first##_##second)                                       \
    {                                                                         \
        (void)info;                                                           \
        make_two(strand_of(vcpu), data, addr, TOUCH_##first, TOUCH_##second); \
    }
#define ENTER(ends, fetch, clock)                                    \
    CALL enter_##ends##_##fetch##_##clock(unsigned vcpu, void *data) \
    {                                                                \
        enter(strand_of(vcpu), data,                                 \
              WORK(ends, fetch, clock) | WORK_OF_VARIANT);           \
    }                                                                \
    EACH_ONE(ENTER_ONE, ends, fetch, clock)                          \
    EACH_TWO(ENTER_TWO, ends, fetch, clock)
#define ENTER_ONE(touch, ends, fetch, clock)                                  \
    MEM_CALL(enter_##ends##_##fetch##_##clock##_##touch)                      \
    {                                                                         \
        (void)info;                                                           \
        enter_one(strand_of(vcpu), data, addr,                                \
                  WORK(ends, fetch, clock) | WORK_OF_VARIANT, TOUCH_##touch); \
    }
#define ENTER_TWO(first, second, ends, fetch, clock)                         \
    MEM_CALL(enter_##ends##_##fetch##_##clock##_##first##_##second)          \
    {                                                                        \
        (void)info;                                                          \
        enter_two(strand_of(vcpu), data, addr,                               \
                  WORK(ends, fetch, clock) | WORK_OF_VARIANT, TOUCH_##first, \
                  TOUCH_##second);                                           \
    }

EACH_ONE(ACCESS_ONE)
EACH_TWO(ACCESS_TWO)
EACH_WORK(ENTER)

#define ROW_ONE(touch, ...) [TOUCH_##touch][TOUCH_NONE] = access_##touch,
#define ROW_TWO(first, second, ...) \
    [TOUCH_##first][TOUCH_##second] = access_##first##_##second,
#define ROW_ENTER(ends, fetch, clock) \
    [WORK(ends, fetch, clock)] = enter_##ends##_##fetch##_##clock,
#define ROW_ENTER_WITH(ends, fetch, clock)          \
    [WORK(ends, fetch, clock)] = {                  \
        EACH_ONE(ROW_ENTER_ONE, ends, fetch, clock) \
            EACH_TWO(ROW_ENTER_TWO, ends, fetch, clock)},
#define ROW_ENTER_ONE(touch, ends, fetch, clock) \
    [TOUCH_##touch][TOUCH_NONE] = enter_##ends##_##fetch##_##clock##_##touch,
#define ROW_ENTER_TWO(first, second, ends, fetch, clock) \
    [TOUCH_##first][TOUCH_##second] =                    \
        enter_##ends##_##fetch##_##clock##_##first##_##second,

/* Blocks and parts of blocks that are entered by themselves */

/* Counts a part of a block, or a block that does not follow the one before, in
 * a recording; returns its cell. */
static uint32_t
count_cell(struct strand *s, const struct block *b)
{
    if (!follows_callers(s, WORK_OF_VARIANT))
        return block_number(b);
    return callers_count(s->callers, b);
}

/* The part of a block that has just run stands for the block from now on. */
static void
stand_in(struct strand *s, const struct block *part, uint32_t cell)
{
    s->previous = part;
    s->cell = cell;
    if (follows_callers(s, WORK_OF_VARIANT)) {
        s->callers->last = part;
        s->callers->cell = cell;
    }
}

CALL
on_edge(unsigned vcpu, void *data)
{
    edges_enter(strand_of(vcpu), data);
}

CALL
on_edge_with(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr,
             void *data)
{
    (void)info, (void)addr;
    edges_enter(strand_of(vcpu), data);
}

CALL
on_part(unsigned vcpu, void *data)
{
    struct strand *s = strand_of(vcpu);
    const struct block *b = data;

    s->exec[b->index]++;
    if (tally_plugin.gateway.signals.count != 0)
        gateway_count(s, vcpu, b->index, b->pc);
    const uint32_t cell = count_cell(s, b);
    if (b->flags & BLOCK_TRAPS)
        stand_in(s, b, cell);
}

CALL
on_late_part(unsigned vcpu, void *data)
{
    struct strand *s = strand_of(vcpu);
    const struct late_block *late = data;

    blocks_add_late(s, late);
    gateway_add(s, vcpu, late->fixed, late->block.pc);
}

/* Begins the span with the block that passes the limit of --skip. */
static void
count_to_skip(struct strand *s, const struct block *b)
{
    const uint64_t skip = tally_plugin.request.skip;

    if (s->span.instructions >= skip)
        return;
    s->span.instructions += b->instructions;
    if (s->span.instructions >= skip)
        tally_plugin.span_open = true;
}

/* Puts the strand inside the span, and in the ranges of --filter, or outside.
 * The block before is closed first: the branch to `b` counts where it ran. */
static void
follow_span(struct strand *s, const struct block *b)
{
    const bool counted =
        tally_plugin.span_open &&
        (tally_plugin.shape.range_count == 0 || (b->flags & BLOCK_INSIDE) != 0);

    if (counted != s->span.outside)
        return;
    plugin_note_passed(s);
    strand_close(s, b, tally_plugin.work | WORK_OF_VARIANT);
    if (records && s->recorder != NULL)
        recorder_charge_branch(s, s->last_cell);
    strand_switch_span(s, counted);
}

/* Takes back the slot of a likely branch that was not taken: see block.h. */
static void
annul_slot(struct strand *s, unsigned vcpu, const struct block *last,
           const struct block *b)
{
    const struct block *slot = last->flags & BLOCK_PENDING ? s->slot : last;

    if ((last->flags & BLOCK_LIKELY) && slot != NULL && b->pc == slot->end) {
        const struct block part = {.index = slot->slot};
        s->exec[slot->slot]++;
        count_cell(s, &part);
        gateway_count(s, vcpu, slot->slot, slot->pc);
    }
}

/* Enters a block whose fetches, accesses and branch a monitor may capture. */
static void
enter_captured(struct strand *s, unsigned vcpu, const struct block *b)
{
    const uint32_t left = s->cell;
    const unsigned work = tally_plugin.work | WORK_OF_VARIANT;
    uint32_t cell = records ? strand_foresee(s, b, work) : 1;

    if (cell == 0)
        cell = strand_lead(s, b, work);
    /* The lines are fetched before the model enters the block, and yet are the
     * block's. */
    s->cell = cell;
    const struct ear_branches before = ear_enter(s, vcpu, b);
    s->cell = left;
    enter_cell(s, b, cell, work);
    ear_entered(s, vcpu, b, &before);
}

/* Enters a block that needs a second look: see enum block_flags. */
CALL
on_rare_block(unsigned vcpu, void *data)
{
    struct strand *s = strand_of(vcpu);
    const struct block *b = data;
    const struct block *last = s->previous;

    if ((b->flags & BLOCK_RESUMED) && (last->flags & BLOCK_REPEAT) &&
        last->last_pc == b->pc)
        return; /* the next iteration, not the next instruction */
    begin_insn(s);
    if (b->flags & BLOCK_AFTER)
        annul_slot(s, vcpu, last, b);
    if (b->flags & BLOCK_BEGIN)
        tally_plugin.span_open = true;
    if (b->flags & BLOCK_END)
        tally_plugin.span_open = false;
    if (tally_plugin.span == SPAN_SKIP)
        count_to_skip(s, b);
    if (tally_plugin.span != SPAN_ALL || tally_plugin.shape.range_count > 0)
        follow_span(s, b);

    gateway_count(s, vcpu, b->index, b->pc);
    /* A block that stands in for the last one keeps its closing branch. */
    const bool keep = (b->flags & BLOCK_RETRY) ||
                      ((b->flags & BLOCK_SLOT) &&
                       (last->flags & BLOCK_PENDING) && b->pc == last->end);
    if (keep) {
        s->exec[b->index]++;
        count_cell(s, b);
        s->slot = b;
        if (tally_plugin.ear_runs)
            ear_fetch(s, vcpu, b);
        else if (curves && (tally_plugin.work & WORK_FETCH))
            curve_fetch(s, b, 0);
        else if ((tally_plugin.work & WORK_FETCH) &&
                 !strand_fetch_known(s, b, 0))
            enter_slow(s, b);
        return;
    }
    if (b->flags & BLOCK_ODD)
        s->counts->suspect = b->index + 1;
    if (tally_plugin.ear_runs)
        enter_captured(s, vcpu, b);
    else
        enter(s, b, tally_plugin.work | WORK_OF_VARIANT);
    if (records && tally_plugin.request.record_edges)
        edges_enter(s, b);
}

#define NAME(variant) NAME_OF(variant)
#define NAME_OF(variant) callbacks_##variant

const struct callbacks NAME(VARIANT) = {
    .enter = {EACH_WORK(ROW_ENTER)},
    .enter_with = {EACH_WORK(ROW_ENTER_WITH)},
    .access = {EACH_ONE(ROW_ONE) EACH_TWO(ROW_TWO)},
    .edge = on_edge,
    .edge_with = on_edge_with,
    .rare_block = on_rare_block,
    .part = on_part,
    .late_part = on_late_part,
    .wide_store = on_wide_store,
    .floats = on_float,
    .atomic = on_atomic,
    .mixed = on_mixed,
    .bulk = on_bulk,
    .conditional = on_conditional,
    .repeated = on_repeated,
    .prefetch = on_prefetch,
    .data_begin = on_data_begin,
    .data_access = on_data_access,
};
