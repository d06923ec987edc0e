/* SPDX-License-Identifier: MIT */
/*
 * jit FOLDER | jit map: makes functions of two instructions while it runs, and
 * tells their names in FOLDER/jit-PID.dump, or in /tmp/perf-PID.map.
 *
 *   first    at the code's beginning, from line 3 and 4 of first.src: 1000
 * calls second   overwrites the first, from line 7 of second.src: 2000 calls
 *   third    elsewhere, then moved by 256 bytes and called there: 500 calls
 *
 * The map names `first` and `second` alone. Prints its process's number.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 8192u
#define MOVED 256u

#if defined(__sparc__) /* retl; mov VALUE, %o0 */
#define CODE(value)                                     \
    {                                                   \
        0x81, 0xc3, 0xe0, 0x08, 0x90, 0x10, 0x20, value \
    }
#define SECOND_INSTRUCTION 4
#define MACHINE 43
#elif defined(__MIPSEB__) /* jr $ra; li $v0, VALUE */
#define CODE(value)                                     \
    {                                                   \
        0x03, 0xe0, 0x00, 0x08, 0x24, 0x02, 0x00, value \
    }
#define SECOND_INSTRUCTION 4
#define MACHINE 8
#elif defined(__MIPSEL__)
#define CODE(value)                                     \
    {                                                   \
        0x08, 0x00, 0xe0, 0x03, value, 0x00, 0x02, 0x24 \
    }
#define SECOND_INSTRUCTION 4
#define MACHINE 8
#elif defined(__aarch64__) /* mov w0, #VALUE; ret */
#define CODE(value)                                            \
    {                                                          \
        (value) << 5, 0x00, 0x80, 0x52, 0xc0, 0x03, 0x5f, 0xd6 \
    }
#define SECOND_INSTRUCTION 4
#define MACHINE 183
#elif defined(__riscv) /* li a0, VALUE; ret */
#define CODE(value)                                            \
    {                                                          \
        0x13, 0x05, (value) << 4, 0x00, 0x67, 0x80, 0x00, 0x00 \
    }
#define SECOND_INSTRUCTION 4
#define MACHINE 243
#else /* mov $VALUE, %eax; ret */
#define CODE(value)                                     \
    {                                                   \
        0xb8, value, 0x00, 0x00, 0x00, 0xc3, 0x90, 0x90 \
    }
#define SECOND_INSTRUCTION 5
#define MACHINE 62
#endif

#define CODE_SIZE 8u

static const unsigned char codes[3][CODE_SIZE] = {CODE(1), CODE(2), CODE(3)};

static FILE *dump, *map;

static void
put32(uint32_t value)
{
    fwrite(&value, sizeof(value), 1, dump);
}

static void
put64(uint64_t value)
{
    fwrite(&value, sizeof(value), 1, dump);
}

/* Begins a record with `size` bytes behind its prefix. */
static void
begin(uint32_t kind, size_t size)
{
    static uint64_t time;

    put32(kind);
    put32((uint32_t)(16 + size));
    put64(++time);
}

static void
begin_file(const char *folder)
{
    char path[4096];

    if (strcmp(folder, "map") == 0) {
        snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
        map = fopen(path, "w");
    } else {
        snprintf(path, sizeof(path), "%s/jit-%d.dump", folder, (int)getpid());
        dump = fopen(path, "w+");
    }
    if (dump == NULL && map == NULL) {
        perror(path);
        exit(1);
    }
    if (dump == NULL)
        return;
    put32(0x4a695444);
    put32(1);
    put32(40);
    put32(MACHINE);
    put32(0);
    put32((uint32_t)getpid());
    put64(0);
    put64(0);
    fflush(dump);
    /* A profiler finds the file by this mapping. */
    if (mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0) ==
        MAP_FAILED)
        exit(1);
}

/* Writes the lines of two instructions. */
static void
tell_lines(uint64_t at, const char *file, uint32_t one, uint32_t two)
{
    const size_t length = strlen(file) + 1;

    if (dump == NULL)
        return;
    begin(2, 16 + 16 + length + 16 + 2);
    put64(at);
    put64(2);
    put64(at);
    put32(one);
    put32(0);
    fwrite(file, length, 1, dump);
    put64(at + SECOND_INSTRUCTION);
    put32(two);
    put32(0);
    fwrite("\xff", 2, 1, dump); /* the same file */
}

static void
tell_code(uint64_t at, const char *name, const unsigned char *code)
{
    static uint64_t index;

    if (map != NULL) {
        fprintf(map, "%llx %x %s\n", (unsigned long long)at, CODE_SIZE, name);
        fflush(map);
        return;
    }
    begin(0, 40 + strlen(name) + 1 + CODE_SIZE);
    put32((uint32_t)getpid());
    put32((uint32_t)getpid());
    put64(at);
    put64(at);
    put64(CODE_SIZE);
    put64(index++);
    fwrite(name, strlen(name) + 1, 1, dump);
    fwrite(code, CODE_SIZE, 1, dump);
}

static void
tell_move(uint64_t from, uint64_t to)
{
    begin(1, 48);
    put32((uint32_t)getpid());
    put32((uint32_t)getpid());
    put64(to);
    put64(from);
    put64(to);
    put64(CODE_SIZE);
    put64(2);
}

static int
call(unsigned char *at, int times)
{
    int (*const function)(void) = (int (*)(void))(uintptr_t)at;
    int sum = 0;

    __builtin___clear_cache((char *)at, (char *)at + CODE_SIZE);
    for (int i = 0; i < times; i++)
        sum += function();
    return sum;
}

int
main(int argc, char **argv)
{
    unsigned char *code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int sum = 0;

    if (argc < 2 || code == MAP_FAILED)
        return 1;
    begin_file(argv[1]);
    const uint64_t at = (uint64_t)(uintptr_t)code;
    memcpy(code, codes[0], CODE_SIZE);
    tell_lines(at, "first.src", 3, 4);
    tell_code(at, "first", codes[0]);
    sum += call(code, 1000);
    memcpy(code, codes[1], CODE_SIZE);
    tell_lines(at, "second.src", 7, 7);
    tell_code(at, "second", codes[1]);
    sum += call(code, 2000);
    if (dump != NULL) {
        unsigned char *const third = code + 1024;
        tell_code(at + 1024, "third", codes[2]);
        memcpy(third + MOVED, codes[2], CODE_SIZE);
        tell_move(at + 1024, at + 1024 + MOVED);
        sum += call(third + MOVED, 500);
        fclose(dump);
    }
    printf("%d\n", (int)getpid());
    return sum != (argc > 1 && map != NULL ? 5000 : 6500);
}
