/* SPDX-License-Identifier: MIT */
/* Symbols of ELF files, through libelf. */
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source/program.h"
#include "table/table.h"

/* Called for each symbol until it returns false. */
typedef bool (*symbol_visit)(void *user, const char *name,
                             const GElf_Sym *symbol);

static bool
visit_section(Elf *elf, Elf_Scn *section, symbol_visit visit, void *user)
{
    GElf_Shdr header;
    Elf_Data *data = elf_getdata(section, NULL);

    if (gelf_getshdr(section, &header) == NULL || data == NULL ||
        header.sh_entsize == 0)
        return true;
    const int count = (int)(data->d_size / header.sh_entsize);
    for (int i = 0; i < count; i++) {
        GElf_Sym symbol;
        if (gelf_getsym(data, i, &symbol) == NULL)
            continue;
        const char *name =
            elf_strptr(elf, header.sh_link, (size_t)symbol.st_name);
        if (name != NULL && !visit(user, name, &symbol))
            return false;
    }
    return true;
}

static bool
visit_symbols(const char *path, GElf_Word type, symbol_visit visit, void *user)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    Elf *elf = NULL;
    bool found = false;

    elf_version(EV_CURRENT);
    if (fd >= 0)
        elf = elf_begin(fd, ELF_C_READ, NULL);
    for (Elf_Scn *s = elf ? elf_nextscn(elf, NULL) : NULL; s != NULL;
         s = elf_nextscn(elf, s)) {
        GElf_Shdr header;
        if (gelf_getshdr(s, &header) == NULL || header.sh_type != type)
            continue;
        found = true;
        if (!visit_section(elf, s, visit, user))
            break;
    }
    elf_end(elf);
    if (fd >= 0)
        close(fd);
    return found;
}

struct search {
    const char *name;
    unsigned char type; /* STT_FUNC or STT_OBJECT */
    uint64_t address, size;
    bool found;
    char **names; /* of all of the type, for near names */
    size_t count, room;
};

/* Returns whether the symbol is of the type, and of something in this file: one
 * of another file's function may have the address of the stub that leads there.
 */
static bool
is_wanted(const struct search *s, const GElf_Sym *symbol)
{
    return GELF_ST_TYPE(symbol->st_info) == s->type &&
           symbol->st_shndx != SHN_UNDEF && symbol->st_value != 0;
}

static bool
match_symbol(void *user, const char *name, const GElf_Sym *symbol)
{
    struct search *s = user;

    if (!is_wanted(s, symbol) || strcmp(name, s->name) != 0)
        return true;
    s->address = symbol->st_value;
    s->size = symbol->st_size;
    s->found = true;
    return false;
}

static bool
collect_name(void *user, const char *name, const GElf_Sym *symbol)
{
    struct search *s = user;

    if (!is_wanted(s, symbol))
        return true;
    if (s->count == s->room) {
        const size_t room = s->room ? s->room * 2 : 1024;
        char **names = realloc(s->names, room * sizeof(*names));
        if (names == NULL)
            return false;
        s->names = names;
        s->room = room;
    }
    s->names[s->count] = strdup(name);
    if (s->names[s->count] == NULL)
        return false;
    s->count++;
    return true;
}

static int
unknown_symbol(const char *path, const struct search *wanted,
               const struct tally_log *log)
{
    const char *const name = wanted->name;
    struct search s = {.name = name, .type = wanted->type};
    char near[256];

    if (log == NULL)
        return TALLY_EUNKNOWN;
    visit_symbols(path, SHT_SYMTAB, collect_name, &s);
    near_names(name, (const char *const *)s.names, s.count, 3, near,
               sizeof(near));
    for (size_t i = 0; i < s.count; i++)
        free(s.names[i]);
    free(s.names);
    return tally_fail(log, TALLY_EUNKNOWN, "%s: no %s '%s'%s%s%s", path,
                      s.type == STT_FUNC ? "function" : "data object", name,
                      *near ? "; did you mean " : "", near, *near ? "?" : "");
}

static int
find_symbol(const char *path, struct search *found, const struct tally_log *log)
{
    const char *const name = found->name;
    struct search s = {.name = name, .type = found->type};
    const bool table = visit_symbols(path, SHT_SYMTAB, match_symbol, &s);

    if (!s.found)
        visit_symbols(path, SHT_DYNSYM, match_symbol, &s);
    if (!s.found && !table)
        return tally_fail(log, TALLY_EPROGRAM,
                          "%s: no symbol table to find '%s' in; build it "
                          "without stripping",
                          path, name);
    if (!s.found)
        return unknown_symbol(path, &s, log);
    *found = s;
    return 0;
}

int
program_symbol(const char *path, const char *name, const struct tally_log *log,
               uint64_t *address)
{
    struct search s = {.name = name, .type = STT_FUNC};
    const int error = find_symbol(path, &s, log);

    if (error == 0)
        *address = s.address;
    return error;
}

static int
symbol_range(const char *path, const char *name, unsigned char type,
             const struct tally_log *log, uint64_t *first, uint64_t *last)
{
    struct search s = {.name = name, .type = type};
    const int error = find_symbol(path, &s, log);

    if (error != 0)
        return error;
    if (s.size == 0)
        return tally_fail(log, TALLY_EPROGRAM,
                          "%s: the symbol '%s' has no size; give its addresses "
                          "as FIRST-LAST",
                          path, name);
    *first = s.address;
    *last = s.address + s.size - 1;
    return 0;
}

