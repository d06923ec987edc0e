/* SPDX-License-Identifier: MIT */
/*
 * Chunks of whatever contents as the page of a record. The input is a list of
 * chunks, as of the target record; what can be read is written as a page, whose
 * elements must be as many as they are for any record.
 */
#include <stdio.h>

#include "fuzz/fuzz.h"
#include "fuzz/fuzz_record.h"
#include "record/page.h"
#include "record/record.h"
#include "record/record_format.h"

#define EVENTS_MOST 8

static const struct tally_log hear = {fuzz_hear_any, NULL};

static const uint32_t types[] = {
    RECORD_HEAD,         RECORD_PROCESS,     RECORD_COUNTS, RECORD_TOTALS,
    RECORD_RUN,          RECORD_SET,         RECORD_PATHS,  RECORD_MADE_CODE,
    RECORD_DATA_OBJECTS, RECORD_DATA_COUNTS, RECORD_NAMES,
};

static const struct fuzz_chunks kinds = {types, sizeof(types) / sizeof(*types)};

static bool
write_record(const char *path, const uint8_t *data, size_t size)
{
    struct chunk_writer *writer;

    if (chunks_create(path, NULL, &writer) != 0)
        return false;
    return fuzz_write_chunks(writer, &kinds, data, size);
}

/* Returns how often a word is in a text. */
static size_t
count_of(const char *text, const char *word)
{
    size_t count = 0;

    for (; (text = strstr(text, word)) != NULL; text++)
        count++;
    return count;
}

/* Writes the page of a record, and looks at its elements. */
static void
check_page(const struct record *record, struct resolver *resolver)
{
    size_t events[EVENTS_MOST], count = 0, size = 0;
    char *text = NULL;

    if (record->event_count == 0)
        return;
    FILE *const out = open_memstream(&text, &size);
    while (count < record->event_count && count < EVENTS_MOST) {
        events[count] = count;
        count++;
    }
    const struct page_options options = {
        .events = events,
        .event_count = count,
        .creator = "tally",
        .log = &hear,
    };
    fuzz_check(out != NULL);
    fuzz_check(page_write(record, resolver, &options, out) == 0);
    fuzz_check(fclose(out) == 0);
    /* Nine sections, two for each event, two of objects, the head, the
     * script. */
    const size_t wanted = 9 + 2 * count + (record->has_objects ? 2 : 0) + 2;
    fuzz_check(count_of(text, "<script") == wanted);
    fuzz_check(count_of(text, "</script>") == wanted);
    fuzz_check(count_of(text, "</html>") == 1);
    free(text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_look(write_record, check_page, &hear, data, size);
    return 0;
}
