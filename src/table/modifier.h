/* SPDX-License-Identifier: MIT */
/* Reading what stands behind an event: ":u:thr=2:mesi=ME:at=3", ":off". */
#ifndef TALLY_TABLE_MODIFIER_H
#define TALLY_TABLE_MODIFIER_H

#include "table/selection.h"

#define MODIFIER_OFF "off" /* no mode at all */

struct selection_reader {
    const struct machine_row *machine;
    const struct tally_log *log;
    const char *text; /* the whole, for messages */
    struct selection *s;
};

/* `words` (may be NULL) without the first colon; it is cut into pieces. */
int modifiers_read(const struct selection_reader *reader, char *words);

/* Whether the word is a modifier's name, in its case. */
bool modifier_is(const struct machine_row *machine, const char *word);

#endif
