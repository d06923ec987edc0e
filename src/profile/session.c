/* SPDX-License-Identifier: MIT */
#include "profile/session.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "machine/chip.h"
#include "profile/filter.h"
#include "profile/interval.h"
#include "profile/modelled.h"

#define PROGRESS_S 0.5

static double
now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

uint64_t
event_value(const struct event_row *event, const struct totals *totals)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < event->signal_count; i++)
        sum += totals->signal[event->signals[i]];
    return sum;
}

static int
set_window(const struct session_options *o, const struct program *program,
           const struct tally_log *log, struct session_request *r)
{
    int error = 0;

    r->from = r->to = NO_LINE;
    r->skip = o->skip;
    r->code = program->code;
    if (o->from != NULL)
        error = program_symbol(program->path, o->from, log, &r->from);
    if (error == 0 && o->to != NULL)
        error = program_symbol(program->path, o->to, log, &r->to);
    if (o->from != NULL || o->to != NULL)
        r->window = WINDOW_FROM_TO;
    else if (o->skip != 0)
        r->window = WINDOW_SKIP;
    return error;
}

static int
set_filters(const struct session_options *o, const struct program *program,
            const struct tally_log *log, struct session_request *r)
{
    int error = 0;

    if (o->filter_count > CODE_RANGES)
        return tally_fail(log, TALLY_ERANGE, "more than %d filters",
                          CODE_RANGES);
    for (size_t i = 0; i < o->filter_count && error == 0; i++) {
        enum filter_kind kind = FILTER_CODE;
        struct code_range range = {0, 0};
        error = filter_parse(o->filters[i], program->path, log, &kind, &range);
        if (kind == FILTER_CODE)
            r->ranges[r->range_count++] = range;
        else
            r->data_ranges[r->data_count++] = range;
    }
    if (error == 0 && r->data_count > 0)
        error = filter_check_data(o->events, o->event_count, log);
    return error;
}

static unsigned
turns_of(const struct session_options *o)
{
    return o->hardware != NULL ? (unsigned)o->hardware->turn_count : 1;
}

/* With --filter data= each turn has two totals. */
static unsigned
totals_of(const struct session_options *o)
{
    return filter_data(o->filters, o->filter_count) ? 2 * turns_of(o)
                                                    : turns_of(o);
}

/* Intervals of time need the time, and so do latencies; what is captured may be
 * a miss of the first TLB. */
static uint32_t
parts_of(const struct session_options *o)
{
    static const uint16_t time[] = {SIGNAL_CYCLES};
    static const struct event_row clock = {.signals = time, .signal_count = 1};
    const struct event_row *const clocks[] = {&clock};
    const uint32_t parts = chip_parts(o->events, o->event_count, o->params) |
                           (o->capture != NULL ? (uint32_t)PART_DTLB_FIRST : 0);

    return o->interval_ms == 0 && o->capture == NULL
               ? parts
               : parts | chip_parts(clocks, 1, o->params);
}

/* Notes the standard files that the program will be started with. */
static void
note_standard(struct session_request *r)
{
    for (int fd = 0; fd < (int)SESSION_STANDARD; fd++) {
        struct stat st;
        if (fstat(fd, &st) == 0) {
            r->standard[fd].device = st.st_dev;
            r->standard[fd].inode = st.st_ino;
        }
    }
}

static int
make_request(const struct session_options *o, const struct program *program,
             const struct tally_log *log, struct session_request *r)
{
    memset(r, 0, sizeof(*r));
    r->machine = (uint32_t)(o->machine - tally_machines);
    r->isa = program->isa;
    r->parts = parts_of(o);
    if (program->isa == ISA_X86_64)
        r->parts |= PART_REPEAT;
    note_standard(r);
    memcpy(r->params, o->params, sizeof(r->params));
    r->turns = turns_of(o);
    r->slice = HARDWARE_SLICE;
    r->interval = interval_cycles(o->params, o->interval_ms);
    if (o->capture != NULL)
        r->capture = *o->capture;
    int error = set_window(o, program, log, r);
    if (error == 0 && o->interval_ms != 0 && totals_of(o) != turns_of(o))
        error =
            tally_fail(log, TALLY_ERANGE, "-I does not go with --filter data=");
    if (error == 0 && totals_of(o) > REGION_TURNS)
        error = tally_fail(log, TALLY_ERANGE,
                           "--filter data= leaves %u turns of the counters; "
                           "these events need %u",
                           REGION_TURNS / 2, turns_of(o));
    if (error == 0)
        error = set_filters(o, program, log, r);
    return error != 0 ? error : launch_request(&o->launch, program, log, r);
}

