/* SPDX-License-Identifier: MIT */
#include "record/pointers.h"

#include <stdlib.h>
#include <string.h>

#include "isa/insn.h"
#include "isa/isa.h"

#define INSNS_MOST 16384u /* of a function; a longer one is not followed */
#define PASSES_MOST 64u
#define FRAME_VARIABLES_MOST 1024u

enum value_kind {
    VALUE_NONE, /* no way here was followed yet */
    VALUE_UNKNOWN,
    VALUE_POINTER, /* to a byte of a type */
    VALUE_FRAME,   /* an address relative to the frame's */
    VALUE_FIXED,   /* an address as the file has it */
};

/* What a register has. */
struct value {
    uint8_t kind;   /* enum value_kind */
    uint8_t source; /* enum pointer_source, of a pointer */
    bool indexed;   /* a multiple of something was added */
    const struct name_type *type;
    int64_t offset; /* or the address */
};

/* What the variables of the function say of a register at an instruction. */
struct fact {
    const struct name_type *type; /* pointed to; NULL: nothing is said */
    int64_t offset;
    bool differ; /* variables point to different types */
};

struct state {
    struct value regs[ISA_GENERAL];
};

struct facts {
    struct fact regs[ISA_GENERAL];
};

/* An instruction, decoded once: ways lead to it several times. */
struct decoded {
    bool is_whole, is_sum;
    struct insn insn;
    struct insn_sum sum; /* where is_sum */
};

/* The function that was followed last. */
struct pointers {
    const struct record *record;
    struct resolver *resolver;
    const struct isa *isa;
    struct names *names;
    unsigned file;
    size_t process;
    uint32_t first, count; /* its instructions; count 0: none */
    bool followed;
    struct state *states; /* [count] before each instruction */
    struct facts *facts;  /* [count] */
    bool *dirty;          /* [count] */
    struct decoded *code; /* [count] */
    size_t room;
    struct name_holder frame[FRAME_VARIABLES_MOST]; /* variables in memory */
    size_t frame_count;
    struct state anywhere; /* at all jumps through registers */
    struct pointer_target found;
};

static const struct value unknown = {.kind = VALUE_UNKNOWN};

const char *
pointers_source_name(enum pointer_source source)
{
    static const char *const names[POINTER_SOURCES] = {"unknown", "variable",
                                                       "member", "static"};

    return names[source];
}

struct pointers *
pointers_create(const struct record *record, struct resolver *resolver)
{
    const struct isa *const isa = isa_find(record->isa);
    struct pointers *const p = isa != NULL ? calloc(1, sizeof(*p)) : NULL;

    if (p == NULL)
        return NULL;
    p->record = record;
    p->resolver = resolver;
    p->isa = isa;
    return p;
}

void
pointers_destroy(struct pointers *p)
{
    if (p == NULL)
        return;
    free(p->states);
    free(p->facts);
    free(p->dirty);
    free(p->code);
    free(p);
}

/* Values */

static bool
is_as(const struct value *a, const struct value *b)
{
    return a->kind == b->kind && a->type == b->type && a->offset == b->offset &&
           a->indexed == b->indexed;
}

/* Joins what another way leaves to a register. Returns whether that changed. */
static bool
join(struct value *to, const struct value *from)
{
    const struct value before = *to;

    if (from->kind == VALUE_NONE || is_as(to, from))
        return false;
    if (to->kind == VALUE_NONE) {
        *to = *from;
        return true;
    }
    if (to->kind == from->kind && to->type == from->type &&
        to->offset == from->offset)
        to->indexed = true;
    else
        *to = unknown;
    return !is_as(to, &before);
}

/* Brings a pointer back to the element that it begins in: a step of whole
 * elements leads to another element. */
static void
settle(struct value *v)
{
    if (v->kind != VALUE_POINTER)
        return;
    const int64_t size = (int64_t)v->type->size;
    if (size <= 0) {
        *v = unknown;
        return;
    }
    v->offset %= size;
    v->offset += v->offset < 0 ? size : 0;
}

static struct value
add_to(struct value v, int64_t add)
{
    v.offset = (int64_t)((uint64_t)v.offset + (uint64_t)add);
    settle(&v);
    return v;
}

