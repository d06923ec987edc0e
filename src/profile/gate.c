/* SPDX-License-Identifier: MIT */
#include "profile/gate.h"

#include <string.h>

/* Returns how many threads' counts are not to be had. */
static unsigned
add_region(struct region_view *view, struct totals *turns)
{
    struct region_thread thread;
    struct region_view_strand strand;
    const unsigned count = view->rules->turns;

    for (unsigned i = 0; region_view_thread(view, i, &thread); i++)
        for (unsigned turn = 0; turn < count; turn++)
            totals_add(&turns[turn], &thread.totals[turn]);
    if (view->state == REGION_ENDED)
        return view->lost;
    for (unsigned i = 0; region_view_strand(view, &i, &strand);)
        for (unsigned turn = 0; turn < count; turn++)
            totals_add(&turns[turn], &strand.totals[turn]);
    return view->lost + view->apart;
}

static unsigned
add_all(int fd, const struct region_rules *rules, struct totals *turns)
{
    unsigned missing = 0;

    for (unsigned i = 0;; i++) {
        struct region_view view;
        i = region_view_next(fd, i);
        if (i >= SESSION_REGIONS)
            return missing;
        if (region_view_open(&view, fd, i, rules) == 0 && view.wrong == NULL &&
            view.state != REGION_FREE)
            missing += add_region(&view, turns);
    }
}

void
gate_turn(struct gate *gate, bool open, int fd,
          const struct region_rules *rules)
{
    struct totals now[REGION_TURNS];

    if (open == gate->open)
        return;
    memset(now, 0, sizeof(now));
    const unsigned missing = add_all(fd, rules, now);
    gate->missing = missing > gate->missing ? missing : gate->missing;
    gate->open = open;
    gate->opened += open;
    if (open)
        memcpy(gate->from, now, sizeof(now));
    for (unsigned t = 0; !open && t < REGION_TURNS; t++) {
        for (unsigned s = 0; s < SIGNAL_COUNT; s++) {
            const uint64_t from = gate->from[t].signal[s];
            const uint64_t to = now[t].signal[s];
            gate->sum[t].signal[s] += to > from ? to - from : 0;
        }
    }
}
