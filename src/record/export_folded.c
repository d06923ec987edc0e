/* SPDX-License-Identifier: MIT */
/*
 * Folded stacks, as the stackcollapse scripts of FlameGraph write them: a line
 * for each path, "image;function;inlined 123". In names a space is '_' and a
 * semicolon ':', as there.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "record/export.h"
#include "record/keys.h"

/* Appends a name to the path. */
static void
append_name(struct bytes *path, const char *name)
{
    char *shown = name != NULL ? escape_copy(name, ESCAPE_LINE) : NULL;

    if (shown == NULL) {
        path->failed = true;
        return;
    }
    for (char *c = shown; *c != '\0'; c++) {
        if (*c == ';')
            *c = ':';
        else if (*c == ' ' || *c == '\t')
            *c = '_';
    }
    if (path->size > 0)
        bytes_append_u8(path, ';');
    bytes_append(path, shown, strlen(shown));
    free(shown);
}

/* Makes the text of a sample's path. What no instruction has has no image. */
static void
make_path(const struct export_list *list, const struct export_sample *sample,
          const struct export_frame **frames, struct bytes *path)
{
    const size_t count = export_frames(sample, frames);
    const char *image = export_image(list, frames[0]->image);

    bytes_clear(path);
    if (*image != '\0')
        append_name(path, image);
    for (size_t i = 0; i < count; i++) {
        char *name = export_function(list, frames[i]);
        append_name(path, name);
        free(name);
    }
}

/* Adds up the values of each path. */
static int
add_up(const struct export_list *list, struct keys *paths,
       const struct export_frame **frames, struct bytes *path, int64_t *sums)
{
    for (size_t i = 0; i < list->sample_count; i++) {
        const struct export_sample *sample = &list->samples[i];
        const int64_t value = export_value(sample, 0);
        if (value == 0)
            continue;
        make_path(list, sample, frames, path);
        const uint32_t number = keys_add(paths, path->data, path->size);
        if (path->failed || number == KEYS_NONE)
            return TALLY_ENOMEM;
        sums[number] = export_add(sums[number], value);
    }
    return 0;
}

int
export_folded(const struct export_list *list, FILE *out, int64_t *left_out)
{
    struct keys paths = {0};
    struct bytes path = {0};
    int64_t *sums = calloc(list->sample_count + 1, sizeof(*sums));
    const struct export_frame **frames = calloc(list->depth, sizeof(*frames));
    int error = sums != NULL && frames != NULL
                    ? add_up(list, &paths, frames, &path, sums)
                    : TALLY_ENOMEM;

    for (uint32_t i = 0; error == 0 && i < paths.count; i++) {
        size_t size;
        const char *text = keys_get(&paths, i, &size);
        if (sums[i] > 0)
            fprintf(out, "%.*s %" PRId64 "\n", (int)size, text, sums[i]);
        else
            left_out[0] = export_add(left_out[0], sums[i]);
    }
    keys_finish(&paths);
    bytes_finish(&path);
    free(sums);
    free(frames);
    return error == 0 && ferror(out) ? TALLY_EIO : error;
}
