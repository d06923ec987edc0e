/* SPDX-License-Identifier: MIT */
#include "machine/classes.h"

#include <stdlib.h>
#include <string.h>

#include "machine/queue.h"

#define LEAST_PLACES 1024u

/* Numbers of caches are those of caches of the level. */
struct classes_entry {
    uint64_t key; /* in `lines` the number of the line + 1; in `losses` as
                     loss_key() has it; 0: the place is free */
    union {
        struct {
            uint64_t seen; /* caches that have had the line, a bit each */
            uint64_t lost; /* caches that lost the line to an access, and have
                              not had it since */
        };
        struct {
            uint64_t bytes;  /* that were stored to */
            uint32_t thread; /* that has stored last, or has taken the line */
        };
    };
};

/* Tables */

static uint64_t
mix(uint64_t key)
{
    return (key ^ key >> 29) * UINT64_C(0x9e3779b97f4a7c15) >> 20;
}

/* Returns the place of a key in a table that has places. */
static struct classes_entry *
find(const struct classes_table *t, uint64_t key)
{
    uint64_t at = mix(key);

    while (t->entries[at & t->mask].key != 0 &&
           t->entries[at & t->mask].key != key)
        at++;
    return &t->entries[at & t->mask];
}

/* Makes room for one more key. Returns false: there is no memory. */
static bool
grow(struct classes_table *t)
{
    struct classes_entry *const old = t->entries;
    const uint64_t places = old == NULL ? 0 : t->mask + 1;

    if (2 * t->count < places)
        return true;
    const uint64_t size = old == NULL ? LEAST_PLACES : 2 * places;
    struct classes_entry *const entries = calloc(size, sizeof(*entries));
    if (entries == NULL)
        return false;
    t->entries = entries;
    t->mask = size - 1;
    for (uint64_t i = 0; i < places; i++) {
        if (old[i].key != 0)
            *find(t, old[i].key) = old[i];
    }
    free(old);
    return true;
}

/* Returns what is known of a key from now on, or NULL: there is no memory. */
static struct classes_entry *
claim(struct classes_table *t, uint64_t key)
{
    if (!grow(t))
        return NULL;
    struct classes_entry *const e = find(t, key);
    t->count += e->key == 0;
    e->key = key;
    return e;
}

static void
empty(struct classes_table *t)
{
    free(t->entries);
    *t = (struct classes_table){0};
}

/* Returns what is known of a line, or NULL: nothing. */
static struct classes_entry *
known_line_of(const struct classes *c, uint64_t line)
{
    if (c->lines.entries == NULL)
        return NULL;
    struct classes_entry *const e = find(&c->lines, line + 1);
    return e->key != 0 ? e : NULL;
}

/* Returns what is known of a line from now on, or NULL: there is no memory. */
static struct classes_entry *
line_of(struct classes *c, uint64_t line)
{
    return claim(&c->lines, line + 1);
}

static uint64_t
loss_key(uint64_t line, unsigned cache)
{
    return (line << 6 | cache) + 1;
}

/* A cache has lost the line to an access of a thread. Without memory that is
 * not known. */
static void
note_loss(struct classes *c, struct classes_entry *e, unsigned cache,
          uint32_t thread)
{
    struct classes_entry *const loss =
        claim(&c->losses, loss_key(e->key - 1, cache));
    if (loss == NULL)
        return;
    loss->bytes = 0;
    loss->thread = thread;
    e->lost |= (uint64_t)1 << cache;
    c->lost |= (uint64_t)1 << (e->key - 1) % 64;
}

/* A thread stores to bytes of a line that other caches have lost. */
static void
note_store(struct classes *c, const struct classes_entry *e, uint64_t bytes,
           uint32_t thread)
{
    for (uint64_t left = e->lost; left != 0; left &= left - 1) {
        struct classes_entry *const loss = find(
            &c->losses, loss_key(e->key - 1, (unsigned)__builtin_ctzll(left)));
        loss->bytes |= bytes;
        loss->thread = thread;
    }
}

/* A request */

/* Returns the bytes of a line that an access touches, a bit each; of lines of
 * more than 64 bytes a bit stands for several. */
