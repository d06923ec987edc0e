/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/ear.h"

#include <stdlib.h>

#include "machine/recorder.h"
#include "machine/strand.h"
#include "plugin/plugin.h"
#include "plugin/sampler.h"

/* An instruction that the PMU sees: one that accesses memory, or any if the
 * IP-EAR runs. */
struct ear_insn {
    uint64_t pc;
    qemu_plugin_vcpu_mem_cb_t call; /* takes the access through the model */
    void *data;
    uint32_t at;          /* cycles after the block's entry */
    unsigned instruction; /* of the block */
    bool atomic;          /* done in the L2, whatever the L1D holds */
    bool floating;        /* done in the L2 too, and takes one cycle more */
};

/* The misses of one access or of one fetched line: counts, later 0 or 1. */
struct misses {
    uint64_t l1, l2, l3;
    uint64_t near;     /* in the first TLB, where the second had the page */
    uint64_t tlb;      /* in all TLBs */
    uint64_t floating; /* 1: a floating-point load, one cycle longer */
    uint64_t waits;    /* cycles, for lines that stores still fetch */
};

void
ear_thread_starts(unsigned vcpu)
{
    struct plugin *p = &tally_plugin;

    if (!tally_plugin.ear_runs)
        return;
    p->ear.request = &p->request.capture;
    tally_plugin.ear.pmus[vcpu] = (struct ear_pmu){
        .sampler =
            sampler_new(p->ear.request, &p->process, p->counts[vcpu]->thread),
    };
    if (tally_plugin.ear.pmus[vcpu].sampler == NULL)
        plugin_no_memory(tally_plugin.process.head, "samples");
}

static void
free_pmu(unsigned vcpu)
{
    sampler_free(tally_plugin.ear.pmus[vcpu].sampler);
    tally_plugin.ear.pmus[vcpu].sampler = NULL;
}

void
ear_thread_ends(unsigned vcpu)
{
    if (tally_plugin.ear.pmus[vcpu].sampler == NULL)
        return;
    sampler_end(tally_plugin.ear.pmus[vcpu].sampler);
    free_pmu(vcpu);
}

void
ear_forks(unsigned vcpu)
{
    for (unsigned i = 0; i < tally_plugin.chip.slots_used; i++) {
        if (i != vcpu)
            free_pmu(i);
    }
    if (tally_plugin.ear.pmus[vcpu].sampler != NULL)
        sampler_rename(tally_plugin.ear.pmus[vcpu].sampler, 0);
}

/* Reports to the PMU that an instruction retires, and the cycles since the last
 * report. */
static void
retire(struct strand *s, unsigned vcpu, uint64_t now,
       struct tally_pmu_context *c)
{
    struct ear_pmu *m = &tally_plugin.ear.pmus[vcpu];

    const uint64_t cycles = now > m->reported ? now - m->reported : 0;

    m->reported += cycles;
    c->cycles = cycles < UINT32_MAX ? (uint32_t)cycles : UINT32_MAX;
    const uint64_t entries = sampler_retire(m->sampler, c);
    s->total[SIGNAL_TRACE_ENTRIES] += entries;
    if (s->recorder != NULL && entries != 0)
        recorder_charge_signal(s, s->last_cell, RECORD_BRANCH, RECORDER_NO_DATA,
                               SIGNAL_TRACE_ENTRIES, entries);
}

/* Adds to a signal, and charges the instruction of a request with that, in a
 * recording. */
static void
add(struct strand *s, const struct request *by, unsigned signal, uint64_t count)
{
    s->total[signal] += count;
    if (s->recorder != NULL && count != 0)
        recorder_charge_one(s, by, signal, count);
}

/* Offers the miss of a request to the event address register, which captures it
 * or not. */
static void
offer(struct strand *s, unsigned vcpu, const struct request *by,
      struct tally_pmu_context *c, enum capture_level level)
{
    const bool inst = by->kind == REQUEST_FETCH;
    const bool timed = c->miss == TALLY_PMU_MISS_CACHE;
    const uint64_t captured =
        sampler_miss(tally_plugin.ear.pmus[vcpu].sampler, c, level);

    add(s, by, inst ? SIGNAL_FETCH_CAPTURES : SIGNAL_DATA_CAPTURES, captured);
    add(s, by,
        inst ? SIGNAL_FETCH_CAPTURE_LATENCY : SIGNAL_DATA_CAPTURE_LATENCY,
        timed ? captured * c->latency : 0);
}

