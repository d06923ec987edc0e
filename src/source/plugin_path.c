/* SPDX-License-Identifier: MIT */
#include "source/plugin_path.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NAME "tally-plugin.so"

int
plugin_find(const struct tally_log *log, char *path, size_t size)
{
    static const char *const near[] = {
        "/../plugin/" NAME,
        "/../" TALLY_LIBDIR "/tally/" NAME,
        "/../../plugin/" NAME,
    };
    char program[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);
    char *slash;

    program[n > 0 ? n : 0] = '\0';
    slash = strrchr(program, '/');
    if (slash != NULL)
        *slash = '\0';
    for (size_t i = 0; i < sizeof(near) / sizeof(near[0]); i++) {
        snprintf(path, size, "%s%s", program, near[i]);
        if (access(path, R_OK) == 0)
            return 0;
    }
    snprintf(path, size, "%s", TALLY_PLUGIN_DIR "/" NAME);
    if (access(path, R_OK) == 0)
        return 0;
    return tally_fail(log, TALLY_EQEMU,
                      "%s not found beside %s nor in %s: install tally whole",
                      NAME, program, TALLY_PLUGIN_DIR);
}
