/* SPDX-License-Identifier: MIT */
#include "profile/recorded.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "machine/shape.h"
#include "profile/code_versions.h"
#include "source/record_view.h"
#include "table/signals.h"

#define INSNS_MOST 1024u /* of a block */

/* How often each execution of a block raises a fixed signal at an instruction,
 * which is a number in the process. */
struct raise {
    uint32_t instruction;
    uint16_t signal;
    int16_t times;
};

/* A block, decoded. */
struct decoded {
    uint32_t first;  /* its first instruction in `order` */
    uint32_t raises; /* its first entry in `raises`, up to the next block's */
    uint16_t branch; /* the instruction that closes it */
    uint16_t size;   /* bytes of code */
    uint8_t closing; /* enum insn_branch of the instruction */
    uint64_t target; /* of a direct branch */
    uint64_t taken;  /* the next block begins here if the branch was taken */
    uint64_t end;    /* one past the block's last byte */
};

/* An instruction of some block, and what it is in the process. */
struct place {
    uint64_t address;
    uint32_t image, code; /* offset of its bytes */
    uint32_t number;      /* of the instruction in the process */
    uint32_t version;     /* of code of no file (code_versions.h); else 0 */
    uint32_t block;       /* index in `blocks` */
    uint8_t size;
};

/* A jump to the next instruction that QEMU translates as none: its block goes
 * on behind it. */
struct inner_jump {
    uint32_t block; /* part of a block that has the jump */
    uint32_t place; /* of the jump in `places`; it leads to the next one */
};

/* What instructions raise: signals, or where a curve's parts are recorded
 * accesses of a class, whose number less 1 stands for a signal and an event. */
#define GAIN_SIGNALS \
    (SIGNAL_COUNT > CURVE_CLASSES ? SIGNAL_COUNT : CURVE_CLASSES)

/* What an instruction has raised of a signal on an object's data, or on none
 * (0), on a path of calls. */
struct gain {
    uint32_t object, path, instruction;
    uint16_t signal;
    int64_t count;
};

/* Formulas that round a quotient, or several, stay within this. */
#define ROUNDED_MOST 16

/* What one of a signal adds to an event. */
struct effect {
    uint32_t event;
    double factor;
};

/* What an event has come to. */
struct effect_sum {
    double sum; /* over the rows so far */
    int64_t rounded;
    double scale; /* of its effects */
    double part;  /* in the row that is added, */
    bool touched; /* if any of its signals is */
};

/* Of a thread: what its signals add to events. */
struct effects {
    /* A signal's in `rows`, up to the next's. */
    size_t from[GAIN_SIGNALS + 1];
    struct effect *rows; /* owned */
    size_t count, room;
    struct effect_sum *sums; /* owned, by event */
    uint32_t *touched;       /* owned; events of the row that is added */
};

/* The state of a collection. */
struct recorded {
    const struct session_options *options;
    const struct session_result *result;
    const struct recorded_sink *sink;
    struct block_shape shape;
    unsigned line_shift; /* of the L1I */
    bool classes;        /* those of the curve are recorded, not signals */
    size_t event_count;  /* of the options, or the curve's classes */
    bool needed[SIGNAL_COUNT];
    /* Of the process that is collected; owned: */
    struct record_view view;
    struct code_versions versions;
    struct decoded *blocks; /* [view.place_count + 1] */
    struct place *places;
    size_t place_count, place_room;
    struct raise *raises;
    size_t raise_count, raise_room;
    struct inner_jump *jumps;
    size_t jump_count, jump_room;
    struct recorded_instruction *instructions;
    size_t instruction_count;
    struct recorded_image *images;
    struct recorded_process process;
    struct recorded_path *paths;
    size_t path_count, path_room;
    uint32_t
        *path_table; /* [path_mask + 1] paths by parent and call; 0: none */
    size_t path_mask;
    struct recorded_object *objects; /* [view.object_count] */
    uint32_t *call_paths; /* [view.call_count + 1] the path of each call */
    uint32_t
        *cell_paths; /* of the thread: the path of each cell's calls, or 0 */
};

static void
need(bool *needed, const struct event_row *event)
{
    for (size_t i = 0; i < event->signal_count; i++) {
        const struct signal_row *row = &tally_signals[event->signals[i]];
        needed[event->signals[i]] = true;
        for (size_t k = 0; k < row->source_count; k++)
            needed[row->sources[k]] = true;
    }
}

/* Returns whether the signal is recorded by block, not by the recorder. Wrong
 * predictions are, if the first predictor is of two-bit counters. */
static bool
is_of_branch(unsigned signal, uint64_t components)
{
    return signal == SIGNAL_CONDITIONAL_TAKEN ||
           ((components & COMPONENT_LONG_PREDICTOR) == 0 &&
            (signal == SIGNAL_NOT_TAKEN_MISPREDICTS ||
             signal == SIGNAL_TAKEN_MISPREDICTS));
}

/* Fills in the signals that the session must record for its events. */
static void
ask(const struct session_options *o, struct session_request *request)
{
    bool needed[SIGNAL_COUNT] = {false};

    for (size_t i = 0; o->curve == NULL && i < o->event_count; i++)
        need(needed, o->events[i]);
    request->all_accesses = o->record->accesses;
    request->reasons = o->record->reasons;
    request->level = o->record->level;
    if (o->record->moves != NULL)
        request->moves = *o->record->moves;
    request->locks = o->record->locks;
    if (o->record->accesses)
        request->components |= COMPONENT_L1D;
    request->records =
        o->record->callers ? RECORDS_CALLERS : RECORDS_INSTRUCTIONS;
    request->record_edges = o->record->branches;
    for (unsigned s = SIGNAL_FIXED_COUNT; s < SIGNAL_COUNT; s++) {
        /* A derived signal may be its own source: what the model raised. */
        const struct signal_row *row = &tally_signals[s];
        bool raised = row->source_count == 0;
        for (size_t k = 0; k < row->source_count; k++)
            raised |= row->sources[k] == s;
        if (needed[s] && raised && !is_of_branch(s, request->components))
            request->record_signals[request->record_count++] = (uint16_t)s;
    }
}

/* Makes room for `more` elements of an array. */
static bool
grow(void **array, size_t count, size_t more, size_t *room, size_t size)
{
    if (count + more <= *room)
        return true;
    const size_t wanted = (count + more) * 2;
    void *grown = reallocarray(*array, wanted, size);
    if (grown == NULL)
        return false;
    *array = grown;
    *room = wanted;
    return true;
}

/* Decodes the instructions of a block; 0 or TALLY_ENOMEM. */
static int
decode(struct recorded *r, const struct record_place *p, struct decoded *block,
       struct insn *insns, struct place *places)
{
    const uint8_t *sizes = r->view.code + p->code;
    const uint8_t *bytes = sizes + p->instructions;
    uint64_t address = p->pc;
    uint32_t version = 0;

    for (size_t i = 0; i < p->instructions; i++)
        block->size = (uint16_t)(block->size + sizes[i]);
    if (p->image == 0) {
        version = code_versions_add(&r->versions, p->pc, bytes, block->size);
        if (version == 0)
            return TALLY_ENOMEM;
    }

    for (size_t i = 0; i < p->instructions; i++) {
        insn_decode(r->shape.isa, bytes, sizes[i], address, &insns[i]);
        insns[i].size = sizes[i]; /* as QEMU has it */
        places[i] = (struct place){
            .address = address,
            .image = p->image,
            .code = (uint32_t)(bytes - r->view.code),
            .version = version,
            .block = (uint32_t)(block - r->blocks),
            .size = sizes[i],
        };
        bytes += sizes[i];
        address += sizes[i];
    }
    return 0;
}

