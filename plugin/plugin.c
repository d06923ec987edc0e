/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/plugin.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "machine/pages.h"
#include "machine/shape.h"
#include "machine/strand.h"
#include "plugin/beside.h"
#include "plugin/births.h"
#include "plugin/calls.h"
#include "plugin/ear.h"
#include "plugin/early.h"
#include "plugin/exec.h"
#include "plugin/gateway.h"
#include "plugin/gateway_answer.h"
#include "plugin/gateway_read.h"
#include "plugin/guest_pmu.h"
#include "plugin/mapped.h"
#include "plugin/own_counts.h"
#include "plugin/qemu.h"
#include "plugin/vcounter_processes.h"
#include "plugin/random.h"
#include "plugin/reach.h"
#include "plugin/recording.h"
#include "plugin/replay.h"
#include "plugin/span.h"
#include "plugin/tracer_calls.h"
#include "plugin/translate.h"
#include "plugin/watch.h"
#include "table/signals.h"

QEMU_PLUGIN_EXPORT int
qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
                    char **argv);

/* Counting ends when QEMU gives a thread this number. The numbers after it are
 * of threads that begin until QEMU has forgotten all that was translated to
 * count. */
#ifndef VCPUS_COUNTED
#define VCPUS_COUNTED (COUNTS_VCPUS - COUNTS_VCPUS / 16)
#endif

struct plugin tally_plugin;
struct tracer_calls tally_tracer_calls;

/* The guest thread that runs on this host thread, as of its last system call.
 */
static __thread struct caller {
    unsigned vcpu;
    uint64_t args[6]; /* of the call */
    struct random_stream random;
    struct beside_signals signals;
    struct exec_leaving leaving;
    bool calls;       /* the call has not returned */
    bool waits_child; /* the call waits for a child */
    bool forks;       /* the call has tried to make a child */
    bool asks_number; /* the call before was getpid() */
} caller;

static bool
starts_outside(const struct plugin *p)
{
    const struct session_request *r = &p->request;

    return p->span == SPAN_SKIP ||
           (p->span == SPAN_FROM_TO && r->from != NO_LINE);
}

static struct strand *
strand_memory(unsigned vcpu)
{
    void *memory;

    if (vcpu == 0)
        return &tally_plugin.first;
    return posix_memalign(&memory, 64, sizeof(struct strand)) == 0 ? memory
                                                                   : NULL;
}

static void
free_strand(unsigned vcpu)
{
    if (vcpu != 0)
        free(tally_plugin.strands[vcpu]);
    tally_plugin.strands[vcpu] = NULL;
}

/* Chooses the variant of the callbacks, and how blocks are entered. */
static void
choose_callbacks(struct plugin *p)
{
    static const struct callbacks *const variants[VARIANTS] = {
        &callbacks_0,
        &callbacks_1,
        &callbacks_2,
        &callbacks_3,
        &callbacks_4,
        &callbacks_5,
        &callbacks_6,
        &callbacks_7,
        [VARIANT_RECORD] = &callbacks_8,
        [VARIANT_RECORD | VARIANT_MANY] = &callbacks_9,
        [VARIANT_RECORD | VARIANT_RAW | VARIANT_ALIGN] = &callbacks_14,
        [VARIANT_RECORD | VARIANT_RAW | VARIANT_ALIGN | VARIANT_MANY] =
            &callbacks_15,
        [VARIANT_CALLERS | VARIANT_RECORD] = &callbacks_24,
        [VARIANT_CALLERS | VARIANT_RECORD | VARIANT_MANY] = &callbacks_25,
        [VARIANT_CALLERS | VARIANT_RECORD | VARIANT_RAW | VARIANT_ALIGN] =
            &callbacks_30,
        [VARIANT_CALLERS | VARIANT_RECORD | VARIANT_RAW | VARIANT_ALIGN |
            VARIANT_MANY] = &callbacks_31,
        [VARIANT_CURVE] = &callbacks_32,
        [VARIANT_CURVE | VARIANT_MANY] = &callbacks_33,
        [VARIANT_CURVE | VARIANT_RECORD] = &callbacks_40,
        [VARIANT_CURVE | VARIANT_RECORD | VARIANT_MANY] = &callbacks_41,
        [VARIANT_CURVE | VARIANT_RECORD | VARIANT_CALLERS] = &callbacks_56,
        [VARIANT_CURVE | VARIANT_RECORD | VARIANT_CALLERS | VARIANT_MANY] =
            &callbacks_57,
    };
    const struct session_request *r = &p->request;
    unsigned variant = 0;

    /* Either machine of --mpi may run the first thread. */
    if (p->threaded || p->mpi.runs)
        variant |= VARIANT_MANY;
    if (p->chip.curve != NULL && r->curve.level < CURVE_L2)
        variant |= VARIANT_CURVE;
    if (p->components & COMPONENT_RAW)
        variant |= VARIANT_RAW;
    if (p->components & COMPONENT_ALIGN)
        variant |= VARIANT_ALIGN;
    if (r->records != RECORDS_NOTHING &&
        (variant & (VARIANT_RAW | VARIANT_ALIGN)) != 0)
        variant |= VARIANT_RAW | VARIANT_ALIGN;
    if (r->records != RECORDS_NOTHING)
        variant |= VARIANT_RECORD;
    if (r->records == RECORDS_CALLERS)
        variant |= VARIANT_CALLERS;
    p->callbacks = variants[variant];
    p->all_rare = p->span == SPAN_SKIP ||
                  (p->span != SPAN_ALL && p->threaded) || r->range_count > 0 ||
                  p->data_filter || p->ear_runs || p->point.runs ||
                  p->steps.runs;
    /* QEMU's inline addition is not atomic and knows no span; and whether a
     * slot in the branch's block was annulled tells the block that runs next.
     */
    p->inline_counts = qemu_can_add() && !p->threaded && p->work == 0 &&
                       p->shape.isa->slots != SLOTS_WITHIN &&
                       (p->components & COMPONENT_L1D) == 0 &&
                       p->span == SPAN_ALL && r->records != RECORDS_CALLERS &&
                       p->span_open && r->slices <= 1 && !p->all_rare;
}

