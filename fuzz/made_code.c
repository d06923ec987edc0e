/* SPDX-License-Identifier: MIT */
/* Any bytes as a jitdump and as a perf-PID.map, in which code is looked up. */
#include "record/made_code.h"

#include <stdlib.h>

#include "fuzz/fuzz.h"

#define LOOK_UPS 64u

/* Looks at each piece of code, and code up. */
static void
look(struct made_code *m, const uint8_t *data, size_t size)
{
    made_code_index(m);
    for (size_t i = 0; i < m->count && i < LOOK_UPS; i++) {
        const struct made_code_row *row = &m->rows[i];
        fuzz_check(row->size != 0 && row->first + row->size >= row->first);
        fuzz_check(strlen(row->name) < SIZE_MAX);
        for (size_t k = 0; k < row->line_count; k++) {
            fuzz_check(k == 0 ||
                       row->lines[k].address >= row->lines[k - 1].address);
            fuzz_check(row->lines[k].file < m->files.count);
        }
        /* The piece's own code, and a block that begins before the piece. */
        const struct made_code_row *found = made_code_find(
            m, row->first, row->first, row->code != NULL ? row->code : data,
            row->code != NULL ? row->size : size);
        fuzz_check(found != NULL && row->first >= found->first);
        fuzz_check(row->code == NULL || found->code != NULL);
        if (row->first >= size)
            made_code_find(m, row->first, row->first - size + 1, data, size);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    for (unsigned way = 0; way < 2; way++) {
        FILE *file = fmemopen((void *)(uintptr_t)data, size, "r");
        struct made_code m;
        fuzz_check(file != NULL);
        made_code_init(&m);
        if (way == 0)
            made_code_read_dump(file, &m);
        else
            made_code_read_map(file, &m);
        fclose(file);
        look(&m, data, size);
        made_code_finish(&m);
    }
    return 0;
}