int
program_function(const char *path, const char *name,
                 const struct tally_log *log, uint64_t *first, uint64_t *last)
{
    return symbol_range(path, name, STT_FUNC, log, first, last);
}

int
program_object(const char *path, const char *name, const struct tally_log *log,
               uint64_t *first, uint64_t *last)
{
    return symbol_range(path, name, STT_OBJECT, log, first, last);
}

/* Finds the segment with code or data of which `holds` says that it is the one
 * that is sought; false if there is none. */
static bool
find_segment(const char *path, bool (*holds)(const GElf_Phdr *p, uint64_t at),
             uint64_t at, GElf_Phdr *p)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    Elf *elf = NULL;
    size_t count = 0;
    bool found = false;

    elf_version(EV_CURRENT);
    if (fd >= 0)
        elf = elf_begin(fd, ELF_C_READ, NULL);
    if (elf == NULL || elf_getphdrnum(elf, &count) != 0)
        count = 0;
    for (size_t i = 0; i < count && !found; i++)
        found = gelf_getphdr(elf, (int)i, p) != NULL && p->p_type == PT_LOAD &&
                holds(p, at);
    elf_end(elf);
    if (fd >= 0)
        close(fd);
    return found;
}

static bool
holds_address(const GElf_Phdr *p, uint64_t at)
{
    return at >= p->p_vaddr && at - p->p_vaddr < p->p_filesz;
}

static bool
holds_offset(const GElf_Phdr *p, uint64_t at)
{
    return at >= p->p_offset && at - p->p_offset < p->p_filesz;
}

int
program_offset(const char *path, uint64_t address, const struct tally_log *log,
               uint64_t *offset)
{
    GElf_Phdr p;

    if (!find_segment(path, holds_address, address, &p))
        return tally_fail(log, TALLY_EPROGRAM,
                          "%s: nothing of the file is loaded at 0x%llx", path,
                          (unsigned long long)address);
    *offset = address - p.p_vaddr + p.p_offset;
    return 0;
}

uint64_t
program_address(const char *path, uint64_t offset)
{
    GElf_Phdr p;

    return find_segment(path, holds_offset, offset, &p)
               ? offset - p.p_offset + p.p_vaddr
               : UINT64_MAX;
}

struct exports {
    const char *const *names;
    size_t count;
    uint32_t found;
};

static bool
match_export(void *user, const char *name, const GElf_Sym *symbol)
{
    struct exports *e = user;

    for (size_t i = 0; i < e->count; i++)
        if (symbol->st_shndx != SHN_UNDEF && strcmp(name, e->names[i]) == 0)
            e->found |= UINT32_C(1) << i;
    return true;
}

uint32_t
elf_exports(const char *path, const char *const *names, size_t count)
{
    struct exports e = {.names = names, .count = count};

    visit_symbols(path, SHT_DYNSYM, match_export, &e);
    return e.found;
}

bool
elf_has_section(const char *path, const char *section)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    Elf *elf = NULL;
    size_t names;
    bool found = false;

    elf_version(EV_CURRENT);
    if (fd >= 0)
        elf = elf_begin(fd, ELF_C_READ, NULL);
    if (elf != NULL && elf_getshdrstrndx(elf, &names) == 0) {
        for (Elf_Scn *s = elf_nextscn(elf, NULL); s != NULL && !found;
             s = elf_nextscn(elf, s)) {
            GElf_Shdr header;
            const char *name = gelf_getshdr(s, &header) != NULL
                                   ? elf_strptr(elf, names, header.sh_name)
                                   : NULL;
            found = name != NULL && strcmp(name, section) == 0;
        }
    }
    elf_end(elf);
    if (fd >= 0)
        close(fd);
    return found;
}

static bool
collect_function(void *user, const char *name, const GElf_Sym *symbol)
{
    struct program_functions *f = user;

    if (GELF_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_value == 0)
        return true;
    if (f->count == f->room) {
        const size_t room = f->room ? f->room * 2 : 1024;
        struct program_function *all = reallocarray(f->all, room, sizeof(*all));
        if (all == NULL)
            return false;
        f->all = all;
        f->room = room;
    }
    struct program_function *one = &f->all[f->count];
    one->first = symbol->st_value;
    one->last = symbol->st_value + (symbol->st_size ? symbol->st_size - 1 : 0);
    one->name = strdup(name);
    if (one->name == NULL)
        return false;
    f->count++;
    return true;
}

static int
by_address(const void *a, const void *b)
{
    const struct program_function *x = a, *y = b;

    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return strcmp(x->name, y->name);
}

void
program_functions(const char *path, struct program_functions *f)
{
    *f = (struct program_functions){0};
    if (!visit_symbols(path, SHT_SYMTAB, collect_function, f))
        visit_symbols(path, SHT_DYNSYM, collect_function, f);
    if (f->count > 0)
        qsort(f->all, f->count, sizeof(*f->all), by_address);
}

void
program_functions_finish(struct program_functions *f)
{
    for (size_t i = 0; i < f->count; i++)
        free(f->all[i].name);
    free(f->all);
    *f = (struct program_functions){0};
}

const char *
program_function_at(const struct program_functions *f, uint64_t address)
{
    size_t low = 0, high = f->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (f->all[middle].first <= address)
            low = middle + 1;
        else
            high = middle;
    }
    /* Of several that begin there, any that reaches so far. */
    for (size_t i = low; i > 0 && f->all[i - 1].first == f->all[low - 1].first;
         i--) {
        if (address <= f->all[i - 1].last)
            return f->all[i - 1].name;
    }
    return NULL;
}
