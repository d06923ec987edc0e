/* SPDX-License-Identifier: MIT */
/*
 * Why data are not in a cache level: strands that take turns, against a slow
 * twin that keeps each cache as a list of lines in order of use, and who has
 * driven out each line. The L1D's classes are held to it twice where the model
 * has two ways to find them: sharing.h and classes.h.
 */
#include "machine/classes.h"
#include "machine/reasons.h"

#include <string.h>

#include "machine/callers.h"
#include "machine/recorder.h"
#include "ref/drive.h"
#include "ref/random.h"
#include "table/level.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum {
    STRANDS = 8,
    TURNS = 700,
    LINES = 4096,
    BLOCKS = 20,
    OBJECTS = 6,
    REASONS = 65536
};

/* Machines of as many cores as strands run; on the first one strand runs. */
struct row {
    struct machine machine;
    enum cache_id level;
    bool told; /* by classes.h, else by sharing.h */
};

#define HOST(level, told, ...)                               \
    {                                                        \
        {__LINE__, "host-model", {__VA_ARGS__}}, level, told \
    }
#define T2(level, ...)                                              \
    {                                                               \
        {__LINE__,                                                  \
         "ultrasparc-t2",                                           \
         {"strands=1", "pipelines=1", "l1d.size=512", "l1d.ways=2", \
          __VA_ARGS__}},                                            \
            level, true                                             \
    }
/* The L1D of both ways. */
#define BOTH(...) \
    HOST(CACHE_L1D, false, __VA_ARGS__), HOST(CACHE_L1D, true, __VA_ARGS__)
/* Three small levels. */
#define SMALL "l1d.size=512", "l1d.ways=2", "l2.size=2K", "l2.ways=2"

static const struct row rows[] = {
    HOST(CACHE_L1D, false, "cores=2", "l1d.size=1K", "l1d.ways=2"),
    BOTH("cores=2", "l1d.size=1K", "l1d.ways=2"),
    BOTH("cores=2", "l1d.size=512", "l1d.ways=1"),
    BOTH("cores=2"),
    BOTH("cores=3", "l1d.size=1K", "l1d.ways=16"),
    BOTH("cores=4", "l1d.size=2K", "l1d.ways=4"),
    BOTH("cores=5", "l1i.line=32", "l1d.size=1K", "l1d.line=32", "l2.line=32"),
    BOTH("cores=4", "l1d.size=1K", "l1d.ways=4", "l2.size=0", "l3.size=0"),
    BOTH("cores=8", "l1d.size=1K", "l1d.ways=2"),
    HOST(CACHE_L2, true, "cores=2", SMALL, "l2.shared=core"),
    HOST(CACHE_L2, true, "cores=5", SMALL, "l2.shared=core"),
    HOST(CACHE_L2, true, "cores=4", SMALL, "l2.shared=chip"),
    HOST(CACHE_L2, true, "cores=4", SMALL, "l2.shared=chip", "l2.line=128",
         "l3.line=128"),
    HOST(CACHE_L3, true, "cores=3", SMALL, "l2.shared=core", "l3.size=8K",
         "l3.ways=2"),
    HOST(CACHE_L3, true, "cores=8", SMALL, "l2.shared=chip", "l3.size=8K",
         "l3.ways=4", "l3.line=128"),
    T2(CACHE_L1D, "cores=2"),
    T2(CACHE_L1D, "cores=8", "l1d.line=64"),
    /* The filters of stores do not see what other cores ask of a shared L2. */
    T2(CACHE_L2, "cores=1", "l2.size=8K", "l2.ways=2"),
    T2(CACHE_L2, "cores=1", "l2.size=8K", "l2.ways=4", "l2.line=128"),
};

/* Machines of one strand whose process forks. */
static const struct row rows_alone[] = {
    HOST(CACHE_L2, true, "cores=1", SMALL),
    T2(CACHE_L2, "cores=1", "l2.size=8K", "l2.ways=2"),
};

/* The twin */

struct ref_line {
    bool seen, lost, was_driven;
    uint64_t written; /* since the line was lost, a bit a byte or bytes */
    unsigned writer;
    struct recorder_access by; /* that has driven the line out */
    uint64_t watched; /* bytes that others have stored to, of a line that has
                         come in by a miss for others of its bytes */
    struct record_reason used; /* that counts where the line is used for them */
};

