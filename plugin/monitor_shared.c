/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/monitor_shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/gateway_read.h"
#include "pmu/pmu.h"

struct line {
    const struct event_row *event;
    uint32_t signal;
    bool heard; /* some counter has chosen it */
    uint64_t last;
};

static struct {
    struct line *lines; /* owned */
    size_t count, heard;
} shared;

/* Codes of a SPARC T4's controller below count one of its four ports (TABLE
 * 10-7), which the model does not tell apart. */
#define T4_PORT_CODES 8

/* "EVENT:at=NAME" is NAME/EVENT to a monitor; a number, so many units behind
 * the first. */
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
    const unsigned long behind = strtoul(at + 4, &end, 10);
    const bool number = *end == '\0';
    const int length =
        snprintf(name, sizeof(name), "%s/%.*s", number ? e->unit : at + 4,
                 (int)(at - e->name), e->name);
    if (length < 0 || (size_t)length >= sizeof(name) ||
        tally_pmu_signal_find(pmu, name, signal) != 0)
        return false;
    *signal += number ? (uint32_t)behind << 16 : 0;
    return *signal >> 24 != TALLY_PMU_CPU;
}

bool
shared_start(const struct tally_pmu *pmu, const struct machine_row *machine)
{
    const size_t most = machine->narrowed_event_count;

    shared.lines = calloc(most + 1, sizeof(*shared.lines));
    if (shared.lines == NULL)
        return false;
    for (size_t i = 0; i < most; i++) {
        struct line *line = &shared.lines[shared.count];
        line->event = &machine->narrowed_events[i];
        shared.count += find_signal(pmu, line->event, &line->signal);
    }
    return true;
}

void
shared_forget(void)
{
    free(shared.lines);
    shared.lines = NULL;
    shared.count = shared.heard = 0;
}

void
shared_sync(struct tally_pmu *pmu)
{
    for (size_t i = 0; shared.heard != 0 && i < shared.count; i++) {
        struct line *line = &shared.lines[i];
        if (!line->heard)
            continue;
        const uint64_t now = gateway_event_count_all(line->event);
        pmu_shared_signal(pmu, line->signal, now - line->last, &pmu_no_context);
        line->last = now;
    }
}

void
shared_choose(const struct tally_pmu *pmu)
{
    shared.heard = 0;
    for (size_t i = 0; i < shared.count; i++) {
        struct line *line = &shared.lines[i];
        const bool before = line->heard;
        line->heard =
            pmu_shared_heard(pmu, line->signal) && gateway_learn(line->event);
        if (line->heard && !before)
            line->last = gateway_event_count_all(line->event);
        shared.heard += line->heard;
    }
}
