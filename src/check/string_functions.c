/* SPDX-License-Identifier: MIT */
#include "check/string_functions.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

const struct string_function *
string_function_find(const char *name)
{
    /* Names that begin so are the library's own, and say behind the function's
     * name for which processors the code is. */
    const bool own = strncmp(name, "__", 2) == 0;

    if (own)
        name += 2;
    for (const struct string_function *f = string_functions; f->name != NULL;
         f++) {
        const size_t length = strlen(f->name);
        if (strncmp(name, f->name, length) == 0 &&
            (name[length] == '\0' || (own && name[length] == '_')))
            return f;
    }
    return NULL;
}
