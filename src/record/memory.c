/* SPDX-License-Identifier: MIT */
#include "record/memory.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/path.h"
#include "record/members.h"
#include "table/level.h"

/* A finding is about this part of all misses at least, in per cent, about this
 * many, and about one of so many accesses of the program: fewer cost no time
 * that one would notice. A miss of a level behind the L1D costs more. */
#define FINDING_PERCENT 2u
#define FINDING_MISSES 64u
#define FINDING_ACCESSES 1000u
#define FINDING_ACCESSES_BEHIND 10000u

/* A line comes over with the turns of its threads, if it does so at this part
 * of them at least, in per cent, this often, and, on average, within so many
 * instructions: a thread that comes back to a line less often than once in
 * these has no use for it all the time. */
#define STEADY_PERCENT 50u
#define STEADY_MISSES 8u
#define STEADY_RAN 1000u
#define FEW_TURNS 8u

/* Sets of a cache that are told apart, at most: each object has a count of each
 * set. */
#define SETS_MOST (UINT64_C(1) << 20)

/* What each event adds to. */
static const struct {
    const char *name;
    enum memory_count count;
} event_rows[] = {
    {"L1-dcache-loads", MEMORY_LOADS},
    {"L1-dcache-stores", MEMORY_STORES},
    {"L1-dcache-load-misses", MEMORY_LOAD_MISSES},
    {"L1-dcache-store-misses", MEMORY_STORE_MISSES},
    {"coherence-load-misses", MEMORY_COHERENCE},
    {"coherence-store-misses", MEMORY_COHERENCE},
    {"false-sharing-load-misses", MEMORY_FALSE},
    {"false-sharing-store-misses", MEMORY_FALSE},
    {"first-touch-load-misses", MEMORY_FIRST},
    {"first-touch-store-misses", MEMORY_FIRST},
    {"capacity-load-misses", MEMORY_CAPACITY},
    {"capacity-store-misses", MEMORY_CAPACITY},
    {"conflict-load-misses", MEMORY_CONFLICT},
    {"conflict-store-misses", MEMORY_CONFLICT},
};

#define EVENT_ROWS (sizeof(event_rows) / sizeof(event_rows[0]))

static_assert(EVENT_ROWS == MEMORY_EVENT_COUNT && EVENT_ROWS == LEVEL_EVENTS,
              "as in MEMORY_EVENTS, and in the order of level_event()");

enum memory_count
memory_event_count(unsigned event)
{
    return event_rows[event].count;
}

uint64_t
memory_misses(const uint64_t counts[MEMORY_COUNTS])
{
    return counts[MEMORY_LOAD_MISSES] + counts[MEMORY_STORE_MISSES];
}

const char *
memory_pattern_name(enum memory_pattern pattern)
{
    static const char *const names[] = {
        [MEMORY_UNKNOWN] = "unknown",       [MEMORY_SAME] = "same address",
        [MEMORY_SEQUENTIAL] = "sequential", [MEMORY_STRIDED] = "strided",
        [MEMORY_CHASE] = "pointer chase",   [MEMORY_IRREGULAR] = "irregular",
    };

    return names[pattern];
}

uint64_t
memory_few_turns(const struct memory *m)
{
    uint64_t most = 0;
    size_t threads = 0;

    for (size_t i = 0; i < m->turn_count; i++) {
        if (m->turns[i].thread == 0)
            continue;
        most = m->turns[i].turns > most ? m->turns[i].turns : most;
        threads++;
    }
    for (size_t i = 0; i < m->finding_count; i++) {
        if (memory_is_sharing(m->findings[i].advice))
            return 0;
    }
    return threads < 2 || most >= FEW_TURNS ? 0 : most;
}

bool
memory_is_sharing(enum memory_advice advice)
{
    return advice == MEMORY_SEPARATE || advice == MEMORY_SHARE;
}

/* The dynamic loader */

/* Returns whether a path is that of the dynamic loader: the GNU C library's has
 * a file of its own, such as ld-linux-x86-64.so.2 or ld.so.1. That of musl has
 * the whole C library, which is no start-up alone. */
static bool
is_loader(const char *path)
{
    const char *const name = path_base(path);
    const char *const end = strstr(name, ".so");

    return strncmp(name, "ld", 2) == 0 && end != NULL &&
           (end[3] == 0 || end[3] == '.') && strncmp(name, "ld-musl", 7) != 0 &&
           (name[2] == '-' || name[2] == '.' || strncmp(name, "ld64", 4) == 0);
}

bool
memory_is_loaders(const struct memory *m)
{
    return memory_misses(m->loader) > memory_misses(m->counts) / 2;
}

/* Counts */

/* Adds the values of a row's events. */
static void
add_values(const int64_t *values, uint64_t counts[MEMORY_COUNTS])
{
    for (size_t e = 0; e < EVENT_ROWS; e++)
        counts[event_rows[e].count] += (uint64_t)values[e];
}

