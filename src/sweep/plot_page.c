/* SPDX-License-Identifier: MIT */
#include "sweep/plot_page.h"

#include "plot_page_text.h" /* generated: with its style and scripts */
#include "record/page_section.h"
#include "report/json_text.h"

void
plot_page_say(json_t *array, const char *text)
{
    json_array_append_new(array, report_json_line(text));
}

int
plot_page_write(json_t *data, FILE *out)
{
    return page_fill(plot_page_text, NULL, "plot", data, out);
}
