/* SPDX-License-Identifier: MIT */
/*
 * Programs that take the terminal, signals that meet, what is executed and how
 * a program ends. Each test is a session with a terminal of its own; its
 * programs are this file again, with a word (`programs`).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/stat.h>
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
 * 0 if all was well. No signal is ignored there, though a shell starts a job in
 * the background with SIGINT ignored, and nohup one with SIGHUP.
 */
static int
in_session(int (*body)(void))
{
    int master, status;

    signal(SIGCHLD, SIG_DFL);
    const pid_t pid = forkpty(&master, NULL, NULL, NULL);

    assert_true(pid >= 0);
    if (pid == 0) {
        for (int number = 1; number <= SIGRTMAX; number++)
            signal(number, SIG_DFL);
        _exit(body());
    }
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

/* Says in bits what a program has of the process that started it: 1: SIGCHLD is
 * ignored, 2: SIGTERM is blocked, 4: SIGUSR1 is, 8: addresses are fixed. */
static int
tell_inherited(void)
{
    struct sigaction child;
    sigset_t blocked;

    sigaction(SIGCHLD, NULL, &child);
    sigprocmask(SIG_BLOCK, NULL, &blocked);
    return (child.sa_handler == SIG_IGN ? 1 : 0) +
           (sigismember(&blocked, SIGTERM) ? 2 : 0) +
           (sigismember(&blocked, SIGUSR1) ? 4 : 0) +
           ((personality(0xffffffff) & ADDR_NO_RANDOMIZE) != 0 ? 8 : 0);
}

/* Uses 30 ms of processor time. */
static int
work(void)
{
    struct rusage used;

    do
        getrusage(RUSAGE_SELF, &used);
    while (used.ru_utime.tv_sec + used.ru_stime.tv_sec == 0 &&
           used.ru_utime.tv_usec + used.ru_stime.tv_usec < 30000);
    return 0;
}

static const struct {
    const char *word;
    int (*run)(void);
} programs[] = {{"leave", leave}, {"take", take},
                {"stop", stop},   {"inherited", tell_inherited},
                {"work", work},   {"wait", wait_for_signal}};

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

/* Ends the body of a session where something does not hold. */
#define MUST(holds)                                                    \
    do {                                                               \
        if (!(holds)) {                                                \
            dprintf(STDERR_FILENO, "line %d: %s\n", __LINE__, #holds); \
            return 1;                                                  \
        }                                                              \
    } while (0)

static const int passed_on[] = {
    SIGINT,    SIGTERM, SIGHUP, SIGQUIT,   SIGUSR1, SIGUSR2, SIGALRM, SIGABRT,
    SIGSEGV,   SIGBUS,  SIGFPE, SIGILL,    SIGTRAP, SIGSYS,  SIGIO,   SIGPROF,
    SIGVTALRM, SIGXCPU, SIGPWR, SIGSTKFLT, SIGTSTP, SIGCONT};

static void
on_child(int number)
{
    (void)number;
}

static int
hold_and_free(void)
{
    struct child_signals signals;
    struct sigaction child;
    sigset_t before, after;

    signal(SIGCHLD, SIG_IGN);
    signal(SIGUSR2, SIG_IGN);
    sigemptyset(&before);
    sigaddset(&before, SIGWINCH);
    sigprocmask(SIG_SETMASK, &before, NULL);
    child_signals_hold(&signals);
    sigaction(SIGCHLD, NULL, &child);
    MUST(child.sa_handler == SIG_DFL);
    sigprocmask(SIG_BLOCK, NULL, &after);
    for (size_t i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++)
        MUST(sigismember(&after, passed_on[i]) == (passed_on[i] != SIGUSR2));
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        MUST(sigismember(&after, number));
    MUST(sigismember(&after, SIGCHLD) && sigismember(&after, SIGWINCH));
    MUST(!sigismember(&after, SIGPIPE) && !sigismember(&after, SIGXFSZ));
    MUST(!child_signals_came(&signals));
    /* The end of a child, a stop and a continuing end nothing. */
    raise(SIGCHLD);
    raise(SIGCONT);
    MUST(!child_signals_came(&signals));
    raise(SIGTERM);
    raise(SIGCHLD);
    MUST(child_signals_came(&signals));
    MUST(!child_signals_came(&signals));
    raise(SIGTERM);
    child_signals_free(&signals);
    sigaction(SIGCHLD, NULL, &child);
    MUST(child.sa_handler == SIG_IGN);
    sigprocmask(SIG_BLOCK, NULL, &after);
    for (int number = 1; number < SIGRTMIN; number++)
        MUST(sigismember(&after, number) == (number == SIGWINCH));
    /* A handler of the caller is kept as it is. */
    signal(SIGCHLD, on_child);
    child_signals_hold(&signals);
    sigaction(SIGCHLD, NULL, &child);
    MUST(child.sa_handler == on_child);
    child_signals_free(&signals);
    /* One that has children taken away is not kept: tally waits for them. */
    child.sa_flags = SA_NOCLDWAIT;
    sigaction(SIGCHLD, &child, NULL);
    child_signals_hold(&signals);
    sigaction(SIGCHLD, NULL, &child);
    MUST(child.sa_handler == SIG_DFL && (child.sa_flags & SA_NOCLDWAIT) == 0);
    return 0;
}

static void
held_signals(void **state)
{
    (void)state;
    assert_int_equal(in_session(hold_and_free), 0);
}

/* Runs a program to its end. */
static void
run_whole(struct child *c, const struct child_signals *signals,
          const struct child_program *program)
{
    const struct tally_log log = {0};

    if (child_start(c, signals, program, &log) != 0)
        _exit(100);
    child_go(c);
    while (!child_wait(c, -1))
        ;
}

static void
write_program(const char *name, const char *text)
{
    const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0700);

    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        _exit(101);
    close(fd);
}

/* What is executed, and how that ends. */
static const struct {
    int line;
    const char *name;
    int exec_error, status;
} executed[] = {
    {__LINE__, "/no/such/program", ENOENT, 127},
    {__LINE__, "no-such-program-of-tally", ENOENT, 127},
    {__LINE__, "/", EACCES, 126},
    {__LINE__, "./text", EACCES, 126},
    {__LINE__, "./foreign", ENOEXEC, 126},
    {__LINE__, "foreign", ENOEXEC, 126},
    {__LINE__, "./script", 0, 3},
    {__LINE__, "script", 0, 3},
    {__LINE__, "true", 0, 0},
};

static int
execute_all(void)
{
    char folder[] = "/tmp/tally-child-XXXXXX", path[256];
    struct child_signals signals;
    struct child c;

    MUST(mkdtemp(folder) != NULL && chdir(folder) == 0);
    write_program("foreign", "\177ELF, but of no machine\n");
    write_program("script", "exit 3\n");
    write_program("text", "");
    MUST(chmod("text", 0600) == 0);
    snprintf(path, sizeof(path), "%s:/usr/bin:/bin", folder);
    setenv("PATH", path, 1);
    child_signals_hold(&signals);
    for (size_t i = 0; i < sizeof(executed) / sizeof(executed[0]); i++) {
        char name[64], *argv[] = {name, NULL};
        const struct child_program program = {.argv = argv};
        snprintf(name, sizeof(name), "%s", executed[i].name);
        run_whole(&c, &signals, &program);
        if (c.exec_error != executed[i].exec_error || !WIFEXITED(c.status) ||
            WEXITSTATUS(c.status) != executed[i].status) {
            dprintf(STDERR_FILENO, "line %d: %d, status 0x%x\n",
                    executed[i].line, c.exec_error, (unsigned)c.status);
            return 1;
        }
        MUST(c.ended && !c.interrupted && !c.lost && c.pid == 0);
        child_finish(&c);
        MUST(c.gate == -1 && c.word == -1 && c.terminal == -1);
    }
    /* A path is not looked up, and the words and variables are those given. */
    char word[] = "test \"$0$A\" = wordb && exit 5", c_word[] = "-c";
    char sh[] = "name", zero[] = "word", a[] = "A=b";
    char *argv[] = {sh, c_word, word, zero, NULL}, *env[] = {a, NULL};
    const struct child_program program = {argv, "/bin/sh", env, false};
    run_whole(&c, &signals, &program);
    MUST(c.exec_error == 0 && WEXITSTATUS(c.status) == 5);
    MUST(unlink("foreign") == 0 && unlink("script") == 0);
    MUST(unlink("text") == 0 && rmdir(folder) == 0);
    return 0;
}

static void
executed_programs(void **state)
{
    (void)state;
    assert_int_equal(in_session(execute_all), 0);
}

static int
run_inherited(void)
{
    char word[] = "inherited", *argv[] = {word, word, NULL};
    struct child_program program = {.argv = argv, .path = "/proc/self/exe"};
    struct child_signals signals;
    struct child c;
    sigset_t blocked;

    child_signals_hold(&signals);
    run_whole(&c, &signals, &program);
    const int addresses = WEXITSTATUS(c.status) & 8;
    MUST(WEXITSTATUS(c.status) == addresses);
    child_signals_free(&signals);
    signal(SIGCHLD, SIG_IGN);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    program.fixed_addresses = true;
    child_signals_hold(&signals);
    run_whole(&c, &signals, &program);
    MUST(WEXITSTATUS(c.status) == (1 | 4 | 8));
    return 0;
}

static void
inherited_state(void **state)
{
    (void)state;
    assert_int_equal(in_session(run_inherited), 0);
}

static bool
take_usr1(void *user, int number)
{
    *(int *)user = number;
    return number == SIGUSR1;
}

static int
pass_on(void)
{
    struct child_signals signals;
    struct child c;
    int taken = 0;

    for (size_t i = 0; i < 4; i++) {
        const int number = ((int[]){SIGTERM, SIGUSR2, SIGRTMIN, SIGRTMAX})[i];
        start(&c, &signals, "wait");
        MUST(!child_wait(&c, 0) && !c.ended && !c.interrupted);
        MUST(!child_wait(&c, 0.001) && !c.ended && !c.interrupted);
        kill(getpid(), number);
        while (!child_wait(&c, -1))
            ;
        MUST(c.ended && c.interrupted && !c.lost);
        MUST(WIFSIGNALED(c.status) && WTERMSIG(c.status) == number);
        child_finish(&c);
        MUST(WIFSIGNALED(c.status) && WTERMSIG(c.status) == number);
        child_signals_free(&signals);
    }
    start(&c, &signals, "wait");
    c.take = take_usr1;
    c.user = &taken;
    kill(getpid(), SIGUSR1);
    MUST(!child_wait(&c, -1) && taken == SIGUSR1 && !c.interrupted);
    kill(getpid(), SIGUSR2);
    while (!child_wait(&c, -1))
        ;
    MUST(taken == SIGUSR2 && c.interrupted && WTERMSIG(c.status) == SIGUSR2);
    child_signals_free(&signals);
    /* Not interrupted by what the program does to itself. */
    start(&c, &signals, "wait");
    kill(c.pid, SIGUSR2);
    while (!child_wait(&c, -1))
        ;
    MUST(!c.interrupted && WTERMSIG(c.status) == SIGUSR2);
    return 0;
}

static void
signals_passed_on(void **state)
{
    (void)state;
    assert_int_equal(in_session(pass_on), 0);
}

static int
wait_without(void)
{
    const struct child_program nothing = {0};
    const struct tally_log log = {0};
    struct child_signals signals;
    struct child c;

    child_signals_hold(&signals);
    MUST(child_start(&c, &signals, &nothing, &log) == 0 && c.pid == 0);
    child_go(&c);
    MUST(!child_wait(&c, 0) && !child_wait(&c, 0.001));
    raise(SIGCONT);
    MUST(!child_wait(&c, 0) && !c.interrupted);
    raise(SIGCHLD);
    MUST(!child_wait(&c, 0) && !c.interrupted);
    raise(SIGINT);
    MUST(child_wait(&c, -1) && c.interrupted && !c.ended);
    child_finish(&c);
    return 0;
}

static void
no_program(void **state)
{
    (void)state;
    assert_int_equal(in_session(wait_without), 0);
}

static int
end_oddly(void)
{
    char word[] = "work", *argv[] = {word, word, NULL};
    const struct child_program program = {.argv = argv,
                                          .path = "/proc/self/exe"};
    const struct tally_log log = {0};
    struct child_signals signals;
    struct child c;
    int status;

    child_signals_hold(&signals);
    run_whole(&c, &signals, &program);
    MUST(c.status == 0 && c.user_s + c.sys_s >= 0.03);
    MUST(c.user_s == (double)c.usage.ru_utime.tv_sec +
                         (double)c.usage.ru_utime.tv_usec * 1e-6);
    /* tally ends before the program begins: nothing is executed. */
    MUST(child_start(&c, &signals, &program, &log) == 0);
    close(c.gate);
    c.gate = -1;
    MUST(waitpid(c.pid, &status, 0) == c.pid);
    MUST(WIFEXITED(status) && WEXITSTATUS(status) == 125);
    /* Another part of the process has taken the status. */
    MUST(child_wait(&c, -1) && c.ended && c.lost && c.pid == 0);
    child_finish(&c);
    MUST(c.word == -1 && c.terminal == -1);
    /* A program that is not waited for ends. */
    MUST(child_start(&c, &signals, &program, &log) == 0);
    const pid_t pid = c.pid;
    child_finish(&c);
    MUST(c.pid == 0 && c.gate == -1 && c.word == -1);
    MUST(WIFSIGNALED(c.status) && WTERMSIG(c.status) == SIGKILL);
    MUST(waitpid(pid, &status, 0) == -1 && errno == ECHILD);
    return 0;
}

static void
odd_ends(void **state)
{
    (void)state;
    assert_int_equal(in_session(end_oddly), 0);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(held_signals),
        cmocka_unit_test(executed_programs),
        cmocka_unit_test(inherited_state),
        cmocka_unit_test(signals_passed_on),
        cmocka_unit_test(no_program),
        cmocka_unit_test(odd_ends),
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
