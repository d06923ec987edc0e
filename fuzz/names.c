/* SPDX-License-Identifier: MIT */
/* Any bytes as an ELF file, with symbols and debug information, in which places
 * are looked up. */
#include "names/names.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzz.h"

#define FRAMES 4
#define LOOK_UPS 64

struct look_up {
    struct names *names;
    size_t left;
    size_t holders; /* types that are looked at */
};

/* Looks at the types of a variable: all of the first bytes. */
static void
take_holder(void *user, const struct name_holder *h)
{
    struct look_up *const l = user;
    const struct name_type *const types[] = {h->type, h->pointed};
    struct name_part part;

    fuzz_check(h->first < h->end && h->type != NULL);
    for (size_t i = 0; i < 2 && l->holders > 0; i++) {
        if (types[i] == NULL)
            continue;
        l->holders--;
        fuzz_check(types[i]->size > 0 && types[i]->same == types[i]);
        for (uint64_t at = 0; at < types[i]->size && at < 64; at++) {
            if (names_part(l->names, types[i], at, &part))
                fuzz_check(memchr(part.path, 0, sizeof(part.path)) != NULL);
        }
        names_has(l->names, types[i], h->type);
    }
}

static void
look_up(struct names *names, uint64_t offset)
{
    struct name_frame frames[FRAMES];
    const size_t count = names_find(names, 0, offset, frames, FRAMES);

    fuzz_check(count <= FRAMES);
    for (size_t i = 0; i < count; i++) {
        const struct name_frame *f = &frames[i];
        fuzz_check(f->function_offset == frames[0].function_offset);
        fuzz_check(f->mangled == NULL || f->function != NULL);
        fuzz_check(f->function == NULL || strlen(f->function) < SIZE_MAX);
        fuzz_check(f->file == NULL || strlen(f->file) < SIZE_MAX);
    }
}

static void
take(void *user, const char *function, const char *mangled, uint64_t offset,
     uint64_t size)
{
    struct look_up *l = user;

    (void)mangled;
    fuzz_check(function != NULL);
    if (l->left == 0)
        return;
    l->left--;
    look_up(l->names, offset);
    names_holders(l->names, 0, offset, take_holder, l);
    look_up(l->names, offset + size - 1);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct tally_log log = {.write = fuzz_hear};
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    struct look_up l = {.left = LOOK_UPS, .holders = LOOK_UPS};
    unsigned file;
    char path[64];

    fuzz_check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    fuzz_check(names_create(NULL, &log, &l.names) == 0);
    if (names_add(l.names, path, NULL, 0, &file) == 0) {
        for (size_t i = 0; i < LOOK_UPS; i++)
            look_up(l.names, size * i / LOOK_UPS);
        names_each_function(l.names, file, take, &l);
    }
    if (l.names != NULL) {
        const struct name_type *type;
        uint64_t offset;
        for (size_t i = 0; i < LOOK_UPS; i++)
            names_static(l.names, 0, size * i / LOOK_UPS, &type, &offset);
    }
    names_destroy(l.names);
    close(fd);
    return 0;
}
