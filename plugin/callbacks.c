/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What QEMU calls while the guest runs. Each combination of parts has its own
 * functions, so that a session pays for nothing it does not count.
 *
 * Callbacks are the largest cost there is: 0.7 ns each and more with what they
 * do. So the entry of a block is merged with its first access where that
 * access is certain to happen (20 % of the time of empty callbacks on bzip2).
 */
#include "machine/strand.h"
#include "plugin/plugin.h"

#define BLOCK_WORKS 8

#define CALL static void

/* An access's data: the span, see strand.h. */
STRAND_INLINE uint64_t
span_of(void *data)
{
    return (uint64_t)(uintptr_t)data;
}

CALL
on_load(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *data)
{
    (void)info;
    strand_load(tally_strands[vcpu], addr, span_of(data));
}

CALL
on_store(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *data)
{
    (void)info;
    strand_store(tally_strands[vcpu], addr, span_of(data), false);
}

CALL
on_store_through(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr,
                 void *data)
{
    (void)info;
    strand_store(tally_strands[vcpu], addr, span_of(data), true);
}

/* Accesses of sizes or kinds that only QEMU can tell. */
static void
do_asked(struct strand *s, qemu_plugin_meminfo_t info, uint64_t addr)
{
    const uint64_t size = (uint64_t)1 << qemu_plugin_mem_size_shift(info);
    const bool through = s->chip->write_through;
    const bool store = qemu_plugin_mem_is_store(info);
    const struct filter *f = store && through ? &s->store : &s->data;
    const uint64_t line = (uint64_t)1 << f->shift;
    const uint64_t span = line >= size ? line - size : 0;

    if (store)
        strand_store(s, addr, span, through);
    else
        strand_load(s, addr, span);
}

CALL
on_mixed(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *data)
{
    (void)data;
    do_asked(tally_strands[vcpu], info, addr);
}

/* QEMU shows an atomic as a load and a store, or as one store. */
CALL
on_atomic(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *data)
{
    struct strand *s = tally_strands[vcpu];

    if (!s->chip->write_through)
        strand_load(s, addr, span_of(data));
    else if (qemu_plugin_mem_is_store(info))
        strand_atomic_slow(s, addr, span_of(data));
}

/*
 * One access of a REP string instruction. The data says whether an iteration
 * makes two.
 */
CALL
on_repeated(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr,
            void *data)
{
    struct strand *s = tally_strands[vcpu];
    const bool store = qemu_plugin_mem_is_store(info);

    s->total[store ? SIGNAL_REP_STORES : SIGNAL_REP_LOADS]++;
    s->repeats += data != NULL ? 1 : 2;
    s->total[SIGNAL_REP_ITERATIONS] += s->repeats >> 1;
    s->repeats &= 1;
    if (s->chip->parts & PART_L1D)
        do_asked(s, info, addr);
}

/* The rest of a block's entry, where its lines are not all known. */
static __attribute__((noinline)) void
enter_slow(struct strand *s, const struct block *b)
{
    strand_fetch_slow(s, b);
}

static __attribute__((noinline)) void
enter_load_slow(struct strand *s, const struct block *b, uint64_t addr)
{
    if (!strand_fetch_known(s, b))
        strand_fetch_slow(s, b);
    strand_load(s, addr, b->span);
}

static __attribute__((noinline)) void
enter_store_slow(struct strand *s, const struct block *b, uint64_t addr)
{
    if (!strand_fetch_known(s, b))
        strand_fetch_slow(s, b);
    strand_store(s, addr, b->span, s->chip->write_through);
}

/* The slow ends are tail calls, so that the quick ones save no registers. */
STRAND_INLINE void
enter(struct strand *s, const struct block *b, unsigned work)
{
    strand_block(s, b, work);
    if ((work & WORK_FETCH) && __builtin_expect(!strand_fetch_known(s, b), 0))
        enter_slow(s, b);
}

STRAND_INLINE void
enter_load(struct strand *s, const struct block *b, uint64_t addr,
           unsigned work)
{
    strand_block(s, b, work);
    if ((work & WORK_FETCH) == 0)
        strand_load(s, addr, b->span);
    else if (__builtin_expect(!strand_fetch_known(s, b) |
                                  !strand_data_known(s, addr, b->span),
                              0))
        enter_load_slow(s, b, addr);
}

STRAND_INLINE void
enter_store(struct strand *s, const struct block *b, uint64_t addr,
            unsigned work, bool through)
{
    strand_block(s, b, work);
    if ((work & WORK_FETCH) == 0)
        strand_store(s, addr, b->span, through);
    else if (__builtin_expect(
                 !strand_fetch_known(s, b) |
                     !strand_store_known(s, addr, b->span, through),
                 0))
        enter_store_slow(s, b, addr);
}

