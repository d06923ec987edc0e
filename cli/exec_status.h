/* SPDX-License-Identifier: MIT */
/* A program that the host itself does not run: why, and the exit status. */
#ifndef TALLY_CLI_EXEC_STATUS_H
#define TALLY_CLI_EXEC_STATUS_H

/* `error` is the errno of its exec; `command` ("count") takes -m. Tells why on
 * stderr. */
int exec_status(const char *command, int error, char *const *argv);

#endif
