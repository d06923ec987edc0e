/* SPDX-License-Identifier: MIT */
/* GDB beside a program that QEMU runs: connected through a socket to QEMU's
 * stub, from the first instruction on. */
#ifndef TALLY_CLI_DEBUGGER_H
#define TALLY_CLI_DEBUGGER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "source/point.h"
#include "source/program.h"

#define DEBUGGER_COMMANDS 16u

#define DEBUGGER_SOCKET 108 /* bytes of a socket's path, as in sockaddr_un */

struct debugger {
    char gdb[PATH_MAX];
    char folder[DEBUGGER_SOCKET]; /* of the socket; "": there is none */
    char socket[DEBUGGER_SOCKET];
    char script[DEBUGGER_SOCKET]; /* of commands that load symbols */
    pid_t pid;                    /* 0: not started */
    int terminal; /* whose foreground GDB has while it asks for commands; 0:
                     none */
};

/* Finds gdb-multiarch, or for a program of this computer's kind gdb, and makes
 * the folder of the socket. 0, or an exit status after saying what is wrong.
 * debugger_finish() accepts a zeroed struct and what failed. */
int debugger_open(struct debugger *d, const struct program *program);

/* Starts GDB, which waits for the socket, connects, and lets the program go on;
 * then GDB loads the symbols, and carries out the commands: with any GDB ends
 * behind them, and the program with it, else GDB asks for more, and a
 * terminal's input and foreground are GDB's. 0 or an exit status. */
int debugger_start(struct debugger *d, const struct program *program,
                   const char *const *orders, size_t count);

/* Tells GDB, before it is stopped, where the symbols of the program's code are:
 * GDB has none before, as it would set breakpoints of its own, and QEMU makes
 * other blocks of code on pages with breakpoints. */
void debugger_symbols(const struct debugger *d, const struct point *point);

/* Waits for GDB's end. The program has ended. */
void debugger_wait(struct debugger *d);

/* Ends GDB where it still waits for the socket, and removes the folder. */
void debugger_finish(struct debugger *d);

#endif
