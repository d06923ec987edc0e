/* SPDX-License-Identifier: MIT */
/* What the parts that write a page share. Each function that can fail returns
 * 0, TALLY_ENOMEM, or TALLY_EIO with errno, and logs nothing. */
#ifndef TALLY_RECORD_PAGE_WRITER_H
#define TALLY_RECORD_PAGE_WRITER_H

#include <jansson.h>

#include "record/page.h"
#include "record/page_places.h"
#include "record/page_section.h"
#include "record/page_tree.h"

struct page_writer {
    const struct record *record;
    struct resolver *resolver;
    const struct page_options *options;
    FILE *out;
    struct page_places places;
    struct page_tree tree;
    struct numbering texts; /* texts of the page, by text of the resolver */
    struct bytes data;      /* of the section that is being written */
};

/* Returns the page's number of a text of the resolver; NUMBERING_NONE: no
 * memory, which page_writer_section() tells. */
uint32_t page_writer_text(struct page_writer *w, uint32_t text);

/* Appends the page's number of a text to the section. */
void page_writer_put_text(struct page_writer *w, uint32_t text);

/* Writes the section's data under a name, and empties it. `number` stands
 * behind the name, unless it is SIZE_MAX. */
int page_writer_section(struct page_writer *w, const char *name, size_t number);

/* Writes the functions, the tree and the counts of its nodes; sets big[event]
 * where sums of the event may need more than 53 bits. */
int page_write_calls(struct page_writer *w, bool *big);

/* Writes the instructions and their counts. */
int page_write_code(struct page_writer *w);

/* Writes the lines that have code, and the sources. */
int page_write_sources(struct page_writer *w);

/* Writes the objects and their counts, of a record that has objects. */
int page_write_objects(struct page_writer *w);

#endif
