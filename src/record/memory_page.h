/* SPDX-License-Identifier: MIT */
/*
 * Why data miss, as one page for a browser: findings, objects, sets, lines that
 * threads take from each other, reuse, and lines of source with their text. The
 * page needs no network and no other file.
 *
 * doc/format/page.md says what data the page has.
 */
#ifndef TALLY_RECORD_MEMORY_PAGE_H
#define TALLY_RECORD_MEMORY_PAGE_H

#include <stdio.h>

#include "record/memory.h"
#include "record/source_text.h"

struct memory_page_options {
    const char *creator;             /* "tally 1.2.3" */
    const struct source_move *moves; /* sources that moved */
    size_t move_count;
};

/* Writes the page. Returns 0, TALLY_ENOMEM, or TALLY_EIO with errno; logs
 * nothing. */
int memory_page(const struct memory *m,
                const struct memory_page_options *options, FILE *out);

#endif
