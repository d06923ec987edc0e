/* SPDX-License-Identifier: MIT */
#include "profile/call_places.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile/call_id.h"

/* struct tally_profiler_site on a 64-bit machine. */
#define SITE_SIZE 32
#define SITE_FUNCTION 8
#define SITE_LINE 16

/* The name of the variable in mangled names of C++. */
#define SITE_NAME "19tally_profiler_here"

/* A place that calls the profiler. The texts lie in the open file. */
struct site {
    const char *file, *function;
    uint32_t line;
};

struct places {
    Elf *elf;
    bool big;
    bool crowded; /* there was no memory */
    void (*take)(void *user, uint32_t id, const char *file, uint32_t line,
                 const char *function);
    void *user;
    struct site *sites; /* owned */
    size_t count;
};

/* Reads a number of `size` bytes in the program's byte order. */
static uint64_t
number_at(const struct places *p, const unsigned char *at, unsigned size)
{
    uint64_t number = 0;

    for (unsigned i = 0; i < size; i++)
        number = number << 8 | at[p->big ? i : size - 1 - i];
    return number;
}

/* Returns the bytes of a section, or NULL. */
static const unsigned char *
section_bytes(Elf_Scn *section, size_t *size)
{
    Elf_Data *data = elf_rawdata(section, NULL);

    if (data == NULL || data->d_buf == NULL)
        return NULL;
    *size = data->d_size;
    return data->d_buf;
}

/* Returns the bytes at an address of the program up to the end of their
 * section, or NULL. */
static const unsigned char *
bytes_at(const struct places *p, uint64_t address, size_t *left)
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
        if (bytes == NULL || at >= size)
            return NULL;
        *left = size - at;
        return bytes + at;
    }
    return NULL;
}

/* Returns the string at an address of the program, or NULL. */
static const char *
string_at(const struct places *p, uint64_t address)
{
    size_t left;
    const unsigned char *bytes = bytes_at(p, address, &left);

    if (bytes == NULL || memchr(bytes, '\0', left) == NULL)
        return NULL;
    return (const char *)bytes;
}

/* Returns the pointer at an address: the addend of the relocation, if there is
 * one, otherwise the value in place. */
static uint64_t
pointer_at(const struct places *p, uint64_t address, const unsigned char *bytes)
{
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
    return number_at(p, bytes, 8);
}

/* Returns whether the place was found before: several calls may stand in one
 * source line. */
static bool
is_known(const struct places *p, const struct site *site)
{
    size_t i = 0;

    while (i < p->count && (p->sites[i].line != site->line ||
                            strcmp(p->sites[i].file, site->file) != 0 ||
                            strcmp(p->sites[i].function, site->function) != 0))
        i++;
    return i < p->count;
}

static void
add_site(struct places *p, const struct site *site)
{
    if ((p->count & (p->count - 1)) == 0) {
        const size_t room = p->count > 0 ? 2 * p->count : 1;
        struct site *more = realloc(p->sites, room * sizeof(*more));
        p->crowded |= more == NULL;
        if (more == NULL)
            return;
        p->sites = more;
    }
    p->sites[p->count++] = *site;
    p->take(p->user, call_id(site->file, site->line, site->function),
            site->file, site->line, site->function);
}

/* Takes the place whose struct tally_profiler_site is at the address. */
static void
take_site(struct places *p, uint64_t address)
{
    size_t left = 0;
    const unsigned char *bytes = bytes_at(p, address, &left);

    if (bytes == NULL || left < SITE_SIZE)
        return;
    const struct site site = {
        .file = string_at(p, pointer_at(p, address, bytes)),
        .function = string_at(
            p, pointer_at(p, address + SITE_FUNCTION, bytes + SITE_FUNCTION)),
        .line = (uint32_t)number_at(p, bytes + SITE_LINE, 4),
    };
    if (site.file != NULL && site.function != NULL && !is_known(p, &site))
        add_site(p, &site);
}

/* Takes the places of calls in C: a section holds them. */
static void
take_section(struct places *p)
{
    Elf_Scn *section = NULL;
    GElf_Shdr row;
    size_t names;

    if (elf_getshdrstrndx(p->elf, &names) != 0)
        return;
    while ((section = elf_nextscn(p->elf, section)) != NULL) {
        const char *name = gelf_getshdr(section, &row) != NULL
                               ? elf_strptr(p->elf, names, row.sh_name)
                               : NULL;
        if (name == NULL || strcmp(name, "tally_sites") != 0)
            continue;
        /* The header may claim more than the file has. */
        size_t size;
        if (section_bytes(section, &size) == NULL)
            continue;
        for (size_t at = 0; size - at >= SITE_SIZE; at += SITE_SIZE)
            take_site(p, row.sh_addr + at);
    }
}

/* Takes the places of calls in C++, by the names of their variables, which
 * stripping takes away. They are in no section of their own: a template or an
 * inline function has one place that many compilations share. */
static void
take_symbols(struct places *p)
{
    Elf_Scn *section = NULL;
    GElf_Shdr row;
    GElf_Sym symbol;

    while ((section = elf_nextscn(p->elf, section)) != NULL) {
        if (gelf_getshdr(section, &row) == NULL || row.sh_type != SHT_SYMTAB)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        for (int i = 0; data != NULL && gelf_getsym(data, i, &symbol) != NULL;
             i++) {
            const char *name = elf_strptr(p->elf, row.sh_link, symbol.st_name);
            if (name != NULL && strstr(name, SITE_NAME) != NULL &&
                GELF_ST_TYPE(symbol.st_info) == STT_OBJECT)
                take_site(p, symbol.st_value);
        }
    }
}

int
call_places_read(const char *path,
                 void (*take)(void *user, uint32_t id, const char *file,
                              uint32_t line, const char *function),
                 void *user)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct places p = {.take = take, .user = user};
    GElf_Ehdr head;

    if (fd < 0)
        return TALLY_EIO;
    elf_version(EV_CURRENT);
    p.elf = elf_begin(fd, ELF_C_READ, NULL);
    if (p.elf != NULL && elf_kind(p.elf) == ELF_K_ELF &&
        gelf_getclass(p.elf) == ELFCLASS64 &&
        gelf_getehdr(p.elf, &head) != NULL) {
        p.big = head.e_ident[EI_DATA] == ELFDATA2MSB;
        take_section(&p);
        take_symbols(&p);
    }
    elf_end(p.elf);
    close(fd);
    free(p.sites);
    return p.crowded ? TALLY_ENOMEM : p.count > 0 ? 0 : TALLY_EPROGRAM;
}
