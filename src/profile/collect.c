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

#define MANY (1u << 30) /* no number of programs reaches it */

unsigned
session_slices(const struct session_options *o)
{
    return o->hardware != NULL ? (unsigned)o->hardware->slice_count : 1;
}

unsigned
session_totals(const struct session_options *o)
{
    return filter_data(o->filters, o->filter_count) ? 2 * session_slices(o)
                                                    : session_slices(o);
}

static void *
grow(void *array, size_t count, size_t size)
{
    if (count & (count - 1))
        return array; /* room up to the next power of two */
    return realloc(array, (count ? count * 2 : 1) * size);
}

/* What the counters see of a thread's slices. */
static void
add_to_hardware(const struct session_options *o, uint32_t components,
                const struct totals *slices)
{
    struct totals derived[COUNTS_SLICES];
    const unsigned count = session_slices(o);

    for (unsigned i = 0; i < session_totals(o); i++) {
        derived[i] = slices[i];
        signals_derive(o->params, components, derived[i].signal);
        if (i >= count)
            filter_restrict(&derived[i - count], &derived[i]);
    }
    hardware_add(o->hardware, derived);
}

/* Returns the row that a thread shares where there are rows enough, the last of
 * its process and strand; NULL: it has a row of its own. */
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

static int
add_thread(const struct session_options *o, struct session_result *result,
           const struct session_thread *thread, struct totals *slices)
{
    const unsigned count = session_slices(o);
    const bool filtered = session_totals(o) != count;
    struct session_thread *t = shared_row(result, thread);

    if (t != NULL) /* the other thread of the row has not been counted here */
        result->heaped_threads += result->heaped_threads == 0 ? 2 : 1;
    else if ((t = own_row(result, thread)) == NULL)
        return TALLY_ENOMEM;
    if (filtered && t->data == NULL &&
        (t->data = calloc(1, sizeof(*t->data))) == NULL)
        return TALLY_ENOMEM;
    for (unsigned i = 0; i < count; i++) {
        if (filtered) {
            filter_totals(&slices[i], &slices[count + i]);
            totals_add(t->data, &slices[count + i]);
        }
        totals_add(&t->totals, &slices[i]);
    }
    if (o->hardware != NULL)
        add_to_hardware(o, result->components, slices);
    return 0;
}

static int
collect_threads(const struct session_options *o, struct counts_view *view,
                struct session_result *result)
{
    struct counts_thread t;
    int error = 0;

    for (unsigned i = 0; error == 0 && counts_view_thread(view, i, &t); i++) {
        const struct session_thread thread = {
            .thread = t.thread,
            .strand = t.strand,
            .maker = t.maker,
            .born = t.born,
        };
        error = add_thread(o, result, &thread, t.totals);
    }
    return error;
}

/* Fills in what the thread is in, if that is an instruction that QEMU may raise
 * SIGILL for. */
static void
note_suspect(struct counts_view *view, uint32_t suspect,
             struct session_illegal *illegal)
{
    struct block_info info;
    struct counts_file file;

    if (suspect == 0 || !counts_view_info(view, suspect - 1, &info))
        return;
    illegal->found = info.odd_size != 0;
    illegal->pc = info.odd_pc;
    illegal->size = info.odd_size;
    memcpy(illegal->bytes, info.odd_bytes, sizeof(illegal->bytes));
    if (!counts_view_file(view, illegal->pc, &file))
        return;
    memcpy(illegal->file, file.path, sizeof(illegal->file));
    illegal->offset = illegal->pc - file.first + file.offset;
}

/* Returns whether SIGILL ended the process. If nobody waited for the process,
 * so that its status is unknown, returns whether the process has ended. */
static bool
died_illegal(const struct session_result *result,
             const struct session_process *process)
{
    if (process->ended || process->running)
        return false;
    return process->pid != result->processes[0].pid ||
           (WIFSIGNALED(result->status) && WTERMSIG(result->status) == SIGILL);
}

/* Collects the threads of a process that did not end in good order, and the
 * instruction that the first process to die by SIGILL died of. */
static int
collect_strands(const struct session_options *o, struct counts_view *view,
                struct session_result *result)
{
    const unsigned process = (unsigned)result->process_count - 1;
    const bool died = died_illegal(result, &result->processes[process]);
    struct session_illegal *const illegal = &result->illegal;
    struct counts_view_strand s;
    int error = 0;

    for (unsigned i = 0; error == 0 && counts_view_strand(view, &i, &s);) {
        uint64_t instructions = 0;
        for (unsigned slice = 0; slice < session_totals(o); slice++)
            instructions += s.totals[slice].signal[SIGNAL_INSTRUCTIONS];
        const struct session_thread thread = {
            .thread = s.thread,
            .strand = s.strand,
            .maker = s.maker,
            .born = s.born,
        };
        if (instructions != 0)
            error = add_thread(o, result, &thread, s.totals);
        if (!died || illegal->found)
            continue;
        illegal->process = process;
        note_suspect(view, s.suspect, illegal);
    }
    return error;
}

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

