/* SPDX-License-Identifier: MIT */
#include "record/export.h"

#include <stdlib.h>
#include <string.h>

#include "base/path.h"

const struct export_writer export_writers[] = {
    {.name = "callgrind", .write = export_callgrind},
    {.name = "folded", .one_event = true, .write = export_folded},
    {.name = "pprof", .binary = true, .write = export_pprof},
    {.name = "speedscope", .write = export_speedscope},
    {.name = "perf-script", .write = export_perf_script},
    {.name = "perf-data", .binary = true, .write = export_perf_data},
    {.name = "brstack",
     .branches = true,
     .one_image = true,
     .write = export_brstack},
    {.name = "bolt", .branches = true, .one_image = true, .write = export_bolt},
    {0},
};

/* The frames of an instruction, outermost first. */
struct place_frames {
    struct export_frame *frames; /* owned; NULL: not made yet */
    size_t count;
};

/* What is made of a process as it is needed. */
struct made {
    struct place_frames *frames; /* of each instruction; owned */
    struct export_call *calls;   /* of each path but 0; owned */
};

/* A count of the record: number `k` of a row of counts. */
struct place {
    uint32_t row, k;
};

/* The list with the memory behind it. */
struct builder {
    struct export_list list; /* the first member: what the caller has */
    struct resolver *resolver;
    const char **texts;
    size_t *events;
    struct place *places; /* by process, thread, path and instruction */
    size_t place_count;
    struct export_sample *samples;
    size_t sample_count;
    /* Those of instructions, without zeros, one sample's behind the other's. */
    int64_t *values;
    uint16_t *value_events;
    int64_t *totals;        /* [.][events], of what no instruction has */
    uint16_t *total_events; /* [events]: 0, 1, 2 ... */
    struct made *made;      /* of each process */
    struct export_edge *edges;
    size_t edge_count;
    struct export_frame elsewhere, unknown;
};

void
export_list_destroy(struct export_list *list)
{
    struct builder *b = (struct builder *)list;

    if (b == NULL)
        return;
    for (size_t p = 0; b->made != NULL && p < b->list.record->process_count;
         p++) {
        const size_t count = b->list.record->processes[p].insn_count;
        for (size_t i = 0; b->made[p].frames != NULL && i < count; i++)
            free(b->made[p].frames[i].frames);
        free(b->made[p].frames);
        free(b->made[p].calls);
    }
    free(b->made);
    free(b->texts);
    free(b->events);
    free(b->places);
    free(b->samples);
    free(b->values);
    free(b->value_events);
    free(b->totals);
    free(b->total_events);
    free(b->edges);
    free(b);
}

/* Returns the frames of an instruction, outermost first, or NULL: no memory.
 * The resolver has them innermost first. */
static struct export_frame *
make_frames(struct builder *b, size_t process, size_t at,
            const struct resolved *known)
{
    const struct record_insn *insn =
        &b->list.record->processes[process].insns[at];
    struct export_frame *frames = calloc(known->frame_count, sizeof(*frames));

    for (size_t i = 0; frames != NULL && i < known->frame_count; i++) {
        const struct resolved_frame *f =
            &known->frames[known->frame_count - 1 - i];
        frames[i] = (struct export_frame){
            .function = f->function,
            .mangled = f->mangled,
            .file = f->file,
            .line = f->line,
            .image = insn->image,
            .inlined = i > 0,
            .address = insn->address,
            .offset = insn->offset,
            .file_address = known->file_address,
            .function_offset = known->function_offset,
        };
    }
    return frames;
}

/* Returns the frames of an instruction, made once; NULL: no memory. */
static const struct place_frames *
frames_of(struct builder *b, size_t process, size_t insn)
{
    struct made *made = &b->made[process];

    if (made->frames == NULL)
        made->frames = calloc(b->list.record->processes[process].insn_count + 1,
                              sizeof(*made->frames));
    if (made->frames == NULL)
        return NULL;
    struct place_frames *place = &made->frames[insn];
    if (place->frames == NULL) {
        const struct resolved *known =
            resolver_find(b->resolver, process, insn);
        place->frames = make_frames(b, process, insn, known);
        place->count = known->frame_count;
    }
    return place->frames != NULL ? place : NULL;
}

