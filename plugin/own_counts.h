/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This process's counts in the session's memory. */
#ifndef TALLY_PLUGIN_OWN_COUNTS_H
#define TALLY_PLUGIN_OWN_COUNTS_H

#include "base/error.h"
#include "plugin/plugin.h"

/* Opens and closes the session's file. */
void own_counts_open(struct plugin *p);
void own_counts_close(struct plugin *p);

/* Attaches to the session at its place and claims a place for this process's
 * counts in it. Then the file is open. */
int own_counts_attach(struct plugin *p, const char *place,
                      const char *inherited, const struct tally_log *log);

/* Ends the process's counts of the program that executed this one. Returns the
 * pid of the process's parent. */
int own_counts_end_previous(struct plugin *p, unsigned index);

/*
 * Maps counts for a thread: in the process's counts if it has room, else in
 * memory of this process, from where they come into the process's counts when
 * the thread or the process ends. Returns p->spare where there is no memory, or
 * NULL.
 */
struct counts_strand *own_counts_map_counts(struct plugin *p, unsigned slot);

/* Unmaps a thread's counts, or first writes them into the process's counts as
 * those of a thread that has ended. */
void own_counts_free_counts(struct plugin *p, unsigned slot);
void own_counts_end_counts(struct plugin *p, unsigned slot);

/* Gives the child of a fork counts of its own under the same
 * addresses; with none left, or the session over, the child counts for nobody,
 * and false is returned. Writes the former program's name to `program`, of
 * COUNTS_NAME. */
bool own_counts_adopt(struct plugin *p, unsigned slot, char *program);

/* Writes what the counts' head says of this process. */
void own_counts_name(struct plugin *p, const char *program,
                     enum counts_begin begin, int parent);

/* Raises a value that others raise too. */
void raise_to(atomic_uint *value, unsigned least);

#endif
