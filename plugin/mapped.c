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
        at < file->first || at >= file->last || line[path] != '/')
        return false;
    snprintf(file->path, sizeof(file->path), "%s", line + path);
    return true;
}

/* Returns whether the last file that was noted for the address is this one. */
static bool
is_noted(const struct counts_head *head, unsigned files, uint64_t address,
         const struct counts_file *found)
{
    for (unsigned i = files; i > 0; i--) {
        const struct counts_file *file = &head->file[i - 1];
        if (address >= file->first && address <= file->last)
            return file->first - file->offset == found->first - found->offset &&
                   strcmp(file->path, found->path) == 0;
    }
    return false;
}

void
mapped_note(struct counts_head *head, uint64_t address)
{
    const uint64_t at = (uint64_t)(uintptr_t)plugin_memory(address);
    const unsigned files = atomic_load(&head->files);
    struct counts_file found = {0};
    char line[LINE];
    bool is_found = false;

    if (files >= COUNTS_FILES)
        return;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps != NULL && !is_found && fgets(line, sizeof(line), maps) != NULL)
        is_found = mapped_read_line(line, at, &found);
    if (maps != NULL)
        fclose(maps);
    if (!is_found)
        return;
    /* QEMU may have moved the guest: `at` is where QEMU has `address`. */
    found.first -= at - address;
    found.last -= at - address + 1;
    if (is_noted(head, files, address, &found))
        return;
    head->file[files] = found;
    atomic_store(&head->files, files + 1);
}
