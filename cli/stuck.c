/* SPDX-License-Identifier: MIT */
#include "cli/stuck.h"

#include <stdio.h>

void
stuck_say(void *user, int pid, unsigned threads)
{
    struct stuck *const s = user;
    char who[64];

    if (s->told == pid)
        return;
    s->told = pid;
    if (threads == 1)
        snprintf(who, sizeof(who), "the only thread of process %d waits", pid);
    else
        snprintf(who, sizeof(who), "all %u threads of process %d wait", threads,
                 pid);
    fprintf(stderr,
            "%stally: %s, and none is left to let another go on; Ctrl-C "
            "(SIGINT) ends the program%s\n",
            s->shows_progress ? "\r\033[K" : "", who,
            s->tells_locks ? " and writes what it waits for"
                           : "; tally locks shows who waits for whom");
}