static uint64_t
count_cycles(unsigned vcpu)
{
    return gateway_event_count(vcpu, tally_plugin.cycles);
}

/* Has the cycles of threads counted, by which their turns end. */
static void
begin_turn_clock(struct plugin *p)
{
    const struct event_row *const cycles = event_of_cycles(gateway_machine());

    if (cycles == NULL || !gateway_learn_before(cycles))
        plugin_no_memory(p->process.head, "the clock of turns");
    p->cycles = cycles;
    p->turn_clock = count_cycles;
    for (unsigned i = 0; i < p->chip.slots_used; i++)
        if (p->strands[i] != NULL && p->gateway.lives[i] != NULL)
            p->strands[i]->look.cycles = count_cycles(i);
}

/* Notes the maker of a new thread, and the cycle of the maker's clock at which
 * the thread begins. The maker made a system call, at which its queue was
 * drained. */
static void
note_birth(struct plugin *p, struct counts_strand *counts, unsigned maker)
{
    const struct session_request *r = &p->request;
    struct totals sum;

    counts->maker = p->counts[maker]->thread;
    counts_sum_all(&p->process, p->counts[maker], &sum);
    signals_derive(r->params, r->components, sum.signal);
    counts->born = p->counts[maker]->born + sum.signal[SIGNAL_CYCLES];
}

/* Returns whether one thread runs at a time: by the schedule, or as the trace
 * that is replayed has it. */
static bool
takes_turns(const struct plugin *p)
{
    return p->schedule.quantum != 0 || p->replays;
}

static void
on_vcpu_init(qemu_plugin_id_t id, unsigned vcpu)
{
    struct plugin *p = &tally_plugin;

    (void)id;
    if (vcpu >= COUNTS_VCPUS) {
        fprintf(stderr, "tally: no room for guest thread number %u\n", vcpu);
        abort();
    }
    const unsigned maker = vcpu == 0 ? 0 : births_begin(caller.vcpu);
    pthread_mutex_lock(&p->lock);
    p->cut |= vcpu >= VCPUS_COUNTED;
    struct counts_strand *counts = own_counts_map_counts(p, vcpu);
    struct strand *s = strand_memory(vcpu);
    if (counts == NULL || s == NULL ||
        strand_start(&p->chip, vcpu, counts, s) != 0)
        plugin_no_memory(p->process.head, "a guest thread");
    if (session_takes_turns(&p->request))
        s->interval.length = p->request.slice_length;
    const unsigned thread = p->thread_count++;
    counts->thread = counts->maker = counts == p->spare ? NO_THREAD : thread;
    counts->born = 0;
    memset(&counts->folded, 0, sizeof(counts->folded));
    if ((p->components & COMPONENT_TIME) && p->counts[maker] != NULL)
        note_birth(p, counts, maker);
    atomic_store(&counts->live, 1);
    p->counts[vcpu] = counts;
    tally_plugin.strands[vcpu] = s;
    mpi_thread_starts(p, vcpu, maker);
    recording_thread_starts(p, vcpu);
    gateway_thread_starts(vcpu, p->counts[maker]->thread);
    ear_thread_starts(vcpu);
    /* QEMU translates everything again for a second thread. */
    if (vcpu != 0 && !p->threaded) {
        p->threaded = true;
        p->work |= takes_turns(p) ? WORK_CLOCK : 0u;
        if (p->schedule.quantum != 0 && p->request.by_cycles)
            begin_turn_clock(p);
        choose_callbacks(p);
    }
    if (!p->span_open)
        strand_switch_span(s, false);
    raise_to(&p->process.head->together, ++p->living);
    if (p->schedule.quantum != 0 &&
        !schedule_thread_starts(&p->schedule, vcpu, maker))
        plugin_no_memory(p->process.head, "a guest thread");
    if (vcpu != 0 && tally_tracer_calls.starts != NULL)
        tally_tracer_calls.starts(vcpu, p->schedule.quantum != 0);
    pthread_mutex_unlock(&p->lock);
    births_end();
}

