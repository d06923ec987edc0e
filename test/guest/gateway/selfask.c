/* SPDX-License-Identifier: MIT */
/*
 * selfask EVENT LATE_EVENT: readings of LATE_EVENT, which is not kept current
 * and is asked for, that others come between. A thread that never said hello
 * reads what its maker opened; a signal's handler reads a handle of its own,
 * wherever it comes.
 */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <tally/counter.h>

#include "loop.h"

enum { READINGS = 100000, SIGNALS = 100 };

static struct tally_counter *outer, *inner;
static struct tally_reading seen[2]; /* by the stranger */
static volatile sig_atomic_t signals, backwards;

static void
must(int error)
{
    if (error != 0) {
        printf("unexpected: %s\n", tally_strerror(error));
        exit(1);
    }
}

static struct tally_counter *
start(const char *event, const char *late)
{
    struct tally_counter *counter = NULL;

    must(tally_counter_open(NULL, &counter));
    must(tally_counter_add(counter, event));
    must(tally_counter_add(counter, late));
    must(tally_counter_start(counter));
    return counter;
}

static void *
read_of_maker(void *unused)
{
    must(tally_counter_read(outer, seen, 2));
    return unused;
}

static void
strangers(void)
{
    struct tally_reading before[2], after[2];
    pthread_t thread;

    must(tally_counter_read(outer, before, 2));
    loop(1000);
    must(pthread_create(&thread, NULL, read_of_maker, NULL));
    pthread_join(thread, NULL);
    must(tally_counter_read(outer, after, 2));
    for (int i = 0; i < 2; i++)
        printf("%s\n", before[i].value + 1000 < seen[i].value &&
                               seen[i].value <= after[i].value
                           ? "between"
                           : "not between");
}

/* QEMU 7.2 enters handlers of x86-64 with any stack. */
#ifdef __x86_64__
__attribute__((force_align_arg_pointer))
#endif
static void
on_alarm(int number)
{
    static struct tally_reading last[2];
    struct tally_reading now[2];

    (void)number;
    signals++;
    if (tally_counter_read(inner, now, 2) != 0 ||
        now[0].value <= last[0].value || now[1].value <= last[1].value)
        backwards++;
    last[0] = now[0];
    last[1] = now[1];
}

static void
interrupted(void)
{
    const struct itimerval often = {{0, 200}, {0, 200}},
                           never = {{0, 0}, {0, 0}};
    const struct sigaction action = {.sa_handler = on_alarm};
    struct tally_reading last[2] = {{0}}, now[2];
    int readings = 0, wrong = 0;

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (; readings < READINGS || signals < SIGNALS; readings++) {
        must(tally_counter_read(outer, now, 2));
        wrong += now[0].value <= last[0].value || now[1].value <= last[1].value;
        last[0] = now[0];
        last[1] = now[1];
    }
    setitimer(ITIMER_REAL, &never, NULL);
    printf("%d backwards, %d in handlers\n", wrong, (int)backwards);
}

int
main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    outer = start(argv[1], argv[2]);
    inner = start(argv[1], argv[2]);
    interrupted();
    strangers();
    tally_counter_close(outer);
    tally_counter_close(inner);
}
