/* SPDX-License-Identifier: MIT */
#include "trace/trace_maps.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 64u

/* Returns the place of the first piece that ends at the address or behind it.
 */
static size_t
find(const struct trace_maps *m, uint64_t address)
{
    size_t low = 0, high = m->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (m->rows[middle].last < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool
grow(struct trace_maps *m)
{
    if (m->count < m->room)
        return true;
    const size_t room = m->room != 0 ? 2 * m->room : ROOM_FIRST;
    struct trace_map *const rows = reallocarray(m->rows, room, sizeof(*rows));
    if (rows == NULL)
        return false;
    m->rows = rows;
    m->room = room;
    return true;
}

/* Inserts a piece, whose path becomes the list's. */
static bool
insert(struct trace_maps *m, size_t at, const struct trace_map *piece)
{
    if (piece->path == NULL || !grow(m)) {
        free(piece->path);
        return false;
    }
    memmove(m->rows + at + 1, m->rows + at, (m->count - at) * sizeof(*m->rows));
    m->rows[at] = *piece;
    m->count++;
    return true;
}

/* Cuts the front of a piece off, up to what is before `first`. */
static void
cut_front(struct trace_map *piece, uint64_t first)
{
    piece->offset += first - piece->first;
    piece->first = first;
}

bool
trace_maps_clear(struct trace_maps *m, uint64_t first, uint64_t last)
{
    size_t at = find(m, first);

    if (at < m->count && m->rows[at].first < first) {
        struct trace_map *const before = &m->rows[at++];
        if (before->last > last) {
            struct trace_map behind = *before;
            cut_front(&behind, last + 1);
            behind.path = strdup(before->path);
            before->last = first - 1;
            return insert(m, at, &behind);
        }
        before->last = first - 1;
    }
    size_t end = at;
    while (end < m->count && m->rows[end].last <= last)
        free(m->rows[end++].path);
    memmove(m->rows + at, m->rows + end, (m->count - end) * sizeof(*m->rows));
    m->count -= end - at;
    if (at < m->count && m->rows[at].first <= last)
        cut_front(&m->rows[at], last + 1);
    return true;
}

bool
trace_maps_add(struct trace_maps *m, const struct trace_map *piece, size_t size)
{
    struct trace_map copy = *piece;

    if (!trace_maps_clear(m, piece->first, piece->last))
        return false;
    copy.path = strndup(piece->path, size);
    return insert(m, find(m, piece->first), &copy);
}

void
trace_maps_finish(struct trace_maps *m)
{
    for (size_t i = 0; i < m->count; i++)
        free(m->rows[i].path);
    free(m->rows);
    *m = (struct trace_maps){0};
}
