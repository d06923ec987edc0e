/* SPDX-License-Identifier: MIT */
#include "machine/lines.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"

#define PAGE UINT64_C(4096) /* bytes */
#define PART (UINT64_C(1) << 32)
#define PARTS (UINT64_C(1) << 16)
#define PART_PAGES (PART / PAGE)
#define LINE_LEAST 16u

/* In page->object: the L1D is to be asked for the line. */
#define ASKED (UINT32_C(1) << 31)

/* What is watched of a line. */
struct lines_watch {
    uint64_t bytes;
    uint64_t *count; /* NULL: nothing */
    bool comes;      /* the line is to come in */
};

struct lines_page {
    struct lines_page *next;     /* of lines->pages */
    struct lines_watch *watches; /* of each line, owned; NULL: none */
    uint64_t touched[PAGE / 64]; /* a bit a byte; of a line that is asked for,
                                    since then, */
    uint64_t before[PAGE / 64];  /* and before */
    uint32_t object[PAGE / LINE_LEAST]; /* of each line; 0: it never came in */
};

int
lines_init(struct lines *l, uint64_t line, struct record_use *uses)
{
    *l = (struct lines){
        .parts = calloc(PARTS, sizeof(*l->parts)),
        .uses = uses,
        .shift = (unsigned)__builtin_ctzll(line),
    };
    return l->parts != NULL ? 0 : TALLY_ENOMEM;
}

void
lines_finish(struct lines *l)
{
    /* A part has room for a million pages, of which a thread uses few: a look
     * at each took 8 of the 12 s of processor time of tally memory with 1,000
     * threads. */
    for (struct lines_page *page = l->pages, *next; page != NULL; page = next) {
        next = page->next;
        free(page->watches);
        free(page);
    }
    for (unsigned i = 0; i < l->part_count; i++)
        munmap(l->parts[l->used_parts[i]], PART_PAGES * sizeof(**l->parts));
    free(l->used_parts);
    free(l->parts);
    l->parts = NULL;
    l->pages = NULL;
    l->used_parts = NULL;
    l->part_count = 0;
}

/* Looks a page up in the tables. */
static __attribute__((noinline)) struct lines_page *
look_up(struct lines *l, uint64_t addr)
{
    struct lines_page **part =
        addr < PART * PARTS ? l->parts[addr / PART] : NULL;
    struct lines_page *page = part != NULL ? part[addr % PART / PAGE] : NULL;
    const uint64_t number = addr / PAGE;

    if (page != NULL) {
        l->recent[number % LINES_RECENT].number = number + 1;
        l->recent[number % LINES_RECENT].page = page;
    }
    return page;
}

/* Returns the page of an address; NULL: no line of it was asked for. */
static inline struct lines_page *
find_page(struct lines *l, uint64_t addr)
{
    const uint64_t number = addr / PAGE;

    if (__builtin_expect(l->recent[number % LINES_RECENT].number == number + 1,
                         1))
        return l->recent[number % LINES_RECENT].page;
    return look_up(l, addr);
}

/* Makes a part of the table. Returns false: there is no memory. */
static bool
make_part(struct lines *l, uint64_t number)
{
    const size_t size = PART_PAGES * sizeof(*l->parts[number]);
    uint32_t *const used =
        realloc(l->used_parts, (l->part_count + 1) * sizeof(*l->used_parts));

    if (used == NULL)
        return false;
    l->used_parts = used;
    void *const memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    l->parts[number] = memory;
    used[l->part_count++] = (uint32_t)number;
    return true;
}

/* Returns the page of an address, made if need be; NULL: there is no memory. */
static struct lines_page *
make_page(struct lines *l, uint64_t addr)
{
    struct lines_page *page = find_page(l, addr);

    if (page != NULL || addr >= PART * PARTS)
        return page;
    if (l->parts[addr / PART] == NULL && !make_part(l, addr / PART))
        return NULL;
    page = calloc(1, sizeof(*page));
    if (page == NULL)
        return NULL;
    page->next = l->pages;
    l->pages = page;
    l->parts[addr / PART][addr % PART / PAGE] = page;
    return page;
}

/* Returns the bits of `size` bytes from byte `first` of 64 on. */
static inline uint64_t
bits(unsigned first, uint64_t size)
{
    return (size >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << size) - 1) << first;
}

/* A line in its page. */
struct place {
    struct lines_page *page;
    uint32_t *object;
    unsigned first, size; /* bytes in the page */
};

static struct place
place_of(const struct lines *l, struct lines_page *page, uint64_t addr)
{
    const unsigned size = 1u << l->shift;
    const unsigned first = (unsigned)(addr % PAGE) & ~(size - 1);

    return (struct place){page, &page->object[first >> l->shift], first, size};
}

bool
lines_ask(struct lines *l, uint64_t addr)
{
    struct lines_page *page = make_page(l, addr);

    if (page == NULL)
        return true;
    const struct place p = place_of(l, page, addr);
    if ((*p.object & ASKED) != 0 || l->asked_count == LINES_ASKED)
        return false;
    *p.object |= ASKED;
    l->asked[l->asked_count++] = addr;
    for (unsigned at = p.first; at < p.first + p.size; at += 64) {
        const uint64_t line = bits(at % 64, p.size);
        page->before[at / 64] =
            (page->before[at / 64] & ~line) | (page->touched[at / 64] & line);
        page->touched[at / 64] &= ~line;
    }
    return true;
}

