/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the guest executes. */
#ifndef TALLY_PLUGIN_EXEC_H
#define TALLY_PLUGIN_EXEC_H

#include <stdbool.h>
#include <stdint.h>

/* What the host executes for a thread runs outside. That the call fails is
 * known only when it returns; if it succeeds nobody is left to note anything.
 */
struct exec_leaving {
    bool noted;
    unsigned place; /* of the name in the session's header */
};

/* Follows execve into a program that can be counted. */
void plugin_execve(uint64_t path, uint64_t argv, uint64_t envp,
                   uint64_t random_key, struct exec_leaving *leaving);

/* Takes the note back: the call returned, so that nothing was executed. */
void plugin_execve_fails(struct exec_leaving *leaving);

/* Notes what execveat, which QEMU 7.2 lacks, has the host execute. */
void plugin_execveat(uint64_t path, struct exec_leaving *leaving);

/* Notes what /proc/self/exe is to the guest; before it runs, once it is
 * loaded. */
void plugin_note_program(void);

#endif
