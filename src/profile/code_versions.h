/* SPDX-License-Identifier: MIT */
/*
 * Versions of code that changes while a program runs: blocks of code, in the
 * order in which the program came to them, get a version each. A block that has
 * another byte at some address than a block before has a higher version at all
 * its addresses, so that instructions with equal bytes at one address, but of
 * different code around them, can be told apart.
 */
#ifndef TALLY_PROFILE_CODE_VERSIONS_H
#define TALLY_PROFILE_CODE_VERSIONS_H

#include "base/numbering.h"

struct code_page;

/* What code was seen last at each address. */
struct code_versions {
    struct numbering numbers; /* of pages, by their address */
    struct code_page **pages; /* by number; owned */
    size_t page_count;
};

void code_versions_init(struct code_versions *v);
void code_versions_finish(struct code_versions *v);

/* Returns the version of a block of code, at least 1; 0: no memory. */
uint32_t code_versions_add(struct code_versions *v, uint64_t address,
                           const uint8_t *code, size_t size);

#endif