/* The functions of one kind of block work. */
#define BLOCK_CALLS(work)                                                   \
    CALL on_block_##work(unsigned vcpu, void *data)                         \
    {                                                                       \
        enter(tally_strands[vcpu], data, work);                             \
    }                                                                       \
    CALL on_block_load_##work(unsigned vcpu, qemu_plugin_meminfo_t info,    \
                              uint64_t addr, void *data)                    \
    {                                                                       \
        (void)info;                                                         \
        enter_load(tally_strands[vcpu], data, addr, work);                  \
    }                                                                       \
    CALL on_block_store_##work(unsigned vcpu, qemu_plugin_meminfo_t info,   \
                               uint64_t addr, void *data)                   \
    {                                                                       \
        (void)info;                                                         \
        enter_store(tally_strands[vcpu], data, addr, work, false);          \
    }                                                                       \
    CALL on_block_through_##work(unsigned vcpu, qemu_plugin_meminfo_t info, \
                                 uint64_t addr, void *data)                 \
    {                                                                       \
        (void)info;                                                         \
        enter_store(tally_strands[vcpu], data, addr, work, true);           \
    }

BLOCK_CALLS(0)
BLOCK_CALLS(1) /* WORK_DIRECTION */
BLOCK_CALLS(3) /* and WORK_PREDICTOR */
BLOCK_CALLS(4) /* WORK_FETCH */
BLOCK_CALLS(5)
BLOCK_CALLS(7)

/*
 * Two accesses in one call: kind0 and kind1 are 0 for a load, 1 for a store
 * that allocates, 2 for a store through.
 */
STRAND_INLINE bool
access_known(const struct strand *s, uint64_t addr, uint64_t span, int kind)
{
    return kind == 0 ? strand_data_known(s, addr, span)
                     : strand_store_known(s, addr, span, kind == 2);
}

STRAND_INLINE void
access_one(struct strand *s, uint64_t addr, uint64_t span, int kind)
{
    if (kind == 0)
        strand_load(s, addr, span);
    else
        strand_store(s, addr, span, kind == 2);
}

STRAND_INLINE void
pair_slow(struct strand *s, const struct access_pair *p, uint64_t addr,
          int kind0, int kind1)
{
    if (p->block != NULL && (tally_plugin.work & WORK_FETCH) &&
        !strand_fetch_known(s, p->block))
        strand_fetch_slow(s, p->block);
    access_one(s, addr, p->span0, kind0);
    access_one(s, addr + (uint64_t)p->delta, p->span1, kind1);
}

/* `work` < 0: no block is entered. */
#define PAIR_CALLS(kind0, kind1)                                           \
    static __attribute__((noinline)) void pair_slow_##kind0##kind1(        \
        struct strand *s, const struct access_pair *p, uint64_t addr)      \
    {                                                                      \
        pair_slow(s, p, addr, kind0, kind1);                               \
    }                                                                      \
    STRAND_INLINE void pair_##kind0##kind1(struct strand *s,               \
                                           const struct access_pair *p,    \
                                           uint64_t addr, int work)        \
    {                                                                      \
        const uint64_t other = addr + (uint64_t)p->delta;                  \
        bool known = access_known(s, addr, p->span0, kind0) &              \
                     access_known(s, other, p->span1, kind1);              \
        if (work >= 0)                                                     \
            strand_block(s, p->block, (unsigned)work);                     \
        if (work >= 0 && (work & WORK_FETCH))                              \
            known &= strand_fetch_known(s, p->block);                      \
        if (__builtin_expect(!known, 0))                                   \
            pair_slow_##kind0##kind1(s, p, addr);                          \
    }                                                                      \
    CALL on_pair_##kind0##kind1(unsigned vcpu, qemu_plugin_meminfo_t info, \
                                uint64_t addr, void *data)                 \
    {                                                                      \
        (void)info;                                                        \
        pair_##kind0##kind1(tally_strands[vcpu], data, addr, -1);          \
    }

PAIR_CALLS(0, 0)
PAIR_CALLS(0, 1)
PAIR_CALLS(1, 0)
PAIR_CALLS(1, 1)
PAIR_CALLS(0, 2)
PAIR_CALLS(2, 0)
PAIR_CALLS(2, 2)

/* A pair that enters its block. */
#define BLOCK_PAIR(work, kind0, kind1)                                        \
    CALL on_block_pair_##work##_##kind0##kind1(                               \
        unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *data) \
    {                                                                         \
        (void)info;                                                           \
        pair_##kind0##kind1(tally_strands[vcpu], data, addr, work);           \
    }
#define BLOCK_PAIRS(work)  \
    BLOCK_PAIR(work, 0, 0) \
    BLOCK_PAIR(work, 0, 1) \
    BLOCK_PAIR(work, 1, 0) \
    BLOCK_PAIR(work, 1, 1) \
    BLOCK_PAIR(work, 0, 2) \
    BLOCK_PAIR(work, 2, 0) \
    BLOCK_PAIR(work, 2, 2)

