/* SPDX-License-Identifier: MIT */
/*
 * A record as one page for a browser: a flame graph, tables, sources and
 * instructions. The page needs no network and no other file.
 *
 * doc/format/page.md says what data the page has.
 */
#ifndef TALLY_RECORD_PAGE_H
#define TALLY_RECORD_PAGE_H

#include <stdio.h>

#include "record/resolver.h"
#include "record/source_text.h"

struct page_options {
    const size_t *events; /* of the record; the page shows the first one */
    size_t event_count;   /* at least 1 */
    const char *creator;  /* "tally 1.2.3" */
    const struct source_move *moves; /* sources that moved */
    size_t move_count;
    const struct tally_log *log; /* takes errors */
};

/* Writes the page. 0; TALLY_ENOMEM, logged; or TALLY_EIO if the stream could
 * not be written, with errno. */
int page_write(const struct record *record, struct resolver *resolver,
               const struct page_options *options, FILE *out);

#endif
