/* SPDX-License-Identifier: MIT */
/*
 * readcost [EVENT LATE_EVENT]: what reading counters costs, in nanoseconds of
 * this host, as NAME NS lines: an empty turn of the loop, a live value, a
 * handle that reads live values, one that asks (LATE_EVENT), a register, an
 * update of the profiler with both events and cycles, a system call that there
 * is not. Without events, or on a host, the last two alone: an update with
 * none.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <tally/guest.h>
#include <tally/profiler.h>
#include <time.h>

#include "gateway/doorbell.h"

enum { TURNS = 200000, ROUNDS = 9 };

static struct tally_counter *quick, *late;
static struct tally_guest *guest;
static struct tally_live live;
static volatile uint64_t sink;
static int id;

static void
complain(void *user, enum tally_level level, const char *text)
{
    (void)user, (void)level;
    fprintf(stderr, "%s\n", text);
}

static double
now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void
empty(void)
{
    for (int i = 0; i < TURNS; i++)
        sink = (uint64_t)i;
}

static void
read_live(void)
{
    for (int i = 0; i < TURNS; i++)
        sink = tally_live_read(&live);
}

static void
read_handle(struct tally_counter *counter)
{
    struct tally_reading reading;

    for (int i = 0; i < TURNS; i++) {
        tally_counter_read(counter, &reading, 1);
        sink = reading.value;
    }
}

static void
read_quick(void)
{
    read_handle(quick);
}

static void
read_late(void)
{
    read_handle(late);
}

static void
read_register(void)
{
    uint64_t value = 0;

    for (int i = 0; i < TURNS; i++)
        tally_guest_read(guest, id, TALLY_PMU_HYPERPRIVILEGED, &value);
    sink = value;
}

#ifdef __sparc__
/* As code for the machine has it; where the shim is linked. */
static void
read_pic(void)
{
    uint64_t value;

    for (int i = 0; i < TURNS / 10; i++) {
        __asm__ volatile("rd %%asr17, %0" : "=r"(value));
        sink = value;
    }
}
#endif

static void
update(void)
{
    for (int i = 0; i < TURNS; i++)
        tally_profiler_update(1, 1, 2);
}

static void
call(void)
{
    for (int i = 0; i < TURNS; i++)
        gateway_ring(GATEWAY_WAIT, NULL);
}

static void
report(const char *name, void (*run)(void), int turns)
{
    double best = 1e18;

    for (int i = 0; i < ROUNDS; i++) {
        const double start = now_ns();
        run();
        const double took = now_ns() - start;
        best = took < best ? took : best;
    }
    printf("%s %.1f\n", name, best / turns);
}

static struct tally_counter *
start(const char *event)
{
    struct tally_counter_options options;
    struct tally_counter *counter;

    tally_counter_options_init(&options, sizeof(options));
    options.log.write = complain;
    if (tally_counter_open(&options, &counter) != 0 ||
        tally_counter_add(counter, event) != 0 ||
        tally_counter_start(counter) != 0)
        exit(1);
    return counter;
}

int
main(int argc, char **argv)
{
    if (argc == 3 && tally_guest_open(NULL, &guest) == 0) {
        quick = start(argv[1]);
        late = start(argv[2]);
        if (tally_counter_live(quick, 0, &live) != 0)
            return 1;
        report("empty", empty, TURNS);
        report("live", read_live, TURNS);
        report("handle", read_quick, TURNS);
        report("late", read_late, TURNS);
        id = tally_guest_find(guest, "PIC");
        if (id >= 0) {
            tally_guest_write(guest, tally_guest_find(guest, "PCR"),
                              TALLY_PMU_HYPERPRIVILEGED, 0x17e88046);
            report("register", read_register, TURNS);
#ifdef __sparc__
            report("instruction", read_pic, TURNS / 10);
#endif
        }
    }
    char both[256] = "";
    if (guest != NULL)
        snprintf(both, sizeof(both), "%s,%s", argv[1], argv[2]);
    tally_profiler_set_property("profiler_user_data_size", "2");
    if (tally_profiler_start(1, both) != 0)
        return 1;
    report("update", update, TURNS);
    report("call", call, TURNS);
    return 0;
}
