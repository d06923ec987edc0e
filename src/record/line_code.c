/* SPDX-License-Identifier: MIT */
#include "record/line_code.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names/names.h"

#define FRAMES 64u

struct search {
    struct names *names;
    unsigned file; /* of the program */
    const char *source;
    size_t source_length;
    unsigned line;
};

/* Reads FILE:LINE. */
static bool
parse(const char *where, struct search *s)
{
    const char *const colon = strrchr(where, ':');
    char *end;

    if (colon == NULL || colon == where || colon[1] < '1' || colon[1] > '9')
        return false;
    const unsigned long line = strtoul(colon + 1, &end, 10);
    if (*end != '\0' || line > UINT_MAX)
        return false;
    s->source = where;
    s->source_length = (size_t)(colon - where);
    s->line = (unsigned)line;
    return true;
}

/* Returns whether a source file is meant. */
static bool
is_source(const struct search *s, const char *file)
{
    const size_t length = strlen(file);

    return length >= s->source_length &&
           memcmp(file + length - s->source_length, s->source,
                  s->source_length) == 0 &&
           (length == s->source_length || s->source[0] == '/' ||
            file[length - s->source_length - 1] == '/');
}

static bool
is_of_line(const struct search *s, uint64_t offset)
{
    struct name_frame frames[FRAMES];
    const size_t count = names_find(s->names, s->file, offset, frames, FRAMES);

    return count != 0 && frames[0].line == s->line && frames[0].file != NULL &&
           is_source(s, frames[0].file);
}

/* Adds code of the line. False: there is no room. */
static bool
add_code(const struct search *s, uint64_t from, uint64_t until,
         struct code_range *ranges, size_t most, uint32_t *count)
{
    const uint64_t first = names_address(s->names, s->file, from);
    const uint64_t last = first + (until - from) - 1;

    if (*count != 0 && ranges[*count - 1].last + 1 == first) {
        ranges[*count - 1].last = last;
        return true;
    }
    if (*count == most)
        return false;
    ranges[(*count)++] = (struct code_range){first, last};
    return true;
}

static int
search_code(const struct search *s, const struct program *program,
            const char *where, const struct tally_log *log,
            struct code_range *ranges, size_t most, uint32_t *count)
{
    const uint64_t end = program->code_offset + program->code_size;
    uint32_t found = 0;

    for (uint64_t at = program->code_offset; at < end;) {
        uint64_t until = names_until(s->names, s->file, at);
        if (until <= at)
            until = at + 1;
        if (until > end)
            until = end;
        if (is_of_line(s, at) && !add_code(s, at, until, ranges, most, &found))
            return tally_fail(log, TALLY_ERANGE,
                              "%s has code in more than %zu places", where,
                              most);
        at = until;
    }
    if (found == 0)
        return tally_fail(log, TALLY_EUNKNOWN,
                          "%s: no code of %s is of that line: it needs lines "
                          "of source, as gcc -g gives them",
                          where, program->path);
    *count = found;
    return 0;
}

int
line_code(const struct program *program, const char *where,
          const char *const *debug_dirs, size_t debug_dir_count,
          const struct tally_log *log, struct code_range *ranges, size_t most,
          uint32_t *count)
{
    const struct names_options options = {debug_dirs, debug_dir_count};
    struct search s = {.names = NULL};

    if (!parse(where, &s))
        return tally_fail(log, TALLY_ESYNTAX,
                          "'%s': FILE:LINE is expected, such as matrix.c:39",
                          where);
    int error = names_create(&options, log, &s.names);
    if (error == 0)
        error = names_add(s.names, program->path, NULL, 0, &s.file);
    if (error == 0)
        error = search_code(&s, program, where, log, ranges, most, count);
    names_destroy(s.names);
    return error;
}
