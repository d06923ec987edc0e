/* SPDX-License-Identifier: MIT */
#include "profile/collect.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine/chip.h"
#include "profile/filter.h"
#include "profile/interval.h"
#include "profile/modelled.h"
#include "profile/running.h"
#include "table/signals.h"

#define MANY (1u << 30) /* more programs than any session has */

unsigned
session_slices(const struct session_options *o)
{
    return o->mpi                ? 2
           : o->hardware != NULL ? (unsigned)o->hardware->slice_count
                                 : 1;
}

unsigned
session_totals(const struct session_options *o)
{
    return filter_data(o->filters, o->filter_count) ? 2 * session_slices(o)
                                                    : session_slices(o);
}

/* Returns the array with room for one more element, or NULL. */
static void *
grow(void *array, size_t count, size_t size)
{
    if (count & (count - 1))
        return array; /* there is room up to the next power of two */
    return realloc(array, (count ? count * 2 : 1) * size);
}

/* Lets the machine's own counters count a thread's slices. Derives the signals
 * of `slices` in place. */
static int
add_to_hardware(const struct session_options *o, uint64_t components,
                struct totals *slices)
{
    const unsigned count = session_slices(o);

    for (unsigned i = 0; i < session_totals(o); i++) {
        signals_derive(o->params, components, slices[i].signal);
        if (i >= count)
            filter_restrict(&slices[i - count], &slices[i]);
    }
    return hardware_add(o->hardware, slices);
}

/* Returns NULL as long as there are rows left. Then returns the last row of the
 * thread's process and strand, which the thread shares; NULL: there is none. */
static struct session_thread *
shared_row(const struct session_result *result,
           const struct session_thread *thread)
{
    const unsigned process = (unsigned)result->process_count - 1;

    if (result->thread_count < SESSION_ROWS)
        return NULL;
    for (size_t i = result->thread_count; i > 0; i--) {
        struct session_thread *const t = &result->threads[i - 1];
        if (t->process != process)
            return NULL;
        if (t->strand == thread->strand)
            return t;
    }
    return NULL;
}

/* Returns a new row for the thread, or NULL. */
static struct session_thread *
own_row(struct session_result *result, const struct session_thread *thread)
{
    struct session_thread *threads =
        grow(result->threads, result->thread_count, sizeof(*threads));

    if (threads == NULL)
        return NULL;
    result->threads = threads;
    struct session_thread *t = &threads[result->thread_count++];
    *t = *thread;
    t->process = (unsigned)result->process_count - 1;
    return t;
}

/* Adds a thread of the process that was described last. Leaves `slices`
 * changed. 0, TALLY_ENOMEM; or TALLY_ERANGE: its totals cannot be. */
static int
add_thread(const struct session_options *o, struct session_result *result,
           const struct session_thread *thread, struct totals *slices)
{
    const unsigned count = session_slices(o);
    const bool filtered = session_totals(o) != count;
    struct session_thread *t = shared_row(result, thread);

    if (t != NULL) /* the row's first thread counts when the second comes */
        result->heaped_threads += result->heaped_threads == 0 ? 2 : 1;
    else if ((t = own_row(result, thread)) == NULL)
        return TALLY_ENOMEM;
    if (filtered && t->data == NULL &&
        (t->data = calloc(1, sizeof(*t->data))) == NULL)
        return TALLY_ENOMEM;
    if (o->mpi && t->in_mpi == NULL &&
        (t->in_mpi = calloc(1, sizeof(*t->in_mpi))) == NULL)
        return TALLY_ENOMEM;
    if (o->mpi) {
        totals_add(&t->totals, &slices[0]);
        totals_add(t->in_mpi, &slices[1]);
        return 0;
    }
    for (unsigned i = 0; i < count; i++) {
        if (filtered) {
            filter_totals(&slices[i], &slices[count + i]);
            totals_add(t->data, &slices[count + i]);
        }
        totals_add(&t->totals, &slices[i]);
    }
    return o->hardware != NULL ? add_to_hardware(o, result->components, slices)
                               : 0;
}

