/* SPDX-License-Identifier: MIT */
/*
 * Virtual counters against their slow twin, in random steps: processes are
 * born, run, ask, wait and end on two and four CPUs, clocks tick, events occur,
 * counters interrupt at once or late, system mode comes and goes. After each
 * step the answers are the same, and the readings of those concerned; now and
 * then all readings are, and every occurrence that a counter took is somewhere,
 * once.
 *
 * Takes the number of steps, of all configurations together.
 */
#include <stdlib.h>
#include <string.h>

#include "ref/random.h"
#include "ref/virtual_machine.h"
#include "ref/virtual_ref.h"

#define STEPS_DEFAULT 2400000
#define SKID 40 /* occurrences that an interrupt may be late */

struct configuration {
    const char *name;
    unsigned cpus;
    bool any; /* every counter counts every event */
    enum machine_kind kind;
    uint64_t limit;      /* narrow */
    const char *machine; /* emulated */
    const struct virtual_pmu_ops *ops;
};

static const struct virtual_pmu_ops split_ops =
                                        MOCK_OPS(2, mock_split_places, 128),
                                    any_ops = MOCK_OPS(3, mock_any_places, 256);

static const struct configuration configurations[] = {
    {"2 CPUs, two counters", 2, false, MACHINE_NARROW, 128, NULL, &split_ops},
    {"4 CPUs, two counters", 4, false, MACHINE_NARROW, 128, NULL, &split_ops},
    {"2 CPUs, three counters that wrap", 2, true, MACHINE_NARROW, 256, NULL,
     &any_ops},
    {"4 CPUs, three counters that wrap", 4, true, MACHINE_NARROW, 256, NULL,
     &any_ops},
    {"2 CPUs, R10000", 2, false, MACHINE_MIPS, 0, "r10000",
     &virtual_r10000_ops},
    {"4 CPUs, R12000", 4, true, MACHINE_MIPS, 0, "r12000", &virtual_r12000_ops},
};
#define CONFIGURATIONS (sizeof(configurations) / sizeof(configurations[0]))

struct process {
    struct virtual_owner *owner; /* NULL: the slot is free */
    struct virtual_range range[2];
    unsigned used;
    uint16_t buckets[REF_BUCKETS];
};

struct pair {
    const struct configuration *how;
    uint64_t random, seed, steps, now;
    struct virtual_system system;
    struct virtual_cpu cpus[REF_CPUS];
    struct machine machine;
    struct process process[REF_PROCESSES];
    int parent[REF_PROCESSES]; /* -1: gone */
    unsigned late[REF_CPUS];
    struct ref ref;
    struct ref_told told[REF_TOLD];
    unsigned told_count;
};

static uint64_t
below(struct pair *p, uint64_t limit)
{
    return random_below(&p->random, limit);
}

static bool
differ(const struct pair *p, const char *what, long long core, long long twin)
{
    printf("# %s, step %" PRIu64 ": %s: %lld, the twin %lld\n", p->how->name,
           p->steps, what, core, twin);
    return false;
}

/* Below and above the core. */

static uint64_t
tell_time(void *kernel, unsigned cpu)
{
    (void)cpu;
    return ((struct pair *)kernel)->now;
}

static void
hear_signal(void *kernel, struct virtual_owner *owner, int signal,
            unsigned index)
{
    struct pair *const p = kernel;

    if (p->told_count < REF_TOLD)
        p->told[p->told_count++] = (struct ref_told){
            (int)((struct process *)owner->user - p->process), signal, index};
}

static const struct virtual_kernel_ops kernel_ops = {.time = tell_time,
                                                     .signal = hear_signal};

static void
set_mode(struct pair *p, unsigned cpu, unsigned mode)
{
    p->ref.cpu[cpu].mode = mode;
    machine_set_mode(&p->machine, cpu, mode);
}

static void
occurs(struct pair *p, unsigned cpu, unsigned index)
{
    ref_occurs(&p->ref, cpu, index);
    machine_occurs(&p->machine, cpu, index);
}

/* Comparing */

