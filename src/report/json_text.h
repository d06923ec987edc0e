/* SPDX-License-Identifier: MIT */
/* Names of foreign origin in JSON. */
#ifndef TALLY_REPORT_JSON_TEXT_H
#define TALLY_REPORT_JSON_TEXT_H

#include <jansson.h>

/* Returns the text as JSON, by the rule of ESCAPE_JSON (base/escape.h). */
json_t *report_json_text(const char *text);

/* Sets the value of a key that is text; takes the value over. */
void report_json_set(json_t *object, const char *key, json_t *value);

#endif
