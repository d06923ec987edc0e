/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The landing pads of an ELF file: where code goes on when an exception leaves
 * a call. Read from the unwind tables of C++, Rust and others: .eh_frame (Linux
 * Standard Base 5.0, core, 10.6) names each function's language-specific data
 * area (the C++ ABI's Exception Handling Tables), which has the landing pads.
 */
#ifndef TALLY_PLUGIN_LANDING_PADS_H
#define TALLY_PLUGIN_LANDING_PADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Calls that go on at a landing pad, by offset in the file. */
struct landing_pad {
    uint64_t pad;
    uint64_t first, last; /* bytes that hold the calls, both included */
};

struct landing_pads {
    struct landing_pad *rows; /* owned, by pad */
    size_t count;
};

/* Reads the landing pads of a file. What cannot be read has none, as has a file
 * that has no section headers. */
void landing_pads_read(const char *path, struct landing_pads *pads);

/* Returns whether a landing pad begins at the offset. */
bool landing_pads_has(const struct landing_pads *pads, uint64_t pad);

/* Returns whether an exception that leaves a call, which ends at the byte
 * before offset `back`, may go on at the landing pad. */
bool
landing_pads_lead(const struct landing_pads *pads, uint64_t pad, uint64_t back);

void landing_pads_finish(struct landing_pads *pads);

#endif