/* Returns how often TLBs behind the instruction TLB and the data TLB have
 * served an asker so far. */
static uint64_t
hits_behind(const struct strand *s, enum tlb_asker asker)
{
    uint64_t hits = 0;

    for (unsigned i = TLB_DTLB + 1; i < TLB_COUNT; i++)
        hits += s->total[tally_tlbs[i].hits[asker]];
    return hits;
}

/* Returns the strand's misses of data so far. */
static struct misses
data_misses(const struct strand *s)
{
    const uint64_t *n = s->total;
    const uint64_t behind =
        hits_behind(s, TLB_LOAD) + hits_behind(s, TLB_STORE);

    return (struct misses){
        .l1 = n[SIGNAL_L1D_LOAD_MISSES],
        .l2 = n[SIGNAL_L2_LOAD_MISSES] + n[SIGNAL_L2_FLOAT_MISSES],
        .l3 = n[SIGNAL_L3_LOAD_MISSES] + n[SIGNAL_L3_FLOAT_MISSES],
        .near = n[SIGNAL_DTLB_TRANSFERS] + behind,
        .tlb =
            n[SIGNAL_DTLB_LOAD_MISSES] + n[SIGNAL_DTLB_STORE_MISSES] - behind,
        .waits = n[SIGNAL_SECONDARY_WAIT] + n[SIGNAL_ATOMIC_WAIT],
    };
}

/* Returns the strand's misses so far as an atomic access sees them: it goes to
 * the L2 like a store, whatever the L1D holds. */
static struct misses
atomic_misses(const struct strand *s)
{
    struct misses m = data_misses(s);

    m.l2 = s->total[SIGNAL_L2_STORE_MISSES];
    m.l3 = s->total[SIGNAL_L3_STORE_MISSES];
    return m;
}

/* Returns the strand's misses of code so far. */
static struct misses
fetch_misses(const struct strand *s)
{
    const uint64_t *n = s->total;
    const uint64_t memory = n[SIGNAL_FETCH_WAITS_MEMORY];
    const uint64_t walks = n[SIGNAL_ITLB_MISSES] - hits_behind(s, TLB_FETCH);

    return (struct misses){
        .l1 = n[SIGNAL_L1I_MISSES] - n[SIGNAL_STREAM_HITS],
        .l2 = n[SIGNAL_L2_FETCH_MISSES] + n[SIGNAL_FETCH_WAITS_L3] + memory,
        .l3 = n[SIGNAL_L3_FETCH_MISSES] + memory,
        .near = n[SIGNAL_ITLB_FIRST_MISSES] - walks,
        .tlb = walks,
    };
}

/* Returns which misses were added since `before`. An access to two lines misses
 * where one of them does. */
static struct misses
misses_since(struct misses now, struct misses before)
{
    return (struct misses){
        .l1 = now.l1 != before.l1,
        .l2 = now.l2 != before.l2,
        .l3 = now.l3 != before.l3,
        .near = now.near != before.near,
        .tlb = now.tlb != before.tlb,
        .waits = now.waits - before.waits,
    };
}

/* Returns the cycles that the access waits beyond a hit in the L1. */
static uint64_t
wait_of(struct misses m)
{
    const uint64_t *params = tally_plugin.request.params;

    return m.floating + m.l1 * params[PARAM_TIME_L2] +
           m.l2 * params[PARAM_TIME_L3] + m.l3 * params[PARAM_TIME_MEMORY] +
           m.waits;
}

/* Reports the cycles that passed until `now` to the PMU, then the miss of a
 * request, if there is one that the register looks for. */
static void
report_miss(struct strand *s, unsigned vcpu, const struct request *by,
            struct misses missed, bool tlb, uint64_t now,
            struct tally_pmu_context *c)
{
    struct ear_pmu *m = &tally_plugin.ear.pmus[vcpu];

    if (!tally_plugin.ear.request->retired && now > m->reported)
        retire(s, vcpu, now,
               &(struct tally_pmu_context){.pc = c->pc, .type = 'M'});
    if (tlb && (missed.tlb | missed.near)) {
        c->miss = missed.tlb ? TALLY_PMU_MISS_VHPT : TALLY_PMU_MISS_TLB2;
        offer(s, vcpu, by, c, missed.tlb ? CAPTURE_WALK : CAPTURE_TLB);
    } else if (!tlb && missed.l1) {
        c->miss = TALLY_PMU_MISS_CACHE;
        c->latency = (uint32_t)(1 + wait_of(missed));
        offer(s, vcpu, by, c,
              missed.l3 | missed.waits ? CAPTURE_MEMORY
              : missed.l2              ? CAPTURE_L3
                                       : CAPTURE_L2);
    }
}

