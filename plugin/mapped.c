/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/mapped.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "plugin/memory.h"

#define LINE (PATH_MAX + 128)

bool
mapped_read_line(char *line, uint64_t at, struct counts_file *file)
{
    int path = 0;

    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n",
               &file->first, &file->last, &file->offset, &path) < 3 ||
        at < file->first || at >= file->last)
        return false;
    snprintf(file->path, sizeof(file->path), "%s",
             path != 0 && line[path] == '/' ? line + path : "");
    return true;
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

unsigned
mapped_find(struct counts_head *head, uint64_t address, uint64_t *first,
            uint64_t *last)
{
    const uint64_t at = (uint64_t)(uintptr_t)plugin_memory(address);
    struct counts_file found = {0};
    char line[LINE];
    bool is_found = false;

    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps != NULL && !is_found && fgets(line, sizeof(line), maps) != NULL)
        is_found = mapped_read_line(line, at, &found);
    if (maps != NULL)
        fclose(maps);
    *first = *last = address;
    if (!is_found)
        return 0;
    /* QEMU may have moved the guest: `at` is where QEMU has `address`. */
    found.first -= at - address;
    found.last -= at - address + 1;
    *first = found.first;
    *last = found.last;
    if (found.path[0] == '\0')
        return 0;
    return mapped_add(head, &found);
}

void
mapped_note(struct counts_head *head, uint64_t address)
{
    uint64_t first, last;

    mapped_find(head, address, &first, &last);
}