/* Adds what executions of a part of a block raise at instruction `place`. */
static int
add_raises(struct recorded *r, const int16_t *fixed, size_t place)
{
    if (!grow((void **)&r->raises, r->raise_count, SIGNAL_FIXED_COUNT,
              &r->raise_room, sizeof(*r->raises)))
        return TALLY_ENOMEM;
    for (unsigned s = 0; s < SIGNAL_FIXED_COUNT; s++) {
        if (fixed[s] != 0 && r->needed[s])
            r->raises[r->raise_count++] =
                (struct raise){(uint32_t)place, (uint16_t)s, fixed[s]};
    }
    return 0;
}

/*
 * Adds what instructions `from` to `to` of a block raise, which add up to
 * `whole`: what they do not raise one by one goes to the first. A part before a
 * window instruction, which begins the next part, counts an attempt of that
 * instruction, and the next part takes back the attempt that went well: both
 * are told at the window instruction.
 */
static int
split_part(struct recorded *r, const struct insn *insns, size_t from, size_t to,
           const int16_t *whole, size_t first_place, bool has_next)
{
    int16_t rest[SIGNAL_FIXED_COUNT], attempt[SIGNAL_FIXED_COUNT] = {0};

    memcpy(rest, whole, sizeof(rest));
    if (has_next) {
        const enum signal_id signal = insns[to].flags & INSN_RESTORE
                                          ? SIGNAL_WINDOW_FILLS
                                          : SIGNAL_WINDOW_SPILLS;
        attempt[signal] = 1;
        rest[signal]--;
        if (add_raises(r, attempt, first_place + to) != 0)
            return TALLY_ENOMEM;
    }
    for (size_t i = from; i < to; i++) {
        struct block_info one = {0};
        block_add_insn(&one, &insns[i]);
        for (size_t s = 0; s < SIGNAL_FIXED_COUNT; s++)
            rest[s] = (int16_t)(rest[s] - one.fixed[s]);
        if (add_raises(r, one.fixed, first_place + i) != 0)
            return TALLY_ENOMEM;
    }
    return add_raises(r, rest, first_place + from);
}

/* Notes the jumps from instruction `from` to before `to` that close no block.
 */
static int
note_jumps(struct recorded *r, const struct insn *insns, size_t from, size_t to,
           const struct decoded *block)
{
    for (size_t i = from; i < to && i < block->branch; i++) {
        if (insns[i].branch != BRANCH_JUMP)
            continue;
        if (!grow((void **)&r->jumps, r->jump_count, 1, &r->jump_room,
                  sizeof(*r->jumps)))
            return TALLY_ENOMEM;
        r->jumps[r->jump_count++] = (struct inner_jump){
            (uint32_t)(block - r->blocks), block->first + (uint32_t)i};
    }
    return 0;
}

/* Decodes a part of a block. */
static int
decode_block(struct recorded *r, const struct record_place *p,
             struct decoded *block)
{
    struct insn insns[INSNS_MOST];
    struct block_piece pieces[BLOCK_PIECES];
    struct block_info slot;
    struct block model;
    const size_t first = r->place_count;

    block->first = (uint32_t)first;
    block->raises = (uint32_t)r->raise_count;
    if (p->instructions == 0 || p->instructions > INSNS_MOST)
        return 0;
    if (!grow((void **)&r->places, first, p->instructions, &r->place_room,
              sizeof(*r->places)))
        return TALLY_ENOMEM;
    const size_t count = p->instructions;
    if (decode(r, p, block, insns, r->places + first) != 0)
        return TALLY_ENOMEM;
    r->place_count += count;
    const size_t n =
        block_build(&r->shape, p->pc, insns, count, &model, pieces);
    block->branch = (uint16_t)(count - 1);
    if (count > 1 && model.branch_pc == r->places[first + count - 2].address)
        block->branch = (uint16_t)(count - 2);
    block->closing = insns[block->branch].branch;
    block->target = insns[block->branch].target;
    block->taken = model.taken_pc;
    block->end = model.end;
    if (p->piece == RECORD_SLOT)
        return block_slot(&r->shape, &model, &insns[count - 1], &slot)
                   ? add_raises(r, slot.fixed, first + count - 1)
                   : 0;
    if (p->piece >= n)
        return 0;
    const bool has_next = p->piece + 1u < n;
    const size_t to = has_next ? pieces[p->piece + 1].first : count;
    /* The second attempt of an instruction counts its trap alone. */
    if (model.flags & BLOCK_RETRY)
        return add_raises(r, pieces[0].info.fixed, first);
    if (note_jumps(r, insns, pieces[p->piece].first, to, block) != 0)
        return TALLY_ENOMEM;
    return split_part(r, insns, pieces[p->piece].first, to,
                      pieces[p->piece].info.fixed, first, has_next);
}

static int
compare_places(const void *a, const void *b, void *code)
{
    const struct place *x = *(const struct place *const *)a;
    const struct place *y = *(const struct place *const *)b;
    const uint8_t *bytes = code;

    if (x->image != y->image)
        return x->image < y->image ? -1 : 1;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    const int order = memcmp(bytes + x->code, bytes + y->code, x->size);
    if (order != 0)
        return order;
    return x->version < y->version ? -1 : x->version > y->version;
}

/* Returns the instruction at a place. */
static struct recorded_instruction
instruction_at(const struct recorded *r, const struct place *p)
{
    const struct decoded *block = &r->blocks[p->block];
    const struct place *first = &r->places[block->first];

    return (struct recorded_instruction){
        .address = p->address,
        .code = r->view.code + p->code,
        .image = p->image,
        .size = p->size,
        .block_address = first->address,
        .block = r->view.code + first->code,
        .block_size = block->size,
    };
}

/* Numbers the instructions of the process: those with the same address, code
 * and version are one. */
static int
number_instructions(struct recorded *r)
{
    struct place **order = calloc(r->place_count + 1, sizeof(*order));

    r->instructions = calloc(r->place_count + 1, sizeof(*r->instructions));
    r->instruction_count = 0;
    if (order == NULL || r->instructions == NULL) {
        free(order);
        return TALLY_ENOMEM;
    }
    for (size_t i = 0; i < r->place_count; i++)
        order[i] = &r->places[i];
    qsort_r(order, r->place_count, sizeof(*order), compare_places,
            r->view.code);
    for (size_t i = 0; i < r->place_count; i++) {
        struct place *p = order[i];
        if (i == 0 || compare_places(&order[i - 1], &p, r->view.code) != 0)
            r->instructions[r->instruction_count++] = instruction_at(r, p);
        p->number = (uint32_t)r->instruction_count - 1;
    }
    free(order);
    for (size_t i = 0; i < r->raise_count; i++)
        r->raises[i].instruction = r->places[r->raises[i].instruction].number;
    return 0;
}

/* Decodes all blocks of the process. */
static int
decode_all(struct recorded *r)
{
    int error = 0;

    r->place_count = r->raise_count = r->jump_count = 0;
    code_versions_init(&r->versions);
    r->blocks = calloc(r->view.place_count + 1, sizeof(*r->blocks));
    r->images = calloc(r->view.file_count + 1, sizeof(*r->images));
    if (r->blocks == NULL || r->images == NULL)
        return TALLY_ENOMEM;
    for (unsigned i = 0; error == 0 && i < r->view.place_count; i++)
        error = decode_block(r, &r->view.places[i], &r->blocks[i]);
    r->blocks[r->view.place_count].raises = (uint32_t)r->raise_count;
    for (unsigned i = 0; i < r->view.file_count; i++) {
        const struct counts_file *f = &r->view.files[i];
        r->images[i] =
            (struct recorded_image){f->path, f->first, f->last, f->offset};
    }
    return error != 0 ? error : number_instructions(r);
}

