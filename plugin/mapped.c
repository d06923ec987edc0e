/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/mapped.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "plugin/memory.h"

#define LINE (PATH_MAX + 128)

/* Reads a line of /proc/self/maps: addresses of ours, `last` behind the piece's
 * end. The path is empty where the piece is no file's. Cuts the line's end off.
 */
static bool
parse_line(char *line, struct counts_file *file)
{
    int path = 0;

    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n",
               &file->first, &file->last, &file->offset, &path) < 3)
        return false;
    snprintf(file->path, sizeof(file->path), "%s",
             path != 0 && line[path] == '/' ? line + path : "");
    return true;
}

bool
mapped_read_line(char *line, uint64_t at, struct counts_file *file)
{
    return parse_line(line, file) && at >= file->first && at < file->last;
}

void
mapped_walk_begin(struct mapped_walk *w)
{
    *w = (struct mapped_walk){0};
    *(void **)&w->replayed = dlsym(RTLD_DEFAULT, MAPPED_REPLAYED_PIECE);
    if (w->replayed == NULL)
        w->maps = fopen("/proc/self/maps", "re");
}

bool
mapped_walk_next(struct mapped_walk *w, struct counts_file *file)
{
    const uint64_t moved = (uint64_t)(uintptr_t)plugin_memory(0);
    char line[LINE];

    if (w->replayed != NULL)
        return w->replayed(w->number++, file);
    while (w->maps != NULL && fgets(line, sizeof(line), w->maps) != NULL) {
        /* QEMU's own memory may be before the guest's. */
        if (!parse_line(line, file) || file->first < moved)
            continue;
        file->first -= moved;
        file->last -= moved + 1;
        return true;
    }
    return false;
}

void
mapped_walk_end(struct mapped_walk *w)
{
    if (w->maps != NULL)
        fclose(w->maps);
    w->maps = NULL;
}

/* Returns 1 + the index of the last file that was noted for the address, if
 * that is this one, or 0. */
static unsigned
find_noted(const struct counts_head *head, unsigned files, uint64_t address,
           const struct counts_file *found)
{
    for (unsigned i = files; i > 0; i--) {
        const struct counts_file *file = &head->file[i - 1];
        if (address >= file->first && address <= file->last)
            return file->first - file->offset == found->first - found->offset &&
                           strcmp(file->path, found->path) == 0
                       ? i
                       : 0;
    }
    return 0;
}

unsigned
mapped_add(struct counts_head *head, const struct counts_file *file)
{
    const unsigned files = atomic_load(&head->files);
    const unsigned noted = find_noted(head, files, file->first, file);

    if (noted != 0 || files >= COUNTS_FILES)
        return noted;
    head->file[files] = *file;
    atomic_store(&head->files, files + 1);
    return files + 1;
}

/* Finds the mapping at the guest's address, in the guest's addresses; false:
 * nothing is mapped there. */
static bool
find_mapping(uint64_t address, struct counts_file *found)
{
    const uint64_t at = (uint64_t)(uintptr_t)plugin_memory(address);
    char line[LINE];
    bool is_found = false;
    mapped_replayed *replayed;

    *(void **)&replayed = dlsym(RTLD_DEFAULT, MAPPED_REPLAYED);
    if (replayed != NULL)
        return replayed(address, found);
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps != NULL && !is_found && fgets(line, sizeof(line), maps) != NULL)
        is_found = mapped_read_line(line, at, found);
    if (maps != NULL)
        fclose(maps);
    /* QEMU may have moved the guest: `at` is where QEMU has `address`. */
    found->first -= at - address;
    found->last -= at - address + 1;
    return is_found;
}

unsigned
mapped_find(struct counts_head *head, uint64_t address, uint64_t *first,
            uint64_t *last)
{
    struct counts_file found = {0};

    *first = *last = address;
    if (!find_mapping(address, &found))
        return 0;
    *first = found.first;
    *last = found.last;
    if (found.path[0] == '\0')
        return 0;
    return mapped_add(head, &found);
}

void
mapped_note_dump(struct counts_head *head, uint64_t address)
{
    struct counts_file found = {0};

    if (find_mapping(address, &found) && path_is_jitdump(found.path))
        mapped_add(head, &found);
}

void
mapped_note(struct counts_head *head, uint64_t address)
{
    uint64_t first, last;

    mapped_find(head, address, &first, &last);
}
