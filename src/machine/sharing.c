/* SPDX-License-Identifier: MIT */
#include "machine/sharing.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "machine/callers.h"
#include "machine/classes.h"
#include "machine/coherence.h"
#include "source/moves.h"
#include "machine/pages.h"
#include "machine/prefetching.h"
#include "machine/layout_first.h"
#include "machine/reasons.h"
#include "machine/recency.h"
#include "machine/recorder.h"

#define LEAST_LINES 1024u
#define NO_OWNER 0u

/* What is known of a line. Without COMPONENT_SHARING `holders` alone is kept.
 */
struct shared_line {
    uint64_t key;     /* number of the line + 1; 0: the place is free */
    uint64_t holders; /* bits: cores whose caches may have the line; never
                         without one whose caches have it */
    uint64_t lost;    /* cores whose L1D lost the line to a store, and that have
                         not had it since */
    uint64_t seen;    /* cores whose L1D has had the line; with classes */
    uint32_t notes;   /* of these cores, a note each; numbers + 1 */
    uint32_t owner;   /* the core that modified the line, + 1; or NO_OWNER. What
                         the core's caches have lost is not modified. */
};

/* What other cores have written since a core's L1D lost a line. */
struct shared_note {
    uint64_t bytes; /* of the line, a bit each */
    uint32_t next;  /* of the line, or free; number + 1 */
    uint32_t core;
    uint32_t thread; /* that has written last, by its number */
};

struct sharing {
    bool asks;    /* COMPONENT_SHARING runs */
    bool classes; /* COMPONENT_CLASSES runs */
    bool runs;    /* strands ask; several cores have run, or asks */
    struct shared_line *lines;      /* open addressing, owned; NULL: none yet */
    uint64_t mask, used;            /* places - 1; taken ones */
    struct shared_line beyond;      /* stands for a line for which there is no
                                       memory */
    struct shared_note *notes;      /* owned */
    uint32_t note_count, free_note; /* how many; first free, + 1 */
    struct recency *recent;         /* by core, owned; NULL: without classes */
};

/* A request on its way through the caches of its core. */
struct step {
    struct strand *s;
    const struct request *r;
    uint64_t line; /* number */
    uint64_t own;  /* bit of the core, and its number */
    uint32_t number;
    uint64_t bytes;
    bool data;   /* is looked up in the L1D */
    bool writes; /* takes the line from others */
    bool hit;    /* of the L1D */
    bool recent; /* a fully associative cache has the line; with classes */
    struct recorder_access access; /* with reasons, and */
    uint32_t ran; /* instructions of the strand's turn before the request */
};

/* In a strand with runs.sharing one of its two filters is for loads and the
 * other for stores. The callbacks of the plugin ask `data` for loads, and for
 * stores `data` or, with stores_apart, `store`. */

/* Returns the filter for loads: each of its lines is the first of its set. */
static inline struct filter *
filter_loads(struct strand *s)
{
    return s->chip->stores_apart ? &s->data : &s->store;
}

/* Returns the filter for stores: each of its lines is the first of its set, and
 * a store to it changes nothing. */
static inline struct filter *
filter_stores(struct strand *s)
{
    return s->chip->stores_apart ? &s->store : &s->data;
}

/* The directory */

/* Returns the first place where a key may be. */
static inline uint64_t
first_place(const struct sharing *sh, uint64_t key)
{
    return (key * UINT64_C(0x9e3779b97f4a7c15)) >> 20 & sh->mask;
}

static uint64_t
place_of(const struct sharing *sh, uint64_t key)
{
    uint64_t at = first_place(sh, key);

    while (sh->lines[at].key != 0 && sh->lines[at].key != key)
        at = (at + 1) & sh->mask;
    return at;
}

/* Has the host fetch what is known of a line, which is about to be asked for:
 * the tables are larger than the host's caches. tally record --why of bzip2
 * takes 0.87 of the time without. */
static void
fetch_line(const struct chip *chip, uint64_t line, uint32_t core)
{
    const struct sharing *const sh = chip->sharing;

    if (sh->lines != NULL)
        __builtin_prefetch(&sh->lines[first_place(sh, line + 1)], 1);
    if (chip->reasons != NULL)
        reasons_fetch(chip->reasons, core, line);
}

