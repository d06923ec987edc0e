/* SPDX-License-Identifier: MIT */
#include "profile/summary.h"

#include <stdlib.h>
#include <string.h>

#include "profile/summary_cell.h"
#include "profile/summary_table.h"

#define CELLS_MAX 40000
#define THREADS_MAX 65536
#define GROUPS_MAX 8 /* of one thread; as many as tally/profiler.h has */

/* The state of a group of a thread between two calls. */
struct open_interval {
    uint64_t group;
    bool known;      /* the group was seen */
    bool open;       /* a start, or the update before, waits for an update */
    bool updated;    /* since the start */
    bool gap_before; /* records are missing, the start may be among them */
    bool resumes;    /* goes on behind the gap: there was a start before */
    bool has_last, has_gap;
    uint64_t hi_code, lo_code, hi, lo;
    uint64_t cycles, pc, caller, gap;
    uint64_t last_cycles; /* of the last update */
};

struct thread {
    struct open_interval groups[GROUPS_MAX];
    uint64_t skipped;
    uint64_t *words;     /* word_room last words, then their differences */
    uint64_t first_word; /* word 1 of the last update */
    size_t word_count, word_room;
    bool has_words, overrun;
    struct thread *next;
};

/* All threads: a table, and a list. */
struct threads {
    struct summary_table *table;
    struct thread *first, *recent;
    uint64_t recent_cpu;
};

/* The place of a record in a file. */
struct place {
    const char *file;
    uint64_t line;
};

static void
trouble(struct summary *s, enum dump_trouble what, const struct place *at)
{
    dump_trouble_add(&s->troubles, what, at->file, at->line);
}

int
summary_init(struct summary *s, const struct summary_options *options)
{
    *s = (struct summary){.options = *options, .machine = options->machine};
    s->cell_table = summary_table_create();
    s->member_table = summary_table_create();
    s->threads = calloc(1, sizeof(*s->threads));
    if (s->threads != NULL)
        s->threads->table = summary_table_create();
    if (s->cell_table != NULL && s->member_table != NULL &&
        s->threads != NULL && s->threads->table != NULL)
        return 0;
    summary_finish(s);
    return TALLY_ENOMEM;
}

void
summary_finish(struct summary *s)
{
    struct thread *next;

    for (size_t i = 0; i < s->cell_count; i++)
        summary_cell_destroy(s->cells[i]);
    for (size_t i = 0; i < s->member_count; i++)
        summary_cell_destroy(s->members[i]);
    for (struct thread *t = s->threads ? s->threads->first : NULL; t != NULL;
         t = next) {
        next = t->next;
        free(t->words);
        free(t);
    }
    summary_table_destroy(s->cell_table);
    summary_table_destroy(s->member_table);
    if (s->threads != NULL)
        summary_table_destroy(s->threads->table);
    dump_names_finish(&s->names);
    free(s->threads);
    free(s->cells);
    free(s->members);
    *s = (struct summary){0};
}

/* Returns the thread of a cpu. NULL: no memory, or one thread too many. */
static struct thread *
thread_of(struct summary *s, uint64_t cpu)
{
    const struct summary_key key = {cpu, 0, 0};
    struct threads *all = s->threads;
    struct thread *t;

    if (all->recent != NULL && all->recent_cpu == cpu)
        return all->recent;
    t = summary_table_find(all->table, &key);
    if (t == NULL) {
        if (s->thread_count == THREADS_MAX)
            return NULL;
        t = calloc(1, sizeof(*t));
        if (t == NULL || summary_table_add(all->table, &key, t) != 0) {
            free(t);
            return NULL;
        }
        t->next = all->first;
        all->first = t;
        s->thread_count++;
    }
    all->recent = t;
    all->recent_cpu = cpu;
    return t;
}

/* Returns the state of a thread's group. NULL: one group too many. */
static struct open_interval *
group_of(struct thread *t, uint64_t group)
{
    for (size_t i = 0; i < GROUPS_MAX; i++) {
        struct open_interval *g = &t->groups[i];
        if (g->known && g->group == group)
            return g;
        if (!g->known) {
            g->known = true;
            g->group = group;
            return g;
        }
    }
    return NULL;
}

