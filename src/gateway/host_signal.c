/* SPDX-License-Identifier: MIT */
#include "gateway/host_signal.h"

#include <signal.h>
#include <stddef.h>

/* Those of Linux on most processors. */
uint64_t
gateway_host_signal(int number)
{
    static const struct {
        int here, there;
    } numbers[] = {
        {SIGHUP, 1},     {SIGINT, 2},   {SIGQUIT, 3},   {SIGILL, 4},
        {SIGTRAP, 5},    {SIGABRT, 6},  {SIGBUS, 7},    {SIGFPE, 8},
        {SIGKILL, 9},    {SIGUSR1, 10}, {SIGSEGV, 11},  {SIGUSR2, 12},
        {SIGPIPE, 13},   {SIGALRM, 14}, {SIGTERM, 15},  {SIGCHLD, 17},
        {SIGCONT, 18},   {SIGSTOP, 19}, {SIGTSTP, 20},  {SIGTTIN, 21},
        {SIGTTOU, 22},   {SIGURG, 23},  {SIGXCPU, 24},  {SIGXFSZ, 25},
        {SIGVTALRM, 26}, {SIGPROF, 27}, {SIGWINCH, 28}, {SIGIO, 29},
        {SIGPWR, 30},    {SIGSYS, 31},
    };

    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        if (numbers[i].here == number)
            return (uint64_t)numbers[i].there;
    }
    /* QEMU's first real-time signal of the guest is the first that its C
     * library leaves it. */
    return number >= 32 ? (uint64_t)number + 2 : 0;
}
