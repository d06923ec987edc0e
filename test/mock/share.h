/* SPDX-License-Identifier: MIT */
/* Which share of the time an event of the mock is on a counter. */
#ifndef MOCK_SHARE_H
#define MOCK_SHARE_H

#include "event.h"

struct mock_share {
    uint64_t part, whole;
    bool error; /* pinned, and without a counter: reads nothing */
};

struct mock_share
mock_share(const struct mock_kernel *kernel, const struct mock_event *event);

/* Whether the group would fit on the PMU alone, were `added` in it. */
bool mock_group_fits(const struct mock_kernel *kernel,
                     const struct mock_event *leader,
                     const struct mock_event *added);

/* Enabled, its leader too. */
bool mock_event_on(const struct mock_event *event);

#endif
