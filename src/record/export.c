/* SPDX-License-Identifier: MIT */
#include "record/export.h"

#include <stdlib.h>
#include <string.h>

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
    uint32_t process, thread, path, insn;
    const struct record_counts_row *row;
    size_t k;
};

/* The list with the memory behind it. */
struct builder {
    struct export_list list; /* the first member: what the caller has */
    struct resolver *resolver;
    const char **texts;
    size_t *events;
    struct place *places;
    size_t place_count;
    struct export_sample *samples;
    size_t sample_count;
    int64_t *values;   /* [samples][events] */
    struct made *made; /* of each process */
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
    sample->frame_count = depth = place->count;
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

/* Orders counts by process, thread, path and instruction. */
static int
by_place(const void *x, const void *y)
{
    const struct place *a = x, *b = y;

    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->path != b->path)
        return a->path < b->path ? -1 : 1;
    return (a->insn > b->insn) - (a->insn < b->insn);
}

/* Lists all counts of the record, those of an instruction, path and thread side
 * by side. */
static int
list_places(struct builder *b)
{
    const struct record *record = b->list.record;
    size_t count = 0;

    for (size_t i = 0; i < record->counts_count; i++)
        count += record->counts[i].count;
    b->places = calloc(count + 1, sizeof(*b->places));
    if (b->places == NULL)
        return TALLY_ENOMEM;
    for (size_t i = 0; i < record->counts_count; i++) {
        const struct record_counts_row *row = &record->counts[i];
        for (size_t k = 0; k < row->count; k++)
            b->places[b->place_count++] =
                (struct place){row->process,  row->thread, row->paths[k],
                               row->insns[k], row,         k};
    }
    qsort(b->places, b->place_count, sizeof(*b->places), by_place);
    return 0;
}

/* Returns a new sample of a thread with no counts. There is room: no sample is
 * without a count or a thread of the record. */
static struct export_sample *
new_sample(struct builder *b, uint32_t process, uint32_t thread)
{
    struct export_sample *sample = &b->samples[b->sample_count];

    *sample = (struct export_sample){
        .process = process,
        .thread = thread,
        .values = b->values + b->sample_count * b->list.event_count,
    };
    b->sample_count++;
    return sample;
}

/* Returns the sample's values, to be written. */
static int64_t *
values_of(struct builder *b, const struct export_sample *sample)
{
    return b->values + (size_t)(sample->values - b->values);
}

/* Makes a sample of each instruction of each path and thread. */
static int
add_instructions(struct builder *b)
{
    struct export_sample *sample = NULL;

    for (size_t i = 0; i < b->place_count; i++) {
        const struct place *place = &b->places[i];
        if (i == 0 || by_place(place - 1, place) != 0) {
            sample = new_sample(b, place->process, place->thread);
            if (set_path(b, sample, place->path, place->insn) != 0)
                return TALLY_ENOMEM;
        }
        int64_t *values = values_of(b, sample);
        const struct record_counts_row *row = place->row;
        for (size_t e = 0; e < b->list.event_count; e++) {
            const int64_t *of = record_values(row, b->events[e]);
            if (of == NULL)
                return TALLY_ENOMEM;
            values[e] = export_add(values[e], of[place->k]);
        }
    }
    return 0;
}

/* Orders samples by process and thread. */
static int
by_thread(const void *x, const void *y)
{
    const struct export_sample *a = x, *b = y;

    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    /* By instruction, as they were made; what no instruction has is last. */
    return (a->values > b->values) - (a->values < b->values);
}

/* Makes a sample of what no instruction has, of no count yet. */
static struct export_sample *
new_elsewhere(struct builder *b, uint32_t process, uint32_t thread)
{
    struct export_sample *sample = new_sample(b, process, thread);

    sample->frames = &b->elsewhere;
    sample->frame_count = 1;
    return sample;
}

/* Makes a sample of each thread of the record's end, with its totals. */
static void
add_totals(struct builder *b)
{
    const struct record *record = b->list.record;

    for (size_t i = 0; i < record->thread_count; i++) {
        const struct record_thread_row *t = &record->threads[i];
        int64_t *values = values_of(b, new_elsewhere(b, t->process, t->thread));
        for (size_t e = 0; e < b->list.event_count; e++)
            values[e] = t->totals[b->events[e]];
    }
}

/* Takes the values of a thread's instructions off its totals. `first` is the
 * thread's first sample; a thread that is not among the totals gets a sample.
 * Returns the thread's number of samples. */
static size_t
take_off(struct builder *b, size_t first, size_t end)
{
    const uint32_t process = b->samples[first].process;
    const uint32_t thread = b->samples[first].thread;
    const struct export_sample *totals = NULL;
    size_t next = first;

    for (; next < end && b->samples[next].process == process &&
           b->samples[next].thread == thread;
         next++)
        if (b->samples[next].frames == &b->elsewhere)
            totals = &b->samples[next];
    if (totals == NULL)
        totals = new_elsewhere(b, process, thread);
    int64_t *values = values_of(b, totals);
    for (size_t i = first; i < next; i++) {
        const struct export_sample *sample = &b->samples[i];
        if (sample->frames == &b->elsewhere)
            continue;
        for (size_t e = 0; e < b->list.event_count; e++)
            values[e] =
                (int64_t)((uint64_t)values[e] - (uint64_t)sample->values[e]);
    }
    return next - first;
}

/* Makes all samples. Their values lie in the order in which they are made. */
static int
list_samples(struct builder *b)
{
    const struct record *record = b->list.record;
    /* Two for each count: the instruction's, and perhaps its thread's. */
    const size_t most = 2 * b->place_count + record->thread_count + 1;

    b->samples = calloc(most, sizeof(*b->samples));
    b->values = calloc(most * b->list.event_count + 1, sizeof(*b->values));
    if (b->samples == NULL || b->values == NULL || add_instructions(b) != 0)
        return TALLY_ENOMEM;
    /* A record that is cut short has no totals. */
    if (record->threads != NULL) {
        add_totals(b);
        qsort(b->samples, b->sample_count, sizeof(*b->samples), by_thread);
        const size_t count = b->sample_count;
        for (size_t i = 0; i < count;)
            i += take_off(b, i, count);
    }
    qsort(b->samples, b->sample_count, sizeof(*b->samples), by_thread);
    return 0;
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
export_total(const struct export_list *list, size_t event)
{
    int64_t sum = 0;

    for (size_t i = 0; i < list->sample_count; i++)
        sum = export_add(sum, list->samples[i].values[event]);
    return sum;
}

/* Returns what is behind the last slash. */
static const char *
last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

const char *
export_image(const struct export_list *list, uint32_t image)
{
    return image != RECORD_NO_IMAGE
               ? last_part(list->record->images[image].path)
               : "";
}

const char *
export_program(const struct export_list *list, uint32_t process)
{
    return process != EXPORT_NO_PROCESS
               ? last_part(list->record->processes[process].program)
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