/* Collects the threads that have handed over their counts. */
static int
collect_threads(const struct session_options *o, struct counts_view *view,
                union counts_view_memory *memory, struct session_result *result)
{
    struct counts_thread *const t = &memory->ended;
    int error = 0;

    for (unsigned i = 0; error == 0 && counts_view_thread(view, i, t); i++) {
        const struct session_thread thread = {
            .thread = t->thread,
            .strand = t->strand,
            .maker = t->maker,
            .born = t->born,
        };
        error = add_thread(o, result, &thread, t->totals);
    }
    return error;
}

/*
 * Collects the threads of a process that did not end in good order. Of the
 * first process that died by SIGILL, notes the instruction that raised it.
 */
static int
collect_strands(const struct session_options *o, struct counts_view *view,
                union counts_view_memory *memory, struct session_result *result)
{
    const unsigned process = (unsigned)result->process_count - 1;
    const struct session_process *const p = &result->processes[process];
    /* Only the first process's status is known. Another one may have died. */
    const bool died =
        !p->ended && !p->running &&
        (p->pid != result->processes[0].pid ||
         (WIFSIGNALED(result->status) && WTERMSIG(result->status) == SIGILL));
    struct session_illegal *const illegal = &result->illegal;
    struct counts_view_strand *const s = &memory->live;
    int error = 0;

    for (unsigned i = 0; error == 0 && counts_view_strand(view, &i, s);) {
        struct block_info info;
        struct counts_file file;
        uint64_t instructions = 0;
        for (unsigned slice = 0; slice < session_totals(o); slice++)
            instructions += s->totals[slice].signal[SIGNAL_INSTRUCTIONS];
        const struct session_thread thread = {
            .thread = s->thread,
            .strand = s->strand,
            .maker = s->maker,
            .born = s->born,
        };
        if (instructions != 0)
            error = add_thread(o, result, &thread, s->totals);
        if (!died || illegal->found)
            continue;
        /* The strand is in a block with an instruction that QEMU may raise
         * SIGILL for. */
        illegal->process = process;
        if (s->suspect == 0 || !counts_view_info(view, s->suspect - 1, &info))
            continue;
        illegal->found = info.odd_size != 0;
        illegal->pc = info.odd_pc;
        illegal->size = info.odd_size;
        memcpy(illegal->bytes, info.odd_bytes, sizeof(illegal->bytes));
        if (counts_view_file(view, illegal->pc, &file)) {
            memcpy(illegal->file, file.path, sizeof(illegal->file));
            illegal->offset = illegal->pc - file.first + file.offset;
        }
    }
    return error;
}

/* Collects the counts at boundaries of time. */
static int
collect_snapshots(struct counts_view *view, struct session_result *result)
{
    struct counts_snapshot s;

    for (unsigned i = 0; counts_view_snapshot(view, i, &s); i++) {
        struct session_snapshot *all =
            grow(result->snapshots, result->snapshot_count, sizeof(*all));
        if (all == NULL)
            return TALLY_ENOMEM;
        result->snapshots = all;
        all[result->snapshot_count++] = (struct session_snapshot){
            .process = (unsigned)result->process_count - 1,
            .thread = s.thread,
            .boundary = s.boundary,
            .totals = s.totals,
        };
    }
    return 0;
}

/* Collects the captured records; of those beyond the room, the number. */
static int
collect_captures(struct counts_view *view, struct session_result *result)
{
    struct capture_record record;

    for (unsigned i = 0; counts_view_capture(view, i, &record); i++) {
        struct session_capture *all =
            grow(result->captures, result->capture_count, sizeof(*all));
        if (all == NULL)
            return TALLY_ENOMEM;
        result->captures = all;
        all[result->capture_count++] = (struct session_capture){
            .process = (unsigned)result->process_count - 1,
            .record = record,
        };
    }
    if (view->captures > COUNTS_CAPTURES)
        result->captures_lost += view->captures - COUNTS_CAPTURES;
    return 0;
}

