/* SPDX-License-Identifier: MIT */
/*
 * The names of a record's objects, by which a breakdown tells them apart:
 * blocks of the heap by the allocator and the innermost of its callers,
 * variables by name and image, stacks by the function whose frames they are.
 * Objects with one name are one, whichever process they are of.
 */
#ifndef TALLY_RECORD_OBJECT_NAMES_H
#define TALLY_RECORD_OBJECT_NAMES_H

#include <stdio.h>

#include "names/demangle.h"
#include "record/resolver.h"

struct object_name {
    char *text;    /* may hold any bytes that a symbol may have */
    unsigned kind; /* enum record_object_kind; 0: no object's data */
    uint64_t allocations, bytes; /* of the heap, in all */
    struct record_used used;
};

struct object_names {
    struct object_name *rows; /* row 0: "(no object)" */
    size_t count;
    uint32_t **of; /* by process and number in the process */
    size_t process_count;
};

/* Names the objects of a record. object_names_finish() accepts a zeroed struct
 * and what failed. 0 or TALLY_ENOMEM. */
int object_names_create(const struct record *record, struct resolver *resolver,
                        struct object_names *names);
void object_names_finish(struct object_names *names);

/* Returns the word of a kind: "heap", "variable", "image", "stack", "mapping";
 * of 0 "none". */
const char *object_names_kind(unsigned kind);

/* Writes the name of an object that has one of its own: a variable of an image,
 * the other data of an image, or other memory, by its kind. `image` is the path
 * of a variable's. */
void object_names_write(FILE *out, struct demangler *demangler, unsigned kind,
                        const char *name, const char *image);

/* Returns whether a function is a part of an allocator, glibc's or those of
 * C++, or leads to one from elsewhere, as what has no name ("") does. What a
 * compiler has added to the name does not matter. */
bool object_names_is_allocator(const char *function);

#endif
