/* SPDX-License-Identifier: MIT */
#include "profile/phases_recorder.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "source/counts_layout.h"
#include "source/record_view.h"

void
phases_found_destroy(struct phases_found *f)
{
    if (f == NULL)
        return;
    free(f->files);
    free(f->blocks);
    free(f->spans);
    free(f->parts);
    free(f);
}

static void
ask(const struct session_options *o, struct session_request *request)
{
    request->records = RECORDS_INSTRUCTIONS;
    request->phases = *o->phases;
    if (o->phases->counts == 0)
        request->components &= COMPONENT_REPEAT;
}

/* What a process wrote, checked. */
struct raw {
    struct phases_interval *intervals; /* owned */
    unsigned count;
    struct phases_entry *entries; /* owned */
    size_t entry_count, entry_room;
    uint64_t length, begin;
};

static void
raw_finish(struct raw *raw)
{
    free(raw->intervals);
    free(raw->entries);
}

/* What a process's phases begin with. */
struct raw_head {
    unsigned count, full;
    uint64_t length, begin;
};

static_assert(offsetof(struct raw_head, begin) ==
                  offsetof(struct phases_process, begin),
              "copied whole");

/* Copies an array of the process's phases. Returns NULL: there is no memory. */
static void *
copy(struct counts_view *view, size_t offset, size_t size)
{
    void *const array = malloc(size + 1);

    if (array != NULL && size != 0)
        counts_view_copy(view, view->offset + PHASES_AT + offset, array, size);
    return array;
}

/* Returns whether the intervals follow each other and have blocks that there
 * are. */
static bool
is_possible(const struct raw *raw, const struct record_view *record)
{
    uint64_t end = 0, begin = 0;

    for (unsigned i = 0; i < raw->count; i++) {
        if (raw->intervals[i].end < end || raw->intervals[i].begin < begin)
            return false;
        end = raw->intervals[i].end;
        begin = raw->intervals[i].begin;
    }
    for (size_t i = 0; i < raw->entry_count; i++)
        if (raw->entries[i].block >= record->place_count)
            return false;
    return raw->begin >= begin;
}

/* Reads what a process wrote. 0 or TALLY_ENOMEM; view->wrong is set where no
 * process of tally writes such numbers. */
static int
read_raw(struct counts_view *view, const struct record_view *record,
         const struct phases_request *request, struct raw *raw)
{
    struct raw_head head = {0};

    counts_view_copy(view, view->offset + PHASES_AT, &head, sizeof(head));
    if (head.count > PHASES_INTERVALS || head.length < request->length ||
        head.length > PHASES_LENGTH_MOST) {
        view->wrong = "its phases have lengths that cannot be";
        return 0;
    }
    raw->count = head.count;
    raw->length = head.length;
    raw->begin = head.begin;
    raw->intervals = copy(view, offsetof(struct phases_process, intervals),
                          raw->count * sizeof(*raw->intervals));
    if (raw->intervals == NULL)
        return TALLY_ENOMEM;
    const uint64_t end =
        raw->count != 0 ? raw->intervals[raw->count - 1].end : 0;
    if (end > PHASES_ENTRIES) {
        view->wrong = "its phases have more than there is room for";
        return 0;
    }
    raw->entry_count = raw->entry_room = (size_t)end;
    raw->entries = copy(view, offsetof(struct phases_process, entries),
                        raw->entry_count * sizeof(*raw->entries));
    if (raw->entries == NULL)
        return TALLY_ENOMEM;
    if (view->wrong == NULL && !is_possible(raw, record))
        view->wrong = "its phases have blocks that cannot be";
    return 0;
}

/* What a process that was killed ran in its last interval */

/* Sums the instructions of each block that the counts have. 0 or TALLY_ENOMEM.
 */
static int
sum_counts(struct counts_view *view, struct record_view *record, int64_t *sums)
{
    int more;

    while ((more = record_view_next(view, record, true)) > 0) {
        for (size_t i = 0; i < record->site_count; i++) {
            const struct record_site *const s = &record->sites[i];
            const uint64_t block = (s->key >> 32) - 1;
            struct block_info info;
            if ((s->key & RECORD_EDGE) != 0 ||
                (uint16_t)s->key != RECORD_EXECUTIONS ||
                block >= record->place_count ||
                !counts_view_info(view, (unsigned)block, &info))
                continue;
            sums[block] +=
                (int64_t)(s->count *
                          (uint64_t)(int64_t)info.fixed[SIGNAL_INSTRUCTIONS]);
        }
    }
    return more;
}

