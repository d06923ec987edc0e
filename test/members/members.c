/* SPDX-License-Identifier: MIT */
/* members WHAT: goes through ROWS structures of 64 bytes that the program got
 * from calloc(), a member of each: as many misses as structures, in a cache of
 * lines of 64 bytes. */
#include "members.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 4096
#define NOINLINE __attribute__((noinline))

/* Returns memory that begins with a line, which nothing has touched. */
static void *
lines(size_t size)
{
    return aligned_alloc(64, size);
}

static NOINLINE long
array(struct shard *shards, long count)
{
    long sum = 0;

    for (long i = 0; i < count; i++)
        sum += shards[i].count++; /* LINE array */
    return sum;
}

static NOINLINE void
nested(struct cell *cells, long count)
{
    for (long i = 0; i < count; i++)
        cells[i].at[1].y += 1;
}

static NOINLINE void
inner(struct point *p)
{
    p->y += 1;
}

static NOINLINE void
inside(struct cell *cells, long count)
{
    for (long i = 0; i < count; i++) {
        cells[i].key++;
        inner(&cells[i].at[0]);
    }
}

static NOINLINE long
list(const struct node *n)
{
    long sum = 0;

    for (; n != NULL; n = n->next)
        sum++;
    return sum;
}

static NOINLINE void
both(struct mixed *m, long count)
{
    for (long i = 0; i < count; i++)
        m[i].both.number++;
}

static NOINLINE void
bits(struct mixed *m, long count)
{
    for (long i = 0; i < count; i++)
        m[i].middle = (unsigned)i;
}

/* Memory of which the program has only bytes. */
static NOINLINE void
pool(void *memory, size_t size)
{
    for (size_t i = 0; i < size; i += 64)
        *(volatile char *)((char *)memory + i) = 1;
}

/* Two structures in the blocks of one place. */
static NOINLINE void
either(void *memory, long count)
{
    struct shard *const shards = memory;
    struct mixed *const m = memory;

    for (long i = 0; i < count; i++) {
        if (i % 2 != 0)
            *(volatile long *)&shards[i].sum = i;
        else
            *(volatile int *)&m[i].behind = 1;
    }
}

/* Structures that the blocks have no whole number of. */
static NOINLINE void
odd(struct shard *shards, long count)
{
    for (long i = 0; i < count; i++)
        shards[i].sum++;
}

static struct shard *kept;

static NOINLINE void
global(long count)
{
    for (long i = 0; i < count; i++)
        kept[i].id++;
}

static struct node *
make_list(void)
{
    struct node *const nodes = lines(ROWS * sizeof(*nodes));

    for (long i = 0; i < ROWS; i++)
        nodes[i].next = i + 1 < ROWS ? &nodes[i + 1] : NULL;
    return nodes;
}

int
main(int argc, char **argv)
{
    const char *const what = argc > 1 ? argv[1] : "";
    void *const memory = strcmp(what, "list") == 0  ? make_list()
                         : strcmp(what, "odd") == 0 ? lines(ROWS * 64 + 8)
                                                    : lines(ROWS * 64);

    if (strcmp(what, "array") == 0)
        array(memory, ROWS);
    else if (strcmp(what, "nested") == 0)
        nested(memory, ROWS);
    else if (strcmp(what, "inside") == 0)
        inside(memory, ROWS);
    else if (strcmp(what, "list") == 0)
        list(memory);
    else if (strcmp(what, "both") == 0)
        both(memory, ROWS);
    else if (strcmp(what, "bits") == 0)
        bits(memory, ROWS);
    else if (strcmp(what, "pool") == 0)
        pool(memory, ROWS * 64);
    else if (strcmp(what, "either") == 0)
        either(memory, ROWS);
    else if (strcmp(what, "odd") == 0)
        odd(memory, ROWS);
    else if (strcmp(what, "global") == 0)
        kept = memory, global(ROWS);
    printf("%d\n", ((char *)memory)[0]);
    return 0;
}
