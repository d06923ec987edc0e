/* SPDX-License-Identifier: MIT */
/*
 * Times a look-up by name, alias, code and register, over all rows of all
 * machines, and the whole process of `tally list -m montecito --format json`,
 * the median of 20. The argument is the path of tally. The aims are 1 us and 50
 * ms.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/clock.h"
#include "table/table.h"

#define ROUNDS 40
#define RUNS 20
#define QUERIES_MAX 8192

struct query {
    const struct machine_row *machine;
    const char *name;
};

struct queries {
    size_t count;
    struct query rows[QUERIES_MAX];
};

static void
add(struct queries *q, const struct machine_row *machine, const char *name)
{
    if (q->count < QUERIES_MAX)
        q->rows[q->count++] = (struct query){machine, name};
}

static bool
find_event(const struct query *q)
{
    return event_find(q->machine, q->name) != NULL;
}

static bool
find_register(const struct query *q)
{
    return register_find(q->machine, q->name) != NULL;
}

/* Prints the ns of a look-up, in the best of the rounds. */
static void
measure(const char *what, const struct queries *q,
        bool (*find)(const struct query *q))
{
    double best = 1e9;
    size_t found = 0;

    for (int round = 0; round < ROUNDS; round++) {
        const double start = clock_seconds(CLOCK_MONOTONIC);
        found = 0;
        for (size_t i = 0; i < q->count; i++)
            found += find(&q->rows[i]);
        const double spent = clock_seconds(CLOCK_MONOTONIC) - start;
        best = spent < best ? spent : best;
    }
    printf("%-9s %7.1f ns  (%zu names, %zu found)\n", what,
           1e9 * best / (double)(q->count > 0 ? q->count : 1), q->count, found);
}

/* Returns a code as users type it. The texts live until the end. */
static const char *
code_text(int32_t code)
{
    static char texts[QUERIES_MAX][12];
    static size_t count;
    char *text = texts[count < QUERIES_MAX ? count++ : 0];

    snprintf(text, sizeof(texts[0]), "0x%x", (unsigned)code);
    return text;
}

static void
gather(const struct machine_row *m, struct queries *names,
       struct queries *aliases, struct queries *codes,
       struct queries *registers)
{
    for (size_t i = 0; i < m->event_count; i++) {
        const struct event_row *e = &m->events[i];
        add(names, m, e->name);
        for (const char *const *a = e->aliases; *a != NULL; a++)
            add(aliases, m, *a);
        if (e->code >= 0 && strcmp(e->unit, m->units[0].name) == 0)
            add(codes, m, code_text(e->code));
    }
    for (size_t i = 0; i < m->register_count; i++)
        add(registers, m, m->registers[i].name);
}

static void
measure_lookups(void)
{
    static struct queries names, aliases, codes, registers;

    for (size_t m = 0; m < MACHINE_COUNT; m++)
        gather(&tally_machines[m], &names, &aliases, &codes, &registers);
    measure("name", &names, find_event);
    measure("alias", &aliases, find_event);
    measure("code", &codes, find_event);
    measure("register", &registers, find_register);
}

/* Returns the seconds of one run, or a negative number where it fails. */
static double
run(const char *tally)
{
    const double start = clock_seconds(CLOCK_MONOTONIC);
    const pid_t child = fork();
    int status = 0;

    if (child == 0) {
        const int null = open("/dev/null", O_WRONLY);
        if (null >= 0)
            dup2(null, STDOUT_FILENO);
        execl(tally, "tally", "list", "-m", "montecito", "--format", "json",
              (char *)NULL);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        return -1;
    return clock_seconds(CLOCK_MONOTONIC) - start;
}

static int
measure_process(const char *tally)
{
    double times[RUNS];

    for (int i = 0; i < RUNS; i++) {
        times[i] = run(tally);
        if (times[i] < 0) {
            fprintf(stderr, "lookup: %s list did not work\n", tally);
            return 1;
        }
    }
    printf("tally list -m montecito --format json: %.1f ms (median of %d)\n",
           1e3 * median(times, RUNS), RUNS);
    return 0;
}

int
main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: lookup TALLY\n");
        return 2;
    }
    measure_lookups();
    return measure_process(argv[1]);
}
