/* SPDX-License-Identifier: MIT */
#include "cli/run_parts.h"

#include <fcntl.h>
#include <inttypes.h>
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
    unsigned char bytes[65536];
    uint64_t hash = HASH_START;
    ssize_t n;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);

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

/* Writes how many words there are, their bytes and the hash of them. */
static void
say_words(const char *part, char *const *words)
{
    uint64_t hash = HASH_START;
    size_t count = 0, bytes = 0;

    for (; words[count] != NULL; count++) {
        const size_t length = strlen(words[count]) + 1;
        hash = hash_bytes(hash, (const unsigned char *)words[count], length);
        bytes += length;
    }
    fprintf(stderr,
            "tally: run: %s: %zu, of %zu bytes, content %016" PRIx64 "\n", part,
            count, bytes, hash);
}

void
run_parts_say(const struct program *program, const struct launch_options *l)
{
    static const char *const files[] = {"input", "output", "error"};
    char folder[PATH_MAX];
    const char *const cpu = l->cpu != NULL ? l->cpu : launch_cpu(program->isa);

    fprintf(stderr, "tally: run: program: path of %zu bytes\n",
            strlen(program->path));
    fprintf(stderr, "tally: run: program: content %016" PRIx64 "\n",
            hash_file(program->path));
    if (program->loader[0] != '\0')
        fprintf(stderr, "tally: run: loader: %s\n", program->loader);
    say_words("arguments", program->argv);
    if (l->clean_env)
        fprintf(stderr, "tally: run: environment: fixed\n");
    else
        say_words("environment", environ);
    if (getcwd(folder, sizeof(folder)) != NULL)
        fprintf(stderr, "tally: run: folder: path of %zu bytes\n",
                strlen(folder));
    for (int fd = 0; fd < 3; fd++)
        fprintf(stderr, "tally: run: standard %s: %s\n", files[fd],
                kind_of(fd));
    fprintf(stderr, "tally: run: user: %u, group %u\n", (unsigned)geteuid(),
            (unsigned)getegid());
    fprintf(stderr, "tally: run: CPU model: %s\n",
            cpu != NULL ? cpu : "the emulator's");
    fprintf(stderr, "tally: run: random bytes: %s\n",
            l->real_random ? "random"
            : l->clean_env ? "fixed"
                           : "random, but for AT_RANDOM");
    fprintf(stderr, "tally: run: time, process numbers: of this run\n");
}
