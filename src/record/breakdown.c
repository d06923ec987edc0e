/* SPDX-License-Identifier: MIT */
/*
 * Each instruction gets the number of its kind once: instructions of one kind
 * count for the same places, which are what the keys tell of an instruction.
 * Counts that follow each other on one path, of one kind, are a run, which goes
 * to the row of the kind's place and the thread in one step.
 */
#include "record/breakdown.h"

#include <assert.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbering.h"
#include "record/function_files.h"
#include "record/keys.h"
#include "record/path_tree.h"

#define PLACE_WORDS 5
#define ROW_WORDS 2 /* place, then process and thread */

/* What instructions have in common whose counts go to the same rows. */
struct kind {
    uint32_t mark;   /* place * 2 + inlined */
    uint32_t copier; /* 1 + the function that the place's code was copied into,
                        where callers are among the keys; or 0: no copy */
    size_t from, to; /* of `frames` */
};

struct grouping {
    struct breakdown *b;
    struct resolver *resolver;
    struct numbering places, rows;
    struct function_files function_files;
    bool by_function, by_process, by_thread; /* a thread has a process too */
    int64_t *values;                         /* [row][event] */
    int64_t *inclusive;                      /* the same, or NULL */
    /* Of a process: */
    uint32_t *kind_of; /* [insn] index in `kinds` */
    struct keys kind_numbers;
    struct kind *kinds;
    size_t kind_room;
    uint32_t *frames; /* for inclusive cost: marks of all frames of each kind */
    size_t frame_count, frame_room;
    /* [row] what is known of the calls on a path: the number of a run of counts
     * whose path leads through the row; or how many of its calls do. */
    uint32_t *passed;
    size_t passed_room;
    bool *seen_directly; /* [row] has an instruction that is no copy */
    size_t row_room;
    /* The rows of places in the thread whose counts came last: by place, or
     * NUMBERING_NONE. */
    uint32_t *row_of;
    size_t row_of_room;
    uint64_t row_thread;
};

bool
breakdown_has(const struct breakdown *b, enum breakdown_key key)
{
    for (size_t i = 0; i < b->options.key_count; i++)
        if (b->options.keys[i] == key)
            return true;
    return false;
}

/* Returns whether a key needs more than the thread. */
static bool
is_by_instruction(const struct breakdown *b)
{
    for (size_t i = 0; i < b->options.key_count; i++)
        if (b->options.keys[i] != BREAKDOWN_THREAD &&
            b->options.keys[i] != BREAKDOWN_PROCESS)
            return true;
    return false;
}