static void
end_thread(struct plugin *p, unsigned vcpu)
{
    waits_thread_ends(p, vcpu);
    mpi_thread_ends(p, vcpu);
    strand_end(tally_plugin.strands[vcpu], vcpu);
    guest_pmu_thread_ends(vcpu);
    watch_stop(vcpu);
    gateway_thread_ends(vcpu);
    ear_thread_ends(vcpu);
    free_strand(vcpu);
    recording_fold(p, vcpu);
    recording_thread_ends(p, vcpu);
    own_counts_end_counts(p, vcpu);
    p->living--;
}

static void
on_vcpu_exit(qemu_plugin_id_t id, unsigned vcpu)
{
    struct plugin *p = &tally_plugin;

    (void)id;
    if (tally_tracer_calls.ends != NULL)
        tally_tracer_calls.ends(vcpu);
    pthread_mutex_lock(&p->lock);
    if (vcpu < COUNTS_VCPUS && tally_plugin.strands[vcpu] != NULL)
        end_thread(p, vcpu);
    pthread_mutex_unlock(&p->lock);
    schedule_thread_ends(&p->schedule, vcpu);
}

static void
drain_all(struct plugin *p)
{
    for (unsigned i = 0; i < p->chip.slots_used; i++) {
        if (tally_plugin.strands[i] != NULL)
            strand_rest(tally_plugin.strands[i]);
        ear_thread_ends(i);
    }
    mpi_rest(p);
}

/* Writes what a build with gcov counted: QEMU ends without atexit(3). */
static void
write_coverage(void)
{
#ifdef TALLY_COVERAGE
    extern void __gcov_dump(void);

    __gcov_dump();
#endif
}

/* Replaces the counts of each block by sums, as the process ends by a call.
 * Under QEMU 10.0 a process that a signal ends comes here, too: its counts
 * stay as they are, so that nobody takes them for those of a process that has
 * ended by itself. */
static void
on_exit_process(qemu_plugin_id_t id, void *data)
{
    struct plugin *p = &tally_plugin;

    (void)id;
    (void)data;
    if (!caller.calls && !p->over)
        return;
    pthread_mutex_lock(&p->lock);
    drain_all(p);
    beside_ends(&p->beside);
    vcounter_end();
    /* A copy of the counts takes the memory of the blocks. Another thread may
     * run on until QEMU ends. */
    if (!p->threaded)
        blocks_release(&p->table);
    for (unsigned i = 0; i < p->chip.slots_used; i++) {
        if (p->counts[i] != NULL && p->counts[i] != p->spare) {
            recording_fold(p, i);
            counts_fold(&p->process, p->counts[i]);
        }
    }
    counts_end(&p->process);
    own_counts_open(p);
    recording_ends(p);
    counts_release(&p->process, atomic_load(&p->process.head->strands));
    own_counts_close(p);
    pthread_mutex_unlock(&p->lock);
    write_coverage();
}

/* Detaches the child of a process whose counting has ended: the child counts
 * for nobody. */
static void
fork_uncounted(struct plugin *p)
{
    session_note_uncounted(p->session,
                           "a child forked after counting had ended");
    for (unsigned i = 0; i < p->chip.slots_used; i++) {
        if (p->counts[i] != NULL)
            own_counts_free_counts(p, i);
    }
    recording_stops(p);
    if (counts_detach(&p->process, NULL) != 0)
        abort();
}