/* Returns the instruction of a block that a site names, its index there. */
static size_t
index_of(const struct recorded *r, const struct record_place *p,
         const struct decoded *block, unsigned instruction)
{
    const struct place *places = r->places + block->first;
    const size_t last = p->instructions - 1u;

    if (instruction == RECORD_BRANCH)
        return block->branch;
    if (instruction == RECORD_LAST)
        return last;
    if ((instruction & RECORD_LINE) == 0)
        return instruction < last ? instruction : last;
    const unsigned mask = RECORD_LINE - 1;
    for (size_t i = 0; i <= last; i++) {
        const uint64_t end = places[i].address + places[i].size - 1;
        if ((places[i].address >> r->line_shift & mask) ==
                (instruction & mask) ||
            (end >> r->line_shift & mask) == (instruction & mask))
            return i;
    }
    return 0;
}

/* Returns where a path is in the table, or the free place where it goes. */
static uint32_t *
find_path(const struct recorded *r, uint32_t parent, uint32_t call)
{
    const uint64_t key = (uint64_t)parent << 32 | call;
    uint64_t at = (key ^ key >> 29) * 0x9e3779b97f4a7c15u >> 20;

    for (;; at++) {
        uint32_t *place = &r->path_table[at & r->path_mask];
        const struct recorded_path *path = &r->paths[*place];
        if (*place == 0 || (path->parent == parent && path->call == call))
            return place;
    }
}

/* Doubles the table of paths if it is three quarters full. */
static bool
grow_table(struct recorded *r)
{
    const size_t size = r->path_table != NULL ? r->path_mask + 1 : 512;

    if (r->path_table != NULL && r->path_count < size / 4 * 3)
        return true;
    uint32_t *table = calloc(2 * size, sizeof(*table));
    if (table == NULL)
        return false;
    free(r->path_table);
    r->path_table = table;
    r->path_mask = 2 * size - 1;
    for (uint32_t i = 1; i < r->path_count; i++)
        *find_path(r, r->paths[i].parent, r->paths[i].call) = i;
    return true;
}

/* Returns the path of a call on another; 0: there is no memory. */
static uint32_t
make_path(struct recorded *r, uint32_t parent, uint32_t call)
{
    if (!grow((void **)&r->paths, r->path_count, 1, &r->path_room,
              sizeof(*r->paths)) ||
        !grow_table(r))
        return 0;
    uint32_t *place = find_path(r, parent, call);
    if (*place == 0) {
        *place = (uint32_t)r->path_count;
        r->paths[r->path_count++] = (struct recorded_path){parent, call};
    }
    return *place;
}

/* Returns the instruction that calls from a block, or RECORDED_UNKNOWN. */
static uint32_t
call_of(const struct recorded *r, uint32_t block)
{
    return r->view.places[block].instructions != 0
               ? r->places[r->blocks[block].first + r->blocks[block].branch]
                     .number
               : RECORDED_UNKNOWN;
}

/* Returns the first instruction of a block, or RECORDED_UNKNOWN. */
static uint32_t
first_of(const struct recorded *r, uint32_t block)
{
    return r->view.places[block].instructions != 0
               ? r->places[r->blocks[block].first].number
               : RECORDED_UNKNOWN;
}

/* Returns how many whole accesses an object has, of which it has `eighths`.
 * `sum`: the eighths of the objects before, and 4: an access that lies in two
 * objects is of one of them, so that objects add up to the accesses. */
static uint64_t
whole_accesses(uint64_t *sum, uint64_t eighths)
{
    const uint64_t before = *sum / 8;

    *sum += eighths;
    return *sum / 8 - before;
}

/* Names the objects of the process, and finds the paths to those that an
 * allocator gave. */
static int
name_objects(struct recorded *r)
{
    const struct record_view *v = &r->view;
    uint32_t *paths = calloc(v->call_count + 1, sizeof(*paths));
    bool failed = paths == NULL;

    r->objects = calloc(v->object_count + 1, sizeof(*r->objects));
    failed |= r->objects == NULL;
    for (unsigned i = 0; !failed && i < v->call_count; i++) {
        const struct record_call *call = &v->calls[i];
        const uint32_t parent = call->parent == RECORD_UNKNOWN
                                    ? make_path(r, 0, RECORDED_UNKNOWN)
                                    : paths[call->parent];
        paths[i + 1] = make_path(r, parent, call_of(r, call->block - 1));
        failed = paths[i + 1] == 0;
    }
    uint64_t loads = 4 + (v->uses != NULL ? v->uses[0].loads : 0);
    uint64_t stores = 4 + (v->uses != NULL ? v->uses[0].stores : 0);
    for (unsigned i = 0; !failed && i < v->object_count; i++) {
        const struct record_object *o = &v->objects[i];
        r->objects[i] = (struct recorded_object){
            .kind = o->kind,
            .name = v->text + o->name,
            .image = o->kind == RECORD_VARIABLE
                         ? v->text + v->objects[o->image - 1].name
                         : "",
            .size = o->size,
            .path = o->kind != RECORD_HEAP ? 0
                    : o->call == RECORD_UNKNOWN
                        ? make_path(r, 0, RECORDED_UNKNOWN)
                        : paths[o->call],
            .instruction = o->kind == RECORD_STACK && o->call != 0
                               ? first_of(r, o->call - 1)
                               : RECORDED_UNKNOWN,
            .allocations = o->allocations,
            .bytes = o->bytes,
            .use = v->uses[i + 1],
        };
        r->objects[i].use.loads = whole_accesses(&loads, v->uses[i + 1].loads);
        r->objects[i].use.stores =
            whole_accesses(&stores, v->uses[i + 1].stores);
    }
    r->call_paths = paths;
    return failed ? TALLY_ENOMEM : 0;
}

/* Finds the path that each cell of the thread calls on, where it calls. */
static int
find_paths(struct recorded *r)
{
    r->cell_paths = calloc(r->view.cell_count + 1, sizeof(*r->cell_paths));
    if (r->cell_paths == NULL)
        return TALLY_ENOMEM;
    for (uint32_t i = 0; i < r->view.cell_count; i++) {
        const uint32_t caller = r->view.cells[i].caller;
        uint32_t path = 0, call = RECORDED_UNKNOWN;
        if (caller == RECORD_OUTERMOST || r->view.cells[i].block & RECORD_ON)
            continue;
        if (caller != RECORD_UNKNOWN) {
            const struct record_cell *cell = &r->view.cells[caller - 1];
            const uint32_t b = cell->block - 1;
            if (r->cell_paths[caller] != 0)
                continue;
            path = cell->caller == RECORD_OUTERMOST ? 0
                   : cell->caller == RECORD_UNKNOWN
                       ? make_path(r, 0, RECORDED_UNKNOWN)
                       : r->cell_paths[cell->caller];
            call = call_of(r, b);
        }
        path = make_path(r, path, call);
        if (path == 0)
            return TALLY_ENOMEM;
        if (caller != RECORD_UNKNOWN)
            r->cell_paths[caller] = path;
    }
    return 0;
}