/* Returns the signal that ended the process if it is the first, or 0. */
static int
signal_that_ended(const struct session_result *result,
                  const struct session_process *process)
{
    return process->ended || process->running || !WIFSIGNALED(result->status) ||
                   process->pid != result->processes[0].pid
               ? 0
               : WTERMSIG(result->status);
}

static bool
is_among(int signal, const int *signals, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (signal == signals[i])
            return true;
    }
    return false;
}

/* Returns whether an instruction of the first process raised a signal that
 * ended the process. Of others their parents tell (plugin/early.h). */
static bool
died_early(const struct session_result *result,
           const struct session_process *process)
{
    static const int raised[] = {SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV};

    return is_among(signal_that_ended(result, process), raised,
                    sizeof(raised) / sizeof(raised[0]));
}

/* Returns the signal that ended the first process at a time that neither its
 * instructions nor its calls chose, or 0. */
static int
ended_from_outside(const struct session_result *result,
                   const struct session_process *process, bool raised)
{
    /* Those of instructions, and of calls that the kernel refuses. */
    static const int own[] = {SIGILL,  SIGTRAP, SIGBUS, SIGFPE,
                              SIGSEGV, SIGSYS,  SIGXFSZ};
    const int ended = signal_that_ended(result, process);

    return raised || is_among(ended, own, sizeof(own) / sizeof(own[0])) ? 0
                                                                        : ended;
}

