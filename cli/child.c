/* SPDX-License-Identifier: MIT */
#include "cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/check_run.h"
#include "cli/command.h"

/* Bytes of a line of a program's standard error that a message shows. */
#define LINE_MOST 200u

double
child_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Opens what a run reads as its standard input; NULL: nothing. Returns a
 * descriptor, or -1 with errno. */
static int
open_input(const char *path)
{
    const int fd =
        open(path != NULL ? path : "/dev/null", O_RDONLY | O_CLOEXEC);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISDIR(st.st_mode))
        return fd;
    close(fd);
    errno = EISDIR;
    return -1;
}

int
child_execute(const char *file, char *const *argv, const char *directory,
              const char *input, int out, int err)
{
    const int in = open_input(input);
    sigset_t none;

    if (in < 0) {
        dprintf(err, "cannot read %s: %s\n",
                input != NULL ? input : "/dev/null", strerror(errno));
        return CHECK_EXIT_FAILED;
    }
    /* Ends with tally, and has a group of its own, which tally ends. */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    setpgid(0, 0);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    if (directory != NULL && chdir(directory) != 0) {
        dprintf(STDERR_FILENO, "cannot run in the folder %s: %s\n", directory,
                strerror(errno));
        return CHECK_EXIT_FAILED;
    }
    execvp(file, argv);
    dprintf(STDERR_FILENO, "cannot run %s: %s\n", argv[0], strerror(errno));
    return EXIT_OURS;
}

char *
child_last_line(int fd)
{
    static const char emulator[] = "qemu: ";
    char text[4096];
    const off_t size = lseek(fd, 0, SEEK_END);
    const off_t from =
        size > (off_t)sizeof(text) ? size - (off_t)sizeof(text) : 0;
    const ssize_t n = pread(fd, text, sizeof(text), from);
    size_t end = n > 0 ? (size_t)n : 0;

    while (end > 0) {
        size_t begin = end;
        while (begin > 0 && text[begin - 1] != '\n')
            begin--;
        const size_t length = end - begin;
        if (length > 0 &&
            (length < sizeof(emulator) ||
             strncmp(text + begin, emulator, sizeof(emulator) - 1) != 0))
            return strndup(text + begin,
                           length < LINE_MOST ? length : LINE_MOST);
        end = begin > 0 ? begin - 1 : 0;
    }
    return NULL;
}

sigset_t
child_block_signals(sigset_t *before)
{
    static const int wanted[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
        struct sigaction now;
        /* One that our parent has us ignore, as nohup does, ends nothing. */
        if (wanted[i] == SIGCHLD || sigaction(wanted[i], NULL, &now) != 0 ||
            now.sa_handler != SIG_IGN)
            sigaddset(&set, wanted[i]);
    }
    sigprocmask(SIG_BLOCK, &set, before);
    /* Where our parent ignored it, children would vanish. */
    signal(SIGCHLD, SIG_DFL);
    return set;
}

int
child_wait_signal(const sigset_t *set, double seconds)
{
    const bool ends = isfinite(seconds);
    const struct timespec most = {
        .tv_sec = ends ? (time_t)seconds : 0,
        .tv_nsec = ends ? (long)((seconds - floor(seconds)) * 1e9) : 0};
    int number;

    do
        number = ends ? sigtimedwait(set, NULL, &most) : sigwaitinfo(set, NULL);
    while (number < 0 && errno == EINTR);
    return number == SIGCHLD || number < 0 ? 0 : number;
}

static void
signal_all(const struct child_list *c, int number)
{
    for (size_t i = 0; i < c->count; i++) {
        const pid_t pid = *c->pid(c->user, i);
        if (pid > 0)
            kill(-pid, number);
    }
}

void
child_end_all(const struct child_list *c, const sigset_t *set, int number)
{
    const double until = child_clock() + CHILD_GRACE_SECONDS;
    const struct timespec wait = {.tv_nsec = 50000000};
    size_t left;

    signal_all(c, number);
    do {
        left = 0;
        for (size_t i = 0; i < c->count; i++) {
            pid_t *const pid = c->pid(c->user, i);
            if (*pid > 0 && waitpid(*pid, NULL, WNOHANG) != 0) {
                kill(-*pid, SIGKILL);
                *pid = 0;
                c->ended(c->user, i);
            }
            left += *pid > 0;
        }
        const int more = left > 0 ? sigtimedwait(set, NULL, &wait) : 0;
        if (left > 0 &&
            ((more > 0 && more != SIGCHLD) || child_clock() > until))
            signal_all(c, SIGKILL);
    } while (left > 0);
}