static int64_t
wrapped_sum(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* Returns the number of the frame that is shown of an instruction. */
static size_t
frame_of(const struct breakdown *b, const struct resolved *r)
{
    return b->options.no_inline ? r->frame_count - 1 : 0;
}

/* Returns what the keys tell of an instruction as a part of one of its frames.
 * A caller and an object are not among that. */
static struct breakdown_place
place_of(struct grouping *g, const struct record_insn *insn,
         const struct resolved *r, size_t number)
{
    const struct breakdown_options *o = &g->b->options;
    const struct resolved_frame *frame = &r->frames[number];
    struct breakdown_place p = {0};

    for (size_t i = 0; i < o->key_count; i++)
        switch (o->keys[i]) {
        case BREAKDOWN_FUNCTION:
            p.image = r->image;
            p.function = frame->function;
            if (p.function != 0)
                p.function_file =
                    function_files_find(&g->function_files, r, number);
            break;
        case BREAKDOWN_LINE:
            p.line = frame->line;
            p.file = frame->file;
            p.image = p.file != 0 ? p.image : r->image;
            break;
        case BREAKDOWN_INSTRUCTION:
            p.image = r->image;
            p.offset = insn->offset;
            p.function = frame->function;
            break;
        case BREAKDOWN_FILE:
            p.file = frame->file;
            p.image = p.file != 0 ? p.image : r->image;
            break;
        case BREAKDOWN_IMAGE:
            p.image = r->image;
            break;
        default:
            break;
        }
    return p;
}

static uint32_t
number_place(struct grouping *g, const struct breakdown_place *p)
{
    const uint64_t key[PLACE_WORDS] = {
        (uint64_t)p->function << 32 | p->function_file,
        (uint64_t)p->image << 32 | p->file, (uint64_t)p->object << 32 | p->line,
        p->offset, p->caller};

    return numbering_add(&g->places, key);
}

static struct breakdown_place
numbered_place(const struct grouping *g, uint32_t number)
{
    const uint64_t *key = numbering_key(&g->places, number);

    return (struct breakdown_place){
        .function = (uint32_t)(key[0] >> 32),
        .function_file = (uint32_t)key[0],
        .image = (uint32_t)(key[1] >> 32),
        .file = (uint32_t)key[1],
        .object = (uint32_t)(key[2] >> 32),
        .line = (uint32_t)key[2],
        .offset = key[3],
        .caller = (uint32_t)key[4],
    };
}

/* Adds a frame to the list; false: no memory. */
static bool
add_frame(struct grouping *g, uint32_t mark)
{
    if (g->frame_count == g->frame_room) {
        const size_t wanted = 2 * g->frame_room + 1024;
        uint32_t *more = reallocarray(g->frames, wanted, sizeof(*more));
        if (more == NULL)
            return false;
        g->frames = more;
        g->frame_room = wanted;
    }
    g->frames[g->frame_count++] = mark;
    return true;
}

/* Lists the places that an instruction is part of, as itself and, for inclusive
 * cost, in what it is copied into, each once, as marks. */
static int
list_frames(struct grouping *g, const struct record_insn *insn,
            const struct resolved *r)
{
    const size_t first = g->frame_count;
    const size_t from = frame_of(g->b, r);
    const bool alone =
        !g->b->has_inclusive || breakdown_has(g->b, BREAKDOWN_INSTRUCTION);
    const size_t to = alone ? from + 1 : r->frame_count;

    for (size_t i = from; i < to; i++) {
        const struct breakdown_place place = place_of(g, insn, r, i);
        const uint32_t number = number_place(g, &place);
        bool known = false;
        if (number == NUMBERING_NONE)
            return TALLY_ENOMEM;
        for (size_t k = first; k < g->frame_count; k++)
            known |= g->frames[k] / 2 == number;
        if (!known && !add_frame(g, number * 2 + (i + 1 < r->frame_count)))
            return TALLY_ENOMEM;
    }
    return 0;
}

/* Makes room for a kind; false: no memory. */
static bool
make_kind(struct grouping *g, uint32_t kind)
{
    if (kind < g->kind_room)
        return true;
    const size_t wanted = 2 * (size_t)kind + 256;
    struct kind *more = reallocarray(g->kinds, wanted, sizeof(*more));
    if (more == NULL)
        return false;
    g->kinds = more;
    g->kind_room = wanted;
    return true;
}

/* Returns the kind of an instruction, which is added if it is new; KEYS_NONE:
 * no memory. */
static uint32_t
number_kind(struct grouping *g, const struct record_insn *insn,
            const struct resolved *r)
{
    const size_t first = g->frame_count, next = frame_of(g->b, r) + 1;
    struct kind kind = {.from = first};

    if (list_frames(g, insn, r) != 0)
        return KEYS_NONE;
    kind.mark = g->frames[first];
    kind.to = g->frame_count;
    if (breakdown_has(g->b, BREAKDOWN_CALLER) && next < r->frame_count)
        kind.copier = 1 + r->frames[next].function;
    if (!add_frame(g, kind.copier))
        return KEYS_NONE;
    const uint32_t before = g->kind_numbers.count;
    const uint32_t number =
        keys_add(&g->kind_numbers, g->frames + first,
                 (g->frame_count - first) * sizeof(*g->frames));
    if (number == before && make_kind(g, number)) {
        g->kinds[number] = kind;
        g->frame_count = kind.to; /* without the copier */
        return number;
    }
    g->frame_count = first;
    return number == before ? KEYS_NONE : number;
}

/* Returns whether the keys cannot tell two instructions apart, for a reason
 * that is soon found. */
static bool
is_as(const struct resolved *a, const struct resolved *b)
{
    return a->frames == b->frames && a->frame_count == b->frame_count &&
           a->image == b->image && a->function_offset == b->function_offset;
}

/* Gives each instruction of the process its kind. */
static int
number_process(struct grouping *g, size_t process)
{
    const struct record_process_row *p = &g->b->record->processes[process];
    const bool by_insn = breakdown_has(g->b, BREAKDOWN_INSTRUCTION);
    const struct resolved *last = NULL;

    free(g->kind_of);
    keys_finish(&g->kind_numbers);
    g->frame_count = 0;
    g->kind_of = calloc(p->insn_count + 1, sizeof(*g->kind_of));
    if (g->kind_of == NULL)
        return TALLY_ENOMEM;
    for (size_t i = 0; i < p->insn_count; i++) {
        const struct resolved *r = resolver_find(g->resolver, process, i);
        g->kind_of[i] = last != NULL && !by_insn && is_as(r, last)
                            ? g->kind_of[i - 1]
                            : number_kind(g, &p->insns[i], r);
        if (g->kind_of[i] == KEYS_NONE)
            return TALLY_ENOMEM;
        last = r;
    }
    return 0;
}

/* Makes room for the values of a row; false: no memory. */
static bool
make_room(struct grouping *g, uint32_t row)
{
    const size_t events = g->b->options.event_count;

    if (row < g->row_room)
        return true;
    const size_t wanted = g->row_room != 0 ? 2 * g->row_room : 256;
    int64_t *values = reallocarray(g->values, wanted * events, sizeof(*values));
    if (values == NULL)
        return false;
    g->values = values;
    if (g->b->has_inclusive) {
        int64_t *more =
            reallocarray(g->inclusive, wanted * events, sizeof(*more));
        if (more == NULL)
            return false;
        g->inclusive = more;
        memset(more + g->row_room * events, 0,
               (wanted - g->row_room) * events * sizeof(*more));
    }
    bool *seen = reallocarray(g->seen_directly, wanted, sizeof(*seen));
    if (seen == NULL)
        return false;
    g->seen_directly = seen;
    memset(values + g->row_room * events, 0,
           (wanted - g->row_room) * events * sizeof(*values));
    memset(seen + g->row_room, 0, (wanted - g->row_room) * sizeof(*seen));
    g->row_room = wanted;
    return true;
}

/* Finds the row of a place that the thread did not have yet. */
static uint32_t
new_row(struct grouping *g, uint32_t place, uint64_t thread)
{
    const uint32_t row =
        numbering_add(&g->rows, (uint64_t[ROW_WORDS]){place, thread});

    if (row == NUMBERING_NONE || !make_room(g, row))
        return NUMBERING_NONE;
    if (place >= g->row_of_room) {
        const size_t wanted = 2 * (size_t)place + 256;
        uint32_t *more = reallocarray(g->row_of, wanted, sizeof(*more));
        if (more == NULL)
            return NUMBERING_NONE;
        memset(more + g->row_of_room, 0xff,
               (wanted - g->row_of_room) * sizeof(*more));
        g->row_of = more;
        g->row_of_room = wanted;
    }
    g->row_of[place] = row;
    return row;
}

/* Returns the row of a place in a thread, with room for its values. */
static inline uint32_t
number_row(struct grouping *g, uint32_t place, unsigned process,
           unsigned thread)
{
    const uint64_t key = (uint64_t)(g->by_process ? process : 0) << 32 |
                         (g->by_thread ? thread : 0);

    static_assert(NUMBERING_NONE == UINT32_MAX, "all bytes are 0xff");
    if (key != g->row_thread && g->row_of != NULL)
        memset(g->row_of, 0xff, g->row_of_room * sizeof(*g->row_of));
    g->row_thread = key;
    if (place < g->row_of_room && g->row_of[place] != NUMBERING_NONE)
        return g->row_of[place];
    return new_row(g, place, key);
}

/* Returns the name of the frame that called code of a kind on a path, or that
 * the code was copied into. */
static uint32_t
caller_of(struct grouping *g, size_t process, uint32_t path,
          const struct kind *kind)
{
    const struct record_path *p = &g->b->record->processes[process].paths[path];

    if (kind->copier != 0)
        return kind->copier - 1;
    if (path == 0)
        return BREAKDOWN_NO_CALLER;
    if (p->call == RECORD_NO_CALL)
        return BREAKDOWN_UNKNOWN_CALLER;
    const struct resolved *call = resolver_find(g->resolver, process, p->call);
    return call->frames[frame_of(g->b, call)].function;
}

/* Returns the place of count `k`: what its instruction tells, its caller and
 * its object. */
static uint32_t
number_count(struct grouping *g, const struct record_counts_row *counts,
             size_t k)
{
    const struct kind *kind = &g->kinds[g->kind_of[counts->insns[k]]];
    struct breakdown_place place = numbered_place(g, kind->mark / 2);

    if (breakdown_has(g->b, BREAKDOWN_CALLER))
        place.caller = caller_of(g, counts->process, counts->paths[k], kind);
    if (breakdown_has(g->b, BREAKDOWN_OBJECT) && counts->objects != NULL)
        place.object = g->b->objects.of[counts->process][counts->objects[k]];
    return number_place(g, &place);
}

/* Makes room for a row in what is known of the calls on a path. */
static bool
make_passed(struct grouping *g, uint32_t row)
{
    if (row < g->passed_room)
        return true;
    const size_t wanted = 2 * (size_t)row + 64;
    uint32_t *more = reallocarray(g->passed, wanted, sizeof(*more));
    if (more == NULL)
        return false;
    memset(more + g->passed_room, 0, (wanted - g->passed_room) * sizeof(*more));
    g->passed = more;
    g->passed_room = wanted;
    return true;
}

/* A thread whose counts are added. */
struct adding {
    struct grouping *g;
    const struct record_counts_row *counts;
    struct record_walk *walks; /* [event_count]; owned */
    int64_t *values;           /* [event_count] of a run of counts; owned */
    struct path_tree tree;     /* for inclusive cost */
    uint32_t number;           /* of the run of counts of one path, from 1 on */
    bool by_more;              /* keys tell more than the instruction */
};

/* Returns the row of frame `i` of the process's frames; NUMBERING_NONE: there
 * is no memory. */
static uint32_t
row_of_frame(const struct adding *a, size_t i)
{
    struct grouping *g = a->g;
    const uint32_t mark = g->frames[i];
    const uint32_t row =
        number_row(g, mark / 2, a->counts->process, a->counts->thread);

    if (row == NUMBERING_NONE || !make_passed(g, row))
        return NUMBERING_NONE;
    g->seen_directly[row] |= mark % 2 == 0;
    return row;
}

/* Returns whether it is known which instruction called the path's function. */
static bool
has_call(const struct adding *a, uint32_t path)
{
    return path != 0 && a->tree.paths[path].call != RECORD_NO_CALL;
}

/* Returns the kind of the instruction that called the path's function. */
static const struct kind *
kind_of_call(const struct adding *a, uint32_t path)
{
    return &a->g->kinds[a->g->kind_of[a->tree.paths[path].call]];
}

/* Marks the rows that the calls of a path lead through. */
static int
pass_calls(struct adding *a, uint32_t path)
{
    struct grouping *g = a->g;

    a->number++;
    for (uint32_t p = path; p != 0; p = a->tree.paths[p].parent) {
        if (!has_call(a, p))
            continue;
        const struct kind *call = kind_of_call(a, p);
        for (size_t i = call->from; i < call->to; i++) {
            const uint32_t row = row_of_frame(a, i);
            if (row == NUMBERING_NONE)
                return TALLY_ENOMEM;
            g->passed[row] = a->number;
        }
    }
    return 0;
}

static void
add_values(int64_t *to, const int64_t *values, size_t count)
{
    for (size_t e = 0; e < count; e++)
        to[e] = wrapped_sum(to[e], values[e]);
}

/* Adds the values of a run of counts, of which `k` is one, to the row, to the
 * path, and to each row that the kind is part of and the path's calls are not.
 */
static int
add_sums(struct adding *a, uint32_t row, size_t k)
{
    struct grouping *g = a->g;
    const size_t events = g->b->options.event_count;
    const struct kind *kind = &g->kinds[g->kind_of[a->counts->insns[k]]];
    const uint32_t path = a->counts->paths[k];

    add_values(g->values + row * events, a->values, events);
    if (g->b->has_inclusive) {
        add_values(a->tree.sums + path * events, a->values, events);
        a->tree.counted[path] = true;
        for (size_t i = kind->from; i < kind->to; i++) {
            const uint32_t its = row_of_frame(a, i);
            if (its == NUMBERING_NONE)
                return TALLY_ENOMEM;
            if (g->passed[its] != a->number)
                add_values(g->inclusive + its * events, a->values, events);
        }
    }
    return 0;
}

/* Returns the row of count `k`. */
static uint32_t
row_of_count(struct adding *a, size_t k)
{
    struct grouping *g = a->g;
    const uint32_t mark = g->kinds[g->kind_of[a->counts->insns[k]]].mark;
    const uint32_t place =
        a->by_more ? number_count(g, a->counts, k) : mark / 2;
    const uint32_t row =
        place != NUMBERING_NONE
            ? number_row(g, place, a->counts->process, a->counts->thread)
            : NUMBERING_NONE;

    if (row != NUMBERING_NONE)
        g->seen_directly[row] |= mark % 2 == 0;
    return row;
}

/* Returns the first count behind `k` that is of another kind, path or object.
 */
static size_t
run_end(const struct adding *a, size_t k)
{
    const struct record_counts_row *const counts = a->counts;
    const uint32_t *const kind_of = a->g->kind_of;
    const uint32_t kind = kind_of[counts->insns[k]], path = counts->paths[k];
    size_t end = k + 1;

    while (
        end < counts->count && counts->paths[end] == path &&
        kind_of[counts->insns[end]] == kind &&
        (counts->objects == NULL || counts->objects[end] == counts->objects[k]))
        end++;
    return end;
}

/* Adds each of a thread's counts to the row of its instruction. */
static int
add_rows(struct adding *a)
{
    const struct record_counts_row *counts = a->counts;
    const size_t events = a->g->b->options.event_count;
    const bool inclusive = a->g->b->has_inclusive;
    size_t k = 0, end;
    int error = 0;

    if (counts->count == 0)
        return 0;
    uint32_t row = row_of_count(a, 0);
    if (row != NUMBERING_NONE && inclusive)
        error = pass_calls(a, counts->paths[0]);
    for (; error == 0 && k < counts->count; k = end) {
        end = run_end(a, k);
        for (size_t e = 0; e < events; e++)
            a->values[e] = record_walk_sum(&a->walks[e], k, end);
        /* A row gets its number, which is its place among equal rows, before
         * the rows that the run before is a part of. */
        const uint32_t next =
            end < counts->count ? row_of_count(a, end) : NUMBERING_NONE;
        if (row == NUMBERING_NONE)
            return TALLY_ENOMEM;
        error = add_sums(a, row, k);
        if (error == 0 && inclusive && end < counts->count &&
            counts->paths[end] != counts->paths[k])
            error = pass_calls(a, counts->paths[end]);
        row = next;
    }
    return error;
}

/* Adds a path, with those that go on from it, to the rows of its call, unless a
 * call before leads through them. */
static int
enter_path(void *user, uint32_t path)
{
    const struct adding *a = user;
    struct grouping *g = a->g;
    const size_t events = a->tree.event_count;

    if (!has_call(a, path))
        return 0;
    const struct kind *call = kind_of_call(a, path);
    for (size_t i = call->from; i < call->to; i++) {
        const uint32_t row = row_of_frame(a, i);
        if (row == NUMBERING_NONE)
            return TALLY_ENOMEM;
        if (g->passed[row]++ == 0)
            add_values(g->inclusive + row * events,
                       a->tree.sums + path * events, events);
    }
    return 0;
}

static void
leave_path(void *user, uint32_t path)
{
    const struct adding *a = user;
    struct grouping *g = a->g;

    if (!has_call(a, path))
        return;
    const struct kind *call = kind_of_call(a, path);
    for (size_t i = call->from; i < call->to; i++)
        g->passed[row_of_frame(a, i)]--;
}

static void
clear_passed(struct grouping *g)
{
    if (g->passed != NULL)
        memset(g->passed, 0, g->passed_room * sizeof(*g->passed));
}

/* Adds the counts of a thread. */
static int
add_counts(struct grouping *g, const struct record_counts_row *counts)
{
    const struct breakdown_options *o = &g->b->options;
    struct adding a = {
        .g = g,
        .counts = counts,
        .walks = calloc(o->event_count, sizeof(*a.walks)),
        .values = calloc(o->event_count, sizeof(*a.values)),
        .by_more = breakdown_has(g->b, BREAKDOWN_CALLER) ||
                   breakdown_has(g->b, BREAKDOWN_OBJECT),
    };
    int error = a.walks != NULL && a.values != NULL ? 0 : TALLY_ENOMEM;

    for (size_t e = 0; error == 0 && e < o->event_count; e++)
        record_walk_begin(&a.walks[e], counts, o->events[e]);
    if (error == 0 && g->b->has_inclusive)
        error = path_tree_create(&g->b->record->processes[counts->process],
                                 o->event_count, &a.tree);
    clear_passed(g);
    if (error == 0)
        error = add_rows(&a);
    if (error == 0 && g->b->has_inclusive) {
        clear_passed(g);
        path_tree_link(&a.tree);
        error = path_tree_walk(&a.tree, enter_path, leave_path, &a);
    }
    path_tree_finish(&a.tree);
    free(a.walks);
    free(a.values);
    return error;
}

/* Returns whether rows are objects alone, with all their accesses. */
static bool
has_object_rows(const struct breakdown *b)
{
    return b->record->has_uses && b->options.key_count == 1 &&
           breakdown_has(b, BREAKDOWN_OBJECT);
}

/* Returns whether a place is an object that was used. */
static bool
is_used_object(const struct breakdown *b, uint32_t place,
               const struct grouping *g)
{
    if (!has_object_rows(b))
        return false;
    const uint32_t object = numbered_place(g, place).object;
    const struct record_used *used = &b->objects.rows[object].used;
    return (used->loads | used->stores) != 0;
}

/* Adds a row for each object: one that no event has may be used. */
static int
add_objects(struct grouping *g)
{
    const struct breakdown *b = g->b;

    for (size_t i = 1; has_object_rows(b) && i < b->objects.count; i++) {
        const struct breakdown_place place = {.object = (uint32_t)i};
        const uint32_t number = number_place(g, &place);
        const uint32_t row = number != NUMBERING_NONE
                                 ? number_row(g, number, 0, 0)
                                 : NUMBERING_NONE;
        if (row == NUMBERING_NONE)
            return TALLY_ENOMEM;
        g->seen_directly[row] = true;
    }
    return 0;
}

static int
add_instructions(struct grouping *g)
{
    const struct record *record = g->b->record;

    for (size_t p = 0; p < record->process_count; p++) {
        int error = number_process(g, p);
        for (size_t i = 0; error == 0 && i < record->counts_count; i++) {
            const struct record_counts_row *counts = &record->counts[i];
            if (counts->process != p)
                continue;
            error = add_counts(g, counts);
        }
        if (error != 0)
            return error;
    }
    return add_objects(g);
}

/* Adds the totals of each thread, which need no instruction. */
static int
add_threads(struct grouping *g)
{
    const struct breakdown_options *o = &g->b->options;
    const struct record *record = g->b->record;

    for (size_t i = 0; i < record->thread_count; i++) {
        const struct record_thread_row *t = &record->threads[i];
        if (t->process >= record->process_count)
            continue;
        const uint32_t row = number_row(g, 0, t->process, t->thread);
        if (row == NUMBERING_NONE)
            return TALLY_ENOMEM;
        g->seen_directly[row] = true;
        for (size_t e = 0; e < o->event_count; e++) {
            int64_t *to = &g->values[row * o->event_count + e];
            *to = wrapped_sum(*to, t->totals[o->events[e]]);
        }
    }
    return 0;
}

static bool
is_zero(const struct breakdown *b, const int64_t *values)
{
    for (size_t e = 0; e < b->options.event_count; e++)
        if (values[e] != 0)
            return false;
    return true;
}

/* Hands the rows over to the breakdown, in the order in which they came. */
static int
take_rows(struct grouping *g)
{
    struct breakdown *b = g->b;
    const size_t events = b->options.event_count;
    const bool by_instruction = is_by_instruction(b);

    b->values = g->values;
    b->inclusive = g->inclusive;
    g->values = g->inclusive = NULL;
    b->rows = calloc(g->rows.count + 1, sizeof(*b->rows));
    if (b->rows == NULL)
        return TALLY_ENOMEM;
    for (uint32_t i = 0; i < g->rows.count; i++) {
        const uint64_t *key = numbering_key(&g->rows, i);
        int64_t *values = b->values + i * events;
        int64_t *inclusive =
            b->inclusive != NULL ? b->inclusive + i * events : NULL;
        if (is_zero(b, values) &&
            (inclusive == NULL || is_zero(b, inclusive)) &&
            !is_used_object(b, (uint32_t)key[0], g))
            continue;
        struct breakdown_row *row = &b->rows[b->row_count++];
        *row = (struct breakdown_row){
            .process = (uint32_t)(key[1] >> 32),
            .thread = (uint32_t)key[1],
            .inlined = !g->seen_directly[i],
            .values = values,
            .inclusive = inclusive,
        };
        if (by_instruction)
            row->place = numbered_place(g, (uint32_t)key[0]);
    }
    return 0;
}

static void
find_elsewhere(struct breakdown *b)
{
    for (size_t e = 0; e < b->options.event_count; e++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < b->row_count; i++)
            sum += (uint64_t)b->rows[i].values[e];
        b->totals[e] = record_total(b->record, b->options.events[e]);
        b->elsewhere[e] = (int64_t)((uint64_t)b->totals[e] - sum);
    }
}

