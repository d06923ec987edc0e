/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a dump, in pieces of a size that the first byte chooses; what is
 * read is written in both forms and read back, and all of it is summed up.
 */
#include "profile/dump.h"

#include "fuzz/fuzz.h"
#include "profile/summary.h"

struct bytes {
    const uint8_t *p;
    size_t left, step;
};

static long
give(void *user, void *data, size_t size)
{
    struct bytes *b = user;
    size_t count = size < b->step ? size : b->step;

    count = count < b->left ? count : b->left;
    if (count > 0)
        memcpy(data, b->p, count);
    b->p += count;
    b->left -= count;
    return (long)count;
}

/* What was written of a record reads back as it. */
static void
check_record(const struct dump_record *record)
{
    for (int form = DUMP_FORM_TABLE; form <= DUMP_FORM_JSON; form++) {
        char text[DUMP_LINE_SIZE], again[DUMP_LINE_SIZE];
        const size_t size =
            dump_write_record((enum dump_form)form, record, text);
        struct bytes b = {(const uint8_t *)text, size, size};
        struct dump_troubles troubles = {0};
        struct dump_reader reader;
        struct dump_record back;
        fuzz_check(dump_reader_init(&reader, "", give, &b, &troubles) == 0);
        fuzz_check(dump_next(&reader, &back) == 1);
        fuzz_check(dump_write_record((enum dump_form)form, &back, again) ==
                   size);
        fuzz_check(memcmp(text, again, size) == 0);
        dump_reader_finish(&reader);
    }
}

/* A name that was read is written, in both forms, and read back. */
static void
check_name(const struct dump_event *event)
{
    for (int form = DUMP_FORM_TABLE; form <= DUMP_FORM_JSON; form++) {
        char text[2 * DUMP_LINE_SIZE];
        size_t size =
            dump_write_machine((enum dump_form)form, event->machine, text);
        fuzz_check(size > 0 || event->machine[0] == '\0');
        const size_t more =
            dump_write_event((enum dump_form)form, event, text + size);
        fuzz_check(more > 0 && more <= DUMP_LINE_SIZE);
        size += more;
        struct bytes b = {(const uint8_t *)text, size, size};
        struct dump_troubles troubles = {0};
        struct dump_names names = {0};
        struct dump_reader reader;
        struct dump_record none;
        fuzz_check(dump_reader_init(&reader, "", give, &b, &troubles) == 0);
        reader.names = &names;
        fuzz_check(dump_next(&reader, &none) == 0);
        const struct dump_event *const back =
            dump_names_find(&names, event->machine, event->group, event->code);
        fuzz_check(names.count == 1 && back != NULL);
        fuzz_check(strcmp(back->name, event->name) == 0 &&
                   strcmp(back->asked, event->asked) == 0);
        dump_reader_finish(&reader);
        dump_names_finish(&names);
    }
}

static void
check_cells(const struct summary *s)
{
    uint64_t intervals = 0;

    for (size_t i = 0; i < s->cell_count; i++) {
        const struct series *c = &s->cells[i]->cycles;
        intervals += c->count;
        fuzz_check(c->min <= c->max);
        fuzz_check(series_percentile(c, 50) >= c->min);
        fuzz_check(series_percentile(c, 50) <= series_percentile(c, 99));
        fuzz_check(series_percentile(c, 100) <= c->max);
    }
    fuzz_check(intervals == s->intervals);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct summary_options options = {0};
    struct bytes b;
    struct summary summary;
    struct dump_reader reader;
    struct dump_record record;

    if (size == 0)
        return 0;
    b = (struct bytes){data + 1, size - 1, (data[0] & 31) + 1u};
    options.by = data[0] >> 5;
    options.cumulative = (data[0] & 1) != 0;
    fuzz_check(summary_init(&summary, &options) == 0);
    fuzz_check(dump_reader_init(&reader, "", give, &b, &summary.troubles) == 0);
    reader.names = &summary.names;
    while (dump_next(&reader, &record) > 0) {
        check_record(&record);
        fuzz_check(summary_add(&summary, &record, "", reader.line) == 0);
    }
    for (size_t i = 0; i < summary.names.count; i++)
        check_name(&summary.names.events[i]);
    summary_sort(&summary);
    check_cells(&summary);
    dump_reader_finish(&reader);
    summary_finish(&summary);
    return 0;
}
