/* SPDX-License-Identifier: MIT */
#include "machine/curve.h"

#include <stdlib.h>

#include "machine/fetch.h"
#include "machine/levels.h"
#include "machine/recorder.h"
#include "table/signals.h"

/* The table of recent lines that an access goes by, and its count of uses. */
struct table {
    struct filter *recent;
    uint64_t *uses;
};

/* An access, or a request to a level behind the L1s. */
struct asking {
    struct strand *strand;
    uint32_t cell;        /* of the block that makes it */
    unsigned instruction; /* as in record_key() */
    uint64_t addr;        /* of its data, or RECORDER_NO_DATA */
    bool counts;
};

/* Counting */

static void
add(atomic_uint_fast64_t *count, uint64_t more)
{
    atomic_fetch_add_explicit(count, more, memory_order_relaxed);
}

/* Records an access of a class, if parts are asked for. */
static inline void
record_class(const struct curve *c, const struct asking *a, unsigned number)
{
    if (__builtin_expect(c->request.parts != 0, 0) && number != 0 &&
        a->strand->recorder != NULL)
        recorder_charge_class(a->strand, a->cell, a->instruction, a->addr,
                              number);
}

/* Counts an access to a line that was not asked for before. */
static void
count_first(const struct curve *c, const struct asking *a, unsigned group)
{
    if (!a->counts)
        return;
    add(&c->counts->first[group], 1);
    record_class(c, a, curve_first_class(&c->request));
}

/* Counts an access whose line comes back after so many others. */
static void
count_distance(const struct curve *c, const struct asking *a, uint64_t distance,
               unsigned group)
{
    const struct curve_request *const r = &c->request;
    unsigned bin = c->first_bin[63 - __builtin_clzll(distance | 1)];

    while (bin < r->size_count && r->lines[bin] <= distance)
        bin++;
    add(&c->counts->bins[group][bin], 1);
    record_class(c, a, bin);
}

/* The table of recent lines */

static uint32_t
entry_of(const struct filter *f, uint64_t line)
{
    return (uint32_t)(line >> f->shift) & f->mask;
}

/* Makes no line known, once the times of the front's lines are in the front. */
static void
empty_table(struct curve_cache *k, struct filter *f)
{
    struct curve_front *const front = &k->front;

    for (uint32_t e = 0; e <= f->mask; e++) {
        if (f->line[e] != NO_LINE && front->most != 0)
            front->used[front->at[e]] = f->second[e];
        f->line[e] = NO_LINE;
    }
}

/* Returns the strand's table, which is its filter of data or code. */
static struct filter *
table_of(const struct curve *c, struct strand *s)
{
    return c->request.level == CURVE_L1I || c->request.level == CURVE_ITLB
               ? &s->fetch
               : &s->data;
}

/* Takes the cache away from the strand that used the cache last. */
static void
disown(const struct curve *c, struct curve_cache *k)
{
    if (k->owner == NULL)
        return;
    k->now = k->owner->uses;
    empty_table(k, table_of(c, k->owner));
    k->owner = NULL;
}

/* The front */

/* Puts a line of the front, just used, into its entry of the table. */
static void
install(struct curve_front *front, const struct table *t, uint64_t line,
        uint16_t place)
{
    struct filter *const f = t->recent;
    const uint32_t entry = entry_of(f, line);

    if (f->line[entry] != NO_LINE)
        front->used[front->at[entry]] = f->second[entry];
    f->line[entry] = line;
    f->second[entry] = (*t->uses)++;
    front->at[entry] = place;
}

/* Sorts times, each with a place below, by merging runs of ascending ones; no
 * branch depends on which time is less. Both arrays have one element more. */
static uint64_t *
sort(uint64_t *times, uint64_t *other, unsigned count)
{
    for (unsigned run = 1; run < count; run *= 2) {
        for (unsigned from = 0; from < count; from += 2 * run) {
            const unsigned middle = from + run < count ? from + run : count;
            const unsigned end = middle + run < count ? middle + run : count;
            unsigned a = from, b = middle;
            for (unsigned i = from; i < end; i++) {
                unsigned left =
                    (b == end) | ((a < middle) & (times[a] <= times[b]));
                __asm__("" : "+r"(left)); /* or compilers branch on it */
                other[i] = times[b ^ ((a ^ b) & -left)];
                a += left;
                b += 1 - left;
            }
        }
        uint64_t *const sorted = other;
        other = times;
        times = sorted;
    }
    return times;
}

