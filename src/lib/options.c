/* SPDX-License-Identifier: MIT */
#include "lib/options.h"

#include <string.h>

#include "base/error.h"

void
options_init(void *options, size_t size)
{
    memset(options, 0, size);
    memcpy(options, &size, sizeof(size));
}

int
options_read(const void *given, void *options, size_t known)
{
    const unsigned char *bytes = given;
    size_t size;

    options_init(options, known);
    if (given == NULL)
        return 0;
    memcpy(&size, given, sizeof(size));
    if (size < sizeof(size))
        return TALLY_ERANGE;
    for (size_t i = known; i < size; i++) {
        if (bytes[i] != 0)
            return TALLY_ERANGE;
    }
    memcpy(options, given, size < known ? size : known);
    memcpy(options, &known, sizeof(known));
    return 0;
}