static bool
same_readings(const struct pair *p, const char *whose,
              const struct counter_reading *core,
              const struct counter_reading *twin)
{
    for (unsigned i = 0; i < VIRTUAL_EVENTS; i++) {
        if (core[i].value != twin[i].value)
            return differ(p, whose, (long long)core[i].value,
                          (long long)twin[i].value);
        if (core[i].enabled != twin[i].enabled ||
            core[i].running != twin[i].running)
            return differ(p, "times", (long long)core[i].running,
                          (long long)twin[i].running);
    }
    return true;
}

static bool
same_told(struct pair *p)
{
    const bool same =
        p->told_count == p->ref.told_count &&
        memcmp(p->told, p->ref.told, p->told_count * sizeof(p->told[0])) == 0;

    if (!same)
        return differ(p, "signals", p->told_count, p->ref.told_count);
    p->told_count = p->ref.told_count = 0;
    return true;
}

static bool
same_process(struct pair *p, int k)
{
    struct counter_reading core[VIRTUAL_EVENTS], twin[VIRTUAL_EVENTS];
    struct virtual_owner *const owner = p->process[k].owner;
    const int a = virtual_read(&p->system, owner, owner, core);
    const int b = ref_read(&p->ref, k, k, twin);

    if (a != b)
        return differ(p, "generation", a, b);
    if (memcmp(p->process[k].buckets, p->ref.process[k].buckets,
               sizeof(p->process[k].buckets)) != 0)
        return differ(p, "buckets of process", k, k);
    return same_readings(p, "counts", core, twin);
}

static bool
same_system(struct pair *p)
{
    struct counter_reading core[VIRTUAL_EVENTS], twin[VIRTUAL_EVENTS];
    int a = virtual_system_read(&p->system, core);
    int b = ref_system_read(&p->ref, twin);

    if (a != b || !same_readings(p, "global counts", core, twin))
        return differ(p, "generation of the system", a, b);
    for (unsigned cpu = 0; cpu <= p->how->cpus; cpu++) {
        a = virtual_system_read_cpu(&p->system, cpu, core);
        b = ref_system_read_cpu(&p->ref, cpu, twin);
        if (a != b ||
            (a != 0 && !same_readings(p, "a CPU's counts", core, twin)))
            return differ(p, "answer of a CPU", a, b);
    }
    return true;
}

/* And nothing is counted twice, nothing lost. */
static bool
same_all(struct pair *p)
{
    for (int k = 0; k < REF_PROCESSES; k++) {
        if (p->process[k].owner != NULL && !same_process(p, k))
            return false;
    }
    const uint64_t known = ref_kept(&p->ref) + p->ref.dropped;
    if (p->how->kind == MACHINE_NARROW && p->machine.mock.taken != known)
        return differ(p, "occurrences", (long long)p->machine.mock.taken,
                      (long long)known);
    return same_system(p);
}

static bool
same_answer(const struct pair *p, const char *what, int core, int twin)
{
    return core == twin || differ(p, what, core, twin);
}

/* Drawing */

static int
some_process(struct pair *p)
{
    const int first = (int)below(p, REF_PROCESSES);

    for (int k = 0; k < REF_PROCESSES; k++) {
        const int slot = (first + k) % REF_PROCESSES;
        if (p->process[slot].owner != NULL)
            return slot;
    }
    abort(); /* process 0 does not end */
}

static int
free_slot(const struct pair *p)
{
    for (int k = 0; k < REF_PROCESSES; k++) {
        if (p->process[k].owner == NULL)
            return k;
    }
    return -1;
}

static unsigned
some_modes(struct pair *p)
{
    if (below(p, 8) != 0)
        return VIRTUAL_USER;
    return (unsigned)below(p, 16);
}

