/* SPDX-License-Identifier: MIT */
#include "record/members.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/numbering.h"

#define MISSES_LEAST 64u  /* of an object whose type is asked for */
#define KNOWN_PART 4u     /* at least one of so many misses tells a type, */
#define TYPES_MOST 64u    /* more of one object do not agree */
#define AGREE_PERCENT 95u /* and this part of those tells the same */

/* What a thread misses of an object at an instruction. */
struct touch {
    uint64_t counts[MEMORY_COUNTS];
    struct pointer_target target;
};

struct finding_out {
    struct memory *m;
    struct pointers *pointers;
    struct numbering numbers; /* of touches: process and thread, object and
                                 instruction */
    struct touch *touches;
    size_t room;
};

/* Makes room for a touch. */
static struct touch *
touch_at(struct finding_out *f, uint32_t number)
{
    if (number >= f->room) {
        const size_t room = 2 * (size_t)number + 256;
        struct touch *const more =
            reallocarray(f->touches, room, sizeof(*more));
        if (more == NULL)
            return NULL;
        memset(more + f->room, 0, (room - f->room) * sizeof(*more));
        f->touches = more;
        f->room = room;
    }
    return &f->touches[number];
}

/* Returns whether the data of an object may be structures. */
static bool
may_have_type(const struct object_name *name)
{
    return name->kind == RECORD_HEAP || name->kind == RECORD_VARIABLE ||
           name->kind == RECORD_STACK;
}

/* Adds the values of an event of a thread. */
static int
add_event(struct finding_out *f, const struct record_counts_row *counts,
          unsigned event)
{
    const struct object_names *const names = &f->m->by_object->objects;
    struct record_walk walk;
    size_t row;
    int64_t value;

    record_walk_begin(&walk, counts, f->m->events[event]);
    while (record_walk_next(&walk, &row, &value)) {
        const uint32_t object =
            names->of[counts->process][counts->objects[row]];
        if (!may_have_type(&names->rows[object]))
            continue;
        const uint32_t number = numbering_add(
            &f->numbers,
            (uint64_t[]){(uint64_t)counts->process << 32 | counts->thread,
                         (uint64_t)object << 32 | counts->insns[row]});
        struct touch *const touch =
            number != NUMBERING_NONE ? touch_at(f, number) : NULL;
        if (touch == NULL)
            return TALLY_ENOMEM;
        touch->counts[memory_event_count(event)] += (uint64_t)value;
    }
    return 0;
}

static int
take_touches(struct finding_out *f)
{
    const struct record *const record = f->m->record;

    for (size_t i = 0; i < record->counts_count; i++) {
        if (record->counts[i].objects == NULL)
            continue;
        for (unsigned e = 0; e < MEMORY_EVENT_COUNT; e++) {
            const enum memory_count count = memory_event_count(e);
            if (count == MEMORY_LOADS || count == MEMORY_STORES)
                continue;
            const int error = add_event(f, &record->counts[i], e);
            if (error != 0)
                return error;
        }
    }
    return 0;
}

static uint32_t
object_of(const struct finding_out *f, uint32_t number)
{
    return (uint32_t)(numbering_key(&f->numbers, number)[1] >> 32);
}

/* The order in which touches ask for what instructions point to: functions are
 * followed one after the other. */
struct asked {
    uint64_t process, insn;
    uint32_t number;
};

static int
compare_asked(const void *x, const void *y)
{
    const struct asked *a = x, *b = y;

    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->insn != b->insn)
        return a->insn < b->insn ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/* Finds what the instruction of each touch asks for. */
static int
find_targets(struct finding_out *f)
{
    const uint32_t count = (uint32_t)f->numbers.count;
    struct asked *const asked = calloc((size_t)count + 1, sizeof(*asked));
    uint32_t wanted = 0;

    if (asked == NULL)
        return TALLY_ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t *const key = numbering_key(&f->numbers, i);
        const struct memory_object *const o = &f->m->objects[object_of(f, i)];
        if (memory_misses(f->touches[i].counts) != 0 &&
            memory_misses(o->counts) >= MISSES_LEAST)
            asked[wanted++] = (struct asked){key[0] >> 32, (uint32_t)key[1], i};
    }
    if (wanted > 0)
        qsort(asked, wanted, sizeof(*asked), compare_asked);
    for (uint32_t i = 0; i < wanted; i++) {
        const bool again = i > 0 && asked[i - 1].process == asked[i].process &&
                           asked[i - 1].insn == asked[i].insn;
        f->touches[asked[i].number].target =
            again ? f->touches[asked[i - 1].number].target
                  : *pointers_find(f->pointers, (size_t)asked[i].process,
                                   (uint32_t)asked[i].insn);
    }
    free(asked);
    return 0;
}

