/* SPDX-License-Identifier: MIT */
#include "cli/run_parts.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

/* FNV-1a of 64 bits. */
#define HASH_START UINT64_C(0xcbf29ce484222325)
#define HASH_FACTOR UINT64_C(0x100000001b3)

static uint64_t
hash_bytes(uint64_t hash, const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ bytes[i]) * HASH_FACTOR;
    return hash;
}

/* Returns the hash of a file's content, as far as it can be read. */
static uint64_t
hash_file(const char *path)
{
    unsigned char bytes[32768];
    uint64_t hash = HASH_START;
    ssize_t n;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0)
        return hash;
    while ((n = read(fd, bytes, sizeof(bytes))) > 0)
        hash = hash_bytes(hash, bytes, (size_t)n);
    close(fd);
    return hash;
}

static const char *
kind_of(int fd)
{
    struct stat st;

    return fstat(fd, &st) != 0    ? "closed"
           : isatty(fd)           ? "a terminal"
           : S_ISREG(st.st_mode)  ? "a file"
           : S_ISFIFO(st.st_mode) ? "a pipe"
           : S_ISSOCK(st.st_mode) ? "a socket"
                                  : "a device";
}

static void
add(struct run_parts *parts, const char *format, ...)
{
    va_list arguments;

    if (parts->count == RUN_PARTS)
        return;
    va_start(arguments, format);
    vsnprintf(parts->text[parts->count], sizeof(parts->text[0]), format,
              arguments);
    va_end(arguments);
    parts->line[parts->count] = parts->text[parts->count];
    parts->count++;
}

/* Adds a line with the number of the words, the number of their bytes and a
 * hash of the bytes. */
static void
add_words(struct run_parts *parts, const char *part, char *const *words)
{
    uint64_t hash = HASH_START;
    size_t count = 0, bytes = 0;

    for (; words[count] != NULL; count++) {
        const size_t length = strlen(words[count]) + 1;
        hash = hash_bytes(hash, (const unsigned char *)words[count], length);
        bytes += length;
    }
    add(parts, "%s: %zu, of %zu bytes, content %016" PRIx64, part, count, bytes,
        hash);
}

void
run_parts_find(const struct program *program, const struct launch_options *l,
               struct run_parts *parts)
{
    static const char *const files[] = {"input", "output", "error"};
    char folder[PATH_MAX];
    const char *const cpu = l->cpu != NULL ? l->cpu : program->isa->cpu;

    parts->count = 0;
    add(parts, "program: path of %zu bytes", strlen(program->path));
    add(parts, "program: content %016" PRIx64, hash_file(program->path));
    if (program->loader[0] != '\0')
        add(parts, "loader: %s", program->loader);
    add_words(parts, "arguments", program->argv);
    if (l->clean_env)
        add(parts, "environment: fixed");
    else
        add_words(parts, "environment", environ);
    if (l->variable_count != 0)
        add_words(parts, "variables of --env", l->variables);
    if (getcwd(folder, sizeof(folder)) != NULL)
        add(parts, "folder: path of %zu bytes", strlen(folder));
    for (int fd = 0; fd < 3; fd++)
        add(parts, "standard %s: %s", files[fd], kind_of(fd));
    add(parts, "user: %u, group %u", (unsigned)geteuid(), (unsigned)getegid());
    add(parts, "CPU model: %s", cpu != NULL ? cpu : "the emulator's");
    add(parts, "random bytes: %s",
        l->real_random ? "random"
        : l->clean_env ? "fixed"
                       : "random, but for AT_RANDOM");
    add(parts, "time, process numbers: of this run");
}
