/* SPDX-License-Identifier: MIT */
/*
 * walk STRIDE LINES STEPS: walks a list whose LINES elements lie STRIDE bytes
 * apart, in a shuffled order that no prefetcher foresees, over and over, for
 * STEPS thousand steps; each step is a load whose address the step before has
 * loaded. The list begins at an address that is a multiple of 64 MB, so that
 * STRIDE alone says which sets of a cache the elements are in. Two runs differ
 * by their steps alone (validate/latencies.py).
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define ALIGNMENT ((size_t)64 << 20)
/* Of 50 loads: a block with more misses than 64 loses the waits of the rest. */
#define TEN(x) x x x x x x x x x x
#define FIFTY(x) TEN(x x x x x)

/* Makes one ring of the elements, by Sattolo's shuffle. */
static void
link_elements(char *list, size_t stride, size_t lines)
{
    uint64_t seed = 88172645463325252u;

    for (size_t i = 0; i < lines; i++)
        *(void **)(list + i * stride) = list + i * stride;
    for (size_t i = lines; i-- > 1;) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        void **const a = (void **)(list + i * stride),
                     **const b = (void **)(list + seed % i * stride);
        void *const was = *a;
        *a = *b;
        *b = was;
    }
}

int
main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    const size_t stride = strtoul(argv[1], NULL, 0),
                 lines = strtoul(argv[2], NULL, 0),
                 steps = strtoul(argv[3], NULL, 0);
    char *const mapped =
        mmap(NULL, stride * lines + ALIGNMENT, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) {
        perror("walk");
        return 1;
    }
    char *const list = mapped + (-(uintptr_t)mapped & (ALIGNMENT - 1));

    link_elements(list, stride, lines);
    void **at = (void **)list;
    for (size_t i = 0; i < steps * 20; i++) {
        FIFTY(at = *(void *volatile *)at;)
    }
    return at == NULL;
}
