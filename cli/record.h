/* SPDX-License-Identifier: MIT */
/* What runs a program and records it, for tally record and for the commands
 * that report a program by such a record. */
#ifndef TALLY_CLI_RECORD_H
#define TALLY_CLI_RECORD_H

#include "cli/command.h"

/* Runs tally record with these words, the first of which is skipped. Messages
 * begin with the name of `asked`, the command that the user typed. Returns an
 * exit status. */
int record_for(const struct command *asked, int argc, char **argv);

#endif
