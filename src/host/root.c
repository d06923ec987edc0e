/* SPDX-License-Identifier: MIT */
#include "host/root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool
join(char *path, size_t size, const char *root, const char *name)
{
    const int length = snprintf(path, size, "%s/%s", root, name);

    return length > 0 && (size_t)length < size;
}

bool
host_sys_path(const struct host_root *root, char *path, size_t size,
              const char *name)
{
    const bool own = root != NULL && root->sys != NULL;

    return join(path, size, own ? root->sys : "/sys", name);
}

bool
host_proc_path(const struct host_root *root, char *path, size_t size,
               const char *name)
{
    const bool own = root != NULL && root->proc != NULL;

    return join(path, size, own ? root->proc : "/proc", name);
}

bool
host_trace_path(const struct host_root *root, char *path, size_t size,
                const char *name)
{
    static const char old[] = "/sys/kernel/debug/tracing/events";
    static const char now[] = "/sys/kernel/tracing/events";

    if (root != NULL && root->trace != NULL) {
        char events[HOST_PATH];
        return join(events, sizeof(events), root->trace, "events") &&
               join(path, size, events, name);
    }
    return join(path, size,
                access(now, F_OK) != 0 && access(old, F_OK) == 0 ? old : now,
                name);
}

int
host_read_text(const char *path, char *text, size_t size)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    ssize_t got;

    if (fd < 0)
        return -errno;
    do {
        got = read(fd, text + length, size - 1 - length);
        if (got > 0)
            length += (size_t)got;
    } while (got > 0 || (got < 0 && errno == EINTR));
    const int error = got < 0 ? -errno : 0;
    close(fd);
    while (length > 0 && strchr(" \t\n\r", text[length - 1]) != NULL)
        length--;
    text[length] = '\0';
    return error;
}

bool
host_read_proc_number(const struct host_root *root, const char *name,
                      long *value)
{
    char path[HOST_PATH], text[32], *end;

    if (!host_proc_path(root, path, sizeof(path), name) ||
        host_read_text(path, text, sizeof(text)) != 0)
        return false;
    const long number = strtol(text, &end, 10);
    if (end == text)
        return false;
    *value = number;
    return true;
}
