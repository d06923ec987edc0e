/* SPDX-License-Identifier: MIT */
/* page_faults N: touches N pages, and leaves. */
#include "touch.h"

int
main(int argc, char **argv)
{
    const size_t n = number(argv, argc, 1);

    pages_touch(pages_map(n), 0, n);
    return 0;
}
