/* SPDX-License-Identifier: MIT */
/*
 * The outer form of an event list, as perf writes it:
 *
 *   list = item {"," item}
 *   item = word | "{" word {"," word} "}" [":" letters]
 */
#ifndef TALLY_TABLE_ITEMS_H
#define TALLY_TABLE_ITEMS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct items {
    /* Takes a word, never empty; `group` counts braces, -1: in none. */
    int (*word)(void *user, const char *word, size_t length, int group);
    /* Takes what stands behind a brace and its colon. */
    int (*letters)(void *user, const char *letters, size_t length, int group);
    void *user;
    const struct tally_log *log;
};

/* 0, what a function returned instead, or TALLY_ESYNTAX, logged. */
int items_parse(const struct items *items, const char *text);

/*
 * Returns the length of the list's first item, up to a comma or the end. A
 * comma inside braces, or between the slashes of cpu/event=0xc0,umask=0x0/,
 * ends no item. `host`: the list is of this host's events, where every slash
 * begins or ends terms; on a machine cpu/Load_instr is an event's unit and
 * name.
 */
size_t item_length(const char *list, bool host);

#endif
