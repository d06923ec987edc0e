/* SPDX-License-Identifier: MIT */
/* libperfex on the calls of r10k_evcntrs(5). */
#include "perfex.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "irix.h"
#include "sys/procfs.h"
#include "table/cost.h"

#define EXPORT __attribute__((visibility("default")))

static struct {
    pthread_mutex_t lock;
    pid_t pid;          /* that started its counters; 0: none did */
    struct cost *costs; /* load_costs(); NULL: the machine's own */
} perfex = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const struct machine_row *
machine(void)
{
    return machine_find(irix_processor() == 12000 ? "r12000" : "r10000");
}

/* A number from the environment takes the place of the program's. */
static int
override(const char *name, int *event)
{
    const char *text = getenv(name);
    char *end;

    if (text == NULL || *text == '\0')
        return 0;
    const long number = strtol(text, &end, 10);
    if (*end != '\0' || number < 0 || number >= HWPERF_EVENTMAX) {
        fprintf(stderr, "perfex: %s is no event from 0 to %d: '%s'\n", name,
                HWPERF_EVENTMAX - 1, text);
        errno = EINVAL;
        return -1;
    }
    *event = (int)number;
    return 0;
}

/* Both events; two that only one counter has do not go together. */
static int
events_of(int *event0, int *event1)
{
    if (override("T5_EVENT0", event0) != 0 ||
        override("T5_EVENT1", event1) != 0)
        return -1;
    const bool beyond = *event0 < 0 || *event1 < 0 ||
                        *event0 >= HWPERF_EVENTMAX ||
                        *event1 >= HWPERF_EVENTMAX;
    const bool same = irix_processor() != 12000 && *event0 != *event1 &&
                      *event0 / HWPERF_CNT1BASE == *event1 / HWPERF_CNT1BASE;
    if (!beyond && !same)
        return 0;
    fprintf(stderr,
            beyond ? "perfex: events are 0 to 31, not %d and %d\n"
                   : "perfex: conflicting counters: events %d and %d are both "
                     "counted on the same one\n",
            *event0, *event1);
    errno = EINVAL;
    return -1;
}

static void
ask(hwperf_profevctrarg_t *args, int event)
{
    hwperf_ctrl_t *c = &args->hwp_evctrargs.hwp_evctrl[event];
    const bool second = irix_processor() != 12000 && event >= HWPERF_CNT1BASE;

    c->hwperf_creg.hwp_ev =
        (unsigned short)((event - (second ? HWPERF_CNT1BASE : 0)) & 0x7ff);
    c->hwperf_creg.hwp_ie = 1;
    c->hwperf_creg.hwp_mode = HWPERF_CNTEN_U;
}

EXPORT int
start_counters(int event0, int event1)
{
    hwperf_profevctrarg_t args;

    if (events_of(&event0, &event1) != 0)
        return -1;
    memset(&args, 0, sizeof(args));
    ask(&args, event0);
    ask(&args, event1);
    pthread_mutex_lock(&perfex.lock);
    const int result = irix_process_call(getpid(), PIOCENEVCTRS, &args);
    if (result > 0)
        perfex.pid = getpid();
    pthread_mutex_unlock(&perfex.lock);
    if (result < 0) {
        const int error = errno;
        fprintf(stderr, "perfex: cannot count events %d and %d: %s\n", event0,
                event1, strerror(error));
        errno = error;
    }
    return result;
}

EXPORT int
read_counters(int event0, long long *count0, int event1, long long *count1)
{
    hwperf_cntr_t counts;
    int result = -1;

    if (events_of(&event0, &event1) != 0)
        return -1;
    pthread_mutex_lock(&perfex.lock);
    if (perfex.pid != getpid())
        errno = EINVAL; /* nothing was started here */
    else
        result = irix_process_call(perfex.pid, PIOCGETEVCTRS, &counts);
    const int reason = errno;
    /* Counters that cannot be read are not kept either: who gives up after the
     * error has no other call that releases them. */
    if (perfex.pid == getpid() &&
        irix_process_call(perfex.pid, PIOCRELEVCTRS, NULL) < 0)
        result = -1;
    else
        errno = reason;
    pthread_mutex_unlock(&perfex.lock);
    if (result < 0)
        return -1;
    *count0 = (long long)counts.hwp_evctr[event0];
    *count1 = (long long)counts.hwp_evctr[event1];
    return result;
}

/* By the number of IRIX. */
static const struct event_row *
event_of(int number)
{
    const struct machine_row *m = machine();

    for (size_t i = 0; i < m->event_count; i++)
        if (m->events[i].number == number)
            return &m->events[i];
    return NULL;
}

