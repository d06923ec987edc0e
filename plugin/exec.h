/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Following execve of the guest. */
#ifndef TALLY_PLUGIN_EXEC_H
#define TALLY_PLUGIN_EXEC_H

#include <stdbool.h>
#include <stdint.h>

/* The note that the host executes a program for a thread, uncounted. Whether
 * the call fails is known only when the call returns; if it succeeds, nobody is
 * left to make a note. */
struct exec_leaving {
    bool noted;
    unsigned place; /* of the name in the session's header */
};

/* Follows execve into a program that can be counted. */
void plugin_execve(uint64_t path, uint64_t argv, uint64_t envp,
                   uint64_t random_key, struct exec_leaving *leaving);

/* Takes the note back: the call returned, so that nothing was executed. */
void plugin_execve_fails(struct exec_leaving *leaving);

/* Follows execveat with these arguments; under QEMU 7.2, which lacks that call,
 * only notes the program as uncounted, until the call returns. */
void plugin_execveat(const uint64_t args[5], uint64_t random_key,
                     struct exec_leaving *leaving);

/* Notes the guest's own /proc/self/exe. To be called when the program is loaded
 * and has not run. */
void plugin_note_program(void);

#endif