/* Where a site of a thread is. */
struct site_place {
    uint32_t object, path, block;
};

static struct site_place
place_of_site(struct recorded *r, uint32_t number)
{
    struct site_place p = {.block = number - 1};

    if (r->view.cells == NULL)
        return p;
    const struct record_cell *cell = &r->view.cells[number - 1];
    if (cell->block & RECORD_ON) {
        p.object = cell->block & ~RECORD_ON;
        cell = &r->view.cells[cell->caller - 1];
    }
    p.block = cell->block - 1;
    if (cell->caller == RECORD_UNKNOWN)
        p.path = make_path(r, 0, RECORDED_UNKNOWN);
    else if (cell->caller != RECORD_OUTERMOST)
        p.path = r->cell_paths[cell->caller];
    return p;
}

/* Returns how many gains the sites of a thread come to, at most. */
static size_t
count_gains(struct recorded *r)
{
    size_t count = 0;

    for (size_t i = 0; i < r->view.site_count; i++) {
        const uint64_t key = r->view.sites[i].key;
        if (key & RECORD_EDGE)
            continue;
        const uint32_t b = place_of_site(r, (uint32_t)(key >> 32)).block;
        count += (uint16_t)key == RECORD_EXECUTIONS
                     ? r->blocks[b + 1].raises - r->blocks[b].raises
                     : 1;
    }
    return count;
}

/* Returns whether sites of this signal are counted: of a curve classes alone.
 */
static bool
is_counted(const struct recorded *r, unsigned signal)
{
    return r->classes ? signal > RECORD_CLASS &&
                            signal - RECORD_CLASS <= r->event_count
                      : signal < SIGNAL_COUNT;
}

/* Writes the gains of a thread, in the order of its sites; returns how many. */
static size_t
list_gains(struct recorded *r, struct gain *gains)
{
    size_t count = 0;

    for (size_t i = 0; i < r->view.site_count; i++) {
        const struct record_site *site = &r->view.sites[i];
        if (site->key & RECORD_EDGE)
            continue;
        const struct site_place at_site =
            place_of_site(r, (uint32_t)(site->key >> 32));
        const uint32_t b = at_site.block;
        const struct record_place *p = &r->view.places[b];
        const unsigned signal = (uint16_t)site->key;
        const int64_t n = (int64_t)site->count;
        if (p->instructions == 0 || p->instructions > INSNS_MOST)
            continue;
        if (is_counted(r, signal)) {
            const size_t at =
                index_of(r, p, &r->blocks[b], (uint16_t)(site->key >> 16));
            gains[count++] = (struct gain){
                at_site.object, at_site.path,
                r->places[r->blocks[b].first + at].number,
                (uint16_t)(r->classes ? signal - RECORD_CLASS - 1 : signal), n};
        }
        if (signal != RECORD_EXECUTIONS)
            continue;
        for (size_t k = r->blocks[b].raises; k < r->blocks[b + 1].raises; k++)
            gains[count++] = (struct gain){
                at_site.object, at_site.path, r->raises[k].instruction,
                r->raises[k].signal, n * r->raises[k].times};
    }
    return count;
}

/* What gains are sorted by, one after the other. */
enum gain_key { GAIN_INSTRUCTION, GAIN_PATH, GAIN_OBJECT, GAIN_KEYS };

static uint32_t
gain_key(const struct gain *g, enum gain_key key)
{
    return key == GAIN_INSTRUCTION ? g->instruction
           : key == GAIN_PATH      ? g->path
                                   : g->object;
}

/* Sorts gains by a key into `sorted`; those that are equal stay in their order.
 * `starts` has room for `kinds` + 1. */
static void
sort_by(enum gain_key key, const struct gain *gains, size_t count, size_t kinds,
        struct gain *sorted, size_t *starts)
{
    memset(starts, 0, (kinds + 1) * sizeof(*starts));
    for (size_t i = 0; i < count; i++)
        starts[gain_key(&gains[i], key) + 1]++;
    for (size_t i = 1; i <= kinds; i++)
        starts[i] += starts[i - 1];
    for (size_t i = 0; i < count; i++)
        sorted[starts[gain_key(&gains[i], key)]++] = gains[i];
}

/* Sorts gains by object, then by path, then by instruction. `other` has room
 * for as many. Returns where they are, or NULL: there is no memory. */
static struct gain *
sort_gains(const struct recorded *r, struct gain *gains, size_t count,
           struct gain *other)
{
    const size_t kinds[GAIN_KEYS] = {r->instruction_count, r->path_count,
                                     r->view.object_count + 1};
    size_t most = 0;

    for (size_t i = 0; i < GAIN_KEYS; i++)
        most = kinds[i] > most ? kinds[i] : most;
    size_t *starts = malloc((most + 1) * sizeof(*starts));
    if (starts == NULL)
        return NULL;
    for (size_t i = 0; i < GAIN_KEYS; i++) {
        struct gain *const sorted = i % 2 == 0 ? other : gains;
        if (i == GAIN_OBJECT && r->view.object_count == 0)
            break;
        sort_by((enum gain_key)i, i % 2 == 0 ? gains : other, count, kinds[i],
                sorted, starts);
    }
    free(starts);
    return r->view.object_count == 0 ? gains : other;
}

/* Returns how many of the gains from `i` on are of one row. */
static size_t
row_of(const struct gain *gains, size_t i, size_t count)
{
    size_t k = i + 1;

    while (k < count && gains[k].object == gains[i].object &&
           gains[k].path == gains[i].path &&
           gains[k].instruction == gains[i].instruction)
        k++;
    return k - i;
}

/* Scales what signals add to an event, of which formulas round quotients, so
 * that all of the event adds up to its total; if instructions have raised all
 * of it. */
static void
fit_effects(const struct recorded *r, const struct session_thread *thread,
            const int64_t *raised, struct effects *f)
{
    const struct session_options *o = r->options;
    double whole[SIGNAL_COUNT];

    for (size_t s = 0; s < SIGNAL_COUNT; s++)
        whole[s] = (double)thread->totals.signal[s];
    signals_derive_part(o->params, r->result->components, thread->totals.signal,
                        whole);
    for (size_t s = 0; s < SIGNAL_COUNT; s++)
        for (size_t i = f->from[s]; i < f->from[s + 1]; i++)
            f->sums[f->rows[i].event].part +=
                f->rows[i].factor * (double)raised[s];
    for (size_t e = 0; e < o->event_count; e++) {
        const double total =
            (double)(int64_t)event_value(o->events[e], &thread->totals);
        double unrounded = 0;
        for (size_t k = 0; k < o->events[e]->signal_count; k++)
            unrounded += whole[o->events[e]->signals[k]];
        f->sums[e].scale = unrounded != 0 && total != unrounded &&
                                   fabs(total - unrounded) < ROUNDED_MOST &&
                                   fabs(f->sums[e].part - unrounded) <
                                       1e-9 * fabs(unrounded) + 1e-6
                               ? total / unrounded
                               : 1;
        f->sums[e].part = 0;
    }
    for (size_t i = 0; i < f->count; i++)
        f->rows[i].factor *= f->sums[f->rows[i].event].scale;
}

/* Makes the effects of classes: an access adds one to the event of its class.
 */
static int
find_class_effects(const struct recorded *r, struct effects *f)
{
    f->rows = calloc(r->event_count, sizeof(*f->rows));
    if (f->rows == NULL)
        return TALLY_ENOMEM;
    f->count = r->event_count;
    for (size_t s = 0; s <= GAIN_SIGNALS; s++)
        f->from[s] = s < f->count ? s : f->count;
    for (size_t e = 0; e < f->count; e++)
        f->rows[e] = (struct effect){(uint32_t)e, 1};
    return 0;
}

