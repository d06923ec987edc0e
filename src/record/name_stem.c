/* SPDX-License-Identifier: MIT */
#include "record/name_stem.h"

#include <stdbool.h>
#include <string.h>

/* Returns the length of the name without what a compiler adds. */
static size_t
without_additions(const char *name)
{
    static const char *const additions[] = {".isra", ".part",     ".constprop",
                                            ".cold", ".lto_priv", ".llvm"};
    size_t length = strlen(name);

    for (size_t i = 0; i < sizeof(additions) / sizeof(*additions); i++) {
        const char *at = strstr(name, additions[i]);
        const char *end = at != NULL ? at + strlen(additions[i]) : NULL;
        if (at != NULL && at != name && (*end == '\0' || *end == '.') &&
            (size_t)(at - name) < length)
            length = (size_t)(at - name);
    }
    return length;
}

/* Returns where the arguments begin that end before `length`, or `length`. */
static size_t
without_arguments(const char *name, size_t length)
{
    static const char qualifier[] = " const";
    const size_t size = sizeof(qualifier) - 1;
    size_t end = length, depth = 0;

    if (end > size && memcmp(name + end - size, qualifier, size) == 0)
        end -= size;
    if (end == 0 || name[end - 1] != ')')
        return length;
    for (size_t i = end; i-- > 0;) {
        depth += name[i] == ')';
        depth -= name[i] == '(';
        if (depth != 0)
            continue;
        /* The parentheses of "operator()" are its name. */
        const bool own =
            i >= 8 && end - i == 2 && memcmp(name + i - 8, "operator", 8) == 0;
        return i > 0 && !own ? i : length;
    }
    return length;
}

size_t
name_stem(const char *name)
{
    return without_arguments(name, without_additions(name));
}

const char *
name_word(const char *name, size_t length)
{
    size_t depth = 0, start = 0;

    for (size_t i = 0; i < length; i++) {
        const char c = name[i];
        if (c == '<' || c == '(' || c == '{' || c == '[')
            depth++;
        else if ((c == '>' || c == ')' || c == '}' || c == ']') && depth > 0)
            depth--;
        else if (depth == 0 && i + 1 < length &&
                 (c == ' ' || (c == ':' && i > 0 && name[i - 1] == ':')))
            start = i + 1;
    }
    return name + start;
}