/* Notes the signal that ended the first process. `raised`: an instruction or a
 * call of the process raised it. */
static void
note_end(struct session_result *result, const struct session_process *p,
         bool raised)
{
    if (p->ended || p->running || !WIFSIGNALED(result->status) ||
        p->pid != result->processes[0].pid)
        return;
    const int ended = WTERMSIG(result->status);
    switch (ended) {
    case SIGILL:
    case SIGTRAP:
    case SIGBUS:
    case SIGFPE:
    case SIGSEGV:
        /* An instruction raised the signal in the midst of its block. Of other
         * processes their parents tell (plugin/early.h). */
        result->left_early++;
        break;
    case SIGSYS:
    case SIGXFSZ:
        break; /* a system call that the kernel refused */
    default:
        if (!raised && result->ended_by == 0)
            result->ended_by = ended;
    }
}

/* Adds a process to the result, so far without threads. `running`: it ran when
 * its counts were opened. */
static void
describe(const struct counts_view *view, bool running,
         struct session_result *result)
{
    struct session_process *p = &result->processes[result->process_count++];

    memset(p, 0, sizeof(*p));
    p->pid = view->pid;
    p->parent = view->parent;
    p->begin = view->begin;
    p->load_bias = view->load_bias;
    p->together = view->together;
    p->quantum = view->quantum;
    p->outside_wakes = p->together > 1 ? view->outside_wakes : 0;
    p->asked = view->asked;
    result->asked |= p->together > 1 ? p->asked : 0;
    result->free +=
        p->together > 1 && (p->quantum == 0 || p->outside_wakes > 0);
    result->outside_wakes += p->outside_wakes;
    if (p->together > 1)
        result->quantum = p->quantum;
    if (p->together > result->together)
        result->together = p->together;
    p->ended = view->state == COUNTS_ENDED;
    p->running = running;
    p->beside = view->beside || p->running;
    result->beside += p->beside;
    result->left_early += view->left_early;
    result->told += view->told;
    result->signalled += view->signalled;
    note_end(result, p, view->raised != 0);
    /* A process that ends takes over the counts of the threads apart. */
    result->lost_threads += view->lost + (p->ended ? 0 : view->apart);
    result->heaped_threads += view->heaped;
    result->cut_processes += view->cut;
    memcpy(p->program, view->program, sizeof(p->program));
}

/* Notes a process whose counts cannot be trusted; pid 0: all of them. */
static int
note_inconsistent(struct session_result *result, int pid, const char *program,
                  const char *why)
{
    struct session_inconsistent *all =
        grow(result->inconsistent, result->inconsistent_count, sizeof(*all));

    if (all == NULL)
        return TALLY_ENOMEM;
    result->inconsistent = all;
    struct session_inconsistent *one = &all[result->inconsistent_count++];
    one->pid = pid;
    one->why = why;
    memcpy(one->program, program, sizeof(one->program));
    return 0;
}

/* Readings of the machine's own counters before a process was added. */
struct readings {
    struct hardware_reading *all;
    uint64_t overflows;
};

/* Copies the readings, so that a process can be taken out again. */
static int
keep_readings(const struct hardware *h, struct readings *kept)
{
    const size_t size = h != NULL ? h->event_count * sizeof(*kept->all) : 0;

    kept->all = malloc(size + 1);
    if (kept->all == NULL)
        return TALLY_ENOMEM;
    if (h != NULL) {
        memcpy(kept->all, h->readings, size);
        kept->overflows = h->overflows;
    }
    return 0;
}

void
session_thread_finish(struct session_thread *t)
{
    free(t->data);
    free(t->in_mpi);
    t->data = t->in_mpi = NULL;
}

