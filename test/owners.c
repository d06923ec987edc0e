/* SPDX-License-Identifier: MIT */
/* Processes that share virtual counters: real ones, whose events a table in
 * shared memory says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gateway/vcounter_processes.h"

#define U VIRTUAL_USER
#define K VIRTUAL_KERNEL
#define MINE 0 /* the counts */
#define CHILD 1

/* How often each event has risen, by process; on each strand. */
struct world {
    uint64_t process[VCOUNTER_SEATS + 2][VIRTUAL_EVENTS];
    uint64_t strand[2][VIRTUAL_EVENTS];
    pid_t child;
    atomic_uint signals;
};

static struct world *world;
static struct vcounter_processes *shared;
static struct vcounter_client client;

static bool
fake_has(void *user, unsigned index, bool at_once)
{
    (void)user;
    return index != 31 && (!at_once || index != 30);
}

static uint64_t
fake_process(void *user, uint32_t process, unsigned index)
{
    return ((struct world *)user)->process[process][index];
}

static uint64_t
fake_strand(void *user, unsigned strand, unsigned index)
{
    return ((struct world *)user)->strand[strand][index];
}

static uint64_t
fake_time(void *user)
{
    (void)user;
    return 0;
}

static void
fake_send(void *user, pid_t pid, int number)
{
    (void)pid;
    (void)number;
    atomic_fetch_add(&((struct world *)user)->signals, 1);
}

static bool
fake_find(void *user, pid_t pid, uint32_t *process, pid_t *parent)
{
    const struct world *const w = user;

    if (pid != getpid() && pid != w->child)
        return false;
    *process = pid == w->child ? CHILD : MINE;
    *parent = pid == w->child ? getpid() : 0;
    return true;
}

static const struct vcounter_source source = {
    .numbers = 16,
    .has = fake_has,
    .process = fake_process,
    .strand = fake_strand,
    .time = fake_time,
    .send = fake_send,
    .find = fake_find,
};

static void *
map(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    assert_ptr_not_equal(memory, MAP_FAILED);
    return memory;
}

static int
begin(void **state)
{
    (void)state;
    world = map(sizeof(*world));
    shared = map(sizeof(*shared));
    client = (struct vcounter_client){
        .shared = shared,
        .source = &source,
        .user = world,
        .strands = 2,
    };
    return 0;
}

static int
end(void **state)
{
    (void)state;
    munmap(shared, sizeof(*shared));
    munmap(world, sizeof(*world));
    return 0;
}

/* A child that does nothing until it is killed. */
static pid_t
sleeper(void)
{
    const pid_t pid = fork();

    if (pid == 0)
        for (;;)
            pause();
    return pid;
}

