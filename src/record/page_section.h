/* SPDX-License-Identifier: MIT */
/*
 * A part of the data of a page: bytes that a script of the page reads when they
 * are needed. In the page the bytes are zlib's deflate, in base64, as the text
 * of a script element that no browser runs.
 */
#ifndef TALLY_RECORD_PAGE_SECTION_H
#define TALLY_RECORD_PAGE_SECTION_H

#include <stdio.h>

#include "record/bytes.h"

/* Writes the section as an element with the id "data-NAME". The name is tally's
 * own and needs no escaping. 0, TALLY_ENOMEM, or TALLY_EIO with errno. */
int page_section_write(const char *name, const struct bytes *data, FILE *out);

#endif
