/* SPDX-License-Identifier: MIT */
#include "profile/call_places.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "profile/call_id.h"

/* struct tally_profiler_site on a 64-bit machine. */
#define SITE_SIZE 32
#define SITE_FUNCTION 8
#define SITE_LINE 16

struct places {
    Elf *elf;
    GElf_Shdr sites; /* the section */
    const unsigned char *bytes;
    bool big;
};

static uint64_t
number_at(const struct places *p, const unsigned char *at, unsigned size)
{
    uint64_t number = 0;

    for (unsigned i = 0; i < size; i++)
        number = number << 8 | at[p->big ? i : size - 1 - i];
    return number;
}

/* A section's bytes; NULL: it has none. */
static const unsigned char *
section_bytes(Elf_Scn *section, size_t *size)
{
    Elf_Data *data = elf_rawdata(section, NULL);

    if (data == NULL || data->d_buf == NULL)
        return NULL;
    *size = data->d_size;
    return data->d_buf;
}

/* The string at an address of the program; NULL: there is none. */
static const char *
string_at(const struct places *p, uint64_t address)
{
    Elf_Scn *section = NULL;
    GElf_Shdr row;
    size_t size;

    while ((section = elf_nextscn(p->elf, section)) != NULL) {
        if (gelf_getshdr(section, &row) == NULL ||
            (row.sh_flags & SHF_ALLOC) == 0 || row.sh_type == SHT_NOBITS ||
            address < row.sh_addr || address - row.sh_addr >= row.sh_size)
            continue;
        const unsigned char *bytes = section_bytes(section, &size);
        const uint64_t at = address - row.sh_addr;
        if (bytes == NULL || at >= size ||
            memchr(bytes + at, '\0', size - at) == NULL)
            return NULL;
        return (const char *)bytes + at;
    }
    return NULL;
}

/* What the loader adds the load's address to: a relocation's, or in place. */
static uint64_t
pointer_at(const struct places *p, uint64_t offset)
{
    const uint64_t address = p->sites.sh_addr + offset;
    Elf_Scn *section = NULL;
    GElf_Shdr row;
    GElf_Rela rela;

    while ((section = elf_nextscn(p->elf, section)) != NULL) {
        if (gelf_getshdr(section, &row) == NULL || row.sh_type != SHT_RELA ||
            (row.sh_flags & SHF_ALLOC) == 0)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        for (int i = 0; data != NULL && gelf_getrela(data, i, &rela) != NULL;
             i++)
            if (rela.r_offset == address && rela.r_addend != 0)
                return (uint64_t)rela.r_addend;
    }
    return number_at(p, p->bytes + offset, 8);
}

static bool
find_sites(struct places *p, size_t *size)
{
    Elf_Scn *section = NULL;
    size_t names;

    if (elf_getshdrstrndx(p->elf, &names) != 0)
        return false;
    while ((section = elf_nextscn(p->elf, section)) != NULL) {
        const char *name = gelf_getshdr(section, &p->sites) != NULL
                               ? elf_strptr(p->elf, names, p->sites.sh_name)
                               : NULL;
        if (name != NULL && strcmp(name, "tally_sites") == 0) {
            p->bytes = section_bytes(section, size);
            return p->bytes != NULL;
        }
    }
    return false;
}

int
call_places_read(const char *path,
                 void (*take)(void *user, uint32_t id, const char *file,
                              uint32_t line, const char *function),
                 void *user)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct places p = {NULL};
    size_t size = 0;
    GElf_Ehdr head;

    if (fd < 0)
        return TALLY_EIO;
    elf_version(EV_CURRENT);
    p.elf = elf_begin(fd, ELF_C_READ, NULL);
    bool found = p.elf != NULL && elf_kind(p.elf) == ELF_K_ELF &&
                 gelf_getclass(p.elf) == ELFCLASS64 &&
                 gelf_getehdr(p.elf, &head) != NULL;
    if (found) {
        p.big = head.e_ident[EI_DATA] == ELFDATA2MSB;
        found = find_sites(&p, &size);
    }
    for (size_t at = 0; found && at + SITE_SIZE <= size; at += SITE_SIZE) {
        const char *file = string_at(&p, pointer_at(&p, at));
        const char *function =
            string_at(&p, pointer_at(&p, at + SITE_FUNCTION));
        const uint32_t line =
            (uint32_t)number_at(&p, p.bytes + at + SITE_LINE, 4);
        if (file != NULL && function != NULL)
            take(user, call_id(file, line, function), file, line, function);
    }
    elf_end(p.elf);
    close(fd);
    return found ? 0 : TALLY_EPROGRAM;
}
