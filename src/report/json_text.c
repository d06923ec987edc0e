/* SPDX-License-Identifier: MIT */
#include "report/json_text.h"

#include <stdlib.h>

#include "base/escape.h"

json_t *
report_json_text(const char *text)
{
    char *const shown = escape_copy(text, ESCAPE_JSON);
    json_t *const string = shown != NULL ? json_string(shown) : NULL;

    free(shown);
    return string;
}

void
report_json_set(json_t *object, const char *key, json_t *value)
{
    char *const shown = escape_copy(key, ESCAPE_JSON);

    if (shown != NULL)
        json_object_set_new(object, shown, value);
    else
        json_decref(value);
    free(shown);
}