/* Notes the rows that have the same function and image, and perhaps the same
 * thread, as another row of another file. */
static int
find_ambiguous(struct breakdown *b)
{
    struct numbering functions;
    int error = TALLY_ENOMEM;
    uint32_t *files = calloc(b->row_count + 1, sizeof(*files));
    bool *several = calloc(b->row_count + 1, sizeof(*several));
    uint32_t *numbers = calloc(b->row_count + 1, sizeof(*numbers));

    numbering_init(&functions, 1);
    if (files == NULL || several == NULL || numbers == NULL)
        goto out;
    for (size_t i = 0; i < b->row_count; i++) {
        const struct breakdown_place *p = &b->rows[i].place;
        const uint64_t key = (uint64_t)p->function << 32 | p->image;
        const size_t before = functions.count;
        const uint32_t number = numbering_add(&functions, &key);
        if (number == NUMBERING_NONE)
            goto out;
        numbers[i] = number;
        if (number == before)
            files[number] = p->function_file;
        several[number] |= files[number] != p->function_file;
    }
    for (size_t i = 0; i < b->row_count; i++)
        b->rows[i].ambiguous = several[numbers[i]];
    error = 0;
out:
    numbering_finish(&functions);
    free(files);
    free(several);
    free(numbers);
    return error;
}

