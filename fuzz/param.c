/* SPDX-License-Identifier: MIT */
/* Any lines as --set assignments, one after the other, then checked. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "table/table.h"

/* What was accepted is within its limits and survives being written. */
static void
check(const uint64_t *params)
{
    for (int id = 0; id < PARAM_COUNT; id++) {
        char text[PARAM_TEXT_SIZE];
        uint64_t back = ~params[id];
        param_text(id, params[id], text, sizeof(text));
        fuzz_check(param_parse(id, text, NULL, &back) == 0);
        fuzz_check(back == params[id]);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct machine_row *machine = machine_find("ultrasparc-t2");
    const struct tally_log log = {.write = fuzz_hear};
    char *text = fuzz_text(data, size);
    uint64_t params[PARAM_COUNT];
    char *rest = NULL;

    for (size_t i = 0; i < PARAM_COUNT; i++)
        params[i] = machine->params[i].value;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest))
        param_set(line, &log, params);
    check(params);
    params_check(params, &log);
    free(text);
    return 0;
}
