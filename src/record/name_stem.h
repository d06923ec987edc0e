/* SPDX-License-Identifier: MIT */
/* What is left of a function's name without what differs between two builds. */
#ifndef TALLY_RECORD_NAME_STEM_H
#define TALLY_RECORD_NAME_STEM_H

#include <stddef.h>

/* Returns how much of a name is without the types of its arguments, as a copy
 * of a function in another has no others, and without what a compiler adds to
 * the names of its copies: ".isra.0", ".part.3", ".constprop.1", ".cold". */
size_t name_stem(const char *name);

/* Returns where the last part of the name begins: behind its scopes and the
 * type that it returns; `length` is that of the stem. */
const char *name_word(const char *name, size_t length);

#endif