/* Works out what one of each signal that a thread has raised adds to each
 * event: events are linear in what a part of the run raises. */
static int
find_effects(const struct recorded *r, const struct session_thread *thread,
             const struct gain *gains, size_t count, struct effects *f)
{
    const struct session_options *o = r->options;
    int64_t raised[SIGNAL_COUNT] = {0};
    bool any[SIGNAL_COUNT] = {false};

    memset(f, 0, sizeof(*f));
    f->sums = calloc(r->event_count + 1, sizeof(*f->sums));
    f->touched = calloc(r->event_count + 1, sizeof(*f->touched));
    if (f->sums == NULL || f->touched == NULL)
        return TALLY_ENOMEM;
    if (r->classes)
        return find_class_effects(r, f);
    for (size_t i = 0; i < count; i++) {
        raised[gains[i].signal] += gains[i].count;
        any[gains[i].signal] = true;
    }
    for (size_t s = 0; s < SIGNAL_COUNT; s++) {
        double part[SIGNAL_COUNT] = {0};
        f->from[s] = f->count;
        if (!any[s])
            continue;
        part[s] = 1;
        signals_derive_part(o->params, r->result->components,
                            thread->totals.signal, part);
        if (!grow((void **)&f->rows, f->count, o->event_count, &f->room,
                  sizeof(*f->rows)))
            return TALLY_ENOMEM;
        for (size_t e = 0; e < o->event_count; e++) {
            double factor = 0;
            for (size_t k = 0; k < o->events[e]->signal_count; k++)
                factor += part[o->events[e]->signals[k]];
            if (factor != 0)
                f->rows[f->count++] = (struct effect){(uint32_t)e, factor};
        }
    }
    f->from[SIGNAL_COUNT] = f->count;
    fit_effects(r, thread, raised, f);
    return 0;
}

/* The rows of a thread that are handed out. */
struct rows {
    uint32_t *instructions, *paths, *objects; /* [count] */
    size_t count;
    struct recorded_value *values; /* [value_count], by row */
    size_t value_count, value_room;
};

/* Adds a row of gains that come one after the other, if any event has a value
 * there. The values add up to the rounded sums. */
static int
add_row(const struct recorded *r, const struct gain *gains, size_t count,
        struct effects *f, struct rows *rows)
{
    const size_t events = r->event_count;
    const size_t before = rows->value_count;
    size_t touched = 0;

    if (!grow((void **)&rows->values, before, events, &rows->value_room,
              sizeof(*rows->values)))
        return TALLY_ENOMEM;
    for (size_t k = 0; k < count; k++) {
        const double n = (double)gains[k].count;
        const unsigned signal = gains[k].signal;
        for (size_t i = f->from[signal]; i < f->from[signal + 1]; i++) {
            const struct effect *effect = &f->rows[i];
            struct effect_sum *sum = &f->sums[effect->event];
            if (!sum->touched)
                f->touched[touched++] = effect->event;
            sum->touched = true;
            sum->part += n * effect->factor;
        }
    }
    for (size_t i = 0; i < touched; i++) {
        struct effect_sum *sum = &f->sums[f->touched[i]];
        sum->sum += sum->part;
        sum->part = 0;
        sum->touched = false;
        const int64_t rounded = llround(sum->sum);
        if (rounded != sum->rounded)
            rows->values[rows->value_count++] = (struct recorded_value){
                (uint32_t)rows->count, f->touched[i], rounded - sum->rounded};
        sum->rounded = rounded;
    }
    if (rows->value_count == before)
        return 0;
    rows->objects[rows->count] = gains->object;
    rows->paths[rows->count] = gains->path;
    rows->instructions[rows->count++] = gains->instruction;
    return 0;
}

/* Returns the values sorted by event, then row; NULL: there is no memory. */
static struct recorded_value *
sort_values(const struct rows *rows, size_t event_count)
{
    size_t *starts = calloc(event_count + 1, sizeof(*starts));
    struct recorded_value *sorted =
        malloc((rows->value_count + 1) * sizeof(*sorted));

    if (starts == NULL || sorted == NULL) {
        free(starts);
        free(sorted);
        return NULL;
    }
    for (size_t i = 0; i < rows->value_count; i++)
        starts[rows->values[i].event + 1]++;
    for (size_t e = 1; e <= event_count; e++)
        starts[e] += starts[e - 1];
    for (size_t i = 0; i < rows->value_count; i++)
        sorted[starts[rows->values[i].event]++] = rows->values[i];
    free(starts);
    return sorted;
}

/* Adds up the values of each row of a thread's gains, and hands them out. */
static int
value_rows(const struct recorded *r, const struct session_thread *thread,
           const struct gain *gains, size_t count, struct effects *f)
{
    size_t most = 0;

    for (size_t i = 0; i < count; i += row_of(gains, i, count))
        most++;
    struct rows rows = {
        .instructions = malloc((most + 1) * sizeof(*rows.instructions)),
        .paths = malloc((most + 1) * sizeof(*rows.paths)),
        .objects = malloc((most + 1) * sizeof(*rows.objects)),
    };
    int error =
        rows.instructions && rows.paths && rows.objects ? 0 : TALLY_ENOMEM;
    for (size_t i = 0, n; error == 0 && i < count; i += n) {
        n = row_of(gains, i, count);
        error = add_row(r, gains + i, n, f, &rows);
    }
    struct recorded_value *sorted =
        error == 0 ? sort_values(&rows, r->event_count) : NULL;
    if (sorted == NULL)
        error = TALLY_ENOMEM;
    const struct recorded_thread out = {
        .thread = thread,
        .paths = r->paths,
        .path_count = r->path_count,
        .objects = r->objects,
        .object_count = r->view.object_count,
        .count = rows.count,
        .row_objects = count != 0 && gains[0].object != 0 ? rows.objects : NULL,
        .row_paths = rows.paths,
        .instructions = rows.instructions,
        .values = sorted,
        .value_count = rows.value_count,
    };
    if (error == 0)
        error = r->sink->thread(r->sink->user, &r->process, &out);
    free(rows.instructions);
    free(rows.paths);
    free(rows.objects);
    free(rows.values);
    free(sorted);
    return error;
}

/* Hands out what a thread has raised: first what is of no object. */
static int
value_thread(const struct recorded *r, const struct session_thread *thread,
             const struct gain *gains, size_t count)
{
    struct effects f;
    size_t apart = 0;

    while (apart < count && gains[apart].object == 0)
        apart++;
    int error = find_effects(r, thread, gains, count, &f);
    if (error == 0)
        error = value_rows(r, thread, gains, apart, &f);
    if (error == 0 && apart < count)
        error = value_rows(r, thread, gains + apart, count - apart, &f);
    free(f.rows);
    free(f.sums);
    free(f.touched);
    return error;
}

/* Returns the instruction of a block, which is a number of the recording, where
 * an edge begins or ends. */
static uint32_t
end_of_edge(const struct recorded *r, uint32_t number, bool from)
{
    if (number == 0)
        return RECORDED_NOWHERE;
    const struct record_place *p = &r->view.places[number - 1];
    if (p->instructions == 0 || p->instructions > INSNS_MOST)
        return RECORDED_NOWHERE;
    const struct decoded *block = &r->blocks[number - 1];
    return r->places[block->first + (from ? block->branch : 0u)].number;
}

