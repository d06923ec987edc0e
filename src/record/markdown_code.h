/* SPDX-License-Identifier: MIT */
/* Names of foreign origin in GitHub's Markdown. */
#ifndef TALLY_RECORD_MARKDOWN_CODE_H
#define TALLY_RECORD_MARKDOWN_CODE_H

#include <stdbool.h>
#include <stdio.h>

/* Writes a name as code, in which nothing is markup, a link or a mention of a
 * user: between more backticks than the name has in a row. In a cell of a table
 * a bar is escaped. */
void markdown_code(FILE *out, const char *name, bool cell);

#endif