/* Returns whether the code is of an event of the machine `host`. */
static bool
is_host(uint64_t code)
{
    const uint64_t unit = code >> 32;

    return unit != 0 && ((unit & DUMP_UNIT) == 0 || unit == DUMP_NO_UNIT);
}

uint64_t
summary_core(const struct summary *s, uint64_t cpu)
{
    if (s->machine == NULL || s->machine->params == NULL)
        return cpu;
    return cpu / s->machine->params[PARAM_STRANDS].value;
}

/* Takes a start: opens an interval. */
static void
take_start(struct summary *s, struct open_interval *g,
           const struct dump_record *r, const struct place *at)
{
    if (g->open && !g->updated)
        trouble(s, DUMP_NO_UPDATE, at);
    g->gap_before = false;
    if (s->machine == NULL && (r->group <= 1 || r->hi >> 32 != 0)) {
        /* A T1 always counts instructions, 100, and beside them one event,
         * whose code is one bit or of another unit. */
        const uint32_t lo = (uint32_t)r->lo;
        const bool bit = lo != 0 && lo <= 0x100 && (lo & (lo - 1)) == 0;
        const bool t1 =
            (uint32_t)r->hi == 0x100 && (bit || r->lo >> 32 != r->hi >> 32);
        s->machine = machine_find(is_host(r->hi) ? "host"
                                  : t1           ? "ultrasparc-t1"
                                                 : "ultrasparc-t2");
        s->guessed = !s->machine->native;
    }
    g->open = true;
    g->updated = false;
    g->hi_code = r->hi;
    g->lo_code = r->lo;
    g->hi = g->lo = 0;
    g->has_gap = g->has_last && r->cycles >= g->last_cycles;
    g->gap = r->cycles - g->last_cycles;
    g->cycles = r->cycles;
    g->pc = r->pc;
    g->caller = r->caller;
}

/* Computes the count since the last call; false: there is none, and the trouble
 * is noted. */
static bool
count_of(struct summary *s, uint64_t now, uint64_t before, bool overflowed,
         const struct place *at, uint64_t *count)
{
    if (overflowed)
        trouble(s, DUMP_OVERFLOWED, at);
    *count = now - before;
    if (overflowed)
        return s->options.raw;
    if (now >= before)
        return true;
    trouble(s, DUMP_COUNT_BACK, at);
    return false;
}

/* Takes the user words. Running sums become differences, from the thread's
 * second update on. */
static int
take_words(struct summary *s, struct thread *t, const struct dump_record *r,
           struct summary_interval *in)
{
    const bool first = !t->has_words || t->word_count != r->word_count;

    in->word_count = r->word_count;
    in->words = r->words;
    if (r->word_count > s->word_count)
        s->word_count = r->word_count;
    if (r->word_count > 0) {
        if (!first && r->words[0] > t->first_word)
            s->rises++;
        else if (!first)
            s->stays++;
        t->first_word = r->words[0];
    }
    if (s->options.cumulative && r->word_count > 0) {
        if (r->word_count > t->word_room) {
            uint64_t *const more =
                realloc(t->words, 2 * r->word_count * sizeof(*more));
            if (more == NULL)
                return TALLY_ENOMEM;
            t->words = more;
            t->word_room = r->word_count;
        }
        in->words = t->words + t->word_room;
        for (size_t i = 0; i < r->word_count; i++) {
            if (!first)
                t->words[t->word_room + i] = r->words[i] - t->words[i];
            t->words[i] = r->words[i];
        }
        if (first)
            in->word_count = 0;
    }
    t->word_count = r->word_count;
    t->has_words = true;
    return 0;
}

/* Returns the cell of a key, a new one if need be. NULL: no memory; or one cell
 * too many, then *full is true. */