/* What has its number behind it, as another has the name, loses it. */
static void
print_line(int number, long long count)
{
    char name[64], tail[8];

    snprintf(name, sizeof(name), "%s", event_of(number)->name);
    snprintf(tail, sizeof(tail), "_%d", number);
    const size_t length = strlen(name), cut = strlen(tail);
    if (length > cut && strcmp(name + length - cut, tail) == 0)
        name[length - cut] = '\0';
    for (char *c = name; *c != '\0'; c++)
        *c = *c == '_' ? ' ' : *c;
    fprintf(stderr, "%2d %s", number, name);
    for (size_t i = strlen(name); i < 62; i++)
        fputc('.', stderr);
    fprintf(stderr, "%16lld", count);
}

EXPORT int
print_counters(int event0, long long count0, int event1, long long count1)
{
    if (events_of(&event0, &event1) != 0)
        return -1;
    print_line(event0, count0);
    fputc('\n', stderr);
    print_line(event1, count1);
    fputc('\n', stderr);
    return 0;
}

static void
params_of(const struct machine_row *m, uint64_t *params)
{
    for (size_t i = 0; i < PARAM_COUNT; i++)
        params[i] = m->params[i].value;
}

static void
print_cost(int number, long long count, const struct cost *costs,
           const uint64_t *params)
{
    const struct cost *c = &costs[event_of(number) - machine()->events];
    const double each = (double)count / (double)params[PARAM_CLOCK];

    print_line(number, count);
    if (c->known)
        fprintf(stderr, " %12.6f %12.6f %12.6f", c->typical * each,
                c->minimum * each, c->maximum * each);
    fputc('\n', stderr);
}

EXPORT int
print_costs(int event0, long long count0, int event1, long long count1)
{
    uint64_t params[PARAM_COUNT];

    if (events_of(&event0, &event1) != 0)
        return -1;
    params_of(machine(), params);
    pthread_mutex_lock(&perfex.lock);
    struct cost *own = perfex.costs ? NULL : cost_table(machine(), params);
    const struct cost *costs = perfex.costs ? perfex.costs : own;
    if (costs != NULL) {
        fprintf(stderr, "%*s %12s %12s %12s\n", 81, "", "typical s",
                "minimum s", "maximum s");
        print_cost(event0, count0, costs, params);
        print_cost(event1, count1, costs, params);
    }
    free(own);
    pthread_mutex_unlock(&perfex.lock);
    if (costs == NULL)
        errno = ENOMEM;
    return costs != NULL ? 0 : -1;
}

static void
write_line(void *user, enum tally_level level, const char *text)
{
    (void)user;
    (void)level;
    fprintf(stderr, "perfex: %s\n", text);
}

EXPORT int
load_costs(char *file)
{
    const struct tally_log log = {write_line, NULL};
    uint64_t params[PARAM_COUNT];

    params_of(machine(), params);
    struct cost *costs = cost_table(machine(), params);
    if (costs == NULL || cost_table_read(machine(), file, &log, costs) != 0) {
        free(costs);
        errno = EINVAL;
        return -1;
    }
    pthread_mutex_lock(&perfex.lock);
    free(perfex.costs);
    perfex.costs = costs;
    pthread_mutex_unlock(&perfex.lock);
    return 0;
}

/*
 * Fortran: a name with '_' behind it, arguments by reference, the length of a
 * text at the end; the text ends in blanks.
 */
int start_counters_(const int *event0, const int *event1);
int read_counters_(const int *event0, long long *count0, const int *event1,
                   long long *count1);
int print_counters_(const int *event0, const long long *count0,
                    const int *event1, const long long *count1);
int print_costs_(const int *event0, const long long *count0, const int *event1,
                 const long long *count1);
int load_costs_(const char *file, size_t length);

EXPORT int
start_counters_(const int *event0, const int *event1)
{
    return start_counters(*event0, *event1);
}

EXPORT int
read_counters_(const int *event0, long long *count0, const int *event1,
               long long *count1)
{
    return read_counters(*event0, count0, *event1, count1);
}

EXPORT int
print_counters_(const int *event0, const long long *count0, const int *event1,
                const long long *count1)
{
    return print_counters(*event0, *count0, *event1, *count1);
}

EXPORT int
print_costs_(const int *event0, const long long *count0, const int *event1,
             const long long *count1)
{
    return print_costs(*event0, *count0, *event1, *count1);
}

EXPORT int
load_costs_(const char *file, size_t length)
{
    while (length > 0 && (file[length - 1] == ' ' || file[length - 1] == '\0'))
        length--;
    char *name = strndup(file, length);
    const int result = name != NULL ? load_costs(name) : -1;
    free(name);
    return result;
}
