/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guest's memory, and what a process does that has no memory of its own
 * left. */
#ifndef TALLY_PLUGIN_MEMORY_H
#define TALLY_PLUGIN_MEMORY_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/isa.h"
#include "source/process_counts.h"

/* Returns a word in the guest's order of bytes, or one of the guest's in ours.
 */
static inline uint64_t
plugin_guest_word(const struct isa *isa, uint64_t word)
{
    return isa->big_endian ? htobe64(word) : htole64(word);
}

/* Returns where the guest's memory is in ours. */
const void *plugin_memory(uint64_t addr);

/* Copies from guest memory. False: some of it is not there, and a part may have
 * been copied. */
bool plugin_read(uint64_t addr, void *out, size_t size);

/* Copies to guest memory. False as for plugin_read(). */
bool plugin_write(uint64_t addr, const void *in, size_t size);

/* Reads a pointer or length of guest memory, in the guest's order of bytes. */
bool plugin_read_word(const struct isa *isa, uint64_t addr, uint64_t *word);

/* Ends the process for lack of memory for `what`, and marks its counts, those
 * of this head, as partial. QEMU would take abort() for a signal of the
 * guest's. */
_Noreturn void plugin_no_memory(struct counts_head *head, const char *what);

/* Returns a copy of the guest's string, which the caller frees; NULL where it
 * is not all there, has `most` bytes or more, or there is no memory. */
char *plugin_read_string(uint64_t addr, size_t most);

#endif