/* Returns how control went from a block to the address of another. */
static enum recorded_way
way_of(const struct recorded *r, const struct decoded *block, uint64_t to)
{
    /* A branch may have left its slot to the next block, or have annulled it.
     */
    const uint64_t slot = r->shape.isa->slots != SLOTS_NONE ? 4 : 0;
    const enum recorded_way on = to == block->end || to == block->end + slot
                                     ? RECORDED_ON
                                     : RECORDED_BROKEN;
    const bool direct = to == block->target;

    switch (block->closing) {
    case BRANCH_CONDITIONAL:
        return to == block->taken ? RECORDED_TAKEN : on;
    case BRANCH_JUMP:
        return direct ? RECORDED_JUMP : RECORDED_BROKEN;
    case BRANCH_CALL:
        return direct ? RECORDED_CALL : RECORDED_BROKEN;
    case BRANCH_RETURN:
        return RECORDED_RETURN;
    case BRANCH_INDIRECT:
        return RECORDED_INDIRECT;
    case BRANCH_INDIRECT_CALL:
        return RECORDED_INDIRECT_CALL;
    default:
        return on;
    }
}

/* Returns whether an instruction is a window instruction of the block: it
 * trapped, the block did not go on, and the instruction is made again. */
static bool
is_made_again(const struct recorded *r, uint32_t block, uint32_t instruction)
{
    const struct recorded_instruction *to = &r->instructions[instruction];
    struct insn insn;

    if (to->address < r->view.places[block].pc ||
        to->address >= r->blocks[block].end)
        return false;
    insn_decode(r->shape.isa, to->code, to->size, to->address, &insn);
    return (insn.flags & (INSN_SAVE | INSN_RESTORE | INSN_FLUSHW)) != 0;
}

/* Returns what a site says of an edge. */
static struct recorded_edge
edge_of(const struct recorded *r, const struct record_site *site)
{
    const uint32_t from = record_edge_from(site->key);
    const uint32_t to = record_edge_to(site->key);
    struct recorded_edge edge = {
        .from = end_of_edge(r, from, true),
        .to = end_of_edge(r, to, false),
        .way = RECORDED_BROKEN,
        .count = site->count,
        .mispredicted = site->key & 1 ? site->count : 0,
    };

    if (edge.from == RECORDED_NOWHERE || edge.to == RECORDED_NOWHERE)
        return edge;
    edge.way =
        way_of(r, &r->blocks[from - 1], r->instructions[edge.to].address);
    /* A block that calls its own beginning whatever comes does not end. */
    if (edge.way >= RECORDED_RETURN && is_made_again(r, from - 1, edge.to)) {
        edge.way = RECORDED_BROKEN;
        edge.from = edge.to;
    }
    return edge;
}

/* Orders edges by where they begin, then by where they end. */
static int
compare_edges(const void *x, const void *y)
{
    const struct recorded_edge *a = x, *b = y;

    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    return (a->way > b->way) - (a->way < b->way);
}

/* Adds up edges that are the same; returns how many are left. */
static size_t
add_up_edges(struct recorded_edge *edges, size_t count)
{
    size_t kept = 0;

    qsort(edges, count, sizeof(*edges), compare_edges);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && compare_edges(&edges[kept - 1], &edges[i]) == 0) {
            edges[kept - 1].count += edges[i].count;
            edges[kept - 1].mispredicted += edges[i].mispredicted;
        } else {
            edges[kept++] = edges[i];
        }
    }
    return kept;
}

/* Returns the first jump inside of a part of a block, or of one behind; jumps
 * are in the order of their blocks. */
static size_t
first_jump(const struct recorded *r, uint32_t block)
{
    size_t low = 0, high = r->jump_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (r->jumps[middle].block < block)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Makes the edges of what a site says; returns how many: of executions those of
 * the jumps inside of the part of a block. `edges` NULL: counts them. */
static size_t
edges_of(struct recorded *r, const struct record_site *site,
         struct recorded_edge *edges)
{
    size_t count = 0;

    if (site->key & RECORD_EDGE) {
        if (edges != NULL)
            *edges = edge_of(r, site);
        return 1;
    }
    if ((uint16_t)site->key != RECORD_EXECUTIONS || r->jump_count == 0)
        return 0;
    const uint32_t block = place_of_site(r, (uint32_t)(site->key >> 32)).block;
    for (size_t i = first_jump(r, block);
         i < r->jump_count && r->jumps[i].block == block; i++) {
        const struct place *at = &r->places[r->jumps[i].place];
        if (edges != NULL)
            edges[count] = (struct recorded_edge){
                .from = at[0].number,
                .to = at[1].number,
                .way = RECORDED_JUMP,
                .count = site->count,
            };
        count++;
    }
    return count;
}

/* Hands out the edges of the thread whose sites were read last. */
static int
collect_edges(struct recorded *r, const struct session_thread *thread)
{
    size_t room = 0;

    for (size_t i = 0; i < r->view.site_count; i++)
        room += edges_of(r, &r->view.sites[i], NULL);
    struct recorded_edge *edges = malloc((room + 1) * sizeof(*edges));
    struct recorded_edges out = {.thread = thread, .edges = edges};
    if (edges == NULL)
        return TALLY_ENOMEM;
    for (size_t i = 0; i < r->view.site_count; i++)
        out.count += edges_of(r, &r->view.sites[i], edges + out.count);
    out.count = add_up_edges(edges, out.count);
    const int error =
        out.count != 0 ? r->sink->edges(r->sink->user, &r->process, &out) : 0;
    free(edges);
    return error;
}

/* Returns the instruction at a place of a reason, or RECORDED_UNKNOWN. */
static uint32_t
reason_instruction(const struct recorded *r, uint64_t place)
{
    const uint32_t number = (uint32_t)(place >> 16);

    if (number == 0 || number > r->view.place_count)
        return RECORDED_UNKNOWN;
    const struct record_place *const p = &r->view.places[number - 1];
    if (p->instructions == 0 || p->instructions > INSNS_MOST)
        return RECORDED_UNKNOWN;
    const struct decoded *const block = &r->blocks[number - 1];
    return r->places[block->first + index_of(r, p, block, (uint16_t)place)]
        .number;
}

/* Orders reasons by all but their counts. */
static int
compare_reasons(const void *x, const void *y)
{
    const struct recorded_reason *a = x, *b = y;

    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->object != b->object)
        return a->object < b->object ? -1 : 1;
    if (a->other != b->other)
        return a->other < b->other ? -1 : 1;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->instruction != b->instruction)
        return a->instruction < b->instruction ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

/* Makes the reasons of the process, [view.reason_count]; returns how many are
 * different. */
static size_t
list_reasons(const struct recorded *r, struct recorded_reason *reasons)
{
    size_t kept = 0;

    for (unsigned i = 0; i < r->view.reason_count; i++) {
        const struct record_reason *const from = &r->view.reasons[i];
        const bool driven = record_reason_is_driven(from->kind);
        reasons[i] = (struct recorded_reason){
            .kind = (enum record_reason_kind)from->kind,
            .object = from->object,
            .other = from->other,
            .thread = from->thread,
            .instruction =
                driven ? reason_instruction(r, from->place) : RECORDED_UNKNOWN,
            .place = driven ? 0 : from->place,
            .count = from->count,
            .bytes = from->bytes,
            .other_bytes = from->other_bytes,
        };
    }
    qsort(reasons, r->view.reason_count, sizeof(*reasons), compare_reasons);
    for (unsigned i = 0; i < r->view.reason_count; i++) {
        if (kept > 0 && compare_reasons(&reasons[kept - 1], &reasons[i]) == 0) {
            reasons[kept - 1].count += reasons[i].count;
            reasons[kept - 1].bytes |= reasons[i].bytes;
            reasons[kept - 1].other_bytes |= reasons[i].other_bytes;
        } else {
            reasons[kept++] = reasons[i];
        }
    }
    return kept;
}