static struct summary_cell *
cell_of(struct summary *s, struct summary_table *table,
        struct summary_cell ***cells, size_t *count,
        const struct summary_key *key, bool *full)
{
    struct summary_cell *cell = summary_table_find(table, key);

    if (cell != NULL)
        return cell;
    *full = s->cell_count + s->member_count >= CELLS_MAX;
    if (*full)
        return NULL;
    if ((*count & (*count - 1)) == 0) {
        struct summary_cell **more =
            realloc(*cells, (*count > 0 ? 2 * *count : 1) * sizeof(*more));
        if (more == NULL)
            return NULL;
        *cells = more;
    }
    cell = calloc(1, sizeof(*cell));
    if (cell == NULL || summary_table_add(table, key, cell) != 0) {
        free(cell);
        return NULL;
    }
    cell->place = key->a;
    cell->start_caller = key->b;
    cell->update_caller = key->c;
    (*cells)[(*count)++] = cell;
    return cell;
}

/* Adds an interval to its cell; if cells are of cores or of all together, also
 * to the cell of its thread, whose mean is wanted too. */
static int
add_interval(struct summary *s, const struct summary_interval *in,
             const struct place *at)
{
    const uint64_t cpu = in->update->cpu;
    const unsigned by = s->options.by;
    struct summary_key key = {cpu, in->start_caller, in->update->caller};
    bool full = false;
    int error = TALLY_ENOMEM;

    if ((by & SUMMARY_BY_REGION) == 0)
        key.b = key.c = 0;
    struct summary_cell *member = NULL;
    if ((by & ~(unsigned)SUMMARY_BY_CORE) == 0) {
        member = cell_of(s, s->member_table, &s->members, &s->member_count,
                         &key, &full);
        if (member != NULL)
            error = summary_cell_add(s, member, in, NULL, &full);
    }
    if ((by & SUMMARY_BY_THREAD) == 0)
        key.a = (by & SUMMARY_BY_CORE) != 0 ? summary_core(s, cpu) : 0;
    struct summary_cell *cell = full ? NULL
                                     : cell_of(s, s->cell_table, &s->cells,
                                               &s->cell_count, &key, &full);
    if (cell != NULL)
        error = summary_cell_add(s, cell, in, &s->limit, &full);
    if (full)
        trouble(s, DUMP_CROWDED, at);
    return full ? 0 : error;
}

/* Makes an interval of an open one and the update that ends it. */
static int
close_interval(struct summary *s, struct thread *t, struct open_interval *g,
               const struct dump_record *r, const struct place *at)
{
    struct summary_interval in = {
        .update = r,
        .start_caller = g->caller,
        .start_pc = g->pc,
        .start_cycles = g->cycles,
        .cycles = r->cycles - g->cycles,
        .gap = g->gap,
        .has_gap = g->has_gap,
        .hi_code = g->hi_code,
        .lo_code = g->lo_code,
    };
    int error = take_words(s, t, r, &in);

    in.has_hi = count_of(s, r->hi, g->hi, (r->overflow & 2) != 0, at, &in.hi);
    in.has_lo = count_of(s, r->lo, g->lo, (r->overflow & 1) != 0, at, &in.lo);
    if (error != 0)
        return error;
    if (t->skipped < s->options.skip) {
        t->skipped++;
        s->skipped++;
        return 0;
    }
    s->intervals++;
    error = add_interval(s, &in, at);
    if (error == 0 && s->options.take != NULL)
        error = s->options.take(s->options.user, &in);
    return error;
}

/* Begins an interval at the update. */
static void
go_on_from(struct open_interval *g, const struct dump_record *r)
{
    g->open = g->updated = g->has_last = true;
    g->has_gap = false;
    g->last_cycles = g->cycles = r->cycles;
    g->pc = r->pc;
    g->caller = r->caller;
    g->hi = r->hi;
    g->lo = r->lo;
}

