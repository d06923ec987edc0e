/* SPDX-License-Identifier: MIT */
/*
 * The slow, obvious twin of the dump reader: fgets and sscanf, a line at a
 * time, of well-formed dumps. `take` gets every start and update.
 */
#ifndef TALLY_TEST_REF_DUMP_REF_H
#define TALLY_TEST_REF_DUMP_REF_H

#include "profile/dump.h"

void dump_ref_read(FILE *file,
                   void (*take)(void *user, const struct dump_record *record),
                   void *user);

#endif
