/* SPDX-License-Identifier: MIT */
#include "cli/exec_status.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/escape.h"
#include "cli/command.h"
#include "source/program.h"

/* What the kernel takes for no program: one of another processor, mostly. */
static int
format_status(const char *command, char *const *argv)
{
    struct program program;
    struct utsname host;
    const int error = program_open(argv, &command_log, &program);

    if (error != 0)
        return error == TALLY_EARCH ? EXIT_USAGE : EXIT_CANNOT;
    const char *isa = program.isa->name;
    const bool native = uname(&host) != 0 || strcmp(isa, host.machine) == 0;
    if (native)
        escape_printf(stderr, "tally: %s: %s\n", program.path,
                      strerror(ENOEXEC));
    else
        escape_printf(
            stderr,
            "tally: %s: a program for %s, but this host runs %s; tally "
            "%s -m MACHINE emulates one that runs it\n",
            program.path, isa, host.machine, command);
    program_close(&program);
    return native ? EXIT_CANNOT : EXIT_USAGE;
}

int
exec_status(const char *command, int error, char *const *argv)
{
    if (error == ENOEXEC)
        return format_status(command, argv);
    escape_printf(stderr, "tally: %s: %s\n", argv[0],
                  error == ENOENT ? "no such program" : strerror(error));
    return error == ENOENT ? EXIT_MISSING : EXIT_CANNOT;
}
