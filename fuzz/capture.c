/* SPDX-License-Identifier: MIT */
/*
 * Any texts as --ear, --etb and --ip-ear, a line each, with a period in the
 * fourth; what is accepted then reads any bytes behind as a record.
 */
#include "profile/capture.h"

#include "fuzz/fuzz.h"

#define LINES 4

typedef int parser(const char *text, const struct tally_log *log,
                   struct capture_request *request);

/* The record's entries are branches of bundles, or bundles. */
static void
read_record(const struct capture_request *request, const uint8_t *bytes,
            size_t size)
{
    struct capture_record record = {0};
    struct capture_entry entries[CAPTURE_ENTRIES];
    char text[256];

    memcpy(&record, bytes, size < sizeof(record) ? size : sizeof(record));
    const size_t count =
        capture_entries(request, &record, CAPTURE_ENTRIES, entries);
    fuzz_check(count <= CAPTURE_ENTRIES);
    for (size_t i = 0; i < count; i++)
        fuzz_check(entries[i].address % 16 == 0);
    capture_text(request, text, sizeof(text));
    fuzz_hear(NULL, TALLY_LOG_INFO, text);
    fuzz_check(capture_event(request) != NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static parser *const parsers[] = {
        capture_parse_ear,
        capture_parse_trace,
        capture_parse_retired,
    };
    const struct tally_log log = {.write = fuzz_hear};
    struct capture_request request = {0};
    char *text = fuzz_text(data, size), *next = text;
    uint64_t period = 0;
    bool wrong = false;

    for (size_t i = 0; i < LINES && next != NULL; i++) {
        const char *line = strsep(&next, "\n");
        if (i == LINES - 1)
            period = strtoull(line, NULL, 0);
        else if (line[0] != '\0')
            wrong |= parsers[i](line, &log, &request) != 0;
    }
    if (!wrong && capture_complete(&request, period, &log) == 0 &&
        capture_wanted(&request))
        read_record(&request, data, size);
    free(text);
    return 0;
}
