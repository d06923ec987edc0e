/* SPDX-License-Identifier: MIT */
#include "ref/prefetcher_ref.h"

#include <stdlib.h>
#include <string.h>

void
prefetcher_ref_init(struct prefetcher_ref *p, const uint64_t *params,
                    uint32_t line_size)
{
    memset(p, 0, sizeof(*p));
    p->kind = params[0];
    p->degree = p->kind == L1D_PREFETCH_ADJACENT ? 1 : params[1];
    p->distance = params[2];
    p->entries = params[3];
    p->page_lines = 4096 / line_size;
    p->all_pages = params[4] == L1D_PREFETCH_BOUND_NONE;
    p->asked = calloc(p->entries, sizeof(*p->asked));
    if (p->asked == NULL)
        abort();
}

void
prefetcher_ref_finish(struct prefetcher_ref *p)
{
    free(p->asked);
    free(p->waiting);
    memset(p, 0, sizeof(*p));
}

/* Wants `degree` lines from the one at `distance` steps on, but for those of
 * other pages where these are not asked for. */
static void
want(const struct prefetcher_ref *p, uint64_t line, int64_t step,
     struct wanted_ref *wanted)
{
    for (uint64_t i = p->distance; i < p->distance + p->degree; i++) {
        const int64_t place =
            (int64_t)(line % p->page_lines) + (int64_t)i * step;
        if (p->all_pages || (place >= 0 && place < (int64_t)p->page_lines))
            wanted->lines[wanted->count++] =
                line - line % p->page_lines + (uint64_t)place;
    }
}

/* Notes a line that differs from the newest. */
static void
note(struct asked_ref *a, uint64_t line)
{
    a->lines[2] = a->lines[1];
    a->lines[1] = a->lines[0];
    a->lines[0] = line;
    a->count++;
}

static void
ask_stride(struct prefetcher_ref *p, uint64_t line, uint64_t instruction,
           struct wanted_ref *wanted)
{
    const uint64_t hash = instruction * 0x9e3779b97f4a7c15u;
    struct asked_ref *a = &p->asked[(hash / 0x100000000u) % p->entries];

    if (a->count == 0 || a->key != instruction)
        *a = (struct asked_ref){.key = instruction};
    else if (a->lines[0] == line)
        return;
    note(a, line);
    const int64_t newer = (int64_t)(a->lines[0] - a->lines[1]);
    const int64_t older = (int64_t)(a->lines[1] - a->lines[2]);
    if (a->count > 2 && newer == older)
        want(p, line, newer, wanted);
}

/* The place of a page, which becomes the newest; the oldest may make room. */
static struct asked_ref *
newest(struct prefetcher_ref *p, uint64_t page)
{
    struct asked_ref found = {.key = page};
    size_t at = 0;

    while (at < p->used && p->asked[at].key != page)
        at++;
    if (at < p->used)
        found = p->asked[at];
    else if (p->used < p->entries)
        p->used++;
    else
        at--;
    for (; at > 0; at--)
        p->asked[at] = p->asked[at - 1];
    p->asked[0] = found;
    return &p->asked[0];
}

static void
ask_stream(struct prefetcher_ref *p, uint64_t line, struct wanted_ref *wanted)
{
    struct asked_ref *a = newest(p, line / p->page_lines);

    if (a->count > 0 && a->lines[0] == line)
        return;
    const uint64_t far =
        line > a->lines[0] ? line - a->lines[0] : a->lines[0] - line;
    if (a->count > 0 && far > 2)
        a->count = 0;
    note(a, line);
    const bool up = a->lines[0] > a->lines[1];
    if (a->count > 2 && up == (a->lines[1] > a->lines[2]))
        want(p, line, up ? 1 : -1, wanted);
}

void
prefetcher_ref_ask(struct prefetcher_ref *p, uint64_t line,
                   uint64_t instruction, struct wanted_ref *wanted)
{
    if (p->kind == L1D_PREFETCH_NEXT)
        want(p, line, 1, wanted);
    else if (p->kind == L1D_PREFETCH_ADJACENT && p->page_lines > 1)
        wanted->lines[wanted->count++] = line % 2 == 0 ? line + 1 : line - 1;
    else if (p->kind == L1D_PREFETCH_STRIDE)
        ask_stride(p, line, instruction, wanted);
    else if (p->kind == L1D_PREFETCH_STREAM)
        ask_stream(p, line, wanted);
}

void
prefetcher_ref_wait(struct prefetcher_ref *p, uint64_t line)
{
    if (p->waiting_count == p->waiting_room) {
        p->waiting_room = 2 * p->waiting_room + 64;
        p->waiting =
            reallocarray(p->waiting, p->waiting_room, sizeof(*p->waiting));
        if (p->waiting == NULL)
            abort();
    }
    p->waiting[p->waiting_count++] = line;
}

bool
prefetcher_ref_waits(const struct prefetcher_ref *p, uint64_t line)
{
    for (size_t i = 0; i < p->waiting_count; i++) {
        if (p->waiting[i] == line)
            return true;
    }
    return false;
}

bool
prefetcher_ref_used(struct prefetcher_ref *p, uint64_t line)
{
    for (size_t i = 0; i < p->waiting_count; i++) {
        if (p->waiting[i] == line) {
            p->waiting[i] = p->waiting[--p->waiting_count];
            return true;
        }
    }
    return false;
}

unsigned
prefetcher_ref_lost(struct prefetcher_ref *p, const struct cache_ref *cache)
{
    unsigned lost = 0;

    for (size_t i = 0; i < p->waiting_count;) {
        if (cache_ref_has(cache, p->waiting[i])) {
            i++;
            continue;
        }
        p->waiting[i] = p->waiting[--p->waiting_count];
        lost++;
    }
    return lost;
}
