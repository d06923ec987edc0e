/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Translation: a QEMU block becomes a block record and its callbacks.
 */
#include "plugin/translate.h"

#include <stdlib.h>
#include <string.h>

#include "machine/ooo.h"
#include "plugin/blocks.h"
#include "plugin/calls.h"
#include "plugin/ear.h"
#include "plugin/early.h"
#include "plugin/gateway_read.h"
#include "plugin/mapped.h"
#include "plugin/mpi.h"
#include "plugin/plugin.h"
#include "plugin/point.h"
#include "plugin/qemu.h"
#include "plugin/recording.h"
#include "plugin/span.h"
#include "plugin/steps.h"
#include "source/prefetch.h"
#include "timing/t4_class.h"

static uint64_t
hash_bytes(uint64_t hash, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

static void
decode(struct translation *t, struct qemu_plugin_tb *tb, const struct isa *isa)
{
    const size_t count = qemu_plugin_tb_n_insns(tb);
    const bool passes = tally_plugin.chip.passes;

    t->tb = tb;
    t->count = count < TRANSLATION_INSNS ? count : TRANSLATION_INSNS;
    t->image = recording_image(&tally_plugin, qemu_plugin_tb_vaddr(tb));
    t->code_kept = false;
    t->index = RECORD_NO_ROOM;
    t->hash = 0xcbf29ce484222325u ^ qemu_plugin_tb_vaddr(tb) ^
              (uint64_t)t->image << 52;
    for (size_t i = 0; i < t->count; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        const size_t size = qemu_plugin_insn_size(insn);
        uint8_t room[QEMU_INSN_BYTES];
        const uint8_t *bytes = qemu_insn_bytes(insn, room);
        insn_recent_decode(&tally_plugin.translator.recent, isa, bytes, size,
                           qemu_plugin_insn_vaddr(insn), &t->insns[i]);
        if (passes && insn_is_float(&t->insns[i]))
            t->insns[i].access = ACCESS_FLOAT;
        t->hash =
            hash_bytes(t->hash, bytes, isa->imported ? QEMU_INSN_BYTES : size);
    }
}

static uint64_t
line_of(const struct plugin *p, bool through)
{
    const uint64_t *params = p->request.params;

    return through && p->chip.store_filter ? params[PARAM_L2_LINE]
                                           : params[PARAM_L1D_LINE];
}

/*
 * Returns an access's room: how far from the start of its line the access may
 * begin without crossing the line's end. Accesses of more than 8 bytes arrive
 * in pieces of 8 bytes.
 */
static uint64_t
room_of(const struct plugin *p, const struct insn *insn, bool through)
{
    const uint64_t line = line_of(p, through);
    const uint64_t size = insn->access_size > 8 ? 8 : insn->access_size;

    return line >= size ? line - size : 0;
}

/* Returns whether the instruction is a block load or twin load, which the T4
 * does not count as a miss of its L1 data cache. */
static bool
is_bulk(const struct insn *insn)
{
    return insn->loads != 0 && t4_more(insn) != 0;
}

/* Returns whether the model runs the component. */
static bool
runs(const struct plugin *p, uint64_t component)
{
    return (p->components & component) != 0;
}

static bool
is_store(const struct insn *insn)
{
    return insn->access == ACCESS_STORE;
}

/* Returns how the load or store of this instruction touches the caches. */
static enum touch
touch_of(const struct plugin *p, const struct insn *insn)
{
    if (!is_store(insn))
        return TOUCH_LOAD;
    return p->chip.stores_apart ? TOUCH_THROUGH : TOUCH_STORE;
}

/* Returns whether a store may change more than a load of the same bytes just
 * before it did: it takes the line from other cores, or is told from a load. */
static bool
stores_count(const struct plugin *p)
{
    return p->chip.stores_apart || (p->chip.sharing != NULL && p->threaded);
}

/* Returns what an access of no fixed kind or size calls, or NULL. */
static qemu_plugin_vcpu_mem_cb_t
mixed_call(const struct plugin *p, const struct insn *insn)
{
    const struct callbacks *c = p->callbacks;

    if ((insn->flags & INSN_CONDITIONAL) && runs(p, COMPONENT_CONDITIONAL) &&
        !is_bulk(insn))
        return c->conditional;
    if (!runs(p, COMPONENT_L1D))
        return NULL;
    return is_bulk(insn) && runs(p, COMPONENT_BULK) ? c->bulk : c->mixed;
}

/* Returns access_site as a callback's data. */
static void *
site_data(uint64_t room, size_t instruction)
{
    return (void *)(uintptr_t)site_make(room, instruction);
}

/* Returns what an access by itself calls, and the call's data; NULL: nothing,
 * as nothing is counted of the access. */
static qemu_plugin_vcpu_mem_cb_t
access_call(const struct plugin *p, const struct translation *t, size_t i,
            void **its)
{
    const struct insn *insn = &t->insns[i];
    const struct callbacks *c = p->callbacks;
    const bool through = p->chip.stores_apart;
    const bool sized = insn->access_size != 0;
    const bool data = runs(p, COMPONENT_L1D);
    qemu_plugin_vcpu_mem_cb_t call = NULL;
    uint64_t room = room_of(p, insn, through);

    switch (insn->access) {
    case ACCESS_NONE:
        return NULL;
    case ACCESS_REPEATED:
        *its = site_data(insn->flags & INSN_REPEAT_PAIR ? 1 : 0, i);
        return data || runs(p, COMPONENT_REPEAT) ? c->repeated : NULL;
    case ACCESS_LOAD:
        call = sized ? c->access[TOUCH_LOAD][TOUCH_NONE] : c->mixed;
        room = room_of(p, insn, false);
        break;
    case ACCESS_STORE:
        call = !sized ? c->mixed
               : insn->access_size > 8 && runs(p, COMPONENT_ALIGN)
                   ? c->wide_store
                   : c->access[touch_of(p, insn)][TOUCH_NONE];
        break;
    case ACCESS_UPDATE:
        call = !sized || stores_count(p) ? c->mixed
                                         : c->access[TOUCH_LOAD][TOUCH_NONE];
        room = room_of(p, insn, false);
        break;
    case ACCESS_ATOMIC:
        call = c->atomic;
        break;
    case ACCESS_FLOAT:
        call = c->floats;
        break;
    default:
        *its = site_data(0, i);
        return mixed_call(p, insn);
    }
    *its = site_data(room, i);
    return data ? call : NULL;
}

/* Finds the accesses that tell the addresses of prefetches, if these are to be
 * performed. */
static void
find_prefetches(const struct plugin *p, struct translation *t)
{
    memset(t->tells, 0, t->count * sizeof(*t->tells));
    if (!runs(p, COMPONENT_L1D) || !p->chip.prefetches)
        return;
    for (size_t i = 0; i < t->count; i++) {
        if (t->insns[i].prefetch == PREFETCH_NOWHERE)
            continue;
        t->teller[i] = prefetch_teller(t->insns, t->count, i, &t->distance[i]);
        if (t->teller[i] == t->count)
            continue;
        if (prefetch_distance_of(prefetch_data(t->distance[i], 0, false)) ==
            t->distance[i])
            t->tells[t->teller[i]] = true;
        else
            t->teller[i] = t->count;
    }
}

/* Registers the prefetches from instruction `from` to before `to` whose
 * addresses access `k` tells. QEMU makes no access for a prefetch, so access
 * `k` calls each of them. */
static void
register_prefetches(const struct plugin *p, const struct translation *t,
                    size_t k, size_t from, size_t to)
{
    for (size_t i = from; t->tells[k] && i < to; i++) {
        const unsigned prefetch = t->insns[i].prefetch;
        if (prefetch == PREFETCH_NOWHERE || t->teller[i] != k)
            continue;
        qemu_plugin_register_vcpu_mem_cb(
            qemu_plugin_tb_get_insn(t->tb, k), p->callbacks->prefetch,
            QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
            prefetch_data(t->distance[i], i, prefetch == PREFETCH_NEAR));
    }
}

/* Registers access `i`, with the prefetches whose addresses the access tells
 * before and behind it. */
static void
register_access(const struct plugin *p, const struct translation *t, size_t i)
{
    void *data;
    const qemu_plugin_vcpu_mem_cb_t call = access_call(p, t, i, &data);

    register_prefetches(p, t, i, 0, i);
    if (call != NULL)
        qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(t->tb, i),
                                         call, QEMU_PLUGIN_CB_NO_REGS,
                                         QEMU_PLUGIN_MEM_RW, data);
    register_prefetches(p, t, i, i, t->count);
}

