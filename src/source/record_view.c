/* SPDX-License-Identifier: MIT */
#include "source/record_view.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "source/counts_layout.h"

#define PIECE 4096u /* records that are read at once */

static bool
is_place(const struct record_view *r, const struct record_place *p)
{
    if (p->instructions == 0)
        return p->image <= r->file_count; /* its code was not kept */
    if (p->image > r->file_count || p->code > r->code_size ||
        p->instructions > r->code_size - p->code)
        return false;
    const uint8_t *sizes = r->code + p->code;
    uint64_t size = 0;
    for (unsigned i = 0; i < p->instructions; i++)
        size += sizes[i];
    return size <= r->code_size - p->code - p->instructions;
}

/* Copies what the process wrote of an array; holes stay 0. Returns NULL where
 * there is no memory. */
static void *
copy_array(struct counts_view *view, uint64_t at, size_t size)
{
    char *array = calloc(1, size + 1);
    const uint64_t end = at + size;

    if (array == NULL)
        return NULL;
    for (uint64_t from = at;
         view->wrong == NULL &&
         (from = counts_view_skip(view, from, end)) < end;) {
        const uint64_t to = view->to < end ? view->to : end;
        counts_view_copy(view, from, array + (from - at), to - from);
        from = to;
    }
    return array;
}

/* What a recording begins with. */
struct view_head {
    unsigned code_size, ended_count, call_count, object_count, text_size;
    unsigned reason_count, stride_count;
    unsigned wait_count, begin_count, waits_lost, stretch_count, unended_count;
};

static bool
is_call(const struct record_view *r, unsigned index)
{
    const struct record_call *call = &r->calls[index];

    return (call->parent <= index || call->parent == RECORD_UNKNOWN) &&
           call->block != 0 && call->block <= r->place_count;
}

static bool
is_object(const struct record_view *r, const struct record_object *o,
          unsigned text_size)
{
    if (o->kind == 0 || o->kind >= RECORD_OBJECT_KINDS ||
        o->name >= text_size || o->allocations >> 52 != 0)
        return false;
    if (o->kind == RECORD_VARIABLE)
        return o->image != 0 && o->image <= r->object_count &&
               r->objects[o->image - 1].kind == RECORD_IMAGE;
    if (o->kind == RECORD_STACK)
        return o->call <= r->place_count;
    return o->kind != RECORD_HEAP || o->call <= r->call_count ||
           o->call == RECORD_UNKNOWN;
}

static void
add_use(struct record_use *to, const struct record_use *use)
{
    to->loads += use->loads;
    to->stores += use->stores;
    to->fetched += use->fetched;
    to->touched += use->touched;
}

static bool
is_use(const struct record_use *use)
{
    return (use->loads | use->stores | use->fetched | use->touched) >> 52 == 0;
}

/* Reads how the objects were used: by threads that ended and those that live.
 */
static int
read_uses(struct counts_view *view, struct record_view *r)
{
    const size_t count = r->object_count + 1u;
    const size_t size = count * sizeof(*r->uses);

    r->uses = copy_array(
        view, view->offset + RECORD_AT + offsetof(struct record_process, uses),
        size);
    if (r->uses == NULL)
        return TALLY_ENOMEM;
    for (unsigned slot = 0; counts_view_strand(view, &slot, r->live);) {
        /* counts_view_strand() has gone on to the next. */
        const uint64_t strand = view->offset + RECORD_STRANDS_AT +
                                RECORD_STRAND_SIZE * (uint64_t)(slot - 1);
        struct record_use *live = copy_array(
            view, strand + offsetof(struct record_strand, uses), size);
        if (live == NULL)
            return TALLY_ENOMEM;
        for (size_t i = 0; i < count && is_use(&live[i]); i++)
            add_use(&r->uses[i], &live[i]);
        free(live);
    }
    for (size_t i = 0; i < count; i++) {
        if (!is_use(&r->uses[i]))
            view->wrong = "its recording has a use that cannot be";
    }
    return 0;
}

/* Reads the objects: of a process that runs, calls last, as there are more and
 * more of both. */