static int
compare_strides(const void *x, const void *y)
{
    const struct recorded_stride *a = x, *b = y;

    if (a->instruction != b->instruction)
        return a->instruction < b->instruction ? -1 : 1;
    return (int)a->stores - (int)b->stores;
}

/* Adds the stride of an instruction in one block to that in another. One of
 * them has all steps, unless the code came again or there was no memory. */
static void
add_stride(struct recorded_stride *to, const struct recorded_stride *from)
{
    to->other += from->other;
    /* A loop's first round may be of another block, which has what made the
     * register before the loop. */
    to->follows |= from->follows;
    for (unsigned i = 0; i < RECORD_STEPS; i++) {
        unsigned k = 0;
        while (k < RECORD_STEPS && to->counts[k] != 0 &&
               to->steps[k] != from->steps[i])
            k++;
        if (from->counts[i] == 0)
            continue;
        if (k == RECORD_STEPS) {
            to->other += from->counts[i];
            continue;
        }
        to->steps[k] = from->steps[i];
        to->counts[k] += from->counts[i];
    }
}

/* Instructions of code before and behind one that are looked at for what gives
 * its register the next value. */
#define NEAR_INSTRUCTIONS 32u

static struct insn
decode_one(const struct recorded *r, size_t instruction)
{
    const struct recorded_instruction *const i = &r->instructions[instruction];
    struct insn insn;

    insn_decode(r->shape.isa, i->code, i->size, i->address, &insn);
    return insn;
}

/* Returns whether the instruction loads the register that it takes its address
 * from. */
static bool
loads_own_base(const struct insn *insn)
{
    return insn->access == ACCESS_LOAD && insn->addr_known &&
           insn->addr_base >= 0 &&
           (insn->reg_writes >> insn->addr_base & 1) != 0;
}

/* Returns whether one instruction stands right before another in memory. */
static bool
is_next(const struct recorded *r, size_t before, size_t after)
{
    const struct recorded_instruction *const a = &r->instructions[before];
    const struct recorded_instruction *const b = &r->instructions[after];

    return a->image == b->image && a->address + a->size == b->address;
}

/* Returns whether the next instruction that changes the register `base` loads
 * the register from where the register points to. `step`: 1, to look at the
 * instructions behind, or -1, before. */
static bool
is_chased(const struct recorded *r, size_t instruction, int base, int step)
{
    size_t at = instruction;

    for (unsigned i = 0; i < NEAR_INSTRUCTIONS; i++) {
        const size_t next = at + (size_t)step; /* wraps before the first */
        if (next >= r->instruction_count ||
            !(step > 0 ? is_next(r, at, next) : is_next(r, next, at)))
            return false;
        const struct insn insn = decode_one(r, next);
        if ((insn.reg_writes >> base & 1) != 0)
            return loads_own_base(&insn) && insn.addr_base == base;
        at = next;
    }
    return false;
}

/* Returns whether an instruction before the place, in the same block, makes the
 * value of the register `base`, as by an addition of an array and an index: the
 * last that changes the register other than by a constant, unless that loads
 * the register from where the register points to. */
static bool
is_made(const struct recorded *r, uint64_t place, int base)
{
    const uint32_t number = (uint32_t)(place >> 16);
    const struct decoded *const block = &r->blocks[number - 1];
    size_t i = index_of(r, &r->view.places[number - 1], block, (uint16_t)place);

    while (i-- > 0) {
        const struct insn insn =
            decode_one(r, r->places[block->first + i].number);
        if ((insn.reg_writes >> base & 1) != 0 && insn.step_reg != base)
            return !loads_own_base(&insn) || insn.addr_base != base;
    }
    return false;
}

/* Returns whether the address of a load comes from what the load before it has
 * loaded: the instruction's own, or one that stands near and goes on to where
 * the same register points to, as where a list's value is loaded and then its
 * next. `place` is the load's in one of its blocks. */
static bool
follows(const struct recorded *r, uint32_t instruction, uint64_t place)
{
    const struct insn insn = decode_one(r, instruction);

    if (insn.addr_known && insn.addr_base >= 0 &&
        is_made(r, place, insn.addr_base))
        return false;
    if (loads_own_base(&insn))
        return true;
    return insn.access == ACCESS_LOAD && insn.addr_known &&
           insn.addr_base >= 0 && insn.addr_scale == 0 &&
           (insn.reg_writes >> insn.addr_base & 1) == 0 &&
           (is_chased(r, instruction, insn.addr_base, 1) ||
            is_chased(r, instruction, insn.addr_base, -1));
}

/* Makes the strides of the process, [view.stride_count]; returns how many there
 * are. */
static size_t
list_strides(const struct recorded *r, struct recorded_stride *strides)
{
    size_t count = 0, kept = 0;

    for (unsigned i = 0; i < r->view.stride_count; i++) {
        const struct record_stride *const from = &r->view.strides[i];
        const uint64_t place = from->place & ~RECORD_STRIDE_STORES;
        const uint32_t instruction = reason_instruction(r, place);
        if (instruction == RECORDED_UNKNOWN)
            continue;
        struct recorded_stride *const to = &strides[count++];
        *to = (struct recorded_stride){
            .instruction = instruction,
            .stores = (from->place & RECORD_STRIDE_STORES) != 0,
            .other = from->other,
        };
        to->follows = !to->stores && follows(r, instruction, place);
        memcpy(to->steps, from->steps, sizeof(to->steps));
        memcpy(to->counts, from->counts, sizeof(to->counts));
    }
    qsort(strides, count, sizeof(*strides), compare_strides);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && compare_strides(&strides[kept - 1], &strides[i]) == 0)
            add_stride(&strides[kept - 1], &strides[i]);
        else
            strides[kept++] = strides[i];
    }
    count = kept;
    kept = 0;
    for (size_t i = 0; i < count; i++) {
        if ((strides[i].counts[0] | strides[i].other) != 0)
            strides[kept++] = strides[i];
    }
    return kept;
}

/* Hands out why data of the process missed. */
static int
collect_reasons(const struct recorded *r)
{
    struct recorded_reason *const reasons =
        calloc(r->view.reason_count + 1u, sizeof(*reasons));
    struct recorded_stride *const strides =
        calloc(r->view.stride_count + 1u, sizeof(*strides));
    int error = TALLY_ENOMEM;

    if (reasons != NULL && strides != NULL) {
        const struct recorded_reasons out = {
            .reasons = reasons,
            .reason_count = list_reasons(r, reasons),
            .strides = strides,
            .stride_count = list_strides(r, strides),
        };
        error = r->sink->reasons_of(r->sink->user, &r->process, &out);
    }
    free(reasons);
    free(strides);
    return error;
}

/* Returns the path of a call's number, or RECORDED_UNKNOWN. */
static uint32_t
call_path(const struct recorded *r, uint32_t call)
{
    return call <= r->view.call_count ? r->call_paths[call] : RECORDED_UNKNOWN;
}

/* Orders waits by when they began. */
static int
compare_unended(const void *x, const void *y)
{
    const struct recorded_unended *a = x, *b = y;

    if (a->since != b->since)
        return a->since < b->since ? -1 : 1;
    return (a->thread > b->thread) - (a->thread < b->thread);
}

