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

/*
 * Reads the whole command line. 0, an exit status, or SELECTED_HELPED after
 * --help. The caller calls selected_finish() in any case.
 */
#define SELECTED_HELPED (-1)
int selected_read(const struct command *command, int argc, char **argv,
                  struct selected *selected);
void selected_finish(struct selected *selected);

/* Sets "event" (null: a code without a row), "umask" and "selection". */
void selection_set(json_t *object, const struct selection *selection);

/* {"register", "number", "value"} rows of one group's writes. */
json_t *
writes_json(const struct machine_row *machine, const struct write_list *writes);

/* Prints the document and a newline; an exit status. */
int json_print(json_t *document);

#endif
