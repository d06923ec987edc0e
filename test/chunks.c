/* SPDX-License-Identifier: MIT */
/* The container of tally's record files, and the bytes in it. */
#include "record/chunks.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/bytes.h"
#include "record/crc32c.h"
#include "ref/random.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define NOBODY 65534
#define BIG 10000000

static char folder[] = "/tmp/tally-chunks-XXXXXX";
static char message[1024];
static int errors, warnings;

static void
keep_message(void *user, enum tally_level level, const char *text)
{
    (void)user;
    errors += level == TALLY_LOG_ERROR;
    warnings += level == TALLY_LOG_WARNING;
    snprintf(message, sizeof(message), "%s", text);
}

static const struct tally_log hear = {keep_message, NULL};

static void
assert_said(const char *part)
{
    if (strstr(message, part) == NULL)
        fail_msg("got \"%s\", which lacks \"%s\"", message, part);
}

/* Returns the path of a file in the folder; the third call's overwrites it. */
static const char *
in_folder(const char *name)
{
    static char path[2][256];
    static int turn;

    turn = !turn;
    snprintf(path[turn], sizeof(path[turn]), "%s/%s", folder, name);
    return path[turn];
}

static bool
exists(const char *name)
{
    struct stat st;

    return lstat(in_folder(name), &st) == 0;
}

static unsigned
files(void)
{
    DIR *all = opendir(folder);
    unsigned count = 0;

    assert_non_null(all);
    while (readdir(all) != NULL)
        count++;
    closedir(all);
    return count - 2;
}

static void
make(const char *name, const void *data, size_t size)
{
    const int fd =
        open(in_folder(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), size);
    close(fd);
}

/* Returns the file's bytes, which the caller frees. */
static uint8_t *
load(const char *name, size_t *size)
{
    struct stat st;
    const int fd = open(in_folder(name), O_RDONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    uint8_t *const data = malloc((size_t)st.st_size + 1);
    assert_non_null(data);
    assert_int_equal(read(fd, data, (size_t)st.st_size), st.st_size);
    close(fd);
    *size = (size_t)st.st_size;
    return data;
}

static int
setup(void **unused)
{
    (void)unused;
    strcpy(folder + sizeof(folder) - 7, "XXXXXX");
    message[0] = '\0';
    errors = warnings = 0;
    return mkdtemp(folder) == NULL;
}

static int
teardown(void **unused)
{
    DIR *all = opendir(folder);
    const struct dirent *entry;

    (void)unused;
    chmod(folder, 0700);
    while ((entry = readdir(all)) != NULL) {
        if (unlinkat(dirfd(all), entry->d_name, 0) != 0)
            unlinkat(dirfd(all), entry->d_name, AT_REMOVEDIR);
    }
    closedir(all);
    return rmdir(folder);
}

/* Returns bytes that do not compress, from the seed on. */
static uint8_t *
noise(size_t size, uint64_t seed)
{
    uint8_t *const data = malloc(size + 1);

    assert_non_null(data);
    for (size_t i = 0; i < size; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        data[i] = (uint8_t)(seed >> 32);
    }
    return data;
}

static struct chunk_writer *
create(const char *name)
{
    struct chunk_writer *writer = NULL;

    assert_int_equal(chunks_create(in_folder(name), &hear, &writer), 0);
    assert_non_null(writer);
    return writer;
}

static struct chunk_reader *
open_record(const char *name)
{
    struct chunk_reader *reader = NULL;

    assert_int_equal(chunks_open(in_folder(name), &hear, &reader), 0);
    assert_non_null(reader);
    return reader;
}

static void
assert_chunk(struct chunk_reader *reader, uint32_t type, const void *data,
             size_t size)
{
    struct chunk chunk;

    assert_int_equal(chunks_next(reader, &chunk), 1);
    assert_int_equal(chunk.type, type);
    assert_int_equal(chunk.size, size);
    assert_int_equal(chunk.at % CHUNK_ALIGN, 0);
    assert_true(size == 0 || memcmp(chunk.data, data, size) == 0);
}

static void
assert_end(struct chunk_reader **reader, bool cut)
{
    struct chunk chunk;

    assert_false(chunks_cut(*reader));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(chunks_next(*reader, &chunk), 0);
        assert_int_equal(chunks_cut(*reader), cut);
    }
    assert_int_equal(errors, 0);
    assert_int_equal(warnings, cut);
    chunks_close(reader);
    assert_null(*reader);
}

