/* SPDX-License-Identifier: MIT */
/*
 * A line as --filter and the bytes behind it as the program's file: what is
 * accepted is a range in order, and the same range written as two addresses is
 * accepted too.
 */
#include "profile/filter.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzz.h"

static void
check_range(enum filter_kind kind, const struct code_range *range)
{
    const struct tally_log log = {.write = fuzz_hear_any};
    struct code_range back = {0};
    enum filter_kind same;
    char text[96];

    fuzz_check(range->first <= range->last && range->last < NO_LINE);
    snprintf(text, sizeof(text), "%s=0x%" PRIx64 "-%" PRIu64,
             kind == FILTER_DATA ? "data" : "code", range->first, range->last);
    fuzz_check(filter_parse(text, "", &log, &same, &back) == 0);
    fuzz_check(same == kind && back.first == range->first &&
               back.last == range->last);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct tally_log log = {.write = fuzz_hear_any};
    const int fd = memfd_create("program", MFD_CLOEXEC);
    char *const text = fuzz_text(data, size);
    const size_t line = strcspn(text, "\n");
    struct code_range range = {0};
    enum filter_kind kind = FILTER_CODE;
    char path[64];

    fuzz_check(fd >= 0);
    if (line + 1 < size)
        fuzz_check(write(fd, data + line + 1, size - line - 1) ==
                   (ssize_t)(size - line - 1));
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    text[line] = '\0';
    const char *const one = text;
    const int error = filter_parse(text, path, &log, &kind, &range);
    if (error == 0) {
        check_range(kind, &range);
        fuzz_check(filter_data(&one, 1) == (kind == FILTER_DATA));
    }
    close(fd);
    free(text);
    return 0;
}
