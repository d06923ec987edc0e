/* SPDX-License-Identifier: MIT */
#include "names/elf_file.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUILD_ID_MOST 64

/* Reads the headers of segments that are loaded. */
static int
read_loads(struct elf_file *file)
{
    size_t count = 0;

    if (elf_getphdrnum(file->elf, &count) != 0)
        return TALLY_EPROGRAM;
    file->loads = calloc(count ? count : 1, sizeof(*file->loads));
    if (file->loads == NULL)
        return TALLY_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr *p = &file->loads[file->load_count];
        if (gelf_getphdr(file->elf, (int)i, p) == NULL)
            return TALLY_EPROGRAM;
        file->load_count += p->p_type == PT_LOAD;
    }
    return 0;
}

/* Reads the headers of the open file. */
static int
read_elf(struct elf_file *file)
{
    const void *id = NULL;
    GElf_Ehdr header;

    elf_version(EV_CURRENT);
    file->elf = elf_begin(file->fd, ELF_C_READ_MMAP, NULL);
    if (file->elf == NULL || elf_kind(file->elf) != ELF_K_ELF ||
        gelf_getehdr(file->elf, &header) == NULL)
        return TALLY_EPROGRAM;
    const ssize_t size = dwelf_elf_gnu_build_id(file->elf, &id);
    if (size > 0) {
        file->build_id = id;
        file->build_id_size = (size_t)size;
    }
    return read_loads(file);
}

/* Opens a regular file; other kinds could block. */
static int
open_regular(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;

    if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
        close(fd);
        errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
        return -1;
    }
    return fd;
}

int
elf_file_open(const char *path, const struct tally_log *log,
              struct elf_file *file)
{
    *file = (struct elf_file){.fd = open_regular(path)};
    if (file->fd < 0)
        return tally_fail(log, TALLY_EIO, "%s: %s", path, strerror(errno));
    const int error = read_elf(file);
    if (error == 0)
        return 0;
    elf_file_close(file);
    if (error == TALLY_ENOMEM)
        return tally_fail(log, TALLY_ENOMEM, "%s: no memory", path);
    return tally_fail(log, TALLY_EPROGRAM, "%s: no ELF file, or a damaged one",
                      path);
}

void
elf_file_release(struct elf_file *file)
{
    if (file->elf == NULL || file->fd < 0)
        return;
    /* Reads the rest if the file could not be mapped. */
    elf_cntl(file->elf, ELF_C_FDREAD);
    elf_cntl(file->elf, ELF_C_FDDONE);
    close(file->fd);
    file->fd = -1;
}

void
elf_file_close(struct elf_file *file)
{
    if (file->elf != NULL)
        elf_end(file->elf);
    if (file->fd >= 0)
        close(file->fd);
    free(file->loads);
    *file = ELF_FILE_NONE;
}

bool
elf_file_address(const struct elf_file *file, uint64_t offset,
                 uint64_t *address)
{
    bool found = false;

    for (size_t i = 0; i < file->load_count; i++) {
        const GElf_Phdr *p = &file->loads[i];
        if (offset < p->p_offset || offset - p->p_offset >= p->p_filesz)
            continue;
        if (!found || (p->p_flags & PF_X) != 0)
            *address = offset - p->p_offset + p->p_vaddr;
        found = true;
        if ((p->p_flags & PF_X) != 0)
            break;
    }
    return found;
}

uint64_t
elf_file_until(const struct elf_file *file, uint64_t offset)
{
    uint64_t until = UINT64_MAX;

    for (size_t i = 0; i < file->load_count; i++) {
        const GElf_Phdr *p = &file->loads[i];
        const uint64_t next = offset < p->p_offset ? p->p_offset
                              : offset - p->p_offset < p->p_filesz
                                  ? p->p_offset + p->p_filesz
                                  : UINT64_MAX;
        /* A forged size wraps around. */
        until = next > offset && next < until ? next : until;
    }
    return until;
}

/* Returns the segment that holds the address, or NULL. */
static const GElf_Phdr *
load_at(const struct elf_file *file, uint64_t address)
{
    for (size_t i = 0; i < file->load_count; i++) {
        const GElf_Phdr *p = &file->loads[i];
        if (address >= p->p_vaddr && address - p->p_vaddr < p->p_filesz)
            return p;
    }
    return NULL;
}

uint64_t
elf_file_offset(const struct elf_file *file, uint64_t address)
{
    const GElf_Phdr *p = load_at(file, address);

    return p != NULL ? address - p->p_vaddr + p->p_offset : UINT64_MAX;
}