/* Returns the value that a row is sorted by. */
static int64_t
sort_value(const struct breakdown *b, const struct breakdown_row *row)
{
    const bool inclusive = b->options.by_inclusive && row->inclusive != NULL;

    return (inclusive ? row->inclusive : row->values)[b->options.sort];
}

/* What a row is sorted by. */
struct order {
    int64_t value;
    char *name; /* or NULL: by value */
    size_t row;
};

static int
compare(const void *first, const void *second)
{
    const struct order *a = first, *b = second;
    const int names = a->name != NULL ? strcmp(a->name, b->name) : 0;

    if (names != 0)
        return names;
    if (a->name == NULL && a->value != b->value)
        return a->value < b->value ? 1 : -1;
    return (a->row > b->row) - (a->row < b->row);
}

char *
breakdown_join(char *joined, char *name)
{
    char *more = NULL;

    /* A sign before all others keeps "a" with "z" before "ab". */
    if (joined == NULL || name == NULL ||
        asprintf(&more, "%s%s\x01", joined, name) < 0)
        more = NULL;
    free(name);
    free(joined);
    return more;
}

/* Returns the names of a row by all keys, joined. */
static char *
joined_name(const struct breakdown *b, const struct breakdown_row *row)
{
    char *joined = strdup("");

    for (size_t i = 0; joined != NULL && i < b->options.key_count; i++) {
        char *name = breakdown_name(b, row, b->options.keys[i]);
        joined = breakdown_join(joined, name);
    }
    return joined;
}

