/* SPDX-License-Identifier: MIT */
/*
 * pattern KIND STEP COUNT ROUNDS: ROUNDS times over COUNT places that stand
 * STEP bytes apart, from a multiple of 16 MB on. KIND: "r" loads an integer
 * there, "f" a floating-point number, "i" an integer of 4 bytes, "w" stores,
 * "a" adds as one, "b" stores and loads it back, "s" stores and then adds as
 * one to another place, always the same; x86-64 alone: "x" executes a jump to
 * the next place, "c" stores a return there and calls it, "z" executes CPUID as
 * often. Two runs with the same number of digits differ by their rounds and
 * nothing else.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define UNIT ((uintptr_t)16 << 20)

#define ROUNDS_OF(access)                                                      \
    for (; rounds > 0; rounds--)                                               \
        for (char *at = first, *end = at + step * count; at < end; at += step) \
    access

static void
loads(char *first, size_t step, size_t count, size_t rounds)
{
    ROUNDS_OF((void)*(volatile uint64_t *)at);
}

static void
words(char *first, size_t step, size_t count, size_t rounds)
{
    ROUNDS_OF((void)*(volatile uint32_t *)at);
}

static void
floats(char *first, size_t step, size_t count, size_t rounds)
{
    ROUNDS_OF((void)*(volatile double *)at);
}

static void
stores(char *first, size_t step, size_t count, size_t rounds)
{
    ROUNDS_OF(*(volatile uint64_t *)at = 1);
}

static void
atomics(char *first, size_t step, size_t count, size_t rounds)
{
    ROUNDS_OF(__atomic_fetch_add((uint64_t *)at, 1, __ATOMIC_SEQ_CST));
}

static void
back(char *first, size_t step, size_t count, size_t rounds)
{
    ROUNDS_OF((*(volatile uint64_t *)at = 1, (void)*(volatile uint64_t *)at));
}

static void
orders(char *first, size_t step, size_t count, size_t rounds)
{
    uint64_t *same = (uint64_t *)(first - 128);

    ROUNDS_OF((*(volatile uint64_t *)at = 1,
               __atomic_fetch_add(same, 1, __ATOMIC_SEQ_CST)));
}

static void
calls(char *first, size_t step, size_t count, size_t rounds)
{
    ROUNDS_OF(
        (*(volatile char *)at = (char)0xc3, ((void (*)(void))(uintptr_t)at)()));
}

static void
serializers(char *first, size_t step, size_t count, size_t rounds)
{
#if defined(__x86_64__)
    unsigned out[4];

    ROUNDS_OF(__asm__ volatile("cpuid"
                               : "=a"(out[0]), "=b"(out[1]), "=c"(out[2]),
                                 "=d"(out[3])
                               : "a"(0), "c"(0)));
#else
    (void)first;
    (void)step;
    (void)count;
    (void)rounds;
#endif
}

/* jmp to the next place; the last returns. */
static void
write_jumps(char *at, size_t step, size_t count)
{
    const int32_t distance = (int32_t)step - 5;

    for (; count > 1; count--, at += step) {
        *at = (char)0xe9;
        memcpy(at + 1, &distance, sizeof(distance));
    }
    *at = (char)0xc3;
}

static void
jumps(char *first, size_t step, size_t count, size_t rounds)
{
    (void)step;
    (void)count;
    for (; rounds > 0; rounds--)
        ((void (*)(void))(uintptr_t)first)();
}

int
main(int argc, char **argv)
{
    void (*pattern)(char *, size_t, size_t, size_t) = loads;

    if (argc != 5)
        return 2;
    const size_t step = strtoul(argv[2], NULL, 0);
    const size_t count = strtoul(argv[3], NULL, 0);
    const size_t rounds = strtoul(argv[4], NULL, 0);
    char *memory =
        mmap(NULL, step * count + 2 * UNIT, PROT_READ | PROT_WRITE | PROT_EXEC,
             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return 1;
    char *at = (char *)(((uintptr_t)memory + UNIT) & ~(UNIT - 1));
    switch (argv[1][0]) {
    case 'i':
        pattern = words;
        break;
    case 'f':
        pattern = floats;
        break;
    case 'w':
        pattern = stores;
        break;
    case 'a':
        pattern = atomics;
        break;
    case 'b':
        pattern = back;
        break;
    case 's':
        pattern = orders;
        break;
    case 'c':
        pattern = calls;
        break;
    case 'z':
        pattern = serializers;
        break;
    case 'x':
        write_jumps(at, step, count);
        pattern = jumps;
        break;
    default:
        break;
    }
    pattern(at, step, count, rounds);
    return 0;
}
