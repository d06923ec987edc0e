/* SPDX-License-Identifier: MIT */
/*
 * Takes the foreground of its terminal, as a shell does, says so, and waits for
 * a signal. Ends with 1 where the foreground cannot be had.
 */
#include <signal.h>
#include <unistd.h>

int
main(void)
{
    signal(SIGTTOU, SIG_IGN);
    if (setpgid(0, 0) != 0 || tcsetpgrp(STDIN_FILENO, getpid()) != 0 ||
        write(STDOUT_FILENO, "taken\n", 6) != 6)
        return 1;
    for (;;)
        pause();
}
