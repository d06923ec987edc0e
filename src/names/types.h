/* SPDX-License-Identifier: MIT */
/*
 * Types that DWARF describes, and which variables of a function point to them:
 * what names.h says of `struct name_type` and `struct name_holder`.
 *
 * Types are kept once for each description; structures that several units
 * describe are one, by name, size and where they are declared.
 */
#ifndef TALLY_NAMES_TYPES_H
#define TALLY_NAMES_TYPES_H

#include <elfutils/libdw.h>

#include "names/names.h"

struct type_row;

/* The types that were asked for. Zeroed: none. */
struct types {
    struct type_row **rows; /* owned; by address of the description */
    size_t count, room;
    struct type_row **kept; /* owned; of all */
    size_t kept_count;
};

void types_finish(struct types *types);

/* Lists where a function's variables are, of the function and of what was
 * copied into it. */
void types_holders(struct types *types, Dwarf_Die *function,
                   void (*take)(void *user, const struct name_holder *holder),
                   void *user);

/* Returns the type of a variable, of an array the type of its elements; NULL:
 * not known. */
const struct name_type *types_of(struct types *types, Dwarf_Die *variable);

/* As names_part(). */
bool types_part(struct types *types, const struct name_type *type,
                uint64_t offset, struct name_part *part);

/* As names_has(). */
bool types_has(struct types *types, const struct name_type *type,
               const struct name_type *other);

#endif