BLOCK_PAIRS(0)
BLOCK_PAIRS(1)
BLOCK_PAIRS(3)
BLOCK_PAIRS(4)
BLOCK_PAIRS(5)
BLOCK_PAIRS(7)

struct block_calls {
    qemu_plugin_vcpu_udata_cb_t block;
    qemu_plugin_vcpu_mem_cb_t load, store, through;
    qemu_plugin_vcpu_mem_cb_t pair[3][3]; /* by the kinds of both accesses */
};

#define PAIR_TABLE(prefix)                                                    \
    {                                                                         \
        {prefix##00, prefix##01, prefix##02}, {prefix##10, prefix##11, NULL}, \
            {prefix##20, NULL, prefix##22},                                   \
    }
#define BLOCK_ROW(work)                                                     \
    [work] = {on_block_##work, on_block_load_##work, on_block_store_##work, \
              on_block_through_##work, PAIR_TABLE(on_block_pair_##work##_)}

static const struct block_calls block_calls[BLOCK_WORKS] = {
    BLOCK_ROW(0), BLOCK_ROW(1), BLOCK_ROW(3),
    BLOCK_ROW(4), BLOCK_ROW(5), BLOCK_ROW(7),
};

static const qemu_plugin_vcpu_mem_cb_t pair_calls[3][3] = PAIR_TABLE(on_pair_);

unsigned
callbacks_work(uint32_t parts)
{
    unsigned work = 0;

    if (parts & (PART_DIRECTION | PART_PREDICTOR))
        work |= WORK_DIRECTION;
    if (parts & PART_PREDICTOR)
        work |= WORK_PREDICTOR;
    if (parts & (PART_L1I | PART_ITLB))
        work |= WORK_FETCH;
    return work;
}

CALL
on_part(unsigned vcpu, void *data)
{
    const struct block *b = data;

    tally_strands[vcpu]->exec[b->index]++;
}

/* --skip: the window opens with the block that passes the limit. */
static void
count_to_skip(struct strand *s, const struct block *b)
{
    const uint64_t skip = tally_plugin.session->request.skip;

    if (s->instructions >= skip)
        return;
    s->instructions += b->instructions;
    if (s->instructions >= skip)
        plugin_window(s, true);
}

/* Blocks that need a second look; see enum block_flags. */
CALL
on_rare_block(unsigned vcpu, void *data)
{
    struct strand *s = tally_strands[vcpu];
    const struct block *b = data;
    const struct block *last = s->previous;

    if ((b->flags & BLOCK_RESUMED) && (last->flags & BLOCK_REPEAT) &&
        last->last_pc == b->pc)
        return; /* the next iteration, not the next instruction */
    if (b->flags & BLOCK_BEGIN)
        plugin_window(s, true);
    if (b->flags & BLOCK_END)
        plugin_window(s, false);
    if (tally_plugin.session->request.window == WINDOW_SKIP)
        count_to_skip(s, b);

    /* A block that stands in for the last one keeps its closing branch. */
    const bool keep = (b->flags & BLOCK_RETRY) ||
                      ((b->flags & BLOCK_SLOT) &&
                       (last->flags & BLOCK_PENDING) && b->pc == last->end);
    if (keep) {
        s->exec[b->index]++;
        return;
    }
    if (b->flags & BLOCK_ODD)
        tally_plugin.counts[vcpu]->last_block = b->index;
    enter(s, b, tally_plugin.work);
}

void
callbacks_choose(struct callbacks *c, uint32_t parts, bool write_through,
                 bool windowed)
{
    const unsigned work = callbacks_work(parts);
    const bool data = (parts & PART_L1D) != 0;

    *c = (struct callbacks){
        .block = block_calls[work].block,
        .rare_block = on_rare_block,
        .part = on_part,
    };
    if (windowed)
        c->block = on_rare_block;
    if (data) {
        c->load = on_load;
        c->store = write_through ? on_store_through : on_store;
        c->mixed = on_mixed;
        c->atomic = on_atomic;
    }
    if (data) {
        const unsigned store = write_through ? 2 : 1;
        for (unsigned i = 0; i < 4; i++)
            c->pair[i >> 1][i & 1] =
                pair_calls[i >> 1 ? store : 0][i & 1 ? store : 0];
    }
    if (data && !windowed) {
        const unsigned store = write_through ? 2 : 1;
        for (unsigned i = 0; i < 4; i++)
            c->block_pair[i >> 1][i & 1] =
                block_calls[work].pair[i >> 1 ? store : 0][i & 1 ? store : 0];
        c->block_load = block_calls[work].load;
        c->block_store =
            write_through ? block_calls[work].through : block_calls[work].store;
    }
    if (data || (parts & PART_REPEAT))
        c->repeated = on_repeated;
}
