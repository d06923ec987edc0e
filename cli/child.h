/* SPDX-License-Identifier: MIT */
/* What commands share that run tally, or another program, in children of their
 * own: check, bisect and sweep. */
#ifndef TALLY_CLI_CHILD_H
#define TALLY_CLI_CHILD_H

#include <signal.h>

/* The file of the program that runs: tally. */
#define CHILD_SELF "/proc/self/exe"

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

/* Waits for a signal of the set, at most so many seconds; infinity: for ever.
 * Returns its number; 0 where none came, or a child ended. */
int child_wait_signal(const sigset_t *set, double seconds);

#endif
