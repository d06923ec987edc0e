/* SPDX-License-Identifier: MIT */
/* Benchmarks that list their names: sort_c --list, sort_c NAME. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 20000

static uint32_t numbers[COUNT];

/* The same numbers each time: a benchmark that draws others does not repeat. */
static void
fill(void)
{
    uint32_t state = 1;

    for (size_t i = 0; i < COUNT; i++) {
        state = state * 1664525u + 1013904223u;
        numbers[i] = state >> 8;
    }
}

static int
compare(const void *x, const void *y)
{
    const uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

    return (a > b) - (a < b);
}

static void
quick(void)
{
    qsort(numbers, COUNT, sizeof(*numbers), compare);
}

static void
heap(void)
{
    for (size_t end = COUNT, root = COUNT / 2; end > 1;) {
        if (root > 0) {
            root--;
        } else {
            end--;
            const uint32_t last = numbers[end];
            numbers[end] = numbers[0];
            numbers[0] = last;
        }
        for (size_t at = root, child; (child = 2 * at + 1) < end; at = child) {
            if (child + 1 < end && numbers[child] < numbers[child + 1])
                child++;
            if (numbers[at] >= numbers[child])
                break;
            const uint32_t up = numbers[child];
            numbers[child] = numbers[at];
            numbers[at] = up;
        }
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} benchmarks[] = {{"quick", quick}, {"heap", heap}};

int
main(int argc, char **argv)
{
    const size_t count = sizeof(benchmarks) / sizeof(*benchmarks);
    const char *const word = argc == 2 ? argv[1] : "";

    for (size_t i = 0; i < count; i++) {
        if (strcmp(word, "--list") == 0)
            puts(benchmarks[i].name);
        if (strcmp(word, benchmarks[i].name) == 0) {
            fill();
            benchmarks[i].run();
            printf("%u\n", (unsigned)numbers[COUNT / 2]);
            return 0;
        }
    }
    return strcmp(word, "--list") == 0 ? 0 : 2;
}
