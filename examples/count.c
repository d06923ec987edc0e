/* SPDX-License-Identifier: MIT */
/* count PROGRAM [ARGUMENTS]: how many instructions, how many cache misses. */
#include <inttypes.h>
#include <stdio.h>

#include <tally/session.h>

static void
write_line(void *user, enum tally_level level, const char *text)
{
    (void)user;
    (void)level;
    fprintf(stderr, "count: %s\n", text);
}

int
main(int argc, char **argv)
{
    struct tally_session_options options;
    struct tally_result *result;

    if (argc < 2) {
        fprintf(stderr, "usage: count PROGRAM [ARGUMENTS]\n");
        return 2;
    }
    tally_session_options_init(&options, sizeof(options));
    options.events = "instructions,L1-icache-load-misses,"
                     "L1-dcache-load-misses";
    options.log.write = write_line;
    if (tally_session_run(&options, argv + 1, &result) != 0)
        return 1;

    for (size_t i = 0; i < tally_result_event_count(result); i++)
        printf("%15" PRIu64 "  %-22s %s\n", tally_result_value(result, i),
               tally_event_name(tally_result_event(result, i)),
               tally_fidelity_name(tally_result_fidelity(result, i)));
    tally_result_destroy(result);
    return 0;
}
