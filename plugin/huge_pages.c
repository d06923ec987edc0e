/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/huge_pages.h"

#include <fcntl.h>
#include <gelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "isa/calls.h"
#include "plugin/calls.h"

/* Flags and advice of the guest's calls. MIPS has other flags. */
#define GUEST_MAP_SHARED 0x1u
#define GUEST_MAP_ANONYMOUS 0x20u
#define GUEST_MAP_STACK 0x20000u
#define GUEST_MAP_HUGETLB 0x40000u
#define MIPS_MAP_ANONYMOUS 0x800u
#define MIPS_MAP_STACK 0x40000u
#define MIPS_MAP_HUGETLB 0x80000u
#define GUEST_MREMAP_DONTUNMAP 4u
#define GUEST_MADV_DONTNEED 4u
#define GUEST_MADV_FREE 8u
#define GUEST_MADV_HUGEPAGE 14u
#define GUEST_MADV_NOHUGEPAGE 15u
#define GUEST_MADV_COLLAPSE 25u

#define READ_AND_WRITE 3u

#define PAGE ((uint64_t)4096)

int
huge_pages_begin(struct huge_pages *h, const uint64_t *params)
{
    if (params[PARAM_TLB_HUGE] == TLB_HUGE_NEVER)
        return 0;
    pthread_mutex_init(&h->lock, NULL);
    return mappings_init(&h->mappings,
                         params[PARAM_TLB_HUGE] == TLB_HUGE_MADVISE);
}

static uint64_t
page_up(uint64_t addr)
{
    return (addr + PAGE - 1) / PAGE * PAGE;
}

/* Takes in the pages of a segment that have no contents in the file. */
static void
take_segment(struct huge_pages *h, const GElf_Phdr *load, uint64_t bias)
{
    const uint64_t first = page_up(load->p_vaddr + load->p_filesz);
    const uint64_t end = page_up(load->p_vaddr + load->p_memsz);

    if (first < end)
        (void)mappings_map(&h->mappings, first + bias, end - first,
                           MAPPING_ANONYMOUS | READ_AND_WRITE);
}

/* Returns the segment with the lowest code, or one at UINT64_MAX. */
static GElf_Phdr
find_code(Elf *elf, size_t count)
{
    GElf_Phdr p, code = {.p_vaddr = UINT64_MAX};

    for (size_t i = 0; i < count; i++) {
        if (gelf_getphdr(elf, (int)i, &p) != NULL && p.p_type == PT_LOAD &&
            (p.p_flags & PF_X) && p.p_vaddr < code.p_vaddr)
            code = p;
    }
    return code;
}

/* Takes in the segments of a program that is loaded with its lowest code at
 * `start`. Returns whether the file is the program's: `known` says where the
 * code is in the file; NULL: not known. */
static bool
take_segments(struct huge_pages *h, Elf *elf, uint64_t start,
              const struct session_request *known)
{
    size_t count = 0;
    GElf_Phdr p;

    if (elf_kind(elf) != ELF_K_ELF || elf_getphdrnum(elf, &count) != 0)
        return false;
    const GElf_Phdr code = find_code(elf, count);
    if (known != NULL &&
        (code.p_vaddr != known->code || code.p_offset != known->code_offset ||
         code.p_filesz != known->code_size))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (gelf_getphdr(elf, (int)i, &p) != NULL && p.p_type == PT_LOAD)
            take_segment(h, &p, start - code.p_vaddr);
    }
    return true;
}

bool
huge_pages_program(struct huge_pages *h, const char *path, uint64_t start,
                   const struct session_request *known)
{
    bool taken = false;
    struct stat st;

    if (h->mappings.huge == NULL)
        return true;
    /* Opening what is no regular file could block. */
    const int fd =
        path != NULL ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    elf_version(EV_CURRENT);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        Elf *const elf = elf_begin(fd, ELF_C_READ, NULL);
        taken = elf != NULL && take_segments(h, elf, start, known);
        elf_end(elf);
    }
    if (fd >= 0)
        close(fd);
    return taken;
}

