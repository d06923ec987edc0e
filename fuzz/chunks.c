/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a record file. With bit 0 of the first byte each chunk that can
 * be found gets the checksum of its bytes, so that what is behind the checksum
 * is reached. What is read is written, and reads back the same; the chunks' own
 * bytes are read as numbers and strings.
 */
#include "record/chunks.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "record/bytes.h"
#include "record/crc32c.h"

static const struct tally_log hear = {fuzz_hear, NULL};

/* Gives each chunk the checksum of its bytes. */
static void
seal(uint8_t *data, size_t size)
{
    size_t at = CHUNKS_FILE_HEADER;

    while (at <= size && size - at >= CHUNK_HEADER) {
        const uint64_t stored = bytes_get_u64(data + at + CHUNK_AT_STORED);
        if (stored > size - at - CHUNK_HEADER)
            break;
        bytes_put_u32(data + at + CHUNK_AT_CRC,
                      crc32c(crc32c(0, data + at, CHUNK_AT_CRC),
                             data + at + CHUNK_HEADER, (size_t)stored));
        at += CHUNK_HEADER + ((size_t)stored + 7) / 8 * 8;
    }
}

/* Returns a file in memory, and its path. */
static int
memory_file(const void *data, size_t size, char *path, size_t path_size)
{
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);

    fuzz_check(fd >= 0);
    fuzz_check(write(fd, data, size) == (ssize_t)size);
    snprintf(path, path_size, "/proc/self/fd/%d", fd);
    return fd;
}

/* Reads the bytes as each kind of number in turn, and those again that are
 * written. */
static void
check_cursor(const uint8_t *data, size_t size)
{
    struct cursor c = cursor_of(data, size);

    while (!c.failed && cursor_left(&c) > 0) {
        const uint8_t kind = cursor_u8(&c);
        struct bytes b = {0};
        size_t length = 0;
        const uint64_t number = kind % 4 == 0   ? cursor_varint(&c)
                                : kind % 4 == 1 ? (uint64_t)cursor_signed(&c)
                                                : cursor_u64(&c);
        const char *const text =
            kind % 4 == 3 ? cursor_string(&c, &length) : "";
        fuzz_check(c.at <= c.end && (text != NULL || c.failed));
        bytes_append_varint(&b, number);
        bytes_append_signed(&b, (int64_t)number);
        bytes_append_string(&b, text, length);
        struct cursor back = cursor_of(b.data, b.size);
        fuzz_check(cursor_varint(&back) == number);
        fuzz_check(cursor_signed(&back) == (int64_t)number);
        size_t again;
        const char *const same = cursor_string(&back, &again);
        fuzz_check(same != NULL && again == length &&
                   (length == 0 || memcmp(same, text, length) == 0));
        fuzz_check(!back.failed && cursor_left(&back) == 0);
        bytes_finish(&b);
    }
}

/* Reads the file at `path` and writes its chunks to `writer`, if that is not
 * NULL, or compares them with those of `other`, if that is not. */
static void
read_all(const char *path, struct chunk_writer *writer,
         struct chunk_reader *other)
{
    struct chunk_reader *reader = NULL;
    struct chunk chunk, same;
    size_t total = 0;
    int result = chunks_open(path, &hear, &reader);

    if (result != 0) {
        fuzz_check(other == NULL || chunks_next(other, &same) == 0);
        return;
    }
    /* A few bytes can stand for a lot of zeroes: enough is enough. */
    while (total < 16 << 20 && (result = chunks_next(reader, &chunk)) > 0) {
        total += chunk.size;
        check_cursor(chunk.data, chunk.size < 4096 ? chunk.size : 4096);
        if (writer != NULL)
            fuzz_check(
                chunks_write(writer, chunk.type, chunk.data, chunk.size) == 0);
        if (other != NULL) {
            fuzz_check(chunks_next(other, &same) == 1);
            fuzz_check(same.type == chunk.type && same.size == chunk.size);
            fuzz_check(memcmp(same.data, chunk.data, chunk.size) == 0);
        }
    }
    fuzz_check(other == NULL || chunks_next(other, &same) == 0);
    fuzz_check(!chunks_cut(reader) || result == 0);
    if (result <= 0)
        fuzz_check(chunks_next(reader, &chunk) == result);
    chunks_close(&reader);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct chunk_writer *writer = NULL;
    struct chunk_reader *back = NULL;
    char path[64], copy_path[64], copy_target[64];

    if (size == 0)
        return 0;
    uint8_t *const bytes = malloc(size);
    fuzz_check(bytes != NULL);
    memcpy(bytes, data + 1, size - 1);
    if ((data[0] & 1) != 0)
        seal(bytes, size - 1);
    const int fd = memory_file(bytes, size - 1, path, sizeof(path));
    const int copy = memory_file("", 0, copy_path, sizeof(copy_path));
    snprintf(copy_target, sizeof(copy_target), "/dev/fd/%d", copy);
    fuzz_check(chunks_create(copy_target, &hear, &writer) == 0);
    read_all(path, writer, NULL);
    fuzz_check(chunks_end(&writer) == 0);
    fuzz_check(chunks_open(copy_path, &hear, &back) == 0);
    read_all(path, NULL, back);
    fuzz_check(!chunks_cut(back));
    chunks_close(&back);
    close(fd);
    close(copy);
    free(bytes);
    check_cursor(data + 1, size - 1);
    return 0;
}