static int
read_objects(struct counts_view *view, struct record_view *r,
             const struct view_head *head)
{
    const uint64_t at = view->offset + RECORD_AT;

    r->object_count = head->object_count;
    r->objects = copy_array(view, at + offsetof(struct record_process, objects),
                            r->object_count * sizeof(*r->objects));
    r->text = copy_array(view, at + offsetof(struct record_process, text),
                         head->text_size);
    r->call_count = head->call_count;
    r->calls = copy_array(view, at + offsetof(struct record_process, calls),
                          r->call_count * sizeof(*r->calls));
    if (r->objects == NULL || r->text == NULL || r->calls == NULL)
        return TALLY_ENOMEM;
    for (unsigned i = 0; i < r->call_count; i++) {
        if (!is_call(r, i))
            view->wrong = "its recording has a call that cannot be";
    }
    for (unsigned i = 0; i < r->object_count; i++) {
        if (!is_object(r, &r->objects[i], head->text_size))
            view->wrong = "its recording has an object that cannot be";
    }
    return r->object_count != 0 ? read_uses(view, r) : 0;
}

static bool
is_reason_place(const struct record_view *r, uint64_t place)
{
    return place >> 16 <= r->place_count;
}

/* Returns whether a reason can be. An object that has come since the objects
 * were read is then not known. */
static bool
is_reason(const struct record_view *r, struct record_reason *reason)
{
    const bool driven = record_reason_is_driven(reason->kind);

    if (reason->object > r->object_count)
        reason->object = 0;
    if (driven && reason->other > r->object_count)
        reason->other = 0;
    return reason->kind != 0 && reason->kind < RECORD_REASON_KINDS &&
           reason->count >> 52 == 0 &&
           (!driven || is_reason_place(r, reason->place));
}

static bool
is_stride(const struct record_view *r, const struct record_stride *stride)
{
    uint64_t all = stride->other;

    for (unsigned i = 0; i < RECORD_STEPS; i++)
        all |= stride->counts[i];
    return all >> 52 == 0 &&
           is_reason_place(r, stride->place & ~RECORD_STRIDE_STORES);
}

/* Reads why data missed. */
static int
read_reasons(struct counts_view *view, struct record_view *r,
             const struct view_head *head)
{
    const uint64_t at = view->offset + RECORD_AT;

    r->reason_count = head->reason_count;
    r->reasons = copy_array(view, at + offsetof(struct record_process, reasons),
                            r->reason_count * sizeof(*r->reasons));
    r->stride_count = head->stride_count;
    r->strides = copy_array(view, at + offsetof(struct record_process, strides),
                            r->stride_count * sizeof(*r->strides));
    if (r->reasons == NULL || r->strides == NULL)
        return TALLY_ENOMEM;
    unsigned kept = 0;
    for (unsigned i = 0; i < r->reason_count; i++) {
        if (!is_reason(r, &r->reasons[i]))
            view->wrong = "its recording has a reason that cannot be";
        if (r->reasons[i].count != 0) /* as of RECORD_REASON_USED */
            r->reasons[kept++] = r->reasons[i];
    }
    r->reason_count = kept;
    for (unsigned i = 0; i < r->stride_count; i++) {
        if (!is_stride(r, &r->strides[i]))
            view->wrong = "its recording has a stride that cannot be";
    }
    return 0;
}

/* Returns whether a call can be, or stands in the place of one. */
static bool
is_call_number(const struct record_view *r, uint32_t call)
{
    return call <= r->call_count || call == RECORD_UNKNOWN;
}

/* Returns whether a wait can be. A call or an object that has come since these
 * were read is then not known. */
static bool
is_wait(const struct record_view *r, struct record_wait *wait)
{
    if (wait->object > r->object_count)
        wait->object = 0;
    if (!is_call_number(r, wait->call))
        wait->call = RECORD_UNKNOWN;
    if (!is_call_number(r, wait->waker_call))
        wait->waker_call = RECORD_UNKNOWN;
    if (!is_reason_place(r, wait->place))
        wait->place = 0;
    if (!is_reason_place(r, wait->waker_place))
        wait->waker_place = 0;
    return wait->kind != 0 && wait->kind < RECORD_WAIT_KINDS &&
           wait->count >> 40 == 0 && wait->time >> 52 == 0 &&
           wait->longest >> 52 == 0;
}

/* Returns whether a stretch of waits can be. A row of waits that has come since
 * these were read is then not known. */
