/* SPDX-License-Identifier: MIT */
/*
 * A part of the data of a page: bytes that a script of the page reads when they
 * are needed. In the page the bytes are zlib's deflate, in base64, as the text
 * of a script element that no browser runs.
 */
#ifndef TALLY_RECORD_PAGE_SECTION_H
#define TALLY_RECORD_PAGE_SECTION_H

#include <jansson.h>
#include <stdio.h>

#include "record/bytes.h"
#include "record/record.h"

/* Writes the section as an element with the id "data-NAME". The name is tally's
 * own and needs no escaping. 0, TALLY_ENOMEM, or TALLY_EIO with errno. */
int page_section_write(const char *name, const struct bytes *data, FILE *out);

/* Writes the text of a page, with its data where the text says @DATA@: `head`,
 * which a browser reads at once (NULL: the page has none), and `data` as the
 * section `name`. Takes both. 0, TALLY_ENOMEM, or TALLY_EIO with errno. */
int page_fill(const char *text, json_t *head, const char *name, json_t *data,
              FILE *out);

/* Writes the head of a page, which a browser reads at once, and takes it. 0, or
 * TALLY_EIO or TALLY_ENOMEM. */
int page_head_write(json_t *head, FILE *out);

/* Returns a new object for the head of a page of a record: what ran, on which
 * machine, and what a reader should know of how the run ended. */
json_t *page_head(const struct record *record, const char *creator);

#endif
