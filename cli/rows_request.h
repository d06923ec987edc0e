/* SPDX-License-Identifier: MIT */
/* What the commands share that show a record's counts in rows: their options,
 * and where their report goes. */
#ifndef TALLY_CLI_ROWS_REQUEST_H
#define TALLY_CLI_ROWS_REQUEST_H

#include "cli/command.h"
#include "record/breakdown_report.h"

struct rows_request {
    const struct command *command;      /* that is asked */
    struct breakdown_options breakdown; /* without the events */
    const char *output, *sort, *color;
    char *events; /* owned; all -e joined; NULL: all */
    const char **debug_dirs;
    size_t debug_dir_count;
    char separator; /* of CSV */
};

/* Prepares a request without options, by function. `argc`: of the command line.
 * Returns 0, or a status after saying why. */
int rows_request_init(struct rows_request *r, const struct command *command,
                      int argc);
void rows_request_finish(struct rows_request *r);

/* Says what is wrong with the command line; returns EXIT_USAGE. */
int rows_request_bad(const struct rows_request *r, const char *text,
                     const char *value);

/* Each takes the value of an option. 0, or a status after saying why. */
int rows_request_keys(struct rows_request *r, const char *value);
int rows_request_top(struct rows_request *r, const char *value);
int rows_request_min(struct rows_request *r, const char *value);
int rows_request_separator(struct rows_request *r, const char *value);
int rows_request_output(struct rows_request *r, const char *value);
int rows_request_color(const struct rows_request *r);

/* Returns whether `key` is among the keys. */
bool rows_request_has(const struct rows_request *r, enum breakdown_key key);

/* Refuses keys, or --inclusive, for which the record lacks callers or objects.
 * 0, or EXIT_USAGE after saying why. */
int
rows_request_check(const struct rows_request *r, const struct record *record);

/* Chooses the events of the record that `o` shows, and the event that rows are
 * sorted by. -e names the events that are shown; without -e the first `most`
 * events of the record are shown (0: all). `events` has room for one more event
 * than the record has. Returns 0, or a status after saying why. */
int
rows_request_choose(const struct rows_request *r, const struct record *record,
                    size_t most, size_t *events, struct breakdown_options *o);

/* Calls `write` with where the report goes: to the file of -o, else to stdout,
 * a `text` through a pager where that helps. `write` returns 0, TALLY_EIO or
 * TALLY_ENOMEM. Returns a status after saying what went wrong. */
int
rows_request_write(const struct rows_request *r, bool text,
                   int (*write)(void *user, const struct breakdown_look *look,
                                FILE *out),
                   void *user);

#endif
