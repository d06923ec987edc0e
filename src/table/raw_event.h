/* SPDX-License-Identifier: MIT */
/*
 * perf's spellings of an event by its code, as the code of a machine's event:
 *
 *   r00c0                          the code 0xc0, leading zeros or not
 *   cpu/event=0xc0,umask=0x0/      event + 256 x umask, of x86 machines
 *   cpu/config=0xc0/, cpu/r00c0/  the code
 *   cpu/NAME/                      the event of this name
 *
 * Letters behind the last slash stand as behind a colon: cpu/NAME/u.
 */
#ifndef TALLY_TABLE_RAW_EVENT_H
#define TALLY_TABLE_RAW_EVENT_H

#include "table/table.h"

/*
 * Writes the word's plain spelling (0xc0, NAME, with letters :u) and returns 1;
 * 0 if `word` is no such spelling; or an error, logged: another PMU, a term
 * that the model does not know, a code that no event of the machine has.
 */
int raw_event_plain(const struct machine_row *machine, const char *word,
                    const struct tally_log *log, char *plain, size_t size);

#endif
