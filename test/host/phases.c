/* SPDX-License-Identifier: MIT */
/*
 * phases N M K [CALLS]: touches N, M and K pages in three functions, CALLS
 * times (1) one after the other. `late` is never entered. No two are alike: a
 * compiler makes one of those.
 */
#include "touch.h"

#define OWN __attribute__((noinline, noclone, used, externally_visible))

OWN void early(char *area, size_t first, size_t count);
OWN void middle(char *area, size_t first, size_t count);
OWN void last(char *area, size_t first, size_t count);
OWN void late(char *area);

void
early(char *area, size_t first, size_t count)
{
    pages_touch(area, first, count);
}

void
middle(char *area, size_t first, size_t count)
{
    pages_touch(area, first + 1, count);
}

void
last(char *area, size_t first, size_t count)
{
    pages_touch(area, first + 2, count);
}

void
late(char *area)
{
    pages_touch(area, 3, 1);
}

int
main(int argc, char **argv)
{
    const size_t n = number(argv, argc, 1), m = number(argv, argc, 2);
    const size_t k = number(argv, argc, 3), given = number(argv, argc, 4);
    const size_t calls = given == 0 ? 1 : given;
    char *area = pages_map((n + m + k + 2) * calls);

    for (size_t i = 0, at = 0; i < calls; i++, at += n + m + k + 2) {
        early(area, at, n);
        middle(area, at + n, m);
        last(area, at + n + m, k);
    }
    return argc > 9 ? late(area), 1 : 0;
}
