/* SPDX-License-Identifier: MIT */
#include "profile/call_table.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define BETWEEN " \t,;"

/* Splits the line into id and text. Returns the text, or NULL: the line has no
 * id or no text. */
static char *
split(char *line, uint64_t *caller)
{
    char *end;

    line += strspn(line, " \t\"");
    if (!isxdigit((unsigned char)*line))
        return NULL;
    *caller = strtoull(line, &end, 16);
    if (strchr(BETWEEN, *end) == NULL || *end == '\0')
        return NULL;
    end[strcspn(end, "\r\n")] = '\0';
    for (char *c = end; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == '\x7f')
            *c = ' ';
    end += strspn(end, BETWEEN);
    return *end != '\0' ? end : NULL;
}

/* Adds a place. */
static int
add(struct call_table *t, uint64_t caller, const char *text)
{
    if ((t->count & (t->count - 1)) == 0) {
        const size_t room = t->count > 0 ? 2 * t->count : 1;
        struct call_place *more = realloc(t->places, room * sizeof(*more));
        if (more == NULL)
            return TALLY_ENOMEM;
        t->places = more;
    }
    char *const copy = strdup(text);
    if (copy == NULL)
        return TALLY_ENOMEM;
    t->places[t->count++] = (struct call_place){caller, copy};
    return 0;
}

static int
compare(const void *a, const void *b)
{
    const struct call_place *x = a, *y = b;

    return (x->caller > y->caller) - (x->caller < y->caller);
}

int
call_table_read(FILE *file, struct call_table *t)
{
    char *line = NULL;
    size_t size = 0;
    int error = 0;

    while (error == 0 && getline(&line, &size, file) >= 0) {
        uint64_t caller;
        const char *text = split(line, &caller);
        if (text != NULL)
            error = add(t, caller, text);
    }
    free(line);
    if (error == 0 && ferror(file))
        error = TALLY_EIO;
    else if (error == 0 && !feof(file))
        error = TALLY_ENOMEM; /* for a line */
    if (t->count > 0)
        qsort(t->places, t->count, sizeof(*t->places), compare);
    return error;
}

void
call_table_finish(struct call_table *t)
{
    for (size_t i = 0; i < t->count; i++)
        free(t->places[i].text);
    free(t->places);
    *t = (struct call_table){0};
}

const char *
call_table_find(const struct call_table *t, uint64_t caller)
{
    const struct call_place key = {.caller = caller};
    const struct call_place *found =
        t->count > 0 ? bsearch(&key, t->places, t->count, sizeof(key), compare)
                     : NULL;

    return found != NULL ? found->text : NULL;
}