struct running {
    const struct session_options *options;
    struct session_header *header;
    int fd;
    double started;
    double told; /* when progress was reported last */
};

static void
report_progress(struct running *run)
{
    uint64_t instructions = 0;
    unsigned regions = atomic_load(&run->header->regions);

    run->told = now_s();
    if (run->options->progress == NULL)
        return;
    for (unsigned i = 0; i < regions && i < SESSION_REGIONS; i++) {
        struct region region;
        if (region_map(run->fd, i, &region) != 0)
            continue;
        instructions += region_instructions(&region);
        region_unmap(&region);
    }
    run->options->progress(run->options->progress_user, instructions,
                           now_s() - run->started);
}

/* Opens the gate at SIGUSR1 and closes it at SIGUSR2. */
static bool
take_signal(void *user, int signal_number)
{
    const struct running *const run = user;

    if (run->options->gate == NULL ||
        (signal_number != SIGUSR1 && signal_number != SIGUSR2))
        return false;
    gate_turn(run->options->gate, signal_number == SIGUSR1, run->fd,
              atomic_load(&run->header->regions));
    return true;
}

static void *
grow(void *array, size_t count, size_t size)
{
    if (count & (count - 1))
        return array; /* room up to the next power of two */
    return realloc(array, (count ? count * 2 : 1) * size);
}

/* What the counters see of a thread's turns. */
static void
add_to_hardware(const struct session_options *o, uint32_t parts,
                const struct totals *turns)
{
    struct totals derived[REGION_TURNS];
    const unsigned count = turns_of(o);

    for (unsigned i = 0; i < totals_of(o); i++) {
        derived[i] = turns[i];
        chip_derive(o->params, parts, &derived[i]);
        if (i >= count)
            filter_restrict(&derived[i - count], &derived[i]);
    }
    hardware_add(o->hardware, derived);
}

static int
add_thread(const struct session_options *o, struct session_result *result,
           const struct session_thread *thread, struct totals *turns)
{
    const unsigned count = turns_of(o);
    const bool filtered = totals_of(o) != count;
    struct session_thread *threads =
        grow(result->threads, result->thread_count, sizeof(*threads));

    if (threads == NULL)
        return TALLY_ENOMEM;
    result->threads = threads;
    struct session_thread *t = &threads[result->thread_count++];
    *t = *thread;
    t->process = (unsigned)result->process_count - 1;
    for (unsigned i = 0; i < count; i++) {
        if (filtered) {
            filter_totals(&turns[i], &turns[count + i]);
            totals_add(&t->data, &turns[count + i]);
        }
        totals_add(&t->totals, &turns[i]);
    }
    if (o->hardware != NULL)
        add_to_hardware(o, result->parts, turns);
    return 0;
}

static int
collect_threads(const struct session_options *o, const struct region *region,
                struct session_result *result)
{
    struct totals sums[REGION_TURNS];
    const unsigned ended = atomic_load(&region->head->threads);
    const unsigned strands = atomic_load(&region->head->strands);
    int error = 0;

    for (unsigned i = 0; error == 0 && i < ended && i < REGION_THREADS; i++) {
        const struct region_thread *t = &region->threads[i];
        const struct session_thread thread = {
            .thread = t->thread,
            .strand = t->strand,
            .maker = t->maker,
            .born = t->born,
        };
        memcpy(sums, t->totals, sizeof(sums));
        error = add_thread(o, result, &thread, sums);
    }
    for (unsigned i = 0; error == 0 && i < strands; i++) {
        struct region_strand *s = region_map_strand(region, i, NULL);
        uint64_t instructions = 0;
        if (s == NULL)
            return TALLY_ESYSTEM;
        for (unsigned turn = 0; turn < totals_of(o); turn++) {
            region_sum(region, s, turn, &sums[turn]);
            instructions += sums[turn].signal[SIGNAL_INSTRUCTIONS];
        }
        const struct session_thread thread = {
            .thread = s->thread,
            .strand = s->strand,
            .maker = s->maker,
            .born = s->born,
        };
        if (instructions != 0)
            error = add_thread(o, result, &thread, sums);
        region_unmap_strand(s);
    }
    return error;
}

