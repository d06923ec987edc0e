/* SPDX-License-Identifier: MIT */
/*
 * Any bytes anywhere in the point of a run, as a hostile program may write them
 * into the session's memory; what the check lets pass is reported in each form.
 * The input is a list of writes, each behind three bytes of offset and one of
 * length. Files of the point are looked for: none is there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "record/point_report.h"

#define WRITE_HEAD 4

/* A point in good order, in which each table has a row. */
static void
fill(struct point *p)
{
    memset(p, 0, sizeof(*p));
    p->reached = 1;
    p->place.file = 1;
    p->place.size = 3;
    memcpy(p->place.code, "\x48\x8b\x00", 3);
    p->has_access = p->has_set = 1;
    p->object.kind = 1;
    p->object.call_count = 2;
    p->set.line_count = 4;
    p->set.lines[1].flags = POINT_LINE_BROUGHT | POINT_LINE_DIRTY;
    p->block_count = 200;
    p->access_count = 20;
    p->call_count = 3;
    for (unsigned i = 0; i < p->block_count; i++) {
        p->blocks[i].count = 1 + i % 3;
        p->blocks[i].place.address = i % 3;
    }
}

static void
write_reports(const struct point *point)
{
    static uint64_t params[PARAM_COUNT];
    static char name[] = "./a";
    static char *argv[] = {name, NULL};
    struct point_request request = {.kind = POINT_MISS, .count = 1};
    FILE *const out = fopen("/dev/null", "w");

    fuzz_check(out != NULL);
    params[PARAM_L1D_SIZE] = 4096;
    params[PARAM_L1D_WAYS] = 4;
    params[PARAM_L1D_LINE] = 64;
    for (unsigned kind = POINT_MISS; kind < POINT_KINDS; kind++) {
        request.kind = kind;
        const struct point_report report = {
            .point = point,
            .request = &request,
            .wanted = "miss 1",
            .machine = "m",
            .isa = "x86_64",
            .params = params,
            .argv = argv,
            .last = 1 + point->block_count % 256,
        };
        fuzz_check(point_text(&report, out) == 0);
        fuzz_check(point_json(&report, out) == 0);
    }
    fclose(out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct point *const point = malloc(sizeof(*point));

    fuzz_check(point != NULL);
    fill(point);
    while (size > WRITE_HEAD) {
        const size_t offset =
            (data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16) %
            sizeof(*point);
        size_t length = data[3];
        if (length > size - WRITE_HEAD)
            length = size - WRITE_HEAD;
        if (length > sizeof(*point) - offset)
            length = sizeof(*point) - offset;
        memcpy((char *)point + offset, data + WRITE_HEAD, length);
        data += WRITE_HEAD + length;
        size -= WRITE_HEAD + length;
    }
    if (point_check(point))
        write_reports(point);
    free(point);
    return 0;
}
