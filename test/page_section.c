/* SPDX-License-Identifier: MIT */
/* A section of a page gives back what went into it. */
#include "record/page_section.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/error.h"

/* Returns the six bits of a letter. */
static unsigned
bits_of(char letter)
{
    const char *const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "abcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = strchr(letters, letter);

    assert_true(letter != '\0' && found != NULL);
    return (unsigned)(found - letters);
}

/* Unpacks base64 with ends of lines to `to`; returns the number of bytes. */
static size_t
unpack(const char *text, const char *end, uint8_t *to)
{
    unsigned bits = 0, held = 0;
    size_t size = 0;

    for (; text < end; text++) {
        if (*text == '\n' || *text == '=')
            continue;
        bits = bits << 6 | bits_of(*text);
        held += 6;
        if (held >= 8) {
            held -= 8;
            to[size++] = (uint8_t)(bits >> held);
        }
    }
    return size;
}

/* Writes a section of bytes that follow from a seed, and reads it. */
static void
check(size_t size, unsigned seed)
{
    struct bytes data = {0};
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    const char *const begin = "<script type=\"text/plain\" id=\"data-x-7\">\n";
    const char *const end = "</script>\n";

    for (size_t i = 0; i < size; i++) {
        seed = seed * 1103515245u + 12345;
        bytes_append_u8(&data, (uint8_t)(seed >> 16));
    }
    assert_int_equal(page_section_write("x-7", &data, out), 0);
    fclose(out);
    assert_memory_equal(text, begin, strlen(begin));
    assert_string_equal(text + length - strlen(end), end);
    uint8_t *packed = malloc(length);
    uint8_t *unpacked = malloc(size + 1);
    const size_t count =
        unpack(text + strlen(begin), text + length - strlen(end), packed);
    uLongf found = size + 1;
    assert_int_equal(uncompress(unpacked, &found, packed, count), Z_OK);
    assert_int_equal(found, size);
    if (size > 0)
        assert_memory_equal(unpacked, data.data, size);
    free(packed);
    free(unpacked);
    free(text);
    bytes_finish(&data);
}

static void
test_round_trip(void **state)
{
    (void)state;
    /* All remainders of three bytes a group and of groups a line. */
    for (size_t size = 0; size < 300; size++)
        check(size, (unsigned)size + 1);
    check(1 << 20, 5);
}

static void
test_failures(void **state)
{
    struct bytes data = {.failed = true};
    FILE *full = fopen("/dev/full", "w");

    (void)state;
    assert_int_equal(page_section_write("x", &data, full), TALLY_ENOMEM);
    bytes_clear(&data);
    setvbuf(full, NULL, _IONBF, 0);
    assert_int_equal(page_section_write("x", &data, full), TALLY_EIO);
    fclose(full);
    bytes_finish(&data);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_failures),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
