/* SPDX-License-Identifier: MIT */
/* What the commands share that run a program under tally record, or read the
 * record, and say something of the whole program: findings, then tables. */
#ifndef TALLY_CLI_RECORD_REPORT_H
#define TALLY_CLI_RECORD_REPORT_H

#include <sys/types.h>

#include "cli/command.h"
#include "cli/model_options.h"
#include "cli/rows_request.h"
#include "record/record.h"
#include "record/resolver.h"

/* The options, which each command has under these numbers. */
enum {
    REPORT_INPUT,
    REPORT_RECORD,
    REPORT_TOP,
    REPORT_DEBUG_DIR,
    REPORT_OUTPUT,
    REPORT_FORMAT,
    REPORT_JSON,
    REPORT_SEPARATOR,
    REPORT_COLOR,
    REPORT_HTML,
    REPORT_MACHINE, /* from here on: of tally record */
    REPORT_ALLOCATOR,
    REPORT_FROM,
    REPORT_TO,
    REPORT_SKIP,
    REPORT_FILTER,
    REPORT_MODEL,
    /* Those of the command alone. */
    REPORT_OWN = REPORT_MODEL + MODEL_OPTION_COUNT,
};

/* The rows of the options that all have in one wording. */
/* clang-format off */
#define REPORT_OPTION_ROWS                                                     \
    [REPORT_RECORD] = {0, "record", "FILE",                                    \
                       "keep the record of the program there, for tally report " \
                       "and tally annotate"},                                  \
    [REPORT_TOP] = {0, "top", "N",                                             \
                    "at most N rows of each table; 0: all (default 10)"},      \
    [REPORT_DEBUG_DIR] = {0, "debug-dir", "DIR",                               \
                          "look for separate debug files there too"},          \
    [REPORT_OUTPUT] = {'o', "output", "FILE",                                  \
                       "write the report there (default: standard error, of a " \
                       "record standard output)"},                             \
    [REPORT_JSON] = {'j', "json", NULL, "the same as --format json"},          \
    [REPORT_SEPARATOR] = {'x', "field-separator", "CHAR",                      \
                          "CSV with this separator"},                          \
    [REPORT_COLOR] = {0, "color", "WHEN", "auto, always or never"},            \
    [REPORT_HTML] = {0, "html", "FILE",                                        \
                     "write all of the report as one page for a browser"},     \
    [REPORT_MACHINE] = {'m', "machine", "MACHINE",                             \
                        "the machine to be (default: host-model)"},            \
    [REPORT_ALLOCATOR] = {0, "allocator", "FUNCTION:SIZE_ARG",                 \
                          "this function of the program gives memory; its "    \
                          "argument SIZE_ARG, from 1 on, is the size"},        \
    [REPORT_TO] = {0, "to", "FUNCTION", "and stop where this one is entered"}
/* clang-format on */

/* The forms of --format. */
enum report_form { REPORT_TEXT, REPORT_CSV, REPORT_JSON_FORM };

/* What was asked of a command. */
struct report_request {
    const struct record_report *kind;
    struct rows_request rows; /* of which only some options are offered */
    const char *input, *kept;
    const char *page;   /* a file for a page of the report, or NULL */
    const char *form;   /* an option of a form that is no page; or NULL */
    bool topped;        /* --top was given */
    bool chosen;        /* --machine was given */
    char **record;      /* words for tally record, owned, as are the last */
    size_t word_count;  /* of `record` */
    const char *run;    /* an option that needs a program; or NULL */
    char **program;     /* that runs; NULL: a record is read */
    off_t input_offset; /* where its standard input begins; -1: a stream */
    void *own;          /* the command's own request */
};

/* A command. Functions that may be NULL say so. */
struct record_report {
    const struct command *command;
    const char *option; /* of tally record, without its dashes */
    /* Takes an option from REPORT_OWN on: 0 or an exit status. May be NULL. */
    int (*take)(struct report_request *r, int option, const char *value);
    /* Refuses options that do not go together: 0 or an exit status. May be
     * NULL. */
    int (*check)(const struct report_request *r);
    /* Makes the report of a record: 0; TALLY_EUNKNOWN, logged, where the record
     * was made without `option`; or TALLY_ENOMEM, logged. */
    int (*create)(const struct record *record, struct resolver *resolver,
                  const struct tally_log *log, void **report);
    void (*destroy)(void *report); /* accepts NULL */
    /* Adds to the report what more runs of the program tell. May be NULL. */
    void (*refine)(struct report_request *r, void *report,
                   const struct resolver_options *names);
    /* Writes the report in the form of the request: 0, TALLY_EIO or
     * TALLY_ENOMEM. */
    int (*write)(const struct report_request *r, const void *report,
                 const struct breakdown_look *look, FILE *out);
};

/* Hands one of the command's options on to tally record, which has it under the
 * same name. Returns 0 or an exit status. */
int report_add_option(struct report_request *r, int option, const char *value);

/* Runs the program again without its output, under tally record with one more
 * word, or NULL. What it reads from standard input begins where it did, or is
 * nothing where that cannot be read again. Returns the record, for the caller
 * to close, or NULL: there is none. */
struct record *report_run_again(struct report_request *r, const char *word);

/* Runs the command; returns an exit status. `own`: as in the request. */
int record_report_run(const struct record_report *kind, void *own, int argc,
                      char **argv);

#endif
