/* SPDX-License-Identifier: MIT */
/*
 * Lesson 8, pipelines and bubbles: LINKS links, each in a line of 64 bytes and
 * with the address of the next, the last with the first's. Goes round once, so
 * that the caches have what they can hold of the links; then chase() goes on by
 * STEPS links.
 */
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 65536, LINE = 64, PAGE = 4096 };

struct link {
    struct link *volatile next;
    char rest[LINE - sizeof(void *)];
};

static struct link links[MOST] __attribute__((aligned(PAGE)));

__attribute__((noinline)) struct link *
chase(struct link *at, int steps)
{
    for (int i = 0; i < steps; i++)
        at = at->next;
    return at;
}

int
main(int argc, char **argv)
{
    const int count = argc == 3 ? atoi(argv[1]) : 0;
    const int steps = argc == 3 ? atoi(argv[2]) : 0;
    struct link *at = links;

    if (count < 1 || count > MOST || steps < 1) {
        fprintf(stderr, "usage: %s LINKS STEPS, at most %d links\n", argv[0],
                MOST);
        return 2;
    }
    for (int i = 0; i < count; i++)
        links[i].next = &links[(i + 1) % count];
    do
        at = at->next;
    while (at != links);
    return chase(at, steps) == NULL;
}