/* Makes the calls of a process's paths. A path's number is larger than that of
 * the path to its call. */
static int
make_calls(struct builder *b, size_t process)
{
    const struct record_process_row *p = &b->list.record->processes[process];
    struct export_call *calls = calloc(p->path_count + 1, sizeof(*calls));

    b->made[process].calls = calls;
    if (calls == NULL)
        return TALLY_ENOMEM;
    for (size_t i = 1; i < p->path_count; i++) {
        const struct record_path *path = &p->paths[i];
        calls[i] = (struct export_call){
            .caller = path->parent != 0 ? &calls[path->parent] : NULL,
            .frame_count = 1,
            .frames = &b->unknown,
        };
        if (path->call == RECORD_NO_CALL)
            continue;
        const struct place_frames *place = frames_of(b, process, path->call);
        if (place == NULL)
            return TALLY_ENOMEM;
        calls[i].frame_count = place->count;
        calls[i].frames = place->frames;
    }
    return 0;
}

/* Gives the sample its frames and calls. */
static int
set_path(struct builder *b, struct export_sample *sample, size_t path,
         size_t insn)
{
    const size_t process = sample->process;
    const struct place_frames *place = frames_of(b, process, insn);
    size_t depth;

    if (place == NULL ||
        (b->made[process].calls == NULL && make_calls(b, process) != 0))
        return TALLY_ENOMEM;
    sample->frames = place->frames;
    sample->frame_count = (uint32_t)place->count;
    depth = place->count;
    sample->caller = path != 0 ? &b->made[process].calls[path] : NULL;
    for (const struct export_call *c = sample->caller; c != NULL; c = c->caller)
        depth += c->frame_count;
    if (depth > b->list.depth)
        b->list.depth = depth;
    return 0;
}

size_t
export_frames(const struct export_sample *sample,
              const struct export_frame **frames)
{
    size_t count = sample->frame_count;

    for (const struct export_call *c = sample->caller; c != NULL; c = c->caller)
        count += c->frame_count;
    size_t at = count - sample->frame_count;
    for (size_t i = 0; i < sample->frame_count; i++)
        frames[at + i] = &sample->frames[i];
    for (const struct export_call *c = sample->caller; c != NULL;
         c = c->caller) {
        at -= c->frame_count;
        for (size_t i = 0; i < c->frame_count; i++)
            frames[at + i] = &c->frames[i];
    }
    return count;
}

/* Orders by process and thread. */
static int
by_thread(uint32_t process, uint32_t thread, uint32_t process_2,
          uint32_t thread_2)
{
    if (process != process_2)
        return process < process_2 ? -1 : 1;
    return (thread > thread_2) - (thread < thread_2);
}

/* Orders counts of a record by process, thread, path and instruction. */
static int
by_place(const void *x, const void *y, void *record)
{
    const struct record_counts_row *const rows =
        ((const struct record *)record)->counts;
    const struct place *a = x, *b = y;
    const struct record_counts_row *r = &rows[a->row], *s = &rows[b->row];
    const int order = by_thread(r->process, r->thread, s->process, s->thread);

    if (order != 0)
        return order;
    if (r->paths[a->k] != s->paths[b->k])
        return r->paths[a->k] < s->paths[b->k] ? -1 : 1;
    return (r->insns[a->k] > s->insns[b->k]) -
           (r->insns[a->k] < s->insns[b->k]);
}

/* Lists all counts of the record, those of an instruction, path and thread side
 * by side. */
static int
list_places(struct builder *b)
{
    const struct record *record = b->list.record;
    size_t count = 0;
    bool sorted = true;

    for (size_t i = 0; i < record->counts_count; i++)
        count += record->counts[i].count;
    b->places = calloc(count + 1, sizeof(*b->places));
    if (b->places == NULL)
        return TALLY_ENOMEM;
    for (size_t i = 0; i < record->counts_count; i++) {
        for (size_t k = 0; k < record->counts[i].count; k++) {
            struct place *const place = &b->places[b->place_count];
            *place = (struct place){(uint32_t)i, (uint32_t)k};
            if (b->place_count++ > 0)
                sorted = sorted && by_place(place - 1, place,
                                            (void *)(uintptr_t)record) <= 0;
        }
    }
    if (!sorted)
        qsort_r(b->places, b->place_count, sizeof(*b->places), by_place,
                (void *)(uintptr_t)record);
    return 0;
}

