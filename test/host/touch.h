/* SPDX-License-Identifier: MIT */
/* Pages that nobody has touched, and touching them: a page fault each. */
#ifndef TALLY_TEST_HOST_TOUCH_H
#define TALLY_TEST_HOST_TOUCH_H

#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static inline char *
pages_map(size_t pages)
{
    const size_t size = (pages + 1) * (size_t)sysconf(_SC_PAGESIZE);
    char *area = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    /* A huge page would be one fault for many. */
    if (area == MAP_FAILED ||
        (madvise(area, size, MADV_NOHUGEPAGE) != 0 &&
         access("/sys/kernel/mm/transparent_hugepage", F_OK) == 0))
        exit(9);
    return area;
}

static inline void
pages_touch(char *area, size_t first, size_t count)
{
    const size_t size = (size_t)sysconf(_SC_PAGESIZE);

    for (size_t i = first; i < first + count; i++)
        ((volatile char *)area)[i * size] = 1;
}

static inline size_t
number(char **argv, int argc, int at)
{
    return at < argc ? strtoul(argv[at], NULL, 10) : 0;
}

#endif
