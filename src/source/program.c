/* SPDX-License-Identifier: MIT */
#include "source/program.h"

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "table/text.h"

/* As execvp does: a name without a slash is sought along PATH. */
static int
find_file(const char *name, const struct tally_log *log, struct program *p)
{
    struct stat st;

    if (strchr(name, '/') == NULL) {
        p->missing = !path_search(name, p->path);
        return p->missing ? tally_fail(log, TALLY_EPROGRAM,
                                       "%s: no such program in PATH", name)
                          : 0;
    }
    snprintf(p->path, sizeof(p->path), "%s", name);
    if (stat(name, &st) != 0) {
        p->missing = errno == ENOENT || errno == ENOTDIR;
        return tally_fail(log, TALLY_EPROGRAM, "%s: %s", name, strerror(errno));
    }
    if (S_ISDIR(st.st_mode))
        return tally_fail(log, TALLY_EPROGRAM, "%s: is a directory", name);
    if (!S_ISREG(st.st_mode)) /* opening a FIFO waits for its writer */
        return tally_fail(log, TALLY_EPROGRAM, "%s: is no regular file", name);
    if (access(name, X_OK) != 0)
        return tally_fail(log, TALLY_EPROGRAM, "%s: not executable (chmod +x?)",
                          name);
    return 0;
}

static uint16_t
half(const struct program *p, uint16_t raw)
{
    return p->isa->big_endian ? be16toh(raw) : le16toh(raw);
}

static uint32_t
word(const struct program *p, uint32_t raw)
{
    return p->isa->big_endian ? be32toh(raw) : le32toh(raw);
}

static uint64_t
xword(const struct program *p, uint64_t raw)
{
    return p->isa->big_endian ? be64toh(raw) : le64toh(raw);
}

static const char *
machine_text(const Elf64_Ehdr *elf)
{
    const uint16_t machine = elf->e_ident[EI_DATA] == ELFDATA2MSB
                                 ? be16toh(elf->e_machine)
                                 : le16toh(elf->e_machine);

    switch (machine) {
    case EM_386:
        return "32-bit x86";
    case EM_X86_64:
        return "x32";
    case EM_SPARC:
    case EM_SPARC32PLUS:
        return "32-bit SPARC";
    case EM_MIPS:
        return "32-bit MIPS";
    case EM_ARM:
        return "32-bit Arm";
    case EM_AARCH64:
        return "AArch64";
    case EM_RISCV:
        return "32-bit RISC-V";
    case EM_PPC64:
        return "POWER";
    case EM_IA_64:
        return "IA-64";
    default:
        return "another architecture";
    }
}

static void
read_loader(struct program *p, int fd, const Elf64_Phdr *ph)
{
    const size_t size = xword(p, ph->p_filesz);
    const size_t room = sizeof(p->loader) - 1;
    const ssize_t n = pread(fd, p->loader, size < room ? size : room,
                            (off_t)xword(p, ph->p_offset));

    p->loader[n > 0 ? n : 0] = '\0';
}

#define PROPERTY_ROOM 1024u

/* Takes the levels from the properties of one note. Only little-endian
 * architectures have levels. */
static void
read_properties(struct program *p, const unsigned char *at, size_t size)
{
    while (size >= 8) {
        uint32_t type, length, value;
        memcpy(&type, at, 4);
        memcpy(&length, at + 4, 4);
        type = le32toh(type);
        length = le32toh(length);
        const size_t whole = 8 + (((size_t)length + 7) & ~(size_t)7);
        if (length > size - 8)
            return;
        if (type == p->isa->level_property && length == 4) {
            memcpy(&value, at + 8, 4);
            p->levels |= le32toh(value);
        }
        at += whole < size ? whole : size;
        size -= whole < size ? whole : size;
    }
}

