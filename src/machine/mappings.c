/* SPDX-License-Identifier: MIT */
#include "machine/mappings.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define PAGE ((uint64_t)4096)
#define END (HUGE_PIECES << HUGE_SHIFT)

/* The most rows that one change adds. */
#define ROWS_ADDED 4u

int
mappings_init(struct mappings *m, bool asked)
{
    *m = (struct mappings){.asked = asked, .huge = huge_create()};
    return m->huge != NULL ? 0 : TALLY_ENOMEM;
}

void
mappings_finish(struct mappings *m)
{
    huge_destroy(m->huge);
    free(m->rows);
    *m = (struct mappings){0};
}

static int
make_room(struct mappings *m)
{
    if (m->count + ROWS_ADDED <= m->room)
        return 0;
    const size_t room = 2 * m->room + 64;
    struct mapping *const rows = realloc(m->rows, room * sizeof(*rows));
    if (rows == NULL)
        return TALLY_ENOMEM;
    m->rows = rows;
    m->room = room;
    return 0;
}

/* Returns the end of the last page of `size` bytes from `first` on, or where
 * the addresses end. */
static uint64_t
end_of(uint64_t first, uint64_t size)
{
    if (first >= END || size > END - first)
        return END;
    return (first + size + PAGE - 1) / PAGE * PAGE;
}

