/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/guest_pmu_shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/gateway_read.h"
#include "pmu/pmu.h"

struct guest_pmu_shared_line {
    const struct event_row *event;
    uint32_t signal; /* as src/pmu numbers it */
    bool heard;      /* some counter has chosen it */
    uint64_t last;   /* the event's count at the last sync */
};

/* Codes of a SPARC T4's controller below this one count one of its four ports
 * (TABLE 10-7); the model does not know ports. */
#define T4_PORT_CODES 8

/* Finds the signal of src/pmu for an event `EVENT:at=NAME`, which src/pmu calls
 * `NAME/EVENT`. Where NAME is a number, it is the number of the unit. */
static bool
find_signal(const struct tally_pmu *pmu, const struct event_row *e,
            uint32_t *signal)
{
    const char *at = strstr(e->name, ":at=");
    char name[128], *end = NULL;

    if (at == NULL || e->fidelity == FIDELITY_IDLE)
        return false;
    if (pmu->machine->family == PMU_SPARC_T4 && e->code < T4_PORT_CODES)
        return false;
    const unsigned long unit = strtoul(at + 4, &end, 10);
    const bool number = *end == '\0';
    const int length =
        snprintf(name, sizeof(name), "%s/%.*s", number ? e->unit : at + 4,
                 (int)(at - e->name), e->name);
    if (length < 0 || (size_t)length >= sizeof(name) ||
        tally_pmu_signal_find(pmu, name, signal) != 0)
        return false;
    *signal += number ? (uint32_t)unit << 16 : 0;
    return *signal >> 24 != TALLY_PMU_CPU;
}

bool
guest_pmu_shared_start(struct guest_pmu_shared *shared,
                       const struct tally_pmu *pmu,
                       const struct machine_row *machine)
{
    const size_t most = machine->narrowed_event_count;

    shared->lines = calloc(most + 1, sizeof(*shared->lines));
    if (shared->lines == NULL)
        return false;
    for (size_t i = 0; i < most; i++) {
        struct guest_pmu_shared_line *line = &shared->lines[shared->count];
        line->event = &machine->narrowed_events[i];
        shared->count += find_signal(pmu, line->event, &line->signal);
    }
    return true;
}

void
guest_pmu_shared_finish(struct guest_pmu_shared *shared)
{
    free(shared->lines);
    shared->lines = NULL;
    shared->count = shared->heard = 0;
}

void
guest_pmu_shared_sync(struct guest_pmu_shared *shared, struct tally_pmu *pmu)
{
    for (size_t i = 0; shared->heard != 0 && i < shared->count; i++) {
        struct guest_pmu_shared_line *line = &shared->lines[i];
        if (!line->heard)
            continue;
        const uint64_t now = gateway_event_count_all(line->event);
        pmu_shared_signal(pmu, line->signal, now - line->last, &pmu_no_context);
        line->last = now;
    }
}

void
guest_pmu_shared_choose(struct guest_pmu_shared *shared,
                        const struct tally_pmu *pmu)
{
    shared->heard = 0;
    for (size_t i = 0; i < shared->count; i++) {
        struct guest_pmu_shared_line *line = &shared->lines[i];
        const bool before = line->heard;
        line->heard =
            pmu_shared_heard(pmu, line->signal) && gateway_learn(line->event);
        if (line->heard && !before)
            line->last = gateway_event_count_all(line->event);
        shared->heard += line->heard;
    }
}
