/* SPDX-License-Identifier: MIT */
/* What the commands share that show a record's counts in rows: their options,
 * and where their report goes. */
#ifndef TALLY_CLI_ROWS_REQUEST_H
#define TALLY_CLI_ROWS_REQUEST_H

#include "cli/command.h"
#include "record/breakdown_report.h"

/* The options, in a run of their own among a command's, from ROWS_OPTION_ROWS
 * on. */
enum {
    ROWS_BY,
    ROWS_EVENTS,
    ROWS_SORT,
    ROWS_TOP,
    ROWS_MIN,
    ROWS_MATCH,
    ROWS_NO_INLINE,
    ROWS_INCLUSIVE,
    ROWS_DEBUG_DIR,
    ROWS_OUTPUT,
    ROWS_FORMAT,
    ROWS_JSON,
    ROWS_SEPARATOR,
    ROWS_COLOR,
    ROWS_OPTION_COUNT
};

/* The rows; each argument but the first is the help of the option of its name.
 */
/* clang-format off */
#define ROWS_OPTION_ROWS(first, events, sort, top, min, inclusive, format)     \
    [(first) + ROWS_BY] =                                                      \
        {'s', "by", "KEYS",                                                    \
         "rows: function, caller, object, line, instruction, file, image, "    \
         "thread or process"},                                                 \
    [(first) + ROWS_EVENTS] = {'e', "event", "EVENTS", events},                \
    [(first) + ROWS_SORT] = {0, "sort", "EVENT", sort},                        \
    [(first) + ROWS_TOP] = {0, "top", "N", top},                               \
    [(first) + ROWS_MIN] = {0, "min", "PERCENT", min},                         \
    [(first) + ROWS_MATCH] =                                                   \
        {0, "match", "PATTERN",                                                \
         "only rows whose name has this text, or is like it as a pattern "     \
         "with * ? or ["},                                                     \
    [(first) + ROWS_NO_INLINE] =                                               \
        {0, "no-inline", NULL,                                                 \
         "count inlined code for the function that it is in"},                 \
    [(first) + ROWS_INCLUSIVE] = {0, "inclusive", NULL, inclusive},            \
    [(first) + ROWS_DEBUG_DIR] =                                               \
        {0, "debug-dir", "DIR", "look for separate debug files there too"},    \
    [(first) + ROWS_OUTPUT] =                                                  \
        {'o', "output", "FILE",                                                \
         "write the report there (default: standard output)"},                 \
    [(first) + ROWS_FORMAT] = {0, "format", "FORM", format},                   \
    [(first) + ROWS_JSON] =                                                    \
        {'j', "json", NULL, "the same as --format json"},                      \
    [(first) + ROWS_SEPARATOR] =                                               \
        {'x', "field-separator", "CHAR", "CSV with this separator"},           \
    [(first) + ROWS_COLOR] = {0, "color", "WHEN", "auto, always or never"}
/* clang-format on */

struct rows_request {
    const struct command *command;      /* that is asked */
    const char *const *forms;           /* of --format; ends with NULL */
    int form;                           /* index in `forms`; at first 0 */
    struct breakdown_options breakdown; /* without the events */
    bool zero_is_all;                   /* --top 0 is taken: all rows */
    const char *output, *sort, *color;
    char *events; /* owned; all -e joined; NULL: all */
    const char **debug_dirs;
    size_t debug_dir_count;
    char separator; /* of CSV */
};

/* Prepares a request without options, by function. `forms`, among them "csv"
 * and "json", live as long as the request. `argc`: of the command line. Returns
 * 0, or a status after saying why. */
int rows_request_init(struct rows_request *r, const struct command *command,
                      const char *const *forms, int argc);
void rows_request_finish(struct rows_request *r);

/* Says what is wrong with the command line; returns EXIT_USAGE. */
int rows_request_bad(const struct rows_request *r, const char *text,
                     const char *value);

/* Takes the option of this number in the run, with its value. 0, or a status
 * after saying why. */
int rows_request_take(struct rows_request *r, int option, const char *value);

/* Checks the value of --color. 0, or EXIT_USAGE after saying why. */
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
