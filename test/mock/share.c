/* SPDX-License-Identifier: MIT */
/*
 * As the kernel does it: pinned groups first; the others in their order, until
 * one finds no room; each tick another of them is the first. Over a full turn
 * that makes a share, which is given out evenly.
 */
#include "share.h"

enum { GROUPS = 512 };

/* Counters of one PMU that are in use. */
struct room {
    unsigned general;
    uint64_t fixed;
    bool closed; /* an exclusive group has it */
};

struct groups {
    const struct mock_event *leader[GROUPS];
    unsigned count;
};

bool
mock_event_on(const struct mock_event *event)
{
    return event->state->on && event->leader->state->on;
}

static bool
has_fixed(const struct mock_pmu *pmu, const struct perf_event_attr *attr)
{
    const uint64_t id = attr->config & UINT32_MAX;

    return attr->type == PERF_TYPE_HARDWARE && id < 64 && pmu->fixed >> id & 1;
}

/* Whether a counter is left for the event; takes it. */
static bool
take(struct room *room, const struct mock_event *event, unsigned counters)
{
    const struct perf_event_attr *attr = &event->state->attr;
    const uint64_t bit = 1ull << (attr->config & 63);

    if (event->pmu->topdown && attr->type == event->pmu->type &&
        !(attr->config & 0xff))
        return true;
    if (has_fixed(event->pmu, attr) && !(room->fixed & bit)) {
        room->fixed |= bit;
        return true;
    }
    room->general++;
    return !event->pmu->counters || room->general <= counters;
}

static unsigned
left(const struct mock_pmu *pmu)
{
    return pmu->counters > pmu->taken ? pmu->counters - pmu->taken : 0;
}

static bool
fits(const struct mock_kernel *kernel, const struct mock_event *leader,
     struct room *room)
{
    const bool exclusive = leader->state->attr.exclusive;
    struct room after = *room;

    if (room->closed || (exclusive && (room->general || room->fixed)))
        return false;
    for (const struct mock_event *at = kernel->events; at; at = at->next)
        if (at->leader == leader && at->pmu && !take(&after, at, left(at->pmu)))
            return false;
    after.closed = exclusive;
    *room = after;
    return true;
}

bool
mock_group_fits(const struct mock_kernel *kernel,
                const struct mock_event *leader, const struct mock_event *added)
{
    struct room room = {0};

    for (const struct mock_event *at = kernel->events; at; at = at->next)
        if (at->leader == leader && at->pmu &&
            !take(&room, at, at->pmu->counters))
            return false;
    return !added->pmu || take(&room, added, added->pmu->counters);
}

/* The PMU of a group is that of its first event in hardware. */
static const struct mock_pmu *
pmu_of(const struct mock_kernel *kernel, const struct mock_event *leader)
{
    for (const struct mock_event *at = kernel->events; at; at = at->next)
        if (at->leader == leader && at->pmu)
            return at->pmu;
    return NULL;
}

/* The groups that want counters of the same PMU at the same time. */
static void
rivals(const struct mock_kernel *kernel, const struct mock_event *leader,
       bool pinned, struct groups *groups)
{
    const struct mock_pmu *pmu = pmu_of(kernel, leader);

    groups->count = 0;
    for (const struct mock_event *at = kernel->events; at; at = at->next) {
        if (at->leader != at || !at->state->on || groups->count == GROUPS ||
            at->state->pid != leader->state->pid ||
            at->state->cpu != leader->state->cpu ||
            at->state->attr.pinned != pinned || pmu_of(kernel, at) != pmu)
            continue;
        groups->leader[groups->count++] = at;
    }
}

/* Whether the group gets on when group `first` is the first of the turn. */
static bool
runs(const struct mock_kernel *kernel, const struct groups *groups,
     unsigned first, const struct mock_event *leader, struct room room)
{
    for (unsigned i = 0; i < groups->count; i++) {
        const struct mock_event *at =
            groups->leader[(first + i) % groups->count];
        if (!fits(kernel, at, &room))
            return false;
        if (at == leader)
            return true;
    }
    return false;
}

static struct mock_share
rotate(const struct mock_kernel *kernel, const struct mock_event *leader)
{
    struct mock_share share = {0};
    struct groups groups;
    struct room room = {0};

    rivals(kernel, leader, true, &groups);
    for (unsigned i = 0; i < groups.count; i++) {
        const bool fit = fits(kernel, groups.leader[i], &room);
        if (groups.leader[i] == leader)
            return (struct mock_share){fit, 1, !fit};
    }
    rivals(kernel, leader, false, &groups);
    for (unsigned first = 0; first < groups.count; first++)
        share.part += runs(kernel, &groups, first, leader, room);
    share.whole = groups.count ? groups.count : 1;
    return share;
}

struct mock_share
mock_share(const struct mock_kernel *kernel, const struct mock_event *event)
{
    const struct mock_pmu *pmu = pmu_of(kernel, event->leader);
    struct mock_share share = {1, 1, false};

    if (!pmu)
        return share;
    share = rotate(kernel, event->leader);
    share.part *= 100 - pmu->steal;
    share.whole *= 100;
    if (event->state->cpu == -1) {
        share.part *= pmu->share;
        share.whole *= 100;
    }
    return share;
}
