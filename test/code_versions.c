/* SPDX-License-Identifier: MIT */
/* Versions of blocks of code that lie over one another. */
#include "profile/code_versions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void
test_versions(void **unused)
{
    static const struct {
        int line;
        uint64_t address;
        const char *code;
        uint32_t version;
    } rows[] = {
        {__LINE__, 0x1000, "abcd", 1},
        {__LINE__, 0x1000, "abcd", 1}, /* again */
        {__LINE__, 0x1002, "cdef", 1}, /* goes on behind it */
        {__LINE__, 0x1000, "abxd", 2}, /* one byte differs: all are new */
        {__LINE__, 0x1003, "d", 2},
        {__LINE__, 0x1004, "ef", 1}, /* was not overwritten */
        {__LINE__, 0x1000, "abxdef", 2},
        {__LINE__, 0x1000, "abcd", 3}, /* as it was once */
        {__LINE__, 0x1ffe, "over", 1}, /* over the end of a page */
        {__LINE__, 0x2000, "er", 1},
        {__LINE__, 0x1ffe, "ovem", 2},
        {__LINE__, 0x1fff, "vem", 2},
        {__LINE__, 0xffffffffffffeffe, "high", 1},
        {__LINE__, 0xfffffffffffff000, "gi", 2},
    };
    struct code_versions v;

    (void)unused;
    code_versions_init(&v);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const uint32_t got = code_versions_add(&v, rows[i].address,
                                               (const uint8_t *)rows[i].code,
                                               strlen(rows[i].code));
        if (got != rows[i].version)
            fail_msg("row at line %d: version %u", rows[i].line, got);
    }
    code_versions_finish(&v);
    code_versions_finish(&v);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
