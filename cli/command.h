/* SPDX-License-Identifier: MIT */
/*
 * One file and one entry for each command. Usage, help and completions are
 * printed from the same rows.
 */
#ifndef TALLY_CLI_COMMAND_H
#define TALLY_CLI_COMMAND_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"

struct machine_row;

enum exit_status {
    EXIT_OURS = 125,    /* tally's own failure */
    EXIT_CANNOT = 126,  /* program found, but not executable */
    EXIT_MISSING = 127, /* program not found */
    EXIT_USAGE = 2,
};

struct option_row {
    char letter;          /* 0: none */
    const char *name;     /* long name */
    const char *argument; /* name of the option's value; NULL: takes none;
                             "[=WORD]": a value in the same word, or none */
    const char *help;
};

/* An option of another tool that the command does not have as its own. */
struct other_option {
    char letter;        /* 0: none */
    const char *name;   /* long name, or "" */
    bool subcommand;    /* it stands without dashes, before a program */
    const char *own;    /* the long name of ours that does it, or NULL */
    const char *advice; /* why there is none and what to do; NULL, and no `own`:
                         * what it asks for is always so */
};

/* Those of perf stat; ends with a NULL name. Generated. */
extern const struct other_option perf_stat_options[];

/* A title over the rows from `first` to the next group. */
struct option_group {
    int first;
    const char *title;
};

struct command {
    const char *name, *alias; /* alias may be NULL */
    const char *summary;
    const char *synopsis; /* after "tally NAME" */
    const char *example;
    const struct option_row *options;  /* ends with a NULL name */
    const struct option_group *groups; /* ends with a NULL title; or NULL */
    const struct other_option *others; /* ends with a NULL name; or NULL */
    void (*more)(FILE *out);           /* what else --help shows; may be NULL */
    int (*run)(int argc, char **argv);
};

extern const struct command command_count, command_list, command_show,
    command_encode, command_decode, command_plan, command_pmu,
    command_summarize, command_doctor, command_perfex, command_profile,
    command_record, command_report, command_annotate, command_export,
    command_diff, command_memory, command_at, command_locks, command_check,
    command_bisect, command_validate, command_calibrate, command_sweep,
    command_curve, command_trace, command_phases, command_serve, command_teach;

/* All commands, NULL-terminated. */
extern const struct command *const commands[];

/* Writes what --help shows. */
void command_help(const struct command *command, FILE *out);

/*
 * Walks the options of a command line; argv[0] is the command's name. Each
 * call returns the row's index and its value, COMMAND_END at the first operand
 * (its index in *next), or COMMAND_BAD after telling why. Every command refuses
 * `--` in place of a value, and two forms of one report, as --json beside -x:
 * an option may be given again, but two options must want the same form.
 */
enum { COMMAND_END = -1, COMMAND_BAD = -2, COMMAND_HELP = -3 };
struct option_walk {
    const struct command *command;
    int argc;
    char **argv;
    int next;            /* of argv */
    const char *cluster; /* rest of -abc */
    /* The form of report that was asked for last, or NULL, and by what. */
    const char *form, *form_option;
};

/* Begins a walk. */
struct option_walk
command_walk(const struct command *command, int argc, char **argv);

int command_option(struct option_walk *walk, const char **value);

/*
 * Reads the options in front of the first operand, whose index *operand becomes
 * (`argc` where there is none): calls `option` for each, until one returns
 * another status than 0. Returns 0, that status, COMMAND_HELP, or EXIT_USAGE
 * after telling why.
 */
int
command_read_options(const struct command *command, int argc, char **argv,
                     int (*option)(void *user, int option, const char *value),
                     void *user, int *operand);

/*
 * Reads a whole command line, options and operands in any order: calls `option`
 * for each option (the row's index, and the option's value) and `operand` for
 * each operand, until one returns another status than 0. Returns that status,
 * COMMAND_HELP, or EXIT_USAGE after telling why.
 */
int command_read(const struct command *command, int argc, char **argv,
                 int (*option)(void *user, int option, const char *value),
                 int (*operand)(void *user, char *word), void *user);

/* Refuses a subcommand of the other tool, which stands in place of a program:
 * COMMAND_BAD after telling what to do, or 0 if `word` is none. */
int command_subcommand(const struct command *command, const char *word);

/* Prints lines as "tally: text" on stderr. */
extern const struct tally_log command_log;

/* Says that there is no memory, and returns EXIT_OURS. */
int command_no_memory(void);

/* Closes a stream of open_memstream(), whose text is `*text`. Returns false if
 * the text is not whole; the caller frees it either way. */
bool command_close_text(FILE *out, char *const *text);

/* Refuses the option `form`, which asks for another form, beside --html; `has`:
 * what the page has, in words. EXIT_USAGE; or 0 where `page` or `form` is NULL:
 * was not given. */
int command_page_alone(const struct command *command, const char *page,
                       const char *form, const char *has);

/* Refuses a folder of --debug-dir that is none. 0 or EXIT_USAGE. */
int command_debug_dir(const struct command *command, const char *path);

#define DEBUG_DIRS_MOST 16u

/* Folders of --debug-dir, the first that was given first. */
struct debug_dirs {
    const char *paths[DEBUG_DIRS_MOST];
    size_t count;
};

/* Adds a folder of --debug-dir, which is refused if it is none or one too many.
 * 0 or EXIT_USAGE. */
int command_add_debug_dir(const struct command *command,
                          struct debug_dirs *dirs, const char *path);

/* Adds to a list of words separated by commas, which the caller frees and which
 * may be NULL. 0 or TALLY_ENOMEM, logged. */
int command_join(char **list, const char *more);

/*
 * Says that `what` ("output", "report") could not be written, as errno says,
 * and returns EXIT_OURS. Where the reader is gone the process dies by SIGPIPE,
 * silently, as other commands do.
 */
int command_unwritten(const char *what);

/* Reads a whole number in decimal from `least` to `most`. Returns whether
 * `text` is one; *number may have changed where it is not. */
bool command_number(const char *text, uint64_t least, uint64_t most,
                    uint64_t *number);

/* Reads the value of --format: *form becomes the index in `forms`, which ends
 * with NULL. Returns 0, or EXIT_USAGE after saying which forms there are. */
int command_form(const struct command *command, const char *value,
                 const char *const *forms, int *form);

/* Does the same for a command with the forms text and json; `value` NULL stands
 * for -j. */
int command_json(const struct command *command, const char *value, bool *json);

/* Finds the machine of -m. Returns 0, or EXIT_USAGE after saying which machines
 * have near names. */
int command_machine(const char *name, const struct machine_row **machine);

/* Returns a command line as one text, which the caller frees; NULL without
 * memory. */
char *command_text(char *const *argv);

/* Returns the status that a shell would give for a program that ended so. */
int command_status(int wait_status);

/* Returns whether to colour `out`: --color's word, or NULL: a terminal, no
 * NO_COLOR. -1 for a bad word. */
int command_color(const char *word, FILE *out);

#endif
