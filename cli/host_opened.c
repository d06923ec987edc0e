/* SPDX-License-Identifier: MIT */
#include "cli/host_opened.h"

#include <inttypes.h>

#include "base/escape.h"

#define IDS_SHOWN 8

static void
print_attr(const struct host_event *e, bool inherit, FILE *out)
{
    const struct perf_event_attr *a = &e->attr;

    if (e->pmu[0] != '\0')
        escape_printf(out, " PMU %s,", e->pmu);
    fprintf(out, " type %" PRIu32 ", config 0x%" PRIx64, (uint32_t)a->type,
            (uint64_t)a->config);
    if (a->config1 != 0)
        fprintf(out, ", config1 0x%" PRIx64, (uint64_t)a->config1);
    if (a->config2 != 0)
        fprintf(out, ", config2 0x%" PRIx64, (uint64_t)a->config2);
    if (a->precise_ip != 0)
        fprintf(out, ", precise_ip %d", (int)a->precise_ip);
    escape_printf(
        out, "%s%s%s%s%s%s%s%s%s", a->exclude_user ? ", exclude_user" : "",
        a->exclude_kernel ? ", exclude_kernel" : "",
        a->exclude_hv ? ", exclude_hv" : "",
        a->exclude_host ? ", exclude_host" : "",
        a->exclude_guest ? ", exclude_guest" : "",
        a->exclude_idle ? ", exclude_idle" : "", a->pinned ? ", pinned" : "",
        a->exclusive ? ", exclusive" : "", inherit ? ", inherit" : "");
}

/* "0-3,7" */
static void
print_cpus(const cpu_set_t *cpus, FILE *out)
{
    const char *before = "";

    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        const int first = cpu;
        if (!CPU_ISSET((size_t)cpu, cpus))
            continue;
        while (cpu + 1 < CPU_SETSIZE && CPU_ISSET((size_t)cpu + 1, cpus))
            cpu++;
        fprintf(out, cpu > first ? "%s%d-%d" : "%s%d", before, first, cpu);
        before = ",";
    }
}

/* Prints the targets where the event is open; an uncore event has cpus of its
 * own. */
static void
print_targets(const struct host_event *e, size_t event,
              const struct host_counts *counts, FILE *out)
{
    cpu_set_t cpus = e->cpus;
    size_t tasks = 0;

    if (!e->uncore)
        CPU_ZERO(&cpus);
    for (size_t t = 0; t < counts->target_count && !e->uncore; t++) {
        const struct host_target *target = &counts->targets[t];
        if (!counts->of_target[t * counts->event_count + event].counted)
            continue;
        if (target->cpu >= 0)
            CPU_SET((size_t)target->cpu, &cpus);
        else if (tasks++ < IDS_SHOWN)
            escape_printf(out, "%s%d", tasks == 1 ? "pid " : ",",
                          (int)target->tid);
    }
    if (tasks > IDS_SHOWN)
        fprintf(out, " and %zu more", tasks - IDS_SHOWN);
    if (CPU_COUNT(&cpus) > 0) {
        fprintf(out, "cpu ");
        print_cpus(&cpus, out);
    }
}

void
host_opened_print(const struct host_event *events, bool inherit,
                  const struct host_counts *counts, FILE *out)
{
    for (size_t i = 0; i < counts->event_count; i++) {
        const struct host_value *v = &counts->values[i];
        const bool cpus = events[i].uncore || (counts->target_count > 0 &&
                                               counts->targets[0].cpu >= 0);
        escape_printf(out, "tally: %s:", events[i].name);
        print_attr(&events[i], inherit && !cpus, out);
        fprintf(out, "; ");
        if (v->counted)
            print_targets(&events[i], i, counts, out);
        else
            escape_printf(out, "not opened: %s", v->reason.text);
        fprintf(out, "\n");
    }
    fflush(out);
}
