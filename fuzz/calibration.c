/* SPDX-License-Identifier: MIT */
/* Whatever text as the file of tally calibrate. What is read of it is within
 * the limits of --set, and is read again as it was written. */
#include <stdio.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "source/calibration.h"
#include "table/param.h"

static const struct tally_log hear = {fuzz_hear_any, NULL};

/* Checks that the same is read of what is written. A spread is written to a
 * tenth of a per cent. */
static void
write_and_read(const struct calibration *c)
{
    struct calibration again;
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);

    fuzz_check(out != NULL);
    calibration_write(c, out);
    fuzz_check(fclose(out) == 0);
    fuzz_check(calibration_parse(text, size, "again", &hear, &again) == 0);
    fuzz_check(strcmp(c->processor, again.processor) == 0);
    for (int i = 0; i < PARAM_COUNT; i++)
        fuzz_check(c->params[i].known == again.params[i].known &&
                   c->params[i].value == again.params[i].value);
    free(text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct calibration c;

    if (calibration_parse((const char *)data, size, "f", &hear, &c) != 0)
        return 0;
    fuzz_check(c.date[0] != '\0' && c.kernel[0] != '\0');
    for (int i = 0; i < PARAM_COUNT; i++) {
        const struct calibrated *const p = &c.params[i];
        fuzz_check(!p->known || (calibration_gives((enum param_id)i) &&
                                 param_check(i, p->value, NULL) == 0));
        fuzz_check(p->spread >= 0 && p->spread <= 100);
    }
    write_and_read(&c);
    return 0;
}
