/* SPDX-License-Identifier: MIT */
#include "source/counts_view.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "source/counts_layout.h"

#define CHUNK 256u /* blocks that are read at once */

/* No count of a thread reaches this: at 10^9 a second in 52 days. */
#define IMPOSSIBLE ((int64_t)1 << 52)

struct counts_rules
counts_rules_of(const struct session_request *r)
{
    return (struct counts_rules){
        .slices = r->slices << (r->data_count > 0),
        .own_slices = r->slices,
        .strands = (unsigned)(r->params[PARAM_NODES] * r->params[PARAM_CORES] *
                              r->params[PARAM_STRANDS]),
    };
}

bool
counts_view_copy(struct counts_view *view, uint64_t at, void *to, size_t size)
{
    for (size_t done = 0; done < size;) {
        const ssize_t n =
            pread(view->fd, (char *)to + done, size - done, (off_t)(at + done));
        if (n <= 0 && !(n < 0 && errno == EINTR)) {
            view->wrong = "its memory cannot be read";
            return false;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

uint64_t
counts_view_skip(struct counts_view *view, uint64_t at, uint64_t end)
{
    if (at >= view->from && at < view->to)
        return at;
    const off_t from = lseek(view->fd, (off_t)at, SEEK_DATA);
    if (from < 0 || (uint64_t)from >= end)
        return end;
    const off_t to = lseek(view->fd, from, SEEK_HOLE);
    view->from = (uint64_t)from;
    view->to = to < 0 ? end : (uint64_t)to;
    return view->from;
}

/* Copies a record that the process says to have written. */
static bool
copy_written(struct counts_view *view, uint64_t at, void *to, size_t size)
{
    for (uint64_t next = at; next < at + size; next = view->to) {
        if (counts_view_skip(view, next, at + size) != next) {
            view->wrong = "it counts records that were never written";
            return false;
        }
    }
    return counts_view_copy(view, at, to, size);
}

static bool
is_name(const char name[COUNTS_NAME])
{
    return memchr(name, '\0', COUNTS_NAME) != NULL;
}

/* Returns what no process of tally writes into a head, or NULL. */
static const char *
wrong_in_head(const struct counts_head *h, const struct counts_rules *rules)
{
    if (h->state > COUNTS_ENDED)
        return "its state is none";
    if (h->pid <= 0 || h->parent < 0 || h->begin > BEGIN_EXEC)
        return "it says impossible things of its process";
    if (!is_name(h->program))
        return "its program's name has no end";
    if (h->slices != rules->slices || h->own_slices != rules->own_slices)
        return "its turns of the counters are others";
    if (h->blocks > COUNTS_BLOCKS || h->strands > COUNTS_STRANDS ||
        h->threads > COUNTS_THREADS || h->snapshots > COUNTS_SNAPSHOTS ||
        h->files > COUNTS_FILES)
        return "it counts more records than there is room for";
    if (h->together > COUNTS_VCPUS || h->apart > COUNTS_VCPUS ||
        (h->heaped > 0 && h->threads != COUNTS_THREADS))
        return "it counts impossible numbers of threads";
    return NULL;
}

static bool
are_possible(struct counts_view *view, const struct totals *totals,
             unsigned count)
{
    for (unsigned slice = 0; slice < count; slice++) {
        for (size_t s = 0; s < SIGNAL_COUNT; s++) {
            const int64_t value = (int64_t)totals[slice].signal[s];
            if (value <= -IMPOSSIBLE || value >= IMPOSSIBLE)
                view->wrong = "it holds impossible counts";
        }
    }
    return view->wrong == NULL;
}

/* Checks on which strand a thread says to run, and since when. */
static bool
is_place(struct counts_view *view, uint32_t strand, uint64_t born)
{
    if (strand >= view->rules->strands)
        view->wrong = "a thread is on a strand that the machine lacks";
    else if (born >= (uint64_t)IMPOSSIBLE)
        view->wrong = "a thread is born at an impossible time";
    return view->wrong == NULL;
}

static uint64_t
counts_offset(unsigned index)
{
    return HEADER_SIZE + COUNTS_SIZE * index;
}

unsigned
counts_view_next(int fd, unsigned index)
{
    if (index >= SESSION_PROCESSES)
        return SESSION_PROCESSES;
    const off_t at = lseek(fd, (off_t)counts_offset(index), SEEK_DATA);
    return at < 0 ? SESSION_PROCESSES
                  : (unsigned)(((uint64_t)at - HEADER_SIZE) / COUNTS_SIZE);
}

int
counts_view_open(struct counts_view *view, int fd, unsigned index,
                 const struct counts_rules *rules)
{
    struct counts_head head;

    memset(view, 0, sizeof(*view));
    view->fd = fd;
    view->rules = rules;
    view->offset = counts_offset(index);
    if (!counts_view_copy(view, view->offset, &head, sizeof(head)))
        return TALLY_ESYSTEM;
    if (head.state == COUNTS_FREE)
        return 0; /* claimed by a process that could not map it */
    view->wrong = wrong_in_head(&head, rules);
    view->state = head.state == COUNTS_ENDED ? COUNTS_ENDED : COUNTS_RUNNING;
    view->pid = head.pid;
    memcpy(view->program, head.program, sizeof(view->program));
    view->program[COUNTS_NAME - 1] = '\0';
    if (view->wrong != NULL)
        return 0;
    view->parent = head.parent;
    view->pid_space = head.pid_space;
    view->begin = (enum counts_begin)head.begin;
    view->blocks = head.blocks;
    view->strands = head.strands;
    view->threads = head.threads;
    view->snapshots = head.snapshots;
    view->captures = head.captures;
    view->together = head.together;
    view->quantum = head.quantum;
    view->outside_wakes = head.outside_wakes;
    view->asked = head.asked & ASKED_ALL;
    view->stuck = head.stuck;
    view->apart = head.apart;
    view->lost = head.lost;
    view->heaped = head.heaped;
    view->left_early = head.left_early;
    view->told = head.told;
    view->raised = head.raised;
    view->signalled = head.signalled;
    view->beside = head.beside != 0;
    view->cut = head.cut != 0;
    view->components = head.components;
    view->load_bias = head.load_bias;
    return 0;
}

bool
counts_view_ended(const struct counts_view *view)
{
    unsigned state = COUNTS_FREE;

    return pread(view->fd, &state, sizeof(state),
                 (off_t)(view->offset + offsetof(struct counts_head, state))) ==
               (ssize_t)sizeof(state) &&
           state == COUNTS_ENDED;
}

/* Checks a thread's seal. The last record of a process that runs is written to
 * again when it is a heap. */
static bool
is_sealed(struct counts_view *view, const struct counts_thread *thread,
          unsigned index)
{
    const bool heap = view->heaped > 0 && index == COUNTS_THREADS - 1;

    if ((!heap || view->state == COUNTS_ENDED) &&
        thread->seal != counts_thread_seal(thread, view->rules->slices,
                                           view->offset + index))
        view->wrong = "a thread's record was overwritten";
    return view->wrong == NULL;
}

bool
counts_view_thread(struct counts_view *view, unsigned index,
                   struct counts_thread *thread)
{
    const size_t size = offsetof(struct counts_thread, totals) +
                        view->rules->slices * sizeof(struct totals);

    if (view->wrong != NULL || index >= view->threads)
        return false;
    if (!copy_written(view, view->offset + THREADS_AT + sizeof(*thread) * index,
                      thread, size))
        return false;
    view->seals += thread->seal;
    return is_place(view, thread->strand, thread->born) &&
           are_possible(view, thread->totals, view->rules->slices) &&
           is_sealed(view, thread, index);
}

void
counts_view_close(struct counts_view *view)
{
    struct counts_head head;

    if (view->wrong == NULL && view->state == COUNTS_ENDED &&
        counts_view_copy(view, view->offset, &head, sizeof(head)) &&
        head.seal != counts_head_seal(&head, view->seals))
        view->wrong = "its records were overwritten";
}

bool
counts_view_snapshot(struct counts_view *view, unsigned index,
                     struct counts_snapshot *snapshot)
{
    if (view->wrong != NULL || index >= view->snapshots)
        return false;
    if (!copy_written(view,
                      view->offset + SNAPSHOTS_AT + sizeof(*snapshot) * index,
                      snapshot, sizeof(*snapshot)))
        return false;
    if (snapshot->boundary >= (uint64_t)IMPOSSIBLE)
        view->wrong = "a snapshot is of an impossible time";
    return view->wrong == NULL && are_possible(view, &snapshot->totals, 1);
}

bool
counts_view_capture(struct counts_view *view, unsigned index,
                    struct capture_record *record)
{
    struct {
        _Alignas(struct capture_record) unsigned char byte[sizeof(*record)];
    } raw;

    if (view->wrong != NULL || index >= view->captures ||
        index >= COUNTS_CAPTURES)
        return false;
    if (!copy_written(view,
                      view->offset + CAPTURES_AT + sizeof(*record) * index,
                      &raw, sizeof(raw)))
        return false;
    /* A bool that is neither 0 nor 1 must not be read as one. */
    const unsigned ended = raw.byte[offsetof(struct capture_record, ended)];
    const unsigned level = raw.byte[offsetof(struct capture_record, level)];
    if (ended > 1 || level >= CAPTURE_LEVELS) {
        view->wrong = "a captured record is none";
        return false;
    }
    memcpy(record, &raw, sizeof(*record));
    return true;
}

/* Reads the kinds of `count` blocks. */
static bool
copy_kinds(struct counts_view *view, unsigned block, unsigned count,
           uint32_t *kinds)
{
    return counts_view_copy(view,
                            view->offset + KINDS_AT + sizeof(*kinds) * block,
                            kinds, sizeof(*kinds) * count);
}

/* Reads the info of a block of this kind. */
static bool
copy_info(struct counts_view *view, unsigned block, uint32_t kind,
          struct block_info *info)
{
    const uint32_t index = kind != 0 ? kind - 1 : block;

    if (index >= COUNTS_BLOCKS) {
        view->wrong = "a block is of no kind";
        return false;
    }
    return copy_written(view, view->offset + INFOS_AT + sizeof(*info) * index,
                        info, sizeof(*info));
}

bool
counts_view_info(struct counts_view *view, unsigned block,
                 struct block_info *info)
{
    uint32_t kind;

    if (view->wrong != NULL || block >= view->blocks ||
        !copy_kinds(view, block, 1, &kind) ||
        !copy_info(view, block, kind, info))
        return false;
    if (info->odd_size > sizeof(info->odd_bytes))
        view->wrong = "a block's instruction is too long";
    return view->wrong == NULL;
}

bool
counts_view_file(struct counts_view *view, uint64_t address,
                 struct counts_file *file)
{
    const uint64_t at = view->offset + offsetof(struct counts_head, file);
    unsigned files;

    if (view->wrong != NULL ||
        !counts_view_copy(view,
                          view->offset + offsetof(struct counts_head, files),
                          &files, sizeof(files)))
        return false;
    for (unsigned i = files < COUNTS_FILES ? files : COUNTS_FILES; i > 0; i--) {
        if (!counts_view_copy(view, at + sizeof(*file) * (i - 1), file,
                              sizeof(*file)))
            return false;
        if (address >= file->first && address <= file->last)
            return is_name(file->path);
    }
    return false;
}

/* Takes executions of `count` blocks from the first on, and what each is. */
typedef void take_blocks(void *user, const uint64_t *executions,
                         const struct block_info *infos, unsigned count);

/* Reads the info of each of these blocks that has run, by its kind. */
static bool
copy_infos(struct counts_view *view, const uint64_t *executions, unsigned block,
           unsigned count, struct block_info *infos)
{
    uint32_t kinds[CHUNK];

    if (!copy_kinds(view, block, count, kinds))
        return false;
    if (kinds[0] == 0)
        return copy_written(view,
                            view->offset + INFOS_AT + sizeof(*infos) * block,
                            infos, sizeof(*infos) * count);
    memset(infos, 0, sizeof(*infos) * count);
    for (unsigned i = 0; i < count; i++) {
        if (executions[i] != 0 &&
            !copy_info(view, block + i, kinds[i], &infos[i]))
            return false;
    }
    return true;
}

/* Hands out `count` blocks, without those at the ends that never ran. */
static bool
give_blocks(struct counts_view *view, const uint64_t *executions,
            unsigned block, unsigned count, take_blocks *take, void *user)
{
    struct block_info infos[CHUNK];
    unsigned first = 0;

    while (count > 0 && executions[count - 1] == 0)
        count--;
    while (first < count && executions[first] == 0)
        first++;
    count -= first;
    if (count == 0)
        return true;
    if (!copy_infos(view, executions + first, block + first, count, infos))
        return false;
    take(user, executions + first, infos, count);
    return true;
}

/* Goes through the executions of blocks that a strand has in a slice. */
static bool
each_block(struct counts_view *view, uint64_t strand, unsigned slice,
           take_blocks *take, void *user)
{
    const uint64_t start = strand + offsetof(struct counts_strand, exec) +
                           (uint64_t)slice * COUNTS_BLOCKS * sizeof(uint64_t);
    const uint64_t end = start + view->blocks * sizeof(uint64_t);
    uint64_t executions[CHUNK];

    for (uint64_t at = start; (at = counts_view_skip(view, at, end)) < end;) {
        const unsigned block = (unsigned)((at - start) / sizeof(uint64_t));
        const unsigned left = view->blocks - block;
        const unsigned count = left < CHUNK ? left : CHUNK;
        if (!counts_view_copy(view, at, executions, count * sizeof(uint64_t)) ||
            !give_blocks(view, executions, block, count, take, user))
            return false;
        at += count * sizeof(uint64_t);
    }
    return true;
}

static void
add_blocks(void *user, const uint64_t *executions,
           const struct block_info *infos, unsigned count)
{
    struct totals *const sum = user;

    for (unsigned b = 0; b < count; b++) {
        if (executions[b] == 0)
            continue;
        for (size_t s = 0; s < SIGNAL_FIXED_COUNT; s++)
            sum->signal[s] +=
                executions[b] * (uint64_t)(int64_t)infos[b].fixed[s];
    }
}

static void
add_instructions(void *user, const uint64_t *executions,
                 const struct block_info *infos, unsigned count)
{
    uint64_t *const sum = user;

    for (unsigned b = 0; b < count; b++)
        *sum += executions[b] * infos[b].instructions;
}

/* Returns where the first strand from `*slot` on is that holds anything, or 0.
 */
static uint64_t
find_strand(struct counts_view *view, unsigned *slot)
{
    const uint64_t strands = view->offset + STRANDS_AT;
    const uint64_t end = strands + STRAND_SIZE * view->strands;
    const uint64_t at =
        counts_view_skip(view, strands + STRAND_SIZE * (uint64_t)*slot, end);

    if (view->wrong != NULL || *slot >= view->strands || at >= end)
        return 0;
    *slot = (unsigned)((at - strands) / STRAND_SIZE);
    return strands + STRAND_SIZE * (uint64_t)*slot;
}

bool
counts_view_strand(struct counts_view *view, unsigned *slot,
                   struct counts_view_strand *strand)
{
    const uint64_t at = find_strand(view, slot);

#define COPY_FIELD(field)                                              \
    counts_view_copy(view, at + offsetof(struct counts_strand, field), \
                     &strand->field, sizeof(strand->field))
    if (at == 0 || !COPY_FIELD(strand) || !COPY_FIELD(thread) ||
        !COPY_FIELD(maker) || !COPY_FIELD(suspect) || !COPY_FIELD(born) ||
        !counts_view_copy(view, at + offsetof(struct counts_strand, totals),
                          strand->totals,
                          view->rules->slices * sizeof(struct totals)) ||
        !is_place(view, strand->strand, strand->born))
        return false;
#undef COPY_FIELD
    if (strand->suspect > view->blocks)
        view->wrong = "a thread is in a block that is not there";
    for (unsigned slice = 0; slice < view->rules->slices; slice++) {
        if (!each_block(view, at, slice, add_blocks, &strand->totals[slice]))
            return false;
    }
    ++*slot;
    return are_possible(view, strand->totals, view->rules->slices);
}

uint64_t
counts_view_instructions(struct counts_view *view)
{
    uint64_t sum = 0, one, at;

    for (unsigned t = 0; t < view->threads && view->wrong == NULL; t++) {
        for (unsigned slice = 0; slice < view->rules->slices; slice++) {
            const uint64_t thread = view->offset + THREADS_AT +
                                    sizeof(struct counts_thread) * (uint64_t)t +
                                    offsetof(struct counts_thread, totals) +
                                    sizeof(struct totals) * slice;
            if (!copy_written(view,
                              thread + sizeof(uint64_t) * SIGNAL_INSTRUCTIONS,
                              &one, sizeof(one)))
                break;
            sum += one;
        }
    }
    for (unsigned slot = 0; (at = find_strand(view, &slot)) != 0; slot++) {
        each_block(view, at, COUNTS_OUTSIDE, add_instructions, &sum);
        for (unsigned slice = 0; slice < view->rules->slices; slice++)
            each_block(view, at, slice, add_instructions, &sum);
    }
    return sum;
}