static void
draw_request(struct pair *p, struct virtual_request *q)
{
    const uint64_t events = below(p, 7);
    const bool kernel = below(p, 4) == 0;

    memset(q, 0, sizeof(*q));
    for (uint64_t k = 0; k < events; k++) {
        const unsigned i = (unsigned)below(p, VIRTUAL_EVENTS);
        const unsigned event = p->how->any ? i : i % 16;
        q->spec[i] = (uint16_t)(event << 5 | below(p, 2) << 4 | some_modes(p) |
                                (kernel ? VIRTUAL_KERNEL : 0));
        if (below(p, 3) == 0)
            q->threshold[i] = 1 + (int)below(p, below(p, 8) == 0 ? 400 : 30);
    }
    if (below(p, 2) == 0)
        q->signal = 1 + (int)below(p, 32);
    if (below(p, 16) == 0) {
        const unsigned i = (unsigned)below(p, VIRTUAL_EVENTS);
        q->threshold[i] = -(int)below(p, 2);
        q->spec[i] = (uint16_t)below(p, UINT16_MAX);
        q->signal = (int)below(p, 36) - 2;
    }
}

/* An event that counts there, most of the time. */
static unsigned
some_index(struct pair *p, unsigned cpu)
{
    const struct virtual_cpu *const c = &p->cpus[cpu];

    if (c->block == NULL || below(p, 6) == 0)
        return (unsigned)below(p, VIRTUAL_EVENTS);
    return c->block->turn[below(p, p->system.ops->counters)];
}

/* Steps */

static bool
service(struct pair *p, unsigned cpu)
{
    const uint64_t pc = 0x1000 + below(p, 24);

    virtual_overflow(&p->system, cpu, pc);
    ref_service(&p->ref, cpu, pc);
    p->late[cpu] = 0;
    if (machine_pending(&p->machine, cpu))
        return differ(p, "an interrupt that was served", 1, 0);
    return same_told(p);
}

static bool
burst(struct pair *p)
{
    const unsigned cpu = (unsigned)below(p, p->how->cpus);
    const unsigned index = some_index(p, cpu);

    for (uint64_t n = below(p, 24); n > 0; n--) {
        occurs(p, cpu, index);
        const bool pending = machine_pending(&p->machine, cpu);
        if (!pending && ref_due(&p->ref, cpu))
            return differ(p, "interrupts", 0, 1);
        if (!pending)
            continue;
        if ((below(p, 3) == 0 || ++p->late[cpu] > SKID) && !service(p, cpu))
            return false;
    }
    return true;
}

static bool
tick(struct pair *p)
{
    const unsigned cpu = (unsigned)below(p, p->how->cpus);
    const uint64_t pc = 0x1000 + below(p, 24);

    virtual_tick(&p->system, cpu, pc);
    ref_tick(&p->ref, cpu, pc);
    return true;
}

static bool
change_process(struct pair *p)
{
    const unsigned cpu = (unsigned)below(p, p->how->cpus);
    const int k = below(p, 6) == 0 ? -1 : some_process(p);
    struct virtual_owner *const owner = k >= 0 ? p->process[k].owner : NULL;
    const int there = k >= 0 ? p->ref.process[k].cpu : -1;
    const bool elsewhere = there >= 0 && there != (int)cpu;
    const uint64_t pc = 0x1000 + below(p, 24);
    const int answer = virtual_switch(&p->system, cpu, owner, pc);

    if (!elsewhere)
        ref_switch(&p->ref, cpu, k, pc);
    p->late[cpu] = 0;
    return same_answer(p, "switching", answer, elsewhere ? VIRTUAL_EINVAL : 0);
}

static bool
pass_time(struct pair *p)
{
    for (uint64_t n = below(p, 12); n > 0; n--) {
        p->now++;
        ref_time_passes(&p->ref);
    }
    return true;
}

static bool
change_mode(struct pair *p)
{
    const unsigned modes[] = {VIRTUAL_USER,
                              VIRTUAL_USER,
                              VIRTUAL_USER,
                              VIRTUAL_KERNEL,
                              VIRTUAL_EXCEPTION,
                              VIRTUAL_SUPERVISOR,
                              0};

    set_mode(p, (unsigned)below(p, p->how->cpus), modes[below(p, 7)]);
    return true;
}

static struct virtual_owner *
make_process(struct pair *p, int slot, int parent)
{
    struct process *const new = &p->process[slot];

    memset(new, 0, sizeof(*new));
    new->owner = malloc(sizeof(*new->owner));
    if (new->owner == NULL)
        abort();
    p->parent[slot] = parent;
    return new->owner;
}

