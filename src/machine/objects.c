/* SPDX-License-Identifier: MIT */
#include "machine/objects.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/error.h"

#define PART (UINT64_C(1) << 32) /* bytes */
#define PARTS (UINT64_C(1) << 16)
#define PART_PAGES (PART / OBJECTS_PAGE)

int
objects_init(struct objects *o)
{
    o->parts = calloc(PARTS, sizeof(*o->parts));
    return o->parts != NULL ? 0 : TALLY_ENOMEM;
}

/* Returns the page of an entry, or NULL: it has none. */
static struct objects_page *
page_of(uintptr_t entry)
{
    return entry & 1 ? NULL : (struct objects_page *)entry;
}

/* Frees a page and what it was before. */
static void
free_page(struct objects_page *page)
{
    while (page != NULL) {
        struct objects_page *const before = page->before;
        free(page);
        page = before;
    }
}

void
objects_finish(struct objects *o)
{
    for (uint64_t i = 0; o->parts != NULL && i < PARTS; i++) {
        for (uint64_t k = 0; o->parts[i] != NULL && k < PART_PAGES; k++)
            free_page(page_of(o->parts[i][k]));
        if (o->parts[i] != NULL)
            munmap(o->parts[i], PART_PAGES * sizeof(**o->parts));
    }
    free(o->parts);
    o->parts = NULL;
}

/* Returns the entry of an address's page; NULL: there is none. */
static uintptr_t *
find_entry(const struct objects *o, uint64_t addr)
{
    uintptr_t *part;

    if (addr / PART >= PARTS)
        return NULL;
    part = __atomic_load_n(&o->parts[addr / PART], __ATOMIC_ACQUIRE);
    return part != NULL ? &part[addr % PART / OBJECTS_PAGE] : NULL;
}

/* Returns the same, made if need be; NULL: there is no memory. */
static uintptr_t *
make_entry(struct objects *o, uint64_t addr)
{
    uintptr_t *entry = find_entry(o, addr);

    if (entry != NULL || addr / PART >= PARTS)
        return entry;
    uintptr_t *part =
        mmap(NULL, PART_PAGES * sizeof(*part), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (part == MAP_FAILED)
        return NULL;
    __atomic_store_n(&o->parts[addr / PART], part, __ATOMIC_RELEASE);
    return find_entry(o, addr);
}

static void
set_entry(uintptr_t *entry, uintptr_t value)
{
    __atomic_store_n(entry, value, __ATOMIC_RELEASE);
}

static void
set_number(uint32_t *number, uint32_t value)
{
    __atomic_store_n(number, value, __ATOMIC_RELAXED);
}

static uint32_t
number_of(const uint32_t *number)
{
    return __atomic_load_n(number, __ATOMIC_RELAXED);
}

static unsigned
words_of(unsigned shift)
{
    return OBJECTS_PAGE >> shift;
}

/* Returns an entry's page with words of 1 << shift bytes at most, made if need
 * be; NULL: there is no memory. A reader may look at the page that was there
 * before, which so stays. */
static struct objects_page *
make_page(uintptr_t *entry, unsigned shift)
{
    struct objects_page *const before = page_of(*entry);

    if (before != NULL && before->shift <= shift)
        return before;
    struct objects_page *page =
        calloc(1, sizeof(*page) + words_of(shift) * sizeof(*page->word));
    if (page == NULL)
        return NULL;
    page->own = before != NULL ? before->own : (uint32_t)(*entry >> 1);
    page->shift = shift;
    page->before = before;
    for (unsigned i = 0; before != NULL && i < words_of(shift); i++)
        page->word[i] = before->word[i >> (before->shift - shift)];
    set_entry(entry, (uintptr_t)page);
    return page;
}

/* Gives the words of one page, from byte `first` to before `end`, a number. */
static void
put_words(uintptr_t *entry, unsigned first, unsigned end, unsigned shift,
          uint32_t object)
{
    struct objects_page *page =
        object != 0 || *entry != 0 ? make_page(entry, shift) : NULL;

    if (page == NULL)
        return;
    const unsigned last = (end - 1) >> page->shift;
    for (unsigned i = first >> page->shift; i <= last; i++)
        set_number(&page->word[i], object);
}

/* Gives a whole page a number, and its words none. */
static void
put_whole(uintptr_t *entry, uint32_t object)
{
    struct objects_page *page = page_of(*entry);

    if (page == NULL) {
        set_entry(entry, object != 0 ? 2 * (uintptr_t)object + 1 : 0);
        return;
    }
    set_number(&page->own, object);
    for (unsigned i = 0; i < words_of(page->shift); i++)
        set_number(&page->word[i], 0);
}

/* Gives a range of bytes a number, in words of 1 << shift bytes. */
static void
put(struct objects *o, uint64_t first, uint64_t size, unsigned shift,
    uint32_t object)
{
    const uint64_t end = first + size;

    while (first < end) {
        const uint64_t page = first / OBJECTS_PAGE * OBJECTS_PAGE;
        const uint64_t to =
            end - page < OBJECTS_PAGE ? end : page + OBJECTS_PAGE;
        uintptr_t *entry = make_entry(o, page);
        if (entry == NULL)
            return;
        if (first == page && to == page + OBJECTS_PAGE)
            put_whole(entry, object);
        else
            put_words(entry, (unsigned)(first - page), (unsigned)(to - page),
                      shift, object);
        first = to;
    }
}

void
objects_put(struct objects *o, uint64_t first, uint64_t size, uint32_t object)
{
    put(o, first, size, (unsigned)__builtin_ctz(OBJECTS_WORD), object);
}

void
objects_put_bytes(struct objects *o, uint64_t first, uint64_t size,
                  uint32_t object)
{
    put(o, first, size, 0, object);
}

void
objects_put_page(struct objects *o, uint64_t addr, uint32_t object)
{
    uintptr_t *entry = make_entry(o, addr);

    if (entry == NULL)
        return;
    if (page_of(*entry) != NULL)
        set_number(&page_of(*entry)->own, object);
    else
        put_whole(entry, object);
}

void
objects_forget(struct objects *o, uint64_t first, uint64_t size)
{
    const uint64_t end = first + size;

    for (uint64_t at = first / OBJECTS_PAGE * OBJECTS_PAGE; at < end;) {
        uintptr_t *entry = find_entry(o, at);
        if (at / PART >= PARTS)
            return;
        if (entry == NULL) {
            at = (at / PART + 1) * PART;
            continue;
        }
        if (*entry != 0)
            put_whole(entry, 0);
        at += OBJECTS_PAGE;
    }
}

uint32_t
objects_find(const struct objects *o, uint64_t addr)
{
    const uintptr_t *at = find_entry(o, addr);
    const uintptr_t entry =
        at != NULL ? __atomic_load_n(at, __ATOMIC_ACQUIRE) : 0;
    const struct objects_page *page = page_of(entry);

    if (page == NULL)
        return (uint32_t)(entry >> 1);
    const uint32_t number =
        number_of(&page->word[addr % OBJECTS_PAGE >> page->shift]);
    return number != 0 ? number : number_of(&page->own);
}