bool
elf_file_is_code(const struct elf_file *file, uint64_t address)
{
    const GElf_Phdr *p = load_at(file, address);

    return p != NULL && (p->p_flags & PF_X) != 0;
}

static bool
has_id(const struct elf_file *file, const uint8_t *id, size_t size)
{
    return file->build_id_size == size && size > 0 &&
           memcmp(file->build_id, id, size) == 0;
}

bool
elf_file_with_id(const uint8_t *id, size_t size, char *const *dirs,
                 size_t dir_count, struct elf_file *found)
{
    char path[PATH_MAX], name[2 * BUILD_ID_MOST + 2];
    size_t length = 0;

    if (size < 2 || size > BUILD_ID_MOST)
        return false;
    for (size_t i = 0; i < size; i++)
        length += (size_t)snprintf(name + length, sizeof(name) - length,
                                   i == 1 ? "/%02x" : "%02x", id[i]);
    for (size_t i = 0; i < dir_count; i++) {
        if (snprintf(path, sizeof(path), "%s/.build-id/%s.debug", dirs[i],
                     name) >= (int)sizeof(path) ||
            elf_file_open(path, NULL, found) != 0)
            continue;
        if (has_id(found, id, size))
            return true;
        elf_file_close(found);
    }
    return false;
}

/* Computes the CRC that .gnu_debuglink holds of a debug file. */
static bool
crc_of(int fd, uint32_t *crc)
{
    uint8_t bytes[16384];
    uint32_t table[256];
    uint32_t sum = UINT32_MAX;
    off_t at = 0;
    ssize_t size;

    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320 : 0);
    }
    while ((size = pread(fd, bytes, sizeof(bytes), at)) > 0) {
        for (ssize_t i = 0; i < size; i++)
            sum = table[(sum ^ bytes[i]) & 0xff] ^ sum >> 8;
        at += size;
    }
    *crc = ~sum;
    return size == 0;
}

/* Opens the file `name` in the folder `below` of `dir` if that file belongs to
 * `file`: both have the same build id, or, where one has none, the CRC fits. */
static bool
try_link(const struct elf_file *file, const char *dir, const char *below,
         const char *name, uint32_t crc, struct elf_file *found)
{
    char path[PATH_MAX];
    struct stat own, other;
    uint32_t sum = 0;

    if (snprintf(path, sizeof(path), "%s%s/%s", dir, below, name) >=
            (int)sizeof(path) ||
        elf_file_open(path, NULL, found) != 0)
        return false;
    /* A file can bear the name that its own link has. */
    bool fits = fstat(file->fd, &own) == 0 && fstat(found->fd, &other) == 0 &&
                (own.st_ino != other.st_ino || own.st_dev != other.st_dev);
    if (file->build_id_size > 0 && found->build_id_size > 0)
        fits = fits && has_id(found, file->build_id, file->build_id_size);
    else
        fits = fits && crc_of(found->fd, &sum) && sum == crc;
    if (!fits)
        elf_file_close(found);
    return fits;
}

/* Opens the debug file that .gnu_debuglink names. */
static bool
follow_link(const struct elf_file *file, const char *path, char *const *dirs,
            size_t dir_count, struct elf_file *found)
{
    GElf_Word crc = 0;
    const char *name = dwelf_elf_gnu_debuglink(file->elf, &crc);
    char *const own = realpath(path, NULL);
    bool done = false;

    if (name != NULL && own != NULL && name[0] != '\0' &&
        strchr(name, '/') == NULL) {
        *strrchr(own, '/') = '\0';
        done = try_link(file, own, "", name, crc, found) ||
               try_link(file, own, "/.debug", name, crc, found);
        for (size_t i = 0; i < dir_count && !done; i++)
            done = try_link(file, dirs[i], own, name, crc, found);
    }
    free(own);
    return done;
}

bool
elf_file_debug(const struct elf_file *file, const char *path, char *const *dirs,
               size_t dir_count, struct elf_file *found)
{
    return elf_file_with_id(file->build_id, file->build_id_size, dirs,
                            dir_count, found) ||
           follow_link(file, path, dirs, dir_count, found);
}

bool
elf_file_in_section(const struct elf_file *file, const char *prefix,
                    uint64_t address)
{
    Elf_Scn *section = NULL;
    size_t names;

    if (file->elf == NULL || elf_getshdrstrndx(file->elf, &names) != 0)
        return false;
    while ((section = elf_nextscn(file->elf, section)) != NULL) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) == NULL ||
            address - header.sh_addr >= header.sh_size)
            continue;
        const char *name = elf_strptr(file->elf, names, header.sh_name);
        if (name != NULL && strncmp(name, prefix, strlen(prefix)) == 0)
            return true;
    }
    return false;
}
