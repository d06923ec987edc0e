/* SPDX-License-Identifier: MIT */
/*
 * What threads wait for, as one page for a browser: findings, a drawing of when
 * each thread ran and waited, locks, and who waited at them. The page needs no
 * network and no other file.
 *
 * doc/format/page.md says what data the page has.
 */
#ifndef TALLY_RECORD_LOCKS_PAGE_H
#define TALLY_RECORD_LOCKS_PAGE_H

#include <stdio.h>

#include "record/locks.h"

/* Writes the page. `creator`: "tally 1.2.3". Returns 0, TALLY_ENOMEM, or
 * TALLY_EIO with errno; logs nothing. */
int locks_page(const struct locks *l, const char *creator, FILE *out);

#endif
