/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/variables.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Notes the addresses of the segments that are loaded. */
static void
read_segments(Elf *elf, struct variables *v)
{
    size_t count = 0;

    if (elf_getphdrnum(elf, &count) != 0)
        return;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr p;
        if (gelf_getphdr(elf, (int)i, &p) == NULL || p.p_type != PT_LOAD ||
            p.p_memsz == 0 || p.p_memsz - 1 > UINT64_MAX - p.p_vaddr)
            continue;
        if (p.p_vaddr < v->first)
            v->first = p.p_vaddr;
        if (p.p_vaddr + (p.p_memsz - 1) > v->last)
            v->last = p.p_vaddr + (p.p_memsz - 1);
    }
}

/* Returns the table of symbols, and its header; NULL: there is none. */
static Elf_Scn *
find_table(Elf *elf, GElf_Shdr *header)
{
    Elf_Scn *section = NULL, *found = NULL;
    GElf_Shdr h;

    while ((section = elf_nextscn(elf, section)) != NULL) {
        if (gelf_getshdr(section, &h) == NULL || h.sh_entsize == 0 ||
            (h.sh_type != SHT_SYMTAB && h.sh_type != SHT_DYNSYM))
            continue;
        if (found != NULL && header->sh_type == SHT_SYMTAB)
            continue;
        found = section;
        *header = h;
    }
    return found;
}

/* Adds the symbol if it is a variable's. */
static void
add_symbol(struct variables *v, const GElf_Sym *symbol, const char *name)
{
    if (GELF_ST_TYPE(symbol->st_info) != STT_OBJECT || symbol->st_size == 0 ||
        symbol->st_shndx == SHN_UNDEF || name == NULL || *name == '\0' ||
        symbol->st_value < v->first || symbol->st_value > v->last ||
        symbol->st_size - 1 > v->last - symbol->st_value)
        return;
    char *const copy = strdup(name);
    if (copy != NULL)
        v->rows[v->count++] =
            (struct variable){symbol->st_value, symbol->st_size, copy};
}

static size_t
underscores(const struct variable *v)
{
    return strspn(v->name, "_");
}

/* Of variables with one address the largest comes first, and of those with one
 * size the one with the plainest name. */
static int
compare(const void *first, const void *second)
{
    const struct variable *a = first, *b = second;

    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    if (a->size != b->size)
        return a->size > b->size ? -1 : 1;
    if (underscores(a) != underscores(b))
        return underscores(a) < underscores(b) ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* Leaves out variables that begin within another. */
static void
leave_apart(struct variables *v)
{
    size_t kept = 0;

    qsort(v->rows, v->count, sizeof(*v->rows), compare);
    for (size_t i = 0; i < v->count; i++) {
        const struct variable *before = &v->rows[kept != 0 ? kept - 1 : 0];
        if (kept != 0 && v->rows[i].first - before->first < before->size)
            free(v->rows[i].name);
        else
            v->rows[kept++] = v->rows[i];
    }
    v->count = kept;
}

static void
read_symbols(Elf *elf, struct variables *v)
{
    GElf_Shdr header;
    Elf_Scn *const section = find_table(elf, &header);
    Elf_Data *const data = section != NULL ? elf_getdata(section, NULL) : NULL;

    if (data == NULL)
        return;
    const size_t count = data->d_size / header.sh_entsize;
    v->rows = malloc((count + 1) * sizeof(*v->rows));
    for (size_t i = 0; v->rows != NULL && i < count; i++) {
        GElf_Sym symbol;
        if (gelf_getsym(data, (int)i, &symbol) != NULL)
            add_symbol(v, &symbol,
                       elf_strptr(elf, header.sh_link, symbol.st_name));
    }
    leave_apart(v);
}

void
variables_read(const char *path, struct variables *v)
{
    /* What is no regular file could block. */
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;

    *v = (struct variables){.first = UINT64_MAX};
    if (fd < 0)
        return;
    elf_version(EV_CURRENT);
    Elf *const elf = fstat(fd, &st) == 0 && S_ISREG(st.st_mode)
                         ? elf_begin(fd, ELF_C_READ, NULL)
                         : NULL;
    if (elf != NULL && elf_kind(elf) == ELF_K_ELF) {
        read_segments(elf, v);
        read_symbols(elf, v);
    }
    elf_end(elf);
    close(fd);
}

size_t
variables_from(const struct variables *v, uint64_t address)
{
    size_t low = 0, high = v->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (v->rows[middle].first + (v->rows[middle].size - 1) < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void
variables_finish(struct variables *v)
{
    for (size_t i = 0; i < v->count; i++)
        free(v->rows[i].name);
    free(v->rows);
    *v = (struct variables){.first = UINT64_MAX};
}