static uint64_t
bytes_of(const struct watched *w, uint64_t addr, uint64_t size)
{
    const unsigned scale = w->shift > 6 ? w->shift - 6 : 0;
    const uint64_t line = (uint64_t)1 << w->shift;
    const uint64_t from = addr & (line - 1);
    const uint64_t left = line - from;
    const uint64_t last = (from + (size > left ? left : size) - 1) >> scale;

    return UINT64_MAX >> (63 - last) & UINT64_MAX << (from >> scale);
}

/* Notes what a thread stores to, in each line of the level. */
static void
note_stores(struct classes *c, uint64_t addr, uint64_t size, uint32_t thread)
{
    const struct watched *const w = &c->reasons->level;
    const uint64_t line = (uint64_t)1 << w->shift;
    const uint64_t end = addr + size;

    for (uint64_t at = addr; at < end; at = (at & ~(line - 1)) + line) {
        if ((c->lost >> (at >> w->shift) % 64 & 1) == 0)
            continue;
        const struct classes_entry *const e = known_line_of(c, at >> w->shift);
        if (e != NULL && e->lost != 0)
            note_store(c, e, bytes_of(w, at, end - at), thread);
    }
}

/* Returns which of the caches `among` have a line, a bit each. */
static uint64_t
holders_of(const struct classes *c, uint64_t line, uint64_t among)
{
    const struct classes_entry *const e = known_line_of(c, line);
    uint64_t held = 0;

    for (uint64_t left = e != NULL ? e->seen & ~e->lost & among : 0; left != 0;
         left &= left - 1) {
        if (watched_has(&c->reasons->level, (unsigned)__builtin_ctzll(left),
                        line))
            held |= left & -left;
    }
    return held;
}

/* Returns how many lines of the level the longest line of the machine has. */
static unsigned
span_of(const struct watched *w)
{
    uint64_t longest = (uint64_t)1 << w->shift;

    for (unsigned i = 0; i < CACHE_COUNT; i++) {
        const uint64_t line = w->chip->params[tally_caches[i].line];
        if (w->chip->params[tally_caches[i].size] != 0 && line > longest)
            longest = line;
    }
    const uint64_t span = longest >> w->shift;
    return span < CLASSES_SPAN ? (unsigned)span : CLASSES_SPAN;
}

/* Has the host fetch what classes_after() looks at for a line of a cache: the
 * tables are larger than the host's caches. */
static void
fetch_line(const struct classes *c, unsigned cache, uint64_t line)
{
    if (c->lines.entries != NULL)
        __builtin_prefetch(&c->lines.entries[mix(line + 1) & c->lines.mask], 1);
    reasons_fetch(c->reasons, cache, line);
}

void
classes_before(struct classes_step *t, struct strand *s,
               const struct request *request, unsigned size)
{
    const struct classes *const c = s->chip->classes;
    const struct watched *const w = &c->reasons->level;
    const bool counts = (WATCHED_KINDS >> request->kind & 1) != 0;

    t->s = s;
    t->request = *request;
    t->cache = watched_number(w, s);
    fetch_line(c, t->cache, request->addr >> w->shift);
    t->size = size != 0 ? size : 8 - (unsigned)(request->addr % 8);
    t->bytes = bytes_of(w, request->addr, t->size);
    t->missed = s->total[w->misses[request->kind]];
    t->front_missed = w->front != NULL ? s->total[w->front[request->kind]] : 0;
    /* Of the accesses of its own core a cache loses lines to atomics alone. */
    const uint64_t among = request->kind == REQUEST_ATOMIC
                               ? UINT64_MAX
                               : ~((uint64_t)1 << t->cache);
    t->span = counts && (w->count > 1 || w->level == CACHE_L1D) &&
                      (c->used & among) != 0
                  ? span_of(w)
                  : 0;
    t->first =
        t->span == 0 ? 0 : request->addr >> w->shift & ~(uint64_t)(t->span - 1);
    for (unsigned i = 0; i < t->span; i++)
        t->held[i] = holders_of(c, t->first + i, among);
}

/* Returns whether the request has asked the level. */
static bool
asks_level(const struct classes_step *t, bool behind)
{
    const struct watched *const w = &t->s->chip->classes->reasons->level;
    const struct core *const core = t->s->core;
    const unsigned kind = t->request.kind;

    if (w->front == NULL)
        return (DATA_KINDS >> kind & 1) != 0;
    if (w->front[kind] != 0)
        return t->s->total[w->front[kind]] != t->front_missed;
    if (kind != REQUEST_FETCH)
        return true;
    return behind && (core->bus == NULL || core->bus->l2i.words == NULL);
}