static int
collect_snapshots(const struct region *region, struct session_result *result)
{
    const unsigned count = atomic_load(&region->head->snapshots);

    for (unsigned i = 0; i < count && i < REGION_SNAPSHOTS; i++) {
        const struct region_snapshot *s = &region->snapshots[i];
        struct session_snapshot *all =
            grow(result->snapshots, result->snapshot_count, sizeof(*all));
        if (all == NULL)
            return TALLY_ENOMEM;
        result->snapshots = all;
        all[result->snapshot_count++] = (struct session_snapshot){
            .process = (unsigned)result->process_count - 1,
            .thread = s->thread,
            .boundary = s->boundary,
            .totals = s->totals,
        };
    }
    return 0;
}

static int
collect_captures(const struct region *region, struct session_result *result)
{
    const unsigned made = atomic_load(&region->head->captures);
    const unsigned kept = made < REGION_CAPTURES ? made : REGION_CAPTURES;

    result->captures_lost += made - kept;
    for (unsigned i = 0; i < kept; i++) {
        struct session_capture *all =
            grow(result->captures, result->capture_count, sizeof(*all));
        if (all == NULL)
            return TALLY_ENOMEM;
        result->captures = all;
        all[result->capture_count++] = (struct session_capture){
            .process = (unsigned)result->process_count - 1,
            .record = region->captures[i],
        };
    }
    return 0;
}

static int
collect_process(const struct session_options *o, int fd, unsigned index,
                struct session_result *result)
{
    struct session_process *processes =
        grow(result->processes, result->process_count, sizeof(*processes));
    struct region region;

    if (processes == NULL)
        return TALLY_ENOMEM;
    result->processes = processes;
    if (region_map(fd, index, &region) != 0)
        return TALLY_ESYSTEM;
    if (atomic_load(&region.head->state) == REGION_FREE) {
        region_unmap(&region); /* claimed by a child that could not map it */
        return 0;
    }
    result->started |= atomic_load(&region.head->blocks) != 0;
    struct session_process *p = &processes[result->process_count++];
    memset(p, 0, sizeof(*p));
    p->pid = region.head->pid;
    p->parent = region.head->parent;
    p->begin = (enum region_begin)region.head->begin;
    p->load_bias = region.head->load_bias;
    p->together = atomic_load(&region.head->together);
    if (p->together > result->together)
        result->together = p->together;
    p->ended = atomic_load(&region.head->state) == REGION_ENDED;
    p->running = !p->ended && kill(p->pid, 0) == 0;
    p->beside = atomic_load(&region.head->beside) != 0 || p->running;
    result->beside += p->beside;
    memcpy(p->program, region.head->program, sizeof(p->program));
    int error = collect_threads(o, &region, result);
    if (error == 0)
        error = collect_snapshots(&region, result);
    if (error == 0)
        error = collect_captures(&region, result);
    region_unmap(&region);
    return error;
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
    totals_add(&sum->data, &more->data);
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
            by_process_and_thread(&result->threads[kept - 1], t) == 0)
            add_totals(&result->threads[kept - 1], t);
        else
            result->threads[kept++] = *t;
    }
    result->thread_count = kept;
}

static int
by_number(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;

    return x < y ? -1 : x > y;
}

static int
count_pids(struct session_result *result)
{
    int *pids = calloc(result->process_count + 1, sizeof(*pids));

    if (pids == NULL)
        return TALLY_ENOMEM;
    for (size_t i = 0; i < result->process_count; i++)
        pids[i] = result->processes[i].pid;
    qsort(pids, result->process_count, sizeof(*pids), by_number);
    for (size_t i = 0; i < result->process_count; i++)
        result->pid_count += i == 0 || pids[i] != pids[i - 1];
    free(pids);
    return 0;
}

