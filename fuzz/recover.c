/* SPDX-License-Identifier: MIT */
/*
 * The file of a profiler's buffers, damaged: two logs of calls and a text, over
 * which the input lays patches of three bytes for the place, one for the length
 * and then the bytes; of the first byte bit 0 is the other order of bytes, bit
 * 1 cuts the file at the first patch. What is read of it reads back as a dump,
 * and its text as a table of places.
 */
#include "profile/call_file.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "profile/call_table.h"
#include "profile/dump.h"

#define LOGS 2
#define SIZE (CALL_FILE_LOGS + LOGS * CALL_FILE_PAGE)
#define WORDS (SIZE / sizeof(uint64_t))

static const char text[] = "1a2b3c main.c:7:main\n";

/* Of five records, after eight calls. */
static void
fill_log(void *memory, uint64_t cpu)
{
    const uint64_t words[] = {cpu, 77};
    const struct call_selection selection = {1, 2, 3};
    struct call_log log;

    call_log_init(&log, memory, cpu, 5, 2);
    call_log_select(&log, &selection);
    for (uint64_t i = 0; i < 8; i++)
        call_log_add(&log, &(struct call){.cycles = 100 * i,
                                          .pc = 0x1000,
                                          .caller = 0x1a2b3c,
                                          .hi = i,
                                          .lo = 2 * i,
                                          .call = i == 0 ? DUMP_CALL_START
                                                         : DUMP_CALL_UPDATE,
                                          .words = words,
                                          .word_count = 2});
}

static void
fill_image(uint64_t *image)
{
    char *const bytes = (char *)image;

    image[CALL_FILE_IS] = CALL_FILE_MAGIC;
    image[CALL_FILE_VERSIONED] = CALL_FILE_VERSION;
    image[CALL_FILE_STRIDE] = CALL_FILE_PAGE;
    image[CALL_FILE_COUNT] = LOGS;
    image[CALL_FILE_USED] = sizeof(text) - 1;
    memcpy(bytes + CALL_FILE_TEXT, text, sizeof(text) - 1);
    for (uint64_t i = 0; i < LOGS; i++)
        fill_log(bytes + CALL_FILE_LOGS + i * CALL_FILE_PAGE, i);
}

/* The file in either order of bytes; each input leaves it as it was. */
static uint64_t images[2][WORDS];
static struct {
    int fd;
    char *bytes;
} files[2];

static void
make_file(unsigned order)
{
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);

    fill_image(images[order]);
    if (order == 1)
        call_log_swap(images[order], WORDS);
    fuzz_check(fd >= 0 && write(fd, images[order], SIZE) == SIZE);
    files[order].fd = fd;
    files[order].bytes =
        mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    fuzz_check(files[order].bytes != MAP_FAILED);
}

/* Writes the patches, or what was there before. Returns the place of the first
 * patch, or the size. */
static size_t
patch(unsigned order, const uint8_t *data, size_t size, bool back)
{
    const char *const before = (const char *)images[order];
    const size_t flip = order == 1 ? sizeof(uint64_t) - 1 : 0;
    size_t first = SIZE;

    while (size > 4) {
        const size_t at =
            ((size_t)data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16) %
            SIZE;
        size_t count = data[3] < size - 4 ? data[3] : size - 4;
        count = count < SIZE - at ? count : SIZE - at;
        for (size_t i = 0; i < count; i++) {
            const size_t to = (at + i) ^ flip;
            files[order].bytes[to] = back ? before[to] : (char)data[4 + i];
        }
        first = first == SIZE ? at : first;
        data += 4 + count;
        size -= 4 + count;
    }
    return first;
}

/* Cuts the file, or gives it its end again. */
static void
cut(unsigned order, size_t length, bool back)
{
    if (length == SIZE)
        return;
    fuzz_check(ftruncate(files[order].fd, back ? SIZE : (off_t)length) == 0);
    if (back)
        memcpy(files[order].bytes + length,
               (const char *)images[order] + length, SIZE - length);
}

/* No line of what a log holds is strange. */
static void
read_records(struct call_image *image)
{
    struct dump_troubles troubles = {0};
    struct dump_reader reader;
    struct dump_record record;

    fuzz_check(
        dump_reader_init(&reader, "", call_image_fill, image, &troubles) == 0);
    while (dump_next(&reader, &record) > 0) {
        char line[DUMP_LINE_SIZE];
        fuzz_check(record.word_count <= DUMP_WORDS);
        fuzz_check(dump_write_record(DUMP_FORM_TABLE, &record, line) > 0);
    }
    dump_reader_finish(&reader);
}

static void
read_places(const struct call_image *image)
{
    struct call_table places = {0};

    if (image->text_size == 0)
        return;
    FILE *const file =
        fmemopen((void *)(uintptr_t)image->text, image->text_size, "r");
    fuzz_check(file != NULL);
    fuzz_check(call_table_read(file, &places) == 0);
    for (size_t i = 1; i < places.count; i++)
        fuzz_check(places.places[i - 1].caller <= places.places[i].caller);
    call_table_finish(&places);
    fclose(file);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct call_image read = {0};
    const uint8_t how = size > 0 ? data[0] : 0;
    const unsigned order = how & 1;

    if (files[order].bytes == NULL)
        make_file(order);
    data += size > 0;
    size -= size > 0;
    const size_t first = patch(order, data, size, false);
    const size_t length = how & 2 ? first : SIZE;
    cut(order, length, false);
    fuzz_check(lseek(files[order].fd, 0, SEEK_SET) == 0);
    if (call_image_read(files[order].fd, &read) == 0) {
        read_records(&read);
        read_places(&read);
        call_image_finish(&read);
    }
    cut(order, length, true);
    patch(order, data, size, true);
    return 0;
}
