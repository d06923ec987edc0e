/* SPDX-License-Identifier: MIT */
#include "cli/around.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/escape.h"
#include "report/count_report.h"

/*
 * Runs `sh -c command` and waits for its end; an errno if sh cannot start. The
 * shell gets an empty signal mask: ours holds back what is passed on to the
 * counted program.
 */
static int
run_shell(const char *command, int *status)
{
    char *const argv[] = {"sh", "-c", (char *)command, NULL};
    posix_spawnattr_t attr;
    sigset_t none;
    pid_t pid;

    int error = posix_spawnattr_init(&attr);
    if (error != 0)
        return error;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
    error = posix_spawn(&pid, "/bin/sh", NULL, &attr, argv, environ);
    posix_spawnattr_destroy(&attr);
    while (error == 0 && waitpid(pid, status, 0) < 0)
        error = errno == EINTR ? 0 : errno;
    return error;
}

/* Runs the command of an option, where it was given. */
static int
run_given(const char *option, const char *command)
{
    char ended[64];
    int status = 0;

    if (command == NULL)
        return 0;
    const int error = run_shell(command, &status);
    if (error == 0 && status == 0)
        return 0;
    report_status(status, ended, sizeof(ended));
    escape_printf(stderr, "tally count: %s '%s' %s%s, so counting ends\n",
                  option, command,
                  error == 0 && WIFSIGNALED(status) ? "was " : "",
                  error != 0 ? strerror(error) : ended);
    return TALLY_ESYSTEM;
}

int
around_before(const struct count_request *r)
{
    if (r->sync)
        sync();
    return run_given("--pre", r->pre);
}

int
around_after(const struct count_request *r)
{
    return run_given("--post", r->post);
}