static struct value
pointer_to(const struct name_type *type, int64_t offset,
           enum pointer_source source)
{
    struct value v = {.kind = VALUE_POINTER,
                      .source = (uint8_t)source,
                      .type = type,
                      .offset = offset};

    if (type == NULL)
        return unknown;
    settle(&v);
    return v;
}

/* Returns a register before an instruction; what reads as 0 is unknown. */
static struct value
value_of(const struct state *s, int reg)
{
    return reg >= 0 && reg < (int)ISA_GENERAL ? s->regs[reg] : unknown;
}

/* Returns the address base + a multiple of index + add; `scaled`: the multiple
 * is not the index itself, which then is no pointer. */
static struct value
sum_of(const struct state *s, int base, int index, bool scaled, int64_t add)
{
    struct value v = value_of(s, base);

    if (base == INSN_NO_REG && index == INSN_NO_REG)
        return (struct value){.kind = VALUE_FIXED, .offset = add};
    if (index == INSN_NO_REG)
        return v.kind == VALUE_UNKNOWN || v.kind == VALUE_NONE ? unknown
                                                               : add_to(v, add);
    const struct value other = value_of(s, index);
    if (base == INSN_NO_REG) /* a table at a fixed address */
        v = (struct value){.kind = VALUE_FIXED};
    else if (v.kind == VALUE_UNKNOWN || v.kind == VALUE_FIXED)
        v = other.kind == VALUE_POINTER && !scaled ? other : v;
    else if (other.kind == VALUE_POINTER)
        return unknown; /* two pointers have no sum */
    if (v.kind != VALUE_POINTER && v.kind != VALUE_FIXED &&
        v.kind != VALUE_FRAME)
        return unknown;
    v = add_to(v, add);
    v.indexed = true;
    return v;
}

/* Variables */

static int
reg_of(const struct pointers *p, int dwarf)
{
    return dwarf >= 0 && dwarf < (int)ISA_GENERAL
               ? p->isa->dwarf_registers[dwarf]
               : -1;
}

static uint64_t
address_of(const struct pointers *p, uint32_t k)
{
    return resolver_find(p->resolver, p->process, p->first + k)->file_address;
}