/* Returns the next instruction from `i` on that touches memory, or the number
 * of instructions. */
static size_t
next_access(const struct translation *t, size_t i)
{
    while (i < t->count && t->insns[i].access == ACCESS_NONE)
        i++;
    return i;
}

/*
 * Returns whether access `k` is at a fixed distance from access `i`, the one
 * before it: both are certain, and the instructions between change their
 * registers by constants only. An access is alone that tells the address of a
 * prefetch.
 */
static bool
is_pair(const struct translation *t, size_t i, size_t k, int64_t *delta)
{
    if (k >= t->count || !prefetch_single(&t->insns[i]) ||
        !prefetch_single(&t->insns[k]) || t->tells[i] || t->tells[k])
        return false;
    if (t->insns[k - 1].flags & INSN_ANNUL)
        return false;
    return prefetch_distance(t->insns, i, k, delta);
}

/* Returns the work of the block's entry, the index of its callback. */
static unsigned
work_of_entry(const struct plugin *p, const struct block *block)
{
    const bool one_line = block->line0 == block->line1;

    return p->work | ((p->work & WORK_FETCH) && one_line ? WORK_ONE_LINE : 0u);
}

static struct access_pair
make_pair(const struct plugin *p, const struct translation *t, size_t i,
          size_t k, int64_t delta)
{
    const bool through = p->chip.stores_apart;
    const struct insn *a = &t->insns[i], *b = &t->insns[k];

    return (struct access_pair){
        .delta = delta,
        .first = site_make(room_of(p, a, is_store(a) && through), i),
        .second = site_make(room_of(p, b, is_store(b) && through), k),
    };
}

