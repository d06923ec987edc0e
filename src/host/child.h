/* SPDX-License-Identifier: MIT */
/*
 * A program that is started, held before its exec, let go, and waited for,
 * while signals that reach us are passed on to it.
 */
#ifndef TALLY_HOST_CHILD_H
#define TALLY_HOST_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * The signals that are passed on, and SIGCHLD, held from child_signals_hold()
 * to child_signals_free(): none is lost, or kills us, between two programs or
 * before the report. Those that were ignored before stay ignored.
 */
struct child_signals {
    sigset_t held, old;
    struct sigaction old_child; /* what SIGCHLD did before */
};

void child_signals_hold(struct child_signals *signals);
void child_signals_free(const struct child_signals *signals);

/* Takes what is pending; true if there was any but SIGCHLD. */
bool child_signals_came(const struct child_signals *signals);

struct child {
    const struct child_signals *signals;
    pid_t pid;      /* 0: there is none, only signals and time are waited for */
    int gate;       /* one byte lets it go */
    int word;       /* it writes errno if the exec fails */
    int status;     /* as waitpid() gives it, once it has ended */
    int exec_error; /* errno of the exec, 0: it ran */
    bool interrupted; /* one of our signals was passed on */
    bool ended;
    double user_s, sys_s;
};

/* argv NULL: no program. 0 or TALLY_ESYSTEM, logged. */
int child_start(struct child *child, const struct child_signals *signals,
                char *const *argv, const struct tally_log *log);

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
