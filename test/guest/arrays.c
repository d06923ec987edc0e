/* SPDX-License-Identifier: MIT */
/*
 * arrays: two passes over `first`, 8192 loads of 8 bytes each, then one over
 * `second`, as many stores. Both have 64 KB and begin on a page.
 */
#define COUNT 8192
#define ARRAY static volatile unsigned long __attribute__((aligned(8192)))
#define PASS __attribute__((noinline, noclone)) void

ARRAY first[COUNT];
ARRAY second[COUNT];

PASS load_one(void);
PASS load_two(void);
PASS store(void);

PASS
load_one(void)
{
    for (int i = 0; i < COUNT; i++)
        (void)first[i];
}

PASS
load_two(void)
{
    for (int i = 0; i < COUNT; i++)
        (void)first[i];
}

PASS
store(void)
{
    for (int i = 0; i < COUNT; i++)
        second[i] = 1;
}

int
main(void)
{
    load_one();
    load_two();
    store();
    return 0;
}
