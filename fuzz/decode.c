/* SPDX-License-Identifier: MIT */
/* Any lines as REGISTER=VALUE, decoded one by one and together; the first byte
 * chooses the machine. */
#include "table/decode.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"

#define LINES_MAX 16

static void
tell_field(void *user, const struct field_row *field, uint64_t value)
{
    (void)user;
    fuzz_check(field->width == 64 || value >> field->width == 0);
}

/* What a register says can be written down, and read unless it is illegal. */
static void
tell_counter(void *user, const struct counter_row *counter,
             const struct selection *selection, const char *note)
{
    char text[SELECTION_TEXT];
    struct selection back;

    (void)user;
    fuzz_check(counter != NULL && (selection != NULL || note != NULL));
    if (selection == NULL)
        return;
    selection_text(selection, text, sizeof(text));
    if (selection->umask != NULL ? selection->umask->counts != UMASK_YES
                                 : selection->event->umask_count > 0)
        return;
    fuzz_check(selection_parse(selection->machine, text, strlen(text), NULL,
                               &back) == 0);
    fuzz_check(back.event == selection->event && back.off == selection->off &&
               back.umask_value == selection->umask_value);
}

static void
tell_warning(void *user, const char *text)
{
    fuzz_hear(user, TALLY_LOG_WARNING, text);
}

static void
decode(const struct machine_row *machine, const char *text,
       const struct decode_sink *sink, const struct tally_log *log)
{
    const struct register_row *rows[LINES_MAX];
    uint64_t values[LINES_MAX];
    char *copy = strdup(text);
    char *rest = NULL;
    size_t count = 0;

    fuzz_check(copy != NULL);
    for (char *line = strtok_r(copy, "\n", &rest);
         line != NULL && count < LINES_MAX; line = strtok_r(NULL, "\n", &rest))
        if (decode_parse(machine, line, log, &rows[count], &values[count]) ==
            0) {
            decode_register(machine, rows[count], values[count], sink);
            count++;
        }
    decode_together(machine, rows, values, count, sink);
    free(copy);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct decode_sink sink = {
        .field = tell_field,
        .counter = tell_counter,
        .warning = tell_warning,
    };
    const struct tally_log log = {.write = fuzz_hear};

    if (size == 0)
        return 0;
    char *const text = fuzz_text(data + 1, size - 1);
    decode(&tally_machines[data[0] % MACHINE_COUNT], text, &sink, &log);
    free(text);
    return 0;
}
