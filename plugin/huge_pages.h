/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which memory of the program is huge pages (tlb.huge): follows the system
 * calls that map memory, and tells the model.
 *
 * Of the memory that the program has when it starts, only what its file asks
 * for without contents (.bss) can be huge pages.
 */
#ifndef TALLY_PLUGIN_HUGE_PAGES_H
#define TALLY_PLUGIN_HUGE_PAGES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "isa/isa.h"
#include "machine/mappings.h"
#include "source/process_counts.h"

struct huge_pages {
    struct mappings mappings; /* with huge NULL: nothing is followed */
    pthread_mutex_t lock;     /* of the rest */
    bool heap_known;
    uint64_t heap_end; /* of brk() */
};

/* Begins to follow a program on a machine with these parameters. Returns 0 or
 * TALLY_ENOMEM. */
int huge_pages_begin(struct huge_pages *h, const uint64_t *params);

/* Takes in the memory that the program at `path` begins with, whose lowest code
 * is loaded at `start`. False: there is no such file, or its code is not where
 * the request says (`known`; NULL: the request is of another program), as for a
 * trace whose program has changed. */
bool huge_pages_program(struct huge_pages *h, const char *path, uint64_t start,
                        const struct session_request *known);

/* Follows a system call that has returned `result`. Returns 0 or TALLY_ENOMEM.
 */
int huge_pages_call(struct huge_pages *h, const struct isa *isa, int64_t number,
                    const uint64_t args[6], int64_t result);

/* Takes the lock before a fork, so that no other thread holds it, and gives it
 * back in parent and child. */
void huge_pages_before_fork(struct huge_pages *h);
void huge_pages_after_fork(struct huge_pages *h);

#endif
