/* SPDX-License-Identifier: MIT */
#include "record/point_names.h"

#include <string.h>

int
point_names_begin(struct point_names *n, const char (*files)[POINT_PATH],
                  const char *const *debug_dirs, size_t debug_dir_count)
{
    const struct names_options options = {debug_dirs, debug_dir_count};

    memset(n, 0, sizeof(*n));
    n->files = files;
    return names_create(&options, NULL, &n->names);
}

void
point_names_end(struct point_names *n)
{
    names_destroy(n->names);
    n->names = NULL;
}

/* Returns whether the file of this index has names. */
static bool
open_file(struct point_names *n, unsigned index)
{
    if (!n->asked[index])
        n->known[index] =
            names_add(n->names, n->files[index], NULL, 0, &n->file[index]) == 0;
    n->asked[index] = true;
    return n->known[index];
}

size_t
point_names_frames(struct point_names *n, const struct point_place *place,
                   struct name_frame frames[POINT_FRAMES])
{
    if (place->file == 0 || !open_file(n, place->file - 1))
        return 0;
    return names_find(n->names, n->file[place->file - 1], place->offset, frames,
                      POINT_FRAMES);
}

struct point_named
point_names_find(struct point_names *n, const struct point_place *place)
{
    struct point_named named = {.in_function = UINT64_MAX};
    struct name_frame frames[POINT_FRAMES];
    const size_t count = point_names_frames(n, place, frames);

    if (place->file != 0)
        named.image = n->files[place->file - 1];
    if (count == 0)
        return named;
    const struct name_frame *const last = &frames[count - 1];
    named.function = frames[0].function;
    named.outer = count > 1 ? last->function : NULL;
    named.file = frames[0].file;
    named.line = frames[0].line;
    if (last->function_offset <= place->offset)
        named.in_function = place->offset - last->function_offset;
    return named;
}
