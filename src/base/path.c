/* SPDX-License-Identifier: MIT */
#include "base/path.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool
path_executable(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
           access(path, X_OK) == 0;
}

bool
path_search(const char *name, char *path)
{
    const char *dirs = getenv("PATH");

    if (dirs == NULL)
        dirs = "/bin:/usr/bin";
    while (*dirs != '\0') {
        const int n = (int)strcspn(dirs, ":");
        snprintf(path, PATH_MAX, "%.*s/%s", n ? n : 1, n ? dirs : ".", name);
        if (path_executable(path))
            return true;
        dirs += n + (dirs[n] == ':');
    }
    return false;
}

bool
path_is_jitdump(const char *path)
{
    const char *name = strrchr(path, '/');

    return fnmatch("jit-[0-9]*.dump", name != NULL ? name + 1 : path, 0) == 0;
}

const char *
path_base(const char *path)
{
    const char *const slash = strrchr(path, '/');

    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

const char *
path_scratch(void)
{
    const char *const folder = getenv("TMPDIR");

    return folder != NULL && *folder != '\0' ? folder : "/tmp";
}