/* Types of objects */

/* Returns whether a type is another or has that as a member. */
static bool
has_type(const struct finding_out *f, const struct name_type *type,
         const struct name_type *other)
{
    return type == other ||
           (f->m->names != NULL && names_has(f->m->names, type, other));
}

/* Returns whether a variable can have a whole number of a type. */
static bool
fits_variable(const struct memory *m, uint32_t object,
              const struct name_type *type)
{
    const struct object_names *const names = &m->by_object->objects;

    for (size_t p = 0; p < m->record->process_count; p++) {
        const struct record_process_row *const row = &m->record->processes[p];
        for (size_t i = 0; i < row->object_count; i++) {
            if (names->of[p][i + 1] == object &&
                (row->objects[i].size < type->size ||
                 row->objects[i].size % type->size != 0))
                return false;
        }
    }
    return true;
}

/* Returns whether data of an object's size can be of a type. The size of each
 * block is not recorded: where the mean is a whole number the blocks are taken
 * to be of that size, else their sum is looked at. */
static bool
fits(const struct memory *m, uint32_t object, const struct name_type *type)
{
    const struct memory_object *const o = &m->objects[object];
    const uint64_t bytes = o->name->bytes, blocks = o->name->allocations;

    if (o->name->kind == RECORD_VARIABLE)
        return fits_variable(m, object, type);
    if (o->name->kind != RECORD_HEAP)
        return true;
    if (blocks == 0 || bytes % type->size != 0 || bytes / blocks < type->size)
        return false;
    return bytes % blocks != 0 || bytes / blocks % type->size == 0;
}

/* A type that instructions tell of an object. */
struct vote {
    uint32_t object;
    const struct name_type *type;
    uint64_t misses;
};

static int
compare_votes(const void *x, const void *y)
{
    const struct vote *a = x, *b = y;

    if (a->object != b->object)
        return a->object < b->object ? -1 : 1;
    return ((uintptr_t)a->type > (uintptr_t)b->type) -
           ((uintptr_t)a->type < (uintptr_t)b->type);
}

/* Gives an object the type that most of its votes tell. */
static void
elect(const struct finding_out *f, const struct vote *votes, size_t count)
{
    struct memory_object *const o = &f->m->objects[votes[0].object];
    const uint64_t all = memory_misses(o->counts);
    uint64_t known = 0, most = 0;
    const struct name_type *type = NULL;

    if (count > TYPES_MOST)
        return;
    for (size_t i = 0; i < count; i++)
        known += votes[i].misses;
    for (size_t i = 0; i < count; i++) {
        uint64_t sum = 0;
        for (size_t k = 0; k < count; k++)
            sum +=
                has_type(f, votes[i].type, votes[k].type) ? votes[k].misses : 0;
        if (sum > most ||
            (sum == most && type != NULL && votes[i].type->size > type->size)) {
            most = sum;
            type = votes[i].type;
        }
    }
    if (type == NULL || known < all / KNOWN_PART + (all % KNOWN_PART != 0) ||
        most <
            known / 100 * AGREE_PERCENT + known % 100 * AGREE_PERCENT / 100 ||
        !fits(f->m, votes[0].object, type))
        return;
    o->type = type;
    o->type_misses = most;
}