/* What was counted while the gate was open is all there is. */
static void
collect_gate(const struct session_options *o, struct session_result *result)
{
    memset(&result->totals, 0, sizeof(result->totals));
    for (unsigned i = 0; i < turns_of(o); i++)
        totals_add(&result->totals, &o->gate->sum[i]);
    chip_derive(o->params, result->parts, &result->totals);
    if (o->hardware != NULL) {
        hardware_reset(o->hardware);
        add_to_hardware(o, result->parts, o->gate->sum);
    }
}

static int
collect(const struct session_options *o, int fd, struct session_header *header,
        struct session_result *result)
{
    const unsigned regions = atomic_load(&header->regions);
    int error = 0;

    if (o->hardware != NULL)
        hardware_reset(o->hardware);
    for (unsigned i = 0; error == 0 && i < regions && i < SESSION_REGIONS; i++)
        error = collect_process(o, fd, i, result);
    if (error == 0)
        error = count_pids(result);
    if (error != 0)
        return error;
    if (o->gate != NULL)
        gate_turn(o->gate, false, fd, regions);
    merge_threads(result);
    error = session_time(o->params, result);
    if (error == 0 && o->interval_ms != 0)
        error = session_intervals(
            o->params, interval_cycles(o->params, o->interval_ms), result);
    if (error != 0)
        return error;
    for (size_t i = 0; i < result->thread_count; i++) {
        struct session_thread *t = &result->threads[i];
        if (totals_of(o) != turns_of(o)) {
            chip_derive(o->params, result->parts, &t->data);
            filter_restrict(&t->totals, &t->data);
        }
        totals_add(&result->totals, &t->totals);
        totals_add(&result->processes[t->process].totals, &t->totals);
    }
    if (o->gate != NULL)
        collect_gate(o, result);
    result->rightless = atomic_load(&header->rightless);
    memcpy(result->rightless_names, header->rightless_names,
           sizeof(result->rightless_names));
    result->random_asked = header->request.fixed_random;
    result->random_fixed = atomic_load(&header->random_fixed);
    result->random_left = atomic_load(&header->random_left);
    result->uncounted = atomic_load(&header->uncounted);
    if (regions > SESSION_REGIONS)
        result->uncounted += regions - SESSION_REGIONS;
    memcpy(result->uncounted_names, header->uncounted_names,
           sizeof(result->uncounted_names));
    return 0;
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

/* Fills in the file that the instruction is from: of all that were mapped there
 * the last. */
static void
find_file(const struct region_head *head, struct session_illegal *illegal)
{
    for (unsigned i = atomic_load(&head->files); i > 0; i--) {
        const struct region_file *file = &head->file[i - 1];
        if (illegal->pc < file->first || illegal->pc > file->last)
            continue;
        memcpy(illegal->file, file->path, sizeof(illegal->file));
        illegal->offset = illegal->pc - file->first + file->offset;
        return;
    }
}

/* Finds what a thread of the process may have died of. */
static void
find_suspect(const struct region *region, struct session_illegal *illegal)
{
    const unsigned strands = atomic_load(&region->head->strands);

    for (unsigned i = 0; i < strands && !illegal->found; i++) {
        struct region_strand *s = region_map_strand(region, i, NULL);
        const unsigned suspect = s != NULL ? s->suspect : 0;
        region_unmap_strand(s);
        if (suspect == 0 || suspect > atomic_load(&region->head->blocks))
            continue;
        const struct block_info *info = &region->infos[suspect - 1];
        illegal->found = info->odd_size != 0;
        illegal->pc = info->odd_pc;
        illegal->size = info->odd_size;
        memcpy(illegal->bytes, info->odd_bytes, sizeof(illegal->bytes));
        find_file(region->head, illegal);
    }
}

/* Finds the instruction that the first process to die by SIGILL died of. */
static void
find_illegal(int fd, unsigned regions, struct session_result *result)
{
    struct session_illegal *illegal = &result->illegal;
    unsigned number = 0; /* of the process */

    for (unsigned i = 0; i < regions && number < result->process_count; i++) {
        struct region region;
        if (region_map(fd, i, &region) != 0)
            return;
        if (atomic_load(&region.head->state) != REGION_FREE) {
            illegal->process = number++;
            if (died_illegal(result, &result->processes[illegal->process]))
                find_suspect(&region, illegal);
        }
        region_unmap(&region);
        if (illegal->found)
            return;
    }
}

/* Lets QEMU go, and counts the kernel's events of it until its end. */
static int
count_software(struct running *run, struct child *child,
               struct session_result *result)
{
    struct host_software software = {0};
    const int error =
        host_software_open(&software, run->options->software,
                           run->options->software_count, child->pid);

