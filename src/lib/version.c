/* SPDX-License-Identifier: MIT */
#include "tally/tally.h"

const char *
tally_version(void)
{
    return TALLY_LIBRARY_VERSION;
}