static bool
fork_process(struct pair *p)
{
    const int slot = free_slot(p);
    const int parent = some_process(p);

    if (slot < 0)
        return true;
    struct virtual_owner *const owner = make_process(p, slot, parent);
    virtual_fork(&p->system, p->process[parent].owner, owner);
    owner->user = &p->process[slot];
    ref_fork(&p->ref, parent, slot);
    /* Some begin a group of their own, or change who they are. */
    if (below(p, 4) == 0)
        p->ref.process[slot].group = owner->group = (uint32_t)below(p, 3);
    if (below(p, 4) == 0)
        p->ref.process[slot].root = owner->root = below(p, 2) == 0;
    return same_process(p, slot);
}

static bool
exit_process(struct pair *p)
{
    const int k = some_process(p);
    const bool waiting = below(p, 2) == 0;
    const int parent = p->parent[k];

    if (k == 0)
        return true;
    virtual_exit(&p->system, p->process[k].owner,
                 parent >= 0 ? p->process[parent].owner : NULL, waiting);
    ref_exit(&p->ref, k, parent, waiting);
    free(p->process[k].owner);
    p->process[k].owner = NULL;
    for (int other = 0; other < REF_PROCESSES; other++) {
        if (p->parent[other] == k)
            p->parent[other] = -1;
    }
    return parent < 0 || same_process(p, parent);
}

static bool
read_control(struct pair *p, int caller, int k)
{
    uint16_t core[VIRTUAL_EVENTS], twin[VIRTUAL_EVENTS];
    struct virtual_owner *const from = p->process[caller].owner;
    const int a =
        k >= 0 ? virtual_control(&p->system, from, p->process[k].owner, core)
               : virtual_system_control(&p->system, core);
    const int b = k >= 0 ? ref_control(&p->ref, caller, k, twin)
                         : ref_system_control(&p->ref, twin);

    if (a != b)
        return differ(p, "reading the control", a, b);
    return a < 0 || memcmp(core, twin, sizeof(core)) == 0 ||
           differ(p, "specifiers of", k, k);
}

static bool
read_counts(struct pair *p, int caller, int k)
{
    struct counter_reading core[VIRTUAL_EVENTS], twin[VIRTUAL_EVENTS];
    const int a = virtual_read(&p->system, p->process[caller].owner,
                               p->process[k].owner, core);
    const int b = ref_read(&p->ref, caller, k, twin);

    if (a != b)
        return differ(p, "reading", a, b);
    return a < 0 || same_readings(p, "counts", core, twin);
}

/* The ranges of one profile stay until the next has begun. */
static bool
profile(struct pair *p, int caller, const struct virtual_request *q)
{
    struct process *const it = &p->process[caller];
    const uint64_t from = 0x1000 + below(p, 8);
    const unsigned other = 1 - it->used;

    it->range[other] =
        (struct virtual_range){from, 0x10000, REF_BUCKETS, it->buckets};
    const int a =
        virtual_profile(&p->system, it->owner, q, &it->range[other], 1);
    const int b = ref_profile(&p->ref, caller, q, from);
    if (a > 0)
        it->used = other;
    return same_answer(p, "profiling", a, b);
}

static bool
call_proc(struct pair *p)
{
    const int caller = some_process(p);
    const int k = below(p, 3) == 0 ? some_process(p) : caller;
    struct virtual_owner *const from = p->process[caller].owner;
    struct virtual_owner *const to = p->process[k].owner;
    struct virtual_request q;

    draw_request(p, &q);
    switch (below(p, 11)) {
    case 0:
    case 1:
    case 2:
        return same_answer(p, "starting",
                           virtual_start(&p->system, from, to, &q),
                           ref_start(&p->ref, caller, k, &q)) &&
               same_process(p, k);
    case 3:
    case 4:
        return same_answer(p, "changing",
                           virtual_change(&p->system, from, to, &q),
                           ref_change(&p->ref, caller, k, &q)) &&
               same_process(p, k);
    case 5:
        return same_answer(p, "releasing",
                           virtual_release(&p->system, from, to),
                           ref_release(&p->ref, caller, k)) &&
               same_process(p, k);
    case 6:
        return same_answer(p, "saving", virtual_save(&p->system, from, to),
                           ref_save(&p->ref, caller, k));
    case 7:
        return read_control(p, caller, k);
    case 8:
    case 9:
        return profile(p, caller, &q);
    default:
        return read_counts(p, caller, k);
    }
}

