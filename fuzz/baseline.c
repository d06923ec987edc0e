/* SPDX-License-Identifier: MIT */
/* Whatever text as a baseline of tally check. What is read is written again,
 * and reads the same. */
#include <stdlib.h>
#include <string.h>

#include "check/baseline.h"
#include "fuzz/fuzz.h"

static const struct tally_log hear = {fuzz_hear_any, NULL};

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct check_baseline b, again;

    if (check_baseline_parse((const char *)data, size, "file", &hear, &b) ==
        0) {
        char *text = NULL;
        size_t length = 0;
        FILE *const out = open_memstream(&text, &length);
        fuzz_check(out != NULL && check_baseline_write(&b, out) == 0);
        fclose(out);
        fuzz_check(check_baseline_parse(text, length, "file", &hear, &again) ==
                   0);
        fuzz_check(json_equal(b.document, again.document));
        check_baseline_finish(&again);
        free(text);
    }
    check_baseline_finish(&b);
    return 0;
}
