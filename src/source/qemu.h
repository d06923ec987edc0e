/* SPDX-License-Identifier: MIT */
/*
 * Programs of QEMU user mode on this computer: where they are, and what they
 * can do for tally, as the functions that they export say. tally needs a QEMU
 * that takes plugins and tells them which program runs; with some more
 * functions, that are no part of the plugin interface, threads take turns and
 * registers are read.
 */
#ifndef TALLY_SOURCE_QEMU_H
#define TALLY_SOURCE_QEMU_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"
#include "isa/isa.h"

/* What a file that is named qemu-ISA exports. */
struct qemu_traits {
    int error;            /* errno where the file cannot be read, else 0 */
    unsigned interface;   /* version of the plugin interface; 4 stands for later
                             ones, too; 0: the program takes no plugins */
    bool tells_program;   /* it tells a plugin which program runs, and where */
    bool takes_turns;     /* threads of the program can take turns */
    bool tells_registers; /* the registers of the program can be read */
};

struct qemu_found {
    char path[PATH_MAX];
    struct qemu_traits traits;
};

/* The places where tally looks: the first program in $PATH, and the folder of
 * qemu_folder(). */
#define QEMU_PLACES 2

/* The QEMU programs for an ISA on this computer. */
struct qemu_search {
    struct qemu_found found[QEMU_PLACES];
    size_t count;
    const struct qemu_found
        *used; /* one of `found`, or NULL: none can be used */
};

/* Fills in what the program of QEMU exports for programs of the ISA. */
void
qemu_read(const char *path, const struct isa *isa, struct qemu_traits *traits);

/* Returns whether tally can run programs under this QEMU. */
bool qemu_is_usable(const struct qemu_traits *traits);

/* Returns whether QEMU gives its program the variables of its environment in
 * reverse order: QEMU 7.2 does, QEMU 10.0 does not. */
bool qemu_reverses_environment(const struct qemu_traits *traits);

/*
 * Writes the folder (PATH_MAX bytes) where a QEMU of tally's own is looked for:
 * $TALLY_QEMU, or else the folder that scripts/setup fills, tally/qemu in
 * $XDG_CACHE_HOME or ~/.cache. Returns whether $TALLY_QEMU names the folder.
 * The folder is "" where the environment tells of none.
 */
bool qemu_folder(char *folder);

/*
 * Finds the QEMU programs for an ISA. With $TALLY_QEMU only those of that
 * folder count. Without, the one in $PATH is used; but where the one of
 * qemu_folder() can have threads take turns, or be used at all, and the one in
 * $PATH cannot, the one of qemu_folder().
 */
void qemu_find(const struct isa *isa, struct qemu_search *search);

/* Logs why the program cannot be used; returns TALLY_EQEMU. */
int qemu_refuse(const struct qemu_found *found, const struct tally_log *log);

/* Reads what a QEMU has written. */
typedef void qemu_reader(void *user, FILE *said);

/*
 * Runs QEMU, without the variables that change how QEMU runs
 * (source/setting.h), and has `read` read what QEMU writes to the descriptor
 * `stream`, 1 or 2. `argv` ends with NULL. Returns 0 once QEMU has ended, or an
 * errno where QEMU did not start.
 */
int qemu_run(const char *path, char *const *argv, int stream, qemu_reader *read,
             void *user);

/* Writes the version that a QEMU tells, such as "7.2.22"; "" if it tells none.
 */
void qemu_version(const char *path, char *text, size_t size);

#endif
