/* SPDX-License-Identifier: MIT */
/*
 * selfwatch EVENT: overflows of an event that rises once a turn of loop().
 * Prints how many a signal's handler took in 100 periods and a bit, how many
 * came after the handle was stopped, what of them lay in the loop, how many
 * without a signal and how many of these were lost; then a real-time signal's,
 * whose handler stops, reads, resets and starts the counters each time.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/counter.h>

#include "loop.h"

/* QEMU 7.2 enters handlers on x86-64 with a stack that SSE may find unaligned.
 */
#ifdef __x86_64__
#define HANDLER __attribute__((force_align_arg_pointer))
#else
#define HANDLER
#endif

enum { PERIOD = 1000, PERIODS = 100 };

static struct tally_counter *counter;
static volatile unsigned signals, taken, lost, inside, rounds;
static uint64_t first_ip;

static void
complain(void *user, enum tally_level level, const char *text)
{
    (void)user, (void)level;
    printf("%s\n", text);
}

static void
take(void *user, const struct tally_overflow *overflow)
{
    (void)user;
    if (taken == 0)
        first_ip = overflow->ip;
    taken++;
    lost += (unsigned)overflow->lost;
    inside += overflow->ip - first_ip < 64 || first_ip - overflow->ip < 64;
}

static HANDLER void
on_signal(int number)
{
    (void)number;
    signals++;
    tally_counter_overflows(counter, take, NULL);
}

static HANDLER void
on_round(int number)
{
    struct tally_reading reading = {0};

    (void)number;
    tally_counter_stop(counter);
    tally_counter_read(counter, &reading, 1);
    rounds += reading.value > PERIOD - 100 && reading.value < PERIOD + 100;
    tally_counter_reset(counter);
    tally_counter_start(counter);
}

static int
try_start(const char *event, int number)
{
    struct tally_counter_options options;

    tally_counter_options_init(&options, sizeof(options));
    options.log.write = complain;
    options.period = PERIOD;
    options.signal = number;
    int error = tally_counter_open(&options, &counter);
    if (error == 0)
        error = tally_counter_add(counter, event);
    return error == 0 ? tally_counter_start(counter) : error;
}

static void
start(const char *event, int number)
{
    if (try_start(event, number) != 0)
        exit(1);
}

static void
handle(int number, void (*handler)(int))
{
    struct sigaction action;

    memset(&action, 0, sizeof(action));
    action.sa_handler = handler;
    sigaction(number, &action, NULL);
}

int
main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    handle(SIGUSR1, on_signal);
    start(argv[1], SIGUSR1);
    loop(PERIOD / 2);
    for (int i = 0; i < PERIODS; i++)
        loop(PERIOD);
    tally_counter_stop(counter);
    const unsigned before = signals;
    loop(3 * PERIOD);
    printf("%u signals, %u overflows, %u later\n", before, taken,
           signals - before);
    tally_counter_close(counter);

    taken = inside = 0;
    start(argv[1], 0);
    loop(PERIODS * PERIOD + PERIOD / 2);
    tally_counter_stop(counter);
    tally_counter_overflows(counter, take, NULL);
    printf("%u taken, %u lost, %u in the loop\n", taken, lost, inside);
    tally_counter_close(counter);

    handle(SIGRTMIN + 3, on_round);
    start(argv[1], SIGRTMIN + 3);
    loop(PERIODS * PERIOD);
    tally_counter_close(counter);
    printf("%u rounds\n", rounds);

    start(argv[1], 0);
    struct tally_counter *other = counter;
    const int error = try_start(argv[1], 0);
    tally_counter_close(counter);
    tally_counter_close(other);
    return error != TALLY_ERULE;
}
