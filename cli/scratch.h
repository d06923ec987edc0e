/* SPDX-License-Identifier: MIT */
/* Files that are not kept. */
#ifndef TALLY_CLI_SCRATCH_H
#define TALLY_CLI_SCRATCH_H

/* Opens a file without a name in the folder of path_scratch(), for reading and
 * writing; closed on execution. Returns its descriptor, or -1 with errno. */
int scratch_open(void);

/* The same for the record of a program that `command` runs. -1: it has said
 * why. */
int scratch_record(const char *command);

#endif