/* Notes which caches have lost lines to the request. */
static void
note_losses(struct classes *c, const struct classes_step *t)
{
    for (unsigned i = 0; i < t->span; i++) {
        const uint64_t held = t->held[i];
        const uint64_t gone =
            held != 0 ? held & ~holders_of(c, t->first + i, held) : 0;
        for (uint64_t left = gone; left != 0; left &= left - 1)
            note_loss(c, known_line_of(c, t->first + i),
                      (unsigned)__builtin_ctzll(left), t->s->counts->thread);
    }
}

static void
raise(const struct classes_step *t, unsigned load, unsigned store)
{
    const bool stores = (WATCHED_STORES >> t->request.kind & 1) != 0;
    const unsigned signal = stores ? store : load;

    t->s->total[signal]++;
    if (t->s->recorder != NULL)
        recorder_charge_one(t->s, &t->request, signal, 1);
}

/* Counts the miss of a line that an access has taken from the cache. */
static void
count_lost(const struct classes *c, const struct classes_step *t,
           const struct recorder_access *access, unsigned cache)
{
    const uint64_t line = t->request.addr >> c->reasons->level.shift;
    const struct classes_entry *const loss =
        find(&c->losses, loss_key(line, cache));

    raise(t, SIGNAL_LEVEL_LOAD_COHERENCE_MISSES,
          SIGNAL_LEVEL_STORE_COHERENCE_MISSES);
    if ((loss->bytes & t->bytes) == 0)
        raise(t, SIGNAL_LEVEL_LOAD_FALSE_MISSES,
              SIGNAL_LEVEL_STORE_FALSE_MISSES);
    reasons_lost(c->reasons, t->s, &t->request, access,
                 &(struct reasons_taken){t->bytes, loss->bytes, loss->thread,
                                         strand_ran(t->s)});
}

/* Counts the class of a miss. `near`: a fully associative cache has the line.
 */
static void
count_miss(const struct classes *c, const struct classes_step *t,
           const struct recorder_access *access, const struct classes_entry *e,
           unsigned cache, bool near)
{
    if (e->lost >> cache & 1) {
        count_lost(c, t, access, cache);
        return;
    }
    if ((e->seen >> cache & 1) == 0) {
        raise(t, SIGNAL_LEVEL_LOAD_FIRST_MISSES,
              SIGNAL_LEVEL_STORE_FIRST_MISSES);
        return;
    }
    if (near)
        raise(t, SIGNAL_LEVEL_LOAD_CONFLICT_MISSES,
              SIGNAL_LEVEL_STORE_CONFLICT_MISSES);
    else
        raise(t, SIGNAL_LEVEL_LOAD_CAPACITY_MISSES,
              SIGNAL_LEVEL_STORE_CAPACITY_MISSES);
    reasons_missed(c->reasons, t->s, &t->request, access, near);
}

/* The request has asked the level. */
static void
note_asked(struct classes *c, const struct classes_step *t)
{
    const struct watched *const w = &c->reasons->level;
    const unsigned kind = t->request.kind, cache = t->cache;
    const struct recorder_access access = recorder_access_of(t->s, &t->request);
    const bool near = reasons_asked(c->reasons, t->s, &t->request, &access);
    const bool missed = t->s->total[w->misses[kind]] != t->missed;
    struct classes_entry *const e = line_of(c, t->request.addr >> w->shift);

    if (e == NULL)
        return;
    if (missed && (WATCHED_KINDS >> kind & 1) != 0)
        count_miss(c, t, &access, e, cache, near);
    if (missed) {
        reasons_filled(c->reasons, t->s, &t->request, &access);
        if (t->s->recorder != NULL && t->s->recorder->lines != NULL)
            recorder_fetched(t->s, &t->request, 1);
    }
    e->seen |= (uint64_t)1 << cache;
    c->used |= (uint64_t)1 << cache;
    e->lost &= ~((uint64_t)1 << cache);
}

void
classes_after(struct classes_step *t, bool behind)
{
    struct classes *const c = t->s->chip->classes;
    const bool writes = (WATCHED_STORES >> t->request.kind & 1) != 0 ||
                        (t->request.flags & REQUEST_OWN) != 0;

    note_losses(c, t);
    if (asks_level(t, behind))
        note_asked(c, t);
    if (writes)
        note_stores(c, t->request.addr, t->size, t->s->counts->thread);
}

