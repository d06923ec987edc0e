/* SPDX-License-Identifier: MIT */
/*
 * Functions among the symbols of an ELF file, and the stubs of x86-64's
 * procedure linkage tables as "name@plt".
 *
 * Of several symbols at an address the one that a reader knows best gives the
 * name: a global one before a weak one before a local one, then the one with
 * the fewest leading underscores, then the first in the alphabet.
 */
#ifndef TALLY_NAMES_SYMBOLS_H
#define TALLY_NAMES_SYMBOLS_H

#include "names/demangle.h"
#include "names/elf_file.h"
#include "names/span.h"

struct symbol {
    uint64_t address, size; /* size 0: the file does not tell */
    uint64_t limit;         /* end of the symbol's section */
    const char *name;       /* without a version */
    uint32_t rank;          /* the lower, the better known */
};

struct symbols {
    struct symbol *all; /* by address, then the best known first */
    size_t count, room;
    struct span_list spans; /* owners are indices into `all` */
    bool full;              /* from .symtab, so local functions are there */
};

/* Reads the symbols of .symtab, of the file or of its debug file, else of
 * .dynsym. Names are kept by `keep`. False: no memory. */
bool symbols_read(struct symbols *symbols, const struct elf_file *file,
                  const struct elf_file *debug, struct demangler *keep);

/* Returns the best known symbol of the function at the address, or NULL. */
const struct symbol *
symbols_find(const struct symbols *symbols, uint64_t address);

/* Returns the first address behind `address` that another symbol may have. */
uint64_t symbols_until(const struct symbols *symbols, uint64_t address);

/* Frees the symbols. Accepts symbols of zeros. */
void symbols_finish(struct symbols *symbols);

#endif