/* Returns the index of the first row that ends behind `addr`. */
static size_t
row_behind(const struct mappings *m, uint64_t addr)
{
    size_t low = 0, high = m->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (m->rows[middle].end > addr)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Returns the kind of what is mapped at `addr`; 0: nothing is. */
static unsigned
kind_at(const struct mappings *m, uint64_t addr)
{
    const size_t row = row_behind(m, addr);

    return row < m->count && m->rows[row].first <= addr ? m->rows[row].kind : 0;
}

/* Appends a row to `rows`, or makes the last row longer if the two are one
 * mapping. Returns how many rows there are. */
static size_t
append(struct mapping *rows, size_t count, struct mapping row)
{
    if (row.kind == 0 || row.first >= row.end)
        return count;
    if (count > 0 && rows[count - 1].end == row.first &&
        rows[count - 1].kind == row.kind) {
        rows[count - 1].end = row.end;
        return count;
    }
    rows[count] = row;
    return count + 1;
}

/* Sets what is mapped from `first` to `end`. */
static void
set(struct mappings *m, uint64_t first, uint64_t end, unsigned kind)
{
    struct mapping made[3];
    size_t count = 0;

    if (first >= end)
        return;
    /* From the row that touches `first` to the one that touches `end`. */
    const size_t from = row_behind(m, first == 0 ? 0 : first - 1);
    size_t to = from;
    while (to < m->count && m->rows[to].first <= end)
        to++;
    if (from < to) {
        struct mapping left = m->rows[from];
        left.end = left.end < first ? left.end : first;
        count = append(made, count, left);
    }
    count = append(made, count, (struct mapping){first, end, kind});
    if (from < to) {
        struct mapping right = m->rows[to - 1];
        right.first = right.first > end ? right.first : end;
        count = append(made, count, right);
    }
    memmove(m->rows + from + count, m->rows + to,
            (m->count - to) * sizeof(*m->rows));
    memcpy(m->rows + from, made, count * sizeof(*made));
    m->count = m->count - (to - from) + count;
}

/* Returns whether a piece of a mapping may be a huge page. */
static bool
may_be_huge(const struct mappings *m, unsigned kind)
{
    if (kind & MAPPING_HUGETLB)
        return true;
    return (kind & MAPPING_ANONYMOUS) && (kind & MAPPING_AVOIDED) == 0 &&
           (!m->asked || (kind & MAPPING_ADVISED));
}

/* Follows for the pieces from `first` to `end` what is mapped there now. */
static void
follow(struct mappings *m, uint64_t first, uint64_t end)
{
    size_t row = row_behind(m, first / HUGE_SIZE * HUGE_SIZE);

    for (uint64_t piece = first >> HUGE_SHIFT; piece << HUGE_SHIFT < end;
         piece++) {
        const uint64_t at = piece << HUGE_SHIFT;
        while (row < m->count && m->rows[row].end <= at)
            row++;
        const struct mapping *const r = m->rows + row;
        const bool any = row < m->count && r->first < at + HUGE_SIZE;
        const bool whole = any && r->first <= at && r->end >= at + HUGE_SIZE;

        huge_allow(m->huge, piece, whole && may_be_huge(m, r->kind));
        if (!any)
            huge_decide(m->huge, piece, 0);
        else if (!whole && huge_decision(m->huge, piece) == HUGE_IS)
            huge_decide(m->huge, piece, HUGE_NOT);
    }
}

int
mappings_unmap(struct mappings *m, uint64_t first, uint64_t size)
{
    const uint64_t end = end_of(first, size);

    if (make_room(m) != 0)
        return TALLY_ENOMEM;
    set(m, first, end, 0);
    follow(m, first, end);
    return 0;
}

int
mappings_grow(struct mappings *m, uint64_t first, uint64_t size, unsigned kind)
{
    const uint64_t end = end_of(first, size);

    if (make_room(m) != 0)
        return TALLY_ENOMEM;
    set(m, first, end, kind);
    follow(m, first, end);
    return 0;
}

int
mappings_map(struct mappings *m, uint64_t first, uint64_t size, unsigned kind)
{
    if (mappings_unmap(m, first, size) != 0)
        return TALLY_ENOMEM;
    return mappings_grow(m, first, size, kind);
}

int
mappings_change(struct mappings *m, uint64_t first, uint64_t size,
                unsigned without, unsigned with)
{
    const uint64_t end = end_of(first, size);
    uint64_t at = first;

    if (make_room(m) != 0)
        return TALLY_ENOMEM;
    for (;;) {
        const size_t row = row_behind(m, at);
        if (row == m->count || m->rows[row].first >= end)
            break;
        const struct mapping r = m->rows[row];
        const uint64_t from = r.first > at ? r.first : at;
        at = r.end < end ? r.end : end;
        set(m, from, at, (r.kind & ~without) | with);
        if (at == end)
            break;
    }
    follow(m, first, end);
    return 0;
}

/* Takes the decision about a piece that memory has moved to, `by` bytes up,
 * from the pieces that it was in. Whole pages of tables move with their piece;
 * other memory moves by small pages. */
static void
move_piece(struct mappings *m, uint64_t piece, uint64_t by, uint64_t to,
           uint64_t end)
{
    const uint64_t at = piece << HUGE_SHIFT;
    const bool whole = by % HUGE_SIZE == 0 && at >= to && at + HUGE_SIZE <= end;
    const uint64_t first = at > to ? at - by : to - by;
    const uint64_t last =
        (at + HUGE_SIZE < end ? at + HUGE_SIZE : end) - by - 1;
    unsigned decision = 0;

    for (uint64_t old = first >> HUGE_SHIFT; old <= last >> HUGE_SHIFT; old++)
        decision |= huge_decision(m->huge, old);
    if (decision != 0)
        huge_decide(m->huge, piece, whole ? decision : HUGE_NOT);
}

int
mappings_move(struct mappings *m, uint64_t first, uint64_t size, uint64_t to,
              uint64_t new_size, bool stays)
{
    const uint64_t old_end = end_of(first, size);
    const uint64_t end = end_of(to, new_size);
    const uint64_t moved =
        old_end - first < end - to ? old_end - first : end - to;
    /* Memory that the program began with is taken to be a file's. */
    const unsigned known = kind_at(m, first);
    const unsigned kind = known != 0 ? known : MAPPING_OTHER;

    if (to == first && end <= old_end)
        return mappings_unmap(m, end, old_end - end);
    if (to == first)
        return mappings_grow(m, old_end, end - old_end, kind);
    if (mappings_map(m, to, new_size, kind) != 0)
        return TALLY_ENOMEM;
    for (uint64_t piece = to >> HUGE_SHIFT; piece << HUGE_SHIFT < to + moved;
         piece++)
        move_piece(m, piece, to - first, to, to + moved);
    if (!stays)
        return mappings_unmap(m, first, size);
    mappings_empty(m, first, size, false);
    return 0;
}

void
mappings_empty(struct mappings *m, uint64_t first, uint64_t size, bool later)
{
    const uint64_t end = end_of(first, size);

    for (uint64_t piece = first >> HUGE_SHIFT; piece << HUGE_SHIFT < end;
         piece++) {
        const uint64_t at = piece << HUGE_SHIFT;
        const bool whole = at >= first && at + HUGE_SIZE <= end;
        if (huge_decision(m->huge, piece) != HUGE_IS || (whole && later))
            continue;
        huge_decide(m->huge, piece, whole ? 0 : HUGE_NOT);
    }
}

void
mappings_collapse(struct mappings *m, uint64_t first, uint64_t size)
{
    const uint64_t end = end_of(first, size);

    if (first >= END)
        return;
    for (uint64_t at = (first + HUGE_SIZE - 1) / HUGE_SIZE * HUGE_SIZE;
         at + HUGE_SIZE <= end; at += HUGE_SIZE) {
        const size_t row = row_behind(m, at);
        const struct mapping *const r = m->rows + row;
        const bool whole =
            row < m->count && r->first <= at && r->end >= at + HUGE_SIZE;
        if (whole && (r->kind & MAPPING_ANONYMOUS) &&
            (r->kind & MAPPING_AVOIDED) == 0 &&
            huge_decision(m->huge, at >> HUGE_SHIFT) == HUGE_NOT)
            huge_decide(m->huge, at >> HUGE_SHIFT, HUGE_IS);
    }
}
