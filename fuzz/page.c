/* SPDX-License-Identifier: MIT */
/*
 * Chunks of whatever contents as the page of a record. The input is a list of
 * chunks, as of the target record; what can be read is written as a page, whose
 * elements must be as many as they are for any record.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "record/chunks.h"
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

static bool
write_record(const char *path, const uint8_t *data, size_t size)
{
    struct chunk_writer *writer;

    if (chunks_create(path, NULL, &writer) != 0)
        return false;
    while (size >= 3) {
        const uint32_t type = types[data[0] % (sizeof(types) / sizeof(*types))];
        const size_t wanted = (size_t)data[1] | (size_t)data[2] << 8;
        const size_t length = wanted < size - 3 ? wanted : size - 3;
        chunks_write(writer, type, data + 3, length);
        data += 3 + length;
        size -= 3 + length;
    }
    return chunks_end(&writer) == 0;
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
    FILE *out = open_memstream(&text, &size);

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
    const int fd = memfd_create("record", MFD_CLOEXEC);
    const struct resolver_options names = {0};
    struct record *record = NULL;
    struct resolver *resolver = NULL;
    char path[64];

    fuzz_check(fd >= 0);
    snprintf(path, sizeof(path), "/dev/fd/%d", fd);
    if (write_record(path, data, size) &&
        record_open(path, &hear, &record) == 0) {
        /* No file of this computer is read. */
        for (size_t i = 0; i < record->image_count; i++)
            record->images[i].path[0] = '\0';
        fuzz_check(resolver_create(record, &names, &hear, &resolver) == 0);
        if (record->event_count > 0)
            check_page(record, resolver);
        resolver_destroy(resolver);
    }
    record_close(record);
    close(fd);
    return 0;
}
