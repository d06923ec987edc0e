/* SPDX-License-Identifier: MIT */
/* Instructions as text. One thread at a time uses a disassembly. */
#ifndef TALLY_RECORD_DISASSEMBLY_H
#define TALLY_RECORD_DISASSEMBLY_H

#include <stddef.h>
#include <stdint.h>

struct disassembly;

/* Creates the disassembly of an architecture, by its name in data/isa.toml;
 * NULL: there is none for it, or no memory. */
struct disassembly *disassembly_create(const char *isa);
void disassembly_destroy(struct disassembly *disassembly);

/* Writes the text of one instruction: Capstone's, or the decoder's own for an
 * architecture that Capstone lacks. Bytes that are no instruction are written
 * as bytes, and so are all where `disassembly` is NULL. */
void
disassembly_text(struct disassembly *disassembly, const uint8_t *code,
                 size_t size, uint64_t address, char *text, size_t text_size);

#endif
