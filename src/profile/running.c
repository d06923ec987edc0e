/* SPDX-License-Identifier: MIT */
#include "profile/running.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The state of a process, from its folder in /proc. */
struct seen {
    char state;
    int own_pid;    /* in its own namespace */
    uint64_t space; /* inode of its PID namespace; 0: not to be had */
};

/* Returns the inode of a process's PID namespace, or 0. */
static uint64_t
space_of(const char *process)
{
    char path[300];
    struct stat st;

    snprintf(path, sizeof(path), "/proc/%s/ns/pid", process);
    return stat(path, &st) == 0 ? (uint64_t)st.st_ino : 0;
}

/* Reads the folder of a process in /proc; false: there is no such process. */
static bool
look_at(const char *process, struct seen *seen)
{
    char line[512];

    snprintf(line, sizeof(line), "/proc/%.200s/status", process);
    FILE *file = fopen(line, "re");
    if (file == NULL)
        return false;
    memset(seen, 0, sizeof(*seen));
    while (fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, "State:", 6) == 0)
            sscanf(line + 6, " %c", &seen->state);
        else if (strncmp(line, "NSpid:\t", 7) ==
                 0) /* the innermost namespace's */
            seen->own_pid = atoi(strrchr(line, '\t') + 1);
    }
    fclose(file);
    seen->space = space_of(process);
    return seen->state != '\0';
}

static bool
has_ended(const struct seen *seen)
{
    return seen->state == 'Z' || seen->state == 'X';
}

bool
process_runs(int pid, uint64_t space)
{
    const uint64_t ours = space_of("self");
    char name[16];
    struct seen seen;

    if (space == 0 || ours == 0 || space == ours) {
        if (kill(pid, 0) != 0 && errno != EPERM)
            return false;
        snprintf(name, sizeof(name), "%d", pid);
        return !look_at(name, &seen) || !has_ended(&seen);
    }
    /* The number is of another namespace: look for the process by it. */
    DIR *all = opendir("/proc");
    struct dirent *entry;
    bool runs = false;
    while (all != NULL && !runs && (entry = readdir(all)) != NULL)
        runs = isdigit((unsigned char)entry->d_name[0]) &&
               look_at(entry->d_name, &seen) && seen.own_pid == pid &&
               (seen.space == space || seen.space == 0) && !has_ended(&seen);
    if (all != NULL)
        closedir(all);
    return runs;
}
