/* SPDX-License-Identifier: MIT */
#include "check/sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "record/breakdown.h"
#include "record/run_note.h"
#include "report/json_text.h"

char *
check_text(const char *text)
{
    json_t *const json = report_json_text(text);
    char *const copy = json != NULL ? strdup(json_string_value(json)) : NULL;

    json_decref(json);
    return copy;
}

/* Writes to *index where the record has the event. */
static bool
find_event(const struct record *record, const char *name, size_t *index)
{
    for (size_t i = 0; i < record->event_count; i++) {
        if (strcmp(record->events[i].name, name) == 0 ||
            strcmp(record->events[i].asked, name) == 0) {
            *index = i;
            return true;
        }
    }
    return false;
}

static void
add_totals(const struct record *record, size_t event, uint64_t *sum)
{
    *sum = 0;
    for (size_t i = 0; i < record->thread_count; i++)
        *sum += (uint64_t)record->threads[i].totals[event];
}

int
check_counts_order(const void *x, const void *y)
{
    const struct check_counts *const a = x, *const b = y;
    const int order = strcmp(a->name, b->name);

    return order != 0 ? order : strcmp(a->image, b->image);
}

/* Sorts the functions, and makes one of those with one name and image. */
static void
merge_functions(struct check_sample *s)
{
    size_t kept = 0;

    qsort(s->functions, s->function_count, sizeof(*s->functions),
          check_counts_order);
    for (size_t i = 0; i < s->function_count; i++) {
        struct check_counts *const f = &s->functions[i];
        if (kept > 0 && check_counts_order(&s->functions[kept - 1], f) == 0) {
            s->functions[kept - 1].instructions += f->instructions;
            s->functions[kept - 1].cost += f->cost;
            s->functions[kept - 1].calls += f->calls;
            free(f->name);
            free(f->image);
        } else {
            s->functions[kept++] = *f;
        }
    }
    s->function_count = kept;
}

/* Returns the name of the row's function without its file: parts of a function
 * whose lines are of several files, or of none, are one function. For the
 * caller to free; NULL: no memory. */
static char *
name_of(const struct breakdown *b, const struct breakdown_row *row)
{
    return row->place.function != 0
               ? strdup(resolver_text(b->resolver, row->place.function))
               : breakdown_name(b, row, BREAKDOWN_FUNCTION);
}

/* How often a function's first instruction ran. `function` and `image` are
 * numbers of resolver_text(). */
struct entry_count {
    uint32_t function, image;
    uint64_t calls;
};

static int
compare_entries(const void *x, const void *y)
{
    const struct entry_count *const a = x, *const b = y;

    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    return a->image < b->image ? -1 : a->image > b->image;
}

/* Counts how often each function's first instruction ran, by an event of the
 * record that counts instructions. Writes the functions in the order of
 * compare_entries(), for the caller to free, and their number. Where a function
 * has several first instructions, as one of each process, each has its own.
 * Returns 0 or TALLY_ENOMEM. */
static int
count_entries(const struct record *record, struct resolver *resolver,
              size_t instructions, struct entry_count **entries, size_t *count)
{
    size_t most = 0;

    for (size_t i = 0; i < record->counts_count; i++)
        most += record->counts[i].count;
    *count = 0;
    *entries = calloc(most + 1, sizeof(**entries));
    if (*entries == NULL)
        return TALLY_ENOMEM;
    for (size_t i = 0; i < record->counts_count; i++) {
        const struct record_counts_row *const row = &record->counts[i];
        struct record_walk walk;
        size_t k;
        int64_t value;
        record_walk_begin(&walk, row, instructions);
        while (record_walk_next(&walk, &k, &value)) {
            const uint32_t insn = row->insns[k];
            const struct resolved *const r =
                resolver_find(resolver, row->process, insn);
            if (record->processes[row->process].insns[insn].offset ==
                r->function_offset)
                (*entries)[(*count)++] =
                    (struct entry_count){r->frames[r->frame_count - 1].function,
                                         r->image, (uint64_t)value};
        }
    }
    qsort(*entries, *count, sizeof(**entries), compare_entries);
    return 0;
}

/* Returns how often a function was called, and sets what it found to 0: a
 * function whose parts are rows of several files is counted once. */
static uint64_t
take_calls(struct entry_count *entries, size_t count,
           const struct breakdown_place *place)
{
    const struct entry_count key = {place->function, place->image, 0};
    struct entry_count *at =
        bsearch(&key, entries, count, sizeof(*entries), compare_entries);
    uint64_t calls = 0;

    if (at == NULL)
        return 0;
    while (at > entries && compare_entries(at - 1, &key) == 0)
        at--;
    for (; at < entries + count && compare_entries(at, &key) == 0; at++) {
        calls += at->calls;
        at->calls = 0;
    }
    return calls;
}