/* Takes an update: closes an interval and opens the next. */
static int
take_update(struct summary *s, struct thread *t, struct open_interval *g,
            const struct dump_record *r, const struct place *at)
{
    const bool resumes = g->gap_before && g->resumes;
    int error = 0;

    if (!g->open)
        trouble(s, g->gap_before ? DUMP_GAP : DUMP_NO_START, at);
    else if (r->cycles < g->cycles)
        trouble(s, DUMP_BACKWARDS, at);
    else if (t->has_words && r->word_count < t->word_count)
        trouble(s, DUMP_WORDS_DIFFER, at);
    else {
        error = close_interval(s, t, g, r, at);
        go_on_from(g, r);
        return error;
    }
    g->open = g->has_last = g->gap_before = false;
    if (resumes)
        go_on_from(g, r);
    return 0;
}

/* Ends the open intervals of a thread without counting them: records are
 * missing, or another file begins. */
static void
thread_break(struct thread *t)
{
    for (size_t i = 0; i < GROUPS_MAX; i++)
        t->groups[i].open = t->groups[i].has_last = false;
    t->has_words = false;
}

/*
 * Breaks the intervals at a gap: records are missing in front of the first that
 * carries -1. Updates behind the gap are taken as updates of the start in front
 * of it.
 */
static void
take_overrun(struct summary *s, struct thread *t, const struct dump_record *r,
             const struct place *at)
{
    if (r->overrun)
        trouble(s, DUMP_OVERRUN, at);
    if (r->overrun && !t->overrun) {
        for (size_t i = 0; i < GROUPS_MAX; i++) {
            struct open_interval *g = &t->groups[i];
            g->resumes = g->open;
            g->gap_before = true;
        }
        thread_break(t);
    }
    t->overrun = r->overrun;
}

int
summary_add(struct summary *s, const struct dump_record *r, const char *file,
            uint64_t line)
{
    const struct place at = {file, line};
    struct thread *t = thread_of(s, r->cpu);
    struct open_interval *g = t != NULL ? group_of(t, r->group) : NULL;

    s->records++;
    if (g == NULL) {
        if (t == NULL && s->thread_count < THREADS_MAX)
            return TALLY_ENOMEM;
        trouble(s, DUMP_CROWDED, &at);
        return 0;
    }
    take_overrun(s, t, r, &at);
    if (r->call == DUMP_CALL_START) {
        take_start(s, g, r, &at);
        return 0;
    }
    return take_update(s, t, g, r, &at);
}

/* Returns whether the dump's machine is the machine of the summary; the first
 * dump that names a machine decides. */
static bool
is_ours(struct summary *s, const char *machine)
{
    if (s->machine == NULL || (s->guessed && s->intervals == 0)) {
        const struct machine_row *const named = machine_find(machine);
        s->guessed = s->guessed && named == NULL;
        s->machine = named != NULL ? named : s->machine;
    }
    return s->machine != NULL && strcmp(s->machine->name, machine) == 0;
}

int
summary_read(struct summary *s, struct dump_reader *reader)
{
    struct dump_record record;
    int got;

    reader->names = &s->names;
    while ((got = dump_next(reader, &record)) > 0) {
        const struct place at = {reader->file, reader->line};
        if (reader->machine[0] != '\0' && !is_ours(s, reader->machine)) {
            trouble(s, DUMP_OTHER_MACHINE, &at);
            continue;
        }
        const int error = summary_add(s, &record, reader->file, reader->line);
        if (error != 0)
            return error;
    }
    s->dumps += reader->dumps;
    if (reader->machine[0] != '\0')
        strcpy(s->dumped_machine, reader->machine);
    summary_part(s);
    return got;
}

void
summary_part(struct summary *s)
{
    for (struct thread *t = s->threads->first; t != NULL; t = t->next)
        thread_break(t);
}

/* Returns the row of `rows` that is called `name`, or, for a NULL name, whose
 * name has this code. */
static const struct event_row *
find_in(const struct event_row *rows, size_t count, const char *name,
        uint64_t code)
{
    for (size_t i = 0; i < count; i++)
        if (name != NULL ? strcmp(rows[i].name, name) == 0
                         : dump_name_code(rows[i].name) == code)
            return &rows[i];
    return NULL;
}