/* A cache; numbers of lines begin where the program's data do. */
struct ref_cache {
    uint64_t cached[LINES], count; /* of all sets, the newest first */
    uint64_t asked[LINES], asked_count;
    struct ref_line lines[LINES];
};

/* A level: each core's cache, or the first for all. */
struct ref_level {
    uint64_t sets, ways, line; /* sets 0: there is none */
    bool shared;
    struct ref_cache caches[STRANDS];
};

enum { L1D, L2, L3, LEVELS };

enum { FIRST, CAPACITY, CONFLICT, COHERENCE, FALSE_SHARING, CLASSES };

struct ref {
    struct ref_level levels[LEVELS];
    struct ref_level *told;
    bool through; /* stores pass the L1D by, */
    bool passed;  /* and atomics */
    bool outside; /* what comes now is not recorded */
    bool uses;    /* what is used of lines is recorded */
    uint64_t ran; /* instructions of the turn that runs */
    struct record_reason reasons[REASONS];
    size_t reason_count;
    uint64_t classes[2][CLASSES]; /* of loads, of stores */
};

/* An access, in one line of the level that stores, or loads, ask first. */
struct ref_access {
    unsigned core;
    uint64_t addr, last; /* where it begins here, and its last byte */
    struct recorder_access own;
    bool stores, atomic;
};

static void
ref_count(struct ref *r, const struct record_reason *reason)
{
    size_t i = 0;

    while (i < r->reason_count && (r->reasons[i].kind != reason->kind ||
                                   r->reasons[i].object != reason->object ||
                                   r->reasons[i].other != reason->other ||
                                   r->reasons[i].thread != reason->thread ||
                                   r->reasons[i].place != reason->place))
        i++;
    assert_true(i < REASONS);
    if (i == r->reason_count) {
        r->reasons[r->reason_count] = *reason;
        r->reasons[r->reason_count++].count = 0;
    }
    r->reasons[i].count += reason->count != 0 ? reason->count : 1;
    r->reasons[i].bytes |= reason->bytes;
    r->reasons[i].other_bytes |= reason->other_bytes;
}

/* Counts a reason, where what happens is recorded: once, or `count` times. */
static void
ref_add(struct ref *r, const struct record_reason *reason)
{
    if (!r->outside)
        ref_count(r, reason);
}

/* Takes a line out of a list. Returns where it was; `count`: it was not there.
 */
static uint64_t
take_out(uint64_t *list, uint64_t *count, uint64_t line)
{
    uint64_t at = 0;

    while (at < *count && list[at] != line)
        at++;
    if (at == *count)
        return at;
    memmove(list + at, list + at + 1, (*count - at - 1) * sizeof(*list));
    (*count)--;
    return at;
}

static void
put_first(uint64_t *list, uint64_t *count, uint64_t line)
{
    assert_true(*count < LINES);
    memmove(list + 1, list, *count * sizeof(*list));
    list[0] = line;
    (*count)++;
}

/* Drives the oldest line of a line's set out, where the set is full. */
static void
ref_make_room(const struct ref_level *l, struct ref_cache *c, uint64_t line,
              const struct recorder_access *by)
{
    uint64_t in_set = 0, oldest = 0;

    for (uint64_t i = 0; i < c->count; i++) {
        if (c->cached[i] % l->sets == line % l->sets) {
            in_set++;
            oldest = c->cached[i];
        }
    }
    if (in_set < l->ways)
        return;
    take_out(c->cached, &c->count, oldest);
    c->lines[oldest].by = *by;
    c->lines[oldest].was_driven = true;
}

/* Returns the bytes of a line that an access touches, a bit each; or of a line
 * of more than 64 bytes, a bit for several. */
static uint64_t
ref_bytes(const struct ref_level *l, const struct ref_access *a)
{
    const uint64_t step = l->line > 64 ? l->line / 64 : 1;
    uint64_t bits = 0;

    for (uint64_t at = a->addr;
         at <= a->last && at / l->line == a->addr / l->line; at++)
        bits |= UINT64_C(1) << at % l->line / step;
    return bits;
}

/* The level that is told misses a line. `near`: the line is one of the last
 * that were asked for, as many as the cache holds. */
