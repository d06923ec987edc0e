/* SPDX-License-Identifier: MIT */
/* Any bytes as an event list; the first byte chooses the machine. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "table/table.h"

/* Returns whether `e` is an event of the machine, one made for a generic name,
 * or a part of an event that event lists take for one. */
static bool
is_row(const struct machine_row *m, const struct event_row *e)
{
    return (e >= m->events && e < m->events + m->event_count + m->made_count) ||
           (e >= m->narrowed_events &&
            e < m->narrowed_events + m->narrowed_event_count);
}

static void
parse(const struct machine_row *machine, const char *text,
      const struct tally_log *log)
{
    const struct event_row **events = NULL;
    size_t count = 0;
    const int error = event_list_parse(machine, text, log, &events, &count);

    fuzz_check((error == 0) == (count > 0));
    fuzz_check((error == 0) == (events != NULL));
    for (size_t i = 0; i < count; i++)
        fuzz_check(is_row(machine, events[i]));
    free(events);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct tally_log log = {.write = fuzz_hear};

    if (size == 0)
        return 0;
    char *const text = fuzz_text(data + 1, size - 1);
    parse(&tally_machines[data[0] % MACHINE_COUNT], text, &log);
    free(text);
    return 0;
}