static void
test_crc(void **unused)
{
    (void)unused;
    /* RFC 3720, appendix B.4: 32 bytes of zeroes, of ones, and rising. */
    uint8_t bytes[32] = {0};
    assert_int_equal(crc32c(0, bytes, 32), 0x8a9136aa);
    memset(bytes, 0xff, sizeof(bytes));
    assert_int_equal(crc32c(0, bytes, 32), 0x62a8ab43);
    for (unsigned i = 0; i < 32; i++)
        bytes[i] = (uint8_t)i;
    assert_int_equal(crc32c(0, bytes, 32), 0x46dd794e);
    assert_int_equal(crc32c(crc32c(0, bytes, 5), bytes + 5, 27), 0x46dd794e);
    assert_int_equal(crc32c(0, "123456789", 9), 0xe3069283);
    assert_int_equal(crc32c(7, NULL, 0), 7);
    for (size_t size = 0; size <= 32; size++)
        for (size_t at = 0; at + size <= 32; at++)
            assert_int_equal(crc32c(9, bytes + at, size),
                             crc32c_by_table(9, bytes + at, size));
}

static void
test_round_trip(void **unused)
{
    uint8_t *const random = noise(BIG, 1);
    uint8_t *const zeroes = calloc(1, BIG);
    uint8_t *const mixed = noise(BIG, 2);
    struct chunk_writer *writer = create("a");

    (void)unused;
    /* Half of it compresses, so that it is expanded in steps. */
    for (size_t i = 0; i < BIG; i += 1000)
        memset(mixed + i, 7, i < BIG / 2 ? 1000 : 10);
    assert_false(exists("a"));
    assert_int_equal(chunks_write(writer, 1, NULL, 0), 0);
    assert_true(exists("a"));
    assert_int_equal(chunks_write(writer, 2, "x", 1), 0);
    assert_int_equal(chunks_write(writer, 3, random, BIG), 0);
    assert_int_equal(chunks_write(writer, 4, zeroes, BIG), 0);
    assert_int_equal(chunks_write(writer, UINT32_MAX, mixed, BIG), 0);
    assert_int_equal(chunks_write(writer, 0, "", 0), 0);
    assert_int_equal(chunks_end(&writer), 0);
    assert_null(writer);
    assert_int_equal(chunks_end(&writer), 0);
    assert_int_equal(files(), 1);

    struct stat st;
    assert_int_equal(stat(in_folder("a"), &st), 0);
    assert_true(st.st_size > BIG && st.st_size < 2 * BIG);
    struct chunk_reader *reader = open_record("a");
    assert_chunk(reader, 1, NULL, 0);
    assert_chunk(reader, 2, "x", 1);
    assert_chunk(reader, 3, random, BIG);
    assert_chunk(reader, 4, zeroes, BIG);
    assert_chunk(reader, UINT32_MAX, mixed, BIG);
    assert_chunk(reader, 0, NULL, 0);
    assert_end(&reader, false);
    chunks_close(&reader);
    free(random);
    free(zeroes);
    free(mixed);
}

