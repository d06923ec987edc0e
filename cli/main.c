/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/path.h"
#include "cli/command.h"
#include "table/table.h"
#include "version.h"

/* clang-format off */
const struct command *const commands[] = {
    &command_count,
    &command_record,
    &command_report,
    &command_annotate,
    &command_memory,
    &command_at,
    &command_teach,
    &command_locks,
    &command_diff,
    &command_sweep,
    &command_curve,
    &command_phases,
    &command_trace,
    &command_check,
    &command_bisect,
    &command_export,
    &command_serve,
    &command_list,
    &command_show,
    &command_encode,
    &command_decode,
    &command_plan,
    &command_pmu,
    &command_summarize,
    &command_doctor,
    &command_calibrate,
    &command_validate,
    &command_perfex,
    &command_profile,
    NULL,
};
/* clang-format on */

static void
print_usage(FILE *out)
{
    fprintf(out,
            "tally counts what a program does, on processors that are gone and "
            "on hosts\nwithout counters.\n\nusage: tally COMMAND ...\n\n");
    for (size_t i = 0; commands[i] != NULL; i++)
        fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(out, "\n  tally help COMMAND shows its options and examples.\n"
                 "  tally --version prints the version.\n");
}

static const struct command *
find_command(const char *name)
{
    for (size_t i = 0; commands[i] != NULL; i++) {
        const struct command *c = commands[i];
        if (strcmp(c->name, name) == 0 ||
            (c->alias != NULL && strcmp(c->alias, name) == 0))
            return c;
    }
    return NULL;
}

/* Returns whether a shell would find a program of this name. */
static bool
is_program(const char *name)
{
    char path[PATH_MAX];

    return strchr(name, '/') != NULL ? path_executable(name)
                                     : path_search(name, path);
}

static int
unknown_command(const char *name)
{
    const char *names[sizeof(commands) / sizeof(commands[0])];
    size_t count = 0;
    char near[64];

    while (commands[count] != NULL) {
        names[count] = commands[count]->name;
        count++;
    }
    near_names(name, names, count, 2, near, sizeof(near));
    if (*near == '\0' && is_program(name))
        escape_printf(
            stderr,
            "tally: '%s' is a program, no command; tally count %s counts "
            "it\n",
            name, name);
    else
        escape_printf(
            stderr, "tally: unknown command '%s'%s%s%s; see tally --help\n",
            name, *near ? "; did you mean " : "", near, *near ? "?" : "");
    return EXIT_USAGE;
}

/* tally help COMMAND: what COMMAND --help shows. */
static int
help(int argc, char **argv)
{
    const struct command *command = find_command(argv[0]);

    if (strcmp(argv[0], "help") == 0 && argc == 1) {
        printf("tally help COMMAND shows its options and examples; tally "
               "--help lists commands\n");
        return 0;
    }
    if (argc > 1) {
        escape_printf(stderr, "tally help: one command, not '%s' too\n",
                      argv[1]);
        return EXIT_USAGE;
    }
    if (command == NULL && strchr(argv[0], '/') == NULL)
        return unknown_command(argv[0]);
    if (command == NULL) {
        escape_printf(stderr,
                      "tally help: '%s' is no command; tally --help lists the "
                      "commands\n",
                      argv[0]);
        return EXIT_USAGE;
    }
    command_help(command, stdout);
    return 0;
}

/* Returns the command of another name of ours, tally-perfex; NULL: there is
 * none. */
static const struct command *
command_by_file(const char *path)
{
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;

    return strncmp(name, "tally-", 6) == 0 ? find_command(name + 6) : NULL;
}

static int
run(int argc, char **argv)
{
    const struct command *own = argc > 0 ? command_by_file(argv[0]) : NULL;

    if (own != NULL)
        return own->run(argc, argv);
    if (argc < 2) {
        print_usage(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        (argc == 2 && strcmp(argv[1], "help") == 0)) {
        print_usage(stdout);
        return 0;
    }
    if (strcmp(argv[1], "help") == 0)
        return help(argc - 2, argv + 2);
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        printf("tally %s\n", TALLY_VERSION);
        return 0;
    }

    const struct command *command = find_command(argv[1]);
    return command != NULL ? command->run(argc - 1, argv + 1)
                           : unknown_command(argv[1]);
}

static void
take_no_notice(int number)
{
    (void)number;
}

/* Returns memory for a JSON document, or ends tally. If this function returned
 * NULL, the JSON library would leave out a value, and the document would look
 * whole. */
static void *
json_memory(size_t size)
{
    void *const memory = malloc(size);

    if (memory == NULL)
        exit(command_no_memory());
    return memory;
}

/* Returns whether the stack may grow as large as a command needs. Says on
 * stderr if not: a command that finds no room dies without a word. The frames
 * of a command add up to some 0.2 MB, as no function takes more than 64 KiB
 * (meson.build). The rest is for libraries that call themselves: libiberty, for
 * one, 2,048 times where a C++ name is nested as deep. */
static bool
has_stack(void)
{
    const rlim_t least = 2 << 20;
    struct rlimit limit;

    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= least)
        return true;
    fprintf(stderr,
            "tally: the stack is limited to %ju KiB and tally needs %ju: "
            "ulimit -s %ju\n",
            (uintmax_t)limit.rlim_cur / 1024, (uintmax_t)least / 1024,
            (uintmax_t)least / 1024);
    return false;
}

int
main(int argc, char **argv)
{
    if (!has_stack())
        return EXIT_OURS;
    json_set_alloc_funcs(json_memory, free);
    /* Descriptors 0 to 2 are taken, so that no file of ours becomes one; to
     * write there still fails. */
    int fd;
    do
        fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd <= 2);
    if (fd > 2)
        close(fd);
    /* A report into a closed pipe ends us when all else is done, not at once.
     * Unlike SIG_IGN, a handler is not passed on to the programs that are run;
     * where SIGPIPE is ignored already, it stays so for them. */
    struct sigaction pipe_action;
    if (sigaction(SIGPIPE, NULL, &pipe_action) == 0 &&
        pipe_action.sa_handler != SIG_IGN)
        signal(SIGPIPE, take_no_notice);
    const int status = run(argc, argv);
    const bool failed = ferror(stdout) != 0;

    /* Where something failed before, the output has been told of. */
    return (fclose(stdout) == 0 && !failed) || status != 0
               ? status
               : command_unwritten("output");
}
