/* SPDX-License-Identifier: MIT */
/*
 * Chunks of whatever contents as the report of tally locks. The input is a list
 * of chunks, as of the target record, behind a head that has the event and the
 * mark of tally record --locks; what can be read is reported in each form.
 */
#include <stdio.h>
#include <stdlib.h>

#include "fuzz/fuzz.h"
#include "fuzz/fuzz_record.h"
#include "record/locks.h"
#include "record/record_format.h"

static const struct tally_log hear = {fuzz_hear_any, NULL};

static const uint32_t types[] = {
    RECORD_SET,          RECORD_PROCESS,  RECORD_PATHS,
    RECORD_DATA_OBJECTS, RECORD_WAITS_OF, RECORD_COUNTS,
    RECORD_TOTALS,       RECORD_NAMES,    RECORD_RUN,
};

static const struct fuzz_chunks kinds = {types, sizeof(types) / sizeof(*types)};

static const char head[] =
    "{\"schema\":1,\"tally\":\"0\",\"machine\":\"m\",\"isa\":\"x86_64\","
    "\"cpu\":null,\"command\":[\"a\"],\"locks\":true,\"events\":[{\"name\":"
    "\"cycles\",\"asked\":\"cycles\",\"unit\":\"\",\"brief\":\"b\","
    "\"standing\":\"estimated\"}]}";

static bool
write_record(const char *path, const uint8_t *data, size_t size)
{
    struct chunk_writer *writer;

    if (chunks_create(path, NULL, &writer) != 0)
        return false;
    chunks_write(writer, RECORD_HEAD, head, sizeof(head) - 1);
    return fuzz_write_chunks(writer, &kinds, data, size);
}

/* What rows are of is there, and waits are the whole of their lock. */
static void
check_rows(const struct locks *l)
{
    for (size_t i = 0; i < l->finding_count; i++) {
        const struct locks_finding *const f = &l->findings[i];
        fuzz_check(f->kind != LOCKS_WAITS ? f->unended_count > 0
                                          : f->lock < l->lock_count);
        for (size_t k = 0; k < f->unended_count; k++)
            fuzz_check(f->unended[k] < l->unended_count);
    }
    for (size_t i = 0; i < l->unended_count; i++)
        fuzz_check(l->unended[i].process < l->record->process_count);
    for (size_t i = 0; i < l->lock_count; i++) {
        const struct locks_lock *const lock = &l->locks[i];
        uint64_t count = 0;
        fuzz_check(lock->process < l->record->process_count);
        fuzz_check(lock->thread_count <= lock->wait_count);
        for (size_t k = 0; k < lock->wait_count; k++)
            count += lock->waits[k].count;
        fuzz_check(count == lock->count);
    }
    for (size_t i = 0; i < l->thread_count; i++)
        fuzz_check(l->threads[i].process < l->record->process_count);
}

static void
check_report(const struct record *record, struct resolver *resolver)
{
    static const struct breakdown_look look = {.width = 80};
    struct locks *l = NULL;
    char *text = NULL;
    size_t size = 0;

    if (locks_create(record, resolver, &hear, &l) != 0)
        return;
    check_rows(l);
    FILE *const out = open_memstream(&text, &size);
    fuzz_check(out != NULL);
    fuzz_check(locks_text(l, 3, &look, out) == 0);
    fuzz_check(locks_csv(l, ',', out) == 0);
    fuzz_check(locks_json(l, out) == 0);
    fclose(out);
    free(text);
    locks_destroy(l);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_look(write_record, check_report, &hear, data, size);
    return 0;
}
