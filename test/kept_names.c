/* SPDX-License-Identifier: MIT */
/*
 * The names that a record keeps beside those of the file: the test's own
 * program, by its symbols and lines.
 */
#include "record/kept_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "check.h"
#include "names/names.h"
#include "ref/random.h"

#define OFFSETS_MOST 4096u
#define FRAMES 64u

static const uint8_t id[] = {1, 2, 0, 3};

/* The first bytes of the program's functions, and those behind. */
struct places {
    uint64_t offsets[OFFSETS_MOST];
    size_t count;
};

static void
take(void *user, const char *function, const char *mangled, uint64_t offset,
     uint64_t size)
{
    struct places *const p = user;

    (void)function, (void)mangled;
    for (uint64_t i = 0; i < size && i < 40 && p->count < OFFSETS_MOST; i += 7)
        if (p->count == 0 || offset + i > p->offsets[p->count - 1])
            p->offsets[p->count++] = offset + i;
}

static struct names *
open_names(struct places *places, unsigned *file)
{
    struct names *names;

    memset(places, 0, sizeof(*places));
    assert_int_equal(names_create(NULL, NULL, &names), 0);
    assert_int_equal(names_add(names, "/proc/self/exe", NULL, 0, file), 0);
    names_each_function(names, *file, take, places);
    assert_true(places->count > 20);
    return names;
}

static void
check_text(const struct kept_names *kept, uint32_t number, const char *wanted)
{
    assert_true(number < kept->text_count);
    assert_string_equal(kept->texts[number], wanted != NULL ? wanted : "");
}

/* Each place has the names that the file has. */
static void
test_find(void **unused)
{
    static struct places places;
    struct name_frame frames[FRAMES];
    struct bytes bytes = {0};
    struct kept_names kept;
    unsigned file;
    size_t found = 0;

    (void)unused;
    struct names *const names = open_names(&places, &file);
    assert_int_equal(kept_names_append(&bytes, "/a b", id, sizeof(id), names,
                                       file, places.offsets, places.count),
                     0);
    struct cursor cursor = cursor_of(bytes.data, bytes.size);
    assert_int_equal(kept_names_read(&cursor, &kept), 0);
    assert_string_equal(kept.path, "/a b");
    assert_int_equal(kept.build_id_size, sizeof(id));
    assert_memory_equal(kept.build_id, id, sizeof(id));
    for (size_t i = 0; i < places.count; i++) {
        const uint64_t at = places.offsets[i];
        const size_t count = names_find(names, file, at, frames, FRAMES);
        const struct kept_run *const run = kept_names_find(&kept, at);
        assert_non_null(run);
        assert_in_range(at, run->from, run->until - 1);
        assert_int_equal(run->file_address + (at - run->from),
                         names_address(names, file, at));
        assert_int_equal(run->frame_count, count);
        found += count > 0;
        for (size_t k = 0; k < count; k++) {
            const struct kept_frame *f = &kept.frames[run->first_frame + k];
            check_text(&kept, f->function, frames[k].function);
            check_text(&kept, f->mangled, frames[k].mangled);
            check_text(&kept, f->file, frames[k].file);
            assert_int_equal(f->line, frames[k].line);
            assert_int_equal(f->function_line, frames[k].function_line);
        }
        if (count > 0)
            assert_int_equal(run->function_offset,
                             frames[count - 1].function_offset);
    }
    assert_true(found > 20);
    assert_null(kept_names_find(&kept, places.offsets[0] - 1));
    kept_names_finish(&kept);
    bytes_finish(&bytes);
    names_destroy(names);
}

/* Reads bytes in memory of just their size, so that a sanitizer sees what is
 * read behind. Returns kept_names_read()'s result. */
static int
read_copy(const uint8_t *data, size_t size)
{
    uint8_t *const copy = malloc(size + 1);
    struct kept_names kept;

    assert_non_null(copy);
    memcpy(copy, data, size);
    struct cursor cursor = cursor_of(copy, size);
    const int error = kept_names_read(&cursor, &kept);
    for (size_t i = 0; error == 0 && i < kept.run_count; i++) {
        const struct kept_run *const run = &kept.runs[i];
        assert_true(run->from < run->until);
        assert_true(i == 0 || run->from >= kept.runs[i - 1].until);
        assert_true(run->first_frame + run->frame_count <= kept.frame_count);
    }
    for (size_t i = 0; error == 0 && i < kept.frame_count; i++) {
        assert_true(kept.frames[i].function < kept.text_count);
        assert_true(kept.frames[i].mangled < kept.text_count);
        assert_true(kept.frames[i].file < kept.text_count);
    }
    kept_names_finish(&kept);
    free(copy);
    return error;
}

/* Bytes that are cut short are refused, and changed ones make no names that
 * lead elsewhere. */
static void
test_damaged(void **unused)
{
    static struct places places;
    struct bytes bytes = {0};
    uint64_t random = random_seed();
    unsigned file, refused = 0;

    (void)unused;
    struct names *const names = open_names(&places, &file);
    assert_int_equal(kept_names_append(&bytes, "/a", id, sizeof(id), names,
                                       file, places.offsets, 20),
                     0);
    for (size_t size = 0; size < bytes.size; size++)
        assert_int_equal(read_copy(bytes.data, size), TALLY_ESYNTAX);
    for (unsigned i = 0; i < 4000; i++) {
        uint8_t *const at = bytes.data + random_below(&random, bytes.size);
        const uint8_t before = *at;
        *at = (uint8_t)random_below(&random, 256);
        refused += read_copy(bytes.data, bytes.size) != 0;
        *at = before;
    }
    assert_in_range(refused, 1, 3999);
    assert_int_equal(read_copy(bytes.data, bytes.size), 0);
    bytes_append_u8(&bytes, 0); /* a byte too many */
    assert_int_equal(read_copy(bytes.data, bytes.size), TALLY_ESYNTAX);
    bytes_finish(&bytes);
    names_destroy(names);
}

/* Numbers that ask for what the bytes do not have. */
static void
test_forged(void **unused)
{
    static const struct {
        int line;
        uint8_t bytes[24];
        size_t size;
    } rows[] = {
        {__LINE__, {0, 0, 0}, 3},                      /* no empty text */
        {__LINE__, {0, 0, 0xff, 0xff, 0xff, 0x7f}, 6}, /* texts */
        {__LINE__, {0, 0, 1, 0xff, 0xff, 0x7f}, 6},    /* runs */
        {__LINE__, {0, 0, 1, 1, 5, 0, 0, 0}, 8},       /* of no byte */
        {__LINE__, {0, 0, 1, 1, 5, 1, 4, 0}, 8},       /* flags */
        {__LINE__, {0, 0, 1, 1, 5, 1, 0, 65}, 8},      /* frames */
        {__LINE__, {0, 0, 1, 1, 5, 1, 0, 1, 1, 0, 0, 0, 0}, 13}, /* texts */
    };
    static const uint8_t good[] = {0, 0, 1, 1, 5, 1, 0, 1, 0, 0, 0, 0, 0};

    (void)unused;
    assert_int_equal(read_copy(good, sizeof(good)), 0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (read_copy(rows[i].bytes, rows[i].size) != TALLY_ESYNTAX)
            fail_msg("line %d: forged bytes are believed", rows[i].line);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_forged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