/* Returns the first instruction at an address of the file or behind. */
static uint32_t
insn_from(const struct pointers *p, uint64_t address)
{
    uint32_t low = 0, high = p->count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (address_of(p, middle) < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Notes which variable is where. */
static void
take_holder(void *user, const struct name_holder *h)
{
    struct pointers *const p = user;

    if (h->in_memory) {
        if (p->frame_count < FRAME_VARIABLES_MOST)
            p->frame[p->frame_count++] = *h;
        return;
    }
    const int reg = reg_of(p, h->reg);
    if (h->pointed == NULL || reg < 0)
        return;
    for (uint32_t k = insn_from(p, h->first);
         k < p->count && address_of(p, k) < h->end; k++) {
        struct fact *const f = &p->facts[k].regs[reg];
        if (f->type == NULL)
            *f = (struct fact){h->pointed, -h->offset, false};
        else if (f->type != h->pointed || f->offset != -h->offset)
            f->differ = true;
    }
}

/* Puts what variables say into a state, or takes away what they contradict. */
static void
apply(const struct pointers *p, const struct facts *facts, struct state *s)
{
    for (unsigned i = 0; i < ISA_GENERAL; i++) {
        const struct fact *const f = &facts->regs[i];
        struct value *const v = &s->regs[i];
        if (f->type == NULL)
            continue;
        if (f->differ) {
            *v = unknown;
            continue;
        }
        const struct value told =
            pointer_to(f->type, f->offset, POINTER_VARIABLE);
        if (v->kind != VALUE_POINTER) {
            *v = told;
            continue;
        }
        if (v->type == told.type) {
            if (v->offset != told.offset)
                *v = unknown;
            else
                v->source = POINTER_VARIABLE;
            continue;
        }
        struct name_part part;
        if (names_has(p->names, v->type, f->type) ||
            (f->type->name == NULL &&
             names_part(p->names, v->type, (uint64_t)v->offset, &part) &&
             part.size == f->type->size))
            continue; /* it points into what was followed */
        if (names_has(p->names, f->type, v->type))
            *v = told;
        else
            *v = unknown;
    }
}

/* Returns whether a variable in memory has the byte of the frame at `offset`;
 * writes which of its bytes that is. */
static bool
is_at(const struct pointers *p, const struct name_holder *h,
      const struct state *s, int64_t offset, int64_t *byte)
{
    int64_t place = h->offset;

    if (h->reg != NAME_FRAME) {
        const struct value v = value_of(s, reg_of(p, h->reg));
        if (v.kind != VALUE_FRAME)
            return false;
        place += v.offset;
    }
    *byte = offset - place;
    return *byte >= 0 && (uint64_t)*byte < h->type->size;
}

/* Returns what an address is of: of a fixed one and one of the frame the
 * variable there. */
static struct value
place_at(const struct pointers *p, uint32_t k, const struct state *s,
         struct value v)
{
    const uint64_t pc = address_of(p, k);
    const struct name_type *type;
    uint64_t offset;

    if (v.kind == VALUE_FIXED) {
        if (!names_static(p->names, p->file, (uint64_t)v.offset, &type,
                          &offset))
            return unknown;
        struct value found = pointer_to(type, (int64_t)offset, POINTER_STATIC);
        found.indexed = v.indexed;
        return found;
    }
    if (v.kind != VALUE_FRAME || v.indexed)
        return v.kind == VALUE_POINTER ? v : unknown;
    struct value found = unknown;
    for (size_t i = 0; i < p->frame_count; i++) {
        const struct name_holder *const h = &p->frame[i];
        int64_t byte;
        if (pc < h->first || pc >= h->end || !is_at(p, h, s, v.offset, &byte))
            continue;
        const struct value other = pointer_to(h->type, byte, POINTER_STATIC);
        if (found.kind != VALUE_UNKNOWN && !is_as(&found, &other))
            return unknown; /* blocks share a place */
        found = other;
    }
    return found;
}

/* Following */

static const struct record_insn *
insn_at(const struct pointers *p, uint32_t k)
{
    return &p->record->processes[p->process].insns[p->first + k];
}

static const uint8_t *
bytes_at(const struct pointers *p, uint32_t k)
{
    return p->record->processes[p->process].code + insn_at(p, k)->code;
}

static bool
decode(const struct pointers *p, uint32_t k, struct insn *insn)
{
    *insn = p->code[k].insn;
    return p->code[k].is_whole;
}

/* Decodes all instructions of the function. */
static void
decode_all(struct pointers *p)
{
    for (uint32_t k = 0; k < p->count; k++) {
        struct decoded *const d = &p->code[k];
        const size_t size = insn_at(p, k)->size;
        d->is_whole = insn_decode(p->isa, bytes_at(p, k), size,
                                  address_of(p, k), &d->insn) &&
                      d->insn.size != 0;
        d->is_sum =
            insn_sum(p->isa, bytes_at(p, k), size, address_of(p, k), &d->sum) &&
            d->sum.to >= 0 && d->sum.to < (int)ISA_GENERAL;
    }
}

/* Returns whether the instruction behind follows in memory. */
static bool
has_next(const struct pointers *p, uint32_t k)
{
    return k + 1 < p->count && insn_at(p, k)->address + insn_at(p, k)->size ==
                                   insn_at(p, k + 1)->address;
}

/* Returns whether an indexed access to an offset can be of one member alone: of
 * a structure without arrays, or of the first element of one. */
static bool
is_plain(const struct name_part *part, uint64_t offset)
{
    return part->in_array && offset - part->array < part->size;
}

/* Returns whether a structure has an array. The bytes of a large one are looked
 * at in steps of 4, that few members are smaller than. */
static bool
has_array(const struct pointers *p, const struct name_type *type)
{
    struct name_part part;

    for (uint64_t at = 0; at < type->size && at < 4096;) {
        if (!names_part(p->names, type, at, &part)) {
            at++;
            continue;
        }
        if (part.in_array)
            return true;
        at = part.offset + (part.size != 0 ? part.size : 1) > at
                 ? part.offset + (part.size != 0 ? part.size : 1)
                 : at + 1;
    }
    return type->size > 4096;
}

/* Finds the member that an address is of; false: that is not known. `whole`:
 * the addresses are known to be a whole number of structures apart. */
static bool
part_at(const struct pointers *p, const struct value *v, bool whole,
        struct name_part *part)
{
    return v->kind == VALUE_POINTER &&
           names_part(p->names, v->type, (uint64_t)v->offset, part) &&
           (!v->indexed || whole || is_plain(part, (uint64_t)v->offset) ||
            !has_array(p, v->type));
}

/* Returns whether all steps between the addresses that an instruction asks for,
 * as far as the record has them, are a whole number of structures of a size,
 * and not all the same address. */
static bool
steps_whole(const struct pointers *p, uint32_t k, uint64_t size)
{
    const struct record_process_row *const row =
        &p->record->processes[p->process];
    const uint32_t insn = p->first + k;
    size_t low = 0, high = row->stride_count;
    bool any = false;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (row->strides[middle].insn < insn)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < row->stride_count && row->strides[low].insn == insn; low++) {
        const struct record_stride_row *const s = &row->strides[low];
        for (unsigned i = 0; i < s->step_count; i++) {
            if (s->steps[i].bytes % (int64_t)size != 0)
                return false;
            any |= s->steps[i].bytes != 0;
        }
    }
    return any;
}

/* Returns what a load leaves in its register. */
static struct value
loaded(const struct pointers *p, uint32_t k, const struct state *s,
       const struct insn *insn)
{
    struct name_part part;

    if (!insn->addr_known || insn->access_size != 8 ||
        insn->access != ACCESS_LOAD || (insn->flags & INSN_FLOAT) != 0)
        return unknown;
    const struct value at =
        place_at(p, k, s,
                 sum_of(s, insn->addr_base, insn->addr_index,
                        insn->addr_scale > 1, insn->addr_disp));
    if (!part_at(p, &at, false, &part) || part.pointed == NULL)
        return unknown;
    return pointer_to(part.pointed, 0,
                      at.type->name != NULL ? POINTER_MEMBER
                                            : POINTER_VARIABLE);
}

/* Moves the window of SPARC's registers: 8-15 are out, 24-31 in. */
static void
turn(struct state *s, bool save)
{
    for (unsigned i = 8; i < 16; i++) {
        if (save)
            s->regs[i + 16] = s->regs[i];
        else
            s->regs[i] = s->regs[i + 16];
        s->regs[save ? i : i + 16] = unknown;
        s->regs[i + 8] = unknown;
    }
}

/* Changes a state as an instruction does. */
static void
step(const struct pointers *p, uint32_t k, const struct insn *insn,
     struct state *s)
{
    const struct state before = *s;
    uint64_t writes = insn->reg_writes;

    if ((insn->flags & (INSN_SAVE | INSN_RESTORE)) != 0) {
        turn(s, (insn->flags & INSN_SAVE) != 0);
        return;
    }
    for (unsigned i = 0; i < ISA_GENERAL; i++) {
        if ((writes >> i & 1) != 0)
            s->regs[i] = unknown;
    }
    if (insn->step_reg >= 0 && insn->step_reg < (int)ISA_GENERAL) {
        const struct value v = before.regs[insn->step_reg];
        if (v.kind > VALUE_UNKNOWN)
            s->regs[insn->step_reg] = add_to(v, insn->step);
        writes &= ~(UINT64_C(1) << insn->step_reg);
    } else if (p->code[k].is_sum) {
        const struct insn_sum sum = p->code[k].sum;
        s->regs[sum.to] =
            sum_of(&before, sum.base, sum.index, sum.scaled, sum.add);
        return;
    }
    if (writes != 0 && (writes & (writes - 1)) == 0) {
        const unsigned to = (unsigned)__builtin_ctzll(writes);
        if (to < ISA_GENERAL)
            s->regs[to] = loaded(p, k, &before, insn);
    }
}

/* Forgets what a called function may change. */
static void
call(const struct pointers *p, struct state *s)
{
    for (unsigned i = 0; i < ISA_GENERAL; i++) {
        if ((p->isa->kept >> i & 1) == 0)
            s->regs[i] = unknown;
    }
}

/* Leads a state to an instruction; returns whether that changed anything. */
static bool
lead(struct pointers *p, uint32_t k, const struct state *s)
{
    bool changed = false;

    for (unsigned i = 0; i < ISA_GENERAL; i++)
        changed |= join(&p->states[k].regs[i], &s->regs[i]);
    p->dirty[k] |= changed;
    return changed;
}

static void
lead_to_address(struct pointers *p, uint64_t address, const struct state *s)
{
    const uint32_t k = insn_from(p, address);

    if (k < p->count && address_of(p, k) == address)
        lead(p, k, s);
}

/* Leads a state on behind a branch; `behind` is the instruction that follows
 * where the branch is not taken, or has returned. */
static void
lead_on(struct pointers *p, const struct insn *branch, uint32_t behind,
        bool follows, struct state *s)
{
    switch (branch->branch) {
    case BRANCH_CONDITIONAL:
        lead_to_address(p, branch->target, s);
        break;
    case BRANCH_JUMP:
        lead_to_address(p, branch->target, s);
        return;
    case BRANCH_CALL:
    case BRANCH_INDIRECT_CALL:
        call(p, s);
        break;
    case BRANCH_INDIRECT: {
        bool changed = false;
        for (unsigned i = 0; i < ISA_GENERAL; i++)
            changed |= join(&p->anywhere.regs[i], &s->regs[i]);
        for (uint32_t k = 0; changed && k < p->count; k++)
            lead(p, k, &p->anywhere);
        return;
    }
    case BRANCH_RETURN:
        return;
    default:
        break;
    }
    if (follows)
        lead(p, behind, s);
}

/* Follows one instruction. */
static void
follow_insn(struct pointers *p, uint32_t k)
{
    struct insn insn, before;
    struct state s = p->states[k];
    const bool is_slot = k > 0 && has_next(p, k - 1) &&
                         decode(p, k - 1, &before) &&
                         (before.flags & INSN_DELAY_SLOT) != 0;

    p->dirty[k] = false;
    if (!decode(p, k, &insn))
        return;
    apply(p, &p->facts[k], &s);
    struct state after = s;
    step(p, k, &insn, &after);
    if ((insn.flags & INSN_DELAY_SLOT) != 0) {
        if ((insn.flags & INSN_ANNUL) != 0 && has_next(p, k)) {
            /* The slot may have no part in what comes behind it, even where it
             * did not run. */
            const uint32_t behind = k + 2;
            if (behind < p->count &&
                insn_at(p, behind)->address == insn_at(p, k)->address + 8)
                lead(p, behind, &after);
        } else if (!has_next(p, k)) {
            lead_on(p, &insn, k, false, &after); /* the slot never ran */
            lead_to_address(p, address_of(p, k) + 8, &after);
        }
        if (has_next(p, k))
            lead(p, k + 1, &after);
    } else if (is_slot) {
        lead_on(p, &before, k + 1, has_next(p, k), &after);
    } else {
        lead_on(p, &insn, k + 1, has_next(p, k), &after);
    }
}

/* Begins at an instruction of which nothing is known but, where it is the
 * function's first, the stack pointer. */
static void
begin(struct pointers *p, uint32_t k, bool is_entry)
{
    struct state s;

    for (unsigned i = 0; i < ISA_GENERAL; i++)
        s.regs[i] = unknown;
    if (is_entry)
        s.regs[p->isa->stack_pointer] = (struct value){
            .kind = VALUE_FRAME,
            .offset = -(int64_t)(p->isa->call_pushes + p->isa->stack_bias)};
    lead(p, k, &s);
}

/* Follows the code of the function, from an instruction on and then all, until
 * nothing changes. False: that took too long, so that nothing is known. */
static bool
settle_all(struct pointers *p, uint32_t from)
{
    for (unsigned pass = 0; pass < PASSES_MOST; pass++) {
        bool any = false;
        for (uint32_t k = pass == 0 ? from : 0; k < p->count; k++) {
            if (p->dirty[k]) {
                follow_insn(p, k);
                any = true;
            }
        }
        if (!any)
            return true;
    }
    return false;
}

static bool
make_room(struct pointers *p)
{
    if (p->count > p->room) {
        free(p->states);
        free(p->facts);
        free(p->dirty);
        free(p->code);
        p->room = p->count;
        p->states = malloc(p->room * sizeof(*p->states));
        p->facts = malloc(p->room * sizeof(*p->facts));
        p->dirty = malloc(p->room * sizeof(*p->dirty));
        p->code = malloc(p->room * sizeof(*p->code));
    }
    if (p->states == NULL || p->facts == NULL || p->dirty == NULL ||
        p->code == NULL) {
        p->room = 0;
        return false;
    }
    memset(p->states, 0, p->count * sizeof(*p->states));
    memset(p->facts, 0, p->count * sizeof(*p->facts));
    memset(p->dirty, 0, p->count * sizeof(*p->dirty));
    return true;
}

/* Finds the instructions around one that are of its function. */
static void
find_function(struct pointers *p, uint32_t insn, const struct resolved *r)
{
    const struct record_process_row *const row =
        &p->record->processes[p->process];
    const uint32_t image = row->insns[insn].image;
    uint32_t first = insn, end = insn + 1;

    while (first > 0 && row->insns[first - 1].image == image &&
           insn - first < INSNS_MOST &&
           resolver_find(p->resolver, p->process, first - 1)->function_offset ==
               r->function_offset)
        first--;
    while (end < row->insn_count && row->insns[end].image == image &&
           end - first < INSNS_MOST &&
           resolver_find(p->resolver, p->process, end)->function_offset ==
               r->function_offset)
        end++;
    p->first = first;
    p->count = end - first;
}

/* Follows the function that has an instruction. */
static void
follow(struct pointers *p, uint32_t insn)
{
    const struct resolved *const r =
        resolver_find(p->resolver, p->process, insn);
    const struct record_insn *const i =
        &p->record->processes[p->process].insns[insn];

    p->count = 0;
    p->followed = false;
    p->frame_count = 0;
    memset(&p->anywhere, 0, sizeof(p->anywhere));
    if (i->image == RECORD_NO_IMAGE || r->function_offset == UINT64_MAX ||
        r->file_address == UINT64_MAX ||
        !resolver_names(p->resolver, i->image, &p->names, &p->file))
        return;
    find_function(p, insn, r);
    if (p->count >= INSNS_MOST || !make_room(p))
        return;
    p->followed = names_holders(p->names, p->file, i->offset, take_holder, p);
    if (!p->followed)
        return;
    decode_all(p);
    for (uint32_t k = 0; k < p->count && p->followed; k++) {
        const bool is_entry = insn_at(p, k)->offset == r->function_offset;
        if (is_entry)
            begin(p, k, true);
        p->followed = !is_entry || settle_all(p, k);
    }
    /* No way was found to some, as to the handlers of exceptions. */
    for (uint32_t k = 0; k < p->count && p->followed; k++) {
        if (p->states[k].regs[0].kind != VALUE_NONE)
            continue;
        begin(p, k, false);
        p->followed = settle_all(p, k);
    }
}

/* Fills in the member that an access is of. */
static void
find_member(struct pointers *p, uint32_t k)
{
    struct pointer_target *const t = &p->found;
    struct state s = p->states[k];
    struct name_part last;
    struct insn insn;

    if (!decode(p, k, &insn) || !insn.addr_known)
        return;
    apply(p, &p->facts[k], &s);
    const struct value at =
        place_at(p, k, &s,
                 sum_of(&s, insn.addr_base, insn.addr_index,
                        insn.addr_scale > 1, insn.addr_disp));
    if (at.kind != VALUE_POINTER || at.type->name == NULL)
        return;
    t->source = (enum pointer_source)at.source;
    t->type = at.type;
    t->has_member = part_at(
        p, &at, at.indexed && steps_whole(p, k, at.type->size), &t->member);
    if (!t->has_member || insn.access_size <= 1)
        return;
    /* An access of several members is of none alone. */
    t->has_member =
        names_part(p->names, at.type,
                   (uint64_t)at.offset + insn.access_size - 1, &last) &&
        (last.offset == t->member.offset ||
         (last.in_array && t->member.in_array &&
          last.array == t->member.array) ||
         strchr(t->member.path, '|') != NULL);
}

const struct pointer_target *
pointers_find(struct pointers *p, size_t process, uint32_t insn)
{
    if (p->count == 0 || process != p->process || insn < p->first ||
        insn - p->first >= p->count) {
        p->process = process;
        follow(p, insn);
    }
    p->found = (struct pointer_target){.source = POINTER_UNKNOWN};
    if (p->followed && insn >= p->first && insn - p->first < p->count)
        find_member(p, insn - p->first);
    return &p->found;
}
