/* SPDX-License-Identifier: MIT */
/*
 * Chunks of whatever contents as the report of tally memory. The input is a
 * list of chunks, as of the target record, behind a head that has the events
 * and the cache of tally record --why; what can be read is reported in each
 * form.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "fuzz/fuzz_record.h"
#include "record/memory.h"
#include "record/record_format.h"

static const struct tally_log hear = {fuzz_hear_any, NULL};

static const uint32_t types[] = {
    RECORD_SET,       RECORD_PROCESS, RECORD_PATHS,       RECORD_DATA_OBJECTS,
    RECORD_DATA_USES, RECORD_COUNTS,  RECORD_DATA_COUNTS, RECORD_REASONS_OF,
    RECORD_TOTALS,    RECORD_NAMES,   RECORD_RUN,
};

static const struct fuzz_chunks kinds = {types, sizeof(types) / sizeof(*types)};

/* Writes the head of a record of tally record --why. */
static void
write_head(struct chunk_writer *writer)
{
    const char *name = MEMORY_EVENTS;
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);

    fuzz_check(out != NULL);
    fputs("{\"schema\":1,\"tally\":\"0\",\"machine\":\"m\",", out);
    fputs("\"isa\":\"x86_64\",\"cpu\":null,\"command\":[\"a\"],", out);
    fputs("\"l1d\":{\"size\":4096,\"line\":64,\"ways\":4},", out);
    fputs("\"events\":[", out);
    while (*name != '\0') {
        const int length = (int)strcspn(name, ",");
        fprintf(out, "{\"name\":\"%.*s\",\"asked\":\"%.*s\",", length, name,
                length, name);
        fputs("\"unit\":\"\",\"brief\":\"\",\"standing\":\"modelled\"}", out);
        name += length;
        if (*name == ',') {
            fputc(',', out);
            name++;
        }
    }
    fputs("]}", out);
    fclose(out);
    chunks_write(writer, RECORD_HEAD, text, size);
    free(text);
}

static bool
write_record(const char *path, const uint8_t *data, size_t size)
{
    struct chunk_writer *writer;

    if (chunks_create(path, NULL, &writer) != 0)
        return false;
    write_head(writer);
    return fuzz_write_chunks(writer, &kinds, data, size);
}

/* What rows are of is there, and tables of sets are of the cache. */
static void
check_rows(const struct memory *m)
{
    fuzz_check(m->set_count == 16 && memory_crowded(m, m->sets) <= 16);
    for (size_t i = 0; i < m->finding_count; i++)
        fuzz_check(m->findings[i].object < m->object_count);
    for (size_t i = 0; i < m->object_count; i++) {
        const struct memory_object *const o = &m->objects[i];
        fuzz_check(memory_reach(m, o) < MEMORY_POWERS);
        for (size_t k = 0; k < o->driven_count; k++)
            fuzz_check(o->driven[k].by < m->object_count);
        for (size_t k = 0; k < o->shared_count; k++)
            fuzz_check(o->shared[k].process < m->record->process_count);
    }
}

static void
check_report(const struct record *record, struct resolver *resolver)
{
    static const struct breakdown_look look = {.width = 80};
    struct memory *m = NULL;
    char *text = NULL;
    size_t size = 0;

    if (memory_create(record, resolver, &hear, &m) != 0)
        return;
    check_rows(m);
    FILE *const out = open_memstream(&text, &size);
    fuzz_check(out != NULL);
    fuzz_check(memory_text(m, 3, &look, out) == 0);
    fuzz_check(memory_csv(m, ',', out) == 0);
    fuzz_check(memory_json(m, out) == 0);
    fclose(out);
    free(text);
    memory_destroy(m);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_look(write_record, check_report, &hear, data, size);
    return 0;
}
