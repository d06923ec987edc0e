/* SPDX-License-Identifier: MIT */
/*
 * The file format of speedscope: a "sampled" profile for each event and thread,
 * with a stack for each path of functions and its count as the weight. The
 * schema is at https://www.speedscope.app/file-format-schema.json.
 *
 * Frames are functions, so that the viewer draws each function once; lines and
 * instructions are left out.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "record/export.h"
#include "record/keys.h"
#include "report/json_text.h"

/* What tells functions apart. */
struct function_key {
    uint32_t image, function;
};

struct speedscope {
    const struct export_list *list;
    struct keys functions, stacks;
    uint32_t *stack_of; /* of each sample; KEYS_NONE: no memory */
    int64_t *sums;      /* [stacks], of one profile */
    json_t *frames, *profiles;
    int64_t *left_out;
};

/* Returns the frame's number in the file, and writes a new one. */
static uint32_t
add_frame(struct speedscope *s, const struct export_frame *frame)
{
    const struct function_key key = {frame->image, frame->function};
    const uint32_t known = s->functions.count;
    const uint32_t number = keys_add(&s->functions, &key, sizeof(key));

    if (number != known || number == KEYS_NONE)
        return number;
    json_t *object = json_object();
    char *name = export_function(s->list, frame);
    json_object_set_new(object, "name",
                        name != NULL ? report_json_text(name) : json_null());
    if (frame->file != 0)
        json_object_set_new(object, "file",
                            report_json_text(s->list->texts[frame->file]));
    json_array_append_new(s->frames, object);
    s->functions.failed |= name == NULL;
    free(name);
    return number;
}

/* Numbers the samples' stacks, each the numbers of its frames. */
static int
add_stacks(struct speedscope *s)
{
    const struct export_frame **frames =
        calloc(s->list->depth, sizeof(*frames));
    struct bytes stack = {0};
    bool failed = frames == NULL;

    for (size_t i = 0; i < s->list->sample_count && !failed; i++) {
        const struct export_sample *sample = &s->list->samples[i];
        const size_t count = export_frames(sample, frames);
        bytes_clear(&stack);
        for (size_t k = 0; k < count; k++) {
            const uint32_t number = add_frame(s, frames[k]);
            bytes_append(&stack, &number, sizeof(number));
        }
        s->stack_of[i] = keys_add(&s->stacks, stack.data, stack.size);
        failed = s->functions.failed || s->stacks.failed || stack.failed;
    }
    bytes_finish(&stack);
    free(frames);
    return failed ? TALLY_ENOMEM : 0;
}

/* Returns the stack as an array of frames. */
static json_t *
stack_array(const struct speedscope *s, uint32_t stack)
{
    json_t *array = json_array();
    size_t size;
    const uint8_t *numbers = keys_get(&s->stacks, stack, &size);

    for (size_t at = 0; at < size; at += sizeof(uint32_t)) {
        uint32_t number;
        memcpy(&number, numbers + at, sizeof(number));
        json_array_append_new(array, json_integer(number));
    }
    return array;
}

/* Moves the sum of a stack into the profile, if it is not there yet. */
static int64_t
take_sum(struct speedscope *s, size_t sample, size_t event, json_t *stacks,
         json_t *weights)
{
    const uint32_t stack = s->stack_of[sample];
    const int64_t sum = s->sums[stack];

    s->sums[stack] = 0;
    if (sum > 0) {
        json_array_append_new(stacks, stack_array(s, stack));
        json_array_append_new(weights, json_integer(sum));
        return sum;
    }
    s->left_out[event] = export_add(s->left_out[event], sum);
    return 0;
}

/* Adds the profile of an event and a thread, whose samples begin at `first`. */
static int
add_profile(struct speedscope *s, size_t first, size_t end, size_t event)
{
    const struct export_sample *samples = s->list->samples;
    const uint32_t process = samples[first].process;
    json_t *stacks = json_array(), *weights = json_array();
    char *name = NULL;
    int64_t total = 0;

    for (size_t i = first; i < end; i++)
        s->sums[s->stack_of[i]] = export_add(s->sums[s->stack_of[i]],
                                             export_value(&samples[i], event));
    for (size_t i = first; i < end; i++)
        total = export_add(total, take_sum(s, i, event, stacks, weights));
    if (asprintf(&name, "%s: %s %d, thread %u", export_event(s->list, event),
                 export_program(s->list, process), export_pid(s->list, process),
                 samples[first].thread) < 0)
        name = NULL;
    json_array_append_new(
        s->profiles,
        json_pack("{s:s, s:o, s:s, s:i, s:I, s:o, s:o}", "type", "sampled",
                  "name", report_json_text(name != NULL ? name : ""), "unit",
                  "none", "startValue", 0, "endValue", (json_int_t)total,
                  "samples", stacks, "weights", weights));
    const int error = name != NULL ? 0 : TALLY_ENOMEM;
    free(name);
    return error;
}

/* Adds the profiles of all threads, event by event. */
static int
add_profiles(struct speedscope *s)
{
    const struct export_list *list = s->list;
    int error = 0;

    for (size_t e = 0; e < list->event_count; e++) {
        for (size_t first = 0, end; error == 0 && first < list->sample_count;
             first = end) {
            end = first + 1;
            while (end < list->sample_count &&
                   list->samples[end].process == list->samples[first].process &&
                   list->samples[end].thread == list->samples[first].thread)
                end++;
            error = add_profile(s, first, end, e);
        }
    }
    return error;
}

/* Returns the command line, for the caller to free. */
static char *
command_line(const struct record *record)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (out == NULL)
        return NULL;
    for (char *const *word = record->argv; *word != NULL; word++)
        fprintf(out, "%s%s", word == record->argv ? "" : " ", *word);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* Writes the whole document. */
static int
write_document(struct speedscope *s, FILE *out)
{
    char *name = command_line(s->list->record);
    json_t *document = json_pack(
        "{s:s, s:o, s:o, s:i, s:{s:O}, s:O}", "$schema",
        "https://www.speedscope.app/file-format-schema.json", "exporter",
        report_json_text(s->list->creator), "name",
        report_json_text(name != NULL ? name : ""), "activeProfileIndex", 0,
        "shared", "frames", s->frames, "profiles", s->profiles);
    int error = name != NULL && document != NULL ? 0 : TALLY_ENOMEM;

    if (error == 0 && json_dumpf(document, out, JSON_COMPACT) != 0)
        error = TALLY_EIO;
    if (error == 0)
        fputc('\n', out);
    json_decref(document);
    free(name);
    return error;
}

int
export_speedscope(const struct export_list *list, FILE *out, int64_t *left_out)
{
    struct speedscope s = {
        .list = list,
        .stack_of = calloc(list->sample_count + 1, sizeof(*s.stack_of)),
        .frames = json_array(),
        .profiles = json_array(),
        .left_out = left_out,
    };
    int error = s.stack_of != NULL && s.frames != NULL && s.profiles != NULL
                    ? add_stacks(&s)
                    : TALLY_ENOMEM;

    if (error == 0) {
        s.sums = calloc((size_t)s.stacks.count + 1, sizeof(*s.sums));
        error = s.sums != NULL ? add_profiles(&s) : TALLY_ENOMEM;
    }
    if (error == 0)
        error = write_document(&s, out);
    json_decref(s.frames);
    json_decref(s.profiles);
    keys_finish(&s.functions);
    keys_finish(&s.stacks);
    free(s.stack_of);
    free(s.sums);
    return error == 0 && ferror(out) ? TALLY_EIO : error;
}
