/* SPDX-License-Identifier: MIT */
/* tally show: one thing in full; each function prints one. */
#ifndef TALLY_CLI_SHOW_H
#define TALLY_CLI_SHOW_H

#include "cli/screen.h"
#include "table/selection.h"

/* Shows what matters of a machine on one screen. Its units, modifiers, groups
 * and parameters are those of show_machine_whole(). */
void show_machine(struct screen *s, const struct machine_row *machine);
void show_machine_whole(struct screen *s, const struct machine_row *machine);

/*
 * Shows an event. `given`: what the name says behind the event (a unit mask,
 * modifiers), or NULL.
 */
void show_event(struct screen *s, const struct machine_row *machine,
                const struct event_row *event, const struct selection *given);

void show_register(struct screen *s, const struct machine_row *machine,
                   const struct register_row *row);
void show_metric(struct screen *s, const struct machine_row *machine,
                 const struct metric_row *metric);
void show_unit(struct screen *s, const struct machine_row *machine,
               const struct unit_row *unit);
/* Shows a parameter; `id` is one of param_find(), and the machine has a model.
 */
void show_param(struct screen *s, const struct machine_row *machine, int id);
void show_group(struct screen *s, const struct machine_row *machine,
                const struct group_row *group);

/* Shows the generic name, and what stands for it on each machine, or on the
 * only one. */
void show_generic(struct screen *s, int id, const struct machine_row *only);
void show_generic_metric(struct screen *s, int id);

/* Writes what stands for the generic name on the machine, or why nothing. */
void generic_text(const struct machine_row *machine, int id, char *text,
                  size_t size);

/* Returns the standing of what stands for it; "none" of nothing. */
const char *generic_standing(const struct machine_row *machine, int id);

/* Shows an item of several names; none where there are no names. */
void show_names(struct screen *s, const char *label, const char *const *names);

/* A list in words that grows by ", NAME"; names that do not fit are left out.
 */
#define SHOW_TEXT 2048
void show_append(char *text, const char *name);

#endif