/* Accesses that filters let pass */

/* Returns whether an access asks the level that filters let pass. */
static bool
asks_known(const struct strand *s, const struct classes_access *a)
{
    const enum cache_id level = s->chip->classes->reasons->level.level;
    const bool passes = a->store ? s->chip->write_through : a->passes;

    return level == CACHE_L1D ? !passes : level == CACHE_L2 && passes;
}

/* Tells the bytes of an access, in one line of the level, that filters let
 * pass. */
static void
note_known(struct strand *s, const struct classes_access *a, uint64_t addr,
           uint64_t size)
{
    struct classes *const c = s->chip->classes;
    const struct request request = {
        .addr = addr,
        .kind = a->store ? REQUEST_STORE : REQUEST_LOAD,
    };

    if (asks_known(s, a))
        reasons_known(c->reasons, s, &request,
                      addr == a->addr ? a->object : recorder_object(s, addr));
    if (a->store)
        note_stores(c, addr, size, s->counts->thread);
}

/* Returns whether a queued request may be one of the access. An atomic may be
 * shown as a store alone, so that loads may be a store's. */
static bool
is_of_access(const struct request *r, const struct classes_access *a)
{
    const bool stores = r->kind == REQUEST_STORE || r->kind == REQUEST_THROUGH;

    return (WATCHED_KINDS >> r->kind & 1) != 0 && r->addr - a->addr < a->all &&
           (a->store || !stores);
}

/* Finds the sizes of the queued requests of an access. Returns whether those of
 * all are known then. */
static bool
find_sizes(struct strand *s, const struct classes_access *a)
{
    const size_t count = (size_t)(s->queue.next - s->queue.entries);
    bool all = true;

    for (size_t i = 0; i < count; i++) {
        const struct request *const r = &s->queue.entries[i];
        if ((WATCHED_KINDS >> r->kind & 1) == 0 || s->sizes[i] != 0)
            continue;
        if (!is_of_access(r, a)) {
            all = false;
            continue;
        }
        const uint64_t left = a->all - (r->addr - a->addr);
        s->sizes[i] = (uint8_t)(left < 64 ? left : 64);
    }
    return all;
}

/* Returns whether the queue has a request of the access in the line. */
static bool
is_queued(const struct strand *s, const struct classes_access *a, uint64_t addr)
{
    const unsigned shift = s->chip->classes->reasons->level.shift;

    for (const struct request *r = s->queue.entries; r < s->queue.next; r++) {
        if (is_of_access(r, a) && r->addr >> shift == addr >> shift)
            return true;
    }
    return false;
}

/* Tells a part of an access, in one line of the level. */
static void
tell_part(struct strand *s, const struct classes_access *a, uint64_t addr)
{
    struct classes *const c = s->chip->classes;
    const bool alone = runs_alone(s);

    if (!alone)
        lock_take(&c->lock);
    note_known(s, a, addr, a->addr + a->size - addr);
    if (!alone)
        lock_give(&c->lock);
}

/* The parts come in order: where the first is queued, the queue is taken
 * through the caches before the next is told. */
void
classes_access(struct strand *s, const struct classes_access *a)
{
    const struct watched *const w = &s->chip->classes->reasons->level;
    const uint64_t line = (uint64_t)1 << w->shift;
    const bool sized = s->queue.next != s->queue.entries && find_sizes(s, a);
    const uint64_t second = (a->addr & ~(line - 1)) + line;
    const bool queued = is_queued(s, a, a->addr);
    const bool second_queued =
        second < a->addr + a->size && is_queued(s, a, second);

    if (!queued)
        tell_part(s, a, a->addr);
    if (queued && sized)
        strand_drain(s);
    for (uint64_t at = second; at < a->addr + a->size; at += line) {
        if (at != second || !second_queued)
            tell_part(s, a, at);
    }
    if (!queued && sized)
        strand_drain(s);
}

/* Setting up */

void
classes_init(struct classes *c, struct reasons *reasons)
{
    classes_finish(c);
    c->reasons = reasons;
}

void
classes_clear(struct classes *c)
{
    empty(&c->lines);
    empty(&c->losses);
    c->used = c->lost = 0;
    if (c->reasons != NULL)
        reasons_clear(c->reasons);
}

void
classes_finish(struct classes *c)
{
    empty(&c->lines);
    empty(&c->losses);
    memset(c, 0, sizeof(*c));
}
