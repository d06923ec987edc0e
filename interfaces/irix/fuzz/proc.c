/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as /proc/PID/stat, and each of their lines as one of maps, status
 * and io: times are times, and a piece of a file holds the address.
 */
#include <inttypes.h>
#include <stdio.h>

#include "fuzz/fuzz.h"
#include "irix.h"
#include "plugin/mapped.h"

/* The plugin's, which has the guest's memory in its own. */
const void *plugin_memory(uint64_t addr);

const void *
plugin_memory(uint64_t addr)
{
    return (const void *)(uintptr_t)addr;
}

static void
check_time(const timespec_t *t)
{
    fuzz_check(t->tv_nsec >= 0 && t->tv_nsec < 1000000000);
}

static void
read_stat(const char *text)
{
    hwperf_prusage_t usage = {0};

    if (irix_usage_stat(text, &usage) != 0)
        return;
    check_time(&usage.pu_utime);
    check_time(&usage.pu_stime);
    check_time(&usage.pu_starttime);
}

/* A line of a mapping holds its own first address, and not its last. */
static void
read_line(char *line)
{
    struct counts_file file = {0}, again = {0};
    hwperf_prusage_t usage = {0};

    irix_usage_line(line, &usage);
    fuzz_check(usage.pu_bread < UINT64_C(1) << 30);
    fuzz_check(usage.pu_bwrit < UINT64_C(1) << 30);
    const uint64_t first = strtoull(line, NULL, 16);
    if (!mapped_read_line(line, first, &file))
        return;
    fuzz_check(file.first == first && first < file.last);
    fuzz_check(file.path[0] == '/' || file.path[0] == '\0'); /* no file */
    fuzz_check(memchr(file.path, '\0', sizeof(file.path)) != NULL);
    fuzz_check(mapped_read_line(line, file.last - 1, &again));
    fuzz_check(memcmp(&file, &again, sizeof(file)) == 0);
    fuzz_check(!mapped_read_line(line, file.last, &again));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *const text = fuzz_text(data, size);

    read_stat(text);
    for (char *rest = text, *line; (line = strsep(&rest, "\n")) != NULL;)
        read_line(line);
    free(text);
    return 0;
}
