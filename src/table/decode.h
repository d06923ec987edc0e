/* SPDX-License-Identifier: MIT */
/*
 * What a register's value says: its fields, the events its counters count, and
 * what is wrong with it.
 */
#ifndef TALLY_TABLE_DECODE_H
#define TALLY_TABLE_DECODE_H

#include "table/selection.h"

/* Any of the functions may be NULL. Texts live until the function returns. */
struct decode_sink {
    void (*field)(void *user, const struct field_row *field, uint64_t value);
    /*
     * What a counter counts. Without a selection `note` says why, or which
     * events a union of mask bits counts in one; beside one it names another
     * event of the same code and unit mask, or is NULL.
     */
    void (*counter)(void *user, const struct counter_row *counter,
                    const struct selection *selection, const char *note);
    void (*warning)(void *user, const char *text);
    void *user;
};

void decode_register(const struct machine_row *machine,
                     const struct register_row *row, uint64_t value,
                     const struct decode_sink *sink);

/* Warns of what several registers' values are together; Montecito's rules. */
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
