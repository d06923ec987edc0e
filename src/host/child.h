/* SPDX-License-Identifier: MIT */
/*
 * Starts a program, holds it before its exec, lets it go and waits for its end;
 * passes on to it the signals that reach tally. The program is QEMU, or one
 * that the host counts.
 *
 * All signals that would end tally are passed on, except SIGKILL, which cannot
 * be caught, and SIGPIPE and SIGXFSZ, which tally's own writes raise. SIGTSTP
 * stops the program and tally, and SIGCONT lets both go on; neither ends the
 * waiting.
 *
 * A program that takes the terminal's foreground from our group, as shells do,
 * gets Ctrl-C and Ctrl-Z alone. If such a program stops, tally takes the
 * foreground back and stops too; continued in the foreground, tally gives the
 * program the foreground and lets it go on. At the program's end our group
 * takes the foreground back.
 */
#ifndef TALLY_HOST_CHILD_H
#define TALLY_HOST_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * The signals that are passed on, and SIGCHLD. They are blocked from
 * child_signals_hold() to child_signals_free(): no signal is lost, or kills
 * tally, between two programs or before the report. A signal that was ignored
 * before stays ignored, except SIGCHLD: a process that ignores SIGCHLD cannot
 * wait for its children.
 */
struct child_signals {
    sigset_t held, old;
    struct sigaction old_child; /* what SIGCHLD did before */
};

void child_signals_hold(struct child_signals *signals);

/* Drops the pending signals, and lets signals end tally again; may be called
 * twice. */
void child_signals_free(const struct child_signals *signals);

/* Drops the pending signals except SIGTSTP and SIGCONT; true if one other than
 * SIGCHLD was pending. */
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
    /* Returns whether it used the signal, which then is not passed on; NULL:
     * all signals are passed on. */
    bool (*take)(void *user, int signal_number);
    void *user;   /* of `take` */
    pid_t pid;    /* 0: no program; child_wait() waits for signals and time */
    int gate;     /* pipe: one byte lets the program go */
    int word;     /* pipe: the program writes errno if its exec fails */
    int terminal; /* its foreground was our group's at the start; -1: none */
    pid_t stopped_group; /* the program's, stopped in the foreground; or 0 */
    int status;          /* as waitpid() gives it, once the program has ended */
    int exec_error;      /* errno of the exec, 0: it ran */
    /* A signal other than SIGTSTP and SIGCONT came to tally; or the program,
     * which had taken the foreground, died of SIGINT or SIGQUIT. */
    bool interrupted;
    bool ended;
    bool lost; /* ended, but another part of our process took its status */
    struct rusage usage; /* of the program and the children it waited for */
    double user_s, sys_s;
};

/* Starts the program, which waits for child_go(). 0 or TALLY_ESYSTEM, logged.
 */
int
child_start(struct child *child, const struct child_signals *signals,
            const struct child_program *program, const struct tally_log *log);

/* Lets the program exec; waits until the exec has worked or failed. */
void child_go(struct child *child);

/*
 * Waits at most `seconds` (negative: as long as it takes) for the end of the
 * program or a signal to us. True if the waiting is over: the program has
 * ended, or there is none and a signal came.
 */
bool child_wait(struct child *child, double seconds);

/* Kills and reaps the program if it has not ended, and frees what child_start()
 * has opened. */
void child_finish(struct child *child);

#endif
