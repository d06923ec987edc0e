/* SPDX-License-Identifier: MIT */
#include "machine/reasons.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define LEAST_PLACES 1024u

static uint64_t
mix(uint64_t key)
{
    return (key ^ key >> 29) * UINT64_C(0x9e3779b97f4a7c15);
}

/* The table of reasons */

static bool
is_same(const struct record_reason *a, const struct record_reason *b)
{
    return a->kind == b->kind && a->object == b->object &&
           a->other == b->other && a->thread == b->thread &&
           a->place == b->place;
}

/* Returns where a reason is in the index, or the free place where it goes. */
static uint32_t *
find(const struct reasons *r, const struct record_reason *reason)
{
    const uint64_t key = mix(mix(reason->place) +
                             ((uint64_t)reason->object << 32) + reason->other) +
                         ((uint64_t)reason->kind << 32) + reason->thread;
    uint64_t at = mix(key) >> 20;

    for (;; at++) {
        uint32_t *const place = &r->index[at & r->mask];
        if (*place == 0 || is_same(&r->process->reasons[*place - 1], reason))
            return place;
    }
}

/* Makes room in the index for one more reason. */
static bool
grow_index(struct reasons *r)
{
    const uint32_t size = r->index == NULL ? LEAST_PLACES : 2 * (r->mask + 1);

    if (r->index != NULL && 2 * r->count <= r->mask)
        return true;
    uint32_t *const index = calloc(size, sizeof(*index));
    if (index == NULL)
        return false;
    free(r->index);
    r->index = index;
    r->mask = size - 1;
    for (uint32_t i = 0; i < r->count; i++)
        *find(r, &r->process->reasons[i]) = i + 1;
    return true;
}

/* Returns whether the strand's accesses count now. */
static bool
counts(const struct strand *s)
{
    return s->recorder != NULL && !s->recorder->outside;
}

/* Returns a reason with the bytes of this one, made if need be. NULL: it finds
 * no room and is not counted, so that the sum of the reasons is less than the
 * misses. */
static struct record_reason *
take(struct reasons *r, const struct record_reason *reason)
{
    if (!grow_index(r))
        return NULL;
    uint32_t *const place = find(r, reason);
    if (*place == 0) {
        if (r->count == RECORD_REASONS)
            return NULL;
        r->process->reasons[r->count] = *reason;
        r->process->reasons[r->count].count = 0;
        *place = ++r->count;
        atomic_store(&r->process->reason_count, r->count);
    }
    struct record_reason *const known = &r->process->reasons[*place - 1];
    known->bytes |= reason->bytes;
    known->other_bytes |= reason->other_bytes;
    return known;
}

/* Counts a reason, and returns it, or NULL as take() does. */
static struct record_reason *
add(struct reasons *r, const struct record_reason *reason)
{
    struct record_reason *const known = take(r, reason);

    if (known != NULL)
        known->count++;
    return known;
}

/* What drives lines out */

static uint64_t
line_of(const struct reasons *r, const struct request *request)
{
    return request->addr >> r->level.shift;
}

static struct reasons_cache *
cache_of(const struct reasons *r, const struct strand *s)
{
    return &r->caches[watched_number(&r->level, s)];
}

static struct reasons_gone *
find_gone(const struct reasons_cache *c, uint64_t key)
{
    uint64_t at = mix(key) >> 20;

    while (c->gone[at & c->mask].line != 0 && c->gone[at & c->mask].line != key)
        at++;
    return &c->gone[at & c->mask];
}

static bool
grow_gone(struct reasons_cache *c)
{
    const struct reasons_gone *const old = c->gone;
    const uint64_t places = old == NULL ? 0 : c->mask + 1;
    const uint64_t size = old == NULL ? LEAST_PLACES : 2 * places;

    if (2 * c->count < places)
        return true;
    struct reasons_gone *const gone = calloc(size, sizeof(*gone));
    if (gone == NULL)
        return false;
    c->gone = gone;
    c->mask = size - 1;
    for (uint64_t i = 0; i < places; i++) {
        if (old[i].line != 0)
            *find_gone(c, old[i].line) = old[i];
    }
    free((void *)old);
    return true;
}

/* Notes that a line has left a cache for the line that an access brings in. */
static void
note_gone(struct reasons_cache *c, const struct recorder_access *by,
          uint64_t line)
{
    if (!grow_gone(c))
        return;
    struct reasons_gone *const gone = find_gone(c, line + 1);
    c->count += gone->line == 0;
    *gone = (struct reasons_gone){line + 1, by->place, by->object};
}

void
reasons_filled(struct reasons *r, const struct strand *s,
               const struct request *request,
               const struct recorder_access *access)
{
    const unsigned number = watched_number(&r->level, s);
    struct reasons_cache *const c = &r->caches[number];
    const uint64_t ways = r->level.ways;
    const uint64_t line = line_of(r, request);
    uint64_t *room = NULL;

    if (c->lines == NULL)
        c->lines = calloc(r->level.sets * ways, sizeof(*c->lines));
    if (c->lines == NULL)
        return;
    uint64_t *const set = c->lines + (line & (r->level.sets - 1)) * ways;
    for (uint32_t i = 0; i < ways; i++) {
        if (set[i] == line + 1)
            set[i] = 0;
        if (set[i] != 0 && !watched_has(&r->level, number, set[i] - 1)) {
            note_gone(c, access, set[i] - 1);
            set[i] = 0;
        }
        if (set[i] == 0)
            room = &set[i];
    }
    if (room != NULL)
        *room = line + 1;
}