static void
ref_miss(struct ref *r, const struct ref_access *a, uint64_t line, bool near)
{
    const struct ref_level *const level = r->told;
    struct ref_line *const l =
        &r->told->caches[level->shared ? 0 : a->core].lines[line];
    uint64_t *const classes = r->classes[a->stores];
    const uint64_t first = PROGRAM_DATA_AT / level->line;
    const uint64_t bytes = ref_bytes(level, a);

    l->watched = 0;
    if (l->lost) {
        const bool same = (l->written & bytes) != 0;
        if (!same && !r->outside && r->uses && a->own.object != 0) {
            l->watched = l->written;
            l->used = (struct record_reason){
                .kind = RECORD_REASON_USED,
                .object = a->own.object,
                .other = l->writer,
                .thread = a->core,
                .place = first + line,
            };
        }
        classes[COHERENCE]++;
        classes[FALSE_SHARING] += !same;
        ref_add(r,
                &(struct record_reason){
                    .kind = same ? RECORD_REASON_SHARED : RECORD_REASON_FALSE,
                    .object = a->own.object,
                    .other = l->writer,
                    .thread = a->core,
                    .place = first + line,
                    .bytes = bytes,
                    .other_bytes = l->written,
                });
        ref_add(r, &(struct record_reason){
                       .kind = RECORD_REASON_RAN,
                       .object = a->own.object,
                       .other = l->writer,
                       .thread = a->core,
                       .place = first + line,
                       .count = r->ran,
                   });
        return;
    }
    if (!l->seen) {
        classes[FIRST]++;
        return;
    }
    assert_true(l->was_driven);
    classes[near ? CONFLICT : CAPACITY]++;
    ref_add(r,
            &(struct record_reason){
                .kind = near ? RECORD_REASON_CONFLICT : RECORD_REASON_CAPACITY,
                .object = a->own.object,
                .other = l->by.object,
                .place = l->by.place,
            });
    if (near)
        ref_add(r, &(struct record_reason){
                       .kind = RECORD_REASON_SET,
                       .object = a->own.object,
                       .place = (first + line) % level->sets,
                   });
}

static unsigned
power_of(uint64_t distance)
{
    unsigned power = 0;

    while (distance >> power != 0)
        power++;
    return power;
}

/* Asks a level for the line of an access. Returns whether it has the line. */
static bool
ref_ask(struct ref *r, struct ref_level *level, const struct ref_access *a)
{
    struct ref_cache *const c = &level->caches[level->shared ? 0 : a->core];
    const uint64_t line = (a->addr - PROGRAM_DATA_AT) / level->line;
    struct ref_line *const l = &c->lines[line];
    const uint64_t distance = take_out(c->asked, &c->asked_count, line);

    assert_int_equal(PROGRAM_DATA_AT / level->line % level->sets, 0);
    if (level == r->told && distance != 0 && l->seen)
        ref_add(r, &(struct record_reason){.kind = RECORD_REASON_REUSE,
                                           .object = a->own.object,
                                           .place = power_of(distance)});
    put_first(c->asked, &c->asked_count, line);
    const uint64_t had = c->count;
    take_out(c->cached, &c->count, line);
    const bool hit = c->count != had;
    if (!hit && level == r->told)
        ref_miss(r, a, line, distance < level->sets * level->ways);
    if (!hit)
        ref_make_room(level, c, line, &a->own);
    put_first(c->cached, &c->count, line);
    l->seen = true;
    l->lost = false;
    l->written = 0;
    return hit;
}

/* A cache loses the line of an access. */
static void
ref_take(struct ref_level *level, unsigned cache, const struct ref_access *a)
{
    struct ref_cache *const c = &level->caches[cache];
    const uint64_t line = (a->addr - PROGRAM_DATA_AT) / level->line;
    const uint64_t had = c->count;

    take_out(c->cached, &c->count, line);
    if (c->count == had)
        return;
    c->lines[line].lost = true;
    c->lines[line].written = 0;
    c->lines[line].writer = a->core;
}

/* Notes what an access stores to, in the lines that caches have lost. */
static void
ref_note_store(struct ref_level *level, const struct ref_access *a)
{
    struct ref_access part = *a;

    for (; part.addr <= a->last;
         part.addr += level->line - part.addr % level->line) {
        const uint64_t line = (part.addr - PROGRAM_DATA_AT) / level->line;
        for (unsigned i = 0; i < STRANDS; i++) {
            struct ref_line *const l = &level->caches[i].lines[line];
            if (!l->lost)
                continue;
            l->written |= ref_bytes(level, &part);
            l->writer = a->core;
        }
    }
}

