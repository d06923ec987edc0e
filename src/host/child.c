/* SPDX-License-Identifier: MIT */
#include "host/child.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/path.h"

/* The signals that are passed on, with SIGRTMIN to SIGRTMAX. Only a SIGSEGV or
 * SIGFPE that another process sends is passed on: one that a fault of tally's
 * own code raises ends tally at once, as the kernel lets nobody block it. */
static const int forwarded[] = {
    SIGINT,    SIGTERM, SIGHUP, SIGQUIT,   SIGUSR1, SIGUSR2, SIGALRM, SIGABRT,
    SIGSEGV,   SIGBUS,  SIGFPE, SIGILL,    SIGTRAP, SIGSYS,  SIGIO,   SIGPROF,
    SIGVTALRM, SIGXCPU, SIGPWR, SIGSTKFLT, SIGTSTP, SIGCONT};

/* Adds the signal to those that are held, unless it is ignored. */
static void
hold(struct child_signals *s, int signal_number)
{
    struct sigaction now;

    if (sigaction(signal_number, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
        sigaddset(&s->held, signal_number);
}

void
child_signals_hold(struct child_signals *s)
{
    const struct sigaction plain = {.sa_handler = SIG_DFL};

    if (sigaction(SIGCHLD, NULL, &s->old_child) == 0 &&
        (s->old_child.sa_handler == SIG_IGN ||
         (s->old_child.sa_flags & SA_NOCLDWAIT) != 0))
        sigaction(SIGCHLD, &plain, NULL);
    sigemptyset(&s->held);
    sigaddset(&s->held, SIGCHLD);
    for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
        hold(s, forwarded[i]);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        hold(s, number);
    sigprocmask(SIG_BLOCK, &s->held, &s->old);
}

void
child_signals_free(const struct child_signals *s)
{
    child_signals_came(s);
    sigaction(SIGCHLD, &s->old_child, NULL);
    sigprocmask(SIG_SETMASK, &s->old, NULL);
}

bool
child_signals_came(const struct child_signals *s)
{
    const struct timespec none = {0, 0};
    sigset_t ending = s->held;
    siginfo_t info;
    bool came = false;

    sigdelset(&ending, SIGTSTP);
    sigdelset(&ending, SIGCONT);
    while (sigtimedwait(&ending, &info, &none) > 0)
        came = came || info.si_signo != SIGCHLD;
    return came;
}

static bool
is_elf(const char *path)
{
    char magic[SELFMAG];
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const bool is = fd >= 0 && read(fd, magic, SELFMAG) == SELFMAG &&
                    memcmp(magic, ELFMAG, SELFMAG) == 0;

    if (fd >= 0)
        close(fd);
    return is;
}

/*
 * Executes a program as execvp() does, but gives no ELF file to the shell:
 * execvp() runs a file that the kernel does not know as a script, and a program
 * of another processor is no script. Returns with errno set.
 */
static void
run_program(char *const *argv)
{
    char found[PATH_MAX];
    const char *path = strchr(argv[0], '/') != NULL  ? argv[0]
                       : path_search(argv[0], found) ? found
                                                     : NULL;

    if (path != NULL) {
        execv(path, argv);
        if (errno == ENOEXEC && is_elf(path)) {
            errno = ENOEXEC; /* is_elf() may have changed errno */
            return;
        }
    }
    execvp(argv[0], argv);
}

/* Waits in the new process for the gate's byte, and executes the program. */
static __attribute__((noreturn)) void
run(const struct child *c, const struct child_program *program, int gate,
    int word)
{
    char byte;

    sigaction(SIGCHLD, &c->signals->old_child, NULL);
    sigprocmask(SIG_SETMASK, &c->signals->old, NULL);
    /* If the pipe closes without a byte, tally has died: start nothing. */
    if (read(gate, &byte, 1) != 1)
        _exit(125);
    if (program->fixed_addresses)
        personality(ADDR_NO_RANDOMIZE);
    if (program->path != NULL)
        execve(program->path, program->argv,
               program->env != NULL ? program->env : environ);
    else
        run_program(program->argv);
    const int error = errno;
    if (write(word, &error, sizeof(error)) != sizeof(error))
        _exit(125);
    _exit(error == ENOENT ? 127 : 126);
}

static void
close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Opens the controlling terminal. Returns -1 if there is none, or if our group
 * does not have its foreground. */
static int
open_terminal(void)
{
    int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);

    if (fd >= 0 && tcgetpgrp(fd) != getpgrp())
        close_end(&fd);
    return fd;
}

/* Makes `group` the terminal's foreground group. SIGTTOU is blocked meanwhile:
 * it would stop a process of a background group that does this. */
static void
set_foreground(int terminal, pid_t group)
{
    sigset_t set, old;

    sigemptyset(&set);
    sigaddset(&set, SIGTTOU);
    sigprocmask(SIG_BLOCK, &set, &old);
    tcsetpgrp(terminal, group);
    sigprocmask(SIG_SETMASK, &old, NULL);
}

/* Takes the foreground back from the group of program `pid`, which has ended,
 * or from a group without processes. Another group that lives keeps the
 * foreground: the shell has put us into the background. */
static void
leave_terminal(struct child *c, pid_t pid)
{
    const pid_t group = c->terminal >= 0 ? tcgetpgrp(c->terminal) : -1;
    /* kill() fails with EPERM where the group lives and is another user's. */
    const bool taken =
        group > 0 && group != getpgrp() &&
        (group == pid || (kill(-group, 0) != 0 && errno == ESRCH));

    if (taken) {
        set_foreground(c->terminal, getpgrp());
        if (WIFSIGNALED(c->status) &&
            (WTERMSIG(c->status) == SIGINT || WTERMSIG(c->status) == SIGQUIT))
            c->interrupted = true;
    }
    close_end(&c->terminal);
}

int
child_start(struct child *c, const struct child_signals *signals,
            const struct child_program *program, const struct tally_log *log)
{
    int gate[2] = {-1, -1}, word[2] = {-1, -1};

    *c = (struct child){
        .signals = signals, .gate = -1, .word = -1, .terminal = -1};
    if (program->argv == NULL)
        return 0;
    c->terminal = open_terminal();
    if (pipe2(gate, O_CLOEXEC) == 0 && pipe2(word, O_CLOEXEC) == 0)
        c->pid = fork();
    else
        c->pid = -1;
    if (c->pid == 0) {
        close(gate[1]);
        close(word[0]);
        run(c, program, gate[0], word[1]);
    }
    const int error = errno;
    close_end(&gate[0]);
    close_end(&word[1]);
    c->gate = gate[1];
    c->word = word[0];
    if (c->pid > 0)
        return 0;
    c->pid = 0;
    child_finish(c);
    return tally_fail(log, TALLY_ESYSTEM, "cannot start a process: %s",
                      strerror(error));
}

void
child_go(struct child *c)
{
    int error = 0;

    if (c->pid == 0)
        return;
    while (write(c->gate, "", 1) < 0)
        if (errno != EINTR) {
            c->exec_error = errno;
            break;
        }
    close_end(&c->gate);
    /* The end of the pipe says that the exec closed it. */
    if (read(c->word, &error, sizeof(error)) == sizeof(error))
        c->exec_error = error;
    close_end(&c->word);
}

static double
seconds_of(const struct timeval *t)
{
    return (double)t->tv_sec + (double)t->tv_usec * 1e-6;
}

/* Does to tally what SIGTSTP does by default: stops it, unless its process
 * group is orphaned. */
static void
stop(void)
{
    sigset_t set;

    /* SIGTSTP discards a pending SIGCONT: nobody would send another one. */
    if (sigpending(&set) == 0 && sigismember(&set, SIGCONT) == 1)
        return;
    sigemptyset(&set);
    sigaddset(&set, SIGTSTP);
    raise(SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

/* Lets the stopped program that had the foreground go on, with the foreground
 * if our group has it now. */
static void
resume(struct child *c)
{
    if (tcgetpgrp(c->terminal) == getpgrp()) {
        set_foreground(c->terminal, c->stopped_group);
        kill(-c->stopped_group, SIGCONT);
        c->stopped_group = 0;
    }
}

/*
 * Stops tally after a program that has the foreground in a group of its own:
 * Ctrl-Z reaches the program alone, and the shell waits for tally.
 */
static void
stop_with_program(struct child *c)
{
    const pid_t group = c->terminal >= 0 ? tcgetpgrp(c->terminal) : -1;

    if (group <= 0 || group == getpgrp() || group != getpgid(c->pid))
        return;
    c->stopped_group = group;
    set_foreground(c->terminal, getpgrp());
    stop();
    resume(c);
}

/* Takes the program's end, if the program has ended; true if so. */
static bool
reap(struct child *c)
{
    int status = 0;

    if (c->pid == 0)
        return false;
    const pid_t pid = wait4(c->pid, &status, WNOHANG | WUNTRACED, &c->usage);
    c->lost = pid < 0 && errno == ECHILD;
    if (pid != c->pid && !c->lost)
        return false;
    if (WIFSTOPPED(status)) {
        stop_with_program(c);
        return false;
    }
    c->status = status;
    c->user_s = seconds_of(&c->usage.ru_utime);
    c->sys_s = seconds_of(&c->usage.ru_stime);
    leave_terminal(c, c->pid);
    c->pid = 0;
    c->ended = true;
    /* A signal to the whole group may end the program before we take it. */
    c->interrupted = child_signals_came(c->signals) || c->interrupted;
    return true;
}

/* Acts on a signal that was held: passes it on, unless it comes from the
 * terminal and so has reached the program too. True if the waiting is over. */
static bool
take_signal(struct child *c, const siginfo_t *info)
{
    const int number = info->si_signo;
    const bool ends = number != SIGTSTP && number != SIGCONT;

    if (number == SIGCHLD)
        return reap(c);
    if (c->take != NULL && c->take(c->user, number))
        return false;
    if (c->pid != 0 && info->si_code != SI_KERNEL)
        kill(c->pid, number);
    if (number == SIGTSTP)
        stop();
    if (number == SIGCONT && c->stopped_group != 0)
        resume(c);
    c->interrupted = c->interrupted || ends;
    return c->pid == 0 && ends;
}

bool
child_wait(struct child *c, double seconds)
{
    const double whole = seconds > 0 ? (double)(time_t)seconds : 0;
    struct timespec left = {(time_t)whole, 0};
    siginfo_t info;

    if (seconds > whole)
        left.tv_nsec = (long)((seconds - whole) * 1e9);
    if (reap(c))
        return true;
    const int signal_number =
        seconds < 0 ? sigwaitinfo(&c->signals->held, &info)
                    : sigtimedwait(&c->signals->held, &info, &left);
    return signal_number > 0 && take_signal(c, &info);
}

void
child_finish(struct child *c)
{
    if (c->pid > 0) {
        kill(c->pid, SIGKILL);
        while (waitpid(c->pid, &c->status, 0) < 0 && errno == EINTR)
            ;
        leave_terminal(c, c->pid);
        c->pid = 0;
    }
    close_end(&c->gate);
    close_end(&c->word);
    close_end(&c->terminal);
}
