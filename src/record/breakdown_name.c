/* SPDX-License-Identifier: MIT */
/* Names of keys and of rows. */
#include "record/breakdown.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/path.h"

static const char *const key_names[BREAKDOWN_KEYS] = {
    [BREAKDOWN_FUNCTION] = "function",
    [BREAKDOWN_LINE] = "line",
    [BREAKDOWN_INSTRUCTION] = "instruction",
    [BREAKDOWN_FILE] = "file",
    [BREAKDOWN_IMAGE] = "image",
    [BREAKDOWN_THREAD] = "thread",
    [BREAKDOWN_PROCESS] = "process",
    [BREAKDOWN_CALLER] = "caller",
    [BREAKDOWN_OBJECT] = "object",
};

static const struct {
    const char *word;
    enum breakdown_key key;
} other_names[] = {
    {"functions", BREAKDOWN_FUNCTION},
    {"lines", BREAKDOWN_LINE},
    {"instructions", BREAKDOWN_INSTRUCTION},
    {"files", BREAKDOWN_FILE},
    {"images", BREAKDOWN_IMAGE},
    {"threads", BREAKDOWN_THREAD},
    {"processes", BREAKDOWN_PROCESS},
    {"callers", BREAKDOWN_CALLER},
    {"objects", BREAKDOWN_OBJECT},
    {"sym", BREAKDOWN_FUNCTION},
    {"symbol", BREAKDOWN_FUNCTION},
    {"srcline", BREAKDOWN_LINE},
    {"srcfile", BREAKDOWN_FILE},
    {"dso", BREAKDOWN_IMAGE},
    {"tid", BREAKDOWN_THREAD},
    {"pid", BREAKDOWN_PROCESS},
};

int
breakdown_key_find(const char *word, size_t length)
{
    for (int i = 0; i < BREAKDOWN_KEYS; i++)
        if (strlen(key_names[i]) == length &&
            memcmp(key_names[i], word, length) == 0)
            return i;
    for (size_t i = 0; i < sizeof(other_names) / sizeof(other_names[0]); i++)
        if (strlen(other_names[i].word) == length &&
            memcmp(other_names[i].word, word, length) == 0)
            return (int)other_names[i].key;
    return -1;
}

const char *
breakdown_key_name(enum breakdown_key key)
{
    return key_names[key];
}

/* Returns "(no symbols in bzip2)", or what is said of code of no file. */
static char *
nameless(const struct breakdown *b, uint32_t image, const char *lack)
{
    char *name;

    if (image == 0)
        return strdup("(code of no file)");
    return asprintf(&name, "(no %s in %s)", lack,
                    path_base(resolver_text(b->resolver, image))) < 0
               ? NULL
               : name;
}

static char *
function_name(const struct breakdown *b, const struct breakdown_row *row)
{
    const struct breakdown_place *p = &row->place;
    char *name;

    if (p->function == 0)
        return nameless(b, p->image, "symbols");
    const char *function = resolver_text(b->resolver, p->function);
    if (!row->ambiguous || p->function_file == 0)
        return strdup(function);
    return asprintf(&name, "%s (%s)", function,
                    path_base(resolver_text(b->resolver, p->function_file))) < 0
               ? NULL
               : name;
}

static char *
line_name(const struct breakdown *b, const struct breakdown_place *p)
{
    char *name;

    if (p->file == 0)
        return nameless(b, p->image, "line");
    const char *file = resolver_text(b->resolver, p->file);
    const int length = p->line == 0
                           ? asprintf(&name, "%s:?", file)
                           : asprintf(&name, "%s:%" PRIu32, file, p->line);
    return length < 0 ? NULL : name;
}

static char *
instruction_name(const struct breakdown *b, const struct breakdown_place *p)
{
    const char *function = resolver_text(b->resolver, p->function);
    const char *image = p->image != 0
                            ? path_base(resolver_text(b->resolver, p->image))
                            : "(code of no file)";
    char *name;

    return asprintf(&name, "%s+0x%" PRIx64 "%s%s", image, p->offset,
                    p->function != 0 ? "  " : "", function) < 0
               ? NULL
               : name;
}

static char *
process_name(const struct breakdown *b, const struct breakdown_row *row,
             bool with_thread)
{
    const struct record_process_row *p = &b->record->processes[row->process];
    char thread[32] = "";
    char *name;

    if (with_thread)
        snprintf(thread, sizeof(thread), " thread %" PRIu32, row->thread);
    return asprintf(&name, "%s (pid %d)%s", path_base(p->program), p->pid,
                    thread) < 0
               ? NULL
               : name;
}

const char *
breakdown_caller(const struct breakdown *b, const struct breakdown_place *p)
{
    return p->caller == BREAKDOWN_NO_CALLER        ? "(no caller)"
           : p->caller == BREAKDOWN_UNKNOWN_CALLER ? "(unknown callers)"
           : p->caller == 0                        ? "(no symbols)"
                            : resolver_text(b->resolver, p->caller);
}

char *
breakdown_name(const struct breakdown *b, const struct breakdown_row *row,
               enum breakdown_key key)
{
    const struct breakdown_place *p = &row->place;

    switch (key) {
    case BREAKDOWN_CALLER:
        return strdup(breakdown_caller(b, p));
    case BREAKDOWN_OBJECT:
        return strdup(b->objects.rows[p->object].text);
    case BREAKDOWN_FUNCTION:
        return function_name(b, row);
    case BREAKDOWN_LINE:
        return line_name(b, p);
    case BREAKDOWN_INSTRUCTION:
        return instruction_name(b, p);
    case BREAKDOWN_FILE:
        return p->file != 0 ? strdup(resolver_text(b->resolver, p->file))
                            : nameless(b, p->image, "source file");
    case BREAKDOWN_IMAGE:
        return p->image != 0 ? strdup(resolver_text(b->resolver, p->image))
                             : nameless(b, 0, "");
    default:
        return process_name(b, row, key == BREAKDOWN_THREAD);
    }
}