static bool
core_has(const struct core *core, uint64_t line)
{
    return cache_has(&core->l1d, line) || cache_has(&core->l2, line);
}

/* Takes out of the holders who no longer has the line. */
static void
verify_holders(const struct chip *chip, struct shared_line *e)
{
    for (uint64_t left = e->holders; left != 0; left &= left - 1) {
        if (!core_has(&chip->cores[__builtin_ctzll(left)], e->key - 1))
            e->holders &= ~(left & -left);
    }
}

static bool
is_needed(const struct shared_line *e)
{
    return e->key != 0 && (e->holders | e->lost | e->seen) != 0;
}

/* Makes room for more lines, without those that no cache has any more and of
 * which nothing is to be remembered. Returns false where there is no memory. */
static bool
grow(const struct chip *chip)
{
    struct sharing *const sh = chip->sharing;
    const struct shared_line *const old = sh->lines;
    const uint64_t places = old == NULL ? 0 : sh->mask + 1;
    uint64_t needed = 0, size = LEAST_LINES;

    for (uint64_t i = 0; i < places; i++) {
        if (old[i].key != 0)
            verify_holders(chip, &sh->lines[i]);
        needed += is_needed(&old[i]);
    }
    while (size < 4 * needed)
        size *= 2;
    struct shared_line *const lines = calloc(size, sizeof(*lines));
    if (lines == NULL)
        return false;
    sh->lines = lines;
    sh->mask = size - 1;
    sh->used = needed;
    for (uint64_t i = 0; i < places; i++) {
        if (is_needed(&old[i]))
            sh->lines[place_of(sh, old[i].key)] = old[i];
    }
    free((void *)old);
    return true;
}

/* Returns whether line_of() makes room for more lines before it adds one. */
static bool
is_full(const struct sharing *sh)
{
    return sh->lines == NULL || 2 * sh->used > sh->mask;
}

/* Returns what is known of a line. The pointer is good until the next call. */
static struct shared_line *
line_of(const struct chip *chip, uint64_t line)
{
    struct sharing *const sh = chip->sharing;

    if (is_full(sh) && !grow(chip))
        sh->beyond =
            (struct shared_line){.key = line + 1, .holders = chip->used_cores};
    if (sh->lines == NULL)
        return &sh->beyond;
    struct shared_line *const e = &sh->lines[place_of(sh, line + 1)];
    if (e->key == line + 1)
        return e;
    if (sh->used == sh->mask) /* A search ends at a free place. */
        return &sh->beyond;
    e->key = line + 1;
    sh->used++;
    return e;
}

/* Notes */

/* Returns a free note, by its number + 1; 0: there is no memory. */
static uint32_t
new_note(struct sharing *sh)
{
    const uint32_t more = sh->note_count == 0 ? LEAST_LINES : sh->note_count;

    if (sh->free_note == 0) {
        struct shared_note *const notes = realloc(
            sh->notes, ((size_t)sh->note_count + more) * sizeof(*notes));
        if (notes == NULL)
            return 0;
        sh->notes = notes;
        for (uint32_t i = sh->note_count; i < sh->note_count + more; i++)
            notes[i].next = i + 1 < sh->note_count + more ? i + 2 : 0;
        sh->free_note = sh->note_count + 1;
        sh->note_count += more;
    }
    const uint32_t number = sh->free_note;
    sh->free_note = sh->notes[number - 1].next;
    return number;
}

/* A core's L1D loses the line to a store. Without memory nothing is noted. */
static void
note_loss(struct sharing *sh, struct shared_line *e, unsigned core)
{
    const uint32_t number = new_note(sh);

    if (number == 0)
        return;
    sh->notes[number - 1] = (struct shared_note){0, e->notes, core, 0};
    e->notes = number;
    e->lost |= (uint64_t)1 << core;
}

