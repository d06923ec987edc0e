/* SPDX-License-Identifier: MIT */
#include "source/plugin_path.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "tally-plugin.so"
#define VALIDATE "validate/validate.py"

/* Finds a file beside the program that runs: in the build folder, or as it is
 * installed; or where it is installed from. `near`: its places, each from the
 * folder of the program, up to NULL; `there`: the last place. Names the folder
 * of the program in `program`. Returns whether the file can be read. */
static bool
find_near(const char *const *near, const char *there, char *program, char *path,
          size_t size)
{
    const ssize_t n = readlink("/proc/self/exe", program, PATH_MAX - 1);
    char *slash;

    program[n > 0 ? n : 0] = '\0';
    slash = strrchr(program, '/');
    if (slash != NULL)
        *slash = '\0';
    for (; *near != NULL; near++) {
        snprintf(path, size, "%s%s", program, *near);
        if (access(path, R_OK) == 0)
            return true;
    }
    snprintf(path, size, "%s", there);
    return access(path, R_OK) == 0;
}

int
plugin_find(const struct tally_log *log, char *path, size_t size)
{
    static const char *const near[] = {
        "/../plugin/" NAME,
        "/../" TALLY_LIBDIR "/tally/" NAME,
        "/../../plugin/" NAME,
        NULL,
    };
    char program[PATH_MAX];

    if (find_near(near, TALLY_PLUGIN_DIR "/" NAME, program, path, size))
        return 0;
    return tally_fail(log, TALLY_EQEMU,
                      "%s not found beside %s nor in %s: install tally whole",
                      NAME, program, TALLY_PLUGIN_DIR);
}

int
plugin_find_validate(const struct tally_log *log, char *path, size_t size)
{
    static const char *const near[] = {
        "/../" VALIDATE,
        "/../" TALLY_LIBDIR "/tally/" VALIDATE,
        NULL,
    };
    char program[PATH_MAX];

    if (find_near(near, TALLY_PLUGIN_DIR "/" VALIDATE, program, path, size))
        return 0;
    return tally_fail(log, TALLY_ESYSTEM,
                      "%s not found beside %s nor in %s: install tally whole",
                      VALIDATE, program, TALLY_PLUGIN_DIR);
}

int
plugin_find_beside(const char *plugin, const char *name,
                   const struct tally_log *log, char *path, size_t size)
{
    const char *const slash = strrchr(plugin, '/');
    const int length =
        snprintf(path, size, "%.*s%s",
                 slash != NULL ? (int)(slash + 1 - plugin) : 0, plugin, name);

    if (length > 0 && (size_t)length < size && access(path, R_OK) == 0)
        return 0;
    return tally_fail(log, TALLY_EQEMU,
                      "%s not found beside %s: install tally whole", name,
                      plugin);
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
