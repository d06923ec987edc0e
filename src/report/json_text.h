/* SPDX-License-Identifier: MIT */
/* Names of foreign origin in JSON. */
#ifndef TALLY_REPORT_JSON_TEXT_H
#define TALLY_REPORT_JSON_TEXT_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

/* Returns a count as JSON. */
json_t *report_json_number(uint64_t number);

/* Returns the text as JSON, by the rule of ESCAPE_JSON (base/escape.h). */
json_t *report_json_text(const char *text);

/* Returns the text as a line may show it, by the rule of ESCAPE_LINE, in JSON;
 * null: NULL, or no memory. */
json_t *report_json_line(const char *text);

/* Sets the value of a key that is text; takes the value over. */
void report_json_set(json_t *object, const char *key, json_t *value);

/* Writes a document into a script element of a page, where no text may look
 * like the end of the element. `flags` are those of json_dumps(). 0,
 * TALLY_ENOMEM, or TALLY_EIO with errno. */
int report_json_script(const json_t *document, size_t flags, FILE *out);

#endif