/* Returns where the record has an event, by its name; event_count: nowhere. */
static size_t
find_event(const struct record *record, const char *name)
{
    size_t i = 0;

    while (i < record->event_count && strcmp(record->events[i].name, name) != 0)
        i++;
    return i;
}

/* Finds the events of event_rows in the record, under the names that the
 * machine has for them, or under those of any machine's level. False: it lacks
 * one. */
static bool
find_events(const struct record *record, size_t events[EVENT_ROWS])
{
    for (unsigned e = 0; e < EVENT_ROWS; e++) {
        events[e] =
            find_event(record, level_event(record->cache.level, e)->name);
        if (events[e] == record->event_count &&
            record->cache.level == CACHE_L1D)
            events[e] = find_event(record, event_rows[e].name);
        if (events[e] == record->event_count)
            return false;
    }
    return true;
}

bool
memory_count(const struct record *record, uint64_t counts[MEMORY_COUNTS])
{
    size_t events[EVENT_ROWS];

    if (!record->has_reasons || !find_events(record, events))
        return false;
    memset(counts, 0, MEMORY_COUNTS * sizeof(*counts));
    for (size_t e = 0; e < EVENT_ROWS; e++)
        counts[event_rows[e].count] +=
            (uint64_t)record_total(record, events[e]);
    return true;
}

/* Finds the lowest standing of the events that the counts are made of: a
 * modelled count is no more than that because some are exact. */
static void
find_standing(struct memory *m, const size_t events[EVENT_ROWS])
{
    static const char *const words[] = {"exact", "modelled", "estimated",
                                        "varies", "partial"};
    size_t lowest = 0;

    for (size_t e = 0; e < EVENT_ROWS; e++) {
        for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++) {
            if (strcmp(m->record->events[events[e]].standing, words[w]) == 0 &&
                w > lowest)
                lowest = w;
        }
    }
    m->standing = words[lowest];
}

/* Returns the object that a process has under a number. */
static uint32_t
object_of(const struct memory *m, size_t process, uint32_t number)
{
    return number == 0 ? 0 : m->by_object->objects.of[process][number];
}

static int
compare_objects(const void *x, const void *y)
{
    const struct memory_object *a = x, *b = y;
    const uint64_t p = memory_misses(a->counts), q = memory_misses(b->counts);

    if (p != q)
        return p < q ? 1 : -1;
    return strcmp(a->name->text, b->name->text);
}

/* Finds which objects are the dynamic loader's own data. */
static void
take_loaders(struct memory *m)
{
    for (size_t p = 0; p < m->record->process_count; p++) {
        const struct record_process_row *const row = &m->record->processes[p];
        for (uint32_t i = 1; i <= row->object_count; i++) {
            const struct record_object_row *const o = &row->objects[i - 1];
            if (o->kind == RECORD_VARIABLE
                    ? is_loader(o->image)
                    : o->kind == RECORD_IMAGE && is_loader(o->name))
                m->objects[object_of(m, p, i)].is_loaders = true;
        }
    }
}

/* Gives the row of no object the accesses of which no object is known: those of
 * instructions that count one and did not make it, as a mask or a lost
 * reservation had it. */
static void
give_rest(struct memory *m, enum memory_count count)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < m->object_count; i++)
        sum += m->objects[i].counts[count];
    if (m->object_count != 0 && sum < m->counts[count])
        m->objects[0].counts[count] += m->counts[count] - sum;
}

/* Takes the objects: one of each name. */
static int
take_objects(struct memory *m)
{
    const struct breakdown *const b = m->by_object;

    m->objects = calloc(b->objects.count + 1, sizeof(*m->objects));
    if (m->objects == NULL)
        return TALLY_ENOMEM;
    m->object_count = b->objects.count;
    for (size_t i = 0; i < m->object_count; i++)
        m->objects[i].name = &b->objects.rows[i];
    take_loaders(m);
    for (size_t i = 0; i < b->row_count; i++) {
        const struct breakdown_row *const row = &b->rows[i];
        struct memory_object *const o = &m->objects[row->place.object];
        const bool code =
            is_loader(resolver_text(m->resolver, row->place.image));
        add_values(row->values, o->counts);
        if (code)
            add_values(row->values, o->loader);
        if (code || o->is_loaders)
            add_values(row->values, m->loader);
    }
    /* Events tell by object what misses. Uses tell all accesses. */
    for (size_t i = 0; i < m->object_count; i++) {
        m->objects[i].counts[MEMORY_LOADS] = m->objects[i].name->used.loads;
        m->objects[i].counts[MEMORY_STORES] = m->objects[i].name->used.stores;
    }
    give_rest(m, MEMORY_LOADS);
    give_rest(m, MEMORY_STORES);
    return 0;
}

static int
take_lines(struct memory *m)
{
    const struct breakdown *const b = m->by_line;

    m->lines = calloc(b->row_count + 1, sizeof(*m->lines));
    if (m->lines == NULL)
        return TALLY_ENOMEM;
    for (size_t i = 0; i < b->row_count; i++) {
        struct memory_line *const line = &m->lines[m->line_count];
        add_values(b->rows[i].values, line->counts);
        if (memory_misses(line->counts) == 0)
            continue;
        line->function = b->rows[i].place.function;
        line->file = b->rows[i].place.file;
        line->line = b->rows[i].place.line;
        m->line_count++;
    }
    return 0;
}

