/* SPDX-License-Identifier: MIT */
/* Rows of the tables as JSON; what a row lacks is left out. */
#ifndef TALLY_CLI_JSON_ROWS_H
#define TALLY_CLI_JSON_ROWS_H

#include <jansson.h>

#include "table/table.h"

json_t *machine_json(const struct machine_row *machine);
json_t *
event_json(const struct machine_row *machine, const struct event_row *event);
/* Returns a software event, as the kernel counts it of an emulator. */
json_t *software_json(const struct event_row *event);
json_t *register_json(const struct register_row *row);
json_t *
metric_json(const struct machine_row *machine, const struct metric_row *metric);

/* Returns an array of the strings up to a NULL. */
json_t *json_texts(const char *const *words);

/* A string; nothing for NULL. */
void json_set_text(json_t *object, const char *key, const char *text);

/*
 * Prints {"schema": 1, "machine": ..., KEY: rows} to stdout and gives rows
 * back; `machine` may be NULL, and so may `software` and `generic`, rows of
 * these keys. A status.
 */
int json_print_rows(const char *key, json_t *rows,
                    const struct machine_row *machine, json_t *software,
                    json_t *generic);

#endif
