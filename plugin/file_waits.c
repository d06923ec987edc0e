/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/file_waits.h"

#include <endian.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>

#include "plugin/calls.h"
#include "plugin/memory.h"

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

static uint16_t
guest_16(const struct isa *isa, uint16_t value)
{
    return isa->big_endian ? htobe16(value) : htole16(value);
}

static uint32_t
guest_32(const struct isa *isa, uint32_t value)
{
    return isa->big_endian ? htobe32(value) : htole32(value);
}

/* Asks for the files of a list, as poll() has it, whether they are ready, and
 * with `writes` writes the answer to the list. Returns how many are. */
static int64_t
ask_list(const struct isa *isa, uint64_t list, uint64_t count, bool writes)
{
    struct guest_pollfd there[FILES_MOST];
    struct pollfd here[FILES_MOST];
    const size_t size = count * sizeof(there[0]);

    if (count > FILES_MOST || !plugin_read(list, there, size))
        return 0;
    for (uint64_t i = 0; i < count; i++) {
        here[i].fd = (int)guest_32(isa, there[i].fd);
        here[i].events = (short)guest_16(isa, there[i].events);
    }
    const int ready = poll(here, (nfds_t)count, 0);
    if (ready <= 0 || !writes)
        return ready > 0 ? ready : 0;
    for (uint64_t i = 0; i < count; i++)
        there[i].returned = guest_16(isa, (uint16_t)here[i].revents);
    plugin_write(list, there, size);
    return ready;
}

static const short set_events[3] = {POLLIN, POLLOUT, POLLPRI};
/* What makes select() say that a file is ready, set by set. */
static const short set_answers[3] = {POLLIN | POLLHUP | POLLERR,
                                     POLLOUT | POLLERR, POLLPRI};

/* Writes a set to the guest's memory, of `count` files. */
static void
write_set(const struct isa *isa, uint64_t set, uint64_t count,
          const uint64_t *words)
{
    for (uint64_t i = 0; set != 0 && i < (count + WORD_BITS - 1) / WORD_BITS;
         i++) {
        const uint64_t word = plugin_guest_word(isa, words[i]);
        plugin_write(set + i * 8, &word, sizeof(word));
    }
}

/* Asks for the files of sets in the same way. */
static int64_t
ask_sets(const struct isa *isa, const uint64_t args[6],
         const struct file_sets *sets, bool writes)
{
    const uint64_t count = args[0];
    struct file_sets found = {0};
    struct pollfd here[FILES_MOST];
    nfds_t used = 0;
    int64_t ready = 0;

    for (uint64_t fd = 0; fd < count && count <= FILES_MOST; fd++) {
        here[used] = (struct pollfd){.fd = (int)fd};
        for (unsigned i = 0; i < 3; i++) {
            if (sets->words[i][fd / WORD_BITS] >> fd % WORD_BITS & 1)
                here[used].events |= set_events[i];
        }
        used += here[used].events != 0;
    }
    if (poll(here, used, 0) <= 0)
        return 0;
    for (nfds_t k = 0; k < used; k++) {
        const unsigned fd = (unsigned)here[k].fd;
        const uint64_t bit = UINT64_C(1) << fd % WORD_BITS;
        for (unsigned i = 0; i < 3; i++) {
            if ((sets->words[i][fd / WORD_BITS] & bit) == 0 ||
                (here[k].revents & set_answers[i]) == 0)
                continue;
            found.words[i][fd / WORD_BITS] |= bit;
            ready++;
        }
    }
    for (unsigned i = 0; ready > 0 && writes && i < 3; i++)
        write_set(isa, args[1 + i], count, found.words[i]);
    return ready;
}

/* Asks an epoll file which files are ready, and writes their events. */
static int64_t
ask_epoll(const struct isa *isa, const uint64_t args[6])
{
    struct epoll_event here[FILES_MOST];
    const uint64_t room = args[2] < FILES_MOST ? args[2] : FILES_MOST;
    const int ready = epoll_wait((int)args[0], here, (int)room, 0);
    /* As on the host, where the guest has the same instruction set. */
    const bool packed = strcmp(isa->name, "x86_64") == 0;

    for (int i = 0; i < ready; i++) {
        const uint32_t events = guest_32(isa, here[i].events);
        const uint64_t data = plugin_guest_word(isa, here[i].data.u64);
        const uint64_t at = args[1] + (uint64_t)i * (packed ? 12 : 16);
        plugin_write(at, &events, sizeof(events));
        plugin_write(at + (packed ? 4 : 8), &data, sizeof(data));
    }
    return ready > 0 ? ready : 0;
}

void
file_sets_keep(struct file_sets *sets, const struct isa *isa,
               const uint64_t args[6])
{
    const uint64_t words = (args[0] + WORD_BITS - 1) / WORD_BITS;

    memset(sets, 0, sizeof(*sets));
    for (unsigned i = 0; args[0] <= FILES_MOST && i < 3; i++) {
        for (uint64_t k = 0; args[1 + i] != 0 && k < words; k++) {
            if (!plugin_read_word(isa, args[1 + i] + k * 8, &sets->words[i][k]))
                sets->words[i][k] = 0;
        }
    }
}

static const enum system_call lists[] = {CALL_POLL, CALL_PPOLL, CALL_COUNT};

bool
files_are_ready(const struct isa *isa, int64_t number, const uint64_t args[6],
                const struct file_sets *sets)
{
    if (call_is_any(lists, isa, number))
        return ask_list(isa, args[0], args[1], false) > 0;
    if (call_has_sets(isa, number))
        return ask_sets(isa, args, sets, false) > 0;
    return file_is_ready(args[0], POLLIN);
}

int64_t
files_ask(const struct isa *isa, int64_t number, const uint64_t args[6],
          const struct file_sets *sets)
{
    if (call_is_any(lists, isa, number))
        return ask_list(isa, args[0], args[1], true);
    if (call_has_sets(isa, number))
        return ask_sets(isa, args, sets, true);
    return ask_epoll(isa, args);
}
