/* SPDX-License-Identifier: MIT */
/*
 * A line as --set of tally sweep, and the bytes behind it as a report of tally
 * count: values of an axis are as many as its numbers, and a sweep with any
 * report can be written in each form.
 */
#include "sweep/sweep_report.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"

static void
write_all(const struct sweep *s)
{
    int (*const writers[])(const struct sweep *sweep, FILE *out) = {
        sweep_write_text, sweep_write_csv, sweep_write_json, sweep_write_svg};

    for (size_t i = 0; i < sizeof(writers) / sizeof(*writers); i++) {
        char *text = NULL;
        size_t size;
        FILE *const out = open_memstream(&text, &size);
        fuzz_check(out != NULL && writers[i](s, out) == 0);
        fclose(out);
        fuzz_check(size > 0);
        free(text);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const events[] = {"a", "b<&\""};
    const struct tally_log log = {.write = fuzz_hear_any};
    char *const text = fuzz_text(data, size);
    const size_t line = strcspn(text, "\n");
    struct sweep s = {.program = "p"};

    json_t *const report = line < size ? json_loadb((const char *)data + line,
                                                    size - line, 0, NULL)
                                       : NULL;
    text[line] = '\0';
    if (sweep_add_axis(&s, text, &log) == 0 && s.axes[0].count <= 64 &&
        sweep_make_points(&s, events, 2, &log) == 0) {
        fuzz_check(s.point_count == s.axes[0].count && s.point_count > 0);
        if (report != NULL)
            sweep_take(&s, s.point_count - 1, json_incref(report));
        write_all(&s);
    }
    json_decref(report);
    sweep_finish(&s);
    free(text);
    return 0;
}