/* Collects a process. If its counts prove inconsistent on the way, takes the
 * process out of `result` and of the counters again. */
static int
collect_whole(const struct session_options *o, struct counts_view *view,
              unsigned index, bool running, union counts_view_memory *memory,
              struct session_result *result)
{
    const struct session_result before = *result;
    struct readings kept = {0};
    int error = keep_readings(o->hardware, &kept);

    if (error == 0) {
        describe(view, running, result);
        result->processes[result->process_count - 1].place = index;
        error = collect_threads(o, view, memory, result);
        counts_view_close(view);
    }
    if (error == 0 && view->state != COUNTS_ENDED)
        error = collect_strands(o, view, memory, result);
    if (error == TALLY_ERANGE) {
        view->wrong = "a count that no program comes to";
        error = 0;
    }
    if (error == 0)
        error = collect_snapshots(view, result);
    if (error == 0)
        error = collect_captures(view, result);
    if (error == 0 && view->wrong != NULL) {
        struct session_result *const r = result;
        for (size_t i = before.thread_count; i < r->thread_count; i++)
            session_thread_finish(&r->threads[i]);
        r->process_count = before.process_count;
        r->thread_count = before.thread_count;
        r->snapshot_count = before.snapshot_count;
        r->capture_count = before.capture_count;
        r->captures_lost = before.captures_lost;
        r->together = before.together;
        r->free = before.free;
        r->quantum = before.quantum;
        r->outside_wakes = before.outside_wakes;
        r->asked = before.asked;
        r->beside = before.beside;
        r->lost_threads = before.lost_threads;
        r->heaped_threads = before.heaped_threads;
        r->cut_processes = before.cut_processes;
        r->left_early = before.left_early;
        r->told = before.told;
        r->signalled = before.signalled;
        r->ended_by = before.ended_by;
        r->illegal = before.illegal;
        if (o->hardware != NULL) {
            memcpy(o->hardware->readings, kept.all,
                   o->hardware->event_count * sizeof(*kept.all));
            o->hardware->overflows = kept.overflows;
        }
    }
    free(kept.all);
    return error;
}

/*
 * Opens the counts of the process in one place of the session's file. Sets
 * `*running` to whether the process runs. A process may end between the reading
 * of its state and the question whether it runs; so where it neither has ended
 * in good order nor runs, its state is read again, which is its last then.
 */
static int
open_process(struct counts_view *view, int fd, unsigned index,
             const struct counts_rules *rules, bool *running)
{
    int error = counts_view_open(view, fd, index, rules);

    *running = error == 0 && view->state == COUNTS_RUNNING &&
               view->wrong == NULL && process_runs(view->pid, view->pid_space);
    if (error == 0 && view->state == COUNTS_RUNNING && !*running)
        error = counts_view_open(view, fd, index, rules);
    return error;
}

/* Collects the process in one place of the session's file, if there is one. */
static int
collect_process(const struct session_options *o, int fd, unsigned index,
                const struct counts_rules *rules,
                union counts_view_memory *memory, struct session_result *result)
{
    struct session_process *processes =
        grow(result->processes, result->process_count, sizeof(*processes));
    struct counts_view view;

    if (processes == NULL)
        return TALLY_ENOMEM;
    result->processes = processes;
    /* A process may end while it is read, and give its memory back: then its
     * records are read in a second attempt. */
    for (int attempt = 0; attempt < 2; attempt++) {
        bool running;
        int error = open_process(&view, fd, index, rules, &running);
        if (error != 0 || view.state == COUNTS_FREE)
            return error;
        if (view.wrong == NULL)
            error = collect_whole(o, &view, index, running, memory, result);
        if (error != 0)
            return error;
        if (view.wrong == NULL || view.state == COUNTS_ENDED ||
            !counts_view_ended(&view))
            break;
    }
    result->started |= view.blocks != 0 || view.wrong != NULL;
    return view.wrong == NULL
               ? 0
               : note_inconsistent(result, view.pid, view.program, view.wrong);
}