static bool
is_stretch(const struct record_view *r, struct record_stretch *s)
{
    if (s->wait >= r->wait_count)
        s->wait = RECORD_UNKNOWN;
    for (unsigned i = 0; i < RECORD_WAIT_KINDS; i++) {
        if (s->time[i] >> 52 != 0)
            return false;
    }
    return s->begin <= s->end && s->end >> 52 == 0 && s->count >> 40 == 0;
}

/* Reads when threads wait. */
static int
read_stretches(struct counts_view *view, struct record_view *r,
               const struct view_head *head)
{
    r->stretch_count = head->stretch_count;
    r->stretches = copy_array(view,
                              view->offset + RECORD_AT +
                                  offsetof(struct record_process, stretches),
                              r->stretch_count * sizeof(*r->stretches));
    if (r->stretches == NULL)
        return TALLY_ENOMEM;
    for (unsigned i = 0; i < r->stretch_count; i++) {
        if (!is_stretch(r, &r->stretches[i]))
            view->wrong = "its recording has a wait that cannot be";
    }
    return 0;
}

/* Reads what threads wait for. */
static int
read_waits(struct counts_view *view, struct record_view *r,
           const struct view_head *head)
{
    const uint64_t at = view->offset + RECORD_AT;

    r->wait_count = head->wait_count;
    r->waits = copy_array(view, at + offsetof(struct record_process, waits),
                          r->wait_count * sizeof(*r->waits));
    r->begin_count = head->begin_count;
    r->begins = copy_array(view, at + offsetof(struct record_process, begins),
                           r->begin_count * sizeof(*r->begins));
    r->waits_lost = head->waits_lost != 0;
    if (r->waits == NULL || r->begins == NULL)
        return TALLY_ENOMEM;
    for (unsigned i = 0; i < r->wait_count; i++) {
        if (!is_wait(r, &r->waits[i]))
            view->wrong = "its recording has a wait that cannot be";
    }
    for (unsigned i = 0; i < r->begin_count; i++) {
        if (r->begins[i].time >> 52 != 0)
            view->wrong = "its recording has a thread that cannot be";
    }
    return 0;
}

/* Returns whether a wait that has not ended can be. A call or an object that
 * has come since these were read is then not known. */
static bool
is_unended(const struct record_view *r, struct record_unended *u)
{
    if (u->object > r->object_count)
        u->object = 0;
    if (!is_call_number(r, u->call))
        u->call = RECORD_UNKNOWN;
    if (!is_reason_place(r, u->place))
        u->place = 0;
    return u->kind != 0 && u->kind < RECORD_WAIT_KINDS && u->since >> 52 == 0 &&
           u->has_time <= 1;
}

/* Reads the waits that threads are in. */
static int
read_unended(struct counts_view *view, struct record_view *r,
             const struct view_head *head)
{
    unsigned kept = 0;

    r->unended = copy_array(view,
                            view->offset + RECORD_AT +
                                offsetof(struct record_process, unended),
                            head->unended_count * sizeof(*r->unended));
    if (r->unended == NULL)
        return TALLY_ENOMEM;
    for (unsigned i = 0; i < head->unended_count; i++) {
        if (atomic_load(&r->unended[i].waits) == 0)
            continue;
        if (!is_unended(r, &r->unended[i]))
            view->wrong = "its recording has a wait that cannot be";
        memmove(&r->unended[kept++], &r->unended[i], sizeof(*r->unended));
    }
    r->unended_count = kept;
    return 0;
}