/* Returns whether the place is of another sample than the one before. */
static bool
begins_sample(const struct builder *b, size_t i)
{
    return i == 0 || by_place(&b->places[i - 1], &b->places[i],
                              (void *)(uintptr_t)b->list.record) != 0;
}

/* Returns whether the place is of another thread than the one before. */
static bool
begins_thread(const struct builder *b, size_t i)
{
    const struct record_counts_row *const rows = b->list.record->counts;
    const struct record_counts_row *const row = &rows[b->places[i].row];

    if (i == 0)
        return true;
    const struct record_counts_row *const before = &rows[b->places[i - 1].row];
    return by_thread(before->process, before->thread, row->process,
                     row->thread) != 0;
}

/* Makes a sample of each instruction of each path and thread, without values.
 * Writes to sample_of[row][k] which is the sample of each count. */
static int
add_instructions(struct builder *b, uint32_t **sample_of)
{
    for (size_t i = 0; i < b->place_count; i++) {
        const struct place *place = &b->places[i];
        const struct record_counts_row *row =
            &b->list.record->counts[place->row];
        if (begins_sample(b, i)) {
            struct export_sample *sample = &b->samples[b->sample_count++];
            *sample = (struct export_sample){.process = row->process,
                                             .thread = row->thread};
            if (set_path(b, sample, row->paths[place->k],
                         row->insns[place->k]) != 0)
                return TALLY_ENOMEM;
        }
        sample_of[place->row][place->k] = (uint32_t)b->sample_count - 1;
    }
    return 0;
}

/* Calls `take` with each value of the record that is not 0: event by event, the
 * rows of each in their order. */
static void
each_value(struct builder *b, uint32_t *const *sample_of,
           void (*take)(struct builder *b, struct export_sample *sample,
                        size_t event, int64_t value))
{
    const struct record *record = b->list.record;
    struct record_walk walk;
    int64_t value;
    size_t k;

    for (size_t e = 0; e < b->list.event_count; e++) {
        for (size_t i = 0; i < record->counts_count; i++) {
            record_walk_begin(&walk, &record->counts[i], b->events[e]);
            while (record_walk_next(&walk, &k, &value))
                take(b, &b->samples[sample_of[i][k]], e, value);
        }
    }
}

static void
count_value(struct builder *b, struct export_sample *sample, size_t event,
            int64_t value)
{
    (void)b, (void)event, (void)value;
    sample->value_count++;
}

/* Adds a value to a sample, whose place among the values begins at
 * sample->values. */
static void
add_value(struct builder *b, struct export_sample *sample, size_t event,
          int64_t value)
{
    const size_t first = (size_t)(sample->values - b->values);
    const size_t at = first + sample->value_count;

    if (sample->value_count > 0 && b->value_events[at - 1] == event) {
        b->values[at - 1] = export_add(b->values[at - 1], value);
        return;
    }
    b->values[at] = value;
    b->value_events[at] = (uint16_t)event;
    sample->value_count++;
}

/* Gives the samples of instructions their values. */
static int
add_values(struct builder *b, uint32_t *const *sample_of)
{
    size_t count = 0;

    each_value(b, sample_of, count_value);
    for (size_t i = 0; i < b->sample_count; i++)
        count += b->samples[i].value_count;
    b->values = calloc(count + 1, sizeof(*b->values));
    b->value_events = calloc(count + 1, sizeof(*b->value_events));
    if (b->values == NULL || b->value_events == NULL)
        return TALLY_ENOMEM;
    count = 0;
    for (size_t i = 0; i < b->sample_count; i++) {
        struct export_sample *const sample = &b->samples[i];
        sample->values = b->values + count;
        sample->events = b->value_events + count;
        count += sample->value_count;
        sample->value_count = 0;
    }
    each_value(b, sample_of, add_value);
    return 0;
}