/* Counts that a line is used for what others had stored to, once after a miss
 * of false sharing. */
static void
ref_use(struct ref *r, const struct ref_access *a)
{
    const uint64_t line = (a->addr - PROGRAM_DATA_AT) / r->told->line;
    struct ref_line *const l = &r->told->caches[a->core].lines[line];

    if (r->outside || (l->watched & ref_bytes(r->told, a)) == 0)
        return;
    ref_add(r, &l->used);
    l->watched = 0;
}

/* Makes a part of an access. */
static void
ref_make(struct ref *r, const struct ref_access *a)
{
    struct ref_level *const l = r->levels;
    const bool passes = (r->through && a->stores) || (r->passed && a->atomic);

    if (r->passed && a->atomic)
        ref_take(&l[L1D], a->core, a);
    for (unsigned i = 0; !r->through && a->stores && i < STRANDS; i++) {
        for (unsigned k = L1D; i != a->core && k <= L2; k++) {
            if (l[k].sets != 0 && !l[k].shared)
                ref_take(&l[k], i, a);
        }
    }
    bool hit = !passes && ref_ask(r, &l[L1D], a);
    for (unsigned k = L2; k <= L3 && !hit && l[k].sets != 0; k++)
        hit = ref_ask(r, &l[k], a);
    if (a->stores)
        ref_note_store(r->told, a);
}

/* The model */

struct crowd {
    const struct row *row;
    unsigned count; /* of strands and cores */
    uint64_t params[PARAM_COUNT];
    struct chip chip;
    struct reasons reasons;
    struct classes classes;
    struct record_process *process;
    struct objects map;
    struct recorder_objects finder;
    struct strand *strands[STRANDS];
    struct counts_strand *counts[STRANDS];
    struct record_strand *records[STRANDS];
    struct recorder recorders[STRANDS];
    struct callers callers[STRANDS];
    struct lines lines[STRANDS]; /* with ref.uses */
    struct record_use uses[OBJECTS];
    struct block blocks[BLOCKS];
    struct ref ref;
    uint64_t state;
};

static void *
map_zeroes(size_t size)
{
    void *const memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    assert_ptr_not_equal(memory, MAP_FAILED);
    return memory;
}

/* Returns the object of an address: pages have some, and some pages none. */
static uint32_t
object_at(void *user, uint64_t addr)
{
    (void)user;
    return (uint32_t)(addr >> 9) % OBJECTS;
}

static uint32_t
no_frame(void *user, uint32_t block)
{
    (void)user;
    (void)block;
    return 0;
}

static void
no_stack(void *user, uint64_t addr, uint64_t *first, uint64_t *size)
{
    (void)user;
    (void)addr;
    (void)first;
    (void)size;
}

static void
crowd_join(struct crowd *c, unsigned i)
{
    static const uint16_t signals[] = {SIGNAL_L1D_LOAD_MISSES};

    c->counts[i] = new_counts();
    c->counts[i]->thread = i;
    c->strands[i] = new_strand(&c->chip, i, c->counts[i]);
    assert_non_null(c->strands[i]);
    assert_ptr_equal(c->strands[i]->core, &c->chip.cores[i]);
    c->records[i] = map_zeroes(sizeof(*c->records[i]));
    assert_int_equal(callers_init(&c->callers[i], c->records[i], 0), 0);
    c->strands[i]->recorder = &c->recorders[i];
    c->strands[i]->callers = &c->callers[i];
    recorder_init(&c->recorders[i], c->records[i], signals, COUNT(signals),
                  c->strands[i]->total);
    c->recorders[i].objects = &c->finder;
    recorder_switch(c->strands[i], false);
    if (!c->ref.uses)
        return;
    assert_int_equal(
        lines_init(&c->lines[i], c->params[PARAM_L1D_LINE], c->uses), 0);
    c->recorders[i].lines = &c->lines[i];
}

/* Returns the components of the model: with classes.h the levels alone, without
 * TLBs, whose walks ask the L2. */
static uint64_t
components_of_row(const struct row *row, const uint64_t *params)
{
    const struct event_row *const misses[] = {level_event(row->level, 2),
                                              level_event(CACHE_L2, 2)};

    if (!row->told)
        return components_counted(params, 0, SIGNAL_COUNT) | COMPONENT_CLASSES;
    return components_of(misses, 2, params) &
           ~(uint64_t)(COMPONENT_ITLB | COMPONENT_DTLB);
}

