/* SPDX-License-Identifier: MIT */
#include "profile/call_log.h"

#include <assert.h>

static_assert(sizeof(call_word) == sizeof(uint64_t), "a file has plain words");

#define LOAD(word) atomic_load_explicit(word, memory_order_relaxed)
#define STORE(word, value) \
    atomic_store_explicit(word, value, memory_order_relaxed)

size_t
call_log_bytes(uint64_t size, uint64_t words)
{
    if (size == 0 || size > CALL_LOG_SIZE_MAX || words > DUMP_WORDS)
        return 0;
    return (size_t)(CALL_LOG_RECORDS + size * (CALL_FIELDS + words)) *
           sizeof(uint64_t);
}

/* Fills in the log's sizes from its memory. */
static void
set_shape(struct call_log *log, void *memory)
{
    uint64_t ring = 1;

    *log = (struct call_log){.memory = memory};
    log->size = LOAD(&log->memory[CALL_LOG_SIZE]);
    log->words = LOAD(&log->memory[CALL_LOG_WORDS]);
    log->stride = CALL_FIELDS + log->words;
    while (2 * ring < log->size)
        ring *= 2;
    log->first = log->size - ring;
    log->mask = ring - 1;
}

void
call_log_init(struct call_log *log, void *memory, uint64_t cpu, uint64_t size,
              uint64_t words)
{
    call_word *const w = memory;

    STORE(&w[CALL_LOG_CPU], cpu);
    STORE(&w[CALL_LOG_SIZE], size);
    STORE(&w[CALL_LOG_WORDS], words);
    set_shape(log, memory);
    atomic_store_explicit(&w[CALL_LOG_IS], CALL_LOG_MAGIC,
                          memory_order_release);
}

bool
call_log_open(struct call_log *log, void *memory, size_t bytes)
{
    call_word *const w = memory;

    if (bytes < CALL_LOG_RECORDS * sizeof(*w) ||
        LOAD(&w[CALL_LOG_IS]) != CALL_LOG_MAGIC)
        return false;
    const size_t whole =
        call_log_bytes(LOAD(&w[CALL_LOG_SIZE]), LOAD(&w[CALL_LOG_WORDS]));
    if (whole == 0 || whole > bytes)
        return false;
    set_shape(log, memory);
    return true;
}

int
call_log_select(struct call_log *log, const struct call_selection *s)
{
    call_word *const w = log->memory;
    const uint64_t index = LOAD(&w[CALL_LOG_SELECTED]);

    if (index >= CALL_LOG_SELECTIONS)
        return -1;
    STORE(&w[CALL_LOG_ROWS + 3 * index], s->group);
    STORE(&w[CALL_LOG_ROWS + 3 * index + 1], s->hi);
    STORE(&w[CALL_LOG_ROWS + 3 * index + 2], s->lo);
    atomic_store_explicit(&w[CALL_LOG_SELECTED], index + 1,
                          memory_order_release);
    return (int)index;
}

/* Returns the record of the call at `place`, counted from the log's base. */
static call_word *
record_at(const struct call_log *log, uint64_t place)
{
    const uint64_t slot = place < log->first
                              ? place
                              : log->first + ((place - log->first) & log->mask);

    return log->memory + CALL_LOG_RECORDS + slot * log->stride;
}

/* Reads the record of call `number`; false: it is not there, or not whole. A
 * call that was made while another thread emptied the log may stand at the
 * place that it had by the base before. */
static bool
read_record(const struct call_log *log, uint64_t place, uint64_t number,
            struct dump_record *to, uint64_t *selection)
{
    const uint64_t before = LOAD(&log->memory[CALL_LOG_BEFORE]);
    call_word *r = record_at(log, place);

    if (LOAD(&r[CALL_SEQUENCE]) != number + 1)
        r = record_at(log, number - before);
    if (atomic_load_explicit(&r[CALL_SEQUENCE], memory_order_acquire) !=
        number + 1)
        return false;
    const uint64_t what =
        atomic_load_explicit(&r[CALL_WHAT], memory_order_acquire);
    to->cycles = atomic_load_explicit(&r[CALL_CYCLES], memory_order_acquire);
    to->pc = atomic_load_explicit(&r[CALL_PC], memory_order_acquire);
    to->hi = atomic_load_explicit(&r[CALL_HI], memory_order_acquire);
    to->lo = atomic_load_explicit(&r[CALL_LO], memory_order_acquire);
    for (uint64_t i = 0; i < log->words; i++)
        to->words[i] =
            atomic_load_explicit(&r[CALL_FIELDS + i], memory_order_acquire);
    to->caller = (uint32_t)what;
    to->call = what >> 32 & 0xff;
    to->overflow = what >> 40 & 0xff;
    *selection = what >> 48;
    return LOAD(&r[CALL_SEQUENCE]) == number + 1 &&
           *selection < CALL_LOG_SELECTIONS;
}

int
call_log_walk(const struct call_log *log,
              int (*take)(void *user, const struct dump_record *record),
              void *user, uint64_t *head)
{
    call_word *const w = log->memory;
    const uint64_t base = LOAD(&w[CALL_LOG_BASE]);
    const uint64_t end =
        atomic_load_explicit(&w[CALL_LOG_HEAD], memory_order_acquire) - base;
    struct dump_record r = {.cpu = LOAD(&w[CALL_LOG_CPU])};
    uint64_t last[CALL_LOG_SELECTIONS] = {0}; /* of a group: selection + 1 */
    uint64_t whole = 0;
    int answer = 0;

    for (uint64_t place = 0; place < end && answer == 0; place++) {
        uint64_t selection;
        if (end > log->size && place == log->first)
            place = end - log->mask - 1;
        if (!read_record(log, place, base + place, &r, &selection))
            continue;
        whole = place + 1;
        call_word *const row = &w[CALL_LOG_ROWS + 3 * selection];
        r.group = LOAD(&row[0]);
        r.word_count = log->words;
        if (r.call == DUMP_CALL_START) {
            r.hi = LOAD(&row[1]);
            r.lo = LOAD(&row[2]);
            r.word_count = 0;
        }
        r.overrun = end > log->size && place >= log->first;
        uint64_t *const known = &last[r.group % CALL_LOG_SELECTIONS];
        /* The start that chose the selection was overwritten: a reader of the
         * dump cannot know the events of the update. */
        if (r.overrun && r.call != DUMP_CALL_START && *known != 0 &&
            *known != selection + 1)
            continue;
        *known = selection + 1;
        answer = take(user, &r);
    }
    if (head != NULL)
        *head = base + whole;
    return answer;
}

void
call_log_empty(struct call_log *log, uint64_t head)
{
    const uint64_t base = LOAD(&log->memory[CALL_LOG_BASE]);

    if (head == base)
        return;
    STORE(&log->memory[CALL_LOG_BEFORE], base);
    STORE(&log->memory[CALL_LOG_BASE], head);
}

void
call_log_swap(uint64_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        words[i] = __builtin_bswap64(words[i]);
}
