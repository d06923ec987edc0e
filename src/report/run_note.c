/* SPDX-License-Identifier: MIT */
#include "report/run_note.h"

#include <inttypes.h>
#include <stdio.h>

bool
report_threads(const struct session_result *run, char *text, size_t size)
{
    if (run->together < 2)
        return false;
    snprintf(text, size,
             "%u threads ran side by side: all counts vary with how they ran",
             run->together);
    return true;
}

bool
report_random_fixed(const struct session_result *run, char *text, size_t size)
{
    if (run->random_fixed == 0)
        return false;
    snprintf(text, size,
             "random bytes were fixed, %" PRIu64
             " of them: keys made in this run are not secret (--real-random)",
             run->random_fixed);
    return true;
}

bool
report_random_left(const struct session_result *run, char *text, size_t size)
{
    if (run->random_left == 0)
        return false;
    snprintf(text, size,
             "random bytes that could not be fixed: %" PRIu64
             ", which the kernel moved itself (sendfile, splice)",
             run->random_left);
    return true;
}
