/* SPDX-License-Identifier: MIT */
/* Reads the words behind an event: ":u:thr=2:mesi=ME:at=3", ":off". */
#ifndef TALLY_TABLE_MODIFIER_H
#define TALLY_TABLE_MODIFIER_H

#include "table/selection.h"

#define MODIFIER_OFF "off" /* counts in no mode */

struct selection_reader {
    const struct machine_row *machine;
    const struct tally_log *log;
    const char *text; /* the whole, for messages */
    struct selection *s;
};

/* Reads the modifiers of `words`, which has no first colon, may be NULL, and is
 * cut into pieces. 0 or an error, logged. */
int modifiers_read(const struct selection_reader *reader, char *words);

/* Returns whether the word is a modifier's name, in the same case. */
bool modifier_is(const struct machine_row *machine, const char *word);

#endif