/* Returns the bytes of a line that are touched, as lines_watch() has them. */
static uint64_t
touched_of(const struct lines *l, const struct place *p)
{
    const unsigned shift = l->shift > 6 ? l->shift - 6 : 0;
    uint64_t touched = 0;

    for (unsigned i = 0; i < p->size; i++) {
        const unsigned at = p->first + i;
        touched |= (p->page->touched[at / 64] >> at % 64 & 1) << (i >> shift);
    }
    return touched;
}

/* Returns what is watched of a line, or NULL: nothing. */
static inline struct lines_watch *
watch_of(const struct lines *l, const struct place *p)
{
    struct lines_watch *const w = p->page->watches != NULL
                                      ? &p->page->watches[p->first >> l->shift]
                                      : NULL;

    return w != NULL && w->count != NULL ? w : NULL;
}

/* Looks whether a line that is watched, and in, is used. */
static void
look_after(const struct lines *l, const struct place *p)
{
    struct lines_watch *const w = watch_of(l, p);

    if (w == NULL || w->comes || (touched_of(l, p) & w->bytes) == 0)
        return;
    ++*w->count;
    w->count = NULL;
}

void
lines_watch(struct lines *l, uint64_t addr, uint64_t bytes, uint64_t *count)
{
    struct lines_page *const page = make_page(l, addr);

    if (page == NULL)
        return;
    if (page->watches == NULL)
        page->watches = calloc(PAGE >> l->shift, sizeof(*page->watches));
    if (page->watches != NULL)
        page->watches[addr % PAGE >> l->shift] =
            (struct lines_watch){bytes, count, true};
}

/* A line that was asked for was there. */
static void
settle(struct lines *l, const struct place *p)
{
    const uint32_t object = *p->object & ~ASKED;
    unsigned more = 0;

    *p->object = object;
    for (unsigned at = p->first; at < p->first + p->size; at += 64) {
        const uint64_t line = bits(at % 64, p->size);
        const uint64_t before = p->page->before[at / 64] & line;
        const uint64_t bytes = p->page->touched[at / 64] & line & ~before;
        /* Most lines were touched before: no bits are counted then. */
        more += bytes != 0 ? (unsigned)__builtin_popcountll(bytes) : 0;
        p->page->touched[at / 64] |= before;
    }
    if (object != 0)
        l->uses[object].touched += more;
    look_after(l, p);
}

void
lines_settle(struct lines *l)
{
    for (unsigned i = 0; i < l->asked_count; i++) {
        struct lines_page *page = find_page(l, l->asked[i]);
        const struct place p = place_of(l, page, l->asked[i]);
        if ((*p.object & ASKED) != 0)
            settle(l, &p);
    }
    l->asked_count = 0;
}

void
lines_fetch(struct lines *l, uint64_t addr, uint32_t object)
{
    struct lines_page *page =
        object != 0 ? make_page(l, addr) : find_page(l, addr);
    unsigned touched = 0;

    if (page == NULL)
        return;
    const struct place p = place_of(l, page, addr);
    for (unsigned at = p.first; at < p.first + p.size; at += 64) {
        const uint64_t line = bits(at % 64, p.size);
        if ((*p.object & ASKED) == 0)
            page->touched[at / 64] &= ~line;
        touched +=
            (unsigned)__builtin_popcountll(page->touched[at / 64] & line);
    }
    *p.object = object;
    l->uses[object].fetched += object != 0 ? p.size : 0;
    l->uses[object].touched += object != 0 ? touched : 0;
    struct lines_watch *const w = watch_of(l, &p);
    if (w == NULL)
        return;
    if (!w->comes)
        w->count = NULL; /* The line had left before it was used. */
    w->comes = false;
    look_after(l, &p);
}

/* Notes bytes within 64 that begin at a multiple of 64, and within one line. */
static inline void
touch(struct lines *l, uint64_t addr, uint64_t size)
{
    struct lines_page *page = find_page(l, addr);

    if (page == NULL)
        return;
    uint64_t *touched = &page->touched[addr % PAGE / 64];
    const uint64_t more = bits(addr % 64, size) & ~*touched;
    if (__builtin_expect(more == 0, 1))
        return;
    const uint32_t object = page->object[addr % PAGE >> l->shift];
    if (object == 0)
        return;
    *touched |= more;
    if ((object & ASKED) != 0)
        return;
    l->uses[object].touched += (unsigned)__builtin_popcountll(more);
    if (__builtin_expect(page->watches != NULL, 0)) {
        const struct place p = place_of(l, page, addr);
        look_after(l, &p);
    }
}

void
lines_touch(struct lines *l, uint64_t addr, unsigned size)
{
    const uint64_t least = l->shift < 6 ? UINT64_C(1) << l->shift : 64;

    while (size > 0) {
        const uint64_t left = least - addr % least;
        const unsigned part = size < left ? size : (unsigned)left;
        touch(l, addr, part);
        addr += part;
        size -= part;
    }
}
