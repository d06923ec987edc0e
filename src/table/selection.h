/* SPDX-License-Identifier: MIT */
/*
 * What a person asks a counter to count, read from text:
 *
 *   selection = [machine "::"] [unit "/"] event [("." | ":") umask]
 *               {":" modifier}
 *   event     = name | alias | number | 0xCODE
 *   umask     = name | alias | 0xVALUE
 *   modifier  = name ["=" value] | letters of privilege modifiers | "off"
 *             | at=INSTANCE
 *
 * Behind a colon, a modifier's name in its case is the modifier: ":all" is both
 * threads, ":ALL" the unit mask. ":off" is no mode at all: nothing is counted.
 *
 * A code without a row selects the union of its mask bits where the machine
 * has groups. A selection is a plain value; its pointers are to const tables.
 */
#ifndef TALLY_TABLE_SELECTION_H
#define TALLY_TABLE_SELECTION_H

#include "table/table.h"

#define MODIFIERS_MAX 16
#define SELECTION_TEXT 192 /* enough for any selection_text() */

struct selection {
    const struct machine_row *machine;
    const struct event_row *event; /* NULL: only sl and mask are known */
    const struct umask_row *umask; /* NULL: the event has none */
    int16_t sl, mask;              /* -1: the machine has no such */
    uint8_t umask_value, umask_care;
    uint8_t unit;                   /* of the machine */
    int8_t instance;                /* of the unit, -1: all */
    bool off;                       /* it counts in no mode */
    int16_t group;                  /* which braces it stood in, -1: none */
    uint32_t given;                 /* bits: modifiers that the text named */
    uint32_t values[MODIFIERS_MAX]; /* of each modifier, as a field's value */
};

/* Reads a selection. Returns 0, or an error, logged: TALLY_EUNKNOWN, _ESYNTAX,
 * _ERANGE, _EIDLE. */
int selection_parse(const struct machine_row *machine, const char *text,
                    size_t length, const struct tally_log *log,
                    struct selection *selection);

/*
 * An event list, braces included; the caller frees *list. Filters that never
 * let anything be counted are a warning in the log.
 */
int selection_list_parse(const struct machine_row *machine, const char *text,
                         const struct tally_log *log, struct selection **list,
                         size_t *count);

/* Returns the event with the umask of its row, and the modifiers' defaults. */
struct selection selection_of(const struct machine_row *machine,
                              const struct event_row *event, int umask);

/* Fills in the privilege modifiers that count where none is given. */
void selection_default_privilege(struct selection *selection);

/* Returns whether modes can be chosen for this event. */
bool selection_has_modes(const struct selection *selection);

/* Returns whether the modifier is for this event. */
bool selection_takes(const struct selection *selection,
                     const struct modifier_row *modifier);

/* Returns the value of the modifier of this name; 0 where the machine has none.
 */
uint32_t
selection_value(const struct selection *selection, const char *modifier);

/*
 * Returns whether its filters let nothing through, whatever happens: a
 * threshold that the event cannot exceed, or no state of a line. `why` then
 * says so.
 */
bool
selection_never(const struct selection *selection, char *why, size_t why_size);

/* Writes "lpu/clock_cycles:at=Z0A" so that it reads back as the same. */
void
selection_text(const struct selection *selection, char *text, size_t text_size);

#endif
