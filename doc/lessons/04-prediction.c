/* SPDX-License-Identifier: MIT */
/*
 * Lesson 4, prediction: a branch that goes as PATTERN says, letter by letter
 * and again from its beginning, 10,000 times: one way for X, the other for Y.
 */
#include <stdio.h>
#include <string.h>

enum { TIMES = 10000 };

static volatile char ways[TIMES];
static volatile char last;

__attribute__((noinline)) void
decide(char way)
{
    if (way == 'X')
        last = way; /* a store: it must be branched around */
}

int
main(int argc, char **argv)
{
    const char *pattern = argc == 2 ? argv[1] : "";
    const size_t letters = strlen(pattern);

    if (letters == 0 || strspn(pattern, "XY") != letters) {
        fprintf(stderr, "usage: %s PATTERN, such as XXXY\n", argv[0]);
        return 2;
    }
    for (size_t i = 0; i < TIMES; i++)
        ways[i] = pattern[i % letters];
    for (size_t i = 0; i < TIMES; i++)
        decide(ways[i]);
    return 0;
}