/* Ends the note of a core; returns what others have written. */
static struct shared_note
end_note(struct sharing *sh, struct shared_line *e, unsigned core)
{
    uint32_t *at = &e->notes;

    while (sh->notes[*at - 1].core != core)
        at = &sh->notes[*at - 1].next;
    const uint32_t number = *at;
    struct shared_note *const note = &sh->notes[number - 1];
    *at = note->next;
    note->next = sh->free_note;
    sh->free_note = number;
    e->lost &= ~((uint64_t)1 << core);
    return *note;
}

/* A request through the caches of its core */

static void
raise(const struct step *t, unsigned signal, uint64_t count)
{
    t->s->total[signal] += count;
    if (t->s->recorder != NULL && count != 0)
        recorder_charge_one(t->s, t->r, signal, count);
}

/* Removes the line of a request's address from the filters for stores of a
 * core's strands, and with `all` from those for loads. */
static void
forget(struct core *core, uint64_t addr, bool all)
{
    for (struct strand *o = core->strands; o != NULL; o = o->sibling) {
        struct filter *const stores = filter_stores(o);
        struct filter *const loads = filter_loads(o);
        const uint64_t line =
            layout_address(o->chip->layout, addr) & stores->line_mask;
        if (known_line(stores, line) == line)
            filter_put(stores, line, NO_LINE);
        if (all && known_line(loads, line) == line)
            filter_put(loads, line, NO_LINE);
    }
}

/* Takes the line out of the caches of another core. Returns whether one of them
 * had the line. */
static bool
take_copy(const struct step *t, struct shared_line *e, unsigned number)
{
    struct sharing *const sh = t->s->chip->sharing;
    struct core *const core = &t->s->chip->cores[number];
    const bool first = cache_has(&core->l1d, t->line);
    const bool second = cache_has(&core->l2, t->line);

    if (first)
        cache_invalidate(&core->l1d, t->line);
    if (second)
        cache_invalidate(&core->l2, t->line);
    forget(core, t->r->addr, true);
    if (t->s->chip->prefetching) {
        const struct prefetching_lost lost = prefetching_lose(core, t->line);
        raise(t, SIGNAL_L1D_PREFETCHES_USELESS, lost.l1d);
        raise(t, SIGNAL_L2_PREFETCHES_USELESS, lost.l2);
    }
    if (first && sh->asks) {
        raise(t, SIGNAL_L1D_COPIES_TAKEN, 1);
        note_loss(sh, e, number);
    }
    return first || second;
}

/* A store or atomic takes the line from all other cores. */
static void
take_line(const struct step *t, struct shared_line *e)
{
    bool found = false, modified = false;

    for (uint64_t left = e->holders & ~t->own; left != 0; left &= left - 1) {
        const unsigned other = (unsigned)__builtin_ctzll(left);
        const bool had = take_copy(t, e, other);
        found |= had;
        modified |= had && e->owner == other + 1;
    }
    e->holders = t->own;
    if (!t->s->chip->sharing->asks)
        return;
    if (t->hit && found)
        raise(t, SIGNAL_L1D_UPGRADES, 1);
    if (!t->hit && modified)
        raise(t,
              t->r->kind == REQUEST_STORE ? SIGNAL_STORE_HITMS
                                          : SIGNAL_LOAD_HITMS,
              1);
    e->owner = t->number + 1;
    struct shared_note *const notes = t->s->chip->sharing->notes;
    for (uint32_t at = e->notes; at != 0; at = notes[at - 1].next) {
        notes[at - 1].bytes |= t->bytes;
        notes[at - 1].thread = t->s->counts->thread;
    }
}

/* The core gets a copy of the line, which others keep. */
static void
join_holders(const struct step *t, struct shared_line *e)
{
    const struct chip *const chip = t->s->chip;

    for (uint64_t left = e->holders; left != 0; left &= left - 1)
        forget(&chip->cores[__builtin_ctzll(left)], t->r->addr, false);
    if (e->owner != NO_OWNER && e->owner != t->number + 1) {
        if (t->r->kind == REQUEST_LOAD &&
            core_has(&chip->cores[e->owner - 1], t->line))
            raise(t, SIGNAL_LOAD_HITMS, 1);
        e->owner = NO_OWNER;
    }
    e->holders |= t->own;
}