/* Registers that the block is entered with access `i`, where edges are
 * recorded. */
static void
register_edge_with(const struct plugin *p, const struct translation *t,
                   size_t i, struct block *block)
{
    if (p->request.record_edges)
        qemu_plugin_register_vcpu_mem_cb(
            qemu_plugin_tb_get_insn(t->tb, i), p->callbacks->edge_with,
            QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, block);
}

/* Registers one call for two accesses. The call enters block `merged` too, if
 * that is not NULL. */
static void
register_pair(struct plugin *p, const struct translation *t, size_t i, size_t k,
              int64_t delta, struct block *merged)
{
    const enum touch first = touch_of(p, &t->insns[i]);
    const enum touch second = touch_of(p, &t->insns[k]);
    const struct access_pair pair = make_pair(p, t, i, k, delta);
    const void *data;

    if (merged != NULL) {
        merged->pair = pair;
        data = merged;
    } else {
        data = blocks_keep_pair(&p->table, &pair);
    }
    qemu_plugin_register_vcpu_mem_cb(
        qemu_plugin_tb_get_insn(t->tb, i),
        merged
            ? p->callbacks->enter_with[work_of_entry(p, merged)][first][second]
            : p->callbacks->access[first][second],
        QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, (void *)(uintptr_t)data);
    if (merged != NULL)
        register_edge_with(p, t, i, merged);
}

/*
 * Returns whether the entry of the block can wait for instruction `i`: no
 * instruction before it may leave the block, or the entry would be lost, or
 * read the clock, which counts the block as run.
 */
static bool
can_merge(const struct plugin *p, const struct translation *t, size_t i,
          const struct block *block, size_t pieces)
{
    if (!runs(p, COMPONENT_L1D) || p->all_rare || i == t->count || pieces > 1 ||
        (block->flags & BLOCK_RARE) != 0 || t->tells[i] ||
        allocators_enter(&p->recording.allocators, block->pc) ||
        allocators_ask_pointer(&p->recording.allocators, t->insns, t->count) ||
        !prefetch_single(&t->insns[i]))
        return false;
    for (size_t k = 0; k < i; k++) {
        if (t->insns[k].flags & (INSN_SYSCALL | INSN_ILLEGAL | INSN_TICKS))
            return false;
    }
    return true;
}

static void
register_merged(const struct plugin *p, const struct translation *t, size_t i,
                struct block *block)
{
    const enum touch touch = touch_of(p, &t->insns[i]);

    block->site =
        site_make(room_of(p, &t->insns[i], touch == TOUCH_THROUGH), i);
    qemu_plugin_register_vcpu_mem_cb(
        qemu_plugin_tb_get_insn(t->tb, i),
        p->callbacks->enter_with[work_of_entry(p, block)][touch][TOUCH_NONE],
        QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, block);
    register_edge_with(p, t, i, block);
}

/*
 * Returns whether the code before `pc` may be an instruction that repeats
 * itself. The block that follows ends the run, so the block must be seen.
 */
