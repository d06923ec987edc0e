/* SPDX-License-Identifier: MIT */
/*
 * Accesses to objects whose number, and whose share of each line that they
 * touch, follow from arithmetic; and stack frames that other functions use:
 * uses FORM. Each object is larger than the L1D of the machines in
 * test/record_objects.py, so that each pass brings in each line again.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ROWS 2048
#define PASSES 3
#define APART __attribute__((noinline, noclone))

struct row {
    int64_t key;
    char rest[120];
};

static volatile int64_t sink;
struct row rows[ROWS] __attribute__((aligned(128)));
int64_t whole[ROWS * 16] __attribute__((aligned(128)));
int64_t half[ROWS * 16] __attribute__((aligned(128)));
int64_t written[ROWS * 16] __attribute__((aligned(128)));
char bytes[16] __attribute__((aligned(16)));

APART static void
read_keys(void)
{
    for (int pass = 0; pass < PASSES; pass++)
        for (int i = 0; i < ROWS; i++)
            sink += rows[i].key;
}

APART static void
read_all(void)
{
    for (int pass = 0; pass < PASSES; pass++)
        for (int i = 0; i < ROWS * 16; i++)
            sink += *(volatile int64_t *)&whole[i];
}

/* Every other word. */
APART static void
read_half(void)
{
    for (int pass = 0; pass < PASSES; pass++)
        for (int i = 0; i < ROWS * 16; i += 2)
            sink += *(volatile int64_t *)&half[i];
}

APART static void
write_all(void)
{
    for (int pass = 0; pass < PASSES; pass++)
        for (int i = 0; i < ROWS * 16; i++)
            *(volatile int64_t *)&written[i] = i;
}

/* Neighbours of one word. */
APART static void
read_bytes(void)
{
    for (int i = 0; i < 1000; i++)
        sink += ((volatile char *)bytes)[3] + ((volatile char *)bytes)[4];
}

APART static void
walk(const char *at, size_t size)
{
    for (int pass = 0; pass < PASSES; pass++)
        for (size_t i = 0; i < size; i += 64)
            sink += ((const volatile char *)at)[i];
}

APART static void
inner_frame(const char *outer, size_t size)
{
    char local[32768];

    memset(local, 1, sizeof(local));
    walk(local, sizeof(local));
    walk(outer, size);
    sink += ((volatile char *)local)[5];
}

APART static void
outer_frame(void)
{
    char local[32768];

    memset(local, 1, sizeof(local));
    inner_frame(local, sizeof(local));
    walk(local, sizeof(local));
    sink += ((volatile char *)local)[5];
}

APART static void
recursive_frame(int depth)
{
    char local[32768];

    memset(local, 1, sizeof(local));
    walk(local, sizeof(local));
    if (depth > 0)
        recursive_frame(depth - 1);
    sink += ((volatile char *)local)[5];
}

/* An allocator of the program's own: the size is its second argument. */
static char pool[1 << 20];
static size_t taken;

APART void *
pool_alloc(int unused, size_t size)
{
    char *given = pool + taken;

    (void)unused;
    taken += (size + 63) / 64 * 64;
    return given;
}

APART static char *
from_pool(size_t size)
{
    char *block = pool_alloc(7, size);

    sink += 0;
    return block;
}

/* A file in the midst of other memory. */
APART static void
map_file(const char *path)
{
    const size_t size = 65536;
    const int fd = open(path, O_RDONLY);
    char *whole = mmap(NULL, 3 * size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    mmap(whole + size, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0);
    walk(whole, size);
    walk(whole + size, size);
    walk(whole + 2 * size, size);
}

int
main(int argc, char **argv)
{
    const char *form = argc > 1 ? argv[1] : "";

    if (strcmp(form, "frames") == 0) {
        outer_frame();
        recursive_frame(4);
    } else if (strcmp(form, "pool") == 0) {
        walk(from_pool(65536), 65536);
    } else if (strcmp(form, "mapped") == 0) {
        map_file(argv[2]);
    } else {
        read_keys();
        read_all();
        read_half();
        write_all();
        read_bytes();
    }
    printf("%ld\n", (long)sink);
    return 0;
}