/* Counts the class of a miss that is no coherence miss. */
static void
count_class(const struct step *t, const struct shared_line *e, bool store)
{
    if ((e->seen & t->own) == 0) {
        raise(t,
              store ? SIGNAL_L1D_STORE_FIRST_MISSES
                    : SIGNAL_L1D_LOAD_FIRST_MISSES,
              1);
        return;
    }
    if (!t->recent)
        raise(t,
              store ? SIGNAL_L1D_STORE_CAPACITY_MISSES
                    : SIGNAL_L1D_LOAD_CAPACITY_MISSES,
              1);
    else
        raise(t,
              store ? SIGNAL_L1D_STORE_CONFLICT_MISSES
                    : SIGNAL_L1D_LOAD_CONFLICT_MISSES,
              1);
    if (t->s->chip->reasons != NULL)
        reasons_missed(t->s->chip->reasons, t->s, t->r, &t->access, t->recent);
}

/* Counts a miss of the L1D. */
static void
count_miss(const struct step *t, struct shared_line *e)
{
    struct sharing *const sh = t->s->chip->sharing;
    const bool store = t->r->kind == REQUEST_STORE;
    const bool near = t->r->kind == REQUEST_NEAR;
    const bool ahead = t->r->kind == REQUEST_NEAR_AHEAD;

    raise(t,
          store   ? SIGNAL_L1D_STORE_MISSES
          : near  ? SIGNAL_NEAR_PREFETCH_MISSES
          : ahead ? SIGNAL_L1D_PREFETCHES
                  : SIGNAL_L1D_LOAD_MISSES,
          1);
    if ((e->lost & t->own) == 0) {
        if (sh->classes && !near && !ahead)
            count_class(t, e, store);
        return;
    }
    const struct shared_note others = end_note(sh, e, t->number);
    if (near || ahead)
        return;
    raise(t,
          store ? SIGNAL_L1D_STORE_COHERENCE_MISSES
                : SIGNAL_L1D_LOAD_COHERENCE_MISSES,
          1);
    if ((others.bytes & t->bytes) == 0)
        raise(t,
              store ? SIGNAL_L1D_STORE_FALSE_MISSES
                    : SIGNAL_L1D_LOAD_FALSE_MISSES,
              1);
    if (t->s->chip->reasons != NULL)
        reasons_lost(t->s->chip->reasons, t->s, t->r, &t->access,
                     &(struct reasons_taken){t->bytes, others.bytes,
                                             others.thread, t->ran});
}

/* Puts the line into the strand's filter for stores, where a store to it
 * changes nothing. */
static void
know_line(const struct step *t, const struct shared_line *e)
{
    const uint64_t line =
        layout_address(t->s->chip->layout, t->r->addr) & t->s->data.line_mask;
    const uint64_t known = filter_line(filter_loads(t->s), line);
    const bool asks = t->s->chip->sharing->asks;

    if (e->holders == t->own && (known & ~LINE_WAITS) == line &&
        (!asks || (e->lost == 0 && e->owner == t->number + 1)))
        filter_put(filter_stores(t->s), line, known);
}

/* Requests that the L1D lacks, in order. */
struct behind {
    struct strand *s;
    size_t count;
    struct request requests[QUEUE_LENGTH + QUEUE_SLACK];
};

/* Takes the requests through the levels behind the L1D. */
static void
go_behind(struct behind *b)
{
    struct strand *const s = b->s;

    if (s->recorder != NULL && s->recorder->lines != NULL &&
        s->chip->classes == NULL)
        recorder_fetched(s, b->requests, b->count);
    if (b->count != 0)
        s->chip->coherence->take(s, b->requests, b->count);
    b->count = 0;
}

/* Finds whether a fully associative cache has the line, where classes are
 * counted. */
static void
find_recent(struct step *t)
{
    struct chip *const chip = t->s->chip;

    if (chip->reasons != NULL) {
        t->access = recorder_access_of(t->s, t->r);
        t->recent = reasons_asked(chip->reasons, t->s, t->r, &t->access);
    } else if (chip->sharing->recent != NULL) {
        t->recent = recency_touch(&chip->sharing->recent[t->number], t->line);
    }
}