/* Moves the clock on by the misses, which stop the thread: it issues in order.
 */
static void
pass(struct ear_pmu *m, struct misses missed)
{
    const uint64_t *params = tally_plugin.request.params;

    m->clock += wait_of(missed) + missed.tlb * params[PARAM_TIME_WALK];
}

/* Makes one access through the model and reports its misses. */
static void
on_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *data)
{
    const struct ear_insn *c = data;
    struct strand *s = tally_plugin.strands[vcpu];
    struct ear_pmu *m = &tally_plugin.ear.pmus[vcpu];
    const uint32_t ear = tally_plugin.ear.request->ear;
    const bool atomic = c->atomic && qemu_plugin_mem_is_store(info);
    struct misses (*const misses)(const struct strand *) =
        atomic ? atomic_misses : data_misses;
    const struct misses before = misses(s);

    c->call(vcpu, info, addr, c->data);
    strand_drain(s);
    struct misses missed = misses_since(misses(s), before);
    missed.l1 |= atomic | c->floating;
    missed.floating = c->floating;
    if (s->span.outside)
        return;
    if (ear == CAPTURE_LOAD || ear == CAPTURE_DTLB)
        report_miss(
            s, vcpu,
            &(struct request){.addr = addr,
                              .kind = REQUEST_LOAD,
                              .cell = s->cell,
                              .instruction = (uint16_t)c->instruction},
            missed, ear == CAPTURE_DTLB, m->clock + c->at,
            &(struct tally_pmu_context){.pc = c->pc, .ea = addr, .known = 3});
    pass(m, missed);
}

/* Fetches one line of a block through the model, as if the line were a block of
 * its own, and reports its misses. */
static void
fetch_line(struct strand *s, unsigned vcpu, const struct block *b,
           uint64_t line)
{
    const uint32_t ear = tally_plugin.ear.request->ear;
    const uint64_t pc = line < b->pc ? b->pc : line;
    struct block one = *b;

    one.pc = pc;
    one.end = pc + 1;
    one.line0 = one.line1 = line;
    one.slot0 = one.slot1 = (uint16_t)(line >> s->fetch.shift & s->fetch.mask);
    const struct misses before = fetch_misses(s);
    strand_fetch_slow(s, &one);
    strand_drain(s);
    const struct misses missed = misses_since(fetch_misses(s), before);
    if (s->span.outside)
        return;
    if (ear == CAPTURE_FETCH || ear == CAPTURE_ITLB)
        report_miss(s, vcpu,
                    &(struct request){
                        .addr = line, .kind = REQUEST_FETCH, .cell = s->cell},
                    missed, ear == CAPTURE_ITLB,
                    tally_plugin.ear.pmus[vcpu].clock,
                    &(struct tally_pmu_context){.pc = pc, .known = 1});
    pass(&tally_plugin.ear.pmus[vcpu], missed);
}

void
ear_fetch(struct strand *s, unsigned vcpu, const struct block *b)
{
    const uint64_t size = (uint64_t)1 << s->fetch.shift;

    for (uint64_t line = b->pc & ~(size - 1); line < b->end; line += size)
        fetch_line(s, vcpu, b, line);
}

/* Returns the cycles in which a block's instructions issue. */
static uint64_t
issue_cycles(const struct block *b)
{
    const struct block_info *info =
        counts_info(&tally_plugin.process, b->index);
    uint64_t cycles = 0;

    for (unsigned i = SIGNAL_RETIRE_1; i <= SIGNAL_RETIRE_6; i++)
        cycles += (uint64_t)info->fixed[i];
    return cycles;
}

/* Moves the clock on to the start of a block. */
static void
begin_block(struct ear_pmu *m, const struct block *b)
{
    m->clock += m->block_cycles;
    m->block_cycles = issue_cycles(b);
}

/* Returns the block that ran last, and the strand's mispredictions so far. */
static struct ear_branches
branches_of(const struct strand *s)
{
    const uint64_t *n = s->total;

    return (struct ear_branches){
        s->previous,
        n[SIGNAL_CONDITIONAL_MISPREDICTS],
        n[SIGNAL_FAR_MISPREDICTS] + n[SIGNAL_INDIRECT_MISPREDICTS] +
            n[SIGNAL_RETURN_MISPREDICTS],
    };
}

