/* SPDX-License-Identifier: MIT */
/*
 * Names of libpfm4. Its tables are found out once for the process and kept in
 * the library, which guards nothing against threads: hence the lock, the one
 * piece of state in this folder.
 */
#include <linux/perf_event.h>
/* Its copy of the kernel's header clashes with the kernel's. */
#define __PERFMON_PERF_EVENT_H__
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/parse.h"
#include "host/sysfs.h"
#include "table/text.h"

#define ATTRIBUTES_SHOWN 12

static pthread_mutex_t pfm_lock = PTHREAD_MUTEX_INITIALIZER;

/* libpfm fills in as much as its own copy of the kernel's struct has. */
union attr_room {
    struct perf_event_attr attr;
    char room[512];
};

struct owner {
    const struct host_root *root;
    uint32_t type;
    struct host_pmu pmu;
};

static int
take_owner(void *user, const char *name)
{
    struct owner *o = user;

    return host_pmu_read(o->root, name, &o->pmu) && o->pmu.type == o->type;
}

/* Where the kernel's own PMU of this type wants to be opened. */
static void
set_owner(const struct host_list *list, struct host_event *event)
{
    struct owner o = {.root = list->root, .type = event->attr.type};

    event->row = host_row(event->attr.type, event->attr.config);
    if (event->attr.type < PERF_TYPE_RAW ||
        host_pmu_each(list->root, NULL, NULL, take_owner, &o) == 0 ||
        (event->attr.type == PERF_TYPE_RAW && !o.pmu.hybrid))
        return;
    memcpy(event->pmu, o.pmu.name, sizeof(event->pmu));
    event->cpus = o.pmu.cpus;
    event->uncore = o.pmu.uncore;
}

/* The bits that the text decides; libpfm sets more for sampling. */
static void
set_attr(struct host_event *event, const struct perf_event_attr *from, int cpu)
{
    struct perf_event_attr *to = &event->attr;

    to->type = from->type;
    to->config = from->config;
    to->config1 = from->config1;
    to->config2 = from->config2;
    to->bp_type = from->bp_type;
    to->exclude_user = from->exclude_user;
    to->exclude_kernel = from->exclude_kernel;
    to->exclude_hv = from->exclude_hv;
    to->exclude_host = from->exclude_host;
    to->exclude_guest = from->exclude_guest || !from->exclude_host;
    to->precise_ip = from->precise_ip;
    to->pinned = from->pinned;
    to->exclusive = from->exclusive;
    if (cpu >= 0 && cpu < CPU_SETSIZE) {
        CPU_ZERO(&event->cpus);
        CPU_SET((size_t)cpu, &event->cpus);
    }
}

static int
encode(const char *name, union attr_room *room, int *cpu)
{
    pfm_perf_encode_arg_t arg = {.attr = &room->attr, .size = sizeof(arg)};
    int result;

    pthread_mutex_lock(&pfm_lock);
    result = pfm_initialize(); /* the second time it does nothing */
    if (result == PFM_SUCCESS)
        result = pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3,
                                           PFM_OS_PERF_EVENT_EXT, &arg);
    pthread_mutex_unlock(&pfm_lock);
    *cpu = arg.cpu;
    return result;
}

/* "ANY, ALL, u or k": what the event of `name` takes. */
static void
join_attributes(const char *name, char *text, size_t size)
{
    const char *names[ATTRIBUTES_SHOWN];
    char stem[HOST_WORD];
    size_t count = 0;
    const char *colons = strstr(name, "::");
    const size_t start = colons == NULL ? 0 : (size_t)(colons + 2 - name);
    const size_t length = start + strcspn(name + start, ":");

    snprintf(stem, sizeof(stem), "%.*s", (int)length, name);
    const int event = pfm_find_event(stem);
    pfm_event_info_t info = {.size = sizeof(info)};
    if (event < 0 ||
        pfm_get_event_info(event, PFM_OS_PERF_EVENT_EXT, &info) != PFM_SUCCESS)
        return;
    for (int i = 0; i < info.nattrs && count < ATTRIBUTES_SHOWN; i++) {
        pfm_event_attr_info_t a = {.size = sizeof(a)};
        if (pfm_get_event_attr_info(event, i, PFM_OS_PERF_EVENT_EXT, &a) ==
            PFM_SUCCESS)
            names[count++] = a.name;
    }
    join_words(names, count, text, size);
}

/* An event that there is, asked for in a way that it does not take. */
static int
explain(const struct host_list *list, const char *name, int result)
{
    const struct shown text = shown(name, strlen(name));
    char known[256] = "";

    switch (result) {
    case PFM_ERR_NOTFOUND:
    case PFM_ERR_NOINIT:
    case PFM_ERR_NOTSUPP:
        return HOST_NOT_MINE;
    case PFM_ERR_NOMEM:
        return tally_fail(list->log, TALLY_ENOMEM, "out of memory");
    case PFM_ERR_ATTR:
    case PFM_ERR_UMASK:
        pthread_mutex_lock(&pfm_lock);
        join_attributes(name, known, sizeof(known));
        pthread_mutex_unlock(&pfm_lock);
        break;
    default:
        break;
    }
    return tally_fail(list->log, TALLY_ESYNTAX, "event '%s': libpfm: %s%s%s",
                      text.text, pfm_strerror(result),
                      known[0] != '\0' ? "; it takes " : "", known);
}

int
host_pfm_add(struct host_list *list, const char *name)
{
    union attr_room room = {.attr.size = sizeof(room.attr)};
    struct host_event *event;
    int cpu = -1;
    const int result = encode(name, &room, &cpu);

    if (result != PFM_SUCCESS)
        return explain(list, name, result);
    const int error = host_list_add(list, name, &event);
    if (error != 0)
        return error;
    set_attr(event, &room.attr, -1);
    set_owner(list, event);
    set_attr(event, &room.attr, cpu);
    return 0;
}

static void
near_pmu(struct near *near, pfm_pmu_t pmu)
{
    pfm_pmu_info_t info = {.size = sizeof(info)};

    if (pfm_get_pmu_info(pmu, &info) != PFM_SUCCESS || !info.is_present)
        return;
    for (int i = info.first_event; i != -1; i = pfm_get_event_next(i)) {
        pfm_event_info_t event = {.size = sizeof(event)};
        if (pfm_get_event_info(i, PFM_OS_PERF_EVENT_EXT, &event) == PFM_SUCCESS)
            near_add(near, event.name, NULL);
    }
}

void
host_pfm_near(struct near *near)
{
    pthread_mutex_lock(&pfm_lock);
    if (pfm_initialize() == PFM_SUCCESS)
        for (int pmu = PFM_PMU_NONE; pmu < PFM_PMU_MAX; pmu++)
            near_pmu(near, (pfm_pmu_t)pmu);
    pthread_mutex_unlock(&pfm_lock);
}