static const struct event_row *
find_by_name(const struct machine_row *machine, const char *name, uint64_t code)
{
    if (machine == NULL)
        return NULL;
    const struct event_row *const event =
        find_in(machine->events, machine->event_count, name, code);
    return event != NULL ? event
                         : find_in(machine->narrowed_events,
                                   machine->narrowed_event_count, name, code);
}

const struct event_row *
summary_event_find(const struct machine_row *machine, uint64_t group,
                   uint64_t code)
{
    const uint64_t number = code >> 32 == 0 ? group
                            : is_host(code) ? code >> 32
                                            : (code >> 32) - DUMP_UNIT;
    const uint64_t unit = number > 0 ? number - 1 : 0;

    if (code >> 32 == DUMP_NO_UNIT)
        return find_by_name(machine, NULL, code);
    code &= UINT32_MAX;
    if (machine == NULL || unit >= machine->unit_count || code > INT32_MAX)
        return NULL;
    for (size_t i = 0; i < machine->event_count; i++) {
        const struct event_row *e = &machine->events[i];
        const int32_t own = e->code >= 0 ? e->code : e->number;
        if (own == (int32_t)code &&
            strcmp(e->unit, machine->units[unit].name) == 0)
            return e;
    }
    return NULL;
}

const struct event_row *
summary_event_of(const struct summary *s, uint64_t group, uint64_t code,
                 const struct dump_event **named)
{
    const char *const machine = s->machine != NULL ? s->machine->name : "";

    *named = dump_names_find(&s->names, machine, group, code);
    const struct event_row *const event =
        *named != NULL ? find_by_name(s->machine, (*named)->name, 0) : NULL;
    return event != NULL ? event : summary_event_find(s->machine, group, code);
}

static int
compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int
compare_cells(const void *a, const void *b)
{
    const struct summary_cell *x = *(struct summary_cell *const *)a;
    const struct summary_cell *y = *(struct summary_cell *const *)b;

    if (x->place != y->place)
        return compare(x->place, y->place);
    if (x->start_caller != y->start_caller)
        return compare(x->start_caller, y->start_caller);
    return compare(x->update_caller, y->update_caller);
}

/* Orders events as the machine does; events that the machine lacks come last.
 */
static int
compare_events(const void *a, const void *b)
{
    const struct summary_event *x = a, *y = b;

    if (x->event != y->event)
        return compare(x->event ? (uintptr_t)x->event : UINTPTR_MAX,
                       y->event ? (uintptr_t)y->event : UINTPTR_MAX);
    if ((x->name == NULL) != (y->name == NULL))
        return x->name == NULL ? 1 : -1;
    const int order = x->name != NULL ? strcmp(x->name, y->name) : 0;
    return order != 0 ? order : compare(x->code, y->code);
}

/* Sorts the events of a cell, and finds their names. */
static void
sort_events(struct summary *s, struct summary_cell *cell)
{
    series_settle(&cell->cycles);
    series_settle(&cell->gaps);
    for (size_t i = 0; i < cell->word_count; i++)
        series_settle(&cell->words[i]);
    for (size_t i = 0; i < cell->event_count; i++) {
        struct summary_event *e = &cell->events[i];
        const struct dump_event *named;
        series_settle(&e->series);
        e->event = summary_event_of(s, e->group, e->code, &named);
        e->name = named != NULL ? named->name : NULL;
        e->asked =
            named != NULL && named->asked[0] != '\0' ? named->asked : NULL;
    }
    if (cell->event_count > 0)
        qsort(cell->events, cell->event_count, sizeof(*cell->events),
              compare_events);
}

void
summary_sort(struct summary *s)
{
    /* All groups are of both machines, T1 and T2: take the T2. */
    if (s->machine == NULL && s->cell_count > 0) {
        s->machine = machine_find("ultrasparc-t2");
        s->guessed = true;
    }
    if (s->cell_count > 0)
        qsort(s->cells, s->cell_count, sizeof(struct summary_cell *),
              compare_cells);
    for (size_t i = 0; i < s->cell_count; i++)
        sort_events(s, s->cells[i]);
    for (size_t i = 0; i < s->member_count; i++)
        sort_events(s, s->members[i]);
}