static void
ref_start(struct ref *r, const struct row *row, const uint64_t *params)
{
    static const enum cache_id ids[LEVELS] = {CACHE_L1D, CACHE_L2, CACHE_L3};

    r->through = params[PARAM_L1D_WRITE] == L1D_WRITE_THROUGH;
    r->passed = !condition_holds(CONDITION_SHARING, params);
    for (unsigned i = 0; i < LEVELS; i++) {
        const struct cache_row *const c = &tally_caches[ids[i]];
        r->levels[i].line = params[c->line];
        r->levels[i].ways = params[c->ways];
        r->levels[i].sets = params[c->size] / params[c->line] / params[c->ways];
        if (ids[i] == row->level)
            r->told = &r->levels[i];
    }
    r->levels[L2].shared = params[PARAM_L2_SHARED] == L2_SHARED_CHIP;
    r->levels[L3].shared = true;
}

static void
crowd_start(struct crowd *c, const struct row *row, uint64_t seed)
{
    memset(c, 0, sizeof(*c));
    c->row = row;
    c->state = seed;
    params_of(&row->machine, c->params);
    c->count = row == rows ? 1 : (unsigned)c->params[PARAM_CORES];
    assert_int_equal(chip_init(&c->chip, c->params,
                               components_of_row(row, c->params), STRANDS),
                     0);
    c->process = map_zeroes(sizeof(*c->process));
    c->reasons.process = c->process;
    assert_int_equal(reasons_begin(&c->reasons, &c->chip, row->level), 0);
    classes_init(&c->classes, &c->reasons);
    if (row->told)
        c->chip.classes = &c->classes;
    else
        c->chip.reasons = &c->reasons;
    assert_int_equal(objects_init(&c->map), 0);
    c->finder = (struct recorder_objects){.find = object_at,
                                          .frame = no_frame,
                                          .stack = no_stack,
                                          .map = &c->map,
                                          .plain_stack = UINT32_MAX};
    ref_start(&c->ref, row, c->params);
    /* Where a line is in, leaves and comes in again before the caches are asked
     * for the first of these, its use is taken for that of the line that comes
     * in: then the caches are asked at each access. */
    c->ref.uses = !row->told && random_below(&c->state, 2) != 0;
    for (unsigned i = 0; i < BLOCKS; i++)
        c->blocks[i] = (struct block){.index = i, .pc = 0x1000 + 64 * i};
    for (unsigned i = 0; i < c->count; i++)
        crowd_join(c, i);
}

static void
crowd_finish(struct crowd *c)
{
    c->chip.reasons = NULL;
    c->chip.classes = NULL;
    for (unsigned i = 0; i < c->count; i++) {
        free_strand(c->strands[i], i);
        free_counts(c->counts[i]);
        callers_finish(&c->callers[i]);
        lines_finish(&c->lines[i]);
        munmap(c->records[i], sizeof(*c->records[i]));
    }
    classes_finish(&c->classes);
    classes_finish(&c->classes);
    reasons_finish(&c->reasons);
    reasons_finish(&c->reasons);
    chip_finish(&c->chip);
    objects_finish(&c->map);
    munmap(c->process, sizeof(*c->process));
}

/* Makes an access of a block's instruction, which may be to two lines. */
static void
make(struct crowd *c, unsigned who, const struct access *a, unsigned block,
     unsigned instruction)
{
    struct strand *const s = c->strands[who];
    const bool stores = a->kind != ACCESS_IS_LOAD;
    const bool passes = c->ref.through && stores;
    const uint64_t size = c->params[passes ? PARAM_L2_LINE : PARAM_L1D_LINE];
    const uint64_t last = a->addr + a->size - 1;
    const access_site at = site_make(size - a->size, instruction);

    c->ref.outside = c->recorders[who].outside;
    s->cell = callers_find(&c->callers[who], 0, &c->blocks[block]);
    if (a->kind == ACCESS_IS_LOAD)
        strand_load(s, a->addr, at);
    else if (a->kind == ACCESS_IS_STORE)
        strand_store(s, a->addr, at, s->chip->stores_apart);
    else
        strand_atomic_slow(s, a->addr, at);
    if (c->row->told)
        classes_access(s, &(struct classes_access){
                              .addr = a->addr,
                              .size = (unsigned)a->size,
                              .all = (unsigned)a->size,
                              .object = recorder_object(s, a->addr),
                              .store = stores,
                          });
    for (uint64_t from = a->addr; from <= last;
         from = (from & ~(size - 1)) + size) {
        const struct ref_access part = {
            .core = who,
            .addr = from,
            .last = c->row->told || from / size == last / size
                        ? last
                        : (from & ~(size - 1)) + size - 1,
            .own = {object_at(NULL, from),
                    record_reason_place(block + 1, instruction)},
            .stores = stores,
            .atomic = a->kind == ACCESS_IS_ATOMIC,
        };
        ref_make(&c->ref, &part);
        ref_use(&c->ref, &part);
    }
    if (!c->ref.uses)
        return;
    if (s->recorder->lines->seen != s->queue.next)
        recorder_asks(s);
    if (!s->recorder->outside)
        lines_touch(s->recorder->lines, a->addr, (unsigned)a->size);
    strand_drain(s);
}

