/* SPDX-License-Identifier: MIT */
/*
 * Decodes a register's value: the fields, the events that counters count, and
 * faults of the value.
 */
#ifndef TALLY_TABLE_DECODE_H
#define TALLY_TABLE_DECODE_H

#include "table/selection.h"

/* Any of the functions may be NULL. Texts live until the function returns. */
struct decode_sink {
    void (*field)(void *user, const struct field_row *field, uint64_t value);
    /*
     * Called with the selection that a counter counts. Without a selection
     * `note` says why there is none, or which events a union of mask bits
     * counts in one; with a selection `note` names another event of the same
     * code and unit mask, or is NULL.
     */
    void (*counter)(void *user, const struct counter_row *counter,
                    const struct selection *selection, const char *note);
    void (*warning)(void *user, const char *text);
    void *user;
};

void decode_register(const struct machine_row *machine,
                     const struct register_row *row, uint64_t value,
                     const struct decode_sink *sink);

/* Warns of values of several registers that break Montecito's rules together.
 */
void
decode_together(const struct machine_row *machine,
                const struct register_row *const *rows, const uint64_t *values,
                size_t count, const struct decode_sink *sink);

/*
 * Reads "PMC5=0x1f00" or "PMC5 = 7"; TALLY_ESYNTAX, _EUNKNOWN or _ERANGE,
 * logged.
 */
int decode_parse(const struct machine_row *machine, const char *text,
                 const struct tally_log *log, const struct register_row **row,
                 uint64_t *value);

/* Logs that there is no such register, with near names; TALLY_EUNKNOWN. */
int register_unknown(const struct machine_row *machine, const char *name,
                     const struct tally_log *log);

#endif
