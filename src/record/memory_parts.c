/* SPDX-License-Identifier: MIT */
/*
 * How lines of false sharing would be parted, so that each thread's bytes have
 * a line for themselves.
 *
 * A miss of false sharing tells which bytes its thread asks for, and which ones
 * other threads have stored to; not which of these. But a thread never misses
 * for its own stores: so the threads that find a byte stored to are all but the
 * one that stores there. Bytes that the same threads find stored to are of the
 * same thread or threads, and stay together; bytes that nobody finds stored to
 * stay where they are.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "record/memory.h"

/* Misses of a line that are fewer than one of so many of its most frequent are
 * no habit: who sets all bytes up once has stored to each. */
#define RARE 8u

/* Threads of a line, a bit each, by byte. */
struct finders {
    uint64_t asked[MOVES_LINE];
    uint64_t stored[MOVES_LINE];
};

/* Notes which threads ask for each byte, and which find the byte stored to. */
static void
find_threads(const struct memory_shared *rows, size_t count, struct finders *f)
{
    uint64_t most = 0;

    memset(f, 0, sizeof(*f));
    for (size_t i = 0; i < count; i++)
        most = rows[i].other > most ? rows[i].other : most;
    for (size_t i = 0; i < count; i++) {
        const uint64_t bit = (uint64_t)1 << rows[i].thread % 64;
        if (rows[i].other == 0 || rows[i].other < most / RARE)
            continue;
        for (unsigned k = 0; k < MOVES_LINE; k++) {
            f->asked[k] |= (rows[i].bytes >> k & 1) != 0 ? bit : 0;
            f->stored[k] |= (rows[i].stored >> k & 1) != 0 ? bit : 0;
        }
    }
}

/* Puts bytes of the same threads in a group; 0 where there are none. Returns
 * the number of groups beside group 0. */
static unsigned
group(const uint64_t threads[MOVES_LINE], uint64_t size,
      uint8_t groups[MOVES_LINE])
{
    unsigned count = 0;

    memset(groups, 0, MOVES_LINE);
    for (unsigned k = 0; k < size; k++) {
        unsigned before = 0;
        if (threads[k] == 0)
            continue;
        while (threads[before] != threads[k])
            before++;
        groups[k] = before < k ? groups[before] : (uint8_t)(++count % size);
    }
    return count;
}

/* Returns whether a thread asks for a byte of group 0. */
static bool
has_rest(const struct finders *f, const uint8_t groups[MOVES_LINE],
         uint64_t size)
{
    for (unsigned k = 0; k < size; k++) {
        if (groups[k] == 0 && f->asked[k] != 0)
            return true;
    }
    return false;
}

int
memory_part_line(uint64_t size, struct memory_object *o,
                 const struct memory_shared *rows, size_t count)
{
    struct finders f;
    struct moves_part part;

    if (size > MOVES_LINE || rows->process != 0)
        return 0;
    find_threads(rows, count, &f);
    const unsigned found = group(f.stored, size, part.group);
    if (found == 0 || (found == 1 && !has_rest(&f, part.group, size))) {
        if (group(f.asked, size, part.group) < 2)
            return 0;
    }
    part.first = rows->line * size;
    part.last = part.first + size - 1;
    struct moves_part *const last =
        o->part_count != 0 ? &o->parts[o->part_count - 1] : NULL;
    if (last != NULL && last->last + 1 == part.first &&
        memcmp(last->group, part.group, sizeof(part.group)) == 0) {
        last->last = part.last;
        return 0;
    }
    if ((o->part_count & (o->part_count - 1)) == 0) {
        struct moves_part *const more =
            realloc(o->parts, (o->part_count != 0 ? 2 * o->part_count : 1) *
                                  sizeof(*more));
        if (more == NULL)
            return TALLY_ENOMEM;
        o->parts = more;
    }
    o->parts[o->part_count++] = part;
    return 0;
}

/* Parts all lines from the first to the last in the same way: two bytes stay
 * together that each of the parts has together. */
static void
part_all(const struct memory_object *o, uint64_t size, struct moves_part *all)
{
    uint64_t keys[MOVES_LINE] = {0};

    for (size_t i = 0; i < o->part_count; i++) {
        for (unsigned k = 0; k < size; k++)
            keys[k] = (keys[k] + o->parts[i].group[k] + 1) *
                      UINT64_C(0x9e3779b97f4a7c15);
    }
    group(keys, size, all->group);
    /* One of the groups stays in place. */
    for (unsigned k = 0; k < size; k++)
        all->group[k] = (uint8_t)((all->group[k] + size - 1) % size);
    all->first = o->parts[0].first;
    all->last = o->parts[o->part_count - 1].last;
}

bool
memory_parts(const struct memory_object *o, uint64_t size, struct moves *moves)
{
    if (o->part_count == 0)
        return false;
    moves->every = moves->gap = 0;
    moves->line = size;
    moves->part_count = (uint32_t)o->part_count;
    if (o->part_count <= MOVES_PARTS) {
        memcpy(moves->parts, o->parts, o->part_count * sizeof(*o->parts));
        return true;
    }
    moves->part_count = 1;
    part_all(o, size, &moves->parts[0]);
    return true;
}