static void
test_passed_by(void **unused)
{
    struct chunk_writer *writer = create("a");
    uint64_t at = CHUNKS_FILE_HEADER, from = 0, to = 0;
    uint32_t type = 0;

    (void)unused;
    for (uint32_t i = 1; i <= 5; i++)
        assert_int_equal(chunks_write(writer, i, "12345678", i), 0);
    assert_int_equal(chunks_end(&writer), 0);
    struct chunk_reader *reader = open_record("a");
    for (uint32_t i = 1; i <= 6; i++) {
        from = i == 2 ? at : from;
        to = i == 4 ? at : to;
        assert_true(chunks_peek(reader, &at, &type));
        assert_int_equal(type, i <= 5 ? i : CHUNK_END);
    }
    assert_false(chunks_peek(reader, &at, &type));
    chunks_pass_by(reader, from, to);
    assert_chunk(reader, 1, "1", 1);
    assert_chunk(reader, 4, "1234", 4);
    assert_chunk(reader, 5, "12345", 5);
    assert_end(&reader, false);

    /* A chunk that is passed by is damaged. */
    struct chunk chunk;
    FILE *file = fopen(in_folder("a"), "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, (long)from + CHUNK_HEADER, SEEK_SET), 0);
    assert_int_equal(fputc('x', file), 'x');
    assert_int_equal(fclose(file), 0);
    reader = open_record("a");
    chunks_pass_by(reader, from, to);
    assert_chunk(reader, 1, "1", 1);
    assert_int_equal(chunks_next(reader, &chunk), TALLY_ESYNTAX);
    assert_said("another checksum");
    chunks_close(&reader);
    errors = 0;
}

static void
test_no_chunks(void **unused)
{
    struct chunk_writer *writer = create("a");
    size_t size;

    (void)unused;
    assert_int_equal(chunks_end(&writer), 0);
    struct chunk_reader *reader = open_record("a");
    assert_end(&reader, false);
    /* The layout, byte for byte, on any host. */
    static const uint8_t wanted[] =
        "TALLYREC\1\0\0\0\1\0\0\0"
        "CHNKEND\0\10\0\0\0\0\0\0\0\10\0\0\0\0\0\0\0\0\0\0\0";
    uint8_t *const data = load("a", &size);
    assert_int_equal(size, 56);
    assert_memory_equal(data, wanted, 44);
    assert_memory_equal(data + 48, "\0\0\0\0\0\0\0\0", 8);
    free(data);
}

/* The chunks of a small file: one of each kind of storage. */
static const struct small {
    uint32_t type;
    const char *data;
    size_t size;
} small[] = {
    {1, "abc", 3},
    {2, "", 0},
    {3, "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy",
     69},
    {4, "eight by", 8},
};

static uint8_t *
make_small(size_t *size)
{
    struct chunk_writer *writer = create("small");

    for (size_t i = 0; i < COUNT(small); i++)
        assert_int_equal(
            chunks_write(writer, small[i].type, small[i].data, small[i].size),
            0);
    assert_int_equal(chunks_end(&writer), 0);
    return load("small", size);
}

/* Reads what follows from the small file; each chunk must be right. Returns how
 * many there are; *result is what ended them, *cut whether it is cut. */
static size_t
read_small(const char *name, int *result, bool *cut)
{
    struct chunk_reader *reader = NULL;
    struct chunk chunk;
    size_t count = 0;

    *cut = false;
    *result = chunks_open(in_folder(name), &hear, &reader);
    if (*result != 0)
        return 0;
    while ((*result = chunks_next(reader, &chunk)) > 0) {
        assert_true(count < COUNT(small));
        assert_int_equal(chunk.type, small[count].type);
        assert_int_equal(chunk.size, small[count].size);
        assert_memory_equal(chunk.data, small[count].data, chunk.size);
        count++;
    }
    assert_int_equal(chunks_next(reader, &chunk), *result);
    *cut = chunks_cut(reader);
    chunks_close(&reader);
    return count;
}

static void
test_cut(void **unused)
{
    size_t size, whole = 0, next = CHUNKS_FILE_HEADER;
    uint8_t *const data = make_small(&size);

    (void)unused;
    for (size_t length = 1; length < size; length++) {
        int result;
        bool cut;
        if (whole < COUNT(small) && length >= next + CHUNK_HEADER) {
            const uint64_t end = next + CHUNK_HEADER +
                                 (bytes_get_u64(data + next + 8) + 7) / 8 * 8;
            whole += length == end;
            next = length == end ? length : next;
        }
        make("cut", data, length);
        errors = warnings = 0;
        assert_int_equal(read_small("cut", &result, &cut), whole);
        assert_int_equal(result, 0);
        assert_true(cut);
        assert_int_equal(errors, 0);
        assert_int_equal(warnings, 1);
        assert_said("is cut short: the chunk at byte ");
        assert_said("what comes before that is good");
    }
    assert_int_equal(whole, COUNT(small));
    free(data);
}

static void
test_changed(void **unused)
{
    size_t size;
    uint8_t *const data = make_small(&size);
    const int fd = open(in_folder("small"), O_WRONLY | O_CLOEXEC);

    (void)unused;
    for (size_t at = 0; at < size; at++) {
        for (int change = 1; change < 256; change++) {
            const uint8_t value = (uint8_t)(data[at] ^ change);
            int result;
            bool cut;
            assert_int_equal(pwrite(fd, &value, 1, (off_t)at), 1);
            errors = warnings = 0;
            const size_t count = read_small("small", &result, &cut);
            if (result == 0 && !cut)
                fail_msg("byte %zu may be %d", at, value);
            assert_true(result == 0 || result == TALLY_ESYNTAX);
            assert_int_equal(errors + warnings, 1);
            assert_true(count <= COUNT(small));
        }
        assert_int_equal(pwrite(fd, &data[at], 1, (off_t)at), 1);
    }
    close(fd);
    free(data);
}

/* Computes the checksum of the chunk at `at` anew. */
static void
seal(uint8_t *data, size_t at)
{
    const size_t stored = (size_t)bytes_get_u64(data + at + CHUNK_AT_STORED);

    bytes_put_u32(data + at + CHUNK_AT_CRC,
                  crc32c(crc32c(0, data + at, CHUNK_AT_CRC),
                         data + at + CHUNK_HEADER, stored));
}

/* Headers that fit their checksum and lie all the same. */
static void
test_forged(void **unused)
{
    static const struct {
        int line;
        size_t chunk;
        enum chunk_field field;
        uint64_t value;
        const char *said;
    } rows[] = {
        {__LINE__, 0, CHUNK_AT_SIZE, 2, "two sizes"},
        {__LINE__, 0, CHUNK_AT_FLAGS, 2, "flags that this tally"},
        {__LINE__, 0, CHUNK_AT_FLAGS, 1, "damaged: the chunk at byte 16 "},
        {__LINE__, 0, CHUNK_AT_TYPE, CHUNK_END, "another count"},
        {__LINE__, 0, CHUNK_AT_SIZE, CHUNK_MAX + 1ul, "larger than 1 GiB"},
        {__LINE__, 0, CHUNK_AT_STORED, 1ul << 60, "larger than 1 GiB"},
        {__LINE__, 2, CHUNK_AT_SIZE, 68, "another size"},
        {__LINE__, 2, CHUNK_AT_SIZE, 70, "another size"},
        {__LINE__, 2, CHUNK_AT_SIZE, 0, "another size"},
        {__LINE__, 2, CHUNK_AT_SIZE, CHUNK_MAX, "far too many"},
        {__LINE__, 2, CHUNK_AT_SIZE, CHUNK_FREE, "another size"},
        {__LINE__, 2, CHUNK_AT_SIZE, UINT64_MAX, "larger than 1 GiB"},
        {__LINE__, 2, CHUNK_AT_FLAGS, 0, "two sizes"},
    };
    struct rusage before, after;
    size_t size;
    uint8_t *const data = make_small(&size);
    const size_t places[] = {16, 56, 88};

    (void)unused;
    assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t *const copy = malloc(size);
        const size_t at = places[rows[i].chunk];
        int result;
        bool cut;
        memcpy(copy, data, size);
        if (rows[i].field == CHUNK_AT_SIZE || rows[i].field == CHUNK_AT_STORED)
            bytes_put_u64(copy + at + rows[i].field, rows[i].value);
        else
            bytes_put_u32(copy + at + rows[i].field, (uint32_t)rows[i].value);
        if (rows[i].field != CHUNK_AT_STORED)
            seal(copy, at);
        make("forged", copy, size);
        errors = 0;
        read_small("forged", &result, &cut);
        if (result != TALLY_ESYNTAX || errors != 1)
            fail_msg("row at line %d: %d", rows[i].line, result);
        assert_said(rows[i].said);
        free(copy);
    }
    assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
    assert_true(after.ru_maxrss - before.ru_maxrss < 65536); /* KiB */
    free(data);
}