/* Lists the waits that have not ended. */
static void
list_unended(const struct recorded *r, struct recorded_unended *unended)
{
    const struct record_view *const v = &r->view;

    for (unsigned i = 0; i < v->unended_count; i++) {
        const struct record_unended *const from = &v->unended[i];
        unended[i] = (struct recorded_unended){
            .kind = (enum record_wait_kind)from->kind,
            .object = from->object,
            .word = from->word,
            .thread = from->thread,
            .holder = from->holder,
            .path = call_path(r, from->call),
            .instruction = reason_instruction(r, from->place),
            .since = from->since,
            .has_time = from->has_time != 0,
        };
    }
    qsort(unended, v->unended_count, sizeof(*unended), compare_unended);
}

/* Hands out what the threads of the process wait for. */
static int
collect_waits(const struct recorded *r, const struct counts_view *view)
{
    const struct record_view *const v = &r->view;
    struct recorded_wait *const waits =
        calloc(v->wait_count + 1u, sizeof(*waits));
    struct recorded_unended *const unended =
        calloc(v->unended_count + 1u, sizeof(*unended));

    if (waits == NULL || unended == NULL) {
        free(waits);
        free(unended);
        return TALLY_ENOMEM;
    }
    list_unended(r, unended);
    for (unsigned i = 0; i < v->wait_count; i++) {
        const struct record_wait *const from = &v->waits[i];
        waits[i] = (struct recorded_wait){
            .kind = (enum record_wait_kind)from->kind,
            .object = from->object,
            .word = from->word,
            .thread = from->thread,
            .waker = from->waker,
            .path = call_path(r, from->call),
            .instruction = reason_instruction(r, from->place),
            .waker_path = call_path(r, from->waker_call),
            .waker_instruction = reason_instruction(r, from->waker_place),
            .count = from->count,
            .time = from->time,
            .longest = from->longest,
        };
    }
    const struct recorded_waits out = {
        .waits = waits,
        .wait_count = v->wait_count,
        .begins = v->begins,
        .begin_count = v->begin_count,
        .stretches = v->stretches,
        .stretch_count = v->stretch_count,
        .unended = unended,
        .unended_count = v->unended_count,
        .stuck = view->stuck,
        .lost = v->waits_lost,
    };
    const int error = r->sink->waits_of(r->sink->user, &r->process, &out);
    free(waits);
    free(unended);
    return error;
}

/* Returns the row of a thread of the process; NULL: there is none. */
static const struct session_thread *
find_thread(const struct recorded *r)
{
    const struct session_thread *last = NULL;

    for (size_t i = 0; i < r->result->thread_count; i++) {
        const struct session_thread *t = &r->result->threads[i];
        if (t->process != r->process.number)
            continue;
        if (t->thread == r->view.thread)
            return t;
        last = t; /* threads without a row share one */
    }
    return last;
}

/* Hands out the counts of the thread whose sites were read last. */
static int
collect_thread(struct recorded *r)
{
    const struct session_thread *thread = find_thread(r);
    int error = find_paths(r);
    const size_t room = error == 0 ? count_gains(r) : 0;
    struct gain *gains = malloc((room + 1) * sizeof(*gains));
    struct gain *other = malloc((room + 1) * sizeof(*other));

    if (gains == NULL || other == NULL)
        error = TALLY_ENOMEM;
    if (error == 0 && thread != NULL) {
        const size_t count = list_gains(r, gains);
        const struct gain *sorted = sort_gains(r, gains, count, other);
        error = sorted != NULL ? value_thread(r, thread, sorted, count)
                               : TALLY_ENOMEM;
    }
    if (error == 0 && thread != NULL && r->sink->branches)
        error = collect_edges(r, thread);
    free(gains);
    free(other);
    free(r->cell_paths);
    r->cell_paths = NULL;
    return error;
}

static void
forget_process(struct recorded *r)
{
    record_view_close(&r->view);
    free(r->blocks);
    code_versions_finish(&r->versions);
    free(r->images);
    free(r->instructions);
    free(r->paths);
    free(r->path_table);
    free(r->objects);
    free(r->call_paths);
    r->objects = NULL;
    r->call_paths = NULL;
    r->paths = NULL;
    r->path_table = NULL;
    r->path_count = r->path_room = 0;
    r->blocks = NULL;
    r->images = NULL;
    r->instructions = NULL;
}

/* Makes path 0. */
static int
make_outermost(struct recorded *r)
{
    if (!grow((void **)&r->paths, 0, 1, &r->path_room, sizeof(*r->paths)))
        return TALLY_ENOMEM;
    r->paths[0] = (struct recorded_path){0, RECORDED_UNKNOWN};
    r->path_count = 1;
    return grow_table(r) ? 0 : TALLY_ENOMEM;
}

static int
collect_process(struct recorded *r, struct counts_view *view, unsigned number)
{
    const struct session_process *p = &r->result->processes[number];
    int error = record_view_open(view, &r->view);
    int more = 0;

    if (error == 0 && view->wrong == NULL)
        error = decode_all(r);
    if (error == 0 && make_outermost(r) != 0)
        error = TALLY_ENOMEM;
    if (error == 0 && view->wrong == NULL)
        error = name_objects(r);
    if (error == 0 && view->wrong == NULL) {
        r->process = (struct recorded_process){
            .process = p,
            .number = number,
            .images = r->images,
            .image_count = r->view.file_count,
            .instructions = r->instructions,
            .instruction_count = r->instruction_count,
        };
        error = r->sink->process(r->sink->user, &r->process);
    }
    while (error == 0 && view->wrong == NULL &&
           (more = record_view_next(view, &r->view, !p->ended)) > 0)
        error = collect_thread(r);
    if (error == 0 && more == 0 && view->wrong == NULL && r->sink->reasons)
        error = collect_reasons(r);
    if (error == 0 && more == 0 && view->wrong == NULL && r->sink->locks)
        error = collect_waits(r, view);
    forget_process(r);
    return error != 0 ? error : more < 0 ? more : 0;
}

static int
collect(const struct session_options *o, int fd,
        const struct session_request *request,
        const struct session_result *result, bool ended)
{
    const struct counts_rules rules = counts_rules_of(request);
    const struct recorded_sink *const sink = o->record;
    struct recorded r = {
        .options = o,
        .result = result,
        .sink = sink,
        .shape = shape_of(&isa_rows[request->isa], request->params),
        .line_shift = (unsigned)__builtin_ctzll(
            request->params[PARAM_L1I_LINE] | (uint64_t)1 << 63),
        .classes = o->curve != NULL,
        .event_count =
            o->curve != NULL ? curve_class_count(o->curve) : o->event_count,
    };
    int error = 0;

    for (size_t i = 0; o->curve == NULL && i < o->event_count; i++)
        need(r.needed, o->events[i]);
    error = sink->begin(sink->user);
    for (unsigned n = 0; error == 0 && n < result->process_count; n++) {
        struct counts_view view;
        error = counts_view_open(&view, fd, result->processes[n].place, &rules);
        if (error == 0 && view.wrong == NULL && view.state != COUNTS_FREE)
            error = collect_process(&r, &view, n);
    }
    if (error == 0)
        error = sink->end(sink->user, result, ended);
    free(r.places);
    free(r.raises);
    free(r.jumps);
    return error;
}

const struct session_recorder recorded_recorder = {ask, collect, NULL};
