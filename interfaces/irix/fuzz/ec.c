/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as the file of tally-ecadmin, twice, and a line as an event's name:
 * what is shown is text, and an event that has a name is found by it.
 */
#include "ec.h"

#include <ctype.h>

#include "fuzz/fuzz.h"

static void
check_shown(const struct ec_view *view, int processor,
            const struct ec_counts *from, const struct ec_counts *to)
{
    char *text = NULL;
    size_t size = 0, lines = 0;
    FILE *const out = open_memstream(&text, &size);

    fuzz_check(out != NULL);
    ec_print(out, view, processor, from, to);
    fclose(out);
    for (size_t i = 0; i < size; i++) {
        fuzz_check(text[i] == '\n' || isprint((unsigned char)text[i]));
        lines += text[i] == '\n';
    }
    fuzz_check(lines >= 1 && lines <= 2 + VIRTUAL_EVENTS);
    fuzz_check(!view->all || lines == 1u + view->talk + VIRTUAL_EVENTS);
    free(text);
}

static void
check_names(int processor, const char *name)
{
    for (unsigned i = 0; i < VIRTUAL_EVENTS; i++) {
        char text[64];
        ec_name(processor, i, text, sizeof(text));
        fuzz_check(text[0] == '\0' || ec_find(processor, text) == (int)i);
    }
    const int found = ec_find(processor, name);
    fuzz_check(found >= -1 && found < VIRTUAL_EVENTS);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ec_counts from = {0}, to = {0};
    struct ec_state state = {0};
    struct ec_view view;

    if (size < 1)
        return 0;
    view = (struct ec_view){.absolute = data[0] & 1,
                            .all = (data[0] & 2) != 0,
                            .talk = (data[0] & 4) != 0};
    data++;
    size--;
    memcpy(&state, data, size < sizeof(state) ? size : sizeof(state));
    const bool first = ec_try_read(&state, &from);
    fuzz_check(first == ((state.sequence & 1) == 0));
    const size_t skip = size < 16 ? size : 16;
    memcpy(&state, data + skip,
           size - skip < sizeof(state) ? size - skip : sizeof(state));
    if (first && ec_try_read(&state, &to))
        check_shown(&view, state.processor, &from, &to);
    char *const name = fuzz_text(data, size);
    check_names(state.processor, name);
    free(name);
    return 0;
}
