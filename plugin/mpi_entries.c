/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/mpi_entries.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns whether the name is that of a function of MPI, of the profiling
 * interface or of Fortran; or exit(), which ends a program: the destructors of
 * MPI's libraries do not repeat either. */
static bool
is_mpi_name(const char *name)
{
    if (strcmp(name, "exit") == 0)
        return true;
    if (*name == 'P' || *name == 'p')
        name++;
    return strncmp(name, "MPI_", 4) == 0 || strncmp(name, "mpi_", 4) == 0;
}

static int
by_offset(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* Finds the offset in the file of an address of code. */
static bool
find_offset(Elf *elf, uint64_t address, uint64_t *offset)
{
    size_t count = 0;

    if (elf_getphdrnum(elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr h;
        if (gelf_getphdr(elf, (int)i, &h) == NULL || h.p_type != PT_LOAD ||
            (h.p_flags & PF_X) == 0 || address - h.p_vaddr >= h.p_filesz)
            continue;
        *offset = address - h.p_vaddr + h.p_offset;
        return true;
    }
    return false;
}

/* Adds the functions of MPI in one table of symbols. Returns false where there
 * is no memory. */
static bool
add_symbols(Elf *elf, Elf_Scn *section, const GElf_Shdr *h,
            struct mpi_entries *entries)
{
    Elf_Data *const data = elf_getdata(section, NULL);
    GElf_Sym symbol;

    for (int i = 0; data != NULL && gelf_getsym(data, i, &symbol) != NULL;
         i++) {
        uint64_t offset;
        if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
            symbol.st_shndx == SHN_UNDEF ||
            GELF_ST_BIND(symbol.st_info) == STB_LOCAL)
            continue;
        const char *const name = elf_strptr(elf, h->sh_link, symbol.st_name);
        if (name == NULL || !is_mpi_name(name) ||
            !find_offset(elf, symbol.st_value, &offset))
            continue;
        if ((entries->count & (entries->count - 1)) == 0) { /* 0, 1, 2, 4 ... */
            uint64_t *const more = reallocarray(
                entries->offsets, entries->count == 0 ? 1 : 2 * entries->count,
                sizeof(*more));
            if (more == NULL)
                return false;
            entries->offsets = more;
        }
        entries->offsets[entries->count++] = offset;
    }
    return true;
}

/* Opens a file as an ELF file. Returns NULL where it is none; the caller ends
 * it and closes *fd in any case, which may be -1. */
static Elf *
open_elf(const char *path, int *fd)
{
    struct stat st;

    /* What is no regular file could block. */
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    elf_version(EV_CURRENT);
    return *fd >= 0 && fstat(*fd, &st) == 0 && S_ISREG(st.st_mode)
               ? elf_begin(*fd, ELF_C_READ, NULL)
               : NULL;
}

static void
close_elf(Elf *elf, int fd)
{
    elf_end(elf);
    if (fd >= 0)
        close(fd);
}

bool
mpi_entries_read(const char *path, struct mpi_entries *entries)
{
    int fd;
    Elf *const elf = open_elf(path, &fd);
    Elf_Scn *section = NULL;
    GElf_Shdr h;
    bool enough = true;

    entries->is_read = true;
    while (elf != NULL && enough &&
           (section = elf_nextscn(elf, section)) != NULL) {
        if (gelf_getshdr(section, &h) != NULL &&
            (h.sh_type == SHT_DYNSYM || h.sh_type == SHT_SYMTAB))
            enough = add_symbols(elf, section, &h, entries);
    }
    close_elf(elf, fd);
    if (entries->count > 0)
        qsort(entries->offsets, entries->count, sizeof(*entries->offsets),
              by_offset);
    return enough;
}

bool
mpi_entries_start(const char *path, uint64_t *start)
{
    int fd;
    Elf *const elf = open_elf(path, &fd);
    GElf_Ehdr header;
    uint64_t lowest = UINT64_MAX;
    size_t count = 0;
    const bool is_read = elf != NULL && gelf_getehdr(elf, &header) != NULL &&
                         elf_getphdrnum(elf, &count) == 0;

    for (size_t i = 0; is_read && i < count; i++) {
        GElf_Phdr h;
        if (gelf_getphdr(elf, (int)i, &h) != NULL && h.p_type == PT_LOAD &&
            (h.p_flags & PF_X) != 0 && h.p_vaddr < lowest)
            lowest = h.p_vaddr;
    }
    const bool is_found = is_read && header.e_entry >= lowest;
    if (is_found)
        *start = header.e_entry - lowest;
    close_elf(elf, fd);
    return is_found;
}

bool
mpi_entries_have(const struct mpi_entries *entries, uint64_t offset)
{
    return entries->count > 0 &&
           bsearch(&offset, entries->offsets, entries->count, sizeof(offset),
                   by_offset) != NULL;
}

void
mpi_entries_finish(struct mpi_entries *entries)
{
    free(entries->offsets);
    *entries = (struct mpi_entries){0};
}
