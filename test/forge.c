/* SPDX-License-Identifier: MIT */
/*
 * forge WHAT WHOSE: a hostile program under tally. It starts a child that
 * counts and ends, finds the memory of its session by the descriptors of the
 * processes above it, and writes WHAT into the counts of the child
 * (WHOSE: sibling) or into its own (own). WHAT `words`, with a seed behind it,
 * is random words over all of the session's memory that QEMU has mapped, at
 * most 64 MB in one piece; WHOSE sibling: by two processes at once. Ends with
 * 0; with 77 where it finds no session, and with 1 where it cannot write.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "source/counts_layout.h"

#define STEPS 100000u
#define WORDS (UINT64_C(1) << 17)
#define MOST (UINT64_C(64) << 20)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A value of 4 bytes, where in the process's counts, how often one after the
 * other. */
static const struct forged {
    const char *name;
    uint64_t at;
    uint32_t value, times;
} forged[] = {
    {"blocks", offsetof(struct counts_head, blocks), UINT32_MAX, 1},
    {"strands", offsetof(struct counts_head, strands), UINT32_MAX, 1},
    {"threads", offsetof(struct counts_head, threads), UINT32_MAX, 1},
    {"records", offsetof(struct counts_head, threads), COUNTS_THREADS, 1},
    {"files", offsetof(struct counts_head, files), UINT32_MAX, 1},
    {"state", offsetof(struct counts_head, state), 77, 1},
    {"snapshots", offsetof(struct counts_head, snapshots), UINT32_MAX, 1},
    {"captures", offsetof(struct counts_head, captures), UINT32_MAX, 1},
    {"slices", offsetof(struct counts_head, slices), UINT32_MAX, 1},
    {"name", offsetof(struct counts_head, program), 0x41414141,
     COUNTS_NAME / 4},
    {"counts",
     THREADS_AT + offsetof(struct counts_thread, totals) +
         SIGNAL_INSTRUCTIONS * sizeof(uint64_t),
     123456789, 1},
    {"strand", THREADS_AT + offsetof(struct counts_thread, strand), UINT32_MAX,
     1},
    {"pid", offsetof(struct counts_head, pid), 1, 1},
};

/* The same in the header. */
static const struct forged in_header[] = {
    {"processes", offsetof(struct session_header, processes), 1, 1},
    {"counts_size", offsetof(struct session_header, counts_size), 1, 2},
    {"request", offsetof(struct session_header, request), UINT32_MAX,
     sizeof(struct session_request) / 4},
    {"uncounted", offsetof(struct session_header, uncounted), UINT32_MAX, 1},
    {"owners", offsetof(struct session_header, vcounters_used), UINT32_MAX,
     (HEADER_SIZE - offsetof(struct session_header, vcounters_used)) / 4},
};

/* Opens the session's memory among a process's descriptors; -1: it has none. */
static int
open_session_of(int pid)
{
    char path[300], to[64];
    struct dirent *entry;
    int fd = -1;

    snprintf(path, sizeof(path), "/proc/%d/fd", pid);
    DIR *const all = opendir(path);
    while (all != NULL && fd < 0 && (entry = readdir(all)) != NULL) {
        snprintf(path, sizeof(path), "/proc/%d/fd/%s", pid, entry->d_name);
        const ssize_t n = readlink(path, to, sizeof(to) - 1);
        to[n > 0 ? n : 0] = '\0';
        if (strncmp(to, "/memfd:tally", 12) == 0)
            fd = open(path, O_RDWR | O_CLOEXEC);
    }
    if (all != NULL)
        closedir(all);
    return fd;
}

static uint64_t
counts_at(unsigned index)
{
    return HEADER_SIZE + COUNTS_SIZE * index;
}

static void
put(int fd, uint64_t base, const struct forged *f)
{
    const size_t size = f->times * sizeof(f->value);
    uint32_t *const values = malloc(size);

    for (uint32_t i = 0; values != NULL && i < f->times; i++)
        values[i] = f->value;
    if (values == NULL ||
        pwrite(fd, values, size, (off_t)(base + f->at)) != (ssize_t)size)
        exit(1);
    free(values);
}