static void
begin_child(void)
{
    struct plugin *p = &tally_plugin;
    const unsigned slot = caller.vcpu;
    char program[COUNTS_NAME];

    pthread_mutex_init(&p->lock, NULL);
    births_after_fork();
    if (tally_plugin.strands[slot] == NULL)
        return;
    if (p->over) {
        fork_uncounted(p);
        return;
    }
    for (unsigned i = 0; i < p->chip.slots_used; i++) {
        if (i != slot)
            own_counts_free_counts(p, i);
    }
    p->thread_count = p->living = 1;
    const int parent = p->process.head->pid;
    const unsigned together = atomic_load(&p->process.head->together);
    const unsigned outside = atomic_load(&p->process.head->outside_wakes);
    const unsigned asked = atomic_load(&p->process.head->asked);
    if (own_counts_adopt(p, slot, program))
        recording_forks(p, slot);
    else
        recording_stops(p);
    vcounter_forked();
    own_counts_name(p, program, BEGIN_FORK, parent);
    raise_to(&p->process.head->together, together);
    p->process.head->quantum = p->schedule.quantum;
    atomic_store(&p->process.head->outside_wakes, outside);
    atomic_store(&p->process.head->asked, asked);
    p->counts[slot]->strand = tally_plugin.strands[slot]->number;
    p->counts[slot]->thread = p->counts[slot]->maker = 0;
    p->counts[slot]->born = 0;
    memset(&p->counts[slot]->folded, 0, sizeof(struct totals));
    atomic_store(&p->counts[slot]->live, 1);
    random_forks(&p->random, &caller.random);
    beside_is_child(&p->beside);
    for (unsigned i = 0; i < p->chip.slots_used; i++)
        watch_stop(i);
    guest_pmu_forget();
    gateway_forks(slot);
    point_forks(p);
    steps_forks(p);
    ear_forks(slot);
    schedule_forks(&p->schedule, slot);
    chip_after_fork(&p->chip, slot);
    mpi_forks(p, slot);
    for (unsigned i = 0; i < p->chip.slots_used; i++) {
        if (i != slot && tally_plugin.strands[i] != NULL)
            free_strand(i);
    }
}

static void
on_fork_child(void)
{
    huge_pages_after_fork(&tally_plugin.huge_pages);
    begin_child();
    atomic_fetch_sub(&tally_plugin.session->forks, 1);
}

/* Takes the locks that another thread may hold: the child of a fork would never
 * get them. The child is waited for before counts are collected: its parent may
 * have ended by then. */
static void
on_fork_before(void)
{
    atomic_fetch_add(&tally_plugin.session->forks, 1);
    schedule_before_fork(&tally_plugin.schedule);
    waits_before_fork(&tally_plugin, caller.vcpu);
    pthread_mutex_lock(&tally_plugin.lock);
    data_objects_lock(&tally_plugin.recording.objects);
    random_before_fork(&tally_plugin.random);
    huge_pages_before_fork(&tally_plugin.huge_pages);
}

static void
on_fork_parent(void)
{
    caller.forks = true;
    beside_forks(&tally_plugin.beside);
    huge_pages_after_fork(&tally_plugin.huge_pages);
    data_objects_unlock(&tally_plugin.recording.objects);
    pthread_mutex_unlock(&tally_plugin.lock);
    schedule_after_fork(&tally_plugin.schedule);
}

/* Ends counting, once, where QEMU runs out of thread numbers. The counts of all
 * threads until now are the process's. */
static void
cut_if_asked(struct plugin *p)
{
    if (!p->cut)
        return;
    pthread_mutex_lock(&p->lock);
    const bool now = atomic_load(&p->process.head->cut) == 0;
    if (now)
        atomic_store(&p->process.head->cut, 1);
    pthread_mutex_unlock(&p->lock);
    if (now)
        tally_plugin.translate_again();
}

/* Has the instructions of a single thread counted from the first call on that
 * asks for the time. With several threads they always are. */
static void
count_for_clock(struct plugin *p, int64_t number)
{
    if (p->clocked || p->schedule.quantum == 0 ||
        !virtual_time_is_read(p->shape.isa, number))
        return;
    p->clocked = true;
    if (!p->threaded)
        tally_plugin.translate_again();
}

/* Keeps a way to the session's file before a call that may close it, and looks
 * after the call whether it did. */
static void
keep_reach(struct plugin *p, int64_t number, void (*keep)(struct reach *))
{
    if (!call_changes_rights(p->shape.isa, number))
        return;
    pthread_mutex_lock(&p->lock);
    keep(&p->reach);
    pthread_mutex_unlock(&p->lock);
}

static uint64_t
key_of_next(const struct plugin *p)
{
    return random_executes(&p->random, &caller.random);
}

/* A thread makes a call. Where it had asked for the process number before, that
 * counts as asked, unless the thread sends a signal by it to a thread of its
 * own process: the C library does so in pthread_kill() and raise(), and nothing
 * depends on the number. */
static void
note_number_asked(struct plugin *p, int64_t num, const uint64_t *args)
{
    bool thread;

    if (caller.asks_number &&
        !(call_signals_own(p->shape.isa, num, args, &thread) && thread))
        atomic_fetch_or(&p->process.head->asked, ASKED_NUMBER);
    caller.asks_number = false;
}

