/* SPDX-License-Identifier: MIT */
/*
 * Any bytes anywhere in the steps of a run, as a hostile program may write them
 * into the session's memory; what the check lets pass is reported in each form.
 * The input is the kind of steps and a list of writes, each behind three bytes
 * of offset and one of length. Files of places are looked for: none is there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "record/steps_report.h"

#define WRITE_HEAD 4
#define WAYS 4u
#define COUNT 6u

/* Steps in good order. */
static void
fill(struct steps *s, uint32_t kind)
{
    const uint32_t words = kind == STEPS_SETS       ? 2 * WAYS
                           : kind == STEPS_BRANCHES ? STEP_BRANCH_WORDS
                                                    : 3;

    memset(s, 0, sizeof(*s));
    atomic_store(&s->began, 1);
    atomic_store(&s->count, COUNT);
    atomic_store(&s->word_count, COUNT * words);
    atomic_store(&s->place_count, 3);
    s->ways = WAYS;
    s->places[0].file = 1;
    s->places[0].size = 3;
    memcpy(s->places[0].code, "\x48\x8b\x00", 3);
    for (uint32_t i = 0; i < COUNT; i++) {
        s->steps[i] = (struct run_step){
            .address = 64 * i,
            .instruction = i + 1,
            .place = 1,
            .word = i * words,
            .word_count = words,
            .size = kind == STEPS_BUBBLES ? 2 : 8,
        };
        for (uint32_t k = 0; k < words && kind != STEPS_BRANCHES; k++)
            s->words[i * words + k] =
                kind == STEPS_SETS ? 64 * (i + k) + 1
                                   : STEP_GAIN(k % 2, SIGNAL_INSTRUCTIONS, 1);
    }
}

static void
write_reports(const struct steps *steps, uint32_t kind)
{
    static char name[] = "./a";
    static char *argv[] = {name, NULL};
    const struct machine_row *const machine = machine_find("montecito");
    const struct steps_request request = {
        .kind = kind, .level = CACHE_L1D, .count = COUNT};
    const struct steps_report report = {
        .steps = steps,
        .request = &request,
        .machine = machine,
        .isa = "x86_64",
        .has_instructions = true,
        .creator = "tally",
        .argv = argv,
    };
    static uint64_t params[PARAM_COUNT];
    struct steps_report full = report;
    FILE *const out = fopen("/dev/null", "w");

    fuzz_check(out != NULL && machine != NULL);
    for (size_t i = 0; i < PARAM_COUNT; i++)
        params[i] = machine->params[i].value;
    full.params = params;
    fuzz_check(steps_json(&full, out) == 0);
    fuzz_check(steps_page(&full, out) == 0);
    fclose(out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct steps *const steps = malloc(sizeof(*steps));
    const uint32_t kind =
        size == 0 ? STEPS_SETS : 1 + data[0] % (STEPS_KINDS - 1u);

    fuzz_check(steps != NULL);
    fill(steps, kind);
    fuzz_check(steps_check(steps, kind));
    data += size != 0;
    size -= size != 0;
    while (size > WRITE_HEAD) {
        const size_t offset =
            (data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16) %
            sizeof(*steps);
        size_t length = data[3];
        if (length > size - WRITE_HEAD)
            length = size - WRITE_HEAD;
        if (length > sizeof(*steps) - offset)
            length = sizeof(*steps) - offset;
        memcpy((char *)steps + offset, data + WRITE_HEAD, length);
        data += WRITE_HEAD + length;
        size -= WRITE_HEAD + length;
    }
    if (steps_check(steps, kind))
        write_reports(steps, kind);
    free(steps);
    return 0;
}