static int
by_process_and_thread(const void *a, const void *b)
{
    const struct session_thread *x = a, *y = b;

    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* Joins the records of one thread, which an execve that failed split. */
static void
merge_threads(struct session_result *result)
{
    size_t kept = 0;

    if (result->thread_count == 0)
        return; /* qsort() takes no NULL */
    qsort(result->threads, result->thread_count, sizeof(*result->threads),
          by_process_and_thread);
    for (size_t i = 0; i < result->thread_count; i++) {
        struct session_thread *t = &result->threads[i];
        struct session_thread *sum = &result->threads[kept > 0 ? kept - 1 : 0];
        if (kept == 0 || by_process_and_thread(sum, t) != 0) {
            result->threads[kept++] = *t;
            continue;
        }
        totals_add(&sum->totals, &t->totals);
        if (sum->data != NULL && t->data != NULL)
            totals_add(sum->data, t->data);
        if (sum->in_mpi != NULL && t->in_mpi != NULL)
            totals_add(sum->in_mpi, t->in_mpi);
        session_thread_finish(t);
    }
    result->thread_count = kept;
}

/* Returns what in the header no process of tally has written, or NULL. `used`:
 * the places of the file up to the last that a process has. */
static const char *
wrong_in_header(const struct session_header *h, unsigned used,
                const struct session_request *request)
{
    if (!session_is_whole(h) ||
        memcmp(&h->request, request, sizeof(*request)) != 0)
        return "what the session asks for was overwritten";
    if (h->processes < used || h->processes > MANY || h->uncounted > MANY ||
        h->rightless > MANY)
        return "the session's numbers of programs were overwritten";
    return NULL;
}

/* Collects what the header of the session's file says of all processes. */
static int
collect_header(int fd, unsigned used, const struct session_request *request,
               struct session_result *result)
{
    const size_t size = offsetof(struct session_header, vcounters);
    struct session_header *h =
        aligned_alloc(_Alignof(struct session_header), sizeof(*h));
    static const char none[COUNTS_NAME];
    int error = 0;

    if (h == NULL)
        return TALLY_ENOMEM;
    memset(h, 0, size);
    if (pread(fd, h, size, 0) != (ssize_t)size)
        error = TALLY_ESYSTEM;
    const char *const wrong = wrong_in_header(h, used, request);
    if (error == 0 && wrong != NULL) {
        error = note_inconsistent(result, 0, none, wrong);
    } else if (error == 0) {
        result->rightless = h->rightless;
        result->random_fixed = h->random_fixed;
        result->random_left = h->random_left;
        result->uncounted = h->uncounted;
        if (h->processes > SESSION_PROCESSES)
            result->uncounted += h->processes - SESSION_PROCESSES;
        for (unsigned i = 0; i < SESSION_UNCOUNTED; i++) {
            /* A name that a process has overwritten may have no end. */
            h->rightless_names[i][COUNTS_NAME - 1] = '\0';
            h->uncounted_names[i][COUNTS_NAME - 1] = '\0';
            memcpy(result->rightless_names[i], h->rightless_names[i],
                   COUNTS_NAME);
            if (h->uncounted_taken[i] != 0 &&
                result->uncounted_named < result->uncounted)
                memcpy(result->uncounted_names[result->uncounted_named++],
                       h->uncounted_names[i], COUNTS_NAME);
        }
    }
    result->random_asked = request->fixed_random;
    result->by_cycles = request->by_cycles != 0;
    free(h);
    return error;
}

/* With --mpi only threads that ran outside MPI can move what is counted there:
 * a process with one of them counts as a process with one thread. */
static void
leave_out_helpers(struct session_result *result)
{
    for (size_t i = 0; i < result->process_count; i++) {
        struct session_process *const p = &result->processes[i];
        unsigned outside = 0;
        for (size_t k = 0; k < result->thread_count; k++) {
            const struct session_thread *const t = &result->threads[k];
            outside +=
                t->process == i && t->totals.signal[SIGNAL_INSTRUCTIONS] != 0;
        }
        if (outside > 1 || p->together < 2)
            continue;
        result->free -= p->quantum == 0 || p->outside_wakes > 0;
        result->outside_wakes -= p->outside_wakes;
        p->outside_wakes = 0;
        p->together = 1;
    }
}

/* Derives the threads' signals and adds the threads up. */
static int
add_up(const struct session_options *o, struct session_result *result)
{
    int error;

    merge_threads(result);
    if (o->mpi)
        leave_out_helpers(result);
    error = session_time(o->params, result);
    if (error == 0 && o->interval_ms != 0)
        error = session_intervals(
            o->params, interval_cycles(o->params, o->interval_ms), result);
    for (size_t i = 0; error == 0 && i < result->thread_count; i++) {
        struct session_thread *t = &result->threads[i];
        if (t->data != NULL) {
            signals_derive(o->params, result->components, t->data->signal);
            filter_restrict(&t->totals, t->data);
        }
        if (t->in_mpi != NULL) {
            signals_derive(o->params, result->components, t->in_mpi->signal);
            totals_add(result->in_mpi, t->in_mpi);
        }
        session_thread_finish(t);
        totals_add(&result->totals, &t->totals);
        totals_add(&result->processes[t->process].totals, &t->totals);
    }
    return error;
}

int
session_collect(const struct session_options *o, int fd,
                const struct session_request *request,
                struct session_result *result)
{
    const struct counts_rules rules = counts_rules_of(request);
    union counts_view_memory *const memory = malloc(sizeof(*memory));
    uint64_t died = 0;
    unsigned used = 0;
    int error = memory != NULL ? 0 : TALLY_ENOMEM;

    if (error == 0 && o->mpi &&
        (result->in_mpi = calloc(1, sizeof(*result->in_mpi))) == NULL)
        error = TALLY_ENOMEM;
    if (o->hardware != NULL)
        hardware_reset(o->hardware);
    for (unsigned i = 0; error == 0; i++) {
        i = counts_view_next(fd, i);
        if (i >= SESSION_PROCESSES)
            break;
        used = i + 1;
        error = collect_process(o, fd, i, &rules, memory, result);
    }
    free(memory);
    if (error == 0)
        error = collect_header(fd, used, request, result);
    for (size_t i = 0; i < result->process_count; i++) {
        const struct session_process *p = &result->processes[i];
        /* A process that executes a program has one entry more. Two processes
         * may have one number: in PID namespaces, or one after the other. */
        result->pid_count += p->begin != BEGIN_EXEC;
        died += !p->ended && !p->running && p->pid != result->processes[0].pid;
    }
    if (error == 0 && o->gate != NULL) {
        gate_turn(o->gate, false, fd, &rules);
        if (o->gate->missing > result->lost_threads)
            result->lost_threads = o->gate->missing;
    }
    /* An instruction may have raised the signal that ended a process whose
     * parent did not ask how it died. */
    if (error == 0 && died > result->told)
        result->left_early += died - result->told;
    if (error == 0)
        error = add_up(o, result);
    if (error == 0 && o->gate != NULL) {
        memset(&result->totals, 0, sizeof(result->totals));
        for (unsigned i = 0; i < session_slices(o); i++)
            totals_add(&result->totals, &o->gate->sum[i]);
        signals_derive(o->params, result->components, result->totals.signal);
        if (o->hardware != NULL) {
            static const char none[COUNTS_NAME];
            hardware_reset(o->hardware);
            memcpy(o->gate->now, o->gate->sum, sizeof(o->gate->now));
            if (add_to_hardware(o, result->components, o->gate->now) != 0)
                error = note_inconsistent(result, 0, none,
                                          "a count that no program comes to");
        }
    }
    return error;
}
