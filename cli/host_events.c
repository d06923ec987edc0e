/* SPDX-License-Identifier: MIT */
#include "cli/host_events.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* Written without letters, that is for all levels. */
static bool
is_plain(const struct host_event *e)
{
    const size_t size = strlen(e->name);

    return !e->attr.exclude_user && !e->attr.exclude_kernel &&
           !e->attr.exclude_hv && size > 0 &&
           (e->pmu[0] != '\0' ? e->name[size - 1] == '/'
                              : strchr(e->name, ':') == NULL);
}

bool
host_events_fall_back(struct host_event *events, size_t count)
{
    struct perf_event_attr any = {.type = PERF_TYPE_SOFTWARE,
                                  .config = PERF_COUNT_SW_DUMMY};
    struct host_reason reason;
    bool any_fell = false;

    host_attr_complete(&any, true, false, false);
    const int fd = host_open(&any, 0, -1, -1, PERF_FLAG_FD_CLOEXEC, &reason);
    if (fd >= 0)
        close(fd);
    if (fd >= 0 || reason.why != HOST_PARANOID)
        return false;
    for (size_t i = 0; i < count; i++) {
        struct host_event *e = &events[i];
        if (host_event_lacks(e) != NULL || !is_plain(e) || e->uncore ||
            !host_has_user_level(&e->attr))
            continue;
        e->attr.exclude_kernel = 1;
        e->attr.exclude_hv = 1;
        const size_t size = strlen(e->name);
        if (host_event_is_clock(e) || size + 3 > sizeof(e->name))
            continue;
        snprintf(e->name + size, sizeof(e->name) - size, "%s",
                 e->pmu[0] != '\0' ? "u" : ":u");
        any_fell = true;
    }
    return any_fell;
}

/* Returns the name of the PMU where there is one for each kind of core, or
 * NULL. */
static const char *
kind_of(const struct host_event *e)
{
    return e->pmu[0] != '\0' && !e->uncore && CPU_COUNT(&e->cpus) > 0 ? e->pmu
                                                                      : NULL;
}

struct count_value
host_event_value(const struct host_event *e, const struct host_value *v)
{
    const bool clock = host_event_is_clock(e);
    uint64_t scaled = 0;
    /* What never was enabled is 0; what never ran is not known. */
    const bool known =
        counter_scaled(&v->reading, &scaled) || v->reading.enabled == 0;
    struct count_value c = {
        .name = e->name,
        .unit = clock ? "msec" : e->unit,
        .raw = clock ? "ns" : NULL,
        .event = e->row,
        .kind = kind_of(e),
        .fidelity = v->reading.running < v->reading.enabled ? FIDELITY_ESTIMATED
                                                            : FIDELITY_EXACT,
        .measured = true,
        .counted = v->counted && known,
        .value = scaled,
        .scale = clock ? 1e-6 : e->scale,
        .enabled = v->reading.enabled,
        .running = v->reading.running,
    };
    if (!v->counted) {
        c.reason = v->reason.text;
        c.mend = v->reason.mend;
        c.code = host_why_name(v->reason.why);
    } else if (!c.counted) {
        c.reason = "it was never on a counter: others hold them all";
        c.code = "not-counted";
    }
    c.mean = (double)c.value;
    return c;
}

size_t
host_units_fold(const struct host_event *events, struct count_value *values,
                size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        struct count_value *into = NULL;
        for (size_t k = 0; k < kept && events[i].uncore; k++)
            if (strcmp(values[k].name, values[i].name) == 0)
                into = &values[k];
        if (into == NULL) {
            values[kept++] = values[i];
            continue;
        }
        into->value += values[i].value;
        into->mean += values[i].mean;
        into->stddev = hypot(into->stddev, values[i].stddev);
        into->enabled += values[i].enabled;
        into->running += values[i].running;
        if (into->counted && !values[i].counted) {
            into->counted = false;
            into->code = values[i].code;
            into->reason = values[i].reason;
            into->mend = values[i].mend;
        }
        if (values[i].fidelity > into->fidelity)
            into->fidelity = values[i].fidelity;
    }
    return kept;
}