static bool
call_syssgi(struct pair *p)
{
    const int caller = some_process(p);
    struct virtual_owner *const from = p->process[caller].owner;
    struct virtual_request q;

    draw_request(p, &q);
    switch (below(p, 6)) {
    case 0:
        return same_answer(p, "starting the system",
                           virtual_system_start(&p->system, from, &q),
                           ref_system_start(&p->ref, caller, &q));
    case 1:
        return same_answer(p, "changing the system",
                           virtual_system_change(&p->system, from, &q),
                           ref_system_change(&p->ref, caller, &q));
    case 2:
    case 3:
        return same_answer(p, "releasing the system",
                           virtual_system_release(&p->system, from),
                           ref_system_release(&p->ref, caller));
    case 4:
        return read_control(p, caller, -1);
    default:
        return same_system(p);
    }
}

static bool
do_step(struct pair *p)
{
    const uint64_t chance = below(p, 100);

    if (chance < 46)
        return burst(p);
    if (chance < 58)
        return tick(p);
    if (chance < 72)
        return change_process(p);
    if (chance < 80)
        return pass_time(p);
    if (chance < 84)
        return change_mode(p);
    if (chance < 88)
        return fork_process(p);
    if (chance < 91)
        return exit_process(p);
    return chance < 98 ? call_proc(p) : call_syssgi(p);
}

static bool
step(struct pair *p)
{
    if (!do_step(p) || !same_told(p))
        return false;
    if (p->steps % 64 == 0 && !same_all(p))
        return false;
    p->steps++;
    return true;
}

/* Start and end */

static bool
start(struct pair *p)
{
    p->random = p->seed;
    ref_init(&p->ref, p->how->cpus, p->how->ops->counters, p->how->any);
    if (!machine_make(&p->machine, p->how->kind, p->how->machine, p->how->limit,
                      p->how->cpus) ||
        virtual_init(&p->system, p->how->ops, machine_monitor(&p->machine),
                     &kernel_ops, p, p->cpus, p->how->cpus) != 0)
        return false;
    for (unsigned cpu = 0; cpu < p->how->cpus; cpu++)
        set_mode(p, cpu, VIRTUAL_USER);
    for (int k = 0; k < 3; k++) {
        virtual_owner_init(make_process(p, k, -1), (uint32_t)k, k == 0);
        p->process[k].owner->user = &p->process[k];
        ref_create(&p->ref, k, (unsigned)k, k == 0);
    }
    return true;
}

static void
finish(struct pair *p)
{
    for (int k = 0; k < REF_PROCESSES; k++)
        free(p->process[k].owner);
    machine_finish(&p->machine);
    ref_finish(&p->ref);
    free(p);
}

static bool
compare(const struct configuration *how, uint64_t seed, uint64_t steps)
{
    struct pair *const p = calloc(1, sizeof(*p));

    if (p == NULL)
        return false;
    p->how = how;
    p->seed = seed;
    bool same = start(p);
    while (same && p->steps < steps)
        same = step(p);
    same = same && same_all(p);
    finish(p);
    return same;
}

int
main(int argc, char **argv)
{
    const uint64_t steps =
        argc > 1 ? strtoull(argv[1], NULL, 0) : STEPS_DEFAULT;
    const uint64_t seed = random_seed();
    int failed = 0;

    for (size_t i = 0; i < CONFIGURATIONS; i++) {
        const uint64_t each = steps / CONFIGURATIONS;
        const bool same = compare(&configurations[i], seed + i, each);
        printf("%sok %zu %s, %" PRIu64 " steps\n", same ? "" : "not ", i + 1,
               configurations[i].name, each);
        fflush(stdout);
        failed += !same;
    }
    printf("1..%zu\n", CONFIGURATIONS);
    return failed > 0;
}
