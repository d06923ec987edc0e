/* SPDX-License-Identifier: MIT */
/* Says that no thread of a process can go on: each waits for another. */
#ifndef TALLY_CLI_STUCK_H
#define TALLY_CLI_STUCK_H

#include <stdbool.h>

struct stuck {
    bool shows_progress; /* in the last line of standard error */
    bool tells_locks;    /* the report says what each thread waits for */
    int told;            /* the process that was told of last; 0: none */
};

/* Writes one line on standard error, once of a process: session_options.stuck,
 * with a struct stuck as session_options.stuck_user. */
void stuck_say(void *user, int pid, unsigned threads);

#endif