/* Reasons */

/* Returns room for one more element of an array, zeroed; NULL: no memory. */
static void *
add_element(void **array, size_t *count, size_t size)
{
    char *more = *array;

    if ((*count & (*count - 1)) == 0) {
        more = realloc(more, (*count != 0 ? 2 * *count : 1) * size);
        if (more == NULL)
            return NULL;
        *array = more;
    }
    memset(more + *count * size, 0, size);
    return more + (*count)++ * size;
}

/* Adds lines that an instruction drove out. */
static int
add_driven(struct memory *m, size_t process, const struct record_reason_row *r)
{
    struct memory_object *const o =
        &m->objects[object_of(m, process, r->object)];
    struct memory_driven *const d =
        add_element((void **)&o->driven, &o->driven_count, sizeof(*d));

    if (d == NULL)
        return TALLY_ENOMEM;
    d->by = object_of(m, process, r->other);
    *(r->why == RECORD_REASON_CONFLICT ? &d->conflict : &d->capacity) =
        r->count;
    if (r->insn == RECORD_NO_CALL)
        return 0;
    const struct resolved_frame *const frame =
        resolver_find(m->resolver, process, r->insn)->frames;
    d->function = frame->function;
    d->file = frame->file;
    d->line = frame->line;
    return 0;
}

/* Adds what a thread has missed of a line that another has stored to. */
static int
add_shared(struct memory *m, size_t process, const struct record_reason_row *r)
{
    struct memory_object *const o =
        &m->objects[object_of(m, process, r->object)];
    struct memory_shared *const s =
        add_element((void **)&o->shared, &o->shared_count, sizeof(*s));

    if (s == NULL)
        return TALLY_ENOMEM;
    *s = (struct memory_shared){
        .process = (uint32_t)process,
        .object = r->object,
        .thread = r->thread,
        .from = r->other,
        .line = r->place,
        .lines = 1,
        .bytes = r->bytes,
        .stored = r->other_bytes,
    };
    switch (r->why) {
    case RECORD_REASON_SHARED:
        s->same = r->count;
        break;
    case RECORD_REASON_FALSE:
        s->other = r->count;
        break;
    case RECORD_REASON_RAN:
        s->ran = r->count;
        break;
    default:
        s->used = r->count;
        break;
    }
    return 0;
}

static int
add_set(struct memory *m, size_t process, const struct record_reason_row *r)
{
    struct memory_object *const o =
        &m->objects[object_of(m, process, r->object)];

    if (r->place >= m->set_count)
        return 0;
    if (o->sets == NULL)
        o->sets = calloc(m->set_count, sizeof(*o->sets));
    if (o->sets == NULL)
        return TALLY_ENOMEM;
    o->sets[r->place] += r->count;
    m->sets[r->place] += r->count;
    return 0;
}

static int
add_turns(struct memory *m, size_t process, const struct record_reason_row *r)
{
    struct memory_turns *const t =
        add_element((void **)&m->turns, &m->turn_count, sizeof(*t));

    if (t == NULL)
        return TALLY_ENOMEM;
    *t = (struct memory_turns){(uint32_t)process, r->thread, r->count};
    return 0;
}

static int
add_reason(struct memory *m, size_t process, const struct record_reason_row *r)
{
    switch (r->why) {
    case RECORD_REASON_CAPACITY:
    case RECORD_REASON_CONFLICT:
        return add_driven(m, process, r);
    case RECORD_REASON_SHARED:
    case RECORD_REASON_FALSE:
    case RECORD_REASON_USED:
    case RECORD_REASON_RAN:
        return add_shared(m, process, r);
    case RECORD_REASON_TURNS:
        return add_turns(m, process, r);
    case RECORD_REASON_SET:
        return add_set(m, process, r);
    default:
        if (r->place < MEMORY_POWERS) {
            m->objects[object_of(m, process, r->object)].reuse[r->place] +=
                r->count;
            m->reuse[r->place] += r->count;
        }
        return 0;
    }
}