static bool
follows_repeat(const struct plugin *p, uint64_t pc)
{
    const struct isa_decoder *decoder = isa_decoder(p->shape.isa);

    if (decoder->may_repeat == NULL)
        return false;
    return (pc & (p->shape.page - 1)) < 3 ||
           decoder->may_repeat(plugin_memory(pc));
}

/*
 * Returns whether the code before `pc` may be a likely branch of MIPS and its
 * slot: then block `pc` tells that the slot was annulled. Code on another page
 * counts as such a branch, since that page may not be there.
 */
static bool
follows_likely(const struct plugin *p, uint64_t pc)
{
    const size_t before = 8;
    struct insn insn;

    if (p->shape.isa->slots != SLOTS_WITHIN)
        return false;
    if ((pc & (p->shape.page - 1)) < before)
        return true;
    insn_decode(p->shape.isa, plugin_memory(pc - before), 4, pc - before,
                &insn);
    return (insn.flags & INSN_ANNUL) != 0;
}

/* Returns whether the block is entered by callbacks.rare_block. */
static bool
is_rare(const struct plugin *p, const struct block *block)
{
    return (block->flags & BLOCK_RARE) != 0 || p->all_rare;
}

static void
register_entry(const struct plugin *p, const struct translation *t,
               struct block *block)
{
    const bool rare = (block->flags & BLOCK_RARE) != 0;

    if (p->inline_counts && !rare && (block->flags & BLOCK_REPEAT) == 0 &&
        !follows_repeat(p, block->pc))
        qemu_register_add(t->tb, &p->counts[0]->exec[0][block->index], 1);
    else
        qemu_plugin_register_vcpu_tb_exec_cb(
            t->tb,
            is_rare(p, block) ? p->callbacks->rare_block
                              : p->callbacks->enter[work_of_entry(p, block)],
            QEMU_PLUGIN_CB_NO_REGS, block);
    if (p->request.record_edges && !is_rare(p, block))
        qemu_plugin_register_vcpu_tb_exec_cb(t->tb, p->callbacks->edge,
                                             QEMU_PLUGIN_CB_NO_REGS, block);
}

static struct data_insn
make_data_insn(const struct plugin *p, const struct translation *t, size_t i)
{
    const struct insn *insn = &t->insns[i];
    struct block_info info = {0};
    struct data_insn d;

    memset(&d, 0, sizeof(d)); /* compared whole */
    d.access = insn->access;
    d.loads = insn->loads;
    d.stores = insn->stores;
    d.bulk = is_bulk(insn) && (p->chip.components & COMPONENT_BULK) != 0;
    d.conditional = (insn->flags & INSN_CONDITIONAL) != 0;
    if (insn->access == ACCESS_REPEATED)
        d.data = site_data(insn->flags & INSN_REPEAT_PAIR ? 1 : 0, i);
    else
        d.data = site_data(room_of(p, insn, p->chip.stores_apart), i);
    block_add_insn(&info, insn);
    for (uint8_t s = 0; s < SIGNAL_FIXED_COUNT; s++) {
        if (tally_signals[s].data && info.fixed[s] != 0 && s != SIGNAL_LOADS &&
            s != SIGNAL_STORES && d.signal_count < DATA_SIGNALS)
            d.signals[d.signal_count++] = s;
    }
    return d;
}

static int
compare_data_insns(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct data_insn));
}

/* Returns the one copy of what --filter data= knows of an instruction. */
static const struct data_insn *
data_insn_of(struct plugin *p, const struct translation *t, size_t i)
{
    const struct data_insn wanted = make_data_insn(p, t, i);

    return blocks_keep_copy(&p->table, &p->translator.data_insns, &wanted,
                            sizeof(wanted), compare_data_insns);
}

/*
 * Registers every access by itself, for --filter data=. Iterations of a REP
 * string instruction are blocks, so the entry of such a block begins the
 * instruction.
 */
static void
register_data(struct plugin *p, const struct translation *t)
{
    for (size_t i = next_access(t, 0); i < t->count;
         i = next_access(t, i + 1)) {
        struct qemu_plugin_insn *target = qemu_plugin_tb_get_insn(t->tb, i);
        void *const d = (void *)(uintptr_t)data_insn_of(p, t, i);
        if (i > 0)
            qemu_plugin_register_vcpu_insn_exec_cb(
                target, p->callbacks->data_begin, QEMU_PLUGIN_CB_NO_REGS, d);
        register_prefetches(p, t, i, 0, i);
        qemu_plugin_register_vcpu_mem_cb(target, p->callbacks->data_access,
                                         QEMU_PLUGIN_CB_NO_REGS,
                                         QEMU_PLUGIN_MEM_RW, d);
        register_prefetches(p, t, i, i, t->count);
    }
}

