/* SPDX-License-Identifier: MIT */
/*
 * Functions and lines of the debug information of a file.
 *
 * The compilation units are listed with their addresses when the first address
 * is looked up. The functions and lines of a unit are read when the first
 * address of the unit is looked up, into sorted arrays: later look-ups walk no
 * tree. What is damaged is left out.
 */
#ifndef TALLY_NAMES_UNITS_H
#define TALLY_NAMES_UNITS_H

#include <elfutils/libdw.h>

#include "names/demangle.h"
#include "names/elf_file.h"
#include "names/span.h"

#define SCOPE_NONE UINT32_MAX

/* A function, or a copy of one in another function. */
struct scope {
    Dwarf_Die die;
    uint32_t parent; /* the scope around a copy, or SCOPE_NONE */
    bool inlined;    /* a copy */
    bool named;      /* the fields below are filled in */
    const char *name;
    const char *mangled; /* NULL: the language mangles, and no name is there */
    const char *call_file; /* where a copy is called, or NULL */
    unsigned call_line;
    unsigned decl_line; /* where the source has the function's name, or 0 */
    uint64_t entry;     /* address of a function's first byte, or UINT64_MAX */
};

/* A row of a line table; it holds up to the next row. */
struct line_row {
    uint64_t address;
    uint32_t file; /* index in `files`, or LINE_END */
    uint32_t line;
};

#define LINE_END UINT32_MAX /* no code from here on */

/* The source files that a line table names. */
struct unit_files {
    Dwarf_Files *files;
    size_t count;
    const char **paths; /* NULL: not yet made */
};

struct unit {
    Dwarf_Die die;
    Dwarf_Die lines_die; /* that has the line table */
    bool read;
    bool mangles; /* the language has mangled names */
    struct scope *scopes;
    size_t scope_count, scope_room;
    struct span_list spans; /* owners are indices of `scopes` */
    struct line_row *rows;  /* by address */
    size_t row_count;
    struct unit_files files;      /* of the rows */
    struct unit_files call_files; /* of DW_AT_call_file */
    const char *folder;           /* in which the compiler ran, or NULL */
};

struct units {
    Dwarf *dwarf;
    const struct elf_file *file; /* which has the segments */
    struct demangler *keep;      /* which keeps paths */
    struct unit *all;
    size_t count, room;
    struct span_list spans; /* owners are indices of `all` */
};

/* Lists the units. Accepts a dwarf of NULL; `file` and `keep` must live as long
 * as the units. False: no memory. */
bool units_list(struct units *units, Dwarf *dwarf, const struct elf_file *file,
                struct demangler *keep);

/* Returns the unit of the address, read, or NULL. */
struct unit *units_find(const struct units *units, uint64_t address);

/* Reads the unit if that has not been done. */
void unit_read(const struct units *units, struct unit *unit);

/* Returns the innermost function at the address, or NULL. */
struct scope *unit_scope(struct unit *unit, uint64_t address);

/* Returns the scope around the copy, or NULL. */
struct scope *unit_parent(struct unit *unit, const struct scope *scope);

/* Finds source file and line of the address; NULL and 0: not known. */
void unit_line(const struct units *units, struct unit *unit, uint64_t address,
               const char **file, unsigned *line);

/* Returns the first address behind `address` for which units_find(),
 * unit_scope() or unit_line() may have another answer. */
uint64_t units_until(const struct units *units, uint64_t address);

/* Calls `take` for each line of the source file that the unit has code of, as
 * unit_line() tells them. A line may come several times. */
void
unit_each_line(const struct units *units, struct unit *unit, const char *source,
               void (*take)(void *user, unsigned line), void *user);

/* Fills in names and places of the scope if that has not been done. */
void
scope_name(const struct units *units, struct unit *unit, struct scope *scope);

/* Frees the units. Accepts units of zeros. */
void units_finish(struct units *units);

#endif
