/* SPDX-License-Identifier: MIT */
#include "host/task.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int
append(pid_t **tasks, size_t *count, size_t *room, pid_t task)
{
    if (*count == *room) {
        const size_t more = *room != 0 ? *room * 2 : 16;
        pid_t *grown = realloc(*tasks, more * sizeof(*grown));
        if (grown == NULL)
            return -ENOMEM;
        *tasks = grown;
        *room = more;
    }
    (*tasks)[(*count)++] = task;
    return 0;
}

int
host_task_list(pid_t pid, pid_t **tasks, size_t *count)
{
    char path[64];
    pid_t *found = NULL;
    size_t n = 0, room = 0;
    int error = 0;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *folder = opendir(path);
    if (folder == NULL)
        return errno == ENOENT ? -ESRCH : -errno;
    const struct dirent *entry;
    while (error == 0 && (entry = readdir(folder)) != NULL) {
        const long task = strtol(entry->d_name, NULL, 10);
        if (task > 0)
            error = append(&found, &n, &room, (pid_t)task);
    }
    closedir(folder);
    if (error == 0 && n == 0)
        error = -ESRCH;
    if (error != 0) {
        free(found);
        return error;
    }
    *tasks = found;
    *count = n;
    return 0;
}
