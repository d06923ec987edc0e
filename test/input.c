/* SPDX-License-Identifier: MIT */
/* Files that are read whole: all bytes come, at each size near those at which
 * the room for them grows, and no more than are asked for. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/input.h"

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static char folder[] = "/tmp/tally-input-XXXXXX";
static char path[64];

static int
make_folder(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof(path), "%s/file", folder);
    return 0;
}

static int
remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

/* Makes a file of so many bytes, which differ from those around them. */
static void
make_file(size_t size)
{
    FILE *const file = fopen(path, "w");

    assert_non_null(file);
    for (size_t i = 0; i < size; i++)
        fputc((int)(i * 7 % 251), file);
    assert_int_equal(fclose(file), 0);
}

static void
test_sizes(void **state)
{
    static const size_t sizes[] = {0,     1,      65534,  65535,  65536,
                                   65537, 131070, 131071, 131072, 300000};

    (void)state;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        size_t size = 7;
        make_file(sizes[i]);
        char *const text = input_read(path, sizes[i], &size);
        assert_non_null(text);
        assert_int_equal(size, sizes[i]);
        for (size_t k = 0; k < size; k++)
            assert_int_equal((unsigned char)text[k], k * 7 % 251);
        assert_int_equal(text[size], 0);
        free(text);
        if (sizes[i] == 0)
            continue;
        errno = 0;
        assert_null(input_read(path, sizes[i] - 1, &size));
        assert_int_equal(errno, EFBIG);
    }
}

static void
test_none(void **state)
{
    size_t size;

    (void)state;
    errno = 0;
    assert_null(input_read("/nonexistent/file", 10, &size));
    assert_int_equal(errno, ENOENT);
    errno = 0;
    assert_null(input_read(folder, 10, &size));
    assert_int_equal(errno, EISDIR);
}

/* A pipe that nobody writes does not hold the reader for ever. */
static void
test_pipe(void **state)
{
    size_t size;

    (void)state;
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    errno = 0;
    assert_null(input_read(path, 10, &size));
    assert_int_equal(errno, ENXIO);
    assert_string_equal(input_reason(errno), "a pipe that nobody writes");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_pipe),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
