/* SPDX-License-Identifier: MIT */
/* The page that replays steps: steps_page.html with its data. Names are escaped
 * as a line may show them; the script shows them as text only. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "record/page_section.h"
#include "record/steps_writing.h"
#include "steps_page_text.h" /* generated: with its style and scripts */

#define PLACE "@DATA@"

int
steps_page(const struct steps_report *report, FILE *out)
{
    const char *const place = strstr(steps_page_text, PLACE);
    json_t *const document = steps_document(report, true);
    char *const text =
        document != NULL
            ? json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION(9))
            : NULL;
    struct bytes bytes = {0};

    json_decref(document);
    if (text == NULL)
        return TALLY_ENOMEM;
    bytes_append(&bytes, text, strlen(text));
    free(text);
    fwrite(steps_page_text, 1, (size_t)(place - steps_page_text), out);
    const int error = page_section_write("steps", &bytes, out);
    bytes_finish(&bytes);
    if (error != 0)
        return error;
    fputs(place + strlen(PLACE), out);
    return fflush(out) != 0 || ferror(out) ? TALLY_EIO : 0;
}
