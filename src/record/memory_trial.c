/* SPDX-License-Identifier: MIT */
/* What may be tried against a finding, by moving data for the caches. */
#include <assert.h>

#include "record/memory.h"

static_assert(MOVES_OBJECTS == 64, "as list_objects() says");

/* Lists the numbers of an object's data in the first process. Returns NULL, or
 * why they cannot be moved. */
static const char *
list_objects(const struct memory *m, const struct memory_object *o,
             struct moves *moves)
{
    const struct object_names *const names = &m->by_object->objects;
    const uint32_t row = (uint32_t)(o->name - names->rows);
    const size_t count = m->record->process_count != 0
                             ? m->record->processes[0].object_count
                             : 0;

    moves->count = 0;
    for (size_t i = 1; i <= count; i++) {
        if (names->of[0][i] != row)
            continue;
        if (moves->count == MOVES_OBJECTS)
            return "more than 64 paths of calls lead to "
                   "its memory";
        moves->objects[moves->count++] = (uint32_t)i;
    }
    return moves->count != 0
               ? NULL
               : "the data are of a program that the first one, such as a "
                 "shell, forked or executed; start that program itself";
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
memory_may_move(const struct memory_finding *f)
{
    return f->advice == MEMORY_SEPARATE || f->advice == MEMORY_SPREAD;
}

bool
memory_was_vain(const struct memory_finding *f)
{
    const struct memory_trial *const t = &f->trial;

    return t->end == MEMORY_TRIED &&
           (t->after >= t->before || t->before - t->after < f->misses / 10);
}

const char *
memory_untried(const struct memory_trial *trial)
{
    return trial->end == MEMORY_DIFFERS
               ? "run again, the program made other accesses"
               : trial->reason;
}

/* Finds how each thread's bytes of lines come to lines of their own. Returns
 * NULL, or why they cannot. */
static const char *
separate(const struct memory *m, const struct memory_object *o,
         struct moves *moves)
{
    const uint64_t line = m->record->cache.line;

    if (line > MOVES_LINE)
        return "lines have more than 64 bytes";
    return memory_parts(o, line, moves)
               ? NULL
               : "which bytes are of which thread is not known";
}

/* Finds gaps that bring data to other sets. Returns NULL, or why there are
 * none. */
static const char *
spread(const struct memory *m, const struct memory_object *o,
       struct moves *moves)
{
    const int64_t step =
        o->worst.pattern == MEMORY_STRIDED ? o->worst.stride : 0;

    moves->every = 0;
    moves->gap = (m->set_count + 1) / 2 * m->record->cache.line;
    if (!memory_is_own_conflict(m, o))
        return NULL;
    if (step == 0)
        return "it drives out itself, and not by steps of one stride";
    moves->every = step < 0 ? -(uint64_t)step : (uint64_t)step;
    moves->gap = m->record->cache.line;
    return NULL;
}

const char *
memory_propose(const struct memory *m, const struct memory_finding *f,
               struct moves *moves)
{
    const struct memory_object *const o = &m->objects[f->object];
    const char *reason;

    *moves = (struct moves){0};
    if (!memory_may_move(f))
        return "a gap does not help against it";
    if (o->name->kind == RECORD_STACK)
        return "it is on a stack, whose frames follow each other";
    reason = f->advice == MEMORY_SEPARATE ? separate(m, o, moves)
                                          : spread(m, o, moves);
    if (reason != NULL)
        return reason;
    if (moves->line == 0 && !moves_fit(moves->every, moves->gap))
        return "the gap would be too large for the distance between two";
    return list_objects(m, o, moves);
}
