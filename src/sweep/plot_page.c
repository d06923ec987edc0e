/* SPDX-License-Identifier: MIT */
#include "sweep/plot_page.h"

#include <stdlib.h>
#include <string.h>

#include "plot_page_text.h" /* generated: with its style and scripts */
#include "record/page_section.h"
#include "report/json_text.h"

#define PLACE "@DATA@"

void
plot_page_say(json_t *array, const char *text)
{
    json_array_append_new(array, report_json_line(text));
}

int
plot_page_write(json_t *data, FILE *out)
{
    const char *const place = strstr(plot_page_text, PLACE);
    char *const text =
        data != NULL ? json_dumps(data, JSON_COMPACT | JSON_REAL_PRECISION(15))
                     : NULL;
    struct bytes bytes = {0};

    json_decref(data);
    if (text == NULL)
        return TALLY_ENOMEM;
    bytes_append(&bytes, text, strlen(text));
    free(text);
    fwrite(plot_page_text, 1, (size_t)(place - plot_page_text), out);
    const int error = page_section_write("plot", &bytes, out);
    bytes_finish(&bytes);
    if (error != 0)
        return error;
    fputs(place + strlen(PLACE), out);
    return fflush(out) != 0 || ferror(out) ? TALLY_EIO : 0;
}
