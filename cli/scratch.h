/* SPDX-License-Identifier: MIT */
/* Files that are not kept. */
#ifndef TALLY_CLI_SCRATCH_H
#define TALLY_CLI_SCRATCH_H

/* Opens a file without a name in the folder of path_scratch(), for reading and
 * writing; closed on execution. Returns its descriptor, or -1 with errno. */
int scratch_open(void);

/* Opens such a file for the record of a program that `command` runs. Returns
 * its descriptor, or -1 after saying why on standard error. */
int scratch_record(const char *command);

#endif
