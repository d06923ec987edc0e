/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/file_waits.h"

#include <endian.h>
#include <poll.h>

#include "plugin/calls.h"
#include "plugin/memory.h"

#define FILES_MOST 1024u
#define WORD_BITS 64u

/* The guest's struct pollfd. */
struct guest_pollfd {
    uint32_t fd;
    uint16_t events, returned;
};

bool
file_is_ready(uint64_t fd, short events)
{
    struct pollfd p = {.fd = (int)fd, .events = events};

    return poll(&p, 1, 0) != 0;
}

/* Returns whether a file of a list, as poll() has it, is ready. */
static bool
listed_are_ready(const struct isa *isa, uint64_t list, uint64_t count)
{
    struct guest_pollfd there[FILES_MOST];
    struct pollfd here[FILES_MOST];

    if (count > FILES_MOST || !plugin_read(list, there, count * sizeof(*there)))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        here[i].fd = (int)(isa->big_endian ? be32toh(there[i].fd)
                                           : le32toh(there[i].fd));
        here[i].events = (short)(isa->big_endian ? be16toh(there[i].events)
                                                 : le16toh(there[i].events));
    }
    return poll(here, (nfds_t)count, 0) > 0;
}

/* Returns whether a file of the sets that select() has is ready. */
static bool
sets_are_ready(const struct isa *isa, uint64_t count, const uint64_t sets[3])
{
    static const short events[3] = {POLLIN, POLLOUT, POLLPRI};
    struct pollfd here[FILES_MOST];
    nfds_t used = 0;

    if (count > FILES_MOST)
        return false;
    for (uint64_t fd = 0; fd < count; fd++) {
        here[used] = (struct pollfd){.fd = (int)fd};
        for (unsigned i = 0; i < 3; i++) {
            uint64_t word = 0;
            if (sets[i] != 0 &&
                !plugin_read_word(isa, sets[i] + fd / WORD_BITS * 8, &word))
                return false;
            if (word >> fd % WORD_BITS & 1)
                here[used].events |= events[i];
        }
        used += here[used].events != 0;
    }
    return poll(here, used, 0) > 0;
}

bool
files_are_ready(const struct isa *isa, int64_t number, const uint64_t args[6])
{
    static const enum system_call lists[] = {CALL_POLL, CALL_PPOLL, CALL_COUNT};

    if (call_is_any(lists, isa, number))
        return listed_are_ready(isa, args[0], args[1]);
    if (call_has_sets(isa, number))
        return sets_are_ready(isa, args[0], args + 1);
    return file_is_ready(args[0], POLLIN);
}