/* Registers the instructions that an event address register or the trace buffer
 * may capture. */
static void
register_ears(const struct plugin *p, const struct translation *t,
              const struct block *block)
{
    const struct ear_shape shape = {t->tb, t->insns, t->count, block};

    ear_register_retired(&shape);
    for (size_t i = next_access(t, 0); i < t->count;
         i = next_access(t, i + 1)) {
        void *data;
        const qemu_plugin_vcpu_mem_cb_t call = access_call(p, t, i, &data);
        if (call != NULL)
            ear_register(&shape, i, call, data);
    }
}

/* Registers each access between what comes before and after it where a point of
 * the run is looked for. */
static void
register_point(const struct plugin *p, const struct translation *t)
{
    for (size_t i = next_access(t, 0); i < t->count;
         i = next_access(t, i + 1)) {
        struct qemu_plugin_insn *const insn = qemu_plugin_tb_get_insn(t->tb, i);
        point_register_before(insn, (unsigned)i);
        register_access(p, t, i);
        point_register_after(insn, (unsigned)i);
    }
}

/* Registers each access between what comes before and after it where steps are
 * recorded. */
static void
register_steps(struct plugin *p, const struct translation *t,
               const struct block *block)
{
    struct steps_block *const code =
        steps_code(p, t->tb, block, t->image, t->insns, t->count);

    for (size_t i = next_access(t, 0); i < t->count;
         i = next_access(t, i + 1)) {
        struct qemu_plugin_insn *const insn = qemu_plugin_tb_get_insn(t->tb, i);
        steps_register_before(insn, code, (unsigned)i);
        register_access(p, t, i);
        steps_register_after(insn, code, (unsigned)i);
    }
}

/* Registers the accesses one by one, or two by two where they are pairs. */
static void
register_accesses(struct plugin *p, const struct translation *t,
                  struct block *block, bool merged)
{
    if (p->data_filter) {
        register_data(p, t);
        return;
    }
    if (p->ear_runs) {
        register_ears(p, t, block);
        return;
    }
    if (p->point.runs) {
        register_point(p, t);
        return;
    }
    if (p->steps.runs) {
        register_steps(p, t, block);
        return;
    }
    for (size_t i = next_access(t, 0); i < t->count;) {
        const size_t k = next_access(t, i + 1);
        int64_t delta;
        if (runs(p, COMPONENT_L1D) && is_pair(t, i, k, &delta)) {
            register_pair(p, t, i, k, delta, merged ? block : NULL);
            i = next_access(t, k + 1);
        } else {
            if (merged)
                register_merged(p, t, i, block);
            else
                register_access(p, t, i);
            i = k;
        }
        merged = false;
    }
}

static void
on_ooo(unsigned vcpu, void *data)
{
    ooo_enter(tally_plugin.strands[vcpu], data);
}

/* Makes the block as a core that executes out of order sees it. */
static const struct ooo_block *
make_ooo(struct plugin *p, const struct translation *t, uint64_t pc)
{
    struct insn_operands operands[TRANSLATION_INSNS];

    if (p->translator.ooo == NULL)
        p->translator.ooo =
            malloc(ooo_block_size(OOO_OPS_MOST * TRANSLATION_INSNS));
    struct ooo_block *const room = p->translator.ooo;
    if (room == NULL)
        plugin_no_memory(p->process.head, "a block");
    for (size_t i = 0; i < t->count; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(t->tb, i);
        uint8_t bytes[QEMU_INSN_BYTES];
        insn_operands(p->shape.isa, qemu_insn_bytes(insn, bytes),
                      qemu_plugin_insn_size(insn), &operands[i]);
    }
    ooo_block_make(room, p->request.params, pc, t->insns, operands, t->count);
    const size_t size = ooo_block_size(room->count);
    struct ooo_block *const made = malloc(size);
    if (made == NULL)
        plugin_no_memory(p->process.head, "a block");
    memcpy(made, room, size);
    return made;
}

/* Has the block take its time where cores execute out of order, before anything
 * else of the block runs. */
