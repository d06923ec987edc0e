/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/processors.h"

#include <endian.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plugin/memory.h"

#define LISTS "/sys/devices/system/cpu/"
#define PATH_SIZE 64u /* longer than the path of each list */

uint64_t
processors_all(const struct processors *p)
{
    return p->count >= 64 ? UINT64_MAX : (UINT64_C(1) << p->count) - 1;
}

void
processors_pin(struct processors *p)
{
    cpu_set_t one;
    const int processor = sched_getcpu();

    if (p->pinned || processor < 0 ||
        sched_getaffinity(0, sizeof(p->before), &p->before) != 0)
        return;
    CPU_ZERO(&one);
    CPU_SET((size_t)processor, &one);
    p->pinned = sched_setaffinity(0, sizeof(one), &one) == 0;
}

void
processors_release(const struct processors *p)
{
    if (p->pinned)
        sched_setaffinity(0, sizeof(p->before), &p->before);
}

/* Copies between a set of the host's processors and a guest's mask: words in
 * the guest's order of bytes. */
static void
copy_set(const struct isa *isa, const void *from, void *to, size_t size)
{
    const unsigned char *const in = from;
    unsigned char *const out = to;

    for (size_t i = 0; i < size; i++)
        out[i] = in[isa->big_endian ? i ^ 7 : i];
}

void
processors_change(const struct processors *p, const struct isa *isa,
                  const uint64_t args[6], struct affinity_change *change)
{
    cpu_set_t host;
    uint8_t mask[sizeof(change->mask)] = {0};
    uint64_t asked = 0;
    const size_t size =
        args[1] < sizeof(mask) ? (size_t)args[1] & ~(size_t)7 : sizeof(mask);

    *change = (struct affinity_change){.at = args[2]};
    if (size == 0 || !plugin_read(args[2], change->mask, size) ||
        sched_getaffinity(0, sizeof(host), &host) != 0)
        return;
    copy_set(isa, change->mask, &asked, sizeof(asked));
    change->allowed = asked & processors_all(p);
    if (change->allowed != 0)
        copy_set(isa, &host, mask, size);
    if (plugin_write(args[2], mask, size))
        change->size = size;
}

void
processors_changed(struct affinity_change *change)
{
    if (change->size > 0)
        plugin_write(change->at, change->mask, change->size);
    change->size = 0;
}

void
processors_show(const struct isa *isa, const uint64_t args[6], int64_t result,
                uint64_t allowed)
{
    cpu_set_t shown;
    unsigned char mask[sizeof(shown)];
    const size_t size =
        (uint64_t)result < sizeof(mask) ? (size_t)result : sizeof(mask);

    memset(&shown, 0, sizeof(shown));
    memcpy(&shown, &allowed, sizeof(allowed));
    copy_set(isa, &shown, mask, size);
    plugin_write(args[2], mask, size);
}

void
processors_show_current(const struct isa *isa, const uint64_t args[6],
                        unsigned thread, uint64_t allowed)
{
    const unsigned place = thread % (unsigned)__builtin_popcountll(allowed);
    uint32_t words[2] = {0};

    for (unsigned i = 0; i < place; i++)
        allowed &= allowed - 1;
    words[0] = (uint32_t)__builtin_ctzll(allowed);
    for (unsigned i = 0; i < 2; i++) {
        const uint32_t word =
            isa->big_endian ? htobe32(words[i]) : htole32(words[i]);
        if (args[i] != 0)
            plugin_write(args[i], &word, sizeof(word));
    }
}

static bool
is_list(const char *path)
{
    static const char *const lists[] = {LISTS "online", LISTS "possible",
                                        LISTS "present"};

    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        if (strcmp(path, lists[i]) == 0)
            return true;
    }
    return false;
}

void
processors_open(const struct processors *p, uint64_t path, int fd)
{
    char list[16], start[sizeof(LISTS)];
    int size;

    if (!plugin_read(path, start, sizeof(LISTS) - 1) ||
        memcmp(start, LISTS, sizeof(LISTS) - 1) != 0)
        return;
    char *const whole = plugin_read_string(path, PATH_SIZE);
    const bool asked = whole != NULL && is_list(whole);
    free(whole);
    const int file = asked ? memfd_create("processors", MFD_CLOEXEC) : -1;
    if (file < 0)
        return;
    size = p->count == 1 ? snprintf(list, sizeof(list), "0\n")
                         : snprintf(list, sizeof(list), "0-%u\n", p->count - 1);
    const bool closes = (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0;
    if (pwrite(file, list, (size_t)size, 0) == size)
        dup3(file, fd, closes ? O_CLOEXEC : 0);
    close(file);
}
