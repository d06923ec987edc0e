/* SPDX-License-Identifier: MIT */
#include "source/plugin_path.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
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

int
plugin_find_allocations(const char *plugin, const char *isa,
                        const struct tally_log *log, char *path, size_t size)
{
    const char *const slash = strrchr(plugin, '/');
    char beside[2 * PATH_MAX], real[PATH_MAX];

    snprintf(beside, sizeof(beside), "%.*stally-allocations.%s.so",
             slash != NULL ? (int)(slash + 1 - plugin) : 0, plugin, isa);
    if (realpath(beside, real) == NULL)
        return tally_fail(log, TALLY_EQEMU,
                          "%s not found: it is built where a C compiler for %s "
                          "is installed",
                          beside, isa);
    if (strlen(real) >= size || strpbrk(real, ", :") != NULL)
        return tally_fail(log, TALLY_ERANGE,
                          "%s: the path is longer than %zu bytes, or has a "
                          "comma, colon or blank, so that no program can "
                          "preload the library: install tally elsewhere",
                          real, size - 1);
    strcpy(path, real);
    return 0;
}