static void
register_ooo(struct plugin *p, const struct translation *t, struct block *block)
{
    if (!runs(p, COMPONENT_OOO))
        return;
    if (block->ooo == NULL)
        block->ooo = make_ooo(p, t, block->pc);
    qemu_plugin_register_vcpu_tb_exec_cb(t->tb, on_ooo, QEMU_PLUGIN_CB_NO_REGS,
                                         (void *)(uintptr_t)block->ooo);
}

/* Registers a block for which the process's counts have no room: see
 * blocks_late(). */
static void
register_late(struct plugin *p, const struct translation *t,
              const struct block *model, const struct block_piece *pieces,
              size_t count)
{
    struct block_info slot;
    const bool annuls =
        block_slot(&p->shape, model, &t->insns[t->count - 1], &slot);

    for (size_t i = 0; i < count; i++) {
        struct late_block *late = blocks_late(&p->table, model, &pieces[i].info,
                                              annuls ? &slot : NULL);
        if (i == 0) {
            mpi_register(p, t->tb, &late->block);
            register_ooo(p, t, &late->block);
            register_entry(p, t, &late->block);
            qemu_plugin_register_vcpu_tb_exec_cb(t->tb, p->callbacks->late_part,
                                                 QEMU_PLUGIN_CB_NO_REGS, late);
            register_accesses(p, t, &late->block, false);
        } else {
            qemu_plugin_register_vcpu_insn_exec_cb(
                qemu_plugin_tb_get_insn(t->tb, pieces[i].marker),
                p->callbacks->late_part, QEMU_PLUGIN_CB_NO_REGS, late);
        }
    }
}

/* Keeps part `piece` of the block, and notes where a new one is. */
static struct block *
keep_part(struct plugin *p, struct translation *t, uint64_t part,
          const struct block *model, const struct block_info *info,
          unsigned piece)
{
    const uint32_t known = p->table.index_count;
    struct block *block = blocks_keep(&p->table, t->hash + part, model, info);

    /* The program may have made a handler of it since. */
    block->flags |= model->flags & BLOCK_HANDLER;
    if (p->recording.process != NULL && p->table.index_count != known) {
        if (!t->code_kept)
            t->code = recording_code(p, t->tb, t->insns, t->count);
        t->code_kept = true;
        recording_place(p, block, t->code, t->image, (unsigned)t->count, piece);
    }
    return block;
}

static void
register_block(struct plugin *p, struct translation *t,
               const struct block *model, const struct block_piece *pieces,
               size_t count)
{
    struct block entered = *model;

    /* Only the last part says what closes the block, see BLOCK_TRAPS. */
    if (model->flags & BLOCK_TRAPS)
        entered.flags &= ~(uint32_t)(BLOCK_TRAPS | BLOCK_KINDS);
    struct block *block = keep_part(p, t, 0, &entered, &pieces[0].info, 0);
    t->index = block->index;
    const bool merged = can_merge(p, t, next_access(t, 0), block, count);
    struct block_info slot;

    if (block_slot(&p->shape, model, &t->insns[t->count - 1], &slot))
        block->slot =
            keep_part(p, t, BLOCK_PIECES, model, &slot, RECORD_SLOT)->index;
    mpi_register(p, t->tb, block);
    register_ooo(p, t, block);
    point_register_leave(p, t->tb, block);
    steps_register_leave(p, t->tb, block);
    if (!merged)
        register_entry(p, t, block);
    point_register_enter(p, t->tb, block,
                         (unsigned)pieces[0].info.fixed[SIGNAL_INSTRUCTIONS]);
    if (p->steps.runs)
        steps_register_enter(
            p, t->tb, steps_code(p, t->tb, block, t->image, t->insns, t->count),
            &pieces[0].info);
    gateway_register(t->tb, block, is_rare(p, block));
    register_accesses(p, t, block, merged);
    for (size_t i = 1; i < count; i++) {
        struct block *part =
            keep_part(p, t, i, i < count - 1 ? &entered : model,
                      &pieces[i].info, (unsigned)i);
        qemu_plugin_register_vcpu_insn_exec_cb(
            qemu_plugin_tb_get_insn(t->tb, pieces[i].marker),
            p->ear_runs ? ear_part : p->callbacks->part, QEMU_PLUGIN_CB_NO_REGS,
            part);
        point_register_part(
            p, qemu_plugin_tb_get_insn(t->tb, pieces[i].marker), part,
            pieces[i].first,
            (unsigned)pieces[i].info.fixed[SIGNAL_INSTRUCTIONS]);
        if (p->steps.runs)
            steps_register_part(
                qemu_plugin_tb_get_insn(t->tb, pieces[i].marker),
                steps_code(p, t->tb, block, t->image, t->insns, t->count),
                pieces[i].first, &pieces[i].info);
    }
}

