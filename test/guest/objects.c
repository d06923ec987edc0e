/* SPDX-License-Identifier: MIT */
/*
 * Accesses to objects whose misses follow from arithmetic, on a machine whose
 * L1D has lines of 64 bytes and 16 KB: objects FORM. Each object but the ring
 * is larger than the L1D, so that each pass misses each of its lines.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINE 64
#define PASSES 3
#define APART __attribute__((noinline, noclone))

static volatile long sink;
static int table[4096 * LINE / sizeof(int)];
int matrix[256][256]; /* a column has 256 lines, of which 16 KB hold a part */
static char ring[512] __attribute__((aligned(64)));

APART static void
stride(const char *at, size_t size, size_t step)
{
    for (int pass = 0; pass < PASSES; pass++)
        for (size_t i = 0; i < size; i += step)
            sink += at[i];
}

APART static void
transposed(void)
{
    for (int column = 0; column < 256; column++)
        for (int row = 0; row < 256; row++)
            sink += matrix[row][column];
}

struct node {
    struct node *next;
    char rest[LINE - sizeof(struct node *)];
};

APART static struct node *
make_list(int nodes)
{
    struct node *first = NULL;

    while (nodes-- > 0) {
        struct node *node = aligned_alloc(LINE, sizeof(*node));
        node->next = first;
        first = node;
    }
    return first;
}

APART static void
walk(const struct node *first)
{
    for (int pass = 0; pass < PASSES; pass++)
        for (const struct node *node = first; node != NULL; node = node->next)
            sink++;
}

/* What follows a call keeps it from being a jump, of which no caller is known.
 */
static char *
called(char *block)
{
    sink += 0;
    return block;
}

APART static char *
make_buckets(size_t size)
{
    return called(calloc(1, size));
}

/* Looks into 4,096 lines in an order that is far from theirs. */
APART static void
look_up(const char *buckets)
{
    for (unsigned pass = 0; pass < PASSES; pass++)
        for (unsigned i = 0; i < 4096; i++)
            sink += buckets[(i * 2654435761u >> 3) % 4096 * LINE];
}

/* Two blocks that come one after the other at one address. */
APART static char *
first_tenant(size_t size)
{
    return called(malloc(size));
}

APART static char *
second_tenant(size_t size)
{
    return called(malloc(size - 8)); /* or it is the first one's code */
}

APART static void
tenants(void)
{
    const size_t size = 2048 * LINE - 64;
    char *block = first_tenant(size);
    stride(block, size, LINE);
    free(block);
    block = second_tenant(size);
    stride(block, size, LINE);
    free(block);
}

/* A block that grows keeps its place in the source. */
APART static char *
grow(char *old, size_t size)
{
    return called(realloc(old, size));
}

static void *
run_thread(void *block)
{
    char local[1024 * LINE];

    memset(local, 1, sizeof(local));
    stride(block, 1024 * LINE, LINE);
    stride(local, sizeof(local), LINE);
    return NULL;
}

APART static char *
shared_block(void)
{
    return called(aligned_alloc(LINE, 1024 * LINE));
}

static void
run_threads(void)
{
    pthread_t threads[8];

    for (int i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, run_thread, shared_block());
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
}

static void
run_child(void)
{
    char *before = first_tenant(2048 * LINE);

    if (fork() == 0) {
        stride(before, 2048 * LINE, LINE);
        char *after = second_tenant(2048 * LINE);
        stride(after, 2048 * LINE, LINE);
        _exit(0);
    }
    wait(NULL);
    free(before);
}

static void
run_all(void)
{
    stride((const char *)table, sizeof(table), LINE);
    transposed();
    walk(make_list(4096));
    look_up(make_buckets(4096 * LINE));
    stride(ring, sizeof(ring), 1);
    tenants();
    char *grown = grow(grow(NULL, 1024), 2048 * LINE);
    stride(grown, 2048 * LINE, LINE);
    char *mapped = mmap(NULL, 1024 * LINE, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stride(mapped, 1024 * LINE, LINE);
    munmap(mapped, 1024 * LINE);
}

int
main(int argc, char **argv)
{
    const char *form = argc > 1 ? argv[1] : "";

    if (strcmp(form, "threads") == 0)
        run_threads();
    else if (strcmp(form, "child") == 0)
        run_child();
    else
        run_all();
    printf("%ld\n", sink);
    return 0;
}