/* Lets the largest of a heap of orders that may be at `at` sink to its place.
 */
static void
sink(struct order *heap, size_t count, size_t at)
{
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= count)
            return;
        if (child + 1 < count && compare(&heap[child], &heap[child + 1]) < 0)
            child++;
        if (compare(&heap[at], &heap[child]) >= 0)
            return;
        const struct order moved = heap[at];
        heap[at] = heap[child];
        heap[child] = moved;
        at = child;
    }
}

/* Sorts the first `top` of the orders, which come in front of the others: a
 * heap has the first ones so far, the last of them on its top. */
static void
sort_first(struct order *orders, size_t count, size_t top)
{
    for (size_t i = top / 2; top < count && i > 0; i--)
        sink(orders, top, i - 1);
    for (size_t i = top; i < count; i++) {
        if (compare(&orders[i], &orders[0]) >= 0)
            continue;
        const struct order moved = orders[0];
        orders[0] = orders[i];
        orders[i] = moved;
        sink(orders, top, 0);
    }
    qsort(orders, top, sizeof(*orders), compare);
}

/* Adds a row to those that are not shown. */
static void
drop_row(struct breakdown *b, const struct breakdown_row *row)
{
    b->more_count++;
    for (size_t e = 0; e < b->options.event_count; e++)
        b->more[e] = wrapped_sum(b->more[e], row->values[e]);
}