/* Returns whether the bytes are no instruction, or one that some processors
 * lack. */
static bool
may_lack(const struct plugin *p, const struct block_info *info)
{
    const char *set = insn_set(p->shape.isa, info->odd_bytes, info->odd_size);
    struct insn insn;

    insn_decode(p->shape.isa, info->odd_bytes, info->odd_size, info->odd_pc,
                &insn);
    return (insn.flags & INSN_ILLEGAL) != 0 || (set != NULL && *set != '\0');
}

/* Reads the instruction that QEMU may raise a signal for: QEMU itself reads no
 * further than to where it knows that the instruction is none. */
static void
read_odd(const struct plugin *p, struct block_info *info)
{
    const uint64_t left = p->shape.page - (info->odd_pc & (p->shape.page - 1));

    info->odd_size = sizeof(info->odd_bytes);
    if (left < info->odd_size &&
        !plugin_read(info->odd_pc, info->odd_bytes, info->odd_size))
        info->odd_size = (uint8_t)left; /* there is no next page */
    if (!plugin_read(info->odd_pc, info->odd_bytes, info->odd_size))
        info->odd_size = 0;
    else if (may_lack(p, info))
        mapped_note(p->process.head, info->odd_pc);
}

static void
on_pause(unsigned vcpu, void *data)
{
    (void)vcpu;
    schedule_spins(data, SPIN_PAUSE);
}

static void
on_spin_block(unsigned vcpu, void *data)
{
    (void)vcpu;
    schedule_spins(data, SPIN_BLOCK);
}

/* What the instructions of a block do that branches to itself. */
struct repeats {
    uint64_t changed; /* registers, a bit each, */
    uint64_t bases;   /* and those that addresses are taken from */
    unsigned loads;
    unsigned exchanges; /* atomic accesses that load a register */
    bool computes;      /* changes registers that no access has changed */
    bool uses;          /* changes others behind an exchange, or counts */
    bool back;          /* branches to the block */
};

/* Adds an instruction that is neither a system call nor another branch than a
 * conditional one. */
static void
add_repeated(struct repeats *r, const struct insn *insn, uint64_t block)
{
    r->loads += insn->access == ACCESS_LOAD;
    r->exchanges += insn->access == ACCESS_ATOMIC;
    if (insn->branch == BRANCH_CONDITIONAL)
        r->back = insn->target == block;
    if (insn->access == ACCESS_NONE) {
        const bool more = (insn->reg_writes & ~r->changed) != 0;
        r->computes |= more;
        r->uses |= insn->step_reg != INSN_NO_REG || (more && r->exchanges > 0);
    } else {
        if (insn->addr_base != INSN_NO_REG)
            r->bases |= UINT64_C(1) << insn->addr_base;
        if (insn->addr_index != INSN_NO_REG)
            r->bases |= UINT64_C(1) << insn->addr_index;
    }
    r->changed |= insn->reg_writes;
}

/* Returns whether the block may only wait for another thread's store: it loads
 * or exchanges a word, compares and branches to itself, and changes no register
 * that its accesses take their addresses from. A block that loads changes none
 * but those that it has loaded. One that exchanges a word may set up what it
 * stores, but only compares what it got: a loop that adds to a word, or that
 * counts, does its work. */
static bool
is_spin_block(const struct translation *t)
{
    struct repeats r = {0};

    for (size_t i = 0; i < t->count; i++) {
        const struct insn *const insn = &t->insns[i];
        if (insn->access != ACCESS_NONE && insn->access != ACCESS_LOAD &&
            insn->access != ACCESS_ATOMIC)
            return false;
        if ((insn->access == ACCESS_ATOMIC && insn->reg_writes == 0) ||
            (insn->access != ACCESS_NONE && !insn->addr_known) ||
            (insn->branch != BRANCH_NONE &&
             insn->branch != BRANCH_CONDITIONAL) ||
            (insn->flags & INSN_SYSCALL))
            return false;
        add_repeated(&r, insn, qemu_plugin_tb_vaddr(t->tb));
    }
    return r.back && (r.changed & r.bases) == 0 &&
           (r.exchanges == 0 ? r.loads > 0 && !r.computes
                             : r.exchanges == 1 && !r.uses);
}

