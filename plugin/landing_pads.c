/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/landing_pads.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The sections with language-specific data areas are named so. */
#define AREAS ".gcc_except_table"

/* How a pointer is encoded (Linux Standard Base 5.0, core, 10.5.1). */
enum {
    ENCODED_ABSOLUTE = 0,
    ENCODED_ULEB128 = 1,
    ENCODED_UDATA2 = 2,
    ENCODED_UDATA4 = 3,
    ENCODED_UDATA8 = 4,
    ENCODED_SLEB128 = 9,
    ENCODED_SDATA2 = 10,
    ENCODED_SDATA4 = 11,
    ENCODED_SDATA8 = 12,
    ENCODED_FORMAT = 15,
    ENCODED_RELATIVE = 0x10, /* to the pointer's own address */
    ENCODED_BASE = 0x70,
    ENCODED_OMITTED = 0xff,
};

/* Bytes of a section; `at` is advanced. What is read behind `end` is 0, and
 * `bad` is set. */
struct reader {
    const uint8_t *start, *at, *end;
    uint64_t address; /* of start */
    bool big_endian, bad;
};

/* What a CIE says of the FDEs that name it. */
struct cie {
    uint8_t code, data; /* encodings of addresses of code, and of the area */
    bool has_size;      /* of augmentation data */
};

struct reading {
    Elf *elf;
    struct landing_pads *pads;
    size_t room; /* rows that there may be: no more than the areas can have */
    bool big_endian;
    struct reader section; /* that held the last address */
};

static uint64_t
take(struct reader *r, size_t size)
{
    uint64_t value = 0;

    if ((size_t)(r->end - r->at) < size) {
        r->bad = true;
        r->at = r->end;
        return 0;
    }
    for (size_t i = 0; i < size; i++) {
        const size_t byte = r->big_endian ? i : size - 1 - i;
        value = value << 8 | r->at[byte];
    }
    r->at += size;
    return value;
}

static uint64_t
take_leb128(struct reader *r, bool has_sign)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;

    do {
        byte = (uint8_t)take(r, 1);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    if (has_sign && (byte & 0x40) && shift < 64)
        value |= ~UINT64_C(0) << shift;
    return value;
}

/* Takes a number of the encoding's format; its base is left out. */
static uint64_t
take_number(struct reader *r, uint8_t encoding)
{
    switch (encoding & ENCODED_FORMAT) {
    case ENCODED_ULEB128:
        return take_leb128(r, false);
    case ENCODED_SLEB128:
        return take_leb128(r, true);
    case ENCODED_UDATA2:
        return take(r, 2);
    case ENCODED_SDATA2:
        return (uint64_t)(int16_t)take(r, 2);
    case ENCODED_UDATA4:
        return take(r, 4);
    case ENCODED_SDATA4:
        return (uint64_t)(int32_t)take(r, 4);
    case ENCODED_ABSOLUTE:
    case ENCODED_UDATA8:
    case ENCODED_SDATA8:
        return take(r, 8);
    default:
        r->bad = true;
        return 0;
    }
}

/* Takes a pointer; 0: there is none, or its base is not known. */
static uint64_t
take_pointer(struct reader *r, uint8_t encoding)
{
    const uint64_t own = r->address + (uint64_t)(r->at - r->start);
    const uint64_t value = take_number(r, encoding);

    if (value == 0 || (encoding & ENCODED_BASE) == 0)
        return value;
    return (encoding & ENCODED_BASE) == ENCODED_RELATIVE ? own + value : 0;
}

