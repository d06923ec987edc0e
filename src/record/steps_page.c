/* SPDX-License-Identifier: MIT */
/* The page that replays steps: steps_page.html with its data. Names are escaped
 * as a line may show them; the script shows them as text only. */
#include "record/page_section.h"
#include "record/steps_writing.h"
#include "steps_page_text.h" /* generated: with its style and scripts */

int
steps_page(const struct steps_report *report, FILE *out)
{
    return page_fill(steps_page_text, NULL, "steps",
                     steps_document(report, true), out);
}