/* Adds an interval of what is in the counts of a process that was killed, and
 * in no interval. 0 or TALLY_ENOMEM. */
static int
add_rest(struct counts_view *view, struct record_view *record, struct raw *raw)
{
    int64_t *const sums = calloc(record->place_count + 1u, sizeof(*sums));
    struct phases_entry *const entries =
        realloc(raw->entries, (raw->entry_count + record->place_count + 1) *
                                  sizeof(*entries));
    struct phases_interval *const intervals =
        realloc(raw->intervals, (raw->count + 1u) * sizeof(*intervals));

    if (entries != NULL)
        raw->entries = entries;
    if (intervals != NULL)
        raw->intervals = intervals;
    int error = sums == NULL || entries == NULL || intervals == NULL
                    ? TALLY_ENOMEM
                    : sum_counts(view, record, sums);
    for (size_t i = 0; error == 0 && i < raw->entry_count; i++)
        sums[entries[i].block] -= entries[i].instructions;
    for (uint32_t i = 0; error == 0 && i < record->place_count; i++) {
        if (sums[i] != 0 && sums[i] <= INT32_MAX && sums[i] >= INT32_MIN)
            raw->entries[raw->entry_count++] =
                (struct phases_entry){i, (int32_t)sums[i]};
    }
    if (error == 0)
        raw->intervals[raw->count++] =
            (struct phases_interval){raw->begin, raw->entry_count};
    free(sums);
    return error;
}

/* Blocks */

static uint64_t
hash_word(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* Returns a hash of the code of a place. */
static uint64_t
hash_code(const struct record_view *record, const struct record_place *p)
{
    uint64_t hash = 0;
    size_t size = p->instructions;

    for (unsigned i = 0; i < p->instructions; i++)
        size += record->code[p->code + i];
    for (size_t i = 0; i < size; i++)
        hash = hash_word(hash, record->code[p->code + i]);
    return hash;
}

static void
make_block(const struct record_view *record, const struct record_place *p,
           struct phases_block *block)
{
    *block = (struct phases_block){
        .pc = p->pc,
        .offset = p->pc,
        .file = p->image,
        .instructions = p->instructions,
        .hash = p->instructions != 0 ? hash_code(record, p) : 0,
    };
    if (p->image != 0) {
        const struct counts_file *const file = &record->files[p->image - 1];
        block->offset = p->pc - file->first + file->offset;
    }
}

struct sorted {
    struct phases_block block;
    uint32_t place;
};

static int
compare_words(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static bool
is_same(const struct phases_block *x, const struct phases_block *y)
{
    return x->file == y->file && x->pc == y->pc && x->hash == y->hash &&
           x->instructions == y->instructions;
}

static int
compare_sorted(const void *a, const void *b)
{
    const struct sorted *const x = a, *const y = b;

    if (x->block.file != y->block.file)
        return compare_words(x->block.file, y->block.file);
    if (x->block.pc != y->block.pc)
        return compare_words(x->block.pc, y->block.pc);
    if (x->block.instructions != y->block.instructions)
        return compare_words(x->block.instructions, y->block.instructions);
    if (x->block.hash != y->block.hash)
        return compare_words(x->block.hash, y->block.hash);
    return compare_words(x->place, y->place);
}

/* Makes one block of the places that are parts of the same code, in the order
 * of files and addresses. Returns the block of each place; NULL: there is no
 * memory. */
static uint32_t *
make_blocks(const struct record_view *record, struct phases_found *found)
{
    const size_t count = record->place_count;
    struct sorted *const sorted = malloc((count + 1) * sizeof(*sorted));
    uint32_t *const of = malloc((count + 1) * sizeof(*of));

    found->blocks = malloc((count + 1) * sizeof(*found->blocks));
    if (sorted == NULL || of == NULL || found->blocks == NULL) {
        free(sorted);
        free(of);
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++) {
        make_block(record, &record->places[i], &sorted[i].block);
        sorted[i].place = i;
    }
    qsort(sorted, count, sizeof(*sorted), compare_sorted);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || !is_same(&sorted[i].block, &sorted[i - 1].block))
            found->blocks[found->block_count++] = sorted[i].block;
        of[sorted[i].place] = (uint32_t)found->block_count - 1;
    }
    free(sorted);
    return of;
}

/* Intervals */

