/* SPDX-License-Identifier: MIT */
/*
 * Which members of structures the data of objects are, and the types of the
 * objects, from the instructions that miss them (pointers.h).
 *
 * An object of 64 misses or more has a type where instructions with at least a
 * quarter of its misses tell one, 95 of 100 misses of those tell the same or a
 * member of it, and the object's size is a multiple of the type's. Else nothing
 * is said of it.
 */
#ifndef TALLY_RECORD_MEMBERS_H
#define TALLY_RECORD_MEMBERS_H

#include "record/memory.h"
#include "record/pointers.h"

/* Finds the types of m->objects, which are in the order of their names, and
 * their members, all and by thread. 0 or TALLY_ENOMEM. */
int members_find(struct memory *m);

#endif
