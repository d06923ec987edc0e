/* SPDX-License-Identifier: MIT */
#include "cli/host_targets.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"

static int
bad_list(const char *option, const char *what, const char *text)
{
    escape_printf(stderr, "tally count: %s takes %s, not '%s'\n", option, what,
                  text);
    return EXIT_USAGE;
}

/* "17,18" */
static int
read_ids(const char *option, const char *text, pid_t **ids, size_t *count)
{
    const char *p = text;

    for (;;) {
        char *end;
        errno = 0;
        const long id = strtol(p, &end, 10);
        if (end == p || *p < '0' || *p > '9' || errno != 0 || id <= 0 ||
            id > INT_MAX || (*end != ',' && *end != '\0'))
            return bad_list(option, "process numbers such as 17,18", text);
        pid_t *more = reallocarray(*ids, *count + 1, sizeof(*more));
        if (more == NULL)
            return EXIT_OURS;
        *ids = more;
        more[(*count)++] = (pid_t)id;
        if (*end == '\0')
            return 0;
        p = end + 1;
    }
}

/* "0-3,7" as the kernel and perf write it. */
static bool
read_cpus(const char *text, cpu_set_t *cpus)
{
    const char *p = text;

    CPU_ZERO(cpus);
    for (;;) {
        char *end;
        if (*p < '0' || *p > '9')
            return false;
        const unsigned long first = strtoul(p, &end, 10);
        unsigned long last = first;
        if (*end == '-') {
            p = end + 1;
            if (*p < '0' || *p > '9')
                return false;
            last = strtoul(p, &end, 10);
        }
        if (first > last || last >= CPU_SETSIZE)
            return false;
        for (unsigned long cpu = first; cpu <= last; cpu++)
            CPU_SET(cpu, cpus);
        if (*end == '\0')
            return true;
        if (*end != ',')
            return false;
        p = end + 1;
    }
}

static bool
online_cpus(cpu_set_t *cpus)
{
    char text[4096] = "";
    FILE *file = fopen("/sys/devices/system/cpu/online", "re");

    if (file == NULL)
        return false;
    const bool read = fgets(text, sizeof(text), file) != NULL;
    fclose(file);
    text[strcspn(text, "\n")] = '\0';
    return read && read_cpus(text, cpus);
}

/* Returns the first cpu of `wanted` that `online` lacks, or -1. */
static int
missing_cpu(const cpu_set_t *wanted, const cpu_set_t *online)
{
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET((size_t)cpu, wanted) && !CPU_ISSET((size_t)cpu, online))
            return cpu;
    return -1;
}

static int
find_cpus(const struct count_request *r, cpu_set_t *cpus)
{
    cpu_set_t online;
    const bool known = online_cpus(&online);

    if (r->cpus != NULL && !read_cpus(r->cpus, cpus))
        return bad_list("-C", "cpus such as 0-3,7", r->cpus);
    if (r->cpus != NULL && known && missing_cpu(cpus, &online) >= 0) {
        fprintf(stderr, "tally count: this computer has no cpu %d online\n",
                missing_cpu(cpus, &online));
        return EXIT_USAGE;
    }
    if (r->cpus != NULL)
        return 0;
    *cpus = online;
    if (known)
        return 0;
    fprintf(stderr, "tally count: the kernel does not tell its cpus "
                    "(/sys/devices/system/cpu/online)\n");
    return EXIT_OURS;
}

/* Options that go together, and those that do not. */
static int
check_aims(const struct count_request *r)
{
    const bool tasks = r->pids != NULL || r->tids != NULL;
    const bool cpus = r->all_cpus || r->cpus != NULL;
    const char *wrong = NULL;

    if (cpus && tasks)
        wrong = "-a and -C count whole cpus, -p and -t tasks: give one kind";
    else if (r->aggregate != AGGREGATE_NONE && !cpus)
        wrong = "-A, --per-core and --per-socket show cpus: give -a or -C too";
    else if (r->per_thread && !tasks)
        wrong = "--per-thread shows the threads of -p or -t; those of a "
                "program that is run: -m host-model --per-thread";
    if (wrong == NULL)
        return 0;
    escape_printf(stderr, "tally count: %s\n", wrong);
    return EXIT_USAGE;
}

int
host_targets_find(const struct count_request *r, struct host_targets *t)
{
    int status = check_aims(r);

    *t = (struct host_targets){.whole_cpus = r->all_cpus || r->cpus != NULL};
    CPU_ZERO(&t->cpus);
    if (status == 0 && r->pids != NULL)
        status = read_ids("-p", r->pids, &t->pids, &t->pid_count);
    if (status == 0 && r->tids != NULL)
        status = read_ids("-t", r->tids, &t->tids, &t->tid_count);
    if (status == 0 && t->whole_cpus)
        status = find_cpus(r, &t->cpus);
    return status;
}

