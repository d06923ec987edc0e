/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as the file of a program: what it is and needs, its symbols, its
 * sections, its calls of the profiler.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "profile/call_places.h"
#include "source/program.h"

static const struct tally_log no_log;

/* A file of the bytes that may be executed; its path goes to `path`. */
static int
make_file(const uint8_t *data, size_t size, char *path, size_t path_size)
{
    const int fd = memfd_create("program", MFD_CLOEXEC);

    fuzz_check(fd >= 0);
    while (size > 0) {
        const ssize_t n = write(fd, data, size);
        fuzz_check(n > 0 || errno == EINTR);
        data += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    snprintf(path, path_size, "/proc/self/fd/%d", fd);
    return fd;
}

/* The functions are in order, and each is found at its first address. */
static void
check_functions(const char *path)
{
    struct program_functions functions;

    program_functions(path, &functions);
    for (size_t i = 0; i < functions.count; i++) {
        const struct program_function *f = &functions.all[i];
        fuzz_check(i == 0 || f[-1].first <= f->first);
        fuzz_check(f->last < f->first ||
                   program_function_at(&functions, f->first) != NULL);
    }
    program_functions_finish(&functions);
}

static uint64_t
number_at(const uint8_t *at, unsigned size, bool big)
{
    uint64_t number = 0;

    for (unsigned i = 0; i < size; i++)
        number = number << 8 | at[big ? i : size - 1 - i];
    return number;
}

/* Checks that each segment of a program that may run is in the file, and that
 * the lowest code is what is told. */
static void
check_segments(const uint8_t *data, size_t size, const struct program *p)
{
    const bool big = data[5] == 2;
    const uint64_t at = number_at(data + 32, 8, big);
    const uint64_t count = number_at(data + 56, 2, big);
    uint64_t code = UINT64_MAX;

    for (uint64_t i = 0; i < count; i++) {
        fuzz_check(at < size && size - at >= 56 * (i + 1));
        const uint8_t *const row = data + at + 56 * i;
        const uint64_t from = number_at(row + 8, 8, big);
        const uint64_t in_file = number_at(row + 32, 8, big);
        const uint64_t address = number_at(row + 16, 8, big);
        if (number_at(row, 4, big) != 1)
            continue;
        fuzz_check(in_file == 0 || (from < size && in_file <= size - from));
        if ((number_at(row + 4, 4, big) & 1) != 0 && address < code)
            code = address;
    }
    fuzz_check(p->code == code);
}

static void
pass_place(void *user, uint32_t id, const char *file, uint32_t line,
           const char *function)
{
    (void)user, (void)id, (void)line;
    fuzz_check(file != NULL && function != NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct program program;
    uint64_t first, last, offset;
    char path[64];
    const int fd = make_file(data, size, path, sizeof(path));
    char *const argv[] = {path, NULL};

    if (program_open(argv, &no_log, &program) == 0) {
        fuzz_check(memchr(program.loader, '\0', sizeof(program.loader)) !=
                   NULL);
        if (strcmp(program.path, path) == 0)
            check_segments(data, size, &program);
        if (program_offset(program.path, program.code, &no_log, &offset) == 0)
            (void)program_address(program.path, offset);
        program_close(&program);
    }
    check_functions(path);
    (void)program_function(path, "main", &no_log, &first, &last);
    (void)program_object(path, "data", &no_log, &first, &last);
    (void)elf_has_section(path, ".debug_line");
    (void)elf_exports(path, (const char *const[]){"main", "exit"}, 2);
    (void)call_places_read(path, pass_place, NULL);
    close(fd);
    return 0;
}
