/* SPDX-License-Identifier: MIT */
#include "names/demangle.h"

#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_FIRST 256 /* slots; a power of two */
#define MANGLED_MOST 16384

struct demangled {
    const char *mangled; /* NULL: a free slot */
    const char *text;
    uint64_t hash;
};

struct kept_text {
    struct kept_text *next;
    char text[];
};

const char *
demangler_keep(struct demangler *d, const char *text, size_t size,
               const char *end)
{
    const size_t end_size = strlen(end);
    struct kept_text *kept = malloc(sizeof(*kept) + size + end_size + 1);

    if (kept == NULL)
        return NULL;
    memcpy(kept->text, text, size);
    memcpy(kept->text + size, end, end_size + 1);
    kept->next = d->kept;
    d->kept = kept;
    return kept->text;
}

/* Returns the FNV-1a hash of a string. */
static uint64_t
hash_of(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash;
}

/* Returns the slot that holds the name, or the free one where it belongs. */
static struct demangled *
slot_of(struct demangled *slots, size_t size, const char *mangled,
        uint64_t hash)
{
    size_t i = hash & (size - 1);

    while (slots[i].mangled != NULL &&
           (slots[i].hash != hash || strcmp(slots[i].mangled, mangled) != 0))
        i = (i + 1) & (size - 1);
    return &slots[i];
}

/* Makes room for one more name: half of the slots at least stay free. */
static bool
grow(struct demangler *d)
{
    if (d->count < d->size / 2)
        return true;
    const size_t size = d->size ? d->size * 2 : SIZE_FIRST;
    struct demangled *slots = calloc(size, sizeof(*slots));
    if (slots == NULL)
        return false;
    for (size_t i = 0; i < d->size; i++)
        if (d->slots[i].mangled != NULL)
            *slot_of(slots, size, d->slots[i].mangled, d->slots[i].hash) =
                d->slots[i];
    free(d->slots);
    d->slots = slots;
    d->size = size;
    return true;
}

/* Returns whether a name begins as mangled ones do. */
static bool
may_be_mangled(const char *name)
{
    const char *start = name + strspn(name, "_");

    return name[0] == '_' && (*start == 'Z' || *start == 'R' ||
                              strncmp(name, "_GLOBAL_", 8) == 0);
}

/* Demangles a name up to an "@" and puts the rest, as "@plt", behind. */
static const char *
demangle_now(struct demangler *d, const char *mangled)
{
    const int options = DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO;
    const char *const at = strchr(mangled, '@');
    const char *const own =
        at == NULL ? mangled
                   : demangler_keep(d, mangled, (size_t)(at - mangled), "");
    char *const found = own != NULL ? cplus_demangle(own, options) : NULL;
    const char *text = NULL;

    if (found != NULL)
        text = demangler_keep(d, found, strlen(found), at ? at : "");
    free(found);
    return text != NULL ? text : mangled;
}

const char *
demangle(struct demangler *d, const char *mangled)
{
    if (!may_be_mangled(mangled) || strlen(mangled) > MANGLED_MOST || !grow(d))
        return mangled;
    const uint64_t hash = hash_of(mangled);
    struct demangled *slot = slot_of(d->slots, d->size, mangled, hash);
    if (slot->mangled == NULL) {
        slot->text = demangle_now(d, mangled);
        slot->mangled = mangled;
        slot->hash = hash;
        d->count++;
    }
    return slot->text;
}

void
demangler_finish(struct demangler *d)
{
    while (d->kept != NULL) {
        struct kept_text *next = d->kept->next;
        free(d->kept);
        d->kept = next;
    }
    free(d->slots);
    *d = (struct demangler){0};
}
