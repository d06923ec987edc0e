/* SPDX-License-Identifier: MIT */
#include "machine/recorder.h"

#include <string.h>

#include "machine/cache_avx2.h"
#include "machine/callers.h"
#include "machine/classes.h"
#include "machine/fetch.h"
#include "machine/levels.h"

/* Returns the site of the key, or the empty one where it goes. The program can
 * write into the table: where it has filled all places, any one is returned. */
static inline struct record_site *
find(struct record_site *sites, uint64_t mask, uint64_t key)
{
    uint64_t at = (key ^ key >> 29) * 0x9e3779b97f4a7c15u >> 20 & mask;

    for (uint64_t n = 0;
         n <= mask && sites[at].key != key && sites[at].key != 0; n++)
        at = (at + 1) & mask;
    return &sites[at];
}

/* Doubles the table. The new one is complete before it takes the old one's
 * place, as the process may be killed at any time. */
static void
grow(struct recorder *r)
{
    const uint64_t size = r->mask + 1;
    const unsigned place = atomic_load(&r->record->place) ^ 1;
    struct record_site *sites = r->record->sites[place & 1];

    for (uint64_t i = 0; i < size; i++) {
        if (r->sites[i].key != 0)
            *find(sites, 2 * size - 1, r->sites[i].key) = r->sites[i];
    }
    /* A reader between the two stores would see half of the old table's hash,
     * but readers come when the process has ended. */
    atomic_fetch_add(&r->record->bits, 1);
    atomic_store(&r->record->place, place);
    counts_clear(r->sites, size * sizeof(*r->sites));
    r->sites = sites;
    r->mask = 2 * size - 1;
}

/* Returns whether a site without callers is in a block for which the counts
 * have no room. */
static bool
has_no_room(const struct recorder *r, uint64_t key)
{
    return key >> 32 == RECORD_NO_ROOM &&
           atomic_load(&r->record->cell_count) == 0;
}

/* Returns the site of a key that the table lacks, `empty` or, where the table
 * must grow first, another; NULL: the key gets none. */
static __attribute__((noinline)) struct record_site *
new_site(struct recorder *r, struct record_site *empty, uint64_t key)
{
    struct record_site *site = empty;

    if (has_no_room(r, key))
        return NULL;
    if (r->used >= (r->mask + 1) / 4 * 3) {
        if (r->mask + 1 >= RECORD_SITES)
            return NULL; /* stays in the total alone */
        grow(r);
        site = find(r->sites, r->mask, key);
    }
    r->used++;
    site->key = key;
    return site;
}

static inline void
add(struct recorder *r, uint64_t key, uint64_t count)
{
    struct record_site *site = find(r->sites, r->mask, key);

    if (__builtin_expect(site->key == 0, 0))
        site = new_site(r, site, key);
    if (site != NULL)
        site->count += count;
}

void
recorder_add(struct recorder *r, uint64_t key, uint64_t count)
{
    add(r, key, count);
}

bool
recorder_is_of_branch(unsigned signal)
{
    for (unsigned i = 0; i < PREDICTOR_COUNT; i++) {
        if (signal == tally_predictors[i].taken ||
            signal == tally_predictors[i].not_taken)
            return true;
    }
    for (unsigned i = 0; i < TARGET_COUNT; i++) {
        if (signal == tally_targets[i].mispredicts)
            return true;
    }
    return signal == SIGNAL_NOT_TAKEN_MISPREDICTS ||
           signal == SIGNAL_TAKEN_MISPREDICTS || signal == SIGNAL_BTC_MISSES ||
           signal == SIGNAL_BTC_MISPREDICTS ||
           (signal >= SIGNAL_BTB1_HITS &&
            signal <= SIGNAL_BTB_INDIRECT_MISSES) ||
           signal == SIGNAL_FAR_MISPREDICTS ||
           signal == SIGNAL_INDIRECT_MISPREDICTS ||
           signal == SIGNAL_RETURN_MISPREDICTS ||
           (signal >= SIGNAL_FRAME_EVENTS && signal <= SIGNAL_FRAME_FILLS);
}

/* Returns whether a request that an L2 lacks raises the signal, which is no
 * miss of a cache. */
