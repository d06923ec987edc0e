/* SPDX-License-Identifier: MIT */
/* Names of code that a program made: perf's maps and jitdumps made here. */
#include "record/made_code.h"

#include <byteswap.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/path.h"

/* A jitdump that grows. */
struct file {
    unsigned char data[8192];
    size_t size;
    bool swap;
};

static void
put32(struct file *f, uint32_t value)
{
    const uint32_t is = f->swap ? bswap_32(value) : value;

    memcpy(f->data + f->size, &is, sizeof(is));
    f->size += sizeof(is);
}

static void
put64(struct file *f, uint64_t value)
{
    const uint64_t is = f->swap ? bswap_64(value) : value;

    memcpy(f->data + f->size, &is, sizeof(is));
    f->size += sizeof(is);
}

static void
put_bytes(struct file *f, const void *data, size_t size)
{
    memcpy(f->data + f->size, data, size);
    f->size += size;
}

static void
put_header(struct file *f, bool swap)
{
    *f = (struct file){.swap = swap};
    put32(f, 0x4a695444);
    put32(f, 1);
    put32(f, 40);
    put32(f, 62);
    put32(f, 0);
    put32(f, 1234);
    put64(f, 0);
    put64(f, 0);
}

static void
put_prefix(struct file *f, uint32_t kind, size_t size)
{
    put32(f, kind);
    put32(f, (uint32_t)(16 + size));
    put64(f, 0);
}

static void
put_load(struct file *f, uint64_t at, const char *name, const char *code)
{
    put_prefix(f, 0, 40 + strlen(name) + 1 + strlen(code));
    put32(f, 1234);
    put32(f, 1234);
    put64(f, at);
    put64(f, at);
    put64(f, strlen(code));
    put64(f, 0);
    put_bytes(f, name, strlen(name) + 1);
    put_bytes(f, code, strlen(code));
}

static void
put_move(struct file *f, uint64_t from, uint64_t to, uint64_t size)
{
    put_prefix(f, 1, 48);
    put64(f, 0);
    put64(f, to);
    put64(f, from);
    put64(f, to);
    put64(f, size);
    put64(f, 0);
}

/* Two lines, 4 bytes apart, the second first. */
static void
put_lines(struct file *f, uint64_t at, const char *name, uint32_t line)
{
    put_prefix(f, 2, 16 + 16 + strlen(name) + 1 + 16 + 2);
    put64(f, at);
    put64(f, 2);
    put64(f, at + 4);
    put32(f, line + 1);
    put32(f, 0);
    put_bytes(f, name, strlen(name) + 1);
    put64(f, at);
    put32(f, line);
    put32(f, 0);
    put_bytes(f, "\xff", 2);
}

static void
read_dump(struct file *f, size_t size, struct made_code *m)
{
    FILE *file = fmemopen(f->data, size, "r");

    assert_non_null(file);
    made_code_init(m);
    made_code_read_dump(file, m);
    fclose(file);
    made_code_index(m);
}

/* Returns the name of the code at an address, where `code` is at `block`. */
static const char *
name_at(const struct made_code *m, uint64_t address, uint64_t block,
        const char *code)
{
    const struct made_code_row *row =
        made_code_find(m, address, block, (const uint8_t *)code, strlen(code));

    return row != NULL ? row->name : "";
}