static int
take_functions(const struct record *record, const size_t *events,
               struct names *files, const struct tally_log *log,
               struct check_sample *s)
{
    const struct breakdown_options options = {
        .keys = {BREAKDOWN_FUNCTION, BREAKDOWN_IMAGE},
        .key_count = 2,
        .events = events,
        .event_count = 2,
        .no_inline = true,
    };
    const struct resolver_options names = {.names = files};
    struct resolver *resolver = NULL;
    struct breakdown *b = NULL;
    struct entry_count *entries = NULL;
    size_t entry_count = 0;
    int error = resolver_create(record, &names, log, &resolver);

    if (error == 0)
        error =
            count_entries(record, resolver, events[0], &entries, &entry_count);
    if (error == 0)
        error = breakdown_create(record, resolver, &options, log, &b);
    if (error == 0) {
        s->functions = calloc(b->row_count + 1, sizeof(*s->functions));
        error = s->functions == NULL ? TALLY_ENOMEM : 0;
    }
    for (size_t i = 0; error == 0 && i < b->row_count; i++) {
        struct check_counts *const f = &s->functions[s->function_count++];
        char *const name = name_of(b, &b->rows[i]);
        char *const image = breakdown_name(b, &b->rows[i], BREAKDOWN_IMAGE);
        f->name = name != NULL ? check_text(name) : NULL;
        f->image = image != NULL ? check_text(path_base(image)) : NULL;
        f->instructions = (uint64_t)b->rows[i].values[0];
        f->cost = (uint64_t)b->rows[i].values[1];
        if (b->rows[i].place.function != 0)
            f->calls = take_calls(entries, entry_count, &b->rows[i].place);
        free(name);
        free(image);
        if (f->name == NULL || f->image == NULL)
            error = TALLY_ENOMEM;
    }
    if (error == 0)
        merge_functions(s);
    free(entries);
    breakdown_destroy(b);
    resolver_destroy(resolver);
    return error;
}

static int
take_builds(const struct record *record, struct check_sample *s)
{
    s->builds = calloc(record->image_count + 1, sizeof(*s->builds));
    if (s->builds == NULL)
        return TALLY_ENOMEM;
    for (size_t i = 0; i < record->image_count; i++) {
        const struct record_image *const image = &record->images[i];
        struct check_build *const build = &s->builds[s->build_count++];
        build->name = check_text(path_base(image->path));
        build->id = malloc(2 * RECORD_BUILD_ID + 1);
        if (build->name == NULL || build->id == NULL)
            return TALLY_ENOMEM;
        for (unsigned k = 0; k < image->build_id_size; k++)
            snprintf(build->id + 2 * k, 3, "%02x", image->build_id[k]);
        build->id[2 * image->build_id_size] = '\0';
    }
    return 0;
}

int
check_sample_read(const struct record *record, const char *const *events,
                  size_t event_count, struct names *files,
                  const struct tally_log *log, struct check_sample *s)
{
    size_t first[2] = {0, 0};
    int error = 0;

    memset(s, 0, sizeof(*s));
    s->status = record->status;
    s->whole = !record->cut && !record->interrupted;
    s->varies = run_note_reason(record->varies);
    if (s->varies == NULL && record->partial)
        s->varies = "counts of threads or programs are missing";
    if (s->varies == NULL && record->left_early)
        s->varies = "a signal left a block of code early";
    s->isa = strdup(record->isa);
    s->cpu = strdup(record->cpu != NULL ? record->cpu : "");
    s->version = strdup(record->version);
    s->counts = calloc(event_count + 1, sizeof(*s->counts));
    s->event_count = event_count;
    if (s->isa == NULL || s->cpu == NULL || s->version == NULL ||
        s->counts == NULL)
        error = TALLY_ENOMEM;
    for (size_t i = 0; error == 0 && i < event_count; i++) {
        size_t at = 0;
        if (!find_event(record, events[i], &at))
            return tally_fail(log, TALLY_EUNKNOWN, "the record lacks '%s'",
                              events[i]);
        add_totals(record, at, &s->counts[i]);
        if (i < 2)
            first[i] = at;
    }
    if (error == 0)
        error = take_builds(record, s);
    if (error == 0)
        error = take_functions(record, first, files, log, s);
    return error == TALLY_ENOMEM
               ? tally_fail(log, TALLY_ENOMEM, "out of memory")
               : error;
}

void
check_sample_finish(struct check_sample *s)
{
    for (size_t i = 0; i < s->function_count; i++) {
        free(s->functions[i].name);
        free(s->functions[i].image);
    }
    for (size_t i = 0; i < s->build_count; i++) {
        free(s->builds[i].name);
        free(s->builds[i].id);
    }
    free(s->functions);
    free(s->builds);
    free(s->counts);
    free(s->isa);
    free(s->cpu);
    free(s->version);
    memset(s, 0, sizeof(*s));
}