/* Returns whether the caches of another core have the line. */
static bool
others_have(const struct step *t, const struct shared_line *e)
{
    for (uint64_t left = e->holders & ~t->own; left != 0; left &= left - 1) {
        if (core_has(&t->s->chip->cores[__builtin_ctzll(left)], t->line))
            return true;
    }
    return false;
}

/* Takes a request through the caches of the core. */
static void
step(struct step *t, struct behind *b)
{
    struct core *const core = t->s->core;

    t->hit = t->data && cache_access(&core->l1d, t->line);
    if (core->l1d.victims != NULL)
        raise(t, SIGNAL_L1D_VICTIM_HITS, cache_victim_hits(&core->l1d));
    if (t->data)
        find_recent(t);
    if (!t->data && core->l2.ways == 0) {
        b->requests[b->count++] = *t->r;
        return;
    }
    if (is_full(t->s->chip->sharing))
        go_behind(b); /* so that the caches have what the core holds */
    struct shared_line *const e = line_of(t->s->chip, t->line);
    if (!t->hit && e->owner == t->number + 1) {
        /* The L2 has had all requests before this one. */
        go_behind(b);
        if (!cache_has(&core->l2, t->line))
            e->owner = NO_OWNER;
    }
    if (t->data && !t->hit)
        count_miss(t, e);
    if (t->data && t->s->chip->sharing->classes)
        e->seen |= t->own;
    const bool peer = t->s->chip->exclusive && !t->hit && core->l2.ways != 0 &&
                      others_have(t, e);
    if (t->writes)
        take_line(t, e);
    else if ((e->holders & t->own) == 0)
        join_holders(t, e);
    if (t->data)
        know_line(t, e);
    if (t->data && !t->hit && t->s->chip->reasons != NULL)
        reasons_filled(t->s->chip->reasons, t->s, t->r, &t->access);
    if (!t->hit) {
        b->requests[b->count] = *t->r;
        if (peer)
            b->requests[b->count].flags |= REQUEST_PEER;
        b->count++;
    }
}

/* Returns the bytes of its line that a request touches, a bit each; of size 0,
 * which is not known, none. */
static uint64_t
bytes_of(const struct strand *s, const struct request *r, unsigned size)
{
    const unsigned first = (unsigned)(r->addr & ~s->data.line_mask);
    const uint64_t bytes = size >= 64 ? UINT64_MAX : ((uint64_t)1 << size) - 1;

    return bytes << first;
}

/* What is known of a request of the queue. */
struct told {
    unsigned size; /* bytes of the line that it touches */
    uint32_t ran;  /* instructions of the strand's turn before it */
};

/* Takes a request of the queue through the caches. Returns whether the request
 * has asked what is behind the L1I, or is no fetch. */
static bool
take_request(struct strand *s, struct request *r, struct told told,
             struct behind *b)
{
    const uint32_t number = (uint32_t)(s->core - s->chip->cores);
    struct step t = {
        .s = s,
        .r = r,
        .line = r->addr >> s->core->l1d.line_shift,
        .own = (uint64_t)1 << number,
        .number = number,
        .bytes = bytes_of(s, r, told.size),
        .ran = told.ran,
        .data = (DATA_KINDS >> r->kind & 1) != 0,
        .writes = r->kind == REQUEST_STORE || (r->flags & REQUEST_OWN),
    };

    if ((r->flags & REQUEST_LOOKUP) && queue_fetches(s, r, 1) == 0)
        return false;
    step(&t, b);
    return true;
}

/* A request of the queue, and what is known of it. */
struct asked {
    struct behind *behind;
    struct told told;
};

/* A prefetching_taker; `context` is the request of the queue. */
static bool
take_ahead(struct strand *s, struct request *r, void *context)
{
    const struct asked *const asked = context;
    const bool ahead =
        r->kind == REQUEST_NEAR_AHEAD || r->kind == REQUEST_FAR_AHEAD;
    const bool behind = take_request(
        s, r, ahead ? (struct told){0, 0} : asked->told, asked->behind);

    go_behind(asked->behind);
    return behind;
}