/* Sets `times` to those of the lines of a full front that were used before
 * `limit`, each with its place below. Returns how many. */
static unsigned
older_than(const struct curve_front *front, const struct filter *f,
           uint64_t limit, uint64_t *times)
{
    unsigned count = 0;

    for (unsigned i = 0; i < front->most; i++) {
        const uint32_t entry = entry_of(f, front->line[i]);
        const bool here = f->line[entry] == front->line[i];
        const uint64_t used = *(here ? &f->second[entry] : &front->used[i]);
        times[count] = used << 8 | i;
        count += used < limit;
    }
    return count;
}

/* Takes the oldest lines of a full front into the order of the others: those
 * that were not used since lines left last, or half. Returns false: there is no
 * memory. */
static bool
age_front(struct curve *c, struct curve_cache *k, const struct table *t)
{
    struct curve_front *const front = &k->front;
    struct filter *const f = t->recent;
    uint64_t memory[2][CURVE_FRONT + 1];
    unsigned leave = older_than(front, f, front->aged, memory[0]);
    unsigned count = leave;

    if (leave <= front->most / 4) {
        count = older_than(front, f, UINT64_MAX, memory[0]);
        leave = (front->most + 1) / 2;
    }
    memory[0][count] = memory[1][count] = 0;
    const uint64_t *const sorted = sort(memory[0], memory[1], count);
    for (unsigned i = 0; i < leave; i++) {
        const uint16_t place = (uint8_t)sorted[i];
        const uint64_t line = front->line[place];
        const uint32_t entry = entry_of(f, line);
        struct reuse_line *const l =
            reuse_claim(&k->reuse, line >> c->request.shift);
        if (l == NULL || !reuse_put(&k->reuse, l))
            return false;
        if (f->line[entry] == line)
            f->line[entry] = NO_LINE;
        front->free[i] = place;
    }
    front->count -= leave;
    front->aged = *t->uses;
    return true;
}

/* Asks for a line that the table does not know. */
static void
ask_full(struct curve *c, struct curve_cache *k, const struct table *t,
         uint64_t line, const struct asking *a)
{
    struct curve_front *const front = &k->front;
    const uint64_t number = line >> c->request.shift;
    struct reuse_line *l = reuse_claim(&k->reuse, number);

    if (l != NULL && l->time >= REUSE_AWAY && l->time != REUSE_NEVER) {
        install(front, t, line, (uint16_t)(l->time & ~REUSE_AWAY));
        return;
    }
    const bool known = l != NULL && l->time != REUSE_NEVER;
    const uint64_t distance =
        known ? front->count + reuse_take(&k->reuse, l, 0) : 0;
    /* The table of lines may grow as the front ages. */
    if (l != NULL && front->count == front->most)
        l = age_front(c, k, t) ? reuse_claim(&k->reuse, number) : NULL;
    if (l == NULL) {
        add(&c->counts->lost, a->counts);
        return;
    }
    const uint16_t place = front->free[front->most - ++front->count];
    l->time = REUSE_AWAY | place;
    front->line[place] = line;
    install(front, t, line, place);
    if (!known)
        count_first(c, a, 0);
    else if (a->counts)
        count_distance(c, a, distance, 0);
}

/* Lists of sets */

/* Makes a line the first of its set. Returns how many were before it; `ways`:
 * the set did not have the line. */
static uint32_t
touch_set(uint64_t *set, uint32_t ways, uint64_t key)
{
    uint64_t before = key;
    uint32_t at = 0;

    for (; at < ways; at++) {
        const uint64_t old = set[at];
        set[at] = before;
        if (old == key)
            break;
        before = old;
    }
    return at;
}

/* Makes the lists of a cache. Returns whether there is memory. */
static bool
make_lists(struct curve_cache *k, const struct curve_request *r)
{
    for (unsigned i = 0; i < r->set_count; i++) {
        if (k->lists[i] == NULL)
            k->lists[i] = calloc(r->sets[i], r->ways[i] * sizeof(uint64_t));
        if (k->lists[i] == NULL)
            return false;
    }
    return true;
}