static void
describe(const struct counts_view *view, struct session_result *result)
{
    struct session_process *p = &result->processes[result->process_count++];

    memset(p, 0, sizeof(*p));
    p->pid = view->pid;
    p->parent = view->parent;
    p->begin = view->begin;
    p->load_bias = view->load_bias;
    p->together = view->together;
    if (p->together > result->together)
        result->together = p->together;
    p->ended = view->state == COUNTS_ENDED;
    p->running = !p->ended && process_runs(p->pid, view->pid_space);
    p->beside = view->beside || p->running;
    result->beside += p->beside;
    result->left_early += view->left_early + died_early(result, p);
    result->told += view->told;
    result->signalled += view->signalled;
    if (result->ended_by == 0)
        result->ended_by = ended_from_outside(result, p, view->raised != 0);
    /* At the end the process itself has taken the counts of those apart. */
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

/* What the counters had read before a process was added. */
struct readings {
    struct hardware_reading *all;
    uint64_t overflows;
};

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

/* Collects a process; `result` and the counters keep nothing of one whose
 * process proves inconsistent. */
static int
collect_whole(const struct session_options *o, struct counts_view *view,
              struct session_result *result)
{
    const struct session_result before = *result;
    struct readings kept = {0};
    int error = keep_readings(o->hardware, &kept);

    if (error == 0) {
        describe(view, result);
        error = collect_threads(o, view, result);
        counts_view_close(view);
    }
    if (error == 0 && view->state != COUNTS_ENDED)
        error = collect_strands(o, view, result);
    if (error == 0)
        error = collect_snapshots(view, result);
    if (error == 0)
        error = collect_captures(view, result);
    if (error == 0 && view->wrong != NULL) {
        struct session_result *const r = result;
        for (size_t i = before.thread_count; i < r->thread_count; i++)
            free(r->threads[i].data);
        r->process_count = before.process_count;
        r->thread_count = before.thread_count;
        r->snapshot_count = before.snapshot_count;
        r->capture_count = before.capture_count;
        r->captures_lost = before.captures_lost;
        r->together = before.together;
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

static int
collect_process(const struct session_options *o, int fd, unsigned index,
                const struct counts_rules *rules, struct session_result *result)
{
    struct session_process *processes =
        grow(result->processes, result->process_count, sizeof(*processes));
    struct counts_view view;

    if (processes == NULL)
        return TALLY_ENOMEM;
    result->processes = processes;
    /* A process that still ran may have ended meanwhile, and given its memory
     * back: then its records are read instead. */
    for (int attempt = 0; attempt < 2; attempt++) {
        int error = counts_view_open(&view, fd, index, rules);
        if (error != 0 || view.state == COUNTS_FREE)
            return error;
        if (view.wrong == NULL)
            error = collect_whole(o, &view, result);
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

static void
add_totals(struct session_thread *sum, const struct session_thread *more)
{
    totals_add(&sum->totals, &more->totals);
    if (sum->data != NULL && more->data != NULL)
        totals_add(sum->data, more->data);
}

/* Records of one thread that a failed execve split become one. */
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
        if (kept > 0 &&
            by_process_and_thread(&result->threads[kept - 1], t) == 0) {
            add_totals(&result->threads[kept - 1], t);
            free(t->data);
        } else {
            result->threads[kept++] = *t;
        }
    }
    result->thread_count = kept;
}

/* A program that a process executes is not a process more. Two may have one
 * number: in PID namespaces, or one after the other. */
static void
count_processes(struct session_result *result)
{
    for (size_t i = 0; i < result->process_count; i++)
        result->pid_count += result->processes[i].begin != BEGIN_EXEC;
}

static void
collect_gate(const struct session_options *o, struct session_result *result)
{
    memset(&result->totals, 0, sizeof(result->totals));
    for (unsigned i = 0; i < session_slices(o); i++)
        totals_add(&result->totals, &o->gate->sum[i]);
    signals_derive(o->params, result->components, result->totals.signal);
    if (o->hardware != NULL) {
        hardware_reset(o->hardware);
        add_to_hardware(o, result->components, o->gate->sum);
    }
}

/* Copies names that have ends. */
static void
copy_names(char (*to)[COUNTS_NAME], char (*from)[COUNTS_NAME])
{
    memcpy(to, from, SESSION_UNCOUNTED * COUNTS_NAME);
    for (unsigned i = 0; i < SESSION_UNCOUNTED; i++)
        to[i][COUNTS_NAME - 1] = '\0';
}

/* Copies the names of what ran outside, without the places between them. */
static void
copy_uncounted(struct session_result *result, struct session_header *h)
{
    for (unsigned i = 0; i < SESSION_UNCOUNTED; i++) {
        if (h->uncounted_taken[i] == 0 ||
            result->uncounted_named >= result->uncounted)
            continue;
        char *const name = result->uncounted_names[result->uncounted_named++];
        memcpy(name, h->uncounted_names[i], COUNTS_NAME);
        name[COUNTS_NAME - 1] = '\0';
    }
}

/* Returns what no process of tally writes into the header, or NULL. `used`:
 * counts up to the last that a process has. */
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

/* Collects what the header says of all processes. */
static int
collect_header(int fd, unsigned used, const struct session_request *request,
               struct session_result *result)
{
    const size_t size = offsetof(struct session_header, owners);
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
        copy_names(result->rightless_names, h->rightless_names);
        result->random_fixed = h->random_fixed;
        result->random_left = h->random_left;
        result->uncounted = h->uncounted;
        if (h->processes > SESSION_PROCESSES)
            result->uncounted += h->processes - SESSION_PROCESSES;
        copy_uncounted(result, h);
    }
    result->random_asked = request->fixed_random;
    free(h);
    return error;
}

static int
add_up(const struct session_options *o, struct session_result *result)
{
    int error;

    merge_threads(result);
    error = session_time(o->params, result);
    if (error == 0 && o->interval_ms != 0)
        error = session_intervals(
            o->params, interval_cycles(o->params, o->interval_ms), result);
    for (size_t i = 0; error == 0 && i < result->thread_count; i++) {
        struct session_thread *t = &result->threads[i];
        if (t->data != NULL) {
            signals_derive(o->params, result->components, t->data->signal);
            filter_restrict(&t->totals, t->data);
            free(t->data);
            t->data = NULL;
        }
        totals_add(&result->totals, &t->totals);
        totals_add(&result->processes[t->process].totals, &t->totals);
    }
    return error;
}

/* Counts processes that died and whose parents did not ask how: an instruction
 * may have raised the signal. */
static void
count_untold(struct session_result *result)
{
    const int first = result->process_count > 0 ? result->processes[0].pid : 0;
    uint64_t died = 0;

    for (size_t i = 0; i < result->process_count; i++) {
        const struct session_process *p = &result->processes[i];
        died += !p->ended && !p->running && p->pid != first;
    }
    if (died > result->told)
        result->left_early += died - result->told;
}

int
session_collect(const struct session_options *o, int fd,
                const struct session_request *request,
                struct session_result *result)
{
    const struct counts_rules rules = counts_rules_of(request);
    unsigned used = 0;
    int error = 0;

    if (o->hardware != NULL)
        hardware_reset(o->hardware);
    for (unsigned i = 0; error == 0; i++) {
        i = counts_view_next(fd, i);
        if (i >= SESSION_PROCESSES)
            break;
        used = i + 1;
        error = collect_process(o, fd, i, &rules, result);
    }
    if (error == 0)
        error = collect_header(fd, used, request, result);
    count_processes(result);
    if (error == 0 && o->gate != NULL) {
        gate_turn(o->gate, false, fd, &rules);
        if (o->gate->missing > result->lost_threads)
            result->lost_threads = o->gate->missing;
    }
    if (error == 0)
        count_untold(result);
    if (error == 0)
        error = add_up(o, result);
    if (error == 0 && o->gate != NULL)
        collect_gate(o, result);
    return error;
}