static bool
is_behind(unsigned signal)
{
    static_assert(SIGNAL_MEMORY_WRITES_0 == SIGNAL_MEMORY_READS_0 + 8 &&
                      SIGNAL_DRAM_STARVED_7 == SIGNAL_MEMORY_READS_0 + 55 &&
                      SIGNAL_L2_STALLS == SIGNAL_L2_MISSES_FULL + 3,
                  "found by their order");
    for (unsigned i = 0; i < LEVELS_MOST; i++) {
        if (signal == level_rows[i].writebacks)
            return true;
    }
    return signal == SIGNAL_L2_WRITEBACKS ||
           (signal >= SIGNAL_L2_MISSES_FULL && signal <= SIGNAL_L2_STALLS) ||
           (signal >= SIGNAL_MEMORY_READS_0 && signal <= SIGNAL_DRAM_STARVED_7);
}

/* Adds a signal to a set. */
static void
add_signal(struct recorder_set *set, unsigned signal)
{
    const unsigned last = SIGNAL_COUNT - RECORDER_LINE;
    unsigned line = signal / RECORDER_LINE * RECORDER_LINE;

    if (line > last)
        line = last;
    if (set->count == 0 || set->lines[set->count - 1] != line)
        set->lines[set->count++] = (uint16_t)line;
    set->mask[signal] = UINT64_MAX;
}

void
recorder_init(struct recorder *r, struct record_strand *record,
              const uint16_t *signals, unsigned count, const uint64_t *total)
{
    const unsigned place = atomic_load(&record->place) & 1;

    memset(r, 0, sizeof(*r));
    r->record = record;
    if (atomic_load(&record->bits) == 0)
        atomic_store(&record->bits,
                     (unsigned)__builtin_ctz(RECORD_SITES_LEAST));
    r->sites = record->sites[place];
    r->mask = ((uint64_t)1 << atomic_load(&record->bits)) - 1;
    for (uint64_t i = 0; i <= r->mask; i++)
        r->used += r->sites[i].key != 0;
    for (unsigned i = 0; i < count; i++) {
        add_signal(recorder_is_of_branch(signals[i]) ? &r->branch : &r->other,
                   signals[i]);
        if (is_behind(signals[i]))
            add_signal(&r->behind, signals[i]);
        r->records[signals[i]] = true;
    }
    memcpy(r->charged, total, sizeof(r->charged));
}

void
recorder_switch(struct strand *s, bool outside)
{
    struct recorder *r = s->recorder;

    r->outside = outside;
    if (s->callers != NULL)
        s->callers->step = !outside;
    s->branches = outside ? r->record->outside : r->record->branches;
    memcpy(r->charged, s->total, sizeof(r->charged));
}

/* Returns whether an address is on the stack of the strand's thread, where that
 * was not known: the thread's calls tell it. */
static bool
is_own_stack(const struct strand *s, uint64_t addr)
{
    const struct recorder_objects *o = s->recorder->objects;
    struct callers *c = s->callers;

    const uint64_t pointer = callers_pointer(c);

    if (c->stack_size != 0 || pointer == 0)
        return false;
    o->stack(o->user, pointer, &c->stack_first, &c->stack_size);
    return addr - c->stack_first < c->stack_size;
}

uint32_t
recorder_object(const struct strand *s, uint64_t addr)
{
    const struct recorder_objects *o = s->recorder->objects;

    if (addr - s->callers->stack_first >= s->callers->stack_size) {
        uint32_t object = objects_find(o->map, addr);
        if (__builtin_expect(object == 0, 0))
            object = o->find(o->user, addr);
        if (object != o->plain_stack || object == 0 || !is_own_stack(s, addr))
            return object;
    }
    const uint32_t block = callers_frame(s->callers, addr);
    return block != 0 ? o->frame(o->user, block) : o->plain_stack;
}

uint32_t
recorder_stack_cell(const struct strand *s, uint64_t addr)
{
    return s->cell != 0 && s->recorder->objects != NULL
               ? callers_on(s->callers, s->cell, recorder_object(s, addr))
               : s->cell;
}

/* Returns the cell on the object that the data are of. A cell on a frame stays
 * so, but that the write of a line is no access of the function. */
static uint32_t
cell_on(const struct strand *s, uint32_t cell, uint64_t addr, bool written)
{
    if (s->recorder->objects == NULL || cell == 0)
        return cell;
    const uint32_t off = callers_off(s->callers, cell);
    if (addr == RECORDER_NO_DATA)
        return off;
    if (off != cell && !written)
        return cell;
    return callers_on(s->callers, off, recorder_object(s, addr));
}