static void
drain_all(struct strand *s)
{
    struct behind b;
    const size_t count = (size_t)(s->queue.next - s->queue.entries);
    struct cache *const l1d = &s->core->l1d;
    const uint32_t number = (uint32_t)(s->core - s->chip->cores);

    b.s = s;
    b.count = 0;
    queue_widen(l1d, s->queue.entries, count, DATA_KINDS);
    for (size_t i = 0; i < count; i++)
        fetch_line(s->chip, s->queue.entries[i].addr >> l1d->line_shift,
                   number);
    for (size_t i = 0; i < count; i++) {
        struct request *const r = &s->queue.entries[i];
        const struct told known = {
            s->sizes != NULL ? s->sizes[i] : 0,
            s->ran != NULL ? s->ran[i] : 0,
        };
        struct classes_step told;
        if (s->chip->prefetching) {
            prefetching_take(s, r, take_ahead, &(struct asked){&b, known});
            continue;
        }
        if (s->chip->classes != NULL)
            classes_before(&told, s, r, s->sizes[i]);
        if (!take_request(s, r, known, &b))
            continue;
        if (s->recorder != NULL || s->chip->classes != NULL)
            go_behind(&b);
        if (s->chip->classes != NULL)
            classes_after(&told, true);
    }
    go_behind(&b);
    if (s->recorder != NULL && s->recorder->lines != NULL)
        recorder_asked(s);
}

/* The other strands of the core know no line as the last any more. */
static void
void_all_siblings(const struct strand *s)
{
    for (struct strand *o = strands_to_void(s);
         s->chip->sharing->classes && o != NULL; o = o->sibling) {
        if (o == s)
            continue;
        filter_clear(&o->data, false);
        filter_clear(&o->store, false);
    }
}

void
sharing_drain(struct strand *s)
{
    const bool alone = runs_alone(s);
    const size_t count = (size_t)(s->queue.next - s->queue.entries);

    strand_charge(s, 0);
    struct lock *const told =
        !alone && s->chip->classes != NULL ? &s->chip->classes->lock : NULL;
    if (told != NULL)
        lock_take(told);
    if (!alone) {
        lock_take(&s->chip->lock);
        lock_take(&s->core->lock);
        queue_void_siblings(s, s->queue.entries, count);
        void_all_siblings(s);
    }
    drain_all(s);
    if (s->recorder != NULL && count != 0)
        recorder_charge_request(s, &s->queue.entries[count - 1]);
    if (!alone) {
        lock_give(&s->core->lock);
        lock_give(&s->chip->lock);
    }
    if (told != NULL)
        lock_give(told);
}

bool
sharing_look(const struct chip *chip, uint64_t line,
             struct sharing_known *known)
{
    const struct sharing *const sh = chip->sharing;

    if (sh == NULL || !sh->asks)
        return false;
    *known = (struct sharing_known){0};
    if (sh->lines == NULL)
        return true;
    const struct shared_line *const e = &sh->lines[place_of(sh, line + 1)];
    if (e->key == line + 1)
        *known = (struct sharing_known){e->holders, e->owner};
    return true;
}

/* Accesses */

/* Queues a request. `size`: bytes of the line that it touches. */
static void
push(struct strand *s, uint64_t addr, enum request_kind kind,
     unsigned instruction, uint64_t size)
{
    if (s->chip->sharing->asks)
        s->sizes[s->queue.next - s->queue.entries] =
            (uint8_t)(size < 64 ? size : 64);
    if (s->ran != NULL)
        s->ran[s->queue.next - s->queue.entries] = strand_ran(s);
    queue_push(s, addr, kind == REQUEST_ATOMIC ? REQUEST_LOAD : kind,
               instruction);
    if (kind == REQUEST_ATOMIC)
        s->queue.next[-1].flags |= REQUEST_OWN;
}

/* The line is the last that the strand asks for: with classes, filters have no
 * other. */
static void
note_last(struct strand *s, uint64_t line)
{
    if (!s->chip->sharing->classes || s->last_line == line)
        return;
    filter_put(&s->data, s->last_line, NO_LINE);
    filter_put(&s->store, s->last_line, NO_LINE);
    s->last_line = line;
}

