/* SPDX-License-Identifier: MIT */
/*
 * Which member of which structure an instruction asks for, by the debug
 * information: the variables that are in its registers, and what the
 * instructions before it in the function have made of variables, members and
 * addresses. The code that ran is followed, over all its branches: where two
 * ways to an instruction leave different values, or a variable contradicts what
 * was followed, nothing is known.
 *
 * A step of a whole number of structures leads to the same member of another
 * element; so does an index, unless the structure has an array itself.
 */
#ifndef TALLY_RECORD_POINTERS_H
#define TALLY_RECORD_POINTERS_H

#include "record/resolver.h"

struct pointers;

/* How it is known what an instruction asks for. */
enum pointer_source {
    POINTER_UNKNOWN,
    POINTER_VARIABLE, /* a variable points there */
    POINTER_MEMBER,   /* a member of a structure that a pointer leads to does */
    POINTER_STATIC,   /* a variable at a fixed address, or one of the stack */
    POINTER_SOURCES,
};

struct pointer_target {
    enum pointer_source source;
    const struct name_type *type; /* a structure; NULL: not known */
    bool has_member;
    struct name_part member;
};

/* Makes an empty set for a record; both outlive the result. NULL: no memory, or
 * the record's architecture has no decoder. */
struct pointers *
pointers_create(const struct record *record, struct resolver *resolver);
void pointers_destroy(struct pointers *p);

/* Returns what an instruction of a process asks for; valid until the next call.
 * The first call for a function follows all of it. */
const struct pointer_target *
pointers_find(struct pointers *p, size_t process, uint32_t insn);

/* Returns the word for a source: "variable", "member", "static", "unknown". */
const char *pointers_source_name(enum pointer_source source);

#endif
