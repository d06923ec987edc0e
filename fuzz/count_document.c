/* SPDX-License-Identifier: MIT */
/* Any bytes as a report of tally count -j. */
#include <math.h>

#include "fuzz/fuzz.h"
#include "report/count_document.h"

/* The text of an error may name what stands in the bytes. */
static const struct tally_log hear = {fuzz_hear_any, NULL};

static void
check_row(const struct count_row *row)
{
    fuzz_check(row->name != NULL && row->asked != NULL && row->unit != NULL &&
               row->standing != NULL);
    fuzz_check(isfinite(row->value.real) && isfinite(row->mean) &&
               isfinite(row->stddev) && row->stddev >= 0);
    fuzz_check(row->value.known || !row->value.whole);
    fuzz_check(row->runs >= 1);
    fuzz_check(!row->has_range || row->low <= row->high);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct count_document *d = NULL;

    if (count_document_read((const char *)data, size, "input", &hear, &d) != 0)
        return 0;
    fuzz_check(d->machine != NULL);
    for (size_t i = 0; i < d->event_count; i++)
        check_row(&d->events[i]);
    for (size_t i = 0; i < d->metric_count; i++)
        check_row(&d->metrics[i]);
    count_document_destroy(d);
    return 0;
}
