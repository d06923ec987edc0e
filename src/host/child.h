/* SPDX-License-Identifier: MIT */
/*
 * A program that is started, held before its exec, let go, and waited for,
 * while signals that reach us are passed on to it. Programs counted by the host
 * and QEMU are both run so.
 *
 * All signals that would end us are passed on, except SIGKILL, which cannot be
 * caught, and SIGPIPE and SIGXFSZ, which come of our own writes. SIGTSTP stops
 * the program and us, and SIGCONT lets both go on; neither ends the waiting.
 *
 * A program that takes the terminal's foreground from our group, as shells do,
 * gets Ctrl-C alone. At its end our group takes the foreground back.
 */
#ifndef TALLY_HOST_CHILD_H
#define TALLY_HOST_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * The signals that are passed on, and SIGCHLD, held from child_signals_hold()
 * to child_signals_free(): none is lost, or kills us, between two programs or
 * before the report. Signals that were ignored before stay ignored, except
 * SIGCHLD: a process that ignores SIGCHLD cannot wait for its children.
 */
struct child_signals {
    sigset_t held, old;
    struct sigaction old_child; /* what SIGCHLD did before */
};

void child_signals_hold(struct child_signals *signals);

/* Takes what is pending, and lets signals end us again; may be called twice. */
void child_signals_free(const struct child_signals *signals);

/* Takes what is pending, but not SIGTSTP and SIGCONT; true if there was any but
 * SIGCHLD. */
bool child_signals_came(const struct child_signals *signals);

/* What is executed, and how. */
struct child_program {
    char *const *argv;    /* NULL: no program */
    const char *path;     /* NULL: argv[0] is looked up as execvp() does */
    char *const *env;     /* NULL: our own environment; else needs `path` */
    bool fixed_addresses; /* without address space randomisation */
};

struct child {
    const struct child_signals *signals;
    /* Returns whether it used a signal itself, which then is not passed on;
     * NULL: all are passed on. */
    bool (*take)(void *user, int signal_number);
    void *user;     /* of `take` */
    pid_t pid;      /* 0: there is none, only signals and time are waited for */
    int gate;       /* one byte lets it go */
    int word;       /* it writes errno if the exec fails */
    int terminal;   /* that our group has the foreground of, or -1 */
    int status;     /* as waitpid() gives it, once it has ended */
    int exec_error; /* errno of the exec, 0: it ran */
    /* One of our signals was passed on, or the terminal sent one to the program
     * alone, which had taken the foreground, and the program died of it. */
    bool interrupted;
    bool ended;
    bool lost; /* ended, but another part of our process took its status */
    struct rusage usage; /* of the program and the children it waited for */
    double user_s, sys_s;
};

/* Starts the program. 0 or TALLY_ESYSTEM, logged. */
int
child_start(struct child *child, const struct child_signals *signals,
            const struct child_program *program, const struct tally_log *log);

/* Lets it exec; waits until that has worked or failed. */
void child_go(struct child *child);

/*
 * Waits at most `seconds` (negative: as long as it takes) for the end of the
 * program or a signal to us. True if the waiting is over: the program has
 * ended, or there is none and a signal came.
 */
bool child_wait(struct child *child, double seconds);

/* Kills and reaps a program that was never let go. */
void child_finish(struct child *child);

#endif
