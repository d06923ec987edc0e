/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The variables of an ELF file, for the objects of a recording. */
#ifndef TALLY_PLUGIN_VARIABLES_H
#define TALLY_PLUGIN_VARIABLES_H

#include <stddef.h>
#include <stdint.h>

/* A variable, where the file says that it is. */
struct variable {
    uint64_t first, size; /* size is not 0 */
    char *name;
};

struct variables {
    uint64_t first, last;  /* addresses of all segments; last < first: none */
    struct variable *rows; /* owned, by address; no two overlap */
    size_t count;
};

/* Reads the symbols of a file's variables: of .symtab, else of .dynsym. What is
 * no ELF file has no addresses; without memory there are no variables. */
void variables_read(const char *path, struct variables *v);

/* Returns the index of the first variable that ends behind an address, which is
 * the file's; v->count: none does. */
size_t variables_from(const struct variables *v, uint64_t address);

void variables_finish(struct variables *v);

#endif