void
host_targets_finish(struct host_targets *t)
{
    free(t->pids);
    free(t->tids);
    *t = (struct host_targets){0};
}

char *
host_targets_text(const struct count_request *r)
{
    char *text = NULL;
    int n;

    if (r->cpus != NULL)
        n = asprintf(&text, "cpu %s", r->cpus);
    else if (r->all_cpus)
        n = asprintf(&text, "system wide");
    else if (r->pids == NULL && r->tids == NULL)
        return NULL;
    else
        n = asprintf(&text, "%s%s%s%s%s", r->pids != NULL ? "process id " : "",
                     r->pids != NULL ? r->pids : "",
                     r->pids != NULL && r->tids != NULL ? ", " : "",
                     r->tids != NULL ? "thread id " : "",
                     r->tids != NULL ? r->tids : "");
    return n < 0 ? NULL : text;
}

static long
topology(int cpu, const char *name)
{
    char path[128];
    long number = -1;

    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/%s",
             cpu, name);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return -1;
    if (fscanf(file, "%ld", &number) != 1)
        number = -1;
    fclose(file);
    return number;
}

/* Returns the memory node of a cpu: the cpu's folder has a link to the node. */
static int
node_of(int cpu)
{
    char path[128];

    for (int node = 0; node < 1024; node++) {
        snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/node%d",
                 cpu, node);
        if (access(path, F_OK) == 0)
            return node;
    }
    return -1;
}

static void
part_name(const struct count_request *r, const struct host_target *t,
          char *text, size_t size)
{
    if (t->cpu < 0)
        snprintf(text, size, "thread %d%s%s", (int)t->tid,
                 t->name[0] != '\0' ? " " : "", t->name);
    else if (r->aggregate == AGGREGATE_CORE)
        snprintf(text, size, "socket %ld core %ld",
                 topology(t->cpu, "physical_package_id"),
                 topology(t->cpu, "core_id"));
    else if (r->aggregate == AGGREGATE_DIE)
        snprintf(text, size, "socket %ld die %ld",
                 topology(t->cpu, "physical_package_id"),
                 topology(t->cpu, "die_id"));
    else if (r->aggregate == AGGREGATE_NODE)
        snprintf(text, size, "node %d", node_of(t->cpu));
    else if (r->aggregate == AGGREGATE_SOCKET)
        snprintf(text, size, "socket %ld",
                 topology(t->cpu, "physical_package_id"));
    else
        snprintf(text, size, "cpu %d", t->cpu);
}

static size_t
part_of(const char (*names)[64], size_t count, const char *name)
{
    size_t i = 0;

    while (i < count && strcmp(names[i], name) != 0)
        i++;
    return i;
}

/* Adds the target's readings to those of its core, socket, cpu or thread. */
static void
add_target(struct host_value *sums, const struct host_value *values,
           size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sums[i].reading.value += values[i].reading.value;
        sums[i].reading.enabled += values[i].reading.enabled;
        sums[i].reading.running += values[i].reading.running;
        sums[i].counted = sums[i].counted || values[i].counted;
    }
}

struct count_part *
host_parts(const struct count_request *r, const struct host_event *events,
           size_t event_count, const struct host_counts *counts,
           struct count_value (*value_of)(const struct host_event *event,
                                          const struct host_value *value),
           size_t *part_count)
{
    const size_t n = counts->target_count;
    char(*names)[64] = calloc(n + 1, sizeof(*names));
    struct host_value *sums = calloc(n * event_count + 1, sizeof(*sums));
    struct count_part *parts = calloc(n + 1, sizeof(*parts));
    size_t count = 0;

    *part_count = 0;
    if (names == NULL || sums == NULL || parts == NULL ||
        (r->aggregate == AGGREGATE_NONE && !r->per_thread))
        goto out;
    for (size_t t = 0; t < n; t++) {
        char name[64];
        part_name(r, &counts->targets[t], name, sizeof(name));
        const size_t at = part_of(names, count, name);
        if (at == count)
            memcpy(names[count++], name, sizeof(name));
        add_target(&sums[at * event_count], &counts->of_target[t * event_count],
                   event_count);
    }
    for (size_t p = 0; p < count; p++) {
        struct count_value *values = calloc(event_count, sizeof(*values));
        if (values == NULL)
            break;
        for (size_t e = 0; e < event_count; e++) {
            struct host_value *v = &sums[p * event_count + e];
            if (!v->counted)
                v->reason = counts->values[e].reason;
            values[e] = value_of(&events[e], v);
            if (!values[e].counted)
                values[e].reason = NULL; /* the sum tells it */
        }
        memcpy(parts[p].name, names[p], sizeof(parts[p].name));
        parts[p].values = values;
        *part_count = p + 1;
    }
out:
    free(names);
    free(sums);
    return parts;
}

void
host_parts_free(struct count_part *parts, size_t count)
{
    for (size_t i = 0; parts != NULL && i < count; i++)
        free((void *)parts[i].values);
    free(parts);
}