static void
free_lists(struct curve_cache *k)
{
    for (unsigned i = 0; i < CURVE_SETS; i++) {
        free(k->lists[i]);
        k->lists[i] = NULL;
    }
}

static void
ask_sets(const struct curve *c, struct curve_cache *k, uint64_t number,
         const struct asking *a)
{
    const struct curve_request *const r = &c->request;

    if (__builtin_expect(k->lists[r->set_count - 1] == NULL, 0) &&
        !make_lists(k, r)) {
        add(&c->counts->lost, a->counts);
        return;
    }
    for (unsigned i = 0; i < r->set_count; i++) {
        uint64_t *const set =
            k->lists[i] + (number & (r->sets[i] - 1)) * r->ways[i];
        const uint32_t at = touch_set(set, r->ways[i], number + 1);
        if (at == 0)
            return;
        if (!a->counts)
            continue;
        add(at < r->ways[i] ? &c->counts->depths[i][at] : &c->counts->beyond[i],
            1);
        record_class(c, a, c->classes[i][at]);
    }
}

/* The sample */

bool
curve_is_sampled(uint64_t number, uint32_t sample, unsigned *group)
{
    /* The end of MurmurHash3 (Appleby): each bit depends on all. */
    number ^= number >> 33;
    number *= UINT64_C(0xff51afd7ed558ccd);
    number ^= number >> 33;
    number *= UINT64_C(0xc4ceb9fe1a85ec53);
    number ^= number >> 33;
    *group = number % CURVE_GROUPS;
    return (uint32_t)(number >> 32) < (UINT64_C(1) << 32) / sample;
}

static void
ask_sample(struct curve *c, struct curve_cache *k, const struct table *t,
           uint64_t line, const struct asking *a)
{
    const uint32_t sample = c->request.sample;
    const uint64_t number = line >> c->request.shift;
    struct filter *const f = t->recent;
    const uint64_t last = k->sampled - 1;
    unsigned group;

    if (curve_is_sampled(number, sample, &group) && last != line) {
        const uint64_t distance = reuse_touch(&k->reuse, number);
        if (distance == REUSE_NEVER)
            count_first(c, a, group);
        else if (a->counts)
            count_distance(c, a, distance * sample, group);
        /* The line used before is to be seen when it comes back. */
        if (k->sampled != 0 && f->line[entry_of(f, last)] == last)
            f->line[entry_of(f, last)] = NO_LINE;
        k->sampled = line + 1;
    }
    f->line[entry_of(f, line)] = line;
}

/* Accesses */

static unsigned
number_of(const struct curve *c, const struct strand *s)
{
    if (c->count == 1)
        return 0;
    return c->shared ? s->node : s->number / c->strands_per_core;
}

/* Makes an access to a line, by its first byte. */
static void
ask(struct curve *c, struct curve_cache *k, const struct table *t,
    uint64_t line, const struct asking *a)
{
    struct filter *const f = t->recent;
    const uint32_t entry = entry_of(f, line);

    if (f->line[entry] == line) {
        f->second[entry] = (*t->uses)++;
        return;
    }
    switch (c->request.kind) {
    case CURVE_FULL:
        ask_full(c, k, t, line, a);
        break;
    case CURVE_BY_SETS:
        ask_sets(c, k, line >> c->request.shift, a);
        f->line[entry] = line;
        break;
    default:
        ask_sample(c, k, t, line, a);
    }
}

/* Returns the strand's cache, which the strand uses from now on. */
static struct curve_cache *
own(const struct curve *c, struct strand *s)
{
    struct curve_cache *const k = &c->caches[number_of(c, s)];

    if (k->owner != s) {
        disown(c, k);
        s->uses = k->now;
        k->owner = s;
    }
    return k;
}