/* Writes the sums of blocks as the parts of an interval, and zeroes them. */
static void
end_span(struct phases_found *found, int64_t *sums, uint64_t boundary)
{
    struct phases_span span = {.start = found->instructions,
                               .first = found->part_count,
                               .boundary = boundary};

    for (uint32_t b = 0; b < found->block_count; b++) {
        if (sums[b] > 0) {
            found->parts[found->part_count++] =
                (struct phases_part){b, (uint64_t)sums[b]};
            span.instructions += (uint64_t)sums[b];
        }
        sums[b] = 0;
    }
    span.count = found->part_count - span.first;
    if (span.instructions == 0)
        return;
    found->instructions += span.instructions;
    found->spans[found->span_count++] = span;
}

/* Joins intervals to those of the last length, and the parts of each block. 0
 * or TALLY_ENOMEM. */
static int
join(const struct raw *raw, const uint32_t *of, struct phases_found *found)
{
    int64_t *const sums = calloc(found->block_count + 1, sizeof(*sums));
    size_t entry = 0;

    found->spans = malloc((raw->count + 1u) * sizeof(*found->spans));
    found->parts = malloc((raw->entry_count + 1) * sizeof(*found->parts));
    if (sums == NULL || found->spans == NULL || found->parts == NULL) {
        free(sums);
        return TALLY_ENOMEM;
    }
    found->length = raw->length;
    for (unsigned i = 0; i < raw->count; i++) {
        for (; entry < raw->intervals[i].end; entry++)
            sums[of[raw->entries[entry].block]] +=
                raw->entries[entry].instructions;
        if (i + 1 == raw->count || raw->intervals[i + 1].begin / raw->length !=
                                       raw->intervals[i].begin / raw->length)
            end_span(found, sums, i + UINT64_C(1));
    }
    free(sums);
    return 0;
}

/* Makes what is handed out of what was read. 0 or TALLY_ENOMEM. */
static int
take(struct counts_view *view, struct record_view *record, struct raw *raw,
     struct phases_found *found)
{
    int error = 0;

    if (view->state != COUNTS_ENDED)
        error = add_rest(view, record, raw);
    if (error != 0 || view->wrong != NULL)
        return error;
    uint32_t *const of = make_blocks(record, found);
    if (of == NULL)
        return TALLY_ENOMEM;
    error = join(raw, of, found);
    free(of);
    memcpy(found->program, view->program, sizeof(found->program));
    found->files = record->files;
    found->file_count = record->file_count;
    record->files = NULL;
    record->file_count = 0;
    return error;
}

/* Reads the phases of a process. 0, also where they cannot be trusted, or an
 * error. */
static int
read_process(int fd, unsigned place, const struct session_request *request,
             struct phases_found *found)
{
    const struct counts_rules rules = counts_rules_of(request);
    struct record_view record = {0};
    struct raw raw = {0};
    struct counts_view view;
    int error = counts_view_open(&view, fd, place, &rules);

    if (error != 0 || view.wrong != NULL || view.state == COUNTS_FREE)
        return error;
    error = record_view_open(&view, &record);
    if (error == 0 && view.wrong == NULL)
        error = read_raw(&view, &record, &request->phases, &raw);
    if (error == 0 && view.wrong == NULL)
        error = take(&view, &record, &raw, found);
    record_view_close(&record);
    raw_finish(&raw);
    return error;
}

static int
collect(const struct session_options *o, int fd,
        const struct session_request *request,
        const struct session_result *result, bool ended)
{
    const struct session_process *most = NULL;
    uint64_t all = 0;

    if (!ended || *o->phases_found != NULL)
        return 0;
    for (size_t i = 0; i < result->process_count; i++) {
        const struct session_process *const p = &result->processes[i];
        const uint64_t n = p->totals.signal[SIGNAL_INSTRUCTIONS];
        all += n;
        if (most == NULL || n > most->totals.signal[SIGNAL_INSTRUCTIONS])
            most = p;
    }
    struct phases_found *const found = calloc(1, sizeof(*found));
    if (found == NULL)
        return TALLY_ENOMEM;
    const int error =
        most != NULL ? read_process(fd, most->place, request, found) : 0;
    if (error != 0) {
        phases_found_destroy(found);
        return error;
    }
    found->all_instructions = all;
    found->others =
        result->process_count > 1 ? (unsigned)result->process_count - 1 : 0;
    if (most != NULL) {
        found->process = (unsigned)(most - result->processes);
        const uint64_t n = most->totals.signal[SIGNAL_INSTRUCTIONS];
        found->lost = n > found->instructions ? n - found->instructions : 0;
    }
    *o->phases_found = found;
    return 0;
}

const struct session_recorder phases_recorder = {.ask = ask,
                                                 .collect = collect};
