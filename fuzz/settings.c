/* SPDX-License-Identifier: MIT */
/* Whatever text as tally.toml. Benchmarks that it gives are as they promise,
 * and a suite among them is expanded by the text itself. */
#include <string.h>

#include "check/settings.h"
#include "fuzz/fuzz.h"

static const struct tally_log hear = {fuzz_hear_any, NULL};

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct check_settings s;

    if (check_settings_parse((const char *)data, size, "f/tally.toml", &hear,
                             &s) == 0) {
        fuzz_check(s.count > 0);
        for (size_t i = 0; i < s.count; i++) {
            const struct check_benchmark *const b = &s.benchmarks[i];
            fuzz_check(b->name != NULL && b->command[0] != NULL);
            fuzz_check(b->directory != NULL && b->machine != NULL);
            fuzz_check(b->layouts >= 1 && b->layouts <= CHECK_LAYOUTS_MOST);
            for (size_t k = 0; k < b->limit_count; k++)
                fuzz_check(!(b->limits[k].hard < 0 || b->limits[k].soft < 0));
        }
        if (s.benchmarks[0].names != NULL)
            check_settings_expand(&s, 0, (const char *)data, size, &hear);
    }
    check_settings_finish(&s);
    return 0;
}
