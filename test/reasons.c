/* SPDX-License-Identifier: MIT */
/*
 * Why data are not in the L1D: strands that take turns, against a slow twin
 * that keeps each set as a list of lines in order of use, and who has driven
 * out each line.
 */
#include "machine/reasons.h"

#include <string.h>

#include "machine/callers.h"
#include "machine/recorder.h"
#include "ref/drive.h"
#include "ref/random.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { STRANDS = 8, TURNS = 700, LINES = 2048, BLOCKS = 20, REASONS = 65536 };

/* Machines of as many cores as strands run; on the first one strand runs. */
static const struct machine machines[] = {
    {__LINE__, "host-model", {"cores=2", "l1d.size=1K", "l1d.ways=2"}},
    {__LINE__, "host-model", {"cores=2", "l1d.size=512", "l1d.ways=1"}},
    {__LINE__, "host-model", {"cores=2"}},
    {__LINE__, "host-model", {"cores=3", "l1d.size=1K", "l1d.ways=16"}},
    {__LINE__, "host-model", {"cores=4", "l1d.size=2K", "l1d.ways=4"}},
    {__LINE__,
     "host-model",
     {"cores=5", "l1i.line=32", "l1d.size=1K", "l1d.line=32", "l2.line=32"}},
    {__LINE__,
     "host-model",
     {"cores=4", "l1d.size=1K", "l1d.ways=4", "l2.size=0", "l3.size=0"}},
    {__LINE__, "host-model", {"cores=8", "l1d.size=1K", "l1d.ways=2"}},
};

/* The twin */

struct ref_line {
    bool seen, lost, was_driven;
    uint64_t written; /* since the line was lost, a bit a byte */
    unsigned writer;
    struct recorder_access by; /* that has driven the line out */
};

struct ref_core {
    uint64_t cached[LINES], count; /* of all sets, the newest first */
    uint64_t asked[LINES], asked_count;
    struct ref_line lines[LINES];
};

struct ref {
    uint64_t sets, ways;
    bool outside; /* what comes now is not recorded */
    struct ref_core cores[STRANDS];
    struct record_reason reasons[REASONS];
    size_t reason_count;
};