/* Sorts the rows; only the first ones stay where a number is asked for. */
static int
sort_rows(struct breakdown *b)
{
    const struct breakdown_options *o = &b->options;
    const size_t count = b->row_count;
    const size_t kept = o->top != 0 && o->top < count ? o->top : count;
    struct order *orders = calloc(count + 1, sizeof(*orders));
    struct breakdown_row *sorted = calloc(kept + 1, sizeof(*sorted));
    int error = orders != NULL && sorted != NULL ? 0 : TALLY_ENOMEM;

    for (size_t i = 0; error == 0 && i < count; i++) {
        orders[i].row = i;
        orders[i].value = sort_value(b, &b->rows[i]);
        if (!o->sort_by_name)
            continue;
        orders[i].name = joined_name(b, &b->rows[i]);
        if (orders[i].name == NULL)
            error = TALLY_ENOMEM;
    }
    if (error == 0) {
        sort_first(orders, count, kept);
        for (size_t i = 0; i < kept; i++)
            sorted[i] = b->rows[orders[i].row];
        for (size_t i = kept; i < count; i++)
            drop_row(b, &b->rows[orders[i].row]);
        free(b->rows);
        b->rows = sorted;
        b->row_count = kept;
        sorted = NULL;
    }
    for (size_t i = 0; orders != NULL && i < count; i++)
        free(orders[i].name);
    free(orders);
    free(sorted);
    return error;
}

