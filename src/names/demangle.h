/* SPDX-License-Identifier: MIT */
/*
 * Names of C++ and Rust functions as the source has them, through libiberty.
 *
 * Each name is demangled once. The strings live as long as the demangler.
 */
#ifndef TALLY_NAMES_DEMANGLE_H
#define TALLY_NAMES_DEMANGLE_H

#include <stddef.h>
#include <stdint.h>

struct demangler {
    struct demangled *slots; /* a hash table */
    size_t count, size;
    struct kept_text *kept;
};

/* Returns the name of the source, or `mangled` itself if that is not mangled or
 * no memory is left. `mangled` must live as long as the demangler. */
const char *demangle(struct demangler *d, const char *mangled);

/* Returns a copy of the first `size` bytes of the text with `end` behind, or
 * NULL if no memory is left. */
const char *demangler_keep(struct demangler *d, const char *text, size_t size,
                           const char *end);

/* Frees the strings. Accepts a demangler of zeros. */
void demangler_finish(struct demangler *d);

#endif