/* More after the end, and chunks that are not there. */
static void
test_spliced(void **unused)
{
    size_t size;
    int result;
    bool cut;
    uint8_t *const data = make_small(&size);
    uint8_t *const more = malloc(2 * size);

    (void)unused;
    memcpy(more, data, size);
    memcpy(more + size, data, size);
    make("a", more, size + 1);
    assert_int_equal(read_small("a", &result, &cut), COUNT(small));
    assert_int_equal(result, TALLY_ESYNTAX);
    assert_said("more bytes follow");
    /* Without its last chunk, whose eight bytes need no padding. */
    const size_t rest = size - 40 - 40;
    memcpy(more, data, rest);
    memcpy(more + rest, data + size - 40, 40);
    make("a", more, rest + 40);
    assert_int_equal(read_small("a", &result, &cut), COUNT(small) - 1);
    assert_int_equal(result, TALLY_ESYNTAX);
    assert_said("another count");
    free(more);
    free(data);
}

static void
assert_refused(const char *path, int error, const char *said)
{
    struct chunk_reader *reader = NULL;

    errors = warnings = 0;
    assert_int_equal(chunks_open(path, &hear, &reader), error);
    assert_null(reader);
    assert_int_equal(errors, 1);
    assert_int_equal(warnings, 0);
    assert_null(strchr(message, '\n'));
    assert_said(said);
}

static void
test_foreign(void **unused)
{
    size_t size;
    uint8_t *const data = make_small(&size);

    (void)unused;
    make("a", "PERFILE2 and more of it", 23);
    assert_refused(in_folder("a"), TALLY_ESYNTAX, "is not a record of tally");
    make("a", "x", 1);
    assert_refused(in_folder("a"), TALLY_ESYNTAX, "is not a record of tally");
    make("a", "", 0);
    assert_refused(in_folder("a"), TALLY_ESYNTAX, "it is empty");
    data[8] = 2;
    make("a", data, size);
    assert_refused(in_folder("a"), TALLY_ESYNTAX,
                   "is of version 2 (at byte 8), this tally reads version 1: "
                   "use a newer tally");
    data[8] = 0;
    make("a", data, size);
    assert_refused(in_folder("a"), TALLY_ESYNTAX, "is of version 0");
    data[8] = 1;
    data[12] = 9;
    make("a", data, size);
    assert_refused(in_folder("a"), TALLY_ESYNTAX, "of kind 9");
    assert_refused(in_folder("none"), TALLY_EIO, "No such file");
    assert_refused(folder, TALLY_EIO, "it is a folder");
    assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
    assert_refused(in_folder("pipe"), TALLY_EIO, "it is a pipe");
    assert_refused("/dev/null", TALLY_EIO, "it is a device");
    free(data);
}