int
breakdown_row_matches(const struct breakdown *b,
                      const struct breakdown_row *row, const char *match)
{
    int found = match == NULL;

    for (size_t i = 0; found == 0 && i < b->options.key_count; i++) {
        char *name = breakdown_name(b, row, b->options.keys[i]);
        if (name == NULL)
            return -1;
        found = strstr(name, match) != NULL ||
                (strpbrk(match, "*?[") != NULL && fnmatch(match, name, 0) == 0);
        free(name);
    }
    return found;
}

/* Returns whether the row has the asked part of the total; of a total that has
 * no parts every row has. */
static bool
is_large(const struct breakdown *b, const struct breakdown_row *row)
{
    const double percent =
        breakdown_percent(b, b->options.sort, sort_value(b, row));

    return isnan(percent) || fabs(percent) >= b->options.min;
}

/* Leaves the rows that match and are large, in their order, and adds up the
 * others. */
static int
select_rows(struct breakdown *b)
{
    size_t kept = 0;

    for (size_t i = 0; i < b->row_count; i++) {
        const struct breakdown_row row = b->rows[i];
        const int matches = breakdown_row_matches(b, &row, b->options.match);
        if (matches < 0)
            return TALLY_ENOMEM;
        if (matches && is_large(b, &row))
            b->rows[kept++] = row;
        else
            drop_row(b, &row);
    }
    b->row_count = kept;
    return 0;
}