/* Returns what a mapping is that mmap() makes with these arguments. */
static unsigned
kind_of(const struct isa *isa, const uint64_t args[6])
{
    const bool mips =
        isa == &isa_rows[ISA_MIPS64] || isa == &isa_rows[ISA_MIPS64EL];
    const unsigned rights = (unsigned)args[2] & MAPPING_RIGHTS;
    const uint64_t flags = args[3];

    if (flags & (mips ? MIPS_MAP_HUGETLB : GUEST_MAP_HUGETLB))
        return MAPPING_HUGETLB | rights;
    if ((flags & (mips ? MIPS_MAP_ANONYMOUS : GUEST_MAP_ANONYMOUS)) == 0 ||
        (flags & GUEST_MAP_SHARED))
        return MAPPING_OTHER | rights;
    if (flags & (mips ? MIPS_MAP_STACK : GUEST_MAP_STACK))
        return MAPPING_ANONYMOUS | MAPPING_AVOIDED | rights;
    return MAPPING_ANONYMOUS | rights;
}

/* Follows the heap to its end, which brk() returned. */
static int
follow_heap(struct huge_pages *h, uint64_t end)
{
    const uint64_t old = h->heap_known ? h->heap_end : page_up(end);

    h->heap_known = true;
    h->heap_end = page_up(end);
    if (h->heap_end < old)
        return mappings_unmap(&h->mappings, h->heap_end, old - h->heap_end);
    return mappings_grow(&h->mappings, old, h->heap_end - old,
                         MAPPING_ANONYMOUS | MAPPING_HEAP | READ_AND_WRITE);
}

static int
advise(struct mappings *m, uint64_t first, uint64_t size, uint64_t advice)
{
    switch (advice) {
    case GUEST_MADV_HUGEPAGE:
        return mappings_change(m, first, size, MAPPING_AVOIDED,
                               MAPPING_ADVISED);
    case GUEST_MADV_NOHUGEPAGE:
        return mappings_change(m, first, size, MAPPING_ADVISED,
                               MAPPING_AVOIDED);
    case GUEST_MADV_DONTNEED:
    case GUEST_MADV_FREE:
        mappings_empty(m, first, size, advice == GUEST_MADV_FREE);
        return 0;
    case GUEST_MADV_COLLAPSE:
        mappings_collapse(m, first, size);
        return 0;
    default:
        return 0;
    }
}

static int
follow_call(struct huge_pages *h, const struct isa *isa, int64_t number,
            const uint64_t args[6], uint64_t at)
{
    struct mappings *const m = &h->mappings;

    if (call_is(CALL_MMAP, isa, number))
        return mappings_map(m, at, args[1], kind_of(isa, args));
    if (call_is(CALL_MUNMAP, isa, number))
        return mappings_unmap(m, args[0], args[1]);
    if (call_is(CALL_MREMAP, isa, number))
        return mappings_move(m, args[0], args[1], at, args[2],
                             args[3] & GUEST_MREMAP_DONTUNMAP);
    if (call_is(CALL_BRK, isa, number))
        return follow_heap(h, at);
    if (call_is(CALL_MPROTECT, isa, number))
        return mappings_change(m, args[0], args[1], MAPPING_RIGHTS,
                               (unsigned)args[2] & MAPPING_RIGHTS);
    if (call_is(CALL_MADVISE, isa, number))
        return advise(m, args[0], args[1], args[2]);
    return 0;
}

int
huge_pages_call(struct huge_pages *h, const struct isa *isa, int64_t number,
                const uint64_t args[6], int64_t result)
{
    const uint64_t at = (uint64_t)result;

    if (h->mappings.huge == NULL || call_failed(at))
        return 0;
    pthread_mutex_lock(&h->lock);
    const int error = follow_call(h, isa, number, args, at);
    pthread_mutex_unlock(&h->lock);
    return error;
}

void
huge_pages_before_fork(struct huge_pages *h)
{
    if (h->mappings.huge != NULL)
        pthread_mutex_lock(&h->lock);
}

void
huge_pages_after_fork(struct huge_pages *h)
{
    if (h->mappings.huge != NULL)
        pthread_mutex_unlock(&h->lock);
}