static int
find_types(struct finding_out *f)
{
    const uint32_t count = (uint32_t)f->numbers.count;
    struct vote *const votes = calloc((size_t)count + 1, sizeof(*votes));
    size_t all = 0, kept = 0;

    if (votes == NULL)
        return TALLY_ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        const struct touch *const t = &f->touches[i];
        if (t->target.type != NULL)
            votes[all++] = (struct vote){object_of(f, i), t->target.type,
                                         memory_misses(t->counts)};
    }
    if (all > 0)
        qsort(votes, all, sizeof(*votes), compare_votes);
    for (size_t i = 0; i < all; i++) {
        if (kept > 0 && compare_votes(&votes[kept - 1], &votes[i]) == 0)
            votes[kept - 1].misses += votes[i].misses;
        else
            votes[kept++] = votes[i];
    }
    for (size_t i = 0, end; i < kept; i = end) {
        for (end = i; end < kept && votes[end].object == votes[i].object; end++)
            ;
        elect(f, &votes[i], end - i);
    }
    free(votes);
    return 0;
}

/* Members */

static int
compare_members(const void *x, const void *y)
{
    const struct memory_member *a = x, *b = y;

    if (a->object != b->object)
        return a->object < b->object ? -1 : 1;
    if (a->type != b->type) {
        const int order = strcmp(a->type->name, b->type->name);
        return order != 0                                ? order
               : (uintptr_t)a->type < (uintptr_t)b->type ? -1
                                                         : 1;
    }
    if (a->part.offset != b->part.offset && !a->part.in_array)
        return a->part.offset < b->part.offset ? -1 : 1;
    const int order = strcmp(a->part.path, b->part.path);
    if (order != 0)
        return order;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return (a->thread > b->thread) - (a->thread < b->thread);
}

/* Sorts rows and adds up those of one member and thread. */
static void
add_up(struct memory_member *rows, size_t *count)
{
    size_t kept = 0;

    if (*count > 0)
        qsort(rows, *count, sizeof(*rows), compare_members);
    for (size_t i = 0; i < *count; i++) {
        struct memory_member *const last = &rows[kept - (kept > 0)];
        if (kept == 0 || compare_members(last, &rows[i]) != 0) {
            rows[kept++] = rows[i];
            continue;
        }
        for (unsigned c = 0; c < MEMORY_COUNTS; c++)
            last->counts[c] += rows[i].counts[c];
    }
    *count = kept;
}

/* Lists the members of objects with a type, a row for each thread. */
static int
list_members(struct finding_out *f)
{
    struct memory *const m = f->m;
    const uint32_t count = (uint32_t)f->numbers.count;

    m->thread_members = calloc((size_t)count + 1, sizeof(*m->thread_members));
    if (m->thread_members == NULL)
        return TALLY_ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        const struct touch *const t = &f->touches[i];
        const uint64_t *const key = numbering_key(&f->numbers, i);
        const struct memory_object *const o = &m->objects[object_of(f, i)];
        if (o->type == NULL || t->target.type == NULL ||
            !t->target.has_member || !has_type(f, o->type, t->target.type))
            continue;
        struct memory_member *const row =
            &m->thread_members[m->thread_member_count++];
        *row = (struct memory_member){
            .object = object_of(f, i),
            .process = (uint32_t)(key[0] >> 32),
            .thread = (uint32_t)key[0],
            .type = t->target.type,
            .part = t->target.member,
            .source = (unsigned)t->target.source,
        };
        memcpy(row->counts, t->counts, sizeof(row->counts));
    }
    add_up(m->thread_members, &m->thread_member_count);
    m->members = calloc(m->thread_member_count + 1, sizeof(*m->members));
    if (m->members == NULL)
        return TALLY_ENOMEM;
    for (size_t i = 0; i < m->thread_member_count; i++) {
        m->members[i] = m->thread_members[i];
        m->members[i].process = m->members[i].thread = 0;
    }
    m->member_count = m->thread_member_count;
    add_up(m->members, &m->member_count);
    return 0;
}

int
members_find(struct memory *m)
{
    struct finding_out f = {.m = m};
    int error = 0;

    f.pointers = pointers_create(m->record, m->resolver);
    if (f.pointers == NULL)
        return 0; /* nothing decodes the code */
    m->names = resolver_all_names(m->resolver);
    numbering_init(&f.numbers, 2);
    error = take_touches(&f);
    if (error == 0)
        error = find_targets(&f);
    if (error == 0)
        error = find_types(&f);
    if (error == 0)
        error = list_members(&f);
    numbering_finish(&f.numbers);
    pointers_destroy(f.pointers);
    free(f.touches);
    return error;
}
