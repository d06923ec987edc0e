/* SPDX-License-Identifier: MIT */
#include "record/perf_map.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROWS_MOST (1u << 22)
#define NAME_MOST 4096u

/* Opens the file if it is a regular one of this user's. */
static FILE *
open_own(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    struct stat st;
    FILE *file = NULL;

    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
        st.st_uid == geteuid())
        file = fdopen(fd, "r");
    if (file == NULL && fd >= 0)
        close(fd);
    return file;
}

/* Splits a line; false: it is none. */
static bool
parse(char *line, struct perf_map_row *row)
{
    int name = 0;

    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "%" SCNx64 " %" SCNx64 " %n", &row->first, &row->size,
               &name) < 2 ||
        name == 0 || line[name] == '\0' || row->size == 0 ||
        row->first + row->size < row->first)
        return false;
    row->name = strndup(line + name, NAME_MOST);
    return row->name != NULL;
}

void
perf_map_read_file(const char *path, struct perf_map *map)
{
    FILE *file = open_own(path);
    size_t room = 0, size = 0;
    char *line = NULL;

    memset(map, 0, sizeof(*map));
    while (file != NULL && map->count < ROWS_MOST &&
           getline(&line, &size, file) > 0) {
        struct perf_map_row row;
        if (!parse(line, &row))
            continue;
        if (map->count == room) {
            const size_t more = room != 0 ? 2 * room : 64;
            struct perf_map_row *rows =
                reallocarray(map->rows, more, sizeof(*rows));
            if (rows == NULL) {
                free(row.name);
                break;
            }
            map->rows = rows;
            room = more;
        }
        map->rows[map->count++] = row;
    }
    free(line);
    if (file != NULL)
        fclose(file);
}

void
perf_map_read(int pid, struct perf_map *map)
{
    char path[64];

    snprintf(path, sizeof(path), "/tmp/perf-%d.map", pid);
    perf_map_read_file(path, map);
}

void
perf_map_finish(struct perf_map *map)
{
    for (size_t i = 0; i < map->count; i++)
        free(map->rows[i].name);
    free(map->rows);
    memset(map, 0, sizeof(*map));
}