/* Orders by place; rows of one place are one. */
static int
compare_driven_places(const void *x, const void *y)
{
    const struct memory_driven *a = x, *b = y;

    if (a->by != b->by)
        return a->by < b->by ? -1 : 1;
    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

static int
compare_driven(const void *x, const void *y)
{
    const struct memory_driven *a = x, *b = y;
    const uint64_t p = a->capacity + a->conflict, q = b->capacity + b->conflict;

    return p != q ? (p < q ? 1 : -1) : compare_driven_places(x, y);
}

/* Orders by threads; rows of the same threads are one. */
static int
compare_shared_threads(const void *x, const void *y)
{
    const struct memory_shared *a = x, *b = y;

    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return (a->from > b->from) - (a->from < b->from);
}

/* Orders by lines. */
static int
compare_lines_of(const struct memory_shared *a, const struct memory_shared *b)
{
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

static int
compare_shared_places(const void *x, const void *y)
{
    const int lines = compare_lines_of(x, y);

    return lines != 0 ? lines : compare_shared_threads(x, y);
}

static int
compare_shared_lines(const void *x, const void *y)
{
    const int threads = compare_shared_threads(x, y);

    return threads != 0 ? threads : compare_lines_of(x, y);
}

static int
compare_shared(const void *x, const void *y)
{
    const struct memory_shared *a = x, *b = y;
    const uint64_t p = a->same + a->other, q = b->same + b->other;

    return p != q ? (p < q ? 1 : -1) : compare_shared_threads(x, y);
}

static void
sort_rows(void *rows, size_t count, size_t size,
          int (*compare)(const void *, const void *))
{
    if (count > 0)
        qsort(rows, count, size, compare);
}

/* Adds up rows of an object that are one, and sorts what is left. */
static void
join_driven(struct memory_object *o)
{
    size_t kept = 0;

    sort_rows(o->driven, o->driven_count, sizeof(*o->driven),
              compare_driven_places);
    for (size_t i = 0; i < o->driven_count; i++) {
        struct memory_driven *const last = &o->driven[kept - (kept > 0)];
        if (kept > 0 && compare_driven_places(last, &o->driven[i]) == 0) {
            last->capacity += o->driven[i].capacity;
            last->conflict += o->driven[i].conflict;
        } else {
            o->driven[kept++] = o->driven[i];
        }
    }
    o->driven_count = kept;
    sort_rows(o->driven, kept, sizeof(*o->driven), compare_driven);
}

uint64_t
memory_needless(const struct memory_shared *s)
{
    return s->other > s->used ? s->other - s->used : 0;
}

/* Returns how many turns a thread has had. */
static uint64_t
turns_of(const struct memory *m, uint32_t process, uint32_t thread)
{
    for (size_t i = 0; i < m->turn_count; i++) {
        if (m->turns[i].process == process && m->turns[i].thread == thread)
            return m->turns[i].turns;
    }
    return 0;
}

/* Returns the turns of the threads that share a line. Who misses the line less
 * than an eighth as often as another, as who sets it up or adds all up at the
 * end, is none of these. `rows`: its misses, in order of threads. */
static uint64_t
turns_of_line(const struct memory *m, const struct memory_shared *rows,
              size_t count)
{
    uint64_t most = 0, turns = 0;

    for (unsigned pass = 0; pass < 2; pass++) {
        for (size_t i = 0, end; i < count; i = end) {
            uint64_t misses = 0;
            for (end = i; end < count && rows[end].thread == rows[i].thread;
                 end++)
                misses += rows[end].same + rows[end].other;
            if (pass == 0)
                most = misses > most ? misses : most;
            else if (misses >= most / 8)
                turns += turns_of(m, rows[i].process, rows[i].thread);
        }
    }
    return turns;
}

/* Notes a line that comes over at most turns of its threads, if it does.
 * `rows`: its misses, in order of threads, which are together `all`. */
static void
note_steady(const struct memory *m, struct memory_object *o,
            const struct memory_shared *rows, size_t count,
            const struct memory_shared *all)
{
    const uint64_t misses = all->same + all->other;
    const uint64_t needless = memory_needless(all);
    const uint64_t turns = turns_of_line(m, rows, count);

    if (turns == 0 || needless < turns * STEADY_PERCENT / 100 ||
        needless < STEADY_MISSES || all->ran / misses > STEADY_RAN)
        return;
    o->steady.misses += needless;
    o->steady.turns += turns;
    o->steady.ran += all->ran / misses * needless;
}

/* Finds which lines of an object come over for false sharing.
 *
 * A line comes over from another thread to some use where the thread, from the
 * miss on until it loses the line again, uses a byte that others have stored
 * to: then the line, or another with that byte, comes over wherever the bytes
 * lie. Only the other misses go away when bytes are put apart. (These are the
 * essential and the useless misses of Dubois and others, The detection and
 * elimination of useless misses in multiprocessors, 1993.) That the miss itself
 * is for another byte does not tell: who takes a mutex of the C library reads
 * its kind, which nobody stores to, before the word that all store to; and who
 * holds a lock misses what the lock protects, as others have tried the lock.
 * Both use the lock's word before they lose the line, and so no part of a lock
 * and its data is false sharing, however the turns fall.
 *
 * Parting is to be advised where it takes away most of what a line comes over
 * for. Misses of other lines that it would take away are `beside`. */
static int
find_apart(const struct memory *m, struct memory_object *o)
{
    int error = 0;

    sort_rows(o->shared, o->shared_count, sizeof(*o->shared),
              compare_shared_places);
    for (size_t i = 0, end; error == 0 && i < o->shared_count; i = end) {
        struct memory_shared all = {0};
        for (end = i; end < o->shared_count &&
                      compare_lines_of(&o->shared[i], &o->shared[end]) == 0;
             end++) {
            all.same += o->shared[end].same;
            all.other += o->shared[end].other;
            all.used += o->shared[end].used;
            all.ran += o->shared[end].ran;
        }
        const uint64_t needless = memory_needless(&all);
        const bool apart = needless > (all.same + all.other) / 2;
        *(apart ? &o->apart : &o->beside) += needless;
        if (!apart)
            continue;
        note_steady(m, o, &o->shared[i], end - i, &all);
        error =
            memory_part_line(m->record->cache.line, o, &o->shared[i], end - i);
    }
    return error;
}

static int
join_shared(const struct memory *m, struct memory_object *o)
{
    const int error = find_apart(m, o);
    size_t kept = 0;
    uint64_t line = 0;

    sort_rows(o->shared, o->shared_count, sizeof(*o->shared),
              compare_shared_lines);
    for (size_t i = 0; i < o->shared_count; i++) {
        struct memory_shared *const last = &o->shared[kept - (kept > 0)];
        const struct memory_shared *const at = &o->shared[i];
        if (kept > 0 && compare_shared_threads(last, at) == 0) {
            last->lines += at->line != line;
            last->same += at->same;
            last->other += at->other;
            last->used += at->used;
            last->ran += at->ran;
            last->bytes |= at->bytes;
            last->stored |= at->stored;
            line = at->line;
        } else {
            line = at->line;
            o->shared[kept++] = *at;
        }
    }
    o->shared_count = kept;
    sort_rows(o->shared, kept, sizeof(*o->shared), compare_shared);
    return error;
}

/* Adds up the reasons of all processes. */
static int
take_reasons(struct memory *m)
{
    for (size_t p = 0; p < m->record->process_count; p++) {
        const struct record_process_row *const row = &m->record->processes[p];
        for (size_t i = 0; i < row->reason_count; i++) {
            const int error = add_reason(m, p, &row->reasons[i]);
            if (error != 0)
                return error;
        }
    }
    int error = 0;
    for (size_t i = 0; error == 0 && i < m->object_count; i++) {
        join_driven(&m->objects[i]);
        error = join_shared(m, &m->objects[i]);
    }
    return error;
}

/* Strides */

/* Returns how the steps of an instruction follow each other, and the stride
 * where there is one. */
static enum memory_pattern
pattern_of(const struct memory *m, const struct record_stride_row *s,
           int64_t *stride)
{
    const int64_t line = (int64_t)m->record->cache.line;
    uint64_t all = s->other, near = 0;
    struct record_step most = {0, 0};

    for (unsigned i = 0; i < s->step_count; i++) {
        const struct record_step *const step = &s->steps[i];
        all += step->count;
        if (step->bytes <= line && step->bytes >= -line)
            near += step->count;
        if (step->count > most.count)
            most = *step;
    }
    *stride = most.bytes;
    if (all == 0)
        return MEMORY_UNKNOWN;
    if (most.count > all / 2 && most.bytes == 0)
        return MEMORY_SAME;
    if (s->follows)
        return MEMORY_CHASE;
    if (most.count > all / 2 && (most.bytes > line || most.bytes < -line))
        return MEMORY_STRIDED;
    if (near > all / 2)
        return MEMORY_SEQUENTIAL;
    return MEMORY_IRREGULAR;
}

static int
compare_places(const void *x, const void *y)
{
    const struct memory_line *a = x, *b = y;

    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

/* Adds up the misses of each instruction of a process, [insn_count]. */
static void
add_up_misses(const struct memory *m, size_t process, uint64_t *misses)
{
    for (size_t i = 0; i < m->record->counts_count; i++) {
        const struct record_counts_row *const counts = &m->record->counts[i];
        for (size_t e = 0; counts->process == process && e < EVENT_ROWS; e++) {
            struct record_walk walk;
            size_t row;
            int64_t value;
            if (event_rows[e].count != MEMORY_LOAD_MISSES &&
                event_rows[e].count != MEMORY_STORE_MISSES)
                continue;
            record_walk_begin(&walk, counts, m->events[e]);
            while (record_walk_next(&walk, &row, &value))
                misses[counts->insns[row]] += (uint64_t)value;
        }
    }
}

/* Gives each line the pattern of the instructions of a process of which one has
 * most misses of the line. `most`: the most so far, by line. */
static void
take_patterns(struct memory *m, size_t process, const uint64_t *misses,
              uint64_t *most)
{
    const struct record_process_row *const p = &m->record->processes[process];

    for (size_t i = 0; i < p->stride_count; i++) {
        const struct record_stride_row *const s = &p->strides[i];
        if (misses[s->insn] == 0)
            continue;
        const struct resolved_frame *const frame =
            resolver_find(m->resolver, process, s->insn)->frames;
        const struct memory_line key = {.function = frame->function,
                                        .file = frame->file,
                                        .line = frame->line};
        struct memory_line *const line = bsearch(
            &key, m->lines, m->line_count, sizeof(*m->lines), compare_places);
        if (line == NULL || misses[s->insn] <= most[line - m->lines])
            continue;
        most[line - m->lines] = misses[s->insn];
        line->pattern = pattern_of(m, s, &line->stride);
    }
}

/* Finds the patterns of all lines, which are in order of places. */
static int
take_strides(struct memory *m)
{
    uint64_t *const most = calloc(m->line_count + 1, sizeof(*most));
    int error = most == NULL ? TALLY_ENOMEM : 0;

    for (size_t p = 0; error == 0 && p < m->record->process_count; p++) {
        const size_t count = m->record->processes[p].insn_count;
        uint64_t *const misses = calloc(count + 1, sizeof(*misses));
        if (misses != NULL) {
            add_up_misses(m, p, misses);
            take_patterns(m, p, misses, most);
        } else {
            error = TALLY_ENOMEM;
        }
        free(misses);
    }
    free(most);
    return error;
}

/* Finds the line of source that misses most of each object's data; lines are in
 * order of places. */
static void
take_places(struct memory *m)
{
    for (size_t i = 0; i < m->by_place->row_count; i++) {
        const struct breakdown_row *const row = &m->by_place->rows[i];
        struct memory_line place = {.function = row->place.function,
                                    .file = row->place.file,
                                    .line = row->place.line};
        const struct memory_line *const line = bsearch(
            &place, m->lines, m->line_count, sizeof(*m->lines), compare_places);
        struct memory_line *const worst = &m->objects[row->place.object].worst;
        add_values(row->values, place.counts);
        const uint64_t misses = memory_misses(place.counts);
        const uint64_t most = memory_misses(worst->counts);
        if (line == NULL || misses < most ||
            (misses == most &&
             (most == 0 || compare_places(&place, worst) > 0)))
            continue;
        place.pattern = line->pattern;
        place.stride = line->stride;
        *worst = place;
    }
}

/* Orders lines by misses, then by place. */
static int
compare_lines(const void *x, const void *y)
{
    const struct memory_line *a = x, *b = y;
    const uint64_t p = memory_misses(a->counts), q = memory_misses(b->counts);

    return p != q ? (p < q ? 1 : -1) : compare_places(x, y);
}

/* Findings */

static int
compare_down(const void *x, const void *y)
{
    const uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

    return (a < b) - (a > b);
}

uint64_t
memory_crowded(const struct memory *m, const uint64_t *sets)
{
    uint64_t all = 0, sum = 0, count = 0, used = 0;

    for (uint64_t i = 0; i < m->set_count; i++) {
        all += sets[i];
        used += sets[i] != 0;
    }
    uint64_t *const sorted = calloc(used + 1, sizeof(*sorted));
    if (sorted == NULL)
        return m->set_count;
    for (uint64_t i = 0, k = 0; i < m->set_count; i++) {
        if (sets[i] != 0)
            sorted[k++] = sets[i];
    }
    qsort(sorted, used, sizeof(*sorted), compare_down);
    while (count < used && sum < all - all / 10)
        sum += sorted[count++];
    free(sorted);
    return count;
}

unsigned
memory_reach(const struct memory *m, const struct memory_object *o)
{
    const uint64_t lines = m->record->cache.size / m->record->cache.line;
    const uint64_t capacity = o->counts[MEMORY_CAPACITY];
    uint64_t above = 0;
    unsigned power = 0;

    while (power < 63 && UINT64_C(1) << power <= lines)
        power++;
    for (unsigned i = power + 1; i < MEMORY_POWERS; i++)
        above += o->reuse[i];
    /* A cache whose lines are no power of two has a part of the first power's
     * lines: those that missed are not among the ones above. */
    uint64_t sum = o->reuse[power];
    if ((lines & (lines - 1)) != 0 && capacity < above + sum)
        sum = capacity > above ? capacity - above : 0;
    const uint64_t all = above + sum;
    while (power + 1 < MEMORY_POWERS && sum < all - all / 10)
        sum += o->reuse[++power];
    return power;
}

/* Adds a finding about `misses` of an object; `few`: of steady false sharing.
 */
static int
push_finding(struct memory *m, enum memory_advice advice, uint32_t object,
             uint64_t misses, bool few)
{
    struct memory_finding *const f = add_element(
        (void **)&m->findings, &m->finding_count, sizeof(*m->findings));

    if (f == NULL)
        return TALLY_ENOMEM;
    *f = (struct memory_finding){
        .advice = advice, .object = object, .misses = misses, .few = few};
    return 0;
}

/* Returns whether so many accesses or misses are enough of all accesses of the
 * program. */
static bool
is_worth(const struct memory *m, uint64_t cost)
{
    const uint64_t accesses =
        m->counts[MEMORY_LOADS] + m->counts[MEMORY_STORES];
    const uint64_t least = m->record->cache.level == CACHE_L1D
                               ? FINDING_ACCESSES
                               : FINDING_ACCESSES_BEHIND;

    return cost >= accesses / least;
}

/* Adds a finding about `misses` of an object, if these are enough. How often
 * threads take lines from each other depends on how long their turns are, so
 * that there the object's accesses count. */
static int
add_finding(struct memory *m, enum memory_advice advice, uint32_t object,
            uint64_t misses)
{
    const uint64_t all = memory_misses(m->counts);
    const uint64_t *const own = m->objects[object].counts;
    const uint64_t cost = memory_is_sharing(advice)
                              ? own[MEMORY_LOADS] + own[MEMORY_STORES]
                              : misses;

    if (misses < FINDING_MISSES || misses < all / 100 * FINDING_PERCENT ||
        !is_worth(m, cost))
        return 0;
    return push_finding(m, advice, object, misses, false);
}

/* Adds what threads share of an object: what find_apart() found to be false
 * sharing, if that is enough for a finding, or if the lines come over with the
 * turns; all other coherence misses are of true sharing. */
static int
add_sharing(struct memory *m, uint32_t object)
{
    const struct memory_object *const o = &m->objects[object];
    const uint64_t all = o->counts[MEMORY_COHERENCE];
    const size_t before = m->finding_count;
    int error = add_finding(m, MEMORY_SEPARATE, object, o->apart);

    if (error == 0 && m->finding_count == before && o->steady.misses != 0 &&
        is_worth(m, o->counts[MEMORY_LOADS] + o->counts[MEMORY_STORES]))
        error = push_finding(m, MEMORY_SEPARATE, object, o->apart, true);
    if (error != 0)
        return error;
    return add_finding(m, MEMORY_SHARE, object,
                       m->finding_count != before ? all - o->apart : all);
}

/* Returns whether less than a third of what came in for an object was used, of
 * an object that came in more than a few times. What threads take from each
 * other again and again is not to be put together; and lines that leave for
 * others of their set leave before they are used. */
static bool
is_sparse(const struct memory_object *o)
{
    return o->name->used.fetched > 4096 &&
           o->name->used.touched < o->name->used.fetched / 3 &&
           o->counts[MEMORY_COHERENCE] + o->counts[MEMORY_CONFLICT] <
               memory_misses(o->counts) / 2;
}

static int
compare_findings(const void *x, const void *y)
{
    const struct memory_finding *a = x, *b = y;
    const bool shares = memory_is_sharing(a->advice);

    if (shares != memory_is_sharing(b->advice))
        return shares ? -1 : 1;

    if (a->misses != b->misses)
        return a->misses < b->misses ? 1 : -1;
    if (a->object != b->object)
        return a->object < b->object ? -1 : 1;
    return (int)a->advice - (int)b->advice;
}

/* Adds a finding about the misses of an object of one class, unless they are
 * most of them the dynamic loader's: it relocates each library before the
 * program begins, and a program can do nothing about that. */
static int
add_class(struct memory *m, enum memory_advice advice, uint32_t object,
          enum memory_count class)
{
    const struct memory_object *const o = &m->objects[object];

    return o->loader[class] > o->counts[class] / 2
               ? 0
               : add_finding(m, advice, object, o->counts[class]);
}

static int
find_findings(struct memory *m)
{
    int error = 0;

    for (uint32_t i = 1; error == 0 && i < m->object_count; i++) {
        const struct memory_object *const o = &m->objects[i];
        const uint64_t misses = memory_misses(o->counts);
        if (o->is_loaders)
            continue;
        error = add_sharing(m, i);
        if (error == 0)
            error = add_class(m, MEMORY_SPREAD, i, MEMORY_CONFLICT);
        if (error == 0)
            error = add_class(m, MEMORY_BLOCK, i, MEMORY_CAPACITY);
        if (error == 0)
            error = add_class(m, MEMORY_STREAM, i, MEMORY_FIRST);
        if (error == 0 && is_sparse(o) &&
            memory_misses(o->loader) <= misses / 2)
            error = add_finding(m, MEMORY_PACK, i, misses);
    }
    sort_rows(m->findings, m->finding_count, sizeof(*m->findings),
              compare_findings);
    return error;
}

/* Orders members by misses, then by object and place. */
static int
compare_members(const void *x, const void *y)
{
    const struct memory_member *a = x, *b = y;
    const uint64_t p = memory_misses(a->counts), q = memory_misses(b->counts);

    if (p != q)
        return p < q ? 1 : -1;
    if (a->object != b->object)
        return a->object < b->object ? -1 : 1;
    if (a->part.offset != b->part.offset)
        return a->part.offset < b->part.offset ? -1 : 1;
    const int order = strcmp(a->part.path, b->part.path);
    if (order != 0)
        return order;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return (a->thread > b->thread) - (a->thread < b->thread);
}

/* Puts the objects in the order of their misses, and the numbers of objects
 * with them. */
static int
sort_objects(struct memory *m)
{
    uint32_t *const to = calloc(m->object_count + 1, sizeof(*to));

    if (to == NULL)
        return TALLY_ENOMEM;
    sort_rows(m->objects, m->object_count, sizeof(*m->objects),
              compare_objects);
    for (uint32_t i = 0; i < m->object_count; i++)
        to[m->objects[i].name - m->by_object->objects.rows] = i;
    for (size_t i = 0; i < m->object_count; i++) {
        for (size_t k = 0; k < m->objects[i].driven_count; k++)
            m->objects[i].driven[k].by = to[m->objects[i].driven[k].by];
    }
    for (size_t i = 0; i < m->finding_count; i++)
        m->findings[i].object = to[m->findings[i].object];
    for (size_t i = 0; i < m->member_count; i++)
        m->members[i].object = to[m->members[i].object];
    for (size_t i = 0; i < m->thread_member_count; i++)
        m->thread_members[i].object = to[m->thread_members[i].object];
    sort_rows(m->thread_members, m->thread_member_count,
              sizeof(*m->thread_members), compare_members);
    sort_rows(m->members, m->member_count, sizeof(*m->members),
              compare_members);
    free(to);
    return 0;
}

/* Setting up */

static int
group(const struct memory *m, const size_t *events,
      const enum breakdown_key *keys, size_t key_count,
      const struct tally_log *log, struct breakdown **b)
{
    struct breakdown_options o = {
        .key_count = key_count,
        .events = events,
        .event_count = EVENT_ROWS,
        .sort = MEMORY_LOAD_MISSES,
    };

    memcpy(o.keys, keys, key_count * sizeof(*keys));
    return breakdown_create(m->record, m->resolver, &o, log, b);
}

static int
fill_in(struct memory *m, const struct tally_log *log)
{
    static const enum breakdown_key objects[] = {BREAKDOWN_OBJECT,
                                                 BREAKDOWN_IMAGE};
    static const enum breakdown_key lines[] = {BREAKDOWN_FUNCTION,
                                               BREAKDOWN_LINE};
    static const enum breakdown_key places[] = {
        BREAKDOWN_OBJECT, BREAKDOWN_FUNCTION, BREAKDOWN_LINE};
    const struct record_cache *const cache = &m->record->cache;
    size_t *const events = m->events;

    if (!m->record->has_reasons || !find_events(m->record, events))
        return tally_fail(log, TALLY_EUNKNOWN,
                          "%s does not say why data missed: record it with "
                          "tally record --why",
                          m->record->path);
    m->set_count = cache->size / cache->line / cache->ways;
    if (m->set_count > SETS_MOST)
        return tally_fail(log, TALLY_EUNKNOWN,
                          "%s is of an %s of %" PRIu64
                          " sets, and tally memory tells at most %" PRIu64
                          " apart: record with a smaller --set %s.size",
                          m->record->path, level_title(cache->level),
                          m->set_count, SETS_MOST,
                          tally_caches[cache->level].name);
    m->any_machine =
        strcmp(m->record->events[events[0]].name, event_rows[0].name) != 0;
    find_standing(m, events);
    int error = group(m, events, objects, 2, log, &m->by_object);
    if (error == 0)
        error = group(m, events, lines, 2, log, &m->by_line);
    if (error == 0)
        error = group(m, events, places, 3, log, &m->by_place);
    if (error != 0)
        return error;
    m->sets = calloc(m->set_count, sizeof(*m->sets));
    if (m->sets == NULL)
        error = TALLY_ENOMEM;
    add_values(m->by_object->totals, m->counts);
    if (error == 0)
        error = take_objects(m);
    if (error == 0)
        error = take_reasons(m);
    if (error == 0)
        error = members_find(m);
    if (error == 0)
        error = take_lines(m);
    sort_rows(m->lines, m->line_count, sizeof(*m->lines), compare_places);
    if (error == 0)
        error = take_strides(m);
    if (error == 0)
        take_places(m);
    sort_rows(m->lines, m->line_count, sizeof(*m->lines), compare_lines);
    if (error == 0)
        error = find_findings(m);
    if (error == 0)
        error = sort_objects(m);
    return error == TALLY_ENOMEM ? tally_fail(log, error,
                                              "no memory to find "
                                              "why data missed")
                                 : error;
}

int
memory_create(const struct record *record, struct resolver *resolver,
              const struct tally_log *log, struct memory **result)
{
    struct memory *const m = calloc(1, sizeof(*m));

    if (m == NULL)
        return tally_fail(log, TALLY_ENOMEM, "no memory for a report");
    m->record = record;
    m->resolver = resolver;
    const int error = fill_in(m, log);
    if (error != 0)
        memory_destroy(m);
    else
        *result = m;
    return error;
}

void
memory_destroy(struct memory *m)
{
    if (m == NULL)
        return;
    for (size_t i = 0; m->objects != NULL && i < m->object_count; i++) {
        free(m->objects[i].sets);
        free(m->objects[i].driven);
        free(m->objects[i].shared);
        free(m->objects[i].parts);
    }
    free(m->objects);
    free(m->members);
    free(m->thread_members);
    free(m->lines);
    free(m->turns);
    free(m->findings);
    free(m->sets);
    breakdown_destroy(m->by_object);
    breakdown_destroy(m->by_line);
    breakdown_destroy(m->by_place);
    free(m);
}
