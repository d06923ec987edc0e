/* SPDX-License-Identifier: MIT */
/*
 * The pages of accesses, and the TLBs for what the filters of pages do not
 * know. A TLB that clears its used bits makes pages and lines unknown, a miss
 * that is walked for sends requests to the L2.
 */
#ifndef TALLY_MACHINE_PAGES_H
#define TALLY_MACHINE_PAGES_H

#include "machine/strand.h"
#include "machine/queue.h"

void touch_data_page_slow(struct strand *s, uint64_t addr,
                          enum request_kind kind, unsigned instruction);
/* The second level is asked for what the first lacks. */
void touch_code_page_slow(struct strand *s, uint64_t addr, uint64_t page,
                          uint64_t *known);

/* Makes the strand forget the pages that it knows, where a huge page has become
 * small pages, or small pages a huge page, since the last call. For the
 * strand's own thread. A strand makes this call too when it comes to a page
 * that it does not know.
 */
void pages_follow_huge(struct strand *s);

/* Returns the filter's line at `addr`, also one that waits for the used bit of
 * its page. */
static inline uint64_t
known_line(const struct filter *f, uint64_t addr)
{
    return filter_line(f, addr) & ~LINE_WAITS;
}

/* Return whether an access or a fetch changes nothing of its page: no TLB runs,
 * or the filter knows the page. */
static inline bool
data_page_known(const struct strand *s, uint64_t addr)
{
    const uint64_t page = addr >> s->pages.shift;

    return !s->runs.dtlb || __atomic_load_n(&s->pages.data[page % FILTER_PAGES],
                                            __ATOMIC_RELAXED) == page + 1;
}

static inline bool
code_page_known(const struct strand *s, uint64_t addr)
{
    const uint64_t page = addr >> s->pages.code_shift;

    return !s->runs.itlb || __atomic_load_n(&s->pages.code[page % FILTER_PAGES],
                                            __ATOMIC_RELAXED) == page + 1;
}

/* Ask the TLBs for the page of an access or a fetch, where one runs. */
static inline void
touch_data_page(struct strand *s, uint64_t addr, enum request_kind kind,
                unsigned instruction)
{
    if (!data_page_known(s, addr))
        touch_data_page_slow(s, addr, kind, instruction);
}

static inline __attribute__((always_inline)) void
touch_code_page(struct strand *s, uint64_t addr)
{
    const uint64_t page = addr >> s->pages.code_shift;

    if (!code_page_known(s, addr))
        touch_code_page_slow(s, addr, page,
                             &s->pages.code[page % FILTER_PAGES]);
}

#endif
