/* SPDX-License-Identifier: MIT */
#include "profile/gate.h"

#include <string.h>

/* Adds the totals of all threads of all processes to gate->now. Returns the
 * number of threads whose counts are not to be had. */
static unsigned
add_all(struct gate *gate, int fd, const struct counts_rules *rules)
{
    struct counts_thread *const ended = &gate->thread.ended;
    struct counts_view_strand *const live = &gate->thread.live;
    unsigned missing = 0;

    for (unsigned i = 0;; i++) {
        struct counts_view view;
        i = counts_view_next(fd, i);
        if (i >= SESSION_PROCESSES)
            return missing;
        if (counts_view_open(&view, fd, i, rules) != 0 || view.wrong != NULL ||
            view.state == COUNTS_FREE)
            continue;
        missing += view.lost;
        for (unsigned t = 0; counts_view_thread(&view, t, ended); t++)
            for (unsigned slice = 0; slice < rules->slices; slice++)
                totals_add(&gate->now[slice], &ended->totals[slice]);
        if (view.state == COUNTS_ENDED)
            continue;
        for (unsigned s = 0; counts_view_strand(&view, &s, live);)
            for (unsigned slice = 0; slice < rules->slices; slice++)
                totals_add(&gate->now[slice], &live->totals[slice]);
        missing += view.apart;
    }
}

void
gate_turn(struct gate *gate, bool open, int fd,
          const struct counts_rules *rules)
{
    if (open == gate->open)
        return;
    memset(gate->now, 0, sizeof(gate->now));
    const unsigned missing = add_all(gate, fd, rules);
    gate->missing = missing > gate->missing ? missing : gate->missing;
    gate->open = open;
    gate->opened += open;
    if (open)
        memcpy(gate->from, gate->now, sizeof(gate->now));
    for (unsigned t = 0; !open && t < COUNTS_SLICES; t++) {
        for (unsigned s = 0; s < SIGNAL_COUNT; s++) {
            const uint64_t from = gate->from[t].signal[s];
            const uint64_t to = gate->now[t].signal[s];
            gate->sum[t].signal[s] += to > from ? to - from : 0;
        }
    }
}