/* Makes the samples of instructions, with their values. */
static int
list_instructions(struct builder *b)
{
    const struct record *record = b->list.record;
    uint32_t **sample_of = calloc(record->counts_count + 1, sizeof(*sample_of));
    uint32_t *all = calloc(b->place_count + 1, sizeof(*all));
    int error = sample_of != NULL && all != NULL ? 0 : TALLY_ENOMEM;

    for (size_t i = 0, at = 0; error == 0 && i < record->counts_count; i++) {
        sample_of[i] = all + at;
        at += record->counts[i].count;
    }
    if (error == 0)
        error = add_instructions(b, sample_of);
    if (error == 0)
        error = add_values(b, sample_of);
    free(all);
    free(sample_of);
    return error;
}

/* Orders samples by process and thread, those of one thread by their values'
 * place. */
static int
by_thread_and_values(const void *x, const void *y)
{
    const struct export_sample *a = x, *b = y;
    const int order = by_thread(a->process, a->thread, b->process, b->thread);

    return order != 0 ? order
                      : (a->values > b->values) - (a->values < b->values);
}

/* Makes sample `n` of what no instruction has, of no count yet. */
static struct export_sample *
new_elsewhere(struct builder *b, struct export_sample *samples, size_t n,
              uint32_t process, uint32_t thread)
{
    samples[n] = (struct export_sample){
        .process = process,
        .thread = thread,
        .frames = &b->elsewhere,
        .frame_count = 1,
        .values = b->totals + n * b->list.event_count,
        .events = b->total_events,
        .value_count = (uint32_t)b->list.event_count,
    };
    return &samples[n];
}

/* Returns the sample's totals, to be written. */
static int64_t *
totals_of(struct builder *b, const struct export_sample *elsewhere)
{
    return b->totals + (size_t)(elsewhere->values - b->totals);
}

/* Takes the values of a thread's instructions, from sample `first` on, off the
 * thread's totals. Returns the first sample of the next thread. */
static size_t
take_off(struct builder *b, size_t first, const struct export_sample *elsewhere)
{
    int64_t *const totals = totals_of(b, elsewhere);
    size_t i = first;

    for (; i < b->sample_count &&
           by_thread(b->samples[i].process, b->samples[i].thread,
                     elsewhere->process, elsewhere->thread) == 0;
         i++) {
        const struct export_sample *sample = &b->samples[i];
        for (uint32_t v = 0; v < sample->value_count; v++)
            totals[sample->events[v]] =
                (int64_t)((uint64_t)totals[sample->events[v]] -
                          (uint64_t)sample->values[v]);
    }
    return i;
}

/* Makes a sample of each thread of the record's end, with its totals, and of
 * each other thread, and sorts them. Returns their number. */
static size_t
make_elsewhere(struct builder *b, struct export_sample *samples)
{
    const struct record *record = b->list.record;
    size_t count = 0;

    for (size_t i = 0; i < record->thread_count; i++) {
        const struct record_thread_row *t = &record->threads[i];
        int64_t *totals = totals_of(
            b, new_elsewhere(b, samples, count++, t->process, t->thread));
        for (size_t e = 0; e < b->list.event_count; e++)
            totals[e] = t->totals[b->events[e]];
    }
    qsort(samples, count, sizeof(*samples), by_thread_and_values);
    const size_t known = count;
    for (size_t i = 0, k = 0; i < b->sample_count; i++) {
        const struct export_sample *s = &b->samples[i];
        if (i > 0 &&
            by_thread(s[-1].process, s[-1].thread, s->process, s->thread) == 0)
            continue;
        while (k < known && by_thread(samples[k].process, samples[k].thread,
                                      s->process, s->thread) < 0)
            k++;
        if (k == known || by_thread(samples[k].process, samples[k].thread,
                                    s->process, s->thread) != 0)
            new_elsewhere(b, samples, count++, s->process, s->thread);
    }
    qsort(samples, count, sizeof(*samples), by_thread_and_values);
    return count;
}