/* Charges an instruction with what the signals of a line have gained. */
static __attribute__((noinline)) void
charge_line(const struct strand *s, const uint64_t *mask, unsigned line,
            uint32_t cell, unsigned instruction, uint64_t addr)
{
    struct recorder *r = s->recorder;

    cell = cell_on(s, cell, addr, false);
    for (unsigned signal = line; signal < line + RECORDER_LINE; signal++) {
        const uint64_t gained = (s->total[signal] - r->charged[signal]);
        if ((gained & mask[signal]) == 0)
            continue;
        r->charged[signal] += gained;
        if (cell != 0 && !r->outside)
            add(r, record_key(cell, instruction, signal), gained);
    }
}

/* Returns whether a signal of the line has gained anything. */
static inline bool
gained_any(const uint64_t *total, const uint64_t *charged, const uint64_t *mask)
{
    uint64_t gained = 0;

    for (unsigned k = 0; k < RECORDER_LINE; k++)
        gained |= (total[k] ^ charged[k]) & mask[k];
    return gained != 0;
}

#ifdef __x86_64__
/* Returns the same, four signals at once. */
static inline __attribute__((always_inline)) CACHE_AVX2 bool
gained_any_avx2(const uint64_t *total, const uint64_t *charged,
                const uint64_t *mask)
{
    __m256i gained[2];

    static_assert(RECORDER_LINE == 8, "two vectors");
    for (unsigned k = 0; k < 2; k++)
        gained[k] = _mm256_and_si256(
            _mm256_xor_si256(
                _mm256_loadu_si256((const __m256i_u *)(total + 4 * k)),
                _mm256_loadu_si256((const __m256i_u *)(charged + 4 * k))),
            _mm256_loadu_si256((const __m256i_u *)(mask + 4 * k)));
    gained[0] = _mm256_or_si256(gained[0], gained[1]);
    return !_mm256_testz_si256(gained[0], gained[0]);
}

/* Charges an instruction with what the signals of a set have gained: a quarter
 * of the time of the plain loop, which is a third of all time of a recording
 * where many signals are asked for. */
static CACHE_AVX2 void
charge_avx2(struct strand *s, const struct recorder_set *set, uint32_t cell,
            unsigned instruction, uint64_t addr)
{
    struct recorder *r = s->recorder;
    const uint64_t *total = s->total;

    for (unsigned i = 0; i < set->count; i++) {
        const size_t line = set->lines[i];
        if (__builtin_expect(gained_any_avx2(total + line, r->charged + line,
                                             set->mask + line),
                             0))
            charge_line(s, set->mask, (unsigned)line, cell, instruction, addr);
    }
}
#endif

/* Charges an instruction with what the signals of a set have gained. */
static inline void
charge(struct strand *s, const struct recorder_set *set, uint32_t cell,
       unsigned instruction, uint64_t addr)
{
    struct recorder *r = s->recorder;
    const uint64_t *total = s->total;

#ifdef __x86_64__
    if (cache_avx2_runs()) {
        charge_avx2(s, set, cell, instruction, addr);
        return;
    }
#endif
    for (unsigned i = 0; i < set->count; i++) {
        const size_t line = set->lines[i];
        if (gained_any(total + line, r->charged + line, set->mask + line))
            charge_line(s, set->mask, (unsigned)line, cell, instruction, addr);
    }
}

unsigned
request_instruction(const struct strand *s, const struct request *r)
{
    return r->kind == REQUEST_FETCH ? fetch_number(s, r->addr) : r->instruction;
}

uint64_t
request_data(const struct request *r)
{
    const unsigned none =
        REQUEST_BIT(REQUEST_FETCH) | REQUEST_BIT(REQUEST_AHEAD) |
        REQUEST_BIT(REQUEST_WALK_I) | REQUEST_BIT(REQUEST_WALK_D);

    return none >> r->kind & 1 ? RECORDER_NO_DATA : r->addr;
}

void
recorder_charge(struct strand *s, uint32_t cell, unsigned instruction,
                uint64_t addr)
{
    charge(s, &s->recorder->other, cell, instruction, addr);
}

void
recorder_charge_request(struct strand *s, const struct request *r)
{
    charge(s, &s->recorder->other, r->cell, request_instruction(s, r),
           request_data(r));
}

void
recorder_charge_behind(struct strand *s, const struct request *r)
{
    charge(s, &s->recorder->behind, r->cell, request_instruction(s, r),
           request_data(r));
}