static void
test_not_writable(void **unused)
{
    struct chunk_writer *writer = NULL;

    (void)unused;
    assert_int_equal(chunks_create("/dev/full", &hear, &writer), TALLY_EIO);
    assert_said("cannot write /dev/full: No space left on device");
    assert_int_equal(chunks_create(folder, &hear, &writer), TALLY_EIO);
    assert_said("Is a directory");
    assert_int_equal(chunks_create(in_folder("no/a"), &hear, &writer),
                     TALLY_EIO);
    assert_said("No such file");
    assert_null(writer);
    assert_int_equal(errors, 3);
    chunks_abandon(&writer);
}

/* A file that may not grow further: the error stays, and so do the chunks. */
static void
test_disk_full(void **unused)
{
    struct chunk_writer *writer = create("a");
    uint8_t *const random = noise(100000, 3);
    struct rlimit was, limit;

    (void)unused;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    limit = was;
    limit.rlim_cur = 150000;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    const int first = chunks_write(writer, 1, random, 100000);
    const int second = chunks_write(writer, 2, random, 100000);
    const int third = chunks_write(writer, 3, "x", 1);
    const int end = chunks_end(&writer);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(first, 0);
    assert_int_equal(second, TALLY_EIO);
    assert_int_equal(third, TALLY_EIO);
    assert_int_equal(end, TALLY_EIO);
    assert_int_equal(errors, 1);
    assert_said("/a: File too large");
    errors = 0;
    struct chunk_reader *reader = open_record("a");
    assert_chunk(reader, 1, random, 100000);
    assert_end(&reader, true);
    free(random);
}

static void
test_too_large(void **unused)
{
    struct chunk_writer *writer = create("a");

    (void)unused;
    assert_int_equal(chunks_write(writer, 1, "", CHUNK_MAX + (size_t)1),
                     TALLY_ERANGE);
    assert_int_equal(chunks_write(writer, 1, "", 0), TALLY_ERANGE);
    assert_int_equal(errors, 1);
    assert_int_equal(chunks_end(&writer), TALLY_ERANGE);
    assert_int_equal(files(), 0);
}

static void
write_record(const char *name, const char *text)
{
    struct chunk_writer *writer = create(name);

    assert_int_equal(chunks_write(writer, 1, text, strlen(text)), 0);
    assert_int_equal(chunks_end(&writer), 0);
}

static void
assert_record(const char *name, const char *text)
{
    struct chunk_reader *reader = open_record(name);

    assert_chunk(reader, 1, text, strlen(text));
    assert_end(&reader, false);
}

/* Which file is where, when a record is written again. */
static void
test_old(void **unused)
{
    (void)unused;
    write_record("a", "first");
    assert_false(exists("a.old"));
    write_record("a", "second");
    assert_record("a", "second");
    assert_record("a.old", "first");
    write_record("a", "third");
    assert_record("a", "third");
    assert_record("a.old", "second");
    assert_int_equal(files(), 2);

    /* A run that cannot start changes nothing. */
    struct chunk_writer *writer = create("a");
    assert_record("a", "third");
    chunks_abandon(&writer);
    assert_null(writer);
    assert_record("a", "third");
    assert_record("a.old", "second");
    assert_int_equal(files(), 2);

    /* A run that leaves nothing worth keeping leaves the record before. */
    writer = create("a");
    assert_int_equal(chunks_write(writer, 1, "x", 1), 0);
    assert_record("a.old", "third");
    chunks_abandon(&writer);
    assert_record("a", "third");
    assert_int_equal(files(), 1);
    writer = create("b");
    assert_int_equal(chunks_write(writer, 1, "x", 1), 0);
    chunks_abandon(&writer);
    assert_int_equal(files(), 1);
}

/* Another process has written a record at the path meanwhile. */
static void
test_two_writers(void **unused)
{
    struct chunk_writer *writer = create("a");

    (void)unused;
    assert_int_equal(chunks_write(writer, 1, "x", 1), 0);
    write_record("a", "other");
    chunks_abandon(&writer);
    assert_record("a", "other");
}

/* No file but a record is lost. */
static void
test_foreign_old(void **unused)
{
    struct chunk_writer *writer = NULL;
    size_t size;

    (void)unused;
    make("a", "notes", 5);
    write_record("a", "first");
    assert_record("a", "first");
    uint8_t *const data = load("a.old", &size);
    assert_int_equal(size, 5);
    assert_memory_equal(data, "notes", 5);
    free(data);
    assert_int_equal(chunks_create(in_folder("a"), &hear, &writer), TALLY_EIO);
    assert_said("a.old, which is no record of tally");
    errors = 0;
    assert_record("a", "first");
    assert_int_equal(unlink(in_folder("a.old")), 0);
    assert_int_equal(mkdir(in_folder("a.old"), 0700), 0);
    assert_int_equal(chunks_create(in_folder("a"), &hear, &writer), TALLY_EIO);
    assert_int_equal(rmdir(in_folder("a.old")), 0);
    /* Without a file at the path, none becomes the old one. */
    assert_int_equal(rename(in_folder("a"), in_folder("b")), 0);
    make("a.old", "notes", 5);
    errors = 0;
    write_record("a", "second");
    assert_record("a", "second");
    assert_int_equal(files(), 3);
}

