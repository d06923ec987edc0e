/* SPDX-License-Identifier: MIT */
/* Parts of this program's own variables, by their addresses. */
#include "names/names.h"

#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct inner {
    char tag;
    /* 7 bytes that are no member's */
    long count;
};

typedef const struct inner inner_type;

static volatile struct {
    int first;
    union {
        float real;
        unsigned bits;
    } both;
    struct {
        short unnamed;
    };
    struct inner array[3];
    long grid[2][3];
    inner_type *pointer;
} whole;

static volatile long single;

/* Returns the address of a static variable of a function. */
static const volatile char *
local(void)
{
    static volatile struct inner kept[2];

    kept[1].count++;
    return (const volatile char *)&kept[1].count;
}

#define BYTE(member, more) ((const volatile char *)&whole.member + (more))

static const struct {
    int line;
    const volatile char *at;
    const char *name; /* before where it is declared */
} rows[] = {
    {__LINE__, BYTE(first, 0), "whole.first (fields.c:"},
    {__LINE__, BYTE(first, 3), "whole.first (fields.c:"},
    {__LINE__, BYTE(both, 2), "whole.both.real (fields.c:"},
    {__LINE__, BYTE(unnamed, 1), "whole.unnamed (fields.c:"},
    {__LINE__, BYTE(array[0].tag, 0), "whole.array[0].tag (fields.c:"},
    {__LINE__, BYTE(array[1].tag, 1), "whole.array[1] (fields.c:"},
    {__LINE__, BYTE(array[2].count, 7), "whole.array[2].count (fields.c:"},
    {__LINE__, BYTE(grid[0][0], 0), "whole.grid[0][0] (fields.c:"},
    {__LINE__, BYTE(grid[1][2], 7), "whole.grid[1][2] (fields.c:"},
    {__LINE__, BYTE(pointer, 0), "whole.pointer (fields.c:"},
    {__LINE__, (const volatile char *)&single, "single (fields.c:"},
};

/* Finds how far the program is from where its file has it: it comes first. */
static int
take_bias(struct dl_phdr_info *info, size_t size, void *bias)
{
    (void)size;
    *(uint64_t *)bias = info->dlpi_addr;
    return 1;
}

static char *
field(struct names *names, const volatile char *at)
{
    uint64_t bias = 0;

    dl_iterate_phdr(take_bias, &bias);
    return names_field(names, 0, (uint64_t)(uintptr_t)at - bias);
}

static struct names *
own_names(void)
{
    struct names *names = NULL;
    unsigned file;

    assert_int_equal(names_create(NULL, NULL, &names), 0);
    assert_int_equal(names_add(names, "/proc/self/exe", NULL, 0, &file), 0);
    return names;
}

static void
test_rows(void **state)
{
    struct names *const names = own_names();

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *const name = field(names, rows[i].at);
        if (name == NULL ||
            strncmp(name, rows[i].name, strlen(rows[i].name)) != 0)
            fail_msg("line %d: %s", rows[i].line, name != NULL ? name : "none");
        free(name);
    }
    names_destroy(names);
}

static void
test_local(void **state)
{
    struct names *const names = own_names();
    char *const name = field(names, local());

    (void)state;
    assert_non_null(name);
    assert_memory_equal(name, "kept[1].count (fields.c:", 24);
    free(name);
    names_destroy(names);
}

/* Members by the type of the variable. */
static const struct {
    int line;
    const volatile char *at;
    const char *path; /* NULL: no member has the byte */
    uint64_t size;
} parts[] = {
    {__LINE__, BYTE(first, 3), "first", 4},
    {__LINE__, BYTE(both, 2), "both.real|bits", 4},
    {__LINE__, BYTE(unnamed, 1), "unnamed", 2},
    {__LINE__, BYTE(array[0].tag, 0), "array[].tag", 1},
    {__LINE__, BYTE(array[1].tag, 1), NULL, 0},
    {__LINE__, BYTE(array[2].count, 7), "array[].count", 8},
    {__LINE__, BYTE(grid[1][2], 7), "grid[]", 8},
    {__LINE__, BYTE(pointer, 0), "pointer", 8},
    {__LINE__, (const volatile char *)&single, "", 8},
};

static void
test_parts(void **state)
{
    struct names *const names = own_names();
    uint64_t bias = 0;

    (void)state;
    dl_iterate_phdr(take_bias, &bias);
    for (size_t i = 0; i < COUNT(parts); i++) {
        const struct name_type *type = NULL;
        uint64_t offset = 0;
        struct name_part part;
        const bool is_known =
            names_static(names, 0, (uint64_t)(uintptr_t)parts[i].at - bias,
                         &type, &offset) &&
            names_part(names, type, offset, &part);
        if (is_known != (parts[i].path != NULL) ||
            (is_known && (strcmp(part.path, parts[i].path) != 0 ||
                          part.size != parts[i].size)))
            fail_msg("line %d: %s of %d bytes", parts[i].line,
                     is_known ? part.path : "none",
                     is_known ? (int)part.size : 0);
        if (is_known && strcmp(part.path, "pointer") == 0) {
            assert_non_null(part.pointed);
            assert_string_equal(part.pointed->name, "struct inner");
            assert_int_equal(part.pointed->size, sizeof(struct inner));
            assert_true(!names_has(names, part.pointed, type));
            assert_true(names_has(names, type, part.pointed));
        }
    }
    names_destroy(names);
}

static void
test_unknown(void **state)
{
    struct names *const names = own_names();

    (void)state;
    assert_null(names_field(names, 0, 0));
    assert_null(names_field(names, 0, UINT64_MAX));
    assert_null(names_field(names, 1, 0));
    names_destroy(names);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_local),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
