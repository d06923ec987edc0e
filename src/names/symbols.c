/* SPDX-License-Identifier: MIT */
#include "names/symbols.h"

#include <stdlib.h>
#include <string.h>

/* What a symbol table is read into. */
struct reader {
    struct symbols *symbols;
    const struct elf_file *file; /* which has the segments */
    struct demangler *keep;
};

static bool
add(struct symbols *s, const struct symbol *symbol)
{
    if (s->count == s->room) {
        const size_t room = s->room ? s->room * 2 : 256;
        struct symbol *all = reallocarray(s->all, room, sizeof(*all));
        if (all == NULL)
            return false;
        s->all = all;
        s->room = room;
    }
    s->all[s->count++] = *symbol;
    return true;
}

/* Returns how well a reader knows the symbol: the lower, the better. */
static uint32_t
rank_of(const char *name, unsigned char binding)
{
    const uint32_t most = 0xff;
    const size_t underscores = strspn(name, "_");
    const uint32_t first = binding == STB_LOCAL  ? 2
                           : binding == STB_WEAK ? 1
                                                 : 0;

    return first << 8 | (underscores < most ? (uint32_t)underscores : most);
}

/* Returns the end of the section with the index, or UINT64_MAX. */
static uint64_t
section_end(Elf *elf, size_t index)
{
    GElf_Shdr header;
    Elf_Scn *section = elf_getscn(elf, index);

    if (section == NULL || gelf_getshdr(section, &header) == NULL ||
        header.sh_size > UINT64_MAX - header.sh_addr)
        return UINT64_MAX;
    return header.sh_addr + header.sh_size;
}

/* Adds a symbol if it is a function of the file. */
static bool
take_symbol(struct reader *r, Elf *elf, const GElf_Sym *symbol,
            const char *name)
{
    const unsigned char type = GELF_ST_TYPE(symbol->st_info);

    if ((type != STT_FUNC && type != STT_GNU_IFUNC) ||
        symbol->st_shndx == SHN_UNDEF || name == NULL || name[0] == '\0' ||
        !elf_file_is_code(r->file, symbol->st_value))
        return true;
    const char *const version = strchr(name, '@');
    if (version != NULL)
        name = demangler_keep(r->keep, name, (size_t)(version - name), "");
    if (name == NULL)
        return false;
    return add(r->symbols,
               &(struct symbol){
                   .address = symbol->st_value,
                   .size = symbol->st_size,
                   .limit = section_end(elf, symbol->st_shndx),
                   .name = name,
                   .rank = rank_of(name, GELF_ST_BIND(symbol->st_info)),
               });
}

/* Returns how many entries of `size` bytes the section's data has. */
static size_t
entries(const Elf_Data *data, const GElf_Shdr *header, Elf *elf, Elf_Type type)
{
    const size_t size = gelf_fsize(elf, type, 1, EV_CURRENT);

    if (data == NULL || size == 0 || header->sh_entsize != size)
        return 0;
    return data->d_size / size;
}

/* Reads the first section of the type; false: no memory. */
static bool
read_table(struct reader *r, Elf *elf, GElf_Word type)
{
    for (Elf_Scn *s = elf_nextscn(elf, NULL); s != NULL;
         s = elf_nextscn(elf, s)) {
        GElf_Shdr header;
        if (gelf_getshdr(s, &header) == NULL || header.sh_type != type)
            continue;
        Elf_Data *data = elf_getdata(s, NULL);
        const size_t count = entries(data, &header, elf, ELF_T_SYM);
        for (size_t i = 0; i < count; i++) {
            GElf_Sym symbol;
            if (gelf_getsym(data, (int)i, &symbol) == NULL)
                break;
            if (!take_symbol(r, elf, &symbol,
                             elf_strptr(elf, header.sh_link, symbol.st_name)))
                return false;
        }
    }
    return true;
}

/* A word in memory that the loader fills with a function's address. */
struct slot {
    uint64_t address;
    const char *name;
};

struct slots {
    struct slot *all;
    size_t count, room;
};

static int
by_slot(const void *a, const void *b)
{
    const struct slot *x = a, *y = b;

    return (x->address > y->address) - (x->address < y->address);
}

/* Adds the slots of a section of relocations. */
static bool
read_slots(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
           struct slots *slots)
{
    GElf_Shdr table;
    Elf_Scn *linked = elf_getscn(elf, header->sh_link);
    Elf_Data *data = elf_getdata(section, NULL);
    Elf_Data *symbols = linked != NULL ? elf_getdata(linked, NULL) : NULL;
    const size_t count = entries(data, header, elf, ELF_T_RELA);

    if (symbols == NULL || gelf_getshdr(linked, &table) == NULL)
        return true;
    for (size_t i = 0; i < count; i++) {
        GElf_Rela rela;
        GElf_Sym symbol;
        if (gelf_getrela(data, (int)i, &rela) == NULL)
            break;
        const uint64_t type = GELF_R_TYPE(rela.r_info);
        if ((type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) ||
            gelf_getsym(symbols, (int)GELF_R_SYM(rela.r_info), &symbol) == NULL)
            continue;
        const char *name = elf_strptr(elf, table.sh_link, symbol.st_name);
        if (name == NULL || name[0] == '\0')
            continue;
        if (slots->count == slots->room) {
            const size_t room = slots->room ? slots->room * 2 : 64;
            struct slot *all = reallocarray(slots->all, room, sizeof(*all));
            if (all == NULL)
                return false;
            slots->all = all;
            slots->room = room;
        }
        slots->all[slots->count++] = (struct slot){rela.r_offset, name};
    }
    return true;
}

