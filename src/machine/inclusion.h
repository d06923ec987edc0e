/* SPDX-License-Identifier: MIT */
/*
 * An L2 of a core that holds all that the L1s in front of it hold
 * (l2.inclusive = l1): a line that it drives out leaves them too.
 *
 * The L1s know of it some time after: what a strand's requests drive out is
 * kept, and taken out of the L1s with the access that is the strand's
 * INCLUSION_REQUESTSth that its filters do not know, counted from the last
 * time; if the L2 has not got the line back. When queues are drained does not
 * matter. It counts for that strand.
 * test/ref/chip_ref.c is the slow, obvious twin.
 */
#ifndef TALLY_MACHINE_INCLUSION_H
#define TALLY_MACHINE_INCLUSION_H

#include "machine/queue.h"

#define INCLUSION_REQUESTS QUEUE_LENGTH

/*
 * The strand's L2 has driven out a line, by number. What no L1 has by now can
 * come back to one through the L2 only, so that it need not be kept: that is 97
 * % of what bzip2 drives out.
 */
static inline void
inclusion_note(struct strand *s, uint64_t line)
{
    const struct cache *l1i = &s->core->l1i, *l1d = &s->core->l1d;
    const unsigned shift = s->l2->line_shift;

    if (!runs_alone(s) || l1i->line_shift != shift ||
        l1d->line_shift != shift || cache_may_have(l1i, line) ||
        cache_may_have(l1d, line))
        s->back->driven.lines[s->back->driven.count++] = line;
}

/* Takes what was driven out from the L1s. Under the chip's lock, if not alone;
 * the queue is empty. */
void inclusion_settle(struct strand *s);

/* Does so if it is time, now that the strand has made `count` requests more. */
static inline void
inclusion_drained(struct strand *s, size_t count)
{
    s->back->driven.asked += count;
    if (s->back->driven.asked >= INCLUSION_REQUESTS)
        inclusion_settle(s);
}

#endif