/* Gives every process a head that says all that a head may say, as a process
 * that a reader must look at. */
static void
put_many(int fd)
{
    static struct counts_head head;

    if (pread(fd, &head, sizeof(head), (off_t)counts_at(0)) !=
        (ssize_t)sizeof(head))
        exit(1);
    head.blocks = COUNTS_BLOCKS;
    head.strands = COUNTS_STRANDS;
    head.threads = COUNTS_THREADS;
    for (unsigned i = 2; i < SESSION_PROCESSES; i += 256)
        if (pwrite(fd, &head, sizeof(head), (off_t)counts_at(i)) < 0)
            exit(1);
}

static uint64_t
next_word(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

/* Writes random words over a piece of the session's memory. */
static void
put_piece(int fd, uint64_t *state, off_t at, uint64_t size)
{
    static uint64_t words[WORDS + 64];

    for (size_t i = 0; i < COUNT(words); i++)
        words[i] = next_word(state);
    for (uint64_t done = 0; done < size; done += sizeof(*words) * WORDS) {
        const uint64_t left = size - done;
        const size_t n =
            left < sizeof(*words) * WORDS ? left : sizeof(*words) * WORDS;
        /* From another word on each time, so that no two parts are alike. */
        if (pwrite(fd, words + next_word(state) % 64, n, at + (off_t)done) !=
            (ssize_t)n)
            exit(1);
    }
}

/* QEMU shows its own mappings under this name, and the guest's under the plain
 * one. */
#define MAPPINGS "/proc/thread-self/maps"

static void
put_words(int fd, uint64_t seed)
{
    uint64_t state = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
    unsigned long long first, last, at;
    char line[512];
    FILE *const maps = fopen(MAPPINGS, "r");

    while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
        if (strstr(line, "/memfd:tally") == NULL ||
            sscanf(line, "%llx-%llx rw-s %llx", &first, &last, &at) != 3)
            continue;
        const uint64_t size = last - first;
        put_piece(fd, &state, (off_t)at, size < MOST ? size : MOST);
    }
    if (maps == NULL)
        exit(1);
    fclose(maps);
}

/* A child that writes, too, and has ended only when both have written. */
static void
put_words_twice(int fd, uint64_t seed)
{
    int status;
    const pid_t other = fork();

    put_words(fd, other == 0 ? seed + 1000 : seed);
    if (other == 0)
        _exit(0);
    waitpid(other, &status, 0);
}

static bool
put_named(int fd, const char *what, unsigned whose)
{
    for (size_t i = 0; i < COUNT(forged); i++)
        if (strcmp(what, forged[i].name) == 0)
            return put(fd, counts_at(whose), &forged[i]), true;
    for (size_t i = 0; i < COUNT(in_header); i++)
        if (strcmp(what, in_header[i].name) == 0)
            return put(fd, 0, &in_header[i]), true;
    if (strcmp(what, "many") == 0)
        return put_many(fd), true;
    if (strncmp(what, "words", 5) == 0) {
        (whose == 1 ? put_words_twice : put_words)(fd,
                                                   strtoul(what + 5, NULL, 10));
        return true;
    }
    return strcmp(what, "nothing") == 0;
}

int
main(int argc, char **argv)
{
    volatile unsigned sum = 0;
    int status;

    if (argc != 3)
        return 2;
    const pid_t child = fork();
    for (unsigned i = 0; i < STEPS; i++)
        sum += i;
    if (child == 0)
        return 0;
    if (waitpid(child, &status, 0) != child || status != 0)
        return 1;
    /* Below QEMU is the process that started tally or tally itself. */
    const int fd = open_session_of(getppid());
    if (fd < 0)
        return 77;
    const bool put_it =
        put_named(fd, argv[1], strcmp(argv[2], "sibling") == 0 ? 1 : 0);
    printf("child %d\n", (int)child);
    fflush(stdout);
    /* System calls, a fork and a thread's worth of code, over what was written.
     */
    const pid_t next = fork();
    if (next == 0)
        _exit(0);
    waitpid(next, &status, 0);
    return put_it ? 0 : 2;
}
