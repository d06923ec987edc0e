/* SPDX-License-Identifier: MIT */
/*
 * Text as perf script prints samples: a sample for each instruction and event,
 * with the count as its period. Innermost functions come first.
 *
 * There is no time in a record. The time of a sample is the sum of the periods
 * before it in its thread, a microsecond for each count, so that readers that
 * draw samples over time give each sample its share.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/escape.h"
#include "record/export.h"

/* Writes a name without spaces: they would end it. */
static int
put_word(FILE *out, const char *name)
{
    char *shown = escape_copy(name, ESCAPE_LINE);

    if (shown == NULL)
        return TALLY_ENOMEM;
    for (char *c = shown; *c != '\0'; c++)
        if (*c == ' ' || *c == '\t')
            *c = '_';
    fputs(*shown != '\0' ? shown : "[unknown]", out);
    free(shown);
    return 0;
}

/* Writes the line of a function of the path. */
static void
put_frame(const struct export_list *list, FILE *out,
          const struct export_frame *f)
{
    const bool named = f->function != 0;

    /* Readers take a name that begins with "(" for a thread's. */
    if (f->function == list->elsewhere) {
        fprintf(out, "\t%16x [elsewhere] ([unknown])\n", 0);
        return;
    }
    escape_printf(out, "\t%16" PRIx64 " %s", f->address,
                  named ? list->texts[f->function] : "[unknown]");
    if (f->inlined) {
        fprintf(out, " (inlined)\n");
        return;
    }
    if (named && f->function_offset <= f->offset)
        fprintf(out, "+0x%" PRIx64, f->offset - f->function_offset);
    escape_printf(out, " (%s)\n",
                  f->image != RECORD_NO_IMAGE
                      ? list->record->images[f->image].path
                      : "[unknown]");
}

/* Writes a sample of an event, which began at `time`. */
static int
put_sample(const struct export_list *list, FILE *out,
           const struct export_sample *sample, size_t event, int64_t value,
           uint64_t time)
{
    const int pid = export_pid(list, sample->process);
    int error = put_word(out, export_program(list, sample->process));

    fprintf(out, " %d/%lld %" PRIu64 ".%06" PRIu64 ": %10" PRId64 " ", pid,
            (long long)pid + sample->thread, time / 1000000, time % 1000000,
            value);
    if (error == 0)
        error = put_word(out, export_event(list, event));
    fprintf(out, ":\n");
    for (size_t i = sample->frame_count; i > 0; i--)
        put_frame(list, out, &sample->frames[i - 1]);
    for (const struct export_call *c = sample->caller; c != NULL; c = c->caller)
        for (size_t i = c->frame_count; i > 0; i--)
            put_frame(list, out, &c->frames[i - 1]);
    fprintf(out, "\n");
    return error;
}

int
export_perf_script(const struct export_list *list, FILE *out, int64_t *left_out)
{
    uint64_t time = 0;
    int error = 0;

    for (size_t i = 0; error == 0 && i < list->sample_count; i++) {
        const struct export_sample *sample = &list->samples[i];
        if (i > 0 && (sample[-1].process != sample->process ||
                      sample[-1].thread != sample->thread))
            time = 0;
        for (uint32_t v = 0; error == 0 && v < sample->value_count; v++) {
            const size_t e = sample->events[v];
            const int64_t value = sample->values[v];
            if (value > 0) {
                error = put_sample(list, out, sample, e, value, time);
                time += (uint64_t)value;
            } else {
                left_out[e] = export_add(left_out[e], value);
            }
        }
    }
    return error == 0 && ferror(out) ? TALLY_EIO : error;
}