void
curve_fetch_slow(struct strand *s, const struct block *b)
{
    struct curve *const c = s->chip->curve;
    struct curve_cache *const k = own(c, s);
    const uint64_t size = (uint64_t)1 << s->fetch.shift;
    const struct table t = {&s->fetch, &s->uses};
    struct asking a = {.strand = s,
                       .cell = s->cell,
                       .addr = RECORDER_NO_DATA,
                       .counts = !s->span.outside};

    for (uint64_t line = b->pc & s->fetch.line_mask; line < b->end;
         line += size) {
        a.instruction = fetch_number(s, line);
        ask(c, k, &t, line, &a);
    }
}

void
curve_access_slow(struct strand *s, uint64_t addr, access_site at)
{
    struct curve *const c = s->chip->curve;
    struct curve_cache *const k = own(c, s);
    const uint64_t line = addr & s->data.line_mask;
    const struct table t = {&s->data, &s->uses};
    struct asking a = {.strand = s,
                       .cell = s->cell,
                       .instruction = site_instruction(at),
                       .addr = addr,
                       .counts = !s->span.outside};

    ask(c, k, &t, line, &a);
    if (addr - line > site_room(at)) {
        s->total[SIGNAL_SPLIT_ACCESSES]++;
        a.addr = line + ((uint64_t)1 << s->data.shift);
        ask(c, k, &t, a.addr, &a);
    }
}

void
curve_requests(struct strand *s, const struct request *requests, size_t count)
{
    struct curve *const c = s->chip->curve;
    struct curve_cache *const k = &c->caches[number_of(c, s)];
    const struct table t = {&k->recent, &k->now};

    for (size_t i = 0; i < count; i++) {
        const struct request *const r = &requests[i];
        const struct asking a = {.strand = s,
                                 .cell = r->cell,
                                 .instruction = request_instruction(s, r),
                                 .addr = request_data(r),
                                 .counts = !s->span.outside};
        ask(c, k, &t, r->addr & k->recent.line_mask, &a);
    }
    if (!s->span.outside)
        add(&c->counts->asked, count);
}

void
curve_leave(struct strand *s)
{
    struct curve *const c = s->chip->curve;
    struct curve_cache *const k = &c->caches[number_of(c, s)];

    if (k->owner == s)
        disown(c, k);
}

/* Setting up */

/* The parameters of a cache, and LRU as its replacement. */
struct shaped {
    enum param_id size, ways, line, replacement;
    uint64_t lru;
};

static const struct shaped l1d = {PARAM_L1D_SIZE, PARAM_L1D_WAYS,
                                  PARAM_L1D_LINE, PARAM_L1D_REPLACEMENT,
                                  L1D_REPLACEMENT_LRU},
                           l1i = {PARAM_L1I_SIZE, PARAM_L1I_WAYS,
                                  PARAM_L1I_LINE, PARAM_L1I_REPLACEMENT,
                                  L1I_REPLACEMENT_LRU},
                           l2 = {PARAM_L2_SIZE, PARAM_L2_WAYS, PARAM_L2_LINE,
                                 PARAM_L2_REPLACEMENT, L2_REPLACEMENT_LRU},
                           l3 = {PARAM_L3_SIZE, PARAM_L3_WAYS, PARAM_L3_LINE,
                                 PARAM_L3_REPLACEMENT, L3_REPLACEMENT_LRU};