static void
on_syscall(qemu_plugin_id_t id, unsigned vcpu, int64_t num, uint64_t a1,
           uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6,
           uint64_t a7, uint64_t a8)
{
    struct plugin *p = &tally_plugin;
    const uint64_t args[] = {a1, a2, a3, a4, a5, a6, a7, a8};

    (void)id;
    if (tally_tracer_calls.calls != NULL)
        tally_tracer_calls.calls(vcpu, num, args);
    caller.vcpu = vcpu;
    caller.calls = true;
    memcpy(caller.args, args, sizeof(caller.args));
    note_number_asked(p, num, args);
    /* A death by signal then loses next to nothing. */
    if (p->strands[vcpu] != NULL) {
        strand_drain(p->strands[vcpu]);
        if (p->schedule.threaded)
            plugin_note_passed(p->strands[vcpu]);
    }
    if (num == GATEWAY_CALL && a1 == GATEWAY_ALLOCATION) {
        recording_allocation(p, vcpu, args + 1);
        return;
    }
    if (p->strands[vcpu] != NULL) {
        call_count(p->strands[vcpu], p->shape.isa, num);
        strand_charge(p->strands[vcpu], RECORD_LAST);
        steps_call(p, vcpu);
        p->strands[vcpu]->counts->suspect = 0; /* it went on */
    }
    recording_syscall(p, vcpu, num, args);
    cut_if_asked(p);
    if (call_is(CALL_EXECVE, p->shape.isa, num))
        plugin_execve(a1, a2, a3, key_of_next(p), &caller.leaving);
    else if (call_is(CALL_EXECVEAT, p->shape.isa, num))
        plugin_execveat(args, key_of_next(p), &caller.leaving);
    keep_reach(p, num, reach_before_loss);
    beside_syscall(&p->beside, num, args);
    p->schedule.handles = p->beside.handles;
    if (early_syscall(&p->early, num, args))
        tally_plugin.translate_again();
    vcounter_syscall(num, args, &caller.waits_child);
    gateway_syscall(vcpu, num, a1, a2);
    count_for_clock(p, num);
    births_call(p->shape.isa, num, args);
    if (schedule_call(&p->schedule, vcpu, num, args))
        atomic_fetch_add(&p->process.head->outside_wakes, 1);
}

/* Notes what the call, which has returned, asked of the system. */
static void
note_asked(struct plugin *p, int64_t num, int64_t result)
{
    const unsigned asked = call_asks(p->shape.isa, num, caller.args[0], result);

    caller.asks_number = call_is(CALL_GETPID, p->shape.isa, num);
    if (asked != 0 && !caller.asks_number)
        atomic_fetch_or(&p->process.head->asked, asked);
}

static void
on_syscall_return(qemu_plugin_id_t id, unsigned vcpu, int64_t num,
                  int64_t result)
{
    struct plugin *p = &tally_plugin;
    const struct counts_strand *counts = p->counts[vcpu];

    (void)id;
    caller.calls = false;
    note_asked(p, num, result);
    births_return(vcpu, result);
    if (schedule_return(&p->schedule, vcpu, num, &result))
        atomic_fetch_add(&p->process.head->outside_wakes, 1);
    if (tally_tracer_calls.returns != NULL)
        tally_tracer_calls.returns(vcpu, num, result);
    if (caller.forks && result < 0)
        atomic_fetch_sub(&p->session->forks, 1); /* there is no child */
    caller.forks = false;
    cut_if_asked(p);
    plugin_execve_fails(&caller.leaving);
    keep_reach(p, num, reach_after_loss);
    random_return(&p->random, &caller.random, counts ? counts->thread : 0, num,
                  caller.args, result);
    beside_return(&p->beside, &caller.signals, num, caller.args, result);
    if (huge_pages_call(&p->huge_pages, p->shape.isa, num, caller.args,
                        result) != 0)
        plugin_no_memory(p->process.head, "the huge pages");
    if (call_changes_memory(p->shape.isa, num))
        mpi_memory_changes(p);
    if (p->strands[vcpu] != NULL)
        pages_follow_huge(p->strands[vcpu]);
    recording_syscall_return(p, vcpu, num, caller.args, result);
    early_return(&p->early, num, caller.args, result);
    vcounter_return(caller.waits_child);
}

static const char *
option(int argc, char **argv, const char *key)
{
    const size_t length = strlen(key);

    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], key, length) == 0 && argv[i][length] == '=')
            return argv[i] + length + 1;
    }
    return NULL;
}

static void
log_stderr(void *user, enum tally_level level, const char *text)
{
    (void)user;
    (void)level;
    escape_printf(stderr, "tally: %s\n", text);
}

