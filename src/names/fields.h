/* SPDX-License-Identifier: MIT */
/*
 * The parts of variables that DWARF describes: elements of arrays, members of
 * structures. Only variables at fixed addresses are known, those outside of
 * functions and static ones in them.
 */
#ifndef TALLY_NAMES_FIELDS_H
#define TALLY_NAMES_FIELDS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Variables of one file, by address. A zeroed one has not been read. */
struct fields {
    struct field_variable *rows; /* owned */
    size_t count;
    bool read;
};

void fields_finish(struct fields *f);

/* Returns the name of the byte at an address of the file, such as
 * "table.shards[1].count", and where the source declares the member, or the
 * variable where there is none, as " (table.h:12)"; for the caller to free.
 * NULL: no variable has the byte, the debug information does not tell, or there
 * is no memory. Reads all of the debug information the first time. */
char *fields_name(struct fields *f, Dwarf *dwarf, uint64_t address);

/* Finds the variable that has the byte at an address, and which byte of the
 * variable that is. False: none has it. Reads as fields_name() does. */
bool fields_find(struct fields *f, Dwarf *dwarf, uint64_t address,
                 Dwarf_Die *variable, uint64_t *offset);

#endif