/* Finds the offset in the file of an address of code. */
static bool
find_offset(Elf *elf, uint64_t address, uint64_t *offset)
{
    size_t count = 0;

    if (elf_getphdrnum(elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr p;
        if (gelf_getphdr(elf, (int)i, &p) == NULL || p.p_type != PT_LOAD ||
            (p.p_flags & PF_X) == 0 || address - p.p_vaddr >= p.p_filesz)
            continue;
        *offset = address - p.p_vaddr + p.p_offset;
        return true;
    }
    return false;
}

/* Finds the section that holds an address of the file. */
static bool
find_section(struct reading *reading, uint64_t address)
{
    Elf_Scn *section = NULL;
    GElf_Shdr h;

    while ((section = elf_nextscn(reading->elf, section)) != NULL) {
        if (gelf_getshdr(section, &h) == NULL ||
            (h.sh_flags & SHF_ALLOC) == 0 || h.sh_type == SHT_NOBITS ||
            address - h.sh_addr >= h.sh_size)
            continue;
        const Elf_Data *const data = elf_rawdata(section, NULL);
        if (data == NULL || data->d_buf == NULL || data->d_size != h.sh_size)
            return false;
        const uint8_t *const bytes = data->d_buf;
        reading->section = (struct reader){
            .start = bytes,
            .end = bytes + data->d_size,
            .address = h.sh_addr,
            .big_endian = reading->big_endian,
        };
        return true;
    }
    return false;
}

/* Begins to read at an address of the file; false: no section holds it. */
static bool
read_at(struct reading *reading, uint64_t address, struct reader *r)
{
    const struct reader *s = &reading->section;

    if ((s->start == NULL ||
         address - s->address >= (uint64_t)(s->end - s->start)) &&
        !find_section(reading, address))
        return false;
    *r = *s;
    r->at = r->start + (address - r->address);
    return true;
}

static void
add_row(struct reading *reading, const struct landing_pad *row)
{
    struct landing_pads *pads = reading->pads;

    if (pads->count == reading->room)
        return;
    if ((pads->count & (pads->count - 1)) == 0) { /* 0, 1, 2, 4, 8 ... */
        struct landing_pad *const rows = reallocarray(
            pads->rows, pads->count == 0 ? 1 : 2 * pads->count, sizeof(*rows));
        if (rows == NULL) {
            reading->room = pads->count;
            return;
        }
        pads->rows = rows;
    }
    pads->rows[pads->count++] = *row;
}

/* Reads the area of a function that begins at `function`. */
static void
read_area(struct reading *reading, uint64_t area, uint64_t function)
{
    struct reader r;
    uint64_t base = function;

    if (!read_at(reading, area, &r))
        return;
    const uint8_t pads = (uint8_t)take(&r, 1);
    if (pads != ENCODED_OMITTED)
        base = take_pointer(&r, pads);
    if (take(&r, 1) != ENCODED_OMITTED)
        take_leb128(&r, false); /* where the table of types is */
    const uint8_t calls = (uint8_t)take(&r, 1);
    const uint64_t size = take_leb128(&r, false);
    if (r.bad || size > (uint64_t)(r.end - r.at))
        return;
    r.end = r.at + size;
    while (r.at < r.end) {
        struct landing_pad row;
        const uint64_t start = take_number(&r, calls);
        const uint64_t length = take_number(&r, calls);
        const uint64_t pad = take_number(&r, calls);
        take_leb128(&r, false); /* the action */
        if (r.bad)
            return;
        if (pad != 0 && length != 0 &&
            find_offset(reading->elf, base + pad, &row.pad) &&
            find_offset(reading->elf, function + start, &row.first)) {
            row.last = row.first + (length - 1);
            add_row(reading, &row);
        }
    }
}

/* Reads the CIE whose id `r` has passed; false: its FDEs tell no area. */
static bool
read_cie(struct reader *r, struct cie *cie)
{
    const uint64_t version = take(r, 1);
    const char *const text = (const char *)r->at;

    *cie = (struct cie){ENCODED_ABSOLUTE, ENCODED_OMITTED, false};
    while (take(r, 1) != 0) {
    }
    if (r->bad || *text != 'z')
        return false;
    if (version >= 4)
        take(r, 2); /* sizes of addresses and segments */
    take_leb128(r, false);
    take_leb128(r, true);
    if (version == 1)
        take(r, 1);
    else
        take_leb128(r, false);
    take_leb128(r, false); /* the size of what follows */
    for (const char *c = text + 1; *c != '\0' && !r->bad; c++) {
        if (*c == 'R')
            cie->code = (uint8_t)take(r, 1);
        else if (*c == 'L')
            cie->data = (uint8_t)take(r, 1);
        else if (*c == 'P')
            take_pointer(r, (uint8_t)take(r, 1));
        else if (*c != 'S' && *c != 'B')
            break;
    }
    return !r->bad && cie->data != ENCODED_OMITTED;
}

/* Takes the size of an entry of .eh_frame, and sets `entry` to what follows. */
static bool
take_entry(struct reader *r, struct reader *entry)
{
    uint64_t size = take(r, 4);

    if (size == UINT32_MAX)
        size = take(r, 8);
    if (r->bad || size > (uint64_t)(r->end - r->at))
        return false;
    *entry = *r;
    entry->end = r->at + size;
    r->at += size;
    return true;
}

/* Reads the CIE that begins `distance` bytes before `from`. */
static bool
find_cie(const struct reader *from, uint64_t distance, struct cie *cie)
{
    struct reader r = *from, entry;

    if (distance > (uint64_t)(r.at - r.start))
        return false;
    r.at -= distance;
    return take_entry(&r, &entry) && take(&entry, 4) == 0 && !entry.bad &&
           read_cie(&entry, cie);
}

/* Reads the entries of .eh_frame. */
static void
read_frames(struct reading *reading, struct reader *r)
{
    struct reader entry;

    while (r->at < r->end && take_entry(r, &entry)) {
        struct reader before = entry;
        struct cie cie;
        if (entry.at == entry.end)
            continue; /* an end that the linker has kept */
        const uint64_t distance = take(&entry, 4);
        before.end = r->end;
        if (entry.bad || distance == 0 || !find_cie(&before, distance, &cie))
            continue;
        const uint64_t function = take_pointer(&entry, cie.code);
        take_number(&entry, cie.code); /* its size */
        take_leb128(&entry, false);    /* the size of what follows */
        const uint64_t area = take_pointer(&entry, cie.data);
        if (!entry.bad && function != 0 && area != 0)
            read_area(reading, area, function);
    }
}

static int
compare(const void *first, const void *second)
{
    const struct landing_pad *a = first, *b = second;

    return (a->pad > b->pad) - (a->pad < b->pad);
}

/* Returns the first row whose pad is not before the offset. */
static size_t
find(const struct landing_pads *pads, uint64_t pad)
{
    size_t low = 0, high = pads->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (pads->rows[middle].pad < pad)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool
landing_pads_has(const struct landing_pads *pads, uint64_t pad)
{
    const size_t at = find(pads, pad);

    return at < pads->count && pads->rows[at].pad == pad;
}

bool
landing_pads_lead(const struct landing_pads *pads, uint64_t pad, uint64_t back)
{
    for (size_t i = find(pads, pad);
         i < pads->count && pads->rows[i].pad == pad; i++) {
        if (back - 1 >= pads->rows[i].first && back - 1 <= pads->rows[i].last)
            return true;
    }
    return false;
}

/* Finds .eh_frame; and how many rows the file may have: an entry of an area has
 * four bytes or more. */
static bool
find_frames(struct reading *reading, GElf_Shdr *frames)
{
    Elf_Scn *section = NULL;
    size_t names = 0;
    GElf_Shdr h;
    bool is_found = false;

    if (elf_getshdrstrndx(reading->elf, &names) != 0)
        return false;
    while ((section = elf_nextscn(reading->elf, section)) != NULL) {
        if (gelf_getshdr(section, &h) == NULL ||
            (h.sh_flags & SHF_ALLOC) == 0 || h.sh_type == SHT_NOBITS ||
            (h.sh_flags & SHF_EXECINSTR))
            continue;
        const char *const name = elf_strptr(reading->elf, names, h.sh_name);
        if (name != NULL && strncmp(name, AREAS, sizeof(AREAS) - 1) == 0)
            reading->room += h.sh_size / 4;
        if (name != NULL && strcmp(name, ".eh_frame") == 0) {
            *frames = h;
            is_found = true;
        }
    }
    return is_found;
}

void
landing_pads_read(const char *path, struct landing_pads *pads)
{
    /* What is no regular file could block. */
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct reading reading = {.pads = pads};
    struct reader frames;
    struct stat st;
    GElf_Ehdr header;
    GElf_Shdr section;

    *pads = (struct landing_pads){0};
    if (fd < 0)
        return;
    elf_version(EV_CURRENT);
    reading.elf = fstat(fd, &st) == 0 && S_ISREG(st.st_mode)
                      ? elf_begin(fd, ELF_C_READ, NULL)
                      : NULL;
    if (reading.elf != NULL && gelf_getehdr(reading.elf, &header) != NULL &&
        header.e_ident[EI_CLASS] == ELFCLASS64) {
        reading.big_endian = header.e_ident[EI_DATA] == ELFDATA2MSB;
        if (find_frames(&reading, &section) &&
            read_at(&reading, section.sh_addr, &frames))
            read_frames(&reading, &frames);
        if (pads->count != 0)
            qsort(pads->rows, pads->count, sizeof(*pads->rows), compare);
    }
    elf_end(reading.elf);
    close(fd);
}

void
landing_pads_finish(struct landing_pads *pads)
{
    free(pads->rows);
    *pads = (struct landing_pads){0};
}
