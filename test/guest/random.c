/* SPDX-License-Identifier: MIT */
/*
 * random WAY...: prints random bytes that it reads in each way, as hexadecimal
 * digits, a line each.
 *
 *   getrandom    by the call; urandom, random: by read() of the device
 *   readv, preadv, pread, dup
 *   uuid         the kernel's UUID file
 *   end          8 bytes of the device into a page's end; the next page is
 *                closed
 *   bad          into no memory: prints what failed
 *   sendfile     the kernel moves them into a pipe
 *   inherit      an open device is standard input of this program, executed
 *   fork         parent, first child, second child
 *   threads      one thread after the other
 *   table        none: fills a hash table whose key is random
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES 24

static void
print(const char *way, const unsigned char *bytes, ssize_t count)
{
    printf("%s", way);
    if (count < 0)
        printf(" %s", strerrorname_np(errno));
    for (ssize_t i = 0; i < count; i++)
        printf("%s%02x", i == 0 ? " " : "", bytes[i]);
    printf("\n");
    fflush(stdout);
}

static void
by_getrandom(const char *way)
{
    unsigned char bytes[BYTES] = {0};

    print(way, bytes, getrandom(bytes, sizeof(bytes), 0));
}

static void
by_read(const char *way, int fd)
{
    unsigned char bytes[BYTES] = {0};

    print(way, bytes, read(fd, bytes, sizeof(bytes)));
}

/* Reads into three pieces, of which the last stays a zero. */
static void
by_pieces(const char *way, int fd)
{
    unsigned char bytes[BYTES] = {0};
    const struct iovec pieces[] = {{bytes + 10, BYTES - 11}, {bytes, 10}};

    print(way, bytes,
          strcmp(way, "readv") == 0 ? readv(fd, pieces, 2)
                                    : preadv(fd, pieces, 2, 0));
}

static void
by_dup(const char *way, int fd)
{
    const int other = dup(fd);

    by_read(way, other);
    close(other);
}

static void
by_uuid(const char *way)
{
    const int fd = open("/proc/sys/kernel/random/uuid", O_RDONLY);
    char line[64] = "";

    if (read(fd, line, sizeof(line) - 1) < 0)
        line[0] = '\0';
    printf("%s %s", way, line);
    fflush(stdout);
    close(fd);
}

static void
into_end(const char *way, int fd)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *at = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    munmap(at + page, page);
    print(way, at + page - 8, read(fd, at + page - 8, 8));
}

static void
into_nothing(const char *way, int fd)
{
    unsigned char *volatile nowhere = (void *)8;

    print(way, NULL, read(fd, nowhere, 8));
}

static void
by_sendfile(const char *way, int fd)
{
    unsigned char bytes[BYTES];
    int ends[2];

    if (pipe(ends) != 0 || sendfile(ends[1], fd, NULL, BYTES) != BYTES) {
        printf("%s failed\n", way);
        return;
    }
    print(way, bytes, read(ends[0], bytes, sizeof(bytes)));
}

static void
by_fork(void)
{
    by_getrandom("parent");
    for (int i = 0; i < 2; i++) {
        if (fork() == 0) {
            by_getrandom("child");
            _exit(0);
        }
        wait(NULL);
    }
    by_getrandom("parent");
}

static void *
thread(void *unused)
{
    by_getrandom("thread");
    return unused;
}

static void
by_threads(void)
{
    pthread_t id;

    by_getrandom("main");
    for (int i = 0; i < 2; i++) {
        pthread_create(&id, NULL, thread, NULL);
        pthread_join(id, NULL);
    }
    by_getrandom("main");
}

/* Puts numbers in a table, as sets and maps of Rust and Python do: where each
 * goes depends on a random key. */
static void
keyed_table(void)
{
    static unsigned slots[1024];
    uint64_t key;

    if (getrandom(&key, sizeof(key), 0) != sizeof(key))
        return;
    for (unsigned i = 1; i <= 700; i++) {
        size_t at = (size_t)((key ^ i) * UINT64_C(0x9e3779b97f4a7c15) >> 54);
        while (slots[at] != 0)
            at = (at + 1) % 1024;
        slots[at] = i;
    }
    printf("table done\n");
}

static void
read_in(const char *way, const char *self)
{
    const int fd = open(
        strcmp(way, "random") == 0 ? "/dev/random" : "/dev/urandom", O_RDONLY);
    unsigned char bytes[BYTES];

    if (strcmp(way, "getrandom") == 0)
        by_getrandom(way);
    else if (strstr(way, "readv") != NULL)
        by_pieces(way, fd);
    else if (strcmp(way, "pread") == 0)
        print(way, bytes, pread(fd, bytes, sizeof(bytes), 0));
    else if (strcmp(way, "dup") == 0)
        by_dup(way, fd);
    else if (strcmp(way, "uuid") == 0)
        by_uuid(way);
    else if (strcmp(way, "end") == 0)
        into_end(way, fd);
    else if (strcmp(way, "bad") == 0)
        into_nothing(way, fd);
    else if (strcmp(way, "sendfile") == 0)
        by_sendfile(way, fd);
    else if (strcmp(way, "fork") == 0)
        by_fork();
    else if (strcmp(way, "threads") == 0)
        by_threads();
    else if (strcmp(way, "table") == 0)
        keyed_table();
    else if (strcmp(way, "stdin") == 0)
        by_read(way, STDIN_FILENO);
    else if (strcmp(way, "inherit") == 0 && dup2(fd, STDIN_FILENO) == 0)
        execl(self, self, "stdin", NULL);
    else
        by_read(way, fd);
    close(fd);
}

int
main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        read_in(argv[i], argv[0]);
    return 0;
}