static void
stop(pid_t pid)
{
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static struct vcounter_seat *
seat_of(pid_t pid)
{
    int error = 0;
    struct vcounter_seat *const seat = vcounter_seat_of(&client, pid, &error);

    assert_non_null(seat);
    return seat;
}

static struct virtual_request
request(unsigned index, unsigned modes)
{
    struct virtual_request r = {.signal = 0};

    r.spec[index] = (uint16_t)((index % source.numbers) << 5 | modes);
    return r;
}

static uint64_t
value(struct vcounter_seat *seat, unsigned index)
{
    struct counter_reading readings[VIRTUAL_EVENTS];
    struct virtual_owner *const root = &seat_of(getpid())->owner;

    root->root = true;
    assert_true(virtual_read(&shared->system, root, &seat->owner, readings) >
                0);
    return readings[index].value;
}

static int
start(struct vcounter_seat *seat, const struct virtual_request *r)
{
    struct virtual_owner *const root = &seat_of(getpid())->owner;

    root->root = true;
    return virtual_start(&shared->system, root, &seat->owner, r);
}

/* Only what it counts from the start on, whatever others do. */
static void
test_another_process(void **state)
{
    const struct virtual_request r = request(17, U);

    (void)state;
    world->child = sleeper();
    world->process[CHILD][17] = 40;
    assert_int_equal(vcounter_enter(&client), 0);
    struct vcounter_seat *const seat = seat_of(world->child);
    assert_true(start(seat, &r) > 0);
    world->process[CHILD][17] += 5;
    world->process[MINE][17] += 9;
    assert_true(value(seat, 17) == 5);
    assert_true(value(seat_of(getpid()), 17) == 0);
    vcounter_pause(&client, seat);
    world->process[CHILD][17] += 100;
    assert_true(value(seat, 17) == 5);
    world->process[2][17] = 7000;
    vcounter_resume(&client, seat, 2);
    world->process[2][17] += 2;
    assert_true(value(seat, 17) == 7);
    vcounter_leave(&client);
    stop(world->child);
}

/* A number that is another counter's, an event that is not there, a threshold
 * on what is not known at once, or of the whole system. */
static void
test_refused(void **state)
{
    struct virtual_request r = request(17, U);

    (void)state;
    assert_int_equal(vcounter_enter(&client), 0);
    struct vcounter_seat *const seat = seat_of(getpid());
    r.spec[17] = 17 << 5 | U;
    assert_int_equal(start(seat, &r), VIRTUAL_EINVAL);
    r = request(31, U);
    assert_int_equal(start(seat, &r), VIRTUAL_EINVAL);
    r = request(30, U);
    assert_true(start(seat, &r) > 0);
    r.threshold[30] = 5;
    assert_int_equal(start(seat, &r), VIRTUAL_EINVAL);
    virtual_release(&shared->system, &seat->owner, &seat->owner);
    r = request(15, U | K);
    r.threshold[15] = 5;
    assert_int_equal(start(seat, &r), VIRTUAL_EINVAL);
    vcounter_leave(&client);
}

/* The strands count in system mode, and processes do not; without user mode
 * nothing does. */
static void
test_system(void **state)
{
    struct counter_reading readings[VIRTUAL_EVENTS];
    struct virtual_request r = request(15, U | K);

    (void)state;
    r.spec[14] = 14 << 5 | K;
    assert_int_equal(vcounter_enter(&client), 0);
    struct vcounter_seat *const seat = seat_of(getpid());
    seat->owner.root = true;
    assert_true(virtual_system_start(&shared->system, &seat->owner, &r) > 0);
    world->process[MINE][15] += 1000;
    world->strand[0][15] += 3;
    world->strand[1][15] += 4;
    world->strand[1][14] += 50;
    assert_true(virtual_system_read(&shared->system, readings) > 0);
    assert_true(readings[15].value == 7 && readings[14].value == 0);
    assert_true(vcounter_read_cpu(&client, 1, readings) > 0);
    assert_true(readings[15].value == 4);
    assert_int_equal(vcounter_read_cpu(&client, 2, readings), 0);
    vcounter_leave(&client);
}

static void
test_threshold(void **state)
{
    struct virtual_request r = request(15, U);

    (void)state;
    r.threshold[15] = 100;
    r.signal = SIGUSR1;
    assert_int_equal(vcounter_enter(&client), 0);
    struct vcounter_seat *const seat = seat_of(getpid());
    assert_true(start(seat, &r) > 0);
    assert_true(vcounter_left(&client, seat, 15) == 100);
    assert_true(vcounter_left(&client, seat, 14) == 0);
    for (unsigned n = 1; n <= 1000; n++) {
        world->process[MINE][15]++;
        vcounter_overflow(&client, seat, 0);
        assert_int_equal(world->signals, n / 100);
    }
    virtual_release(&shared->system, &seat->owner, &seat->owner);
    assert_true(vcounter_left(&client, seat, 15) == 0);
    vcounter_leave(&client);
}

/* Buckets are this process's: others find none. */
static void
test_ranges(void **state)
{
    uint16_t bucket = 0;
    const struct virtual_range range = {0x1000, 65536, 1, &bucket};
    struct virtual_request r = request(15, U);

    (void)state;
    r.threshold[15] = 10;
    assert_int_equal(vcounter_enter(&client), 0);
    struct vcounter_seat *const seat = seat_of(getpid());
    assert_true(virtual_profile(&shared->system, &seat->owner, &r, &range, 1) >
                0);
    vcounter_leave(&client);
    assert_null(seat->owner.ranges);
    assert_int_equal(vcounter_enter(&client), 0);
    world->process[MINE][15] += 10;
    vcounter_overflow(&client, seat, 0x1000);
    assert_int_equal(bucket, 1);
    vcounter_leave(&client);
}

/* What a real child does in the shared system, and how it ends. */
static void
child_counts(pid_t parent, bool die_inside)
{
    vcounter_enter(&client);
    vcounter_fork(&client, parent, getpid(), CHILD);
    world->process[CHILD][15] += 11;
    if (die_inside)
        kill(getpid(), SIGKILL);
    vcounter_exit(&client, client.seat);
    vcounter_leave(&client);
    _exit(0);
}

/* A child inherits, and gives what it has to a parent that waits; one that dies
 * with the lock holds nobody up, and nobody has its counts, unless they were
 * asked for. */
static void
test_fork(void **state)
{
    const struct virtual_request r = request(15, U);
    static const struct {
        int line;
        bool waits, dies;
        uint64_t wanted;
    } rows[] = {
        {__LINE__, true, false, 11},
        {__LINE__, false, false, 0},
        {__LINE__, false, true, 0},
        {__LINE__, true, true, 11},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        assert_int_equal(vcounter_enter(&client), 0);
        struct vcounter_seat *const seat = seat_of(getpid());
        assert_true(start(seat, &r) > 0);
        seat->waits = rows[i].waits ? VCOUNTER_ANY : 0;
        vcounter_leave(&client);
        const pid_t parent = getpid(), pid = fork();
        if (pid == 0)
            child_counts(parent, rows[i].dies);
        waitpid(pid, NULL, 0);
        assert_int_equal(vcounter_enter(&client), 0);
        assert_null(vcounter_find(shared, pid));
        if (value(seat, 15) != rows[i].wanted)
            fail_msg("line %d: %ju", rows[i].line, (uintmax_t)value(seat, 15));
        vcounter_leave(&client);
    }
}

/* PIOCSAVECCNTRS: also of a child that was killed. */
static void
test_save(void **state)
{
    const struct virtual_request r = request(15, U);

    (void)state;
    world->child = sleeper();
    assert_int_equal(vcounter_enter(&client), 0);
    struct vcounter_seat *const own = seat_of(getpid());
    struct vcounter_seat *const seat = seat_of(world->child);
    assert_true(start(own, &r) > 0 && start(seat, &r) > 0);
    own->owner.root = true;
    assert_int_equal(virtual_save(&shared->system, &own->owner, &seat->owner),
                     0);
    world->process[CHILD][15] += 21;
    vcounter_leave(&client);
    stop(world->child);
    assert_int_equal(vcounter_enter(&client), 0);
    assert_true(value(own, 15) == 21);
    vcounter_leave(&client);
}

/* All seats taken is EMFILE, and one is free again when its process is gone. */
static void
test_full(void **state)
{
    static pid_t pids[VCOUNTER_SEATS];
    int error = 0;

    (void)state;
    for (unsigned i = 0; i < VCOUNTER_SEATS; i++) {
        world->child = pids[i] = sleeper();
        assert_int_equal(vcounter_enter(&client), 0);
        seat_of(world->child);
        vcounter_leave(&client);
    }
    assert_int_equal(vcounter_enter(&client), 0);
    assert_null(vcounter_seat_of(&client, getpid(), &error));
    assert_int_equal(error, -EMFILE);
    assert_null(vcounter_seat_of(&client, 1, &error));
    assert_int_equal(error, -ESRCH);
    vcounter_leave(&client);
    stop(pids[7]);
    assert_int_equal(vcounter_enter(&client), 0);
    assert_ptr_equal(seat_of(getpid()), &shared->seats[7]);
    vcounter_leave(&client);
    for (unsigned i = 0; i < VCOUNTER_SEATS; i++)
        if (i != 7)
            stop(pids[i]);
}

/* What another process may have written: nothing of it is followed. */
static void
test_forged(void **state)
{
    const struct virtual_request r = request(15, U);
    uintptr_t wild = UINT64_C(0x6161616161616160);
    struct {
        int line;
        void *at;
        const void *value;
        size_t size;
    } rows[] = {
#define FORGED(field)                 \
    {__LINE__, &shared->field, &wild, \
     sizeof(shared->field) < 8 ? sizeof(shared->field) : 8}
        FORGED(strands),
        FORGED(seat_count),
        FORGED(state),
        FORGED(system.count),
        FORGED(system.cpus),
        FORGED(system.active),
        FORGED(system.holder),
        FORGED(system.watcher),
        FORGED(cpus[0].owner),
        FORGED(cpus[2].owner),
        FORGED(cpus[2].plan),
        FORGED(cpus[2].block),
        FORGED(cpus[1].own.turn[3]),
        FORGED(counters[2][0].index),
        FORGED(counters[2][0].on),
        FORGED(seats[0].host_signal),
        FORGED(seats[0].owner.cpu),
        FORGED(seats[0].owner.active),
        FORGED(seats[0].owner.block.turn[0]),
#undef FORGED
    };

    (void)state;
    assert_int_equal(vcounter_enter(&client), 0);
    assert_true(start(seat_of(getpid()), &r) > 0);
    vcounter_leave(&client);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        unsigned char kept[8];
        memcpy(kept, rows[i].at, rows[i].size);
        memcpy(rows[i].at, rows[i].value, rows[i].size);
        const int error = vcounter_enter(&client);
        if (error != -EIO)
            fail_msg("line %d: %d", rows[i].line, error);
        memcpy(rows[i].at, kept, rows[i].size);
        assert_int_equal(vcounter_enter(&client), 0);
        vcounter_leave(&client);
    }
    /* Pointers into another process are replaced, not followed. */
    memcpy(&shared->seats[0].owner.user, &wild, sizeof(wild));
    memcpy(&shared->seats[0].owner.ranges, &wild, sizeof(wild));
    memcpy(&shared->system.ops, &wild, sizeof(wild));
    assert_int_equal(vcounter_enter(&client), 0);
    world->process[MINE][15] += 3;
    assert_true(value(seat_of(getpid()), 15) == 3);
    vcounter_leave(&client);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_another_process, begin, end),
        cmocka_unit_test_setup_teardown(test_refused, begin, end),
        cmocka_unit_test_setup_teardown(test_system, begin, end),
        cmocka_unit_test_setup_teardown(test_threshold, begin, end),
        cmocka_unit_test_setup_teardown(test_ranges, begin, end),
        cmocka_unit_test_setup_teardown(test_fork, begin, end),
        cmocka_unit_test_setup_teardown(test_save, begin, end),
        cmocka_unit_test_setup_teardown(test_full, begin, end),
        cmocka_unit_test_setup_teardown(test_forged, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
