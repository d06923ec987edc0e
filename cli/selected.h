/* SPDX-License-Identifier: MIT */
/*
 * What encode and plan share: -m, -M, --format and the events of the command
 * line, on one machine.
 */
#ifndef TALLY_CLI_SELECTED_H
#define TALLY_CLI_SELECTED_H

#include <jansson.h>

#include "cli/command.h"
#include "table/plan.h"

enum {
    SELECTED_MACHINE,
    SELECTED_METRICS,
    SELECTED_GROUP,
    SELECTED_FORMAT,
    SELECTED_JSON,
};

/* The rows of these options, in this order, for a command's own table. */
#define SELECTED_OPTIONS                                            \
    [SELECTED_MACHINE] = {'m', "machine", "MACHINE",                \
                          "the machine to program"},                \
    [SELECTED_METRICS] = {'M', "metrics", "METRICS",                \
                          "the events of these metrics too"},       \
    [SELECTED_GROUP] = {'g', "group", "METRICS", "the same as -M"}, \
    [SELECTED_FORMAT] = {0, "format", "FORM", "text or json"},      \
    [SELECTED_JSON] = {'j', "json", NULL, "the same as --format json"}

struct selected {
    const struct machine_row *machine;
    struct selection *list;
    size_t count;
    bool json;
};

/* Reads the whole command line and hands what is selected to `run`; returns an
 * exit status. */
int selected_run(const struct command *command, int argc, char **argv,
                 int (*run)(const struct selected *selected));

/* Sets "event" (null: a code without a row), "umask" and "selection". */
void selection_set(json_t *object, const struct selection *selection);

/* Returns {"register", "number", "value"} rows of one group's writes. */
json_t *
writes_json(const struct machine_row *machine, const struct write_list *writes);

/* Prints the document and a newline; returns an exit status. */
int json_print(json_t *document);

#endif
