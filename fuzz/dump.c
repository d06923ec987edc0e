/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a dump, in pieces of a size that the first byte chooses; what is
 * read is written in both forms and read back, and all of it is summed up.
 */
#include "profile/dump.h"

#include <stdbool.h>

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

/* What was read, written in one form. */
struct written {
    enum dump_form form;
    char *text;
    size_t size, room, records;
};

/* Returns where there is room for a machine's name and one line more. */
static char *
make_room(struct written *w)
{
    const size_t needed = w->size + 2 * DUMP_LINE_SIZE;

    if (needed > w->room) {
        w->room = 2 * needed;
        w->text = realloc(w->text, w->room);
        fuzz_check(w->text != NULL);
    }
    return w->text + w->size;
}

static void
write_record(struct written *w, const struct dump_record *record)
{
    w->size += dump_write_record(w->form, record, make_room(w));
    w->records++;
}

/* Writes the events whose dump says the machine, or those whose says none. */
static void
write_events(struct written *w, const struct dump_names *names, bool named)
{
    for (size_t i = 0; i < names->count; i++) {
        const struct dump_event *const event = &names->events[i];
        if ((event->machine[0] != '\0') != named)
            continue;
        char *const text = make_room(w);
        const size_t size = dump_write_machine(w->form, event->machine, text);
        fuzz_check((size > 0) == named);
        const size_t more = dump_write_event(w->form, event, text + size);
        fuzz_check(more > 0 && more <= DUMP_LINE_SIZE);
        w->size += size + more;
    }
}

/* Checks that each record reads back as it was written. */
static void
check_records(const struct written *w)
{
    struct bytes b = {(const uint8_t *)w->text, w->size, w->size};
    struct dump_troubles troubles = {0};
    struct dump_reader reader;
    struct dump_record back;
    size_t at = 0, count = 0;

    fuzz_check(dump_reader_init(&reader, "", give, &b, &troubles) == 0);
    for (; dump_next(&reader, &back) > 0; count++) {
        char again[DUMP_LINE_SIZE];
        const size_t size = dump_write_record(w->form, &back, again);
        fuzz_check(size <= w->size - at);
        fuzz_check(memcmp(w->text + at, again, size) == 0);
        at += size;
    }
    fuzz_check(count == w->records && at == w->size);
    dump_reader_finish(&reader);
}

/* Checks that each event's name reads back as it was written. */
static void
check_names(const struct written *w, const struct dump_names *wanted)
{
    struct bytes b = {(const uint8_t *)w->text, w->size, w->size};
    struct dump_troubles troubles = {0};
    struct dump_names names = {0};
    struct dump_reader reader;
    struct dump_record none;

    fuzz_check(dump_reader_init(&reader, "", give, &b, &troubles) == 0);
    reader.names = &names;
    fuzz_check(dump_next(&reader, &none) == 0);
    fuzz_check(names.count == wanted->count);
    for (size_t i = 0; i < wanted->count; i++) {
        const struct dump_event *const event = &wanted->events[i];
        const struct dump_event *const back =
            dump_names_find(&names, event->machine, event->group, event->code);
        fuzz_check(back != NULL);
        fuzz_check(strcmp(back->name, event->name) == 0 &&
                   strcmp(back->asked, event->asked) == 0);
    }
    dump_reader_finish(&reader);
    dump_names_finish(&names);
}

static void
check_written(struct written *w, const struct dump_names *names)
{
    if (w->records > 0)
        check_records(w);
    w->size = 0;
    write_events(w, names, false); /* a machine is that of all that follow */
    write_events(w, names, true);
    if (names->count > 0)
        check_names(w, names);
    free(w->text);
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
    struct written table = {.form = DUMP_FORM_TABLE};
    struct written json = {.form = DUMP_FORM_JSON};
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
        write_record(&table, &record);
        write_record(&json, &record);
        fuzz_check(summary_add(&summary, &record, "", reader.line) == 0);
    }
    check_written(&table, &summary.names);
    check_written(&json, &summary.names);
    summary_sort(&summary);
    check_cells(&summary);
    dump_reader_finish(&reader);
    summary_finish(&summary);
    return 0;
}