static int
attach(struct plugin *p, int argc, char **argv, const struct tally_log *log)
{
    const char *previous = option(argc, argv, "previous");
    const int error = own_counts_attach(p, option(argc, argv, "session"),
                                        option(argc, argv, "inherited"),
                                        previous != NULL ? NULL : log);

    if (error != 0)
        return error;
    if (previous != NULL) {
        const char *open_then = option(argc, argv, "span");
        p->parent =
            own_counts_end_previous(p, (unsigned)strtoul(previous, NULL, 10));
        p->executed = true;
        p->span_open = open_then == NULL || strcmp(open_then, "0") != 0;
    }
    return 0;
}

/* Sets up the schedule of the threads, its clock and processors: they go on as
 * the program left them that executed this one. */
static void
set_up_schedule(struct plugin *p, int argc, char **argv)
{
    const struct session_request *r = &p->request;
    const char *const time = option(argc, argv, "time");
    const char *const processors = option(argc, argv, "processors");
    struct schedule *const s = &p->schedule;

    s->isa = s->time.isa = &isa_rows[r->isa];
    s->time.epoch = r->epoch;
    s->time.now = time != NULL ? strtoull(time, NULL, 10) : 0;
    s->processors.count = r->processors;
    s->processors.first = processors != NULL ? strtoull(processors, NULL, 16)
                                             : processors_all(&s->processors);
    s->quantum = schedule_possible() ? r->quantum : 0;
    p->replays = dlsym(RTLD_DEFAULT, MAPPED_REPLAYED) != NULL;
    p->process.head->quantum = p->replays ? r->quantum : s->quantum;
    /* QEMU's threads begin to allocate when the host lets them: an arena of 64
     * MB that a thread maps then would move what the program maps later. */
    if (s->quantum != 0)
        mallopt(M_ARENA_MAX, 1);
}

/* Begins the curve of misses that is asked for. Returns 0 or TALLY_ENOMEM. */
static int
begin_curve(struct plugin *p)
{
    curve_finish(&p->curve);
    if (p->request.curve.kind == CURVE_NONE)
        return 0;
    p->chip.curve = &p->curve;
    return curve_init(&p->curve, &p->chip, &p->request.curve,
                      &p->session->curve);
}

/* Sets up the model with these components. */
static int
set_up_parts(struct plugin *p, uint64_t components)
{
    const struct session_request *r = &p->request;
    const bool fetch = (components & (COMPONENT_L1I | COMPONENT_ITLB)) != 0;
    const int error = chip_init(&p->chip, r->params, components, COUNTS_VCPUS);

    if (error != 0 || begin_curve(p) != 0)
        return error != 0 ? error : TALLY_ENOMEM;
    if (mpi_set_up(p, components) != 0)
        return TALLY_ENOMEM;
    p->chip.one_at_a_time = takes_turns(p);
    p->chip.huge = p->huge_pages.mappings.huge;
    p->components = components;
    p->process.head->components = components;
    p->work = work_of(components);
    p->work |=
        r->interval > 0 || session_takes_turns(r) || r->phases.length != 0
            ? WORK_CLOCK
            : 0u;
    p->shape.l1i_line = fetch ? r->params[PARAM_L1I_LINE] : 0;
    if (point_begin(p, !p->executed || p->parent == 0) != 0)
        return TALLY_ENOMEM;
    if (steps_begin(p, !p->executed || p->parent == 0) != 0)
        return TALLY_ENOMEM;
    choose_callbacks(p);
    return recording_model(p);
}

/* What the thread asked for reaches the caches before another thread runs, so
 * that threads that take turns meet in the caches in the order of the turns. */
static void
on_turn_end(unsigned vcpu)
{
    struct strand *const strand = tally_plugin.strands[vcpu];

    if (strand != NULL && strand->queue.next != strand->queue.entries)
        strand_drain(strand);
}

static void
on_turn_begin(unsigned vcpu)
{
    struct strand *const strand = tally_plugin.strands[vcpu];

    if (strand != NULL)
        strand_begins_turn(strand);
}

/* What is kept of a thread by its host thread, which all threads of a replay
 * share, is put by while another runs. */
void
tally_replay_turn(unsigned vcpu)
{
    static struct caller *kept; /* by thread */
    static unsigned count;
    static unsigned running;
    const unsigned most = vcpu > running ? vcpu : running;

    if (most >= count) {
        struct caller *const more =
            reallocarray(kept, 2 * (size_t)most + 16, sizeof(*kept));
        if (more == NULL)
            plugin_no_memory(tally_plugin.process.head, "a guest thread");
        memset(more + count, 0,
               (2 * (size_t)most + 16 - count) * sizeof(*kept));
        kept = more;
        count = 2 * most + 16;
    }
    on_turn_end(running);
    /* A thread that begins later may have the number of one that has ended. */
    kept[running] =
        tally_plugin.strands[running] != NULL ? caller : (struct caller){0};
    caller = kept[vcpu];
    running = vcpu;
    on_turn_begin(vcpu);
}

