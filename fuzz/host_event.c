/* SPDX-License-Identifier: MIT */
/* Any bytes as an event list of this host, with the PMUs that it has. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "host/event.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct tally_log log = {.write = fuzz_hear};
    char *text = fuzz_text(data, size);
    struct host_event *events = NULL;
    size_t count = 0;
    const int error = host_event_list_parse(text, &log, &events, &count);

    fuzz_check((error == 0) == (count > 0));
    fuzz_check((error == 0) == (events != NULL));
    for (size_t i = 0; i < count; i++) {
        fuzz_check(events[i].attr.size == sizeof(events[i].attr));
        fuzz_check(strnlen(events[i].name, HOST_NAME) < HOST_NAME);
        fuzz_check(events[i].scale > 0);
        fuzz_check(events[i].group >= -1);
    }
    free(events);
    free(text);
    return 0;
}