void
recorder_charge_branch(struct strand *s, uint32_t cell)
{
    charge(s, &s->recorder->branch, cell, RECORD_BRANCH, RECORDER_NO_DATA);
}

/* Charges an instruction of a cell, which has the object that it counts for. */
static inline void
charge_signal(struct strand *s, uint32_t cell, unsigned instruction,
              unsigned signal, uint64_t count)
{
    struct recorder *r = s->recorder;

    if (cell != 0 && !r->outside)
        add(r, record_key(cell, instruction, signal), count);
}

void
recorder_charge_signal(struct strand *s, uint32_t cell, unsigned instruction,
                       uint64_t addr, unsigned signal, uint64_t count)
{
    if (!s->recorder->records[signal])
        return;
    s->recorder->charged[signal] += count;
    charge_signal(s, cell_on(s, cell, addr, false), instruction, signal, count);
}

void
recorder_charge_class(struct strand *s, uint32_t cell, unsigned instruction,
                      uint64_t addr, unsigned number)
{
    charge_signal(s, cell_on(s, cell, addr, false), instruction,
                  RECORD_CLASS + number, 1);
}

static inline void
charge_one(struct strand *s, const struct request *request, unsigned signal,
           uint64_t count)
{
    const bool written = request->kind == REQUEST_WRITE_BACK;

    if (!s->recorder->records[signal])
        return;
    s->recorder->charged[signal] += count;
    charge_signal(s, cell_on(s, request->cell, request_data(request), written),
                  request_instruction(s, request), signal, count);
}

void
recorder_charge_one(struct strand *s, const struct request *request,
                    unsigned signal, uint64_t count)
{
    charge_one(s, request, signal, count);
}

void
recorder_charge_each(struct strand *s, const struct request *queue,
                     size_t count, const uint16_t *signals, unsigned kinds)
{
    for (size_t i = 0; i < count; i++) {
        if (kinds >> queue[i].kind & 1)
            charge_one(s, &queue[i], signals[queue[i].kind], 1);
    }
}

struct recorder_access
recorder_access_of(const struct strand *s, const struct request *request)
{
    if (s->recorder == NULL || s->callers == NULL || request->cell == 0)
        return (struct recorder_access){0};
    const struct callers_cell *const cells = s->callers->cells;
    const uint32_t block = cells[request->cell].block;
    const uint32_t off = callers_off(s->callers, request->cell);

    return (struct recorder_access){
        .object = block & RECORD_ON ? block & ~RECORD_ON
                                    : recorder_object(s, request->addr),
        .place = record_reason_place(cells[off].block, request->instruction),
    };
}

/* The requests that bring a line into the L1D. */
#define BRINGS                                                \
    (REQUEST_BIT(REQUEST_LOAD) | REQUEST_BIT(REQUEST_STORE) | \
     REQUEST_BIT(REQUEST_NEAR))

/* Returns the requests that bring a line into the level whose lines' use is
 * recorded. */
static unsigned
brings(const struct strand *s)
{
    const struct classes *const c = s->chip->classes;

    return c == NULL || c->reasons->level.level == CACHE_L1D
               ? BRINGS
               : BRINGS | WATCHED_KINDS | REQUEST_BIT(REQUEST_FAR);
}

void
recorder_asks(struct strand *s)
{
    struct lines *const l = s->recorder->lines;
    const unsigned kinds = brings(s);
    bool again = false;

    for (const struct request *r = l->seen != NULL ? l->seen : s->queue.entries;
         r < s->queue.next; r++) {
        if (kinds >> r->kind & 1)
            again |= !lines_ask(l, r->addr);
    }
    l->seen = s->queue.next;
    /* Where misses are told apart, what is touched until the queue is taken
     * through the caches is of the line that comes in all the same: the access
     * that waits is of this block too, and its size is not known yet. */
    if (again && s->chip->classes == NULL)
        strand_drain(s);
}

void
recorder_fetched(struct strand *s, const struct request *queue, size_t count)
{
    const unsigned kinds = brings(s);

    for (size_t i = 0; i < count; i++) {
        const struct request *const r = &queue[i];
        if ((kinds >> r->kind & 1) == 0)
            continue;
        lines_fetch(s->recorder->lines, r->addr,
                    s->recorder->outside ? 0 : recorder_access_of(s, r).object);
    }
}

void
recorder_asked(struct strand *s)
{
    lines_settle(s->recorder->lines);
    s->recorder->lines->seen = s->queue.entries;
}