/* A link stays a link; what it leads to is replaced. */
static void
test_link(void **unused)
{
    struct stat st;

    (void)unused;
    write_record("b", "first");
    assert_int_equal(symlink("b", in_folder("a")), 0);
    write_record("a", "second");
    assert_int_equal(lstat(in_folder("a"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_record("b", "second");
    assert_record("b.old", "first");
}

/* A folder that may not be written has no room for PATH.old. */
static void
test_closed_folder(void **unused)
{
    int status;

    (void)unused;
    write_record("a", "first");
    assert_int_equal(chmod(in_folder("a"), 0666), 0);
    assert_int_equal(chmod(folder, 0555), 0);
    const pid_t child = fork();
    if (child == 0) {
        struct chunk_writer *writer = NULL;
        if (geteuid() == 0 && seteuid(NOBODY) != 0)
            _exit(2);
        const int error = chunks_create(in_folder("a"), &hear, &writer);
        _exit(error != TALLY_EIO || errors != 1 ||
              strstr(message, "could not be kept") == NULL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_record("a", "first");
}

/* What is no file is written from its start, to its end. */
static void
test_descriptor(void **unused)
{
    struct chunk_writer *writer = NULL;
    char path[64], got[128];
    int ends[2];

    (void)unused;
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof(path), "/dev/fd/%d", ends[1]);
    assert_int_equal(chunks_create(path, &hear, &writer), 0);
    assert_int_equal(chunks_write(writer, 1, "x", 1), 0);
    assert_int_equal(chunks_end(&writer), 0);
    assert_int_equal(read(ends[0], got, sizeof(got)), 16 + 40 + 40);
    assert_memory_equal(got, CHUNKS_MAGIC, 8);
    close(ends[0]);
    close(ends[1]);
}

/* Returns the size of the chunk that has the number. */
static size_t
size_of(unsigned number)
{
    return number * 7919u % 60000;
}

/* Writes chunks until killed, and counts those that are written. */
static void
write_on(atomic_uint *written)
{
    struct chunk_writer *writer = NULL;
    uint8_t *const random = noise(60000, 5);

    if (chunks_create(in_folder("a"), NULL, &writer) != 0)
        _exit(1);
    for (unsigned i = 0; i < 100; i++) {
        if (chunks_write(writer, i, random, size_of(i)) != 0)
            _exit(1);
        atomic_store(written, i + 1);
    }
    pause();
    _exit(1);
}

static void
test_killed(void **unused)
{
    atomic_uint *const written =
        mmap(NULL, sizeof(*written), PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint8_t *const random = noise(60000, 5);

    (void)unused;
    assert_true(written != MAP_FAILED);
    for (unsigned wanted = 1; wanted <= 100; wanted += 11) {
        struct chunk chunk;
        unsigned count = 0;
        int status;
        atomic_store(written, 0);
        const pid_t child = fork();
        if (child == 0)
            write_on(written);
        while (atomic_load(written) < wanted)
            usleep(100);
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        errors = warnings = 0;
        struct chunk_reader *reader = open_record("a");
        for (; chunks_next(reader, &chunk) > 0; count++) {
            assert_int_equal(chunk.type, count);
            assert_int_equal(chunk.size, size_of(count));
            assert_memory_equal(chunk.data, random, chunk.size);
        }
        assert_true(chunks_cut(reader));
        assert_true(count >= atomic_load(written));
        assert_int_equal(errors, 0);
        assert_int_equal(warnings, 1);
        chunks_close(&reader);
    }
    free(random);
    munmap(written, sizeof(*written));
}

/* A file that grows is read as long as it was. */
static void
test_growing(void **unused)
{
    struct chunk_writer *writer = create("a");
    struct chunk chunk;

    (void)unused;
    assert_int_equal(chunks_write(writer, 1, "x", 1), 0);
    struct chunk_reader *reader = open_record("a");
    assert_int_equal(chunks_write(writer, 2, "y", 1), 0);
    assert_chunk(reader, 1, "x", 1);
    assert_end(&reader, true);
    reader = open_record("a");
    /* One that shrinks is cut. */
    assert_int_equal(truncate(in_folder("a"), 70), 0);
    assert_int_equal(chunks_next(reader, &chunk), 1);
    assert_int_equal(chunks_next(reader, &chunk), 0);
    assert_true(chunks_cut(reader));
    chunks_close(&reader);
    chunks_abandon(&writer);
}

/* The data of a chunk stay when they are taken, whatever is read then; those
 * of a small chunk take no memory of a large one before. */
static void
test_taken(void **unused)
{
    struct chunk_writer *writer = create("a");
    char *const large = calloc(1, BIG);
    uint8_t *taken[3];
    struct chunk chunk;

    (void)unused;
    memset(large, 'z', BIG);
    assert_int_equal(chunks_write(writer, 1, large, BIG), 0);
    assert_int_equal(chunks_write(writer, 2, "stored", 6), 0);
    assert_int_equal(chunks_write(writer, 3, NULL, 0), 0);
    assert_int_equal(chunks_write(writer, 4, large, 1000), 0);
    assert_int_equal(chunks_end(&writer), 0);
    struct chunk_reader *reader = open_record("a");
    for (size_t i = 0; i < COUNT(taken); i++) {
        assert_int_equal(chunks_next(reader, &chunk), 1);
        assert_int_equal(chunks_take(reader, &chunk, &taken[i]), 0);
        assert_ptr_equal(chunk.data, taken[i]);
    }
    assert_chunk(reader, 4, large, 1000);
    assert_end(&reader, false);
    assert_memory_equal(taken[0], large, BIG);
    assert_memory_equal(taken[1], "stored", 6);
    for (size_t i = 0; i < COUNT(taken); i++)
        free(taken[i]);
    free(large);
}

static const uint64_t numbers[] = {
    0,          1,          0x7f,       0x80,           0x3fff,
    0x4000,     UINT8_MAX,  UINT16_MAX, INT32_MAX,      UINT32_MAX,
    1ull << 32, 1ull << 62, 1ull << 63, UINT64_MAX - 1, UINT64_MAX,
};

static void
test_bytes(void **unused)
{
    struct bytes b = {0};

    (void)unused;
    for (size_t i = 0; i < COUNT(numbers); i++) {
        bytes_append_u8(&b, (uint8_t)numbers[i]);
        bytes_append_u32(&b, (uint32_t)numbers[i]);
        bytes_append_u64(&b, numbers[i]);
        bytes_append_varint(&b, numbers[i]);
        bytes_append_signed(&b, (int64_t)numbers[i]);
        bytes_append_signed(&b, (int64_t)-numbers[i]);
        bytes_append_string(&b, "a\0b", i % 4);
    }
    bytes_append_string(&b, NULL, 0);
    assert_false(b.failed);
    struct cursor c = cursor_of(b.data, b.size);
    size_t length;
    for (size_t i = 0; i < COUNT(numbers); i++) {
        assert_int_equal(cursor_u8(&c), (uint8_t)numbers[i]);
        assert_int_equal(cursor_u32(&c), (uint32_t)numbers[i]);
        assert_true(cursor_u64(&c) == numbers[i]);
        assert_true(cursor_varint(&c) == numbers[i]);
        assert_true(cursor_signed(&c) == (int64_t)numbers[i]);
        assert_true(cursor_signed(&c) == (int64_t)-numbers[i]);
        const char *const text = cursor_string(&c, &length);
        assert_int_equal(length, i % 4);
        assert_memory_equal(text, "a\0b", length);
    }
    assert_non_null(cursor_string(&c, &length));
    assert_int_equal(cursor_left(&c), 0);
    assert_false(c.failed);
    assert_int_equal(cursor_u8(&c), 0);
    assert_true(c.failed);
    bytes_clear(&b);
    assert_int_equal(b.size, 0);
    bytes_finish(&b);
    assert_null(b.data);
}

static void
test_encodings(void **unused)
{
    static const struct {
        int line;
        bool is_signed;
        int64_t value;
        const char *bytes;
        size_t size;
    } rows[] = {
        {__LINE__, false, 0, "\0", 1},
        {__LINE__, false, 300, "\xac\x02", 2},
        {__LINE__, false, -1, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", 10},
        {__LINE__, true, -1, "\1", 1},
        {__LINE__, true, 1, "\2", 1},
        {__LINE__, true, -64, "\x7f", 1},
        {__LINE__, true, 64, "\x80\1", 2},
        {__LINE__, true, INT64_MAX, "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\1",
         10},
        {__LINE__, true, INT64_MIN, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\1",
         10},
    };
    struct bytes b = {0};

    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bytes_clear(&b);
        if (rows[i].is_signed)
            bytes_append_signed(&b, rows[i].value);
        else
            bytes_append_varint(&b, (uint64_t)rows[i].value);
        if (b.size != rows[i].size ||
            memcmp(b.data, rows[i].bytes, b.size) != 0)
            fail_msg("row at line %d", rows[i].line);
    }
    bytes_clear(&b);
    bytes_append_u32(&b, 0x01020304);
    bytes_append_u64(&b, 0x0102030405060708);
    assert_memory_equal(b.data, "\4\3\2\1\10\7\6\5\4\3\2\1", 12);
    /* More than there can be. */
    assert_null(bytes_extend(&b, SIZE_MAX - 4));
    assert_true(b.failed);
    bytes_append_u8(&b, 1);
    assert_int_equal(b.size, 12);
    bytes_finish(&b);
}

/* Beyond the end nothing is read; ASan watches the bytes there. */
/* Passes by values one by one: the slow twin of cursor_pass_values(). */
static bool
pass_slowly(struct cursor *c, uint64_t rows)
{
    uint64_t row = 0;

    for (uint64_t left = cursor_varint(c); left > 0; left--) {
        const uint64_t step = cursor_varint(c);
        cursor_varint(c);
        if (c->failed || step >= rows - row)
            return false;
        row += step + 1;
    }
    return !c->failed;
}

/* Values of one byte and of more, in all orders, whole and cut off, and with a
 * row too few. */
static void
test_pass_values(void **unused)
{
    uint64_t random = random_seed();

    (void)unused;
    for (int round = 0; round < 2000; round++) {
        const uint64_t count = random_below(&random, 40);
        const uint64_t large = random_below(&random, 9); /* of 8 */
        struct bytes b = {0};
        uint64_t rows = 0;
        bytes_append_varint(&b, count);
        for (uint64_t i = 0; i < count; i++) {
            const bool is_large = random_below(&random, 8) < large;
            const uint64_t step = random_below(&random, is_large ? 300 : 128);
            bytes_append_varint(&b, step);
            bytes_append_varint(
                &b, random_below(&random, is_large ? UINT64_MAX : 128));
            rows += step + 1;
        }
        for (int cut = 0; cut < 3; cut++) {
            const size_t size =
                b.size - (cut == 2 ? random_below(&random, b.size) : 0);
            const uint64_t have = rows - (cut == 1 && rows > 0);
            struct cursor slow = cursor_of(b.data, size), fast = slow;
            const bool passed = pass_slowly(&slow, have);
            assert_int_equal(cursor_pass_values(&fast, have), passed);
            if (passed)
                assert_ptr_equal(fast.at, slow.at);
        }
        bytes_finish(&b);
    }
}

static void
test_cursor_end(void **unused)
{
    static const char *const bad[] = {
        "\x80",                                       /* goes on */
        "\xff\xff\xff\xff\xff\xff\xff\xff\xff\2",     /* 65 bits */
        "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\1", /* 11 bytes */
        "\5abcd",
        "\xff\xff\xff\xff\xff\xff\xff\xff\xff\1abc",
    };
    struct cursor c = cursor_of(NULL, 0);
    size_t length;

    (void)unused;
    assert_non_null(cursor_take(&c, 0));
    assert_int_equal(cursor_u64(&c), 0);
    assert_true(c.failed);
    for (size_t size = 0; size < 8; size++) {
        uint8_t *const data = noise(size, 9);
        uint8_t *const exact = malloc(size > 0 ? size : 1);
        memcpy(exact, data, size);
        c = cursor_of(exact, size);
        assert_int_equal(cursor_u64(&c), 0);
        assert_true(c.failed);
        assert_int_equal(cursor_left(&c), 0);
        c = cursor_of(exact, size);
        cursor_u32(&c);
        assert_int_equal(c.failed, size < 4);
        c = cursor_of(exact, size);
        assert_null(cursor_take(&c, UINT64_MAX));
        free(exact);
        free(data);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        c = cursor_of((const uint8_t *)bad[i], strlen(bad[i]));
        assert_null(cursor_string(&c, &length));
        assert_int_equal(length, 0);
        assert_true(c.failed);
        assert_int_equal(cursor_varint(&c), 0);
        assert_int_equal(cursor_left(&c), 0);
    }
    /* Zeroes that need not be there are no failure. */
    c = cursor_of((const uint8_t *)"\x85\x80\0", 3);
    assert_int_equal(cursor_varint(&c), 5);
    assert_false(c.failed);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crc),
        CASE(test_round_trip),
        CASE(test_passed_by),
        CASE(test_no_chunks),
        CASE(test_cut),
        CASE(test_changed),
        CASE(test_forged),
        CASE(test_spliced),
        CASE(test_foreign),
        CASE(test_not_writable),
        CASE(test_disk_full),
        CASE(test_too_large),
        CASE(test_old),
        CASE(test_two_writers),
        CASE(test_foreign_old),
        CASE(test_link),
        CASE(test_closed_folder),
        CASE(test_descriptor),
        CASE(test_killed),
        CASE(test_growing),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_encodings),
        cmocka_unit_test(test_pass_values),
        CASE(test_taken),
        cmocka_unit_test(test_cursor_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
