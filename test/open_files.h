/* SPDX-License-Identifier: MIT */
/* How many files a test has open: as many after a call as before. */
#ifndef TALLY_TEST_OPEN_FILES_H
#define TALLY_TEST_OPEN_FILES_H

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Returns how many entries the folder of the test's open files has. */
static inline int
open_files(void)
{
    DIR *const folder = opendir("/proc/self/fd");
    int count = 0;

    assert_non_null(folder);
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count;
}

#endif