/* So many threads wait for each other, and none can go on; 0: one has. */
static void
on_stuck(unsigned threads)
{
    atomic_store(&tally_plugin.process.head->stuck, threads);
}

static int
set_up(struct plugin *p)
{
    const struct session_request *r = &p->request;

    /* The span is the first program's. A program that the first executes is
     * counted whole if the span is open then, and not at all otherwise. */
    p->span = p->executed ? SPAN_ALL : (enum span_mode)r->span;
    if (!p->executed)
        p->span_open = !starts_outside(p);
    else if (r->range_count > 0)
        p->span_open = false; /* the ranges are of the first program */
    p->shape = shape_of(&isa_rows[r->isa], r->params);
    p->schedule.turn_ends = on_turn_end;
    p->schedule.turn_begins = on_turn_begin;
    p->schedule.stuck_changes = on_stuck;
    if (p->span == SPAN_FROM_TO) {
        p->shape.from = r->from;
        p->shape.to = r->to;
    }
    memcpy(p->shape.ranges, r->ranges, sizeof(p->shape.ranges));
    p->shape.range_count = r->range_count;
    p->data_filter = r->data_count > 0;
    p->ear_runs = capture_wanted(&r->capture);
    if (!p->executed) {
        memcpy(p->data_ranges, r->data_ranges, sizeof(p->data_ranges));
        p->data_count = r->data_count;
    }
    recording_begin(p);
    if (huge_pages_begin(&p->huge_pages, r->params) != 0)
        return TALLY_ENOMEM;
    return set_up_parts(p, r->components);
}

/* Starts the strand of the only thread anew on another model, with what the
 * strand has of its span, interval and repeats. */
static void
restart_strand(struct plugin *p, struct strand *s)
{
    const struct strand old = *s;

    if (strand_start(&p->chip, 0, p->counts[0], s) != 0)
        plugin_no_memory(p->process.head, "the model");
    s->repeats = old.repeats;
    s->span.instructions = old.span.instructions;
    s->interval.passed = old.interval.passed;
    s->interval.length = old.interval.length;
    s->interval.clock = old.interval.clock;
    s->interval.boundary = old.interval.boundary;
    s->span.slice = old.span.slice;
    strand_switch_span(s, !old.span.outside);
    recording_thread_starts(p, 0);
}

/* Sets up a model with other components and empty caches for the first thread,
 * which is the only one. Nothing may be translated. */
static void
set_parts(struct plugin *p, uint64_t components)
{
    /* A curve is of one level, and its model can run no other. */
    if (p->request.curve.kind != CURVE_NONE)
        return;
    mpi_before_restart(p);
    strand_end(tally_plugin.strands[0], 0);
    chip_finish(&p->chip);
    if (set_up_parts(p, components) != 0)
        plugin_no_memory(p->process.head, "the model");
    restart_strand(p, tally_plugin.strands[0]);
    mpi_after_restart(p);
    blocks_forget(&p->table);
}

/* Adds to all addresses of the request what QEMU added to those of a
 * position-independent program. */
static void
apply_bias(struct plugin *p)
{
    const struct session_request *r = &p->request;

    if (p->executed)
        return;
    p->load_bias = qemu_plugin_start_code() - r->code;
    if (p->shape.from != NO_LINE)
        p->shape.from += p->load_bias;
    if (p->shape.to != NO_LINE)
        p->shape.to += p->load_bias;
    for (uint32_t i = 0; i < p->shape.range_count; i++) {
        p->shape.ranges[i].first += p->load_bias;
        p->shape.ranges[i].last += p->load_bias;
    }
    for (unsigned i = 0; i < p->data_count; i++) {
        p->data_ranges[i].first += p->load_bias;
        p->data_ranges[i].last += p->load_bias;
    }
    p->process.head->load_bias = p->load_bias;
}

/* Takes in the memory that the program begins with, for huge pages. */
static void
take_program_memory(struct plugin *p)
{
    if (huge_pages_program(&p->huge_pages, p->program, qemu_plugin_start_code(),
                           p->executed ? NULL : &p->request))
        return;
    escape_printf(stderr,
                  "tally: warning: %s is not there as it ran: its data without "
                  "contents (.bss) counts as small pages\n",
                  p->program != NULL ? p->program : "the program's file");
}

static void
on_first_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    struct plugin *p = &tally_plugin;

    /* QEMU loads the program after the plugin. */
    if (!p->loaded) {
        p->loaded = true;
        apply_bias(p);
        plugin_note_program();
        take_program_memory(p);
        recording_program(p);
        point_program(p);
        mpi_program(p);
        steps_program(p);
    }
    plugin_translate(id, tb);
}