/* Adds these samples, each behind its thread's instructions. There is room. */
static void
merge_elsewhere(struct builder *b, const struct export_sample *samples,
                size_t count)
{
    size_t from = b->sample_count, to = b->sample_count + count;

    b->sample_count = to;
    while (count > 0) {
        const struct export_sample *last = &samples[count - 1];
        if (from > 0 &&
            by_thread(b->samples[from - 1].process, b->samples[from - 1].thread,
                      last->process, last->thread) > 0)
            b->samples[--to] = b->samples[--from];
        else
            b->samples[--to] = samples[--count];
    }
}

/* Adds what no instruction has. A record that is cut short has no totals.
 * `most`: at most so many samples. */
static int
list_elsewhere(struct builder *b, size_t most)
{
    struct export_sample *samples = calloc(most + 1, sizeof(*samples));
    const size_t events = b->list.event_count;

    b->totals = calloc(most * events + 1, sizeof(*b->totals));
    b->total_events = calloc(events + 1, sizeof(*b->total_events));
    if (samples == NULL || b->totals == NULL || b->total_events == NULL) {
        free(samples);
        return TALLY_ENOMEM;
    }
    for (size_t e = 0; e < events; e++)
        b->total_events[e] = (uint16_t)e;
    const size_t count = make_elsewhere(b, samples);
    for (size_t i = 0, at = 0; i < count; i++) {
        while (at < b->sample_count &&
               by_thread(b->samples[at].process, b->samples[at].thread,
                         samples[i].process, samples[i].thread) < 0)
            at++;
        at = take_off(b, at, &samples[i]);
    }
    merge_elsewhere(b, samples, count);
    free(samples);
    return 0;
}

/* Makes all samples. */
static int
list_samples(struct builder *b)
{
    const struct record *record = b->list.record;
    size_t samples = 0, threads = 0;

    for (size_t i = 0; i < b->place_count; i++) {
        samples += begins_sample(b, i);
        threads += begins_thread(b, i);
    }
    threads += record->thread_count;
    if (samples >= UINT32_MAX || b->list.event_count > UINT16_MAX)
        return TALLY_ENOMEM;
    b->samples = calloc(samples + threads + 1, sizeof(*b->samples));
    int error = b->samples != NULL ? list_instructions(b) : TALLY_ENOMEM;
    free(b->places);
    b->places = NULL;
    if (error == 0 && record->threads != NULL)
        error = list_elsewhere(b, threads);
    return error;
}

/* Gives an end of an edge its frames; none for RECORD_NOWHERE. */
static int
set_end(struct builder *b, size_t process, uint32_t insn,
        const struct export_frame **frames, size_t *count)
{
    if (insn == RECORD_NOWHERE)
        return 0;
    const struct place_frames *place = frames_of(b, process, insn);
    if (place == NULL)
        return TALLY_ENOMEM;
    *frames = place->frames;
    *count = place->count;
    return 0;
}

/* Lists the edges of all threads. */
static int
list_edges(struct builder *b)
{
    const struct record *record = b->list.record;
    size_t count = 0;
    int error = 0;

    for (size_t i = 0; i < record->edges_count; i++)
        count += record->edges[i].count;
    b->edges = calloc(count + 1, sizeof(*b->edges));
    if (b->edges == NULL)
        return TALLY_ENOMEM;
    for (size_t i = 0; i < record->edges_count; i++) {
        const struct record_edges_row *row = &record->edges[i];
        for (size_t k = 0; error == 0 && k < row->count; k++) {
            struct export_edge *e = &b->edges[b->edge_count++];
            e->process = row->process;
            e->thread = row->thread;
            e->edge = &row->edges[k];
            error = set_end(b, row->process, e->edge->from, &e->from,
                            &e->from_count);
            if (error == 0)
                error =
                    set_end(b, row->process, e->edge->to, &e->to, &e->to_count);
        }
    }
    return error;
}

