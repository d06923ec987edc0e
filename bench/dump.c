/* SPDX-License-Identifier: MIT */
/*
 * Times the reading of a dump and the summing up: MB of text in a second of CPU
 * time, beside `wc -l` and the slow twin of the reader. The aim is 200 MB/s in
 * 200 MB of memory, whatever the size of the dump. With --write MB the program
 * writes such a dump to stdout instead.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "profile/summary.h"
#include "ref/dump_ref.h"
#include "ref/random.h"

#define SIZE_MB 256
#define THREADS 64
#define EVENTS 38

static double
seconds(const struct timeval *t)
{
    return (double)t->tv_sec + 1e-6 * (double)t->tv_usec;
}

/* Returns the CPU time of this process and of its ended children, as other
 * programs may be busy on the host. */
static double
now(void)
{
    struct rusage self, children;

    getrusage(RUSAGE_SELF, &self);
    getrusage(RUSAGE_CHILDREN, &children);
    return seconds(&self.ru_utime) + seconds(&self.ru_stime) +
           seconds(&children.ru_utime) + seconds(&children.ru_stime);
}

static uint64_t
event_code(uint64_t number)
{
    return (uint64_t[]){
        0x12, 0x22,  0x42,  0x82,  0x102, 0x202, 0x402, 0x802, 0xfd2, 0x13,
        0x23, 0x103, 0x203, 0x44,  0x84,  0x104, 0x204, 0x15,  0x25,  0x45,
        0x85, 0x105, 0x205, 0x16,  0x26,  0x46,  0x86,  0x106, 0x206, 0x17,
        0x27, 0x47,  0x87,  0x107, 0x207, 0x4b,  0x8b,  0xcb}[number % EVENTS];
}

/* Writes records of 64 threads in turn, with 19 pairs of events and two user
 * words. */
static void
write_dumps(FILE *out, uint64_t bytes)
{
    uint64_t cycles[THREADS] = {0}, seed = 1, written = 0;

    for (uint64_t dump = 0; written < bytes; dump++) {
        const uint64_t cpu = dump % THREADS;
        char text[DUMP_LINE_SIZE];
        size_t size = dump_write_start(DUMP_FORM_TABLE, text);
        fwrite(text, 1, size, out);
        for (uint64_t i = 0; i < 1000; i++) {
            struct dump_record r = {.cpu = cpu,
                                    .caller = 0x18236,
                                    .call = DUMP_CALL_START,
                                    .cycles = cycles[cpu] += 2692,
                                    .pc = 0x521f08,
                                    .group = 1,
                                    .hi = event_code(i),
                                    .lo = event_code(i + 1)};
            size = dump_write_record(DUMP_FORM_TABLE, &r, text);
            r.caller = 0x3a2f;
            r.call = DUMP_CALL_UPDATE;
            r.cycles = cycles[cpu] += 295640000 + random_below(&seed, 9000);
            r.hi = 52230000 + random_below(&seed, 20000);
            r.lo = random_below(&seed, 4000);
            r.word_count = 2;
            r.words[0] = 200000;
            r.words[1] = 0x3da594c;
            size += dump_write_record(DUMP_FORM_TABLE, &r, text + size);
            written += fwrite(text, 1, size, out);
        }
        size = dump_write_end(DUMP_FORM_TABLE, text);
        fwrite(text, 1, size, out);
    }
}

static long
fill(void *user, void *data, size_t size)
{
    return read(*(const int *)user, data, size);
}

static uint64_t
run_reader(int fd, struct summary *summary)
{
    struct dump_troubles troubles = {0};
    struct dump_record record;
    struct dump_reader reader;
    uint64_t count = 0;

    if (dump_reader_init(&reader, "", fill, &fd, &troubles) != 0)
        exit(1);
    if (summary != NULL && summary_read(summary, &reader) == 0)
        count = summary->records;
    while (summary == NULL && dump_next(&reader, &record) > 0)
        count++;
    dump_reader_finish(&reader);
    return count;
}

static void
count_record(void *user, const struct dump_record *record)
{
    (void)record;
    ++*(uint64_t *)user;
}

static void
tell(const char *what, double mb, double start, uint64_t records)
{
    const double spent = now() - start;

    printf("%-12s %7.0f MB/s  %.2f s, %llu records\n", what, mb / spent, spent,
           (unsigned long long)records);
}

static void
measure(const char *path, double mb)
{
    const struct summary_options options = {.by = SUMMARY_BY_THREAD |
                                                  SUMMARY_BY_REGION};
    struct summary summary;
    char command[256];
    uint64_t records = 0;
    FILE *file = fopen(path, "r");
    const int fd = open(path, O_RDONLY);

    if (file == NULL || fd < 0 || summary_init(&summary, &options) != 0)
        exit(1);
    snprintf(command, sizeof(command), "wc -l %s >/dev/null", path);
    double start = now();
    if (system(command) == 0)
        tell("wc -l", mb, start, 0);
    start = now();
    dump_ref_read(file, count_record, &records);
    tell("slow twin", mb, start, records);
    start = now();
    records = run_reader(fd, NULL);
    tell("reader", mb, start, records);
    lseek(fd, 0, SEEK_SET);
    start = now();
    records = run_reader(fd, &summary);
    tell("summary", mb, start, records);
    summary_finish(&summary);
    fclose(file);
    close(fd);
}

int
main(int argc, char **argv)
{
    char path[] = "/tmp/tally-bench-dump.XXXXXX";

    if (argc == 3 && strcmp(argv[1], "--write") == 0) {
        write_dumps(stdout, strtoull(argv[2], NULL, 10) << 20);
        return ferror(stdout) != 0;
    }
    const int fd = mkstemp(path);
    FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (out == NULL)
        return 1;
    write_dumps(out, (uint64_t)SIZE_MB << 20);
    const double mb = (double)ftell(out) / 1e6;
    fclose(out);
    measure(path, mb);
    unlink(path);
    return 0;
}