/* Few lines that all share, lines of one set, and more of the strand's own. */
static void
any_access(struct crowd *c, unsigned who)
{
    const uint64_t place = random_below(&c->state, 16);
    const uint64_t size = (uint64_t)1 << random_below(&c->state, 4);
    const uint64_t kind = random_below(&c->state, 20);
    uint64_t addr = PROGRAM_DATA_AT + random_below(&c->state, 64);

    if (place < 5)
        addr += random_below(&c->state, 6) * 0x440;
    else if (place < 9)
        addr += random_below(&c->state, 12) * 0x1000;
    else
        addr += (who + 1) * 0x1000 + random_below(&c->state, 48) * 64;
    const struct access a = {kind == 0  ? ACCESS_IS_ATOMIC
                             : kind < 9 ? ACCESS_IS_STORE
                                        : ACCESS_IS_LOAD,
                             addr, size};
    make(c, who, &a, (unsigned)random_below(&c->state, BLOCKS),
         (unsigned)random_below(&c->state, 5));
}

static void
turn(struct crowd *c, unsigned who)
{
    const uint64_t accesses = 1 + random_below(&c->state, 30);
    struct strand *const s = c->strands[who];

    strand_begins_turn(s);
    ref_count(&c->ref, &(struct record_reason){.kind = RECORD_REASON_TURNS,
                                               .thread = s->counts->thread});
    c->ref.ran = 0;
    for (uint64_t i = 0; i < accesses; i++) {
        const uint64_t ran = 1 + random_below(&c->state, 20);
        s->look.left -= (int64_t)ran;
        c->ref.ran += ran;
        any_access(c, who);
    }
    strand_drain(s);
}

static int
compare_reasons(const void *x, const void *y)
{
    return memcmp(x, y, sizeof(struct record_reason));
}

/* Compares all reasons, and adds up those of each kind. */
static void
compare(struct crowd *c, uint64_t sums[RECORD_REASON_KINDS])
{
    const unsigned all = atomic_load(&c->process->reason_count);
    struct record_reason *const got = calloc(all + 1u, sizeof(*got));
    unsigned count = 0;

    assert_non_null(got);
    /* Of RECORD_REASON_USED those come first, with a count of 0. */
    for (unsigned i = 0; i < all; i++) {
        if (c->process->reasons[i].count != 0)
            got[count++] = c->process->reasons[i];
    }
    qsort(got, count, sizeof(*got), compare_reasons);
    qsort(c->ref.reasons, c->ref.reason_count, sizeof(*got), compare_reasons);
    for (size_t i = 0; i < count || i < c->ref.reason_count; i++) {
        const struct record_reason *const g = &got[i], *const w =
                                                           &c->ref.reasons[i];
        if (i >= count || i >= c->ref.reason_count ||
            compare_reasons(g, w) != 0)
            fail_msg(
                "row at line %d: %u reasons, %zu of the twin; the %zu. "
                "is %u of %u, %u, %u, %" PRIx64 ": %" PRIu64
                ", and of the twin %u of %u, %u, %u, %" PRIx64 ": %" PRIu64,
                c->row->machine.line, count, c->ref.reason_count, i, g->kind,
                g->object, g->other, g->thread, g->place, g->count, w->kind,
                w->object, w->other, w->thread, w->place, w->count);
        sums[g->kind] += g->count;
    }
    free(got);
}

/* Compares how many misses have which class. An atomic of a machine whose
 * stores allocate counts as a load there. */