/* Reads the segment PT_GNU_PROPERTY, which holds one note. */
static void
read_note(struct program *p, int fd, const Elf64_Phdr *ph)
{
    unsigned char bytes[PROPERTY_ROOM];
    const size_t in_file = xword(p, ph->p_filesz);
    const size_t room = in_file < sizeof(bytes) ? in_file : sizeof(bytes);
    const ssize_t n = pread(fd, bytes, room, (off_t)xword(p, ph->p_offset));
    Elf64_Nhdr note;

    if (n < (ssize_t)sizeof(note) + 4)
        return;
    memcpy(&note, bytes, sizeof(note));
    const size_t left = (size_t)n - sizeof(note) - 4;
    const size_t size = le32toh(note.n_descsz);
    if (le32toh(note.n_type) == NT_GNU_PROPERTY_TYPE_0 &&
        le32toh(note.n_namesz) == 4 &&
        memcmp(bytes + sizeof(note), "GNU", 4) == 0)
        read_properties(p, bytes + sizeof(note) + 4, size < left ? size : left);
}

/* False if a segment is not in the file as its header says. */
static bool
read_segments(struct program *p, int fd, const Elf64_Ehdr *elf, off_t size)
{
    const uint64_t at = xword(p, elf->e_phoff);

    p->code = UINT64_MAX;
    for (unsigned i = 0; i < half(p, elf->e_phnum); i++) {
        Elf64_Phdr ph;
        if (pread(fd, &ph, sizeof(ph), (off_t)(at + i * sizeof(ph))) !=
            (ssize_t)sizeof(ph))
            return false;
        const uint32_t type = word(p, ph.p_type);
        const uint64_t address = xword(p, ph.p_vaddr);
        const uint64_t in_file = xword(p, ph.p_filesz);
        const uint64_t from = xword(p, ph.p_offset);
        if (type == PT_LOAD && in_file != 0 &&
            (from > (uint64_t)size || in_file > (uint64_t)size - from))
            return false;
        if (type == PT_LOAD && (word(p, ph.p_flags) & PF_X) &&
            address < p->code) {
            p->code = address;
            p->code_offset = from;
            p->code_size = in_file;
        }
        if (type == PT_INTERP)
            read_loader(p, fd, &ph);
        if (type == PT_GNU_PROPERTY && p->isa->level_property != 0)
            read_note(p, fd, &ph);
    }
    return p->code != UINT64_MAX;
}

static int
fail_architecture(const struct program *p, const Elf64_Ehdr *elf,
                  const struct tally_log *log)
{
    const char *names[ISA_COUNT];
    char text[128];

    for (size_t i = 0; i < ISA_COUNT; i++)
        names[i] = isa_rows[i].name;
    join_words(names, ISA_COUNT, text, sizeof(text));
    return tally_fail(log, TALLY_EARCH,
                      "%s: a program for %s; tally runs programs for %s",
                      p->path, machine_text(elf), text);
}

static int
read_elf(int fd, const struct tally_log *log, struct program *p)
{
    Elf64_Ehdr elf;

    if (pread(fd, &elf, sizeof(elf), 0) != (ssize_t)sizeof(elf) ||
        memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0)
        return tally_fail(log, TALLY_EPROGRAM,
                          "%s: neither an ELF program nor a #! script",
                          p->path);
    p->isa = isa_of_elf(&elf);
    if (p->isa == NULL)
        return fail_architecture(p, &elf, log);
    const uint32_t flags = word(p, elf.e_flags);
    const char *refusal = (flags & p->isa->flags_mask) > p->isa->flags_most ||
                                  (flags & p->isa->flags_none) != 0
                              ? p->isa->flags_refusal
                              : NULL;
    if (refusal != NULL)
        return tally_fail(log, TALLY_EARCH, "%s: a program for %s", p->path,
                          refusal);
    const uint16_t type = half(p, elf.e_type);
    if (type != ET_EXEC && type != ET_DYN)
        return tally_fail(log, TALLY_EPROGRAM,
                          "%s: an ELF file, but not a program", p->path);

    struct stat st;
    if (fstat(fd, &st) != 0 || !read_segments(p, fd, &elf, st.st_size))
        return tally_fail(log, TALLY_EPROGRAM,
                          "%s: an ELF program cut short or without code",
                          p->path);
    return 0;
}