/* Accesses */

/* Counts that a line of an object has come back after so many others, 1 at
 * least. */
static void
count_reuse(struct reasons *r, uint32_t object, uint64_t distance)
{
    const uint32_t power = 64 - (unsigned)__builtin_clzll(distance);
    const unsigned at = (object * 32 + power) % REASONS_RECENT;

    if (r->recent[at].reason == NULL || r->recent[at].object != object ||
        r->recent[at].power != power) {
        r->recent[at].object = object;
        r->recent[at].power = power;
        r->recent[at].reason = add(r, &(struct record_reason){
                                          .kind = RECORD_REASON_REUSE,
                                          .object = object,
                                          .place = power,
                                      });
        return;
    }
    r->recent[at].reason->count++;
}

void
reasons_fetch(const struct reasons *r, uint32_t cache, uint64_t line)
{
    const struct reasons_cache *const c = &r->caches[cache];

    reuse_fetch(&c->reuse, line);
    if (c->gone != NULL)
        __builtin_prefetch(&c->gone[mix(line + 1) >> 20 & c->mask], 1);
}

bool
reasons_asked(struct reasons *r, const struct strand *s,
              const struct request *request,
              const struct recorder_access *access)
{
    const uint64_t distance =
        reuse_touch(&cache_of(r, s)->reuse, line_of(r, request));

    if (distance != REUSE_NEVER && distance != 0 &&
        (WATCHED_KINDS >> request->kind & 1) != 0 && counts(s))
        count_reuse(r, access->object, distance);
    return distance < r->level.lines;
}

void
reasons_known(struct reasons *r, const struct strand *s,
              const struct request *request, uint32_t object)
{
    const uint64_t distance =
        reuse_touch(&cache_of(r, s)->reuse, line_of(r, request));

    if (distance != REUSE_NEVER && distance != 0 && counts(s))
        count_reuse(r, object, distance);
}

void
reasons_missed(struct reasons *r, const struct strand *s,
               const struct request *request,
               const struct recorder_access *access, bool conflict)
{
    const struct reasons_cache *const c = cache_of(r, s);
    const uint64_t line = line_of(r, request);
    struct reasons_gone by = {0};

    if (!counts(s))
        return;
    if (c->gone != NULL)
        by = *find_gone(c, line + 1);
    add(r,
        &(struct record_reason){
            .kind = conflict ? RECORD_REASON_CONFLICT : RECORD_REASON_CAPACITY,
            .object = access->object,
            .other = by.object,
            .place = by.place,
        });
    if (conflict)
        add(r, &(struct record_reason){
                   .kind = RECORD_REASON_SET,
                   .object = access->object,
                   .place = line & (r->level.sets - 1),
               });
}

void
reasons_turn(struct reasons *r, const struct strand *s)
{
    add(r, &(struct record_reason){.kind = RECORD_REASON_TURNS,
                                   .thread = s->counts->thread});
}

/* Counts the instructions of the turn before a miss. */
static void
add_ran(struct reasons *r, const struct record_reason *miss, uint32_t ran)
{
    struct record_reason reason = *miss;

    reason.kind = RECORD_REASON_RAN;
    reason.bytes = reason.other_bytes = 0;
    struct record_reason *const known = ran != 0 ? take(r, &reason) : NULL;
    if (known != NULL)
        known->count += ran;
}

void
reasons_lost(struct reasons *r, const struct strand *s,
             const struct request *request,
             const struct recorder_access *access,
             const struct reasons_taken *taken)
{
    struct lines *const lines = s->recorder != NULL ? s->recorder->lines : NULL;
    struct record_reason reason = {
        .kind = (taken->bytes & taken->stored) != 0 ? RECORD_REASON_SHARED
                                                    : RECORD_REASON_FALSE,
        .object = access->object,
        .other = taken->thread,
        .thread = s->counts->thread,
        .place = line_of(r, request),
        .bytes = taken->bytes,
        .other_bytes = taken->stored,
    };

    if (!counts(s))
        return;
    add(r, &reason);
    add_ran(r, &reason, taken->ran);
    /* The use of lines is that of objects. */
    if (reason.kind == RECORD_REASON_SHARED || lines == NULL ||
        reason.object == 0)
        return;
    reason.kind = RECORD_REASON_USED;
    reason.bytes = reason.other_bytes = 0;
    struct record_reason *const used = take(r, &reason);
    if (used != NULL)
        lines_watch(lines, request->addr, taken->stored, &used->count);
}

/* Setting up */

void
reasons_clear(struct reasons *r)
{
    for (unsigned i = 0; i < r->level.count && r->caches != NULL; i++) {
        struct reasons_cache *const c = &r->caches[i];
        free(c->lines);
        free(c->gone);
        reuse_finish(&c->reuse);
        *c = (struct reasons_cache){0};
    }
}

int
reasons_begin(struct reasons *r, const struct chip *chip, enum cache_id level)
{
    reasons_clear(r);
    free(r->caches);
    watched_init(&r->level, chip, level);
    r->caches = calloc(r->level.count, sizeof(*r->caches));
    return r->caches != NULL ? 0 : TALLY_ENOMEM;
}

void
reasons_finish(struct reasons *r)
{
    reasons_clear(r);
    free(r->caches);
    free(r->index);
    memset(r, 0, sizeof(*r));
}

void
reasons_fork(struct reasons *r, struct record_process *process)
{
    free(r->index);
    r->index = NULL;
    r->mask = r->count = 0;
    memset(r->recent, 0, sizeof(r->recent));
    r->process = process;
}