/* Follows execve once counting has ended. */
static void
on_syscall_cut(qemu_plugin_id_t id, unsigned vcpu, int64_t num, uint64_t a1,
               uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6,
               uint64_t a7, uint64_t a8)
{
    (void)id, (void)vcpu, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8;
    if (call_is(CALL_EXECVE, tally_plugin.shape.isa, num))
        plugin_execve(a1, a2, a3, key_of_next(&tally_plugin), &caller.leaving);
}

static void
listen_to(qemu_plugin_id_t id)
{
    if (tally_plugin.over) {
        qemu_plugin_register_vcpu_syscall_cb(id, on_syscall_cut);
        qemu_plugin_register_atexit_cb(id, on_exit_process, NULL);
        return;
    }
    qemu_plugin_register_vcpu_init_cb(id, on_vcpu_init);
    qemu_plugin_register_vcpu_exit_cb(id, on_vcpu_exit);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_first_translation);
    qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
    qemu_plugin_register_vcpu_syscall_ret_cb(id, on_syscall_return);
    qemu_plugin_register_atexit_cb(id, on_exit_process, NULL);
}

static void
on_reset(qemu_plugin_id_t id)
{
    tally_plugin.over = tally_plugin.cut;
    listen_to(id);
    if (tally_plugin.over) {
        births_stop();
        schedule_stop(&tally_plugin.schedule);
        return;
    }
    if (tally_plugin.gateway.memory != NULL &&
        tally_plugin.gateway.components != tally_plugin.components)
        set_parts(&tally_plugin, tally_plugin.gateway.components);
    gateway_retranslated();
}

static void
translate_again(void)
{
    qemu_plugin_reset(tally_plugin.id, on_reset);
}

/* Gives each part of the plugin pointers to the parts that it uses. The struct
 * has no initializer, which would write its 127 MB of zeros into the plugin's
 * file. */
static void
join_parts(struct plugin *p)
{
    pthread_mutex_init(&p->lock, NULL);
    pthread_mutex_init(&p->schedule.lock, NULL);
    p->translate_again = translate_again;
    p->table.process = &p->process;
    p->reach.place = p->session_place;
    p->reach.kept = -1;
    p->beside.request = &p->request;
    p->beside.process = &p->process;
    p->gateway.memory_changes = 1;
    p->early.lock = &p->lock;
    p->early.shape = &p->shape;
    p->early.process = &p->process;
    p->early.blocks = &p->table;
    p->early.strands = p->strands;
}

int
qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
                    char **argv)
{
    const struct tally_log log = {log_stderr, NULL};
    struct plugin *p = &tally_plugin;

    p->id = id;
    const char *const refused = qemu_begin(info);
    join_parts(p);
    if (refused != NULL) {
        tally_logf(&log, TALLY_LOG_ERROR, "%s", refused);
        return -1;
    }
    if (attach(p, argc, argv, &log) != 0) {
        own_counts_close(p);
        /* An executed child whose session is over runs uncounted. */
        return option(argc, argv, "previous") != NULL ? 0 : -1;
    }
    own_counts_close(p);
    if ((p->request.components & COMPONENT_OOO) &&
        isa_decoder(&isa_rows[p->request.isa])->operands == NULL) {
        tally_logf(&log, TALLY_LOG_ERROR,
                   "it is not known what instructions of %s wait for, as "
                   "time.model=ooo asks",
                   isa_rows[p->request.isa].name);
        return -1;
    }
    if (!mpi_begin(p)) {
        tally_logf(&log, TALLY_LOG_ERROR,
                   "this QEMU does not tell registers, by which --mpi knows "
                   "where MPI is left");
        return -1;
    }
    set_up_schedule(p, argc, argv);
    if (set_up(p) != 0) {
        tally_logf(&log, TALLY_LOG_ERROR, "out of memory for the model");
        return -1;
    }
    if (p->request.turns_asked && p->schedule.quantum == 0) {
        tally_logf(&log, TALLY_LOG_ERROR,
                   "this QEMU does not export async_run_on_cpu, without which "
                   "threads cannot take turns");
        return -1;
    }
    const char *name = option(argc, argv, "name");
    own_counts_name(p, name ? name : "?",
                    p->executed ? BEGIN_EXEC : BEGIN_FIRST, p->parent);
    if (p->executed)
        vcounter_after_exec();
    p->random.session = p->session;
    p->random.fixed = p->request.fixed_random;
    p->random.isa = p->beside.isa = p->shape.isa;
    random_begin(&p->random, option(argc, argv, "random"));
    pthread_atfork(on_fork_before, on_fork_parent, on_fork_child);
    listen_to(id);
    return 0;
}
