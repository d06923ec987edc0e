/* SPDX-License-Identifier: MIT */
/*
 * A program whose functions the compiler copies into each other, two deep, for
 * test/names.c. The test knows these names; lines it asks addr2line for.
 */
#include <stdio.h>

#define COPIED static inline __attribute__((always_inline))
#ifdef __clang__
#define KEPT __attribute__((noinline))
#else
#define KEPT __attribute__((noinline, noclone))
#endif

volatile unsigned copies_sink;

unsigned copies_outer(unsigned x);
unsigned copies_alias(unsigned x);
unsigned ___copies_three(unsigned x);

COPIED unsigned
copies_inner(unsigned x)
{
    copies_sink = x;
    for (unsigned i = 0; i < x; i++)
        copies_sink += i * x;
    return copies_sink ^ x;
}

COPIED unsigned
copies_middle(unsigned x)
{
    unsigned sum = copies_sink;
    for (unsigned i = 0; i < 3; i++)
        sum += copies_inner(x + i);
    return sum;
}

KEPT unsigned
copies_outer(unsigned x)
{
    copies_sink = 1;
    if (x > 7)
        copies_sink = copies_middle(x * 3);
    return copies_sink + copies_inner(x);
}

KEPT static unsigned
copies_static(unsigned x)
{
    return copies_sink * 7 + copies_middle(x ^ 5);
}

/* Three names of one function: the global one is the best known. */
KEPT unsigned
copies_alias(unsigned x)
{
    copies_sink ^= x;
    return copies_sink / 3;
}

unsigned __copies_alias(unsigned x) __attribute__((alias("copies_alias")));
unsigned
a_copies_alias(unsigned x) __attribute__((weak, alias("copies_alias")));

/* A weak name is better known than one of this file alone. */
KEPT static unsigned
copies_hidden(unsigned x)
{
    copies_sink += x;
    return copies_sink / 5;
}

unsigned _copies_weak(unsigned x) __attribute__((weak, alias("copies_hidden")));

/* A global name is better known, whatever it begins with. */
KEPT static unsigned
copies_inside(unsigned x)
{
    copies_sink -= x;
    return copies_sink / 7;
}

unsigned __copies_global(unsigned x) __attribute__((alias("copies_inside")));

/* Fewer underscores are better known. */
KEPT unsigned
___copies_three(unsigned x)
{
    copies_sink *= x;
    return copies_sink / 9;
}

unsigned __copies_two(unsigned x) __attribute__((alias("___copies_three")));

int
main(int argc, char **argv)
{
    const unsigned x = (unsigned)argc;

    (void)argv;
    printf("%u\n", copies_outer(x) + copies_static(x) + copies_alias(x) +
                       __copies_alias(x) + a_copies_alias(x) +
                       copies_hidden(x) + copies_inside(x) +
                       ___copies_three(x));
    return 0;
}