int
record_view_open(struct counts_view *view, struct record_view *r)
{
    const uint64_t at = view->offset + RECORD_AT;
    struct view_head head;
    struct counts_head counts;

    memset(r, 0, sizeof(*r));
    static_assert(offsetof(struct record_process, unended_count) ==
                      offsetof(struct view_head, unended_count),
                  "as here");
    if (view->wrong != NULL ||
        !counts_view_copy(view, at, &head, sizeof(head)) ||
        !counts_view_copy(view, view->offset, &counts, sizeof(counts)))
        return 0;
    if (head.code_size > RECORD_CODE || head.ended_count > RECORD_ENDED ||
        counts.files > COUNTS_FILES || head.call_count > RECORD_CALLS ||
        head.object_count > RECORD_OBJECTS || head.text_size > RECORD_TEXT ||
        head.reason_count > RECORD_REASONS ||
        head.stride_count > RECORD_STRIDES || head.wait_count > RECORD_WAITS ||
        head.begin_count > RECORD_BEGINS ||
        head.stretch_count > RECORD_STRETCHES ||
        head.unended_count > COUNTS_STRANDS) {
        view->wrong = "its recording has more than there is room for";
        return 0;
    }
    r->place_count = view->blocks;
    r->code_size = head.code_size;
    r->ended = head.ended_count;
    r->file_count = counts.files;
    r->files =
        copy_array(view, view->offset + offsetof(struct counts_head, file),
                   r->file_count * sizeof(*r->files));
    r->live = malloc(sizeof(*r->live));
    r->places = copy_array(view, at + offsetof(struct record_process, places),
                           r->place_count * sizeof(*r->places));
    r->code = copy_array(view, at + offsetof(struct record_process, code),
                         r->code_size);
    if (r->files == NULL || r->live == NULL || r->places == NULL ||
        r->code == NULL)
        return TALLY_ENOMEM;
    for (unsigned i = 0; i < r->file_count; i++)
        r->files[i].path[COUNTS_NAME - 1] = '\0';
    for (unsigned i = 0; i < r->place_count; i++) {
        if (!is_place(r, &r->places[i]))
            view->wrong = "its recording has a block that cannot be";
    }
    int error = read_objects(view, r, &head);
    if (error == 0)
        error = read_reasons(view, r, &head);
    if (error == 0)
        error = read_waits(view, r, &head);
    if (error == 0)
        error = read_stretches(view, r, &head);
    return error == 0 ? read_unended(view, r, &head) : error;
}

static bool
room_for(struct record_view *r, size_t more)
{
    if (r->site_count + more <= r->site_room)
        return true;
    const size_t room = (r->site_count + more) * 2;
    struct record_site *sites = realloc(r->sites, room * sizeof(*sites));
    if (sites == NULL)
        return false;
    r->sites = sites;
    r->site_room = room;
    return true;
}

/* Returns whether a cell can be. One that is on an object that has come since
 * the objects were read is then on object 0. */
static bool
is_cell(const struct record_view *r, uint32_t index)
{
    struct record_cell *cell = &r->cells[index];

    if (cell->block & RECORD_ON) {
        if ((cell->block & ~RECORD_ON) > r->object_count)
            cell->block = RECORD_ON;
        return cell->caller != 0 && cell->caller <= index &&
               (r->cells[cell->caller - 1].block & RECORD_ON) == 0;
    }
    if (cell->caller != RECORD_UNKNOWN && cell->caller != RECORD_OUTERMOST &&
        (cell->caller > index ||
         (r->cells[cell->caller - 1].block & RECORD_ON) != 0))
        return false;
    return cell->block != 0 && cell->block <= r->place_count;
}

/* Returns whether a count can be. */
static bool
is_site(const struct record_view *r, const struct record_site *s,
        uint64_t numbers)
{
    const unsigned signal = (uint16_t)s->key;

    if (s->count >> 52 != 0)
        return false;
    if (s->key & RECORD_EDGE)
        return record_edge_from(s->key) <= r->place_count &&
               record_edge_to(s->key) <= r->place_count;
    return s->key >> 32 != 0 && s->key >> 32 <= numbers &&
           (signal < SIGNAL_COUNT || signal == RECORD_EXECUTIONS ||
            signal - RECORD_CLASS < CURVE_CLASSES);
}

/* Checks what was read of a thread. */
static void
check_thread(struct counts_view *view, const struct record_view *r)
{
    const uint64_t numbers = r->cells != NULL ? r->cell_count : r->place_count;

    for (uint32_t i = 0; i < r->cell_count; i++) {
        if (!is_cell(r, i))
            view->wrong = "its recording has a call that cannot be";
    }
    for (size_t i = 0; i < r->site_count; i++) {
        if (!is_site(r, &r->sites[i], numbers))
            view->wrong = "its recording has a count that cannot be";
    }
}

/* Forgets the thread that was read before. */
static void
forget_thread(struct record_view *r)
{
    free(r->cells);
    r->cells = NULL;
    r->cell_count = 0;
    r->site_count = 0;
}

static void
put(struct record_view *r, uint32_t cell, unsigned instruction, unsigned signal,
    uint64_t count)
{
    if (count != 0)
        r->sites[r->site_count++] =
            (struct record_site){record_key(cell, instruction, signal), count};
}

