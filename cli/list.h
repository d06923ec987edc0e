/* SPDX-License-Identifier: MIT */
/* tally list: what each kind of row needs to be chosen and printed. */
#ifndef TALLY_CLI_LIST_H
#define TALLY_CLI_LIST_H

#include <jansson.h>

#include "cli/screen.h"
#include "table/table.h"

struct list {
    const struct machine_row *machine; /* NULL: all that are not hidden */
    const char *pattern;               /* NULL: all */
    bool json, details;
    bool told;        /* a function said why nothing is listed */
    struct screen *s; /* NULL with json */
    json_t *rows;     /* NULL without */
    json_t *generic;  /* what stands for generic names; NULL: no such list */
};

/* Each lists its rows, and returns how many. */
size_t list_machines(struct list *list);
size_t list_events(struct list *list);
size_t list_metrics(struct list *list);
size_t list_registers(struct list *list);
size_t list_params(struct list *list);
size_t list_signals(struct list *list);

/* Returns whether the machine is among those listed. */
bool list_has(const struct list *list, const struct machine_row *machine);

/*
 * Returns whether the pattern is in one of the texts (NULL ones are passed
 * over): each of its words somewhere in them; or, with one of "*?[" in it, it
 * is a shell pattern for the whole of one of the names.
 */
bool
list_matches(const struct list *list, const char *const *names,
             size_t name_count, const char *const *texts, size_t text_count);

/* Returns whether the pattern is in the name, the aliases or the two texts of a
 * row; aliases and texts may be NULL. */
bool list_matches_row(const struct list *list, const char *name,
                      const char *const *aliases, const char *brief,
                      const char *more);

/* Adds a row, with its machine's name where more than one is listed. */
void
list_add(struct list *list, const struct machine_row *machine, json_t *row);

/* How the rows of one kind are chosen and shown, machine by machine. */
struct list_kind {
    /* Returns how many rows of the machine match; adds them to the JSON where
     * `add`. */
    size_t (*matching)(struct list *list, const struct machine_row *machine,
                       bool add);
    void (*print)(const struct list *list, const struct machine_row *machine,
                  bool details);
};

/* Lists what matches on each machine that has any; returns how much. */
size_t list_by_machine(struct list *list, const struct list_kind *kind);

/*
 * Shows the software events beside those of the one machine that is listed,
 * after an empty line if something stands above; returns how many.
 */
size_t list_software(const struct list *list, bool started);

/* Returns the same as rows, or NULL where no machine with a model is named. */
json_t *list_software_json(const struct list *list);

/* Details are shown of so few rows even where they are not asked for. */
#define LIST_FEW 4

#endif