/* Returns the slot through which the stub jumps: the operand of its
 * "jmp *disp(%rip)", which ENDBR64 and BND may precede; UINT64_MAX: none. */
static uint64_t
stub_slot(const uint8_t *stub, size_t size, uint64_t address)
{
    for (size_t i = 0; i <= 5 && i + 6 <= size; i++) {
        int32_t displacement;
        if (stub[i] != 0xff || stub[i + 1] != 0x25)
            continue;
        memcpy(&displacement, stub + i + 2, sizeof(displacement));
        return address + i + 6 + (uint64_t)(int64_t)displacement;
    }
    return UINT64_MAX;
}

/* Adds a symbol for each stub of the section whose slot is known. */
static bool
read_stubs(struct reader *r, Elf_Scn *section, const GElf_Shdr *header,
           const struct slots *slots)
{
    const size_t size = header->sh_entsize == 8 ? 8 : 16;
    const Elf_Data *data = elf_getdata(section, NULL);

    if (data == NULL || data->d_buf == NULL || header->sh_type != SHT_PROGBITS)
        return true;
    for (size_t at = 0; at + size <= data->d_size; at += size) {
        const uint8_t *stub = (const uint8_t *)data->d_buf + at;
        const struct slot key = {
            .address = stub_slot(stub, size, header->sh_addr + at)};
        const struct slot *slot = bsearch(&key, slots->all, slots->count,
                                          sizeof(*slots->all), by_slot);
        if (slot == NULL || !elf_file_is_code(r->file, header->sh_addr + at))
            continue;
        const char *name = demangler_keep(r->keep, slot->name,
                                          strcspn(slot->name, "@"), "@plt");
        if (name == NULL ||
            !add(r->symbols, &(struct symbol){
                                 .address = header->sh_addr + at,
                                 .size = size,
                                 .limit = UINT64_MAX,
                                 .name = name,
                                 .rank = rank_of(name, STB_LOCAL),
                             }))
            return false;
    }
    return true;
}

/* Adds the stubs of the procedure linkage tables of an x86-64 file. */
static bool
read_linkage(struct reader *r)
{
    Elf *elf = r->file->elf;
    struct slots slots = {0};
    GElf_Ehdr elf_header;
    GElf_Shdr header;
    size_t names;
    bool done = true;

    if (gelf_getehdr(elf, &elf_header) == NULL ||
        elf_header.e_machine != EM_X86_64 ||
        elf_getshdrstrndx(elf, &names) != 0)
        return true;
    for (Elf_Scn *s = elf_nextscn(elf, NULL); s != NULL && done;
         s = elf_nextscn(elf, s))
        if (gelf_getshdr(s, &header) != NULL && header.sh_type == SHT_RELA)
            done = read_slots(elf, s, &header, &slots);
    if (slots.count > 0)
        qsort(slots.all, slots.count, sizeof(*slots.all), by_slot);
    for (Elf_Scn *s = elf_nextscn(elf, NULL);
         s != NULL && done && slots.count > 0; s = elf_nextscn(elf, s)) {
        const char *name = gelf_getshdr(s, &header) != NULL
                               ? elf_strptr(elf, names, header.sh_name)
                               : NULL;
        if (name != NULL && strncmp(name, ".plt", 4) == 0)
            done = read_stubs(r, s, &header, &slots);
    }
    free(slots.all);
    return done;
}

static int
by_address(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;

    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Returns the first symbol with another address than that of `first`. */
static size_t
next_address(const struct symbols *s, size_t first)
{
    size_t i = first + 1;

    while (i < s->count && s->all[i].address == s->all[first].address)
        i++;
    return i;
}

/* Gives each address to a symbol. One without a size reaches up to the next
 * symbol or the end of its section. */
static bool
map_symbols(struct symbols *s)
{
    size_t next;

    for (size_t i = 0; i < s->count; i = next) {
        const uint64_t start = s->all[i].address;
        uint64_t size = 0;
        next = next_address(s, i);
        for (size_t j = i; j < next; j++)
            if (s->all[j].size > size)
                size = s->all[j].size;
        uint64_t end = next < s->count ? s->all[next].address : UINT64_MAX;
        if (size > 0)
            end = size < UINT64_MAX - start ? start + size : UINT64_MAX;
        else if (s->all[i].limit < end)
            end = s->all[i].limit;
        if (!span_add(&s->spans, &(struct span){start, end, (uint32_t)i, 0}))
            return false;
    }
    return span_flatten(&s->spans);
}

bool
symbols_read(struct symbols *s, const struct elf_file *file,
             const struct elf_file *debug, struct demangler *keep)
{
    struct reader r = {.symbols = s, .file = file, .keep = keep};
    bool done = read_table(&r, file->elf, SHT_SYMTAB);

    if (done && s->count == 0 && debug->elf != NULL)
        done = read_table(&r, debug->elf, SHT_SYMTAB);
    s->full = s->count > 0;
    if (done && !s->full)
        done = read_table(&r, file->elf, SHT_DYNSYM);
    done = done && read_linkage(&r);
    if (s->count > UINT32_MAX)
        s->count = UINT32_MAX;
    if (s->count > 0)
        qsort(s->all, s->count, sizeof(*s->all), by_address);
    return done && map_symbols(s);
}

const struct symbol *
symbols_find(const struct symbols *s, uint64_t address)
{
    const struct span *span = span_find(&s->spans, address);

    return span != NULL ? &s->all[span->owner] : NULL;
}

uint64_t
symbols_until(const struct symbols *s, uint64_t address)
{
    return span_until(&s->spans, address);
}

void
symbols_finish(struct symbols *s)
{
    free(s->all);
    span_finish(&s->spans);
    *s = (struct symbols){0};
}
