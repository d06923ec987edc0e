/* SPDX-License-Identifier: MIT */
#include "trace/trace_export.h"

#include <stdlib.h>
#include <string.h>

#include "isa/insn.h"
#include "isa/isa.h"
#include "isa/operands.h"
#include "trace/champsim.h"

/* Bytes that are handed to the file at once. */
#define BUFFER (1u << 16)
/* No line or record is longer. */
#define LINE_MOST 64u

/* What of a block stays the same each time that it runs; for formats with
 * records of instructions. */
struct block_insns {
    struct export_insn {
        uint64_t pc;
        uint8_t size;
        bool slot_follows;             /* the next one is its delay slot */
        struct champsim_record record; /* without accesses, as not taken */
        uint32_t left;                 /* registers without a place */
    } * insns;
};

/* A record whose branch is not known yet to be taken. */
struct waiting {
    struct champsim_record record;
    const struct export_insn *insn;
};

struct exporter {
    const struct trace_reader *reader;
    const struct isa *isa;
    bool fetches; /* the trace has them: an imported one may not */
    FILE *out;
    struct trace_exported *exported;
    uint8_t buffer[BUFFER];
    size_t used;
    int error;
    /* Of ChampSim: by the number of a block. */
    struct block_insns *blocks;
    uint32_t block_room;
    /* A branch, and perhaps its delay slot behind it. */
    struct waiting waiting[2];
    unsigned waiting_count;
};

/* One instruction that ran: its place in its block, and its accesses among
 * those of the block. */
struct ran {
    const struct trace_block *block;
    uint32_t number; /* of the block */
    uint32_t insn;
    uint64_t pc;
    uint8_t size;
    const struct trace_site *site;
    const uint64_t *address;
    uint32_t count; /* TRACE_PASSED among them */
};

struct format {
    void (*ran)(struct exporter *e, const struct ran *ran);
    void (*stray)(struct exporter *e, const struct trace_step *step);
    void (*end)(struct exporter *e);
};

static void
flush(struct exporter *e)
{
    if (e->error == 0 && fwrite(e->buffer, 1, e->used, e->out) != e->used)
        e->error = TALLY_EIO;
    e->used = 0;
}

/* Returns where a line has its place. */
static uint8_t *
line_place(struct exporter *e)
{
    if (BUFFER - e->used < LINE_MOST)
        flush(e);
    return e->buffer + e->used;
}

/* Writes a number in hexadecimal, of `least` digits at least. */
static uint8_t *
put_hex(uint8_t *to, uint64_t value, unsigned least)
{
    unsigned digits =
        value != 0 ? (67u - (unsigned)__builtin_clzll(value)) / 4 : 1;

    digits = digits < least ? least : digits;
    for (unsigned i = digits; i-- > 0; value >>= 4)
        to[i] = (uint8_t) "0123456789abcdef"[value & 15];
    return to + digits;
}

static uint64_t
access_size(uint16_t what)
{
    return UINT64_C(1) << (what & TRACE_SHIFT);
}

/* Lackey */

static void
lackey_line(struct exporter *e, const char *letters, uint64_t address,
            uint64_t size)
{
    uint8_t *to = line_place(e);

    memcpy(to, letters, 3);
    to = put_hex(to + 3, address, 8);
    to += sprintf((char *)to, ",%u\n", (unsigned)size);
    e->used = (size_t)(to - e->buffer);
}

/* Returns whether two accesses are a load and a store of the same bytes, which
 * lackey shows as one that modifies them. */
static bool
modifies(const struct ran *r, uint32_t i)
{
    const uint16_t what = r->site[i].what;

    return i + 1 < r->count && (what & TRACE_STORE) == 0 &&
           r->site[i + 1].what == (what | TRACE_STORE) &&
           r->address[i] == r->address[i + 1];
}

static void
lackey_ran(struct exporter *e, const struct ran *r)
{
    if (e->fetches)
        lackey_line(e, "I  ", r->pc, r->size);
    for (uint32_t i = 0; i < r->count; i++) {
        const uint16_t what = r->site[i].what;
        if (what >= TRACE_PASSED)
            continue;
        const bool both = modifies(r, i);
        lackey_line(e,
                    both                 ? " M "
                    : what & TRACE_STORE ? " S "
                                         : " L ",
                    r->address[i], access_size(what));
        e->exported->accesses += both ? 2 : 1;
        i += both;
    }
}

