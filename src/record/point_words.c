/* SPDX-License-Identifier: MIT */
#include "record/point_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "record/object_names.h"
#include "source/record_counts.h"

const char *
point_class_text(uint32_t class)
{
    static const char *const names[POINT_CLASSES] = {
        [POINT_CLASS_NONE] = "no class",
        [POINT_CLASS_COHERENCE] = "coherence",
        [POINT_CLASS_FALSE] = "false sharing",
        [POINT_CLASS_FIRST] = "first touch",
        [POINT_CLASS_CAPACITY] = "capacity",
        [POINT_CLASS_CONFLICT] = "conflict",
    };

    return names[class];
}

static void
write_place(FILE *out, const struct point_named *named,
            const struct point_place *place)
{
    if (named->function != NULL)
        fputs(named->function, out);
    else if (named->image != NULL)
        fprintf(out, "0x%" PRIx64 " of %s", place->offset,
                path_base(named->image));
    else
        fprintf(out, "0x%" PRIx64, place->address);
    if (named->file != NULL && named->line != 0)
        fprintf(out, " (%s:%u)", path_base(named->file), named->line);
}

/* Ends a text that is written to memory, and returns it; NULL: no memory. */
static char *
end_text(FILE *out, char **text)
{
    const bool failed = ferror(out) != 0;

    if (fclose(out) != 0 || failed) {
        free(*text);
        return NULL;
    }
    return *text;
}

char *
point_place_text(struct point_names *n, const struct point_place *place)
{
    const struct point_named named = point_names_find(n, place);
    char *text = NULL;
    size_t size;
    FILE *const out = open_memstream(&text, &size);

    if (out == NULL)
        return NULL;
    write_place(out, &named, place);
    return end_text(out, &text);
}

char *
point_frame_text(const struct name_frame *frame, bool copied)
{
    char *text = NULL;
    size_t size;
    FILE *const out = open_memstream(&text, &size);

    if (out == NULL)
        return NULL;
    fputs(frame->function != NULL ? frame->function : "?", out);
    if (copied)
        fputs(" (inlined)", out);
    if (frame->file != NULL && frame->line != 0)
        fprintf(out, " (%s:%u)", path_base(frame->file), frame->line);
    return end_text(out, &text);
}

/* Writes the nearest caller of an allocator that is no allocator itself. */
static void
write_caller(FILE *out, struct point_names *n, const struct point_object *o)
{
    for (unsigned i = 0; i < o->call_count; i++) {
        const struct point_named named = point_names_find(n, &o->calls[i]);
        if (i + 1 < o->call_count &&
            (named.function == NULL ||
             object_names_is_allocator(named.function)))
            continue;
        fputs(" in ", out);
        write_place(out, &named, &o->calls[i]);
        return;
    }
}

static void
write_stack(FILE *out, struct point_names *n, const struct point_object *o)
{
    const struct point_named named =
        o->call_count != 0 ? point_names_find(n, &o->calls[0])
                           : (struct point_named){.function = NULL};
    const char *const function =
        named.outer != NULL ? named.outer : named.function;

    if (function != NULL)
        fprintf(out, "stack of %s", function);
    else
        fputs("stack", out);
}

char *
point_object_text(struct point_names *n, const struct point_object *o)
{
    struct demangler demangler = {0};
    char *text = NULL;
    size_t size;
    FILE *const out = open_memstream(&text, &size);

    if (out == NULL)
        return NULL;
    switch (o->kind) {
    case RECORD_HEAP:
        fputs(o->name, out);
        write_caller(out, n, o);
        break;
    case RECORD_STACK:
        write_stack(out, n, o);
        break;
    case RECORD_VARIABLE:
    case RECORD_IMAGE:
    case RECORD_MAPPING:
        object_names_write(out, &demangler, o->kind, o->name, o->image);
        break;
    default:
        fputs("unknown object", out);
        break;
    }
    demangler_finish(&demangler);
    return end_text(out, &text);
}
