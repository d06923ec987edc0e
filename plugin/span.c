/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/span.h"

#include "plugin/plugin.h"
#include "table/signals.h"

/*
 * Returns the instructions until the next look at the clock: half of those to
 * the boundary, if they take as long as the last did, so that looks come more
 * often towards the boundary. On bzip2, a look every 20,000 instructions takes
 * as much time as all else together.
 */
static uint64_t
next_look(const struct strand *s, uint64_t clock, uint64_t interval)
{
    const double left = (double)(interval - clock % interval);
    const double pace = (double)(clock - s->interval.clock + 1) /
                        (double)(s->interval.passed + 1);
    const double half = left / pace / 2;

    return half > LOOK_LEAST ? (uint64_t)half : LOOK_LEAST;
}

void
plugin_snapshot(struct strand *strand)
{
    struct plugin *p = &tally_plugin;
    const struct session_request *r = &p->request;
    struct totals sum, derived;

    strand_drain(strand);
    counts_sum_all(&p->process, strand->counts, &sum);
    derived = sum;
    signals_derive(r->params, r->components, derived.signal);
    const uint64_t clock = strand->counts->born + derived.signal[SIGNAL_CYCLES];
    strand->interval.length = next_look(strand, clock, r->interval);
    strand->interval.clock = clock;
    strand->interval.passed = 0;
    if (clock / r->interval == strand->interval.boundary ||
        strand->counts == p->spare)
        return;
    strand->interval.boundary = clock / r->interval;
    pthread_mutex_lock(&p->lock);
    counts_snap(&p->process, strand->counts, strand->interval.boundary, &sum);
    pthread_mutex_unlock(&p->lock);
}

void
plugin_look(struct strand *strand)
{
    const struct session_request *r = &tally_plugin.request;

    if (r->slices <= 1) {
        plugin_snapshot(strand);
        return;
    }
    strand->interval.passed = 0;
    strand_begin_slice(strand, (strand->span.slice + 1) % r->slices);
}
