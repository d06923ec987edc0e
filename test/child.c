/* SPDX-License-Identifier: MIT */
/*
 * Programs that take the terminal, and signals that meet. Each test is a
 * session with a terminal of its own; its programs are this file again, with a
 * word (`programs`).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pty.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/child.h"

#define RESUMED 7 /* status of a program that has the foreground again */

static int group_error;    /* errno of kill() of a group with signal 0 */
static bool cont_comes_in; /* SIGCONT comes while SIGTSTP is passed on */

/* Stands for libc's kill(). */
int
kill(pid_t pid, int signal_number)
{
    if (pid < 0 && signal_number == 0 && group_error != 0) {
        errno = group_error;
        return -1;
    }
    if (signal_number == SIGTSTP && cont_comes_in)
        raise(SIGCONT);
    return (int)syscall(SYS_kill, pid, signal_number);
}

/* Gives the terminal's foreground to a group from any group. */
static void
give(pid_t group)
{
    void (*const old)(int) = signal(SIGTTOU, SIG_IGN);

    tcsetpgrp(STDIN_FILENO, group);
    signal(SIGTTOU, old);
}

static void
start(struct child *c, struct child_signals *signals, const char *word)
{
    char *argv[] = {(char[]){"/proc/self/exe"}, (char *)(uintptr_t)word, NULL};
    const struct child_program program = {.argv = argv};
    const struct tally_log log = {0};

    child_signals_hold(signals);
    if (child_start(c, signals, &program, &log) != 0)
        _exit(100);
    child_go(c);
}

/* Runs the body as the leader of a session with a terminal; returns its status,
 * 0 if all was well, otherwise the line of what was not.
 */
static int
in_session(int (*body)(void))
{
    int master, status;
    const pid_t pid = forkpty(&master, NULL, NULL, NULL);

    assert_true(pid >= 0);
    if (pid == 0)
        _exit(body());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    close(master);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Runs the body in a group of its own with the foreground, as a shell does. */
static pid_t
in_job(int (*body)(void))
{
    const pid_t pid = fork();

    if (pid == 0) {
        setpgid(0, 0);
        give(getpid());
        _exit(body());
    }
    return pid;
}

/* A program that ends while a group of its child has the foreground. The child
 * ends with the terminal. */
static int
leave(void)
{
    const pid_t pid = fork();
    char byte;

    if (pid == 0) {
        while (read(STDIN_FILENO, &byte, 1) > 0)
            ;
        _exit(0);
    }
    setpgid(pid, pid);
    give(pid);
    return 0;
}

static int
wait_for_signal(void)
{
    while (pause() < 0)
        ;
    return 0;
}

static int
take(void)
{
    setpgid(0, 0);
    give(getpid());
    return wait_for_signal();
}

/* A program that stops in the foreground, and looks when it goes on. */
static int
stop(void)
{
    setpgid(0, 0);
    give(getpid());
    raise(SIGTSTP);
    return tcgetpgrp(STDIN_FILENO) == getpgrp() ? RESUMED : 1;
}

static const struct {
    const char *word;
    int (*run)(void);
} programs[] = {{"leave", leave},
                {"take", take},
                {"stop", stop},
                {"wait", wait_for_signal}};

static int
run_leave(void)
{
    struct child_signals signals;
    struct child c;

    start(&c, &signals, "leave");
    while (!child_wait(&c, -1))
        ;
    const bool ours = tcgetpgrp(STDIN_FILENO) == getpgrp();
    child_finish(&c);
    return ours;
}

/* A group that may not be signalled lives: it keeps the foreground. */
static void
foreign_group(void **state)
{
    (void)state;
    group_error = EPERM;
    assert_false(in_session(run_leave));
    group_error = ESRCH;
    assert_true(in_session(run_leave));
    group_error = 0;
}

static int
finish_while_taken(void)
{
    struct child_signals signals;
    struct child c;

    start(&c, &signals, "take");
    while (tcgetpgrp(STDIN_FILENO) != c.pid)
        child_wait(&c, 0.01);
    child_finish(&c);
    return tcgetpgrp(STDIN_FILENO) == getpgrp() ? 0 : __LINE__;
}

static void
killed_program(void **state)
{
    (void)state;
    assert_int_equal(in_session(finish_while_taken), 0);
}

static int
run_stop(void)
{
    struct child_signals signals;
    struct child c;

    start(&c, &signals, "stop");
    while (!child_wait(&c, -1))
        ;
    child_finish(&c);
    return WIFEXITED(c.status) ? WEXITSTATUS(c.status) : 2;
}

/* A shell that sees tally stop, and brings it to the foreground again. */
static int
stop_as_shell(void)
{
    int status;
    const pid_t job = in_job(run_stop);

    waitpid(job, &status, WUNTRACED);
    if (!WIFSTOPPED(status))
        return __LINE__;
    if (tcgetpgrp(STDIN_FILENO) != job)
        return __LINE__;
    give(getpgrp());
    give(job);
    kill(-job, SIGCONT);
    waitpid(job, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == RESUMED ? 0 : __LINE__;
}

static void
stopped_program(void **state)
{
    (void)state;
    assert_int_equal(in_session(stop_as_shell), 0);
    /* No shell waits for the leader of a session: nothing stays stopped. */
    assert_int_equal(in_session(run_stop), RESUMED);
}

static int
stop_and_continue(void)
{
    struct child_signals signals;
    struct child c;

    start(&c, &signals, "wait");
    cont_comes_in = true;
    kill(getpid(), SIGTSTP);
    child_wait(&c, -1);
    cont_comes_in = false;
    child_wait(&c, 0); /* takes the SIGCONT */
    child_finish(&c);
    return 0;
}

static int
continue_as_shell(void)
{
    int status;
    const pid_t job = in_job(stop_and_continue);

    waitpid(job, &status, WUNTRACED);
    if (WIFSTOPPED(status))
        kill(job, SIGKILL);
    return WIFEXITED(status) ? WEXITSTATUS(status) : __LINE__;
}

static void
continued_meanwhile(void **state)
{
    (void)state;
    assert_int_equal(in_session(continue_as_shell), 0);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(foreign_group),
        cmocka_unit_test(killed_program),
        cmocka_unit_test(stopped_program),
        cmocka_unit_test(continued_meanwhile),
    };

    for (size_t i = 0; argc > 1 && i < sizeof(programs) / sizeof(programs[0]);
         i++)
        if (strcmp(argv[1], programs[i].word) == 0)
            return programs[i].run();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
