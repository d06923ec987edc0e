/* SPDX-License-Identifier: MIT */
/* What commands share that run tally, or another program, in children of their
 * own: check, bisect and sweep. */
#ifndef TALLY_CLI_CHILD_H
#define TALLY_CLI_CHILD_H

#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

/* The file of the program that runs: tally. */
#define CHILD_SELF "/proc/self/exe"

/* Seconds in which children are to end after a signal. */
#define CHILD_GRACE_SECONDS 5.0

/* Returns the seconds of a clock that only goes forward. */
double child_clock(void);

/*
 * In a child: sets the standard files and the folder, and executes. `directory`
 * NULL: the same folder; `input` NULL: /dev/null. The child ends with tally,
 * has a process group of its own and no signal blocked. Returns only where that
 * did not work, after saying why on `err`: a status to end with.
 */
int child_execute(const char *file, char *const *argv, const char *directory,
                  const char *input, int out, int err);

/* Returns the last line that the program or tally has written, of a file of
 * both and QEMU, for the caller to free; NULL: there is none, or no memory. */
char *child_last_line(int fd);

/* Blocks the signals that end tally or tell of children, and returns them;
 * *before becomes what was blocked before. */
sigset_t child_block_signals(sigset_t *before);

/* Children, each the leader of a process group; `pid` gives the place of a
 * child's number, 0 where none runs, and `ended` is called once a child has
 * ended, with its number 0. */
struct child_list {
    size_t count;
    pid_t *(*pid)(void *user, size_t i);
    void (*ended)(void *user, size_t i);
    void *user;
};

/* Ends all children: sends the signal to their groups, and SIGKILL after some
 * seconds or once another signal of the set comes. */
void child_end_all(const struct child_list *children, const sigset_t *set,
                   int number);

/* Waits for a signal of the set, at most so many seconds; infinity: for ever.
 * Returns its number; 0 where none came, or a child ended. */
int child_wait_signal(const sigset_t *set, double seconds);

#endif