struct ear_branches
ear_enter(struct strand *s, unsigned vcpu, const struct block *b)
{
    begin_block(&tally_plugin.ear.pmus[vcpu], b);
    ear_fetch(s, vcpu, b);
    return branches_of(s);
}

/* Returns the flags of the branch that closed block `last`, after which block
 * `b` runs; `path`, `target`: which of the two was mispredicted. */
static uint32_t
branch_flags(const struct block *last, const struct block *b, bool path,
             bool target)
{
    const bool conditional = (last->flags & BLOCK_CONDITIONAL) != 0;
    const bool taken = !conditional || b->pc == last->taken_pc;

    return (taken ? TALLY_PMU_TAKEN : 0) |
           (path ? TALLY_PMU_PATH_MISPREDICTED : 0) |
           (target ? TALLY_PMU_TARGET_MISPREDICTED : 0) |
           (last->flags & BLOCK_RETURN     ? TALLY_PMU_RETURN
            : last->flags & BLOCK_INDIRECT ? TALLY_PMU_INDIRECT
                                           : 0);
}

void
ear_entered(struct strand *s, unsigned vcpu, const struct block *b,
            const struct ear_branches *before)
{
    const uint64_t *params = tally_plugin.request.params;
    const struct block *last = before->last;
    const struct ear_branches now = branches_of(s);
    struct ear_pmu *m = &tally_plugin.ear.pmus[vcpu];
    const bool path = now.paths != before->paths;
    const bool target = now.targets != before->targets;

    m->clock += (path | target) * params[PARAM_TIME_MISPREDICT];
    if (s->span.outside || tally_plugin.ear.request->traced == 0 ||
        (last->flags & BLOCK_KINDS) == 0)
        return;
    retire(s, vcpu, m->clock,
           &(struct tally_pmu_context){
               .pc = last->branch_pc,
               .npc = b->pc,
               .flags = branch_flags(last, b, path, target),
               .slot = 2, /* a branch takes the last slot of its bundle */
               .type = 'B',
               .known = 1,
           });
}

/* Reports an instruction to the IP-EAR. QEMU calls before the instruction runs;
 * the PMU sees it as retired. */
static void
on_retired(unsigned vcpu, void *data)
{
    const struct ear_insn *c = data;
    struct strand *s = tally_plugin.strands[vcpu];
    struct ear_pmu *m = &tally_plugin.ear.pmus[vcpu];

    if (!s->span.outside)
        retire(s, vcpu, m->clock + c->at,
               &(struct tally_pmu_context){.pc = c->pc, .known = 1});
}

void
ear_part(unsigned vcpu, void *data)
{
    begin_block(&tally_plugin.ear.pmus[vcpu], data);
    tally_plugin.callbacks->part(vcpu, data);
}

/* Makes the record of instruction `i`. The record lives until the process ends,
 * since QEMU keeps pointers to it. */
static struct ear_insn *
new_insn(const struct ear_shape *shape, size_t i)
{
    struct ear_insn *c = calloc(1, sizeof(*c));

    if (c == NULL)
        plugin_no_memory(tally_plugin.process.head, "samples");
    c->pc = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(shape->tb, i));
    c->at = (uint32_t)(issue_cycles(shape->block) * i / shape->count);
    c->instruction = (unsigned)i;
    c->atomic = shape->insns[i].access == ACCESS_ATOMIC;
    c->floating = shape->insns[i].access == ACCESS_FLOAT;
    return c;
}

void
ear_register(const struct ear_shape *shape, size_t i,
             qemu_plugin_vcpu_mem_cb_t call, void *data)
{
    struct ear_insn *c = new_insn(shape, i);

    c->call = call;
    c->data = data;
    qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(shape->tb, i),
                                     on_access, QEMU_PLUGIN_CB_NO_REGS,
                                     QEMU_PLUGIN_MEM_RW, c);
}

void
ear_register_retired(const struct ear_shape *shape)
{
    if (!tally_plugin.request.capture.retired)
        return;
    for (size_t i = 0; i < shape->count; i++)
        qemu_plugin_register_vcpu_insn_exec_cb(
            qemu_plugin_tb_get_insn(shape->tb, i), on_retired,
            QEMU_PLUGIN_CB_NO_REGS, new_insn(shape, i));
}
