/* SPDX-License-Identifier: MIT */
#include "host/sysfs.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/parse.h"

#define DEVICES "bus/event_source/devices"

static bool
device_path(const struct host_root *root, char *path, const char *pmu,
            const char *folder, const char *name)
{
    char part[HOST_PATH];
    const int length =
        snprintf(part, sizeof(part), DEVICES "%s%s%s%s%s%s", pmu ? "/" : "",
                 pmu ? pmu : "", folder ? "/" : "", folder ? folder : "",
                 name ? "/" : "", name ? name : "");

    return length > 0 && (size_t)length < sizeof(part) &&
           host_sys_path(root, path, HOST_PATH, part);
}

/* What a person wrote must not lead out of the folder. */
static bool
plain(const char *name)
{
    return name[0] != '\0' && name[0] != '.' && strchr(name, '/') == NULL;
}

bool
host_pmu_has(const struct host_root *root, const char *pmu, const char *folder,
             const char *name)
{
    char path[HOST_PATH];

    return plain(pmu) && plain(name) &&
           device_path(root, path, pmu, folder, name) &&
           access(path, F_OK) == 0;
}

int
host_pmu_text(const struct host_root *root, const char *pmu, const char *folder,
              const char *name, char *text, size_t size)
{
    char path[HOST_PATH];

    if (!plain(pmu) || !plain(name) ||
        !device_path(root, path, pmu, folder, name))
        return -1;
    return host_read_text(path, text, size);
}

void
host_cpus_parse(const char *text, cpu_set_t *cpus)
{
    CPU_ZERO(cpus);
    while (*text >= '0' && *text <= '9') {
        char *end;
        const unsigned long low = strtoul(text, &end, 10);
        unsigned long high = low;
        if (*end == '-')
            high = strtoul(end + 1, &end, 10);
        for (unsigned long cpu = low; cpu <= high && cpu < CPU_SETSIZE; cpu++)
            CPU_SET(cpu, cpus);
        text = end + (*end == ',');
    }
}

bool
host_pmu_read(const struct host_root *root, const char *name,
              struct host_pmu *pmu)
{
    char text[HOST_FILE];
    uint64_t type;

    if (strlen(name) >= sizeof(pmu->name) ||
        host_pmu_text(root, name, NULL, "type", text, sizeof(text)) != 0 ||
        !host_number(text, 10, &type) || type > INT32_MAX)
        return false;
    *pmu = (struct host_pmu){.type = (uint32_t)type};
    strcpy(pmu->name, name);
    if (host_pmu_text(root, name, NULL, "cpus", text, sizeof(text)) == 0) {
        host_cpus_parse(text, &pmu->cpus);
        pmu->hybrid = strncmp(name, "cpu_", 4) == 0 && text[0] != '\0';
    } else if (host_pmu_text(root, name, NULL, "cpumask", text, sizeof(text)) ==
               0) {
        host_cpus_parse(text, &pmu->cpus);
        pmu->uncore = true;
    }
    return true;
}

static int
visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

int
host_pmu_each(const struct host_root *root, const char *pmu, const char *folder,
              int (*take)(void *user, const char *name), void *user)
{
    char path[HOST_PATH];
    struct dirent **entries;
    int count, stop = 0;

    if (!device_path(root, path, pmu, folder, NULL))
        return 0;
    count = scandir(path, &entries, visible, versionsort);
    for (int i = 0; i < count; i++) {
        if (stop == 0)
            stop = take(user, entries[i]->d_name);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return stop;
}

struct hybrid {
    const struct host_root *root;
    struct host_pmu *pmus;
    size_t count;
};

static int
take_hybrid(void *user, const char *name)
{
    struct hybrid *h = user;
    struct host_pmu pmu;

    if (strncmp(name, "cpu_", 4) == 0 && host_pmu_read(h->root, name, &pmu) &&
        pmu.hybrid)
        h->pmus[h->count++] = pmu;
    return h->count == HOST_HYBRID;
}

/* The performance cores stand first, as in perf. */
static int
by_type(const void *a, const void *b)
{
    const struct host_pmu *p = a, *q = b;

    return (p->type > q->type) - (p->type < q->type);
}

size_t
host_hybrid_find(const struct host_root *root, struct host_pmu *pmus)
{
    struct hybrid h = {root, pmus, 0};

    if (host_pmu_has(root, "cpu", NULL, "type"))
        return 0;
    host_pmu_each(root, NULL, NULL, take_hybrid, &h);
    qsort(pmus, h.count, sizeof(*pmus), by_type);
    return h.count;
}
