/* SPDX-License-Identifier: MIT */
#include "profile/filter.h"

#include <stdlib.h>
#include <string.h>

#include "source/program.h"

#define CODE "code="

/* A number in C's notation; sets *end. */
static bool
number(const char *text, char **end, uint64_t *value)
{
    if (*text < '0' || *text > '9')
        return false;
    *value = strtoull(text, end, 0);
    return true;
}

static bool
addresses(const char *text, struct code_range *range)
{
    char *end;

    return number(text, &end, &range->first) && *end == '-' &&
           number(end + 1, &end, &range->last) && *end == '\0';
}

int
filter_parse(const char *text, const char *program, const struct tally_log *log,
             struct code_range *range)
{
    struct code_range r;

    if (strncmp(text, CODE, strlen(CODE)) != 0 || text[strlen(CODE)] == '\0')
        return tally_fail(log, TALLY_ESYNTAX,
                          "filter '%s': must be code=FUNCTION or "
                          "code=FIRST-LAST, two addresses",
                          text);
    const char *what = text + strlen(CODE);
    if (!addresses(what, &r)) {
        if (*what >= '0' && *what <= '9')
            return tally_fail(log, TALLY_ESYNTAX,
                              "filter '%s': must be two addresses, as "
                              "code=0x10400-0x104ff",
                              text);
        const int error =
            program_function(program, what, log, &r.first, &r.last);
        if (error != 0)
            return error;
    }
    if (r.last < r.first || r.last >= NO_LINE)
        return tally_fail(log, TALLY_ERANGE,
                          "filter '%s': its last address must follow the first",
                          text);
    *range = r;
    return 0;
}