static void
lackey_stray(struct exporter *e, const struct trace_step *t)
{
    lackey_line(e, t->what & TRACE_STORE ? " S " : " L ", t->args[0],
                access_size(t->what));
    e->exported->accesses++;
}

/* Din */

static void
din_line(struct exporter *e, char label, uint64_t address)
{
    uint8_t *to = line_place(e);

    *to++ = (uint8_t)label;
    *to++ = ' ';
    to = put_hex(to, address, 1);
    *to++ = '\n';
    e->used = (size_t)(to - e->buffer);
}

/* Dinero takes each line for one word of 4 bytes: longer ones are several. */
static void
din_words(struct exporter *e, char label, uint64_t address, uint64_t size)
{
    const uint64_t last = (address + size - 1) & ~UINT64_C(3);

    din_line(e, label, address);
    for (uint64_t word = address & ~UINT64_C(3); word != last;) {
        word += 4;
        din_line(e, label, word);
    }
}

static void
din_ran(struct exporter *e, const struct ran *r)
{
    if (e->fetches)
        din_words(e, '2', r->pc, r->size);
    for (uint32_t i = 0; i < r->count; i++) {
        const uint16_t what = r->site[i].what;
        if (what >= TRACE_PASSED)
            continue;
        din_words(e, what & TRACE_STORE ? '1' : '0', r->address[i],
                  access_size(what));
        e->exported->accesses++;
    }
}

static void
din_stray(struct exporter *e, const struct trace_step *t)
{
    din_words(e, t->what & TRACE_STORE ? '1' : '0', t->args[0],
              access_size(t->what));
    e->exported->accesses++;
}

/* ChampSim */

static void
champsim_put(struct exporter *e, const struct champsim_record *record)
{
    champsim_encode(record, line_place(e));
    e->used += CHAMPSIM_RECORD;
}

/* Writes the branch that waits, with its delay slot, now that it is known
 * whether the branch was taken. */
static void
champsim_settle(struct exporter *e, bool taken)
{
    for (unsigned i = 0; i < e->waiting_count; i++) {
        struct waiting *const w = &e->waiting[i];
        if (w->record.is_branch)
            w->record.branch_taken = w->record.branch_taken || taken;
        champsim_put(e, &w->record);
    }
    e->waiting_count = 0;
}

/* Looks where the program went behind the branch that waits. Returns whether
 * the instruction at `pc` is the branch's delay slot, so that it still waits.
 */
static bool
champsim_look(struct exporter *e, uint64_t pc)
{
    if (e->waiting_count == 0)
        return false;
    const struct export_insn *const branch = e->waiting[0].insn;
    const uint64_t behind = branch->pc + branch->size;
    if (!branch->slot_follows) {
        champsim_settle(e, pc != behind);
        return false;
    }
    if (e->waiting_count == 1 && pc == behind)
        return true;
    /* Slots are as long as their branches. */
    champsim_settle(e, pc != behind + branch->size);
    return false;
}

/* Makes what the records of a block have in common. */
static struct export_insn *
champsim_block(struct exporter *e, const struct ran *r)
{
    if (r->number >= e->block_room) {
        const uint32_t room = 2 * r->number + 1024;
        struct block_insns *const blocks =
            reallocarray(e->blocks, room, sizeof(*blocks));
        if (blocks == NULL)
            return NULL;
        memset(blocks + e->block_room, 0,
               (room - e->block_room) * sizeof(*blocks));
        e->blocks = blocks;
        e->block_room = room;
    }
    struct block_insns *const b = &e->blocks[r->number];
    if (b->insns != NULL)
        return b->insns;
    const struct trace_block *const block = r->block;
    const uint8_t *code = trace_block_bytes(block) + block->before;
    uint64_t pc = block->pc;
    b->insns = calloc(block->insns, sizeof(*b->insns));
    for (uint32_t i = 0; b->insns != NULL && i < block->insns; i++) {
        const uint8_t size = block->sizes[i] & TRACE_SIZE;
        struct export_insn *const insn = &b->insns[i];
        insn->pc = pc;
        insn->size = size;
        insn->slot_follows = champsim_describe(e->isa, code, size, pc,
                                               &insn->record, &insn->left);
        code += size;
        pc += size;
    }
    return b->insns;
}

