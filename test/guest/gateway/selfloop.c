/* SPDX-License-Identifier: MIT */
/*
 * selfloop EVENTS [N]: counts N turns of loop() (1000 without N), and none, of
 * which the difference is the loop's alone; for each event a line with its name
 * and that.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <tally/counter.h>

#include "loop.h"

enum { MAX_EVENTS = 64 };

static void
complain(void *user, enum tally_level level, const char *text)
{
    (void)user;
    if (level == TALLY_LOG_ERROR)
        fprintf(stderr, "%s\n", text);
}

static __attribute__((noinline)) int
measure(struct tally_counter *counter, unsigned long turns,
        struct tally_reading *readings)
{
    int error = tally_counter_reset(counter);

    if (error == 0)
        error = tally_counter_start(counter);
    loop(turns);
    if (error == 0)
        error = tally_counter_stop(counter);
    if (error == 0)
        error = tally_counter_read(counter, readings, MAX_EVENTS);
    return error;
}

int
main(int argc, char **argv)
{
    const unsigned long turns = argc > 2 ? strtoul(argv[2], NULL, 0) : 1000;
    struct tally_counter_options options;
    struct tally_counter *counter;
    struct tally_reading few[MAX_EVENTS], many[MAX_EVENTS];

    tally_counter_options_init(&options, sizeof(options));
    options.log.write = complain;
    int error =
        argc < 2 ? TALLY_ESYNTAX : tally_counter_open(&options, &counter);
    if (error != 0)
        return 2;
    error = tally_counter_add(counter, argv[1]);
    /* The first time warms the caches up. */
    for (int i = 0; i < 2 && error == 0; i++) {
        error = measure(counter, 1, few);
        if (error == 0)
            error = measure(counter, turns + 1, many);
    }
    if (error != 0) {
        fprintf(stderr, "selfloop: %s\n", tally_strerror(error));
        return 1;
    }
    for (size_t i = 0; i < tally_counter_count(counter); i++) {
        struct tally_counted event;
        tally_counter_event(counter, i, &event);
        printf("%s %" PRIu64 "\n", event.name, many[i].value - few[i].value);
    }
    tally_counter_close(counter);
    return 0;
}
