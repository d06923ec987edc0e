/* SPDX-License-Identifier: MIT */
/* Counts a program on a modelled machine with tally/session.h: use_session
 * PROGRAM. */
#include "use.h"

#include <tally/session.h>

static char *const *program;

static int
use(uint64_t values[USE_VALUES])
{
    struct tally_session_options options;
    struct tally_result *result = NULL;

    tally_session_options_init(&options, sizeof(options));
    options.events = "All_instr,Load_instr";
    options.clean_env = true;
    if (tally_session_run(&options, program, &result) != 0)
        return -1;
    const int count = (int)tally_result_event_count(result);
    for (int i = 0; i < count; i++)
        values[i] = tally_result_value(result, (size_t)i);
    tally_result_destroy(result);
    return count;
}

int
main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    program = argv + 1;
    return use_run(use);
}