uint64_t
curve_prepare(const struct curve_request *r, uint64_t *params)
{
    static const struct {
        uint64_t component, without;
        const struct shaped *cache; /* that stands for the level */
    } levels[CURVE_LEVELS] = {
        [CURVE_L1D] = {COMPONENT_L1D, 0, &l1d},
        [CURVE_DTLB] = {COMPONENT_L1D, 0, &l1d},
        [CURVE_L1I] = {COMPONENT_L1I, 0, &l1i},
        [CURVE_ITLB] = {COMPONENT_L1I, 0, &l1i},
        [CURVE_L2] = {COMPONENT_L2, COMPONENT_L3, &l2},
        [CURVE_L3] = {COMPONENT_L3, 0, &l3},
    };
    const struct shaped *const cache = levels[r->level].cache;
    const uint64_t line = (uint64_t)1 << r->shift;
    const bool data = cache == &l1d;
    const bool first = r->level < CURVE_L2;
    const uint64_t sets = r->kind == CURVE_BY_SETS ? r->sets[0]
                          : first                  ? FILTER_SETS
                                                   : 1;

    params[cache->size] = (sets < FILTER_SETS ? sets : FILTER_SETS) * line;
    params[cache->ways] = 1;
    params[cache->line] = line;
    params[cache->replacement] = cache->lru;
    params[PARAM_L1I_MICROTAG] = 0;
    params[PARAM_L1D_COHERENCE] = L1D_COHERENCE_NONE;
    params[PARAM_L2_INCLUSIVE] = L2_INCLUSIVE_NONE;
    params[PARAM_L2_DIRTY] = L2_DIRTY_WRITTEN;
    params[PARAM_L3_FILL] = L3_FILL_MISSES;
    params[PARAM_L3_SHARED] = L3_SHARED_CHIP;
    if (r->level == CURVE_DTLB) {
        params[PARAM_L1D_WRITE] = L1D_WRITE_ALLOCATE;
        params[PARAM_L1D_FLOAT] = L1D_FLOAT_CACHED;
    }
    if (data) {
        params[PARAM_L1D_VICTIM] = 0;
        params[PARAM_PREFETCH_DATA] = PREFETCH_DATA_COUNTED;
    }
    const uint64_t all =
        r->level < CURVE_L2
            ? levels[r->level].component
            : components_implied(levels[r->level].component, params);
    return all & ~(levels[r->level].without | COMPONENT_WRITEBACK |
                   COMPONENT_NODES | COMPONENT_SNOOP | COMPONENT_BUS |
                   COMPONENT_SHARING | COMPONENT_CLASSES | COMPONENT_DRAM);
}

/* Makes a cache empty. */
static void
begin_cache(struct curve_cache *k, const struct curve_request *r)
{
    struct filter *const f = &k->recent;

    k->owner = NULL;
    k->now = 0;
    k->sampled = 0;
    k->front.count = 0;
    k->front.most = 0;
    k->front.aged = 0;
    if (r->kind == CURVE_FULL)
        k->front.most =
            r->lines[0] < CURVE_FRONT ? (uint32_t)r->lines[0] : CURVE_FRONT;
    for (uint16_t i = 0; i < k->front.most; i++)
        k->front.free[i] = i;
    f->shift = r->shift;
    f->mask = (r->kind == CURVE_BY_SETS && r->sets[0] < FILTER_SETS
                   ? (uint32_t)r->sets[0]
                   : FILTER_SETS) -
              1;
    f->line_mask = ~(((uint64_t)1 << f->shift) - 1);
    for (uint32_t i = 0; i <= f->mask; i++)
        f->line[i] = NO_LINE;
    reuse_finish(&k->reuse);
    free_lists(k);
}

int
curve_init(struct curve *c, const struct chip *chip,
           const struct curve_request *request, struct curve_counts *counts)
{
    *c = (struct curve){
        .request = *request,
        .counts = counts,
        .strands_per_core = chip->strands_per_core,
        .shared = request->level == CURVE_L2 && chip->shared_l2,
    };
    c->count = request->level == CURVE_L3 ? 1
               : c->shared                ? chip->node_count
                                          : chip->core_count;
    for (unsigned power = 0, i = 0; power < 64; power++) {
        while (i < request->size_count && request->lines[i] >> power <= 1 &&
               request->lines[i] <= (uint64_t)1 << power)
            i++;
        c->first_bin[power] = i;
    }
    for (unsigned i = 0; i < request->set_count; i++)
        for (unsigned at = 0; at <= request->ways[i]; at++)
            c->classes[i][at] = (uint16_t)curve_set_class(
                request, i, curve_missed_ways(request, i, at));
    c->caches = calloc(c->count, sizeof(*c->caches));
    if (c->caches == NULL)
        return TALLY_ENOMEM;
    for (unsigned i = 0; i < c->count; i++)
        begin_cache(&c->caches[i], request);
    return 0;
}

void
curve_finish(struct curve *c)
{
    for (unsigned i = 0; c->caches != NULL && i < c->count; i++) {
        reuse_finish(&c->caches[i].reuse);
        free_lists(&c->caches[i]);
    }
    free(c->caches);
    *c = (struct curve){0};
}

void
curve_clear(struct curve *c)
{
    for (unsigned i = 0; i < c->count; i++)
        begin_cache(&c->caches[i], &c->request);
}