/* Takes the cells of an ended thread out of its sites, which begin with them.
 */
static int
split_cells(struct record_view *r, uint32_t cells)
{
    r->cells = malloc(cells * sizeof(*r->cells));
    if (r->cells == NULL)
        return TALLY_ENOMEM;
    r->cell_count = cells;
    /* A site takes no more room than the cell that it is of. */
    for (uint32_t i = 0; i < cells; i++) {
        struct record_ended_cell ended;
        memcpy(&ended, &r->sites[i], sizeof(ended));
        r->cells[i] = ended.cell;
        put(r, i + 1, 0, RECORD_EXECUTIONS, ended.executions);
    }
    return 0;
}

/* Reads the sites of the next ended thread. */
static int
next_ended(struct counts_view *view, struct record_view *r)
{
    const uint64_t at = view->offset + RECORD_AT +
                        offsetof(struct record_process, ended) +
                        (uint64_t)r->read * sizeof(struct record_site);
    struct record_thread head;
    int error = 0;

    if (!counts_view_copy(view, at, &head, sizeof(head)))
        return 0;
    const uint64_t count = (uint64_t)head.cells + head.count;
    if (count > r->ended - r->read - 1) {
        view->wrong = "its recording has more counts than it says";
        return 0;
    }
    if (!room_for(r, count + head.cells))
        return TALLY_ENOMEM;
    if (!counts_view_copy(view, at + sizeof(head), r->sites,
                          count * sizeof(*r->sites)))
        return 0;
    r->read += 1 + (unsigned)count;
    r->thread = head.thread;
    r->site_count = count;
    if (head.cells != 0)
        error = split_cells(r, head.cells);
    memmove(r->sites, r->sites + head.cells,
            (r->site_count - head.cells) * sizeof(*r->sites));
    r->site_count -= head.cells;
    check_thread(view, r);
    return error != 0 ? error : view->wrong == NULL;
}

/* Reads the executions of each cell of a live thread, `count` of them from byte
 * `at` on. */
static int
add_executions(struct counts_view *view, struct record_view *r, uint64_t at,
               uint32_t count)
{
    uint64_t *counts = copy_array(view, at, count * sizeof(*counts));

    if (counts == NULL || !room_for(r, count)) {
        free(counts);
        return TALLY_ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++)
        put(r, i + 1, 0, RECORD_EXECUTIONS, counts[i]);
    free(counts);
    return 0;
}

/* Reads how the branches of each cell went. */
static int
add_branches(struct counts_view *view, struct record_view *r, uint64_t strand,
             uint32_t count)
{
    struct record_branches *branches = copy_array(
        view,
        strand + offsetof(struct record_strand, branches) + sizeof(*branches),
        count * sizeof(*branches));

    if (branches == NULL || !room_for(r, 3 * (size_t)count)) {
        free(branches);
        return TALLY_ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        put(r, i + 1, RECORD_BRANCH, SIGNAL_CONDITIONAL_TAKEN,
            record_taken(&branches[i]));
        put(r, i + 1, RECORD_BRANCH, SIGNAL_NOT_TAKEN_MISPREDICTS,
            branches[i].outcome[1]);
        put(r, i + 1, RECORD_BRANCH, SIGNAL_TAKEN_MISPREDICTS,
            branches[i].outcome[3]);
    }
    free(branches);
    return 0;
}

static void
put_edge(struct record_view *r, uint64_t key, uint64_t count)
{
    if (count != 0)
        r->sites[r->site_count++] = (struct record_site){key, count};
}

/* Reads where control went from each block. */
static int
add_edges(struct counts_view *view, struct record_view *r, uint64_t strand)
{
    const uint64_t at = strand + offsetof(struct record_strand, edges);
    const size_t count = (size_t)r->place_count + 1;
    uint32_t last = 0;
    struct record_edges *edges = copy_array(view, at, count * sizeof(*edges));

    if (edges == NULL || !room_for(r, 4 * count + 1)) {
        free(edges);
        return TALLY_ENOMEM;
    }
    for (uint32_t n = 0; n < count; n++) {
        const struct record_edges *e = &edges[n];
        for (unsigned i = 0; i < 2; i++) {
            /* Another thread may have written one of the two a moment ago. */
            const uint64_t wrong = e->mispredicted[i] < e->count[i]
                                       ? e->mispredicted[i]
                                       : e->count[i];
            if (e->to[i] == 0 || e->to[i] > INT32_MAX)
                continue;
            put_edge(r, record_edge_key(n, e->to[i], false),
                     e->count[i] - wrong);
            put_edge(r, record_edge_key(n, e->to[i], true), wrong);
        }
    }
    free(edges);
    if (counts_view_copy(view, strand + offsetof(struct record_strand, last),
                         &last, sizeof(last)) &&
        last != 0 && last <= INT32_MAX)
        put_edge(r, record_edge_key(last, 0, false), 1);
    return 0;
}