/* Takes over the resolver's texts, which are all known by now. */
static int
list_texts(struct builder *b)
{
    const size_t count = resolver_text_count(b->resolver);

    b->texts = calloc(count + 2, sizeof(*b->texts));
    if (b->texts == NULL)
        return TALLY_ENOMEM;
    for (size_t i = 0; i < count; i++)
        b->texts[i] = resolver_text(b->resolver, (uint32_t)i);
    b->texts[count] = "(elsewhere)";
    b->elsewhere = (struct export_frame){
        .function = (uint32_t)count,
        .image = RECORD_NO_IMAGE,
        .address = EXPORT_NOWHERE,
        .offset = EXPORT_NOWHERE,
        .file_address = EXPORT_NOWHERE,
        .function_offset = EXPORT_NOWHERE,
    };
    b->texts[count + 1] = "(unknown callers)";
    b->unknown = b->elsewhere;
    b->unknown.function++;
    return 0;
}

/* Makes the parts of the list. */
static int
build(struct builder *b, const size_t *events)
{
    b->events = calloc(b->list.event_count + 1, sizeof(*b->events));
    b->made = calloc(b->list.record->process_count + 1, sizeof(*b->made));
    b->list.depth = 1;
    if (b->events == NULL || b->made == NULL)
        return TALLY_ENOMEM;
    for (size_t e = 0; e < b->list.event_count; e++)
        b->events[e] = events[e];
    int error = b->list.event_count != 0 ? list_places(b) : 0;
    if (error == 0 && b->list.event_count != 0)
        error = list_samples(b);
    if (error == 0 && b->list.event_count != 0)
        error = list_edges(b);
    return error == 0 ? list_texts(b) : error;
}

int
export_list_create(const struct record *record, struct resolver *resolver,
                   const size_t *events, size_t event_count,
                   const char *creator, const struct tally_log *log,
                   struct export_list **list)
{
    struct builder *b = calloc(1, sizeof(*b));

    if (b == NULL)
        return tally_fail(log, TALLY_ENOMEM, "no memory for an export");
    b->list.record = record;
    b->list.resolver = resolver;
    b->list.image = RECORD_NO_IMAGE;
    b->list.creator = creator;
    b->list.event_count = event_count;
    b->resolver = resolver;
    const int error = build(b, events);
    if (error != 0) {
        export_list_destroy(&b->list);
        return tally_fail(log, error, "no memory for an export");
    }
    b->list.events = b->events;
    b->list.texts = b->texts;
    b->list.text_count = (size_t)b->unknown.function + 1;
    b->list.elsewhere = b->elsewhere.function;
    b->list.samples = b->samples;
    b->list.sample_count = b->sample_count;
    b->list.edges = b->edges;
    b->list.edge_count = b->edge_count;
    *list = &b->list;
    return 0;
}

const char *
export_event(const struct export_list *list, size_t event)
{
    return list->record->events[list->events[event]].asked;
}

int64_t
export_value(const struct export_sample *sample, size_t event)
{
    for (uint32_t i = 0; i < sample->value_count; i++) {
        if (sample->events[i] == event)
            return sample->values[i];
    }
    return 0;
}

int64_t
export_total(const struct export_list *list, size_t event)
{
    int64_t sum = 0;

    for (size_t i = 0; i < list->sample_count; i++)
        sum = export_add(sum, export_value(&list->samples[i], event));
    return sum;
}

const char *
export_image(const struct export_list *list, uint32_t image)
{
    return image != RECORD_NO_IMAGE
               ? path_base(list->record->images[image].path)
               : "";
}

const char *
export_program(const struct export_list *list, uint32_t process)
{
    return process != EXPORT_NO_PROCESS
               ? path_base(list->record->processes[process].program)
               : "[unknown]";
}

int
export_pid(const struct export_list *list, uint32_t process)
{
    return process != EXPORT_NO_PROCESS ? list->record->processes[process].pid
                                        : 0;
}

char *
export_function(const struct export_list *list,
                const struct export_frame *frame)
{
    const char *image = export_image(list, frame->image);
    char *text = NULL;

    if (frame->function != 0)
        return strdup(list->texts[frame->function]);
    return asprintf(&text, "[%s]", *image != '\0' ? image : "unknown") >= 0
               ? text
               : NULL;
}
