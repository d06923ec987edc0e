/* SPDX-License-Identifier: MIT */
#include "report/json_text.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/escape.h"

json_t *
report_json_number(uint64_t number)
{
    return json_integer((json_int_t)number);
}

json_t *
report_json_text(const char *text)
{
    /* Names that need no change need no memory for a copy. */
    if (escape_is_plain(text, ESCAPE_JSON))
        return json_string(text);
    char *const shown = escape_copy(text, ESCAPE_JSON);
    json_t *const string = shown != NULL ? json_string(shown) : NULL;

    free(shown);
    /* Without memory the key stays, with nothing. */
    return string != NULL ? string : json_null();
}

json_t *
report_json_line(const char *text)
{
    char *const shown = text != NULL ? escape_copy(text, ESCAPE_LINE) : NULL;
    json_t *const json = shown != NULL ? json_string(shown) : NULL;

    free(shown);
    return json != NULL ? json : json_null();
}

void
report_json_set(json_t *object, const char *key, json_t *value)
{
    char *const shown = escape_copy(key, ESCAPE_JSON);

    /* A key of tally's own is the same without the copy. */
    json_object_set_new(object, shown != NULL ? shown : key, value);
    free(shown);
}

int
report_json_script(const json_t *document, size_t flags, FILE *out)
{
    char *text = json_dumps(document, flags);

    if (text == NULL)
        return TALLY_ENOMEM;
    for (const char *c = text; *c != '\0'; c++)
        if (*c == '<')
            fputs("\\u003c", out);
        else
            fputc(*c, out);
    free(text);
    return ferror(out) ? TALLY_EIO : 0;
}
