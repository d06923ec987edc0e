/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a list of the profiler's calls: what is read is in order, is
 * found again, and is the same once it is written and read.
 */
#include "profile/call_table.h"

#include <inttypes.h>
#include <stdbool.h>

#include "fuzz/fuzz.h"

static void
read_bytes(const void *bytes, size_t size, struct call_table *table)
{
    FILE *const file =
        size > 0 ? fmemopen((void *)(uintptr_t)bytes, size, "r") : NULL;

    if (file == NULL)
        return;
    fuzz_check(call_table_read(file, table) == 0);
    fclose(file);
}

static void
check_row(const struct call_table *t, size_t i)
{
    const struct call_place *const row = &t->places[i];
    const char *const found = call_table_find(t, row->caller);
    bool is_one = false;

    fuzz_check(i == 0 || row[-1].caller <= row->caller);
    fuzz_check(row->text[0] != '\0');
    for (const char *c = row->text; *c != '\0'; c++)
        fuzz_check((unsigned char)*c >= ' ' && *c != '\x7f');
    fuzz_check(found != NULL);
    for (size_t k = 0; k < t->count; k++)
        is_one |=
            t->places[k].text == found && t->places[k].caller == row->caller;
    fuzz_check(is_one);
}

/* Returns the number of rows that have the place and the text. */
static size_t
count_of(const struct call_table *t, const struct call_place *row)
{
    size_t count = 0;

    for (size_t i = 0; i < t->count; i++)
        count += t->places[i].caller == row->caller &&
                 strcmp(t->places[i].text, row->text) == 0;
    return count;
}

static void
check_again(const struct call_table *t)
{
    struct call_table back = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);

    fuzz_check(out != NULL);
    for (size_t i = 0; i < t->count; i++)
        fprintf(out, "%" PRIx64 " %s\n", t->places[i].caller,
                t->places[i].text);
    fclose(out);
    read_bytes(text, size, &back);
    fuzz_check(back.count == t->count);
    for (size_t i = 0; i < t->count; i++)
        fuzz_check(count_of(&back, &t->places[i]) ==
                   count_of(t, &t->places[i]));
    call_table_finish(&back);
    free(text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct call_table table = {0};

    /* Rows are compared each with each. */
    read_bytes(data, size < 1024 ? size : 1024, &table);
    for (size_t i = 0; i < table.count; i++)
        check_row(&table, i);
    check_again(&table);
    call_table_finish(&table);
    return 0;
}