static void
champsim_ran(struct exporter *e, const struct ran *r)
{
    const struct export_insn *const insns = champsim_block(e, r);

    if (insns == NULL) {
        e->error = TALLY_ENOMEM;
        return;
    }
    const struct export_insn *const insn = &insns[r->insn];
    struct champsim_record record = insn->record;
    for (uint32_t i = 0; i < r->count; i++) {
        const uint16_t what = r->site[i].what;
        if (what >= TRACE_PASSED)
            continue;
        const bool placed =
            champsim_access(&record, r->address[i], (what & TRACE_STORE) != 0);
        e->exported->accesses += placed;
        e->exported->accesses_left += !placed;
    }
    e->exported->registers_left += insn->left;
    const bool slot = champsim_look(e, r->pc);
    if (slot || record.is_branch)
        e->waiting[e->waiting_count++] = (struct waiting){record, insn};
    else
        champsim_put(e, &record);
}

static void
champsim_stray(struct exporter *e, const struct trace_step *t)
{
    (void)t;
    e->exported->strays_left++;
}

static void
champsim_end(struct exporter *e)
{
    champsim_settle(e, false);
}

static void
no_end(struct exporter *e)
{
    (void)e;
}

const struct trace_export_format trace_export_formats[] = {
    {"lackey", false, false},
    {"din", false, false},
    {"champsim", true, true},
    {NULL, false, false},
};

/* In the order of trace_export_formats. */
static const struct format formats[] = {
    {lackey_ran, lackey_stray, no_end},
    {din_ran, din_stray, no_end},
    {champsim_ran, champsim_stray, champsim_end},
};

/* Writes the instructions of a block that began: all up to the one of its last
 * access, and from there on until one that each run tells and this did not. */
static void
export_block(struct exporter *e, const struct format *format,
             const struct trace_step *step)
{
    const struct trace_pattern *const p = step->pattern;
    const struct trace_block *const b =
        trace_model_block(trace_reader_model(e->reader), step->block);
    struct ran ran = {.block = b, .number = step->block, .pc = b->pc};
    uint32_t k = 0;

    for (uint32_t i = 0; i < b->insns && e->error == 0; i++) {
        const uint32_t first = k;
        while (k < p->count &&
               (p->site[k].what & (TRACE_PASSED - 1u)) >> TRACE_INSN == i)
            k++;
        if (k == first && k == p->count && (b->sizes[i] & TRACE_TOLD) != 0)
            break;
        ran.insn = i;
        ran.size = b->sizes[i] & TRACE_SIZE;
        ran.site = p->site + first;
        ran.address = step->address + first;
        ran.count = k - first;
        format->ran(e, &ran);
        e->exported->instructions++;
        ran.pc += ran.size;
    }
}

static void
free_exporter(struct exporter *e)
{
    for (uint32_t i = 0; i < e->block_room; i++)
        free(e->blocks[i].insns);
    free(e->blocks);
    free(e);
}

int
trace_export(struct trace_reader *reader,
             const struct trace_export_format *format, FILE *out,
             struct trace_exported *exported)
{
    const struct format *const f = &formats[format - trace_export_formats];
    struct exporter *const e = malloc(sizeof(*e));
    struct trace_step step;
    int next = TRACE_NEXT_BLOCK;

    *exported = (struct trace_exported){0};
    if (e == NULL)
        return TALLY_ENOMEM;
    *e = (struct exporter){
        .reader = reader,
        .isa = isa_find(trace_reader_head(reader)->isa),
        .fetches =
            trace_reader_head(reader)->source == NULL ||
            (trace_reader_head(reader)->holds & TRACE_HOLDS_FETCHES) != 0,
        .out = out,
        .exported = exported,
    };
    while (e->error == 0 && (next = trace_reader_next(reader, &step)) > 0) {
        if (next == TRACE_NEXT_BLOCK)
            export_block(e, f, &step);
        else if (next == TRACE_NEXT_STRAY)
            f->stray(e, &step);
        else if (next == TRACE_NEXT_STARTS && format->code)
            e->error = TALLY_EPROGRAM;
    }
    f->end(e);
    flush(e);
    const int error = e->error != 0 ? e->error : next;
    free_exporter(e);
    return error;
}
