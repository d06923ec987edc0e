/* SPDX-License-Identifier: MIT */
#include "profile/recorded.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "machine/shape.h"
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
};

/* An instruction of some block, and what it is in the process. */
struct place {
    uint64_t address;
    uint32_t image, code; /* offset of its bytes */
    uint32_t number;      /* of the instruction in the process */
    uint8_t size;
};

/* What an instruction has raised of a signal. */
struct gain {
    uint32_t instruction;
    uint16_t signal;
    int64_t count;
};

/* The state of a collection. */
struct recorded {
    const struct session_options *options;
    const struct session_result *result;
    const struct recorded_sink *sink;
    struct block_shape shape;
    unsigned line_shift; /* of the L1I */
    bool needed[SIGNAL_COUNT];
    /* Of the process that is collected; owned: */
    struct record_view view;
    struct decoded *blocks; /* [view.place_count + 1] */
    struct place *places;
    size_t place_count, place_room;
    struct raise *raises;
    size_t raise_count, raise_room;
    struct recorded_instruction *instructions;
    size_t instruction_count;
    struct recorded_image *images;
    struct recorded_process process;
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

/* Returns whether the signal is recorded by block, not by the recorder. */
static bool
is_of_branch(unsigned signal)
{
    return signal == SIGNAL_CONDITIONAL_TAKEN ||
           signal == SIGNAL_NOT_TAKEN_MISPREDICTS ||
           signal == SIGNAL_TAKEN_MISPREDICTS;
}

/* Fills in the signals that the session must record for its events. */
static void
ask(const struct session_options *o, struct session_request *request)
{
    bool needed[SIGNAL_COUNT] = {false};

    for (size_t i = 0; i < o->event_count; i++)
        need(needed, o->events[i]);
    request->records = 1;
    for (unsigned s = SIGNAL_FIXED_COUNT; s < SIGNAL_COUNT; s++) {
        /* A derived signal may be its own source: what the model raised. */
        const struct signal_row *row = &tally_signals[s];
        bool raised = row->source_count == 0;
        for (size_t k = 0; k < row->source_count; k++)
            raised |= row->sources[k] == s;
        if (needed[s] && raised && !is_of_branch(s))
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

/* Decodes the instructions of a block; returns how many. */
static size_t
decode(const struct recorded *r, const struct record_place *p,
       struct insn *insns, struct place *places)
{
    const uint8_t *sizes = r->view.code + p->code;
    const uint8_t *bytes = sizes + p->instructions;
    uint64_t address = p->pc;

    for (size_t i = 0; i < p->instructions; i++) {
        insn_decode(r->shape.isa, bytes, sizes[i], address, &insns[i]);
        insns[i].size = sizes[i]; /* as QEMU has it */
        places[i] = (struct place){
            .address = address,
            .image = p->image,
            .code = (uint32_t)(bytes - r->view.code),
            .size = sizes[i],
        };
        bytes += sizes[i];
        address += sizes[i];
    }
    return p->instructions;
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
    const size_t count = decode(r, p, insns, r->places + first);
    r->place_count += count;
    const size_t n =
        block_build(&r->shape, p->pc, insns, count, &model, pieces);
    block->branch = (uint16_t)(count - 1);
    if (count > 1 && model.branch_pc == r->places[first + count - 2].address)
        block->branch = (uint16_t)(count - 2);
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
    return memcmp(bytes + x->code, bytes + y->code, x->size);
}

/* Numbers the instructions of the process: those with the same address and code
 * are one. */
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
            r->instructions[r->instruction_count++] =
                (struct recorded_instruction){
                    .address = p->address,
                    .code = r->view.code + p->code,
                    .image = p->image,
                    .size = p->size,
                };
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

    r->place_count = r->raise_count = 0;
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

/* Returns how many gains the sites of a thread come to, at most. */
static size_t
count_gains(const struct recorded *r)
{
    size_t count = 0;

    for (size_t i = 0; i < r->view.site_count; i++) {
        const uint64_t key = r->view.sites[i].key;
        const uint32_t b = (uint32_t)(key >> 32) - 1;
        count += (uint16_t)key == RECORD_EXECUTIONS
                     ? r->blocks[b + 1].raises - r->blocks[b].raises
                     : 1;
    }
    return count;
}

/* Writes the gains of a thread, in the order of its sites; returns how many. */
static size_t
list_gains(const struct recorded *r, struct gain *gains)
{
    size_t count = 0;

    for (size_t i = 0; i < r->view.site_count; i++) {
        const struct record_site *site = &r->view.sites[i];
        const uint32_t b = (uint32_t)(site->key >> 32) - 1;
        const struct record_place *p = &r->view.places[b];
        const unsigned signal = (uint16_t)site->key;
        const int64_t n = (int64_t)site->count;
        if (p->instructions == 0 || p->instructions > INSNS_MOST)
            continue;
        if (signal != RECORD_EXECUTIONS) {
            const size_t at =
                index_of(r, p, &r->blocks[b], (uint16_t)(site->key >> 16));
            gains[count++] = (struct gain){
                r->places[r->blocks[b].first + at].number, (uint16_t)signal, n};
            continue;
        }
        for (size_t k = r->blocks[b].raises; k < r->blocks[b + 1].raises; k++)
            gains[count++] =
                (struct gain){r->raises[k].instruction, r->raises[k].signal,
                              n * r->raises[k].times};
    }
    return count;
}

/* Sorts gains by instruction into `sorted`; starts[i] is the first gain of
 * instruction i. */
static void
sort_gains(const struct recorded *r, const struct gain *gains, size_t count,
           struct gain *sorted, size_t *starts)
{
    memset(starts, 0, (r->instruction_count + 2) * sizeof(*starts));
    for (size_t i = 0; i < count; i++)
        starts[gains[i].instruction + 2]++;
    for (size_t i = 2; i < r->instruction_count + 2; i++)
        starts[i] += starts[i - 1];
    for (size_t i = 0; i < count; i++)
        sorted[starts[gains[i].instruction + 1]++] = gains[i];
}

/* Adds up the values of each instruction of a thread, and hands them out. */
static int
value_thread(const struct recorded *r, const struct session_thread *thread,
             const struct gain *gains, const size_t *starts)
{
    const struct session_options *o = r->options;
    double *sums = calloc(o->event_count + 1, sizeof(*sums));
    uint32_t *instructions =
        malloc((r->instruction_count + 1) * sizeof(*instructions));
    int64_t *values =
        malloc((r->instruction_count * o->event_count + 1) * sizeof(*values));
    struct recorded_thread out = {thread, 0, instructions, values};
    int error = sums && instructions && values ? 0 : TALLY_ENOMEM;

    for (size_t i = 0; error == 0 && i < r->instruction_count; i++) {
        double part[SIGNAL_COUNT] = {0};
        bool any = false;
        if (starts[i] == starts[i + 1])
            continue;
        for (size_t k = starts[i]; k < starts[i + 1]; k++)
            part[gains[k].signal] += (double)gains[k].count;
        signals_derive_part(o->params, r->result->components,
                            thread->totals.signal, part);
        for (size_t e = 0; e < o->event_count; e++) {
            const struct event_row *event = o->events[e];
            const double before = sums[e];
            for (size_t s = 0; s < event->signal_count; s++)
                sums[e] += part[event->signals[s]];
            const int64_t value = llround(sums[e]) - llround(before);
            values[out.count * o->event_count + e] = value;
            any |= value != 0;
        }
        if (any)
            instructions[out.count++] = (uint32_t)i;
    }
    if (error == 0)
        error = r->sink->thread(r->sink->user, &r->process, &out);
    free(sums);
    free(instructions);
    free(values);
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
collect_thread(const struct recorded *r)
{
    const struct session_thread *thread = find_thread(r);
    const size_t room = count_gains(r);
    struct gain *gains = malloc((room + 1) * sizeof(*gains));
    struct gain *sorted = malloc((room + 1) * sizeof(*sorted));
    size_t *starts = malloc((r->instruction_count + 2) * sizeof(*starts));
    int error = gains && sorted && starts ? 0 : TALLY_ENOMEM;

    if (error == 0 && thread != NULL) {
        const size_t count = list_gains(r, gains);
        sort_gains(r, gains, count, sorted, starts);
        error = value_thread(r, thread, sorted, starts);
    }
    free(gains);
    free(sorted);
    free(starts);
    return error;
}

static void
forget_process(struct recorded *r)
{
    record_view_close(&r->view);
    free(r->blocks);
    free(r->images);
    free(r->instructions);
    r->blocks = NULL;
    r->images = NULL;
    r->instructions = NULL;
}

static int
collect_process(struct recorded *r, struct counts_view *view, unsigned number)
{
    const struct session_process *p = &r->result->processes[number];
    int error = record_view_open(view, &r->view);
    int more = 0;

    if (error == 0 && view->wrong == NULL)
        error = decode_all(r);
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
    };
    int error = 0;

    for (size_t i = 0; i < o->event_count; i++)
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
    return error;
}

const struct session_recorder recorded_recorder = {ask, collect};