/* Registers the calls that tell the schedule of a thread that spins. */
static void
register_spins(struct plugin *p, const struct translation *t,
               struct qemu_plugin_tb *tb)
{
    if (p->schedule.quantum == 0 || !p->threaded)
        return;
    for (size_t i = 0; i < t->count; i++) {
        if (t->insns[i].flags & INSN_PAUSE)
            qemu_plugin_register_vcpu_insn_exec_cb(
                qemu_plugin_tb_get_insn(tb, i), on_pause,
                QEMU_PLUGIN_CB_NO_REGS, &p->schedule);
    }
    if (is_spin_block(t))
        qemu_plugin_register_vcpu_tb_exec_cb(
            tb, on_spin_block, QEMU_PLUGIN_CB_NO_REGS, &p->schedule);
}

static void
on_ticks(unsigned vcpu, void *data)
{
    struct plugin *const p = data;

    if (p->schedule.threaded && p->strands[vcpu] != NULL)
        plugin_note_passed(p->strands[vcpu]);
    schedule_read_ticks(&p->schedule, vcpu);
}

/* Registers the calls behind the instructions that read the processor's own
 * clock. Behind the last instruction of a block there is no place for one: it
 * reads the host's. */
static void
register_ticks(struct plugin *p, const struct translation *t,
               struct qemu_plugin_tb *tb)
{
    if (p->schedule.quantum == 0)
        return;
    for (size_t i = 0; i + 1 < t->count; i++) {
        if (t->insns[i].flags & INSN_TICKS)
            qemu_plugin_register_vcpu_insn_exec_cb(
                qemu_plugin_tb_get_insn(tb, i + 1), on_ticks,
                QEMU_PLUGIN_CB_NO_REGS, p);
    }
}

/* Counts the instructions of a block that the only thread runs. */
static void
on_clock(unsigned vcpu, void *data)
{
    (void)vcpu;
    tally_plugin.schedule.ran_alone += (uintptr_t)data;
}

/* Has the instructions counted that a single thread runs, once the program asks
 * for the time. Several threads count theirs by WORK_CLOCK. */
static void
register_clock(struct plugin *p, struct qemu_plugin_tb *tb,
               uint64_t instructions)
{
    if (!p->clocked || p->threaded)
        return;
    if (qemu_can_add())
        qemu_register_add(tb, &p->schedule.ran_alone, instructions);
    else
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_clock,
                                             QEMU_PLUGIN_CB_NO_REGS,
                                             (void *)(uintptr_t)instructions);
}

void
plugin_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    struct plugin *p = &tally_plugin;
    struct translation *t = &p->translator.translation;
    struct block_piece pieces[BLOCK_PIECES];
    struct block model;

    (void)id;
    pthread_mutex_lock(&p->lock);
    if (recording_leaves_out(p, qemu_plugin_tb_vaddr(tb))) {
        pthread_mutex_unlock(&p->lock);
        return;
    }
    decode(t, tb, p->shape.isa);
    const size_t count = block_build(&p->shape, qemu_plugin_tb_vaddr(tb),
                                     t->insns, t->count, &model, pieces);
    if (model.flags & BLOCK_ODD)
        read_odd(p, &pieces[0].info);
    early_register(&p->early, tb, &model, t->insns, t->count);
    t->count = model.instructions;
    find_prefetches(p, t);
    if (follows_likely(p, model.pc))
        model.flags |= BLOCK_AFTER;
    if (recording_is_pad(p, t->image, model.pc))
        model.flags |= BLOCK_PAD;
    if (p->early.all && early_begins_handler(&p->early, model.pc))
        model.flags |= BLOCK_HANDLER;
    if (blocks_have_room(&p->table))
        register_block(p, t, &model, pieces, count);
    else
        register_late(p, t, &model, pieces, count);
    call_register_pauses(&p->chip, p->strands, tb, t->insns, t->count);
    register_spins(p, t, tb);
    register_ticks(p, t, tb);
    register_clock(p, tb, model.instructions);
    gateway_register_lookups(p, tb, t->count);
    recording_find_stack(p, tb, t->insns, t->count);
    recording_register(p, tb, t->index, t->insns, t->count);
    pthread_mutex_unlock(&p->lock);
}