/* Asks for those bytes of an access that lie in one line: looks in the filters,
 * and queues a request where the filters do not answer. */
static void
access_part(struct strand *s, uint64_t addr, uint64_t size,
            enum request_kind kind, unsigned instruction)
{
    const bool writes = kind != REQUEST_LOAD;
    struct filter *const loads = filter_loads(s);
    struct filter *const stores = filter_stores(s);
    const uint64_t line = addr & s->data.line_mask;

    touch_data_page(s, addr,
                    kind == REQUEST_STORE ? REQUEST_STORE : REQUEST_LOAD,
                    instruction);
    note_last(s, line);
    const bool first = known_line(loads, line) == line;
    const bool mine = known_line(stores, line) == line;
    /* The lines do not wait for their page any more (LINE_WAITS). */
    filter_put(stores, line, mine ? line : NO_LINE);
    filter_put(loads, line, line);
    layout_first(s, line);
    if (mine || (first && !writes))
        return;
    push(s, addr, kind, instruction, size);
    /* The store takes the line: until another core's is served, the line is
     * this core's. Where bytes are noted, the queue must see each store. */
    if (writes && !s->chip->sharing->asks)
        filter_put(stores, line, line);
}

/* Asks for the bytes of an access in the one or two lines that they lie in. */
static void
access_lines(struct strand *s, uint64_t addr, access_site at,
             enum request_kind kind)
{
    const uint64_t line = (uint64_t)1 << s->data.shift;
    const uint64_t size = line - site_room(at);
    const uint64_t left = line - (addr & (line - 1));
    const unsigned instruction = site_instruction(at);

    access_part(s, addr, size < left ? size : left, kind, instruction);
    if (__builtin_expect(size > left, 0)) {
        s->total[SIGNAL_SPLIT_ACCESSES] += 1;
        strand_charge_data(s, instruction, addr);
        access_part(s, addr + left, size - left, kind, instruction);
    }
}

/* Returns where the caches see an address, and makes what the block does there
 * be of the address's object. */
static uint64_t
move(struct strand *s, uint64_t addr)
{
    if (s->recorder == NULL || s->recorder->objects == NULL ||
        s->callers == NULL || s->cell == 0)
        return addr;
    /* recorder_object() would number objects in another order than without
     * moves. */
    const uint32_t object = objects_find(s->recorder->objects->map, addr);
    if (!moves_object(s->chip->moves, object))
        return addr;
    s->cell = callers_on(s->callers, s->cell, object);
    return moves_address(s->chip->moves, addr);
}

void
sharing_access(struct strand *s, uint64_t addr, access_site at,
               enum request_kind kind)
{
    const uint32_t cell = s->cell;

    if (__builtin_expect(s->chip->moves != NULL, 0))
        addr = move(s, addr);
    access_lines(s, addr, at, kind);
    s->cell = cell;
    if (s->queue.next >= s->queue.end ||
        (kind == REQUEST_ATOMIC && drains_atomics(s)))
        strand_drain(s);
}

void
sharing_prefetch(struct strand *s, uint64_t addr, enum request_kind kind,
                 unsigned instruction)
{
    struct filter *const loads = filter_loads(s);
    const uint32_t cell = s->cell;

    if (__builtin_expect(s->chip->moves != NULL, 0))
        addr = move(s, addr);
    const uint64_t line = addr & s->data.line_mask;
    const bool known = kind == REQUEST_NEAR && known_line(loads, line) == line;
    if (!known)
        push(s, addr, kind, instruction, 0);
    s->cell = cell;
    if (known)
        return;
    if (kind != REQUEST_NEAR)
        return;
    note_last(s, line);
    /* A prefetch asks no TLB. */
    filter_put(loads, line, line | LINE_WAITS);
    layout_first(s, line);
    filter_put(filter_stores(s), line, NO_LINE);
}

/* Setting up */

/* The strand asks from now on. Its queue is empty. */
static void
start_asking(struct strand *s)
{
    const bool alone = runs_alone(s);

    filter_clear(&s->data, alone);
    filter_clear(&s->store, alone);
    s->data.turns = false;
    s->runs.sharing = true;
}