static int
count_images(struct breakdown *b)
{
    struct numbering images;
    int error = 0;

    numbering_init(&images, 1);
    for (size_t i = 0; i < b->row_count && error == 0; i++) {
        const uint64_t image = b->rows[i].place.image;
        if (numbering_add(&images, &image) == NUMBERING_NONE)
            error = TALLY_ENOMEM;
    }
    b->image_count = images.count;
    numbering_finish(&images);
    return error;
}

/* Groups, and leaves the rows in the breakdown. */
static int
group(struct breakdown *b, struct resolver *resolver)
{
    struct grouping g = {
        .b = b,
        .resolver = resolver,
        .by_function = breakdown_has(b, BREAKDOWN_FUNCTION),
        .by_thread = breakdown_has(b, BREAKDOWN_THREAD),
    };
    int error;

    b->has_inclusive = b->record->has_callers && is_by_instruction(b) &&
                       !breakdown_has(b, BREAKDOWN_CALLER) &&
                       !breakdown_has(b, BREAKDOWN_OBJECT);
    g.by_process = g.by_thread || breakdown_has(b, BREAKDOWN_PROCESS);
    numbering_init(&g.places, PLACE_WORDS);
    numbering_init(&g.rows, ROW_WORDS);
    function_files_init(&g.function_files);
    if (!is_by_instruction(b) && b->record->threads != NULL) {
        error = add_threads(&g);
    } else {
        error = g.by_function ? function_files_note(&g.function_files,
                                                    b->record, resolver)
                              : 0;
        if (error == 0)
            error = add_instructions(&g);
    }
    if (error == 0)
        error = take_rows(&g);
    numbering_finish(&g.places);
    numbering_finish(&g.rows);
    function_files_finish(&g.function_files);
    free(g.values);
    free(g.seen_directly);
    free(g.inclusive);
    free(g.kind_of);
    free(g.kinds);
    keys_finish(&g.kind_numbers);
    free(g.frames);
    free(g.passed);
    free(g.row_of);
    return error;
}

static int
fill(struct breakdown *b, struct resolver *resolver)
{
    const struct breakdown_options *o = &b->options;

    b->event_copies = calloc(o->event_count, sizeof(*b->event_copies));
    b->more = calloc(o->event_count, sizeof(*b->more));
    b->elsewhere = calloc(o->event_count, sizeof(*b->elsewhere));
    b->totals = calloc(o->event_count, sizeof(*b->totals));
    if (b->event_copies == NULL || b->more == NULL || b->elsewhere == NULL ||
        b->totals == NULL)
        return TALLY_ENOMEM;
    memcpy(b->event_copies, o->events,
           o->event_count * sizeof(*b->event_copies));
    b->options.events = b->event_copies;
    int error = breakdown_has(b, BREAKDOWN_OBJECT)
                    ? object_names_create(b->record, resolver, &b->objects)
                    : 0;
    if (error == 0)
        error = group(b, resolver);
    if (error != 0)
        return error;
    find_elsewhere(b);
    if (breakdown_has(b, BREAKDOWN_FUNCTION))
        error = find_ambiguous(b);
    if (error == 0)
        error = select_rows(b);
    if (error == 0)
        error = sort_rows(b);
    return error == 0 ? count_images(b) : error;
}

int
breakdown_create(const struct record *record, struct resolver *resolver,
                 const struct breakdown_options *options,
                 const struct tally_log *log, struct breakdown **result)
{
    struct breakdown *b = calloc(1, sizeof(*b));
    int error = TALLY_ENOMEM;

    if (b != NULL) {
        b->record = record;
        b->resolver = resolver;
        b->options = *options;
        error = fill(b, resolver);
    }
    if (error != 0) {
        breakdown_destroy(b);
        return tally_fail(log, error, "%s: no memory for the report",
                          record->path);
    }
    *result = b;
    return 0;
}

void
breakdown_destroy(struct breakdown *b)
{
    if (b == NULL)
        return;
    free(b->rows);
    free(b->values);
    free(b->inclusive);
    free(b->more);
    free(b->elsewhere);
    free(b->totals);
    free(b->event_copies);
    object_names_finish(&b->objects);
    free(b);
}

double
breakdown_percent(const struct breakdown *b, size_t event, int64_t value)
{
    const int64_t total = b->totals[event];

    return total > 0 ? 100 * (double)value / (double)total : (double)NAN;
}