static void
test_dump(void **unused)
{
    (void)unused;
    for (int swap = 0; swap < 2; swap++) {
        struct made_code m;
        struct file f;

        put_header(&f, swap);
        put_lines(&f, 0x1000, "a.src", 10);
        put_load(&f, 0x1000, "old", "abcdefgh");
        put_prefix(&f, 77, 8); /* a kind of a later version */
        put64(&f, 0);
        put_lines(&f, 0x1000, "b.src", 20);
        put_load(&f, 0x1000, "new", "abxdefgh");
        put_lines(&f, 0x9000, "lost.src", 1); /* of no code */
        put_load(&f, 0x2000, "moved", "qrst");
        put_move(&f, 0x2000, 0x3000, 4);
        put_move(&f, 0x1000, 0x4000, 8);
        put_move(&f, 0x5000, 0x6000, 8); /* of no code */
        read_dump(&f, f.size, &m);
        assert_int_equal(m.count, 5);
        /* By the bytes around: the last byte is the same in both. */
        assert_string_equal(name_at(&m, 0x1007, 0x1000, "abcdefgh"), "old");
        assert_string_equal(name_at(&m, 0x1007, 0x1000, "abxdefgh"), "new");
        assert_string_equal(name_at(&m, 0x1007, 0x1007, "h"), "new");
        /* Code that neither has: the one that was told last. */
        assert_string_equal(name_at(&m, 0x1000, 0x1000, "zz"), "new");
        /* A block that begins before the code and ends in it. */
        assert_string_equal(name_at(&m, 0x1001, 0xffe, "??abc"), "old");
        assert_string_equal(name_at(&m, 0x1008, 0x1008, "h"), "");
        assert_string_equal(name_at(&m, 0xfff, 0xfff, "a"), "");
        assert_string_equal(name_at(&m, 0x3003, 0x3000, "qrst"), "moved");
        assert_string_equal(name_at(&m, 0x4000, 0x4000, "ab"), "new");
        assert_string_equal(name_at(&m, 0x6000, 0x6000, "ab"), "");
        /* Lines by address; those of code that moved move along. */
        assert_int_equal(m.rows[0].line_count, 2);
        assert_int_equal(m.rows[0].lines[0].line, 10);
        assert_int_equal(m.rows[0].lines[1].address, 0x1004);
        assert_string_equal(texts_get(&m.files, m.rows[0].lines[1].file),
                            "a.src");
        assert_int_equal(m.rows[2].line_count, 0);
        assert_int_equal(m.rows[4].lines[1].address, 0x4004);
        assert_int_equal(m.rows[4].lines[1].line, 21);
        assert_string_equal(texts_get(&m.files, m.rows[4].lines[0].file),
                            "b.src");
        made_code_finish(&m);
    }
}

/* A dump that breaks off anywhere has the code that is whole. */
static void
test_cut(void **unused)
{
    struct file f;
    size_t ends[3], size = 0;

    (void)unused;
    put_header(&f, false);
    for (unsigned i = 0; i < 3; i++) {
        put_lines(&f, 0x1000 * i, "a.src", i);
        put_load(&f, 0x1000 * i, "name", "code");
        ends[i] = f.size;
    }
    for (size = 1; size <= f.size; size++) {
        struct made_code m;
        read_dump(&f, size, &m);
        size_t whole = 0;
        while (whole < 3 && ends[whole] <= size)
            whole++;
        assert_int_equal(m.count, whole);
        made_code_finish(&m);
    }
}

static void
test_map(void **unused)
{
    static char text[] = "1000 10 first\n"
                         "\n"
                         "junk\n"
                         "2000 0 empty\n"
                         "ffffffffffffffff 10 wraps\n"
                         "1008 8 a name of words\r\n"
                         "3000 4\n"
                         "4000 4 last";
    FILE *file = fmemopen(text, sizeof(text) - 1, "r");
    struct made_code m;

    (void)unused;
    made_code_init(&m);
    made_code_read_map(file, &m);
    fclose(file);
    made_code_index(&m);
    assert_int_equal(m.count, 3);
    assert_string_equal(name_at(&m, 0x1007, 0x1000, "x"), "first");
    assert_string_equal(name_at(&m, 0x1008, 0x1000, "x"), "a name of words\r");
    assert_string_equal(name_at(&m, 0x4003, 0x4000, "x"), "last");
    made_code_finish(&m);
    made_code_finish(&m);
}

/* A line without an end is cut, and what a program can forge is bounded. */
static void
test_map_without_ends(void **unused)
{
    const size_t size = 10u << 20;
    char *text = malloc(size);
    struct made_code m;

    (void)unused;
    assert_non_null(text);
    memset(text, 'x', size);
    memcpy(text, "1000 10 ", 8);
    FILE *file = fmemopen(text, size, "r");
    made_code_init(&m);
    made_code_read_map(file, &m);
    fclose(file);
    assert_int_equal(m.count, 1);
    assert_in_range(strlen(m.rows[0].name), 4000, 4096);
    made_code_finish(&m);
    memset(text, 0, size); /* as a sparse file reads */
    file = fmemopen(text, size, "r");
    made_code_init(&m);
    made_code_read_map(file, &m);
    fclose(file);
    assert_int_equal(m.count, 0);
    made_code_finish(&m);
    free(text);
}

static void
test_paths(void **unused)
{
    (void)unused;
    assert_true(path_is_jitdump("/tmp/jit-12.dump"));
    assert_true(path_is_jitdump("jit-1.dump"));
    assert_false(path_is_jitdump("/tmp/jit-12.dump/lib.so"));
    assert_false(path_is_jitdump("/tmp/jit-x.dump"));
    assert_false(path_is_jitdump("/tmp/xjit-1.dump"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dump),  cmocka_unit_test(test_cut),
        cmocka_unit_test(test_map),   cmocka_unit_test(test_map_without_ends),
        cmocka_unit_test(test_paths),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