int
sharing_strand_init(struct strand *s)
{
    const struct sharing *const sh = s->chip->sharing;

    if (sh == NULL || !sh->runs)
        return 0;
    if (sh->recent != NULL &&
        recency_init(&sh->recent[s->core - s->chip->cores],
                     (uint32_t)(s->chip->params[PARAM_L1D_SIZE] /
                                s->chip->params[PARAM_L1D_LINE])) != 0)
        return TALLY_ENOMEM;
    if (sh->asks) {
        s->sizes = calloc(QUEUE_LENGTH + QUEUE_SLACK, 1);
        if (s->sizes == NULL)
            return TALLY_ENOMEM;
    }
    if (sh->asks && s->chip->reasons != NULL) {
        s->ran = calloc(QUEUE_LENGTH + QUEUE_SLACK, sizeof(*s->ran));
        if (s->ran == NULL)
            return TALLY_ENOMEM;
    }
    start_asking(s);
    return 0;
}

/* Enters what a cache has into the directory. */
static void
enter_lines(const struct chip *chip, const struct cache *c, uint64_t bit)
{
    for (uint64_t set = 0; c->ways != 0 && set <= c->set_mask; set++) {
        uint64_t line;
        for (uint32_t way = 0; way < c->ways; way++) {
            if (cache_line_at(c, set, way, &line))
                line_of(chip, line)->holders |= bit;
        }
    }
}

void
sharing_begin(struct chip *chip)
{
    if (chip->sharing == NULL || chip->sharing->runs)
        return;
    for (uint64_t left = chip->used_cores; left != 0; left &= left - 1) {
        const struct core *const core = &chip->cores[__builtin_ctzll(left)];
        for (struct strand *s = core->strands; s != NULL; s = s->sibling) {
            strand_drain(s);
            start_asking(s);
        }
        enter_lines(chip, &core->l1d, left & -left);
        enter_lines(chip, &core->l2, left & -left);
    }
    chip->sharing->runs = true;
}

int
sharing_init(struct chip *chip)
{
    chip->sharing = calloc(1, sizeof(*chip->sharing));
    if (chip->sharing == NULL)
        return TALLY_ENOMEM;
    chip->sharing->asks = (chip->components & COMPONENT_SHARING) != 0;
    chip->sharing->classes = (chip->components & COMPONENT_CLASSES) != 0;
    /* sharing_begin() runs on the only strand there is, and enters no lines of
     * victim caches. */
    chip->sharing->runs = chip->sharing->asks ||
                          chip->params[PARAM_STRANDS] > 1 ||
                          chip->params[PARAM_L1D_VICTIM] > 0;
    if (!chip->sharing->classes)
        return 0;
    chip->sharing->recent =
        calloc(chip->core_count, sizeof(*chip->sharing->recent));
    return chip->sharing->recent == NULL ? TALLY_ENOMEM : 0;
}

/* Frees each core's fully associative cache, which tells capacity misses from
 * conflict misses. */
static void
finish_recent(const struct chip *chip)
{
    struct recency *const recent = chip->sharing->recent;

    for (unsigned i = 0; recent != NULL && i < chip->core_count; i++)
        recency_finish(&recent[i]);
}

void
sharing_finish(struct chip *chip)
{
    if (chip->sharing == NULL)
        return;
    free(chip->sharing->lines);
    free(chip->sharing->notes);
    finish_recent(chip);
    free(chip->sharing->recent);
    free(chip->sharing);
    chip->sharing = NULL;
}

void
sharing_clear(struct chip *chip, struct strand *s)
{
    struct sharing *const sh = chip->sharing;

    if (sh == NULL)
        return;
    free(sh->lines);
    free(sh->notes);
    if (chip->reasons != NULL)
        reasons_clear(chip->reasons);
    for (unsigned i = 0; sh->recent != NULL && i < chip->core_count; i++)
        recency_clear(&sh->recent[i]);
    *sh = (struct sharing){.asks = sh->asks,
                           .classes = sh->classes,
                           .runs = sh->asks,
                           .recent = sh->recent};
    s->last_line = 0;
    s->runs.sharing = sh->runs;
    s->data.turns = !sh->runs && chip_turns(s);
}