static void
ref_add(struct ref *r, const struct record_reason *reason)
{
    size_t i = 0;

    if (r->outside)
        return;
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
    r->reasons[i].count++;
    r->reasons[i].bytes |= reason->bytes;
    r->reasons[i].other_bytes |= reason->other_bytes;
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
ref_make_room(struct ref *r, struct ref_core *c, uint64_t line,
              const struct recorder_access *by)
{
    uint64_t in_set = 0, oldest = 0;

    for (uint64_t i = 0; i < c->count; i++) {
        if (c->cached[i] % r->sets == line % r->sets) {
            in_set++;
            oldest = c->cached[i];
        }
    }
    if (in_set < r->ways)
        return;
    take_out(c->cached, &c->count, oldest);
    c->lines[oldest].by = *by;
    c->lines[oldest].was_driven = true;
}

/* The core misses a line that it has had. `near`: the line is one of the last
 * that it has asked for, as many as the cache holds. */
static void
ref_miss(struct ref *r, unsigned core, uint64_t line, uint64_t first_line,
         const struct recorder_access *own, uint64_t bytes, bool near)
{
    const struct ref_line *const l = &r->cores[core].lines[line];

    if (l->lost) {
        ref_add(r, &(struct record_reason){
                       .kind = (l->written & bytes) != 0 ? RECORD_REASON_SHARED
                                                         : RECORD_REASON_FALSE,
                       .object = own->object,
                       .other = l->writer,
                       .thread = core,
                       .place = first_line + line,
                       .bytes = bytes,
                       .other_bytes = l->written,
                   });
        return;
    }
    assert_true(l->was_driven);
    ref_add(r,
            &(struct record_reason){
                .kind = near ? RECORD_REASON_CONFLICT : RECORD_REASON_CAPACITY,
                .object = own->object,
                .other = l->by.object,
                .place = l->by.place,
            });
    if (near)
        ref_add(r, &(struct record_reason){
                       .kind = RECORD_REASON_SET,
                       .object = own->object,
                       .place = (first_line + line) % r->sets,
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

/* Makes a part of an access that is in one line, by its number behind the first
 * line. */
static void
ref_access(struct ref *r, unsigned core, uint64_t line, uint64_t first_line,
           const struct recorder_access *own, uint64_t bytes, bool stores)
{
    struct ref_core *const c = &r->cores[core];
    struct ref_line *const l = &c->lines[line];
    const uint64_t distance = take_out(c->asked, &c->asked_count, line);
    const bool known = l->seen;

    assert_int_equal(first_line % r->sets, 0);
    if (known && distance != 0)
        ref_add(r, &(struct record_reason){.kind = RECORD_REASON_REUSE,
                                           .object = own->object,
                                           .place = power_of(distance)});
    put_first(c->asked, &c->asked_count, line);
    const uint64_t had = c->count;
    take_out(c->cached, &c->count, line);
    if (c->count == had) {
        if (known)
            ref_miss(r, core, line, first_line, own, bytes,
                     distance < r->sets * r->ways);
        ref_make_room(r, c, line, own);
    }
    put_first(c->cached, &c->count, line);
    l->seen = true;
    l->lost = false;
    l->written = 0;
    for (unsigned o = 0; stores && o < STRANDS; o++) {
        struct ref_core *const other = &r->cores[o];
        const uint64_t others = other->count;
        if (o == core)
            continue;
        take_out(other->cached, &other->count, line);
        if (other->count != others)
            other->lines[line].lost = true;
        if (other->lines[line].lost) {
            other->lines[line].written |= bytes;
            other->lines[line].writer = core;
        }
    }
}

/* The model */

struct crowd {
    int line;
    unsigned count; /* of strands and cores */
    uint64_t params[PARAM_COUNT];
    struct chip chip;
    struct reasons reasons;
    struct record_process *process;
    struct objects map;
    struct recorder_objects finder;
    struct strand *strands[STRANDS];
    struct counts_strand *counts[STRANDS];
    struct record_strand *records[STRANDS];
    struct recorder recorders[STRANDS];
    struct callers callers[STRANDS];
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
    return (uint32_t)(addr >> 9) % 6;
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
}

static void
crowd_start(struct crowd *c, const struct machine *m, uint64_t seed)
{
    memset(c, 0, sizeof(*c));
    c->line = m->line;
    c->state = seed;
    params_of(m, c->params);
    c->count = m == machines ? 1 : (unsigned)c->params[PARAM_CORES];
    assert_int_equal(chip_init(&c->chip, c->params,
                               components_counted(c->params, 0, SIGNAL_COUNT) |
                                   COMPONENT_CLASSES,
                               STRANDS),
                     0);
    c->process = map_zeroes(sizeof(*c->process));
    c->reasons.process = c->process;
    assert_int_equal(reasons_begin(&c->reasons, c->chip.core_count), 0);
    c->chip.reasons = &c->reasons;
    assert_int_equal(objects_init(&c->map), 0);
    c->finder = (struct recorder_objects){.find = object_at,
                                          .frame = no_frame,
                                          .stack = no_stack,
                                          .map = &c->map,
                                          .plain_stack = UINT32_MAX};
    c->ref.ways = c->params[PARAM_L1D_WAYS];
    c->ref.sets = c->params[PARAM_L1D_SIZE] / c->params[PARAM_L1D_LINE] /
                  c->params[PARAM_L1D_WAYS];
    for (unsigned i = 0; i < BLOCKS; i++)
        c->blocks[i] = (struct block){.index = i, .pc = 0x1000 + 64 * i};
    for (unsigned i = 0; i < c->count; i++)
        crowd_join(c, i);
}

static void
crowd_finish(struct crowd *c)
{
    c->chip.reasons = NULL;
    for (unsigned i = 0; i < c->count; i++) {
        free_strand(c->strands[i], i);
        free_counts(c->counts[i]);
        callers_finish(&c->callers[i]);
        munmap(c->records[i], sizeof(*c->records[i]));
    }
    reasons_finish(&c->reasons);
    reasons_finish(&c->reasons);
    chip_finish(&c->chip);
    objects_finish(&c->map);
    munmap(c->process, sizeof(*c->process));
}

static uint64_t
bits_of(uint64_t first, uint64_t count)
{
    const uint64_t bits = count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;

    return bits << first;
}

/* Makes an access of a block's instruction, which may be to two lines. */
static void
make(struct crowd *c, unsigned who, const struct access *a, unsigned block,
     unsigned instruction)
{
    const uint64_t size = c->params[PARAM_L1D_LINE];
    const uint64_t last = a->addr + a->size - 1;
    const bool stores = a->kind != ACCESS_IS_LOAD;
    struct strand *const s = c->strands[who];
    const access_site at = site_make(size - a->size, instruction);

    c->ref.outside = c->recorders[who].outside;
    s->cell = callers_find(&c->callers[who], 0, &c->blocks[block]);
    if (a->kind == ACCESS_IS_LOAD)
        strand_load(s, a->addr, at);
    else if (a->kind == ACCESS_IS_STORE)
        strand_store(s, a->addr, at, s->chip->stores_apart);
    else
        strand_atomic_slow(s, a->addr, at);
    for (uint64_t line = a->addr / size; line <= last / size; line++) {
        const uint64_t from = line == a->addr / size ? a->addr : line * size;
        const uint64_t to = line == last / size ? last : line * size + size - 1;
        const struct recorder_access own = {
            object_at(NULL, from),
            record_reason_place(block + 1, instruction),
        };
        ref_access(&c->ref, who, line - PROGRAM_DATA_AT / size,
                   PROGRAM_DATA_AT / size, &own,
                   bits_of(from % size, to - from + 1), stores);
    }
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

    for (uint64_t i = 0; i < accesses; i++)
        any_access(c, who);
    strand_drain(c->strands[who]);
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
    const unsigned count = atomic_load(&c->process->reason_count);
    struct record_reason *const got = calloc(count + 1u, sizeof(*got));

    assert_non_null(got);
    memcpy(got, c->process->reasons, count * sizeof(*got));
    qsort(got, count, sizeof(*got), compare_reasons);
    qsort(c->ref.reasons, c->ref.reason_count, sizeof(*got), compare_reasons);
    for (size_t i = 0; i < count || i < c->ref.reason_count; i++) {
        const struct record_reason *const g = &got[i], *const w =
                                                           &c->ref.reasons[i];
        if (i >= count || i >= c->ref.reason_count ||
            compare_reasons(g, w) != 0)
            fail_msg("row at line %d: %u reasons, %zu of the twin; the %zu. "
                     "is %u of %u, %u, %u, %" PRIx64 ": %" PRIu64
                     ", and of the twin %u of %u, %u, %u, %" PRIx64
                     ": %" PRIu64,
                     c->line, count, c->ref.reason_count, i, g->kind, g->object,
                     g->other, g->thread, g->place, g->count, w->kind,
                     w->object, w->other, w->thread, w->place, w->count);
        sums[g->kind] += g->count;
    }
    free(got);
}

static struct crowd crowd;

/* Some of the time what a strand does is not recorded. */
static void
test_against_twin(void **unused)
{
    uint64_t state = random_seed();
    uint64_t sums[RECORD_REASON_KINDS] = {0};

    (void)unused;
    for (size_t m = 0; m < COUNT(machines); m++) {
        struct crowd *const c = &crowd;
        crowd_start(c, &machines[m], random_next(&state));
        for (int i = 0; i < TURNS; i++) {
            const unsigned who = (unsigned)random_below(&c->state, c->count);
            if (random_below(&c->state, 50) == 0)
                recorder_switch(c->strands[who], !c->recorders[who].outside);
            turn(c, who);
        }
        compare(c, sums);
        crowd_finish(c);
    }
    for (unsigned kind = 1; kind < RECORD_REASON_KINDS; kind++)
        assert_int_not_equal(sums[kind], 0);
}

/* The child of a fork has cold caches, and reasons of its own. */
static void
test_fork(void **unused)
{
    uint64_t state = random_seed(), sums[RECORD_REASON_KINDS] = {0};
    struct crowd *const c = &crowd;

    (void)unused;
    crowd_start(c, &machines[0], random_next(&state));
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
    memset(c->ref.cores, 0, sizeof(c->ref.cores));
    for (int i = 0; i < TURNS; i++)
        turn(c, 0);
    compare(c, sums);
    crowd_finish(c);
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