static void
compare_classes(const struct crowd *c)
{
    static const uint16_t signals[2][CLASSES] = {
        {SIGNAL_LEVEL_LOAD_FIRST_MISSES, SIGNAL_LEVEL_LOAD_CAPACITY_MISSES,
         SIGNAL_LEVEL_LOAD_CONFLICT_MISSES, SIGNAL_LEVEL_LOAD_COHERENCE_MISSES,
         SIGNAL_LEVEL_LOAD_FALSE_MISSES},
        {SIGNAL_LEVEL_STORE_FIRST_MISSES, SIGNAL_LEVEL_STORE_CAPACITY_MISSES,
         SIGNAL_LEVEL_STORE_CONFLICT_MISSES,
         SIGNAL_LEVEL_STORE_COHERENCE_MISSES, SIGNAL_LEVEL_STORE_FALSE_MISSES},
    };
    const struct ref *const r = &c->ref;

    for (unsigned k = 0; c->row->told && k < CLASSES; k++) {
        uint64_t got = 0;
        for (unsigned i = 0; i < c->count; i++) {
            const uint64_t *const total = c->counts[i]->totals[0].signal;
            got += total[signals[0][k]] + total[signals[1][k]];
        }
        if (got != r->classes[0][k] + r->classes[1][k])
            fail_msg("row at line %d: class %u: %" PRIu64
                     ", and of the twin %" PRIu64,
                     c->row->machine.line, k, got,
                     r->classes[0][k] + r->classes[1][k]);
    }
    for (unsigned w = 0; c->row->told && w < 2; w++) {
        const struct event_row *const e = level_event(c->row->level, 2 + w);
        uint64_t misses = 0, classes = 0;
        for (unsigned i = 0; i < c->count; i++) {
            const uint64_t *const total = c->counts[i]->totals[0].signal;
            for (unsigned k = 0; k < e->signal_count; k++)
                misses += total[e->signals[k]];
            for (unsigned k = FIRST; k <= COHERENCE; k++)
                classes += total[signals[w][k]];
        }
        assert_int_equal(misses, classes);
    }
}

static struct crowd crowd;

/* Some of the time what a strand does is not recorded. */
static void
test_against_twin(void **unused)
{
    uint64_t state = random_seed();
    uint64_t sums[RECORD_REASON_KINDS] = {0};

    (void)unused;
    for (size_t m = 0; m < COUNT(rows); m++) {
        struct crowd *const c = &crowd;
        crowd_start(c, &rows[m], random_next(&state));
        for (int i = 0; i < TURNS; i++) {
            const unsigned who = (unsigned)random_below(&c->state, c->count);
            if (random_below(&c->state, 50) == 0)
                recorder_switch(c->strands[who], !c->recorders[who].outside);
            turn(c, who);
        }
        compare(c, sums);
        compare_classes(c);
        crowd_finish(c);
    }
    for (unsigned kind = 1; kind < RECORD_REASON_KINDS; kind++)
        assert_int_not_equal(sums[kind], 0);
}

/* The child of a fork has cold caches, and reasons of its own. */
static void
check_fork(const struct row *row)
{
    uint64_t state = random_seed(), sums[RECORD_REASON_KINDS] = {0};
    struct crowd *const c = &crowd;

    crowd_start(c, row, random_next(&state));
    assert_int_equal(c->count, 1);
    for (int i = 0; i < TURNS; i++)
        turn(c, 0);
    compare(c, sums);
    struct record_process *const child = map_zeroes(sizeof(*child));
    lock_take(&c->chip.lock);
    reasons_fork(&c->reasons, child);
    chip_after_fork(&c->chip, 0);
    munmap(c->process, sizeof(*c->process));
    c->process = child;
    c->ref.reason_count = 0;
    if (c->ref.uses) {
        lines_finish(&c->lines[0]);
        assert_int_equal(
            lines_init(&c->lines[0], c->params[PARAM_L1D_LINE], c->uses), 0);
    }
    for (unsigned i = 0; i < LEVELS; i++)
        memset(c->ref.levels[i].caches, 0, sizeof(c->ref.levels[i].caches));
    for (int i = 0; i < TURNS; i++)
        turn(c, 0);
    compare(c, sums);
    crowd_finish(c);
}

static void
test_fork(void **unused)
{
    (void)unused;
    check_fork(&rows[0]);
    check_fork(&rows_alone[0]);
    check_fork(&rows_alone[1]);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_twin),
        cmocka_unit_test(test_fork),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