static int
add_table(struct counts_view *view, struct record_view *r, uint64_t strand)
{
    struct {
        unsigned place, bits;
    } head;

    static_assert(offsetof(struct record_strand, bits) == 4, "as here");
    if (!counts_view_copy(view, strand, &head, sizeof(head)) || head.bits == 0)
        return 0;
    if (head.bits > (unsigned)__builtin_ctz(RECORD_SITES)) {
        view->wrong = "its recording's table is too large";
        return 0;
    }
    const size_t count = (size_t)1 << head.bits;
    struct record_site *sites = copy_array(
        view,
        strand + offsetof(struct record_strand, sites) +
            (head.place & 1) * (uint64_t)RECORD_SITES * sizeof(*sites),
        count * sizeof(*sites));
    if (sites == NULL || !room_for(r, count)) {
        free(sites);
        return TALLY_ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        if (sites[i].key != 0)
            r->sites[r->site_count++] = sites[i];
    }
    free(sites);
    return 0;
}

/* Reads the cells of a live thread: after its sites, as a thread that runs has
 * more of both all the time. */
static int
add_cells(struct counts_view *view, struct record_view *r, uint64_t strand)
{
    unsigned count;

    if (!counts_view_copy(view,
                          strand + offsetof(struct record_strand, cell_count),
                          &count, sizeof(count)) ||
        count == 0)
        return 0;
    if (count > RECORD_CELLS) {
        view->wrong = "its recording has more cells than there is room for";
        return 0;
    }
    r->cells = copy_array(view, strand + offsetof(struct record_strand, cells),
                          count * sizeof(*r->cells));
    r->cell_count = r->cells != NULL ? count : 0;
    return r->cells != NULL ? 0 : TALLY_ENOMEM;
}

/* Reads the sites of the next thread that lives. */
static int
next_live(struct counts_view *view, struct record_view *r)
{
    if (!counts_view_strand(view, &r->strand, r->live))
        return 0;
    r->strand--; /* counts_view_strand() has gone on to the next */
    const uint64_t counts =
        view->offset + STRANDS_AT + STRAND_SIZE * (uint64_t)r->strand;
    const uint64_t strand = view->offset + RECORD_STRANDS_AT +
                            RECORD_STRAND_SIZE * (uint64_t)r->strand;
    r->thread = r->live->thread;
    int error = add_table(view, r, strand);
    if (error == 0)
        error = add_cells(view, r, strand);
    if (error == 0 && r->cells != NULL)
        error =
            add_executions(view, r,
                           strand + offsetof(struct record_strand, executions) +
                               sizeof(uint64_t),
                           r->cell_count);
    else if (error == 0)
        error = add_executions(view, r,
                               counts + offsetof(struct counts_strand, exec),
                               r->place_count);
    if (error == 0)
        error = add_branches(view, r, strand,
                             r->cells != NULL ? r->cell_count : r->place_count);
    if (error == 0)
        error = add_edges(view, r, strand);
    r->strand++;
    check_thread(view, r);
    return error != 0 ? error : view->wrong == NULL;
}

int
record_view_next(struct counts_view *view, struct record_view *r, bool live)
{
    if (view->wrong != NULL)
        return 0;
    forget_thread(r);
    if (r->read < r->ended)
        return next_ended(view, r);
    return live ? next_live(view, r) : 0;
}

void
record_view_close(struct record_view *r)
{
    free(r->places);
    free(r->code);
    free(r->files);
    free(r->live);
    free(r->sites);
    free(r->cells);
    free(r->calls);
    free(r->objects);
    free(r->text);
    free(r->uses);
    free(r->reasons);
    free(r->strides);
    free(r->waits);
    free(r->begins);
    free(r->stretches);
    free(r->unended);
    memset(r, 0, sizeof(*r));
}