    if (error != 0)
        return error;
    child_go(child);
    while (!child_wait(child, PROGRESS_S))
        if (now_s() >= run->told + PROGRESS_S)
            report_progress(run);
    host_software_read(&software, &child->usage);
    result->software = software.values;
    software.values = NULL;
    host_software_finish(&software);
    return 0;
}

/* Runs QEMU to its end; `result` has its status and times then. */
static int
start_and_wait(const struct launch *launch, struct running *run,
               const struct tally_log *log, struct session_result *result)
{
    const struct child_program program = {
        .argv = launch->argv,
        .path = launch->qemu,
        .env = launch->env,
        .fixed_addresses = true, /* of QEMU's mappings, so of the guest's */
    };
    const struct session_options *const o = run->options;
    struct child_signals signals;
    struct child child;

    if (o->signals == NULL)
        child_signals_hold(&signals);
    int error =
        child_start(&child, o->signals ? o->signals : &signals, &program, log);
    if (error == 0) {
        child.take = take_signal;
        child.user = run;
        error = count_software(run, &child, result);
        if (error != 0)
            tally_fail(log, error, "no memory for software events");
        child_finish(&child);
    }
    if (error == 0 && child.exec_error != 0)
        error = tally_fail(log, TALLY_ESYSTEM, "cannot run %s: %s",
                           launch->qemu, strerror(child.exec_error));
    if (error == 0 && child.lost)
        error = tally_fail(log, TALLY_ESYSTEM,
                           "the status of %s was taken by another wait() of "
                           "this process",
                           launch->qemu);
    if (o->signals == NULL)
        child_signals_free(&signals);
    result->status = child.status;
    result->interrupted = child.interrupted;
    result->user_s = child.user_s;
    result->sys_s = child.sys_s;
    result->wall_s = now_s() - run->started;
    return error;
}

int
session_run(const struct session_options *o, const struct program *program,
            const struct tally_log *log, struct session_result *result)
{
    struct session_request request;
    struct session_header *header = NULL;
    struct launch launch = {0};
    char place[SESSION_PLACE];
    int fd = -1;

    int error = make_request(o, program, log, &request);
    if (error == 0)
        error = session_create(&request, log, &fd, &header);
    if (error != 0)
        return error;
    error = session_place(fd, place, sizeof(place));
    if (error == 0)
        error =
            launch_build(&o->launch, program, &request, place, log, &launch);
    if (error == 0) {
        struct running run = {o, header, fd, now_s(), now_s()};
        memset(result, 0, sizeof(*result));
        result->parts = request.parts;
        session_note_rights(header, program->path);
        error = start_and_wait(&launch, &run, log, result);
    }
    if (error == 0) {
        error = collect(o, fd, header, result);
        if (error == TALLY_ENOMEM || error == TALLY_ESYSTEM)
            tally_fail(log, error, "cannot collect the counts: %s",
                       error == TALLY_ENOMEM ? "no memory" : strerror(errno));
        find_illegal(fd, atomic_load(&header->regions), result);
    }
    launch_finish(&launch);
    session_destroy(fd, header);
    return error;
}

bool
session_side_by_side(const struct session_result *result)
{
    return result->together > 1 || result->beside > 0;
}

void
session_result_finish(struct session_result *result)
{
    free(result->processes);
    free(result->threads);
    free(result->snapshots);
    free(result->intervals);
    free(result->captures);
    free(result->software);
    memset(result, 0, sizeof(*result));
}