/* Puts the interpreter's words before the script's arguments. */
static int
prepend(struct program *p, const char *interpreter, const char *argument,
        size_t *owned)
{
    size_t count = 0;
    const size_t extra = *argument != '\0' ? 2 : 1;

    while (p->argv[count] != NULL)
        count++;
    char **argv = calloc(count + extra + 2, sizeof(*argv));
    if (argv == NULL)
        return TALLY_ENOMEM;
    memcpy(argv + extra, p->argv, (count + 1) * sizeof(*argv));
    argv[0] = p->words[(*owned)++] = strdup(interpreter);
    if (extra == 2)
        argv[1] = p->words[(*owned)++] = strdup(argument);
    argv[extra] = p->words[(*owned)++] = strdup(p->path);
    free(p->argv);
    p->argv = argv;
    return 0;
}

static int
follow_script(char *line, const struct tally_log *log, struct program *p,
              size_t *owned)
{
    char script[PATH_MAX];

    line[strcspn(line, "\n")] = '\0';
    line += 2 + strspn(line + 2, " \t");
    char *argument = line + strcspn(line, " \t\r");
    if (*argument != '\0')
        *argument++ = '\0';
    argument += strspn(argument, " \t\r");
    for (size_t n = strlen(argument); n > 0 && strchr(" \t\r", argument[n - 1]);
         n--)
        argument[n - 1] = '\0';
    if (*line == '\0')
        return tally_fail(log, TALLY_EPROGRAM, "%s: #! names no interpreter",
                          p->path);
    if (prepend(p, line, argument, owned) != 0)
        return tally_fail(log, TALLY_ENOMEM, "no memory");
    memcpy(script, p->path, sizeof(script));
    const int found = find_file(line, NULL, p);
    return found == 0 ? 0
                      : tally_fail(log, TALLY_EPROGRAM,
                                   "%s: its interpreter %s cannot be run",
                                   script, line);
}

/* One step: an ELF program (1), a script now replaced (0), or an error. */
static int
examine(const struct tally_log *log, struct program *p, size_t *owned)
{
    char line[256];
    const int fd = open(p->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0)
        return tally_fail(log, TALLY_EPROGRAM, "%s: %s", p->path,
                          strerror(errno));
    const ssize_t n = pread(fd, line, sizeof(line) - 1, 0);
    int result;
    line[n > 0 ? n : 0] = '\0';
    if (n == 0) {
        result = tally_fail(log, TALLY_EPROGRAM, "%s: an empty file", p->path);
    } else if (n >= 2 && line[0] == '#' && line[1] == '!') {
        result = follow_script(line, log, p, owned);
    } else {
        result = read_elf(fd, log, p);
        result = result == 0 ? 1 : result;
    }
    close(fd);
    return result;
}

int
program_open(char *const *argv, const struct tally_log *log, struct program *p)
{
    size_t count = 0, owned = 0;

    memset(p, 0, sizeof(*p));
    while (argv[count] != NULL)
        count++;
    p->argv = calloc(count + 1, sizeof(*p->argv));
    if (p->argv == NULL)
        return tally_fail(log, TALLY_ENOMEM, "no memory");
    memcpy(p->argv, argv, count * sizeof(*p->argv));

    int result = find_file(argv[0], log, p);
    for (int depth = 0; result == 0; depth++) {
        if (depth > PROGRAM_SCRIPT_DEPTH)
            result =
                tally_fail(log, TALLY_EPROGRAM,
                           "%s: scripts that interpret each other", argv[0]);
        else if ((result = examine(log, p, &owned)) == 1)
            return 0;
    }
    const bool missing = p->missing;
    program_close(p);
    p->missing = missing;
    return result;
}

void
program_close(struct program *p)
{
    for (size_t i = 0; i < sizeof(p->words) / sizeof(p->words[0]); i++)
        free(p->words[i]);
    free(p->argv);
    memset(p, 0, sizeof(*p));
}
