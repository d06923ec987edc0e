/* SPDX-License-Identifier: MIT */
/*
 * The outer form of an event list, as perf writes it, with spaces between any
 * two parts:
 *
 *   list = item {"," item}
 *   item = word | [name] "{" word {"," word} "}" [":" letters]
 *
 * Only a group of this host's events may have a name.
 */
#ifndef TALLY_TABLE_ITEMS_H
#define TALLY_TABLE_ITEMS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define ITEM_SIZE 192 /* the longest word of a machine, with its end */

struct machine_row;

struct items {
    /* Takes a word, never empty; `group` counts braces, -1: in none. */
    int (*word)(void *user, const char *word, size_t length, int group);
    /* Ends a group; `letters` stand behind its brace and a colon, or NULL. */
    int (*close)(void *user, const char *letters, size_t length, int group);
    void *user;
    const struct tally_log *log;
    bool host; /* the words are events of this host: see item_length() */
};

/* Returns 0, what a function returned instead, or TALLY_ESYNTAX, logged. */
int items_parse(const struct items *items, const char *text);

/*
 * Returns the length of the list's first item, up to a comma or the end. A
 * comma inside braces, or between the slashes of cpu/event=0xc0,umask=0x0/,
 * ends no item. `host`: the list is of this host's events, where every slash
 * begins or ends terms; on a machine cpu/Load_instr is an event's unit and
 * name.
 */
size_t item_length(const char *list, bool host);

/*
 * Copies a word into `copy` (ITEM_SIZE bytes) and points *name behind
 * "machine::", which must name `machine`. Returns 0 or TALLY_EUNKNOWN, logged.
 */
int
item_name(const struct machine_row *machine, const char *word, size_t length,
          const struct tally_log *log, char *copy, char **name);

#endif
