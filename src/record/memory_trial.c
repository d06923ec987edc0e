/* SPDX-License-Identifier: MIT */
/* What may be tried against a finding, by moving data for the caches. */
#include "record/memory.h"

/* Lists the numbers of an object's data in the first process. */
static bool
list_objects(const struct memory *m, const struct memory_object *o,
             struct moves *moves)
{
    const struct object_names *const names = &m->by_object->objects;
    const uint32_t row = (uint32_t)(o->name - names->rows);

    moves->count = 0;
    if (m->record->process_count == 0)
        return false;
    for (size_t i = 1; i <= m->record->processes[0].object_count; i++) {
        if (names->of[0][i] != row)
            continue;
        if (moves->count == MOVES_OBJECTS)
            return false;
        moves->objects[moves->count++] = (uint32_t)i;
    }
    return moves->count != 0;
}

/* Returns the size of the words that threads have in a line: the least power of
 * two so that each run of bytes lies in one of them. */
static uint64_t
word_size(uint64_t bytes)
{
    uint64_t size = 1;

    for (unsigned first = 0, last; first < 64; first = last + 1) {
        last = first;
        if ((bytes >> first & 1) == 0)
            continue;
        while (last < 63 && (bytes >> (last + 1) & 1) != 0)
            last++;
        while (first / size != last / size)
            size *= 2;
    }
    return size;
}

/* Returns the size of the words that any thread asks for in a line of the
 * object that others store to. */
static uint64_t
words_of(const struct memory_object *o)
{
    uint64_t size = 1;

    for (size_t i = 0; i < o->shared_count; i++) {
        const uint64_t asked = word_size(o->shared[i].bytes);
        size = asked > size ? asked : size;
    }
    return size;
}

bool
memory_is_own_conflict(const struct memory *m, const struct memory_object *o)
{
    uint64_t own = 0;

    for (size_t i = 0; i < o->driven_count; i++)
        own += &m->objects[o->driven[i].by] == o ? o->driven[i].conflict : 0;
    return own > o->counts[MEMORY_CONFLICT] / 2;
}

bool
memory_propose(const struct memory *m, const struct memory_finding *f,
               struct moves *moves)
{
    const struct memory_object *const o = &m->objects[f->object];
    const uint64_t line = m->record->l1d.line;
    const int64_t step =
        o->worst.pattern == MEMORY_STRIDED ? o->worst.stride : 0;
    const uint64_t stride = step < 0 ? -(uint64_t)step : (uint64_t)step;

    moves->count = 0;
    if (o->name->kind == RECORD_STACK)
        return false;
    switch (f->advice) {
    case MEMORY_SEPARATE:
        moves->every = words_of(o);
        if (moves->every >= line || line > 64)
            return false;
        moves->gap = line - moves->every;
        break;
    case MEMORY_SPREAD:
        if (memory_is_own_conflict(m, o)) {
            moves->every = stride;
            moves->gap = line;
            if (stride == 0)
                return false;
        } else {
            moves->every = 0;
            moves->gap = (m->set_count + 1) / 2 * line;
        }
        break;
    default:
        return false;
    }
    return moves_fit(moves->every, moves->gap) && list_objects(m, o, moves);
}
