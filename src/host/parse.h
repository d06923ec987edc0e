/* SPDX-License-Identifier: MIT */
/* What the readers of the several kinds of host events share. */
#ifndef TALLY_HOST_PARSE_H
#define TALLY_HOST_PARSE_H

#include "host/event.h"
#include "table/near.h"

/* Grows as events are read; one word of the text may give several. */
struct host_list {
    const struct host_root *root;
    const struct tally_log *log;
    struct host_event *events;
    size_t count, room;
    int group;    /* of the word being read */
    bool lacking; /* takes generic names that the kernel has nothing for */
};

#define HOST_WORD 512  /* the longest event that is read */
#define HOST_FILE 1024 /* of a small file in sysfs */

/* An event with defaults, named `name`; 0 or TALLY_ENOMEM, logged. */
int host_list_add(struct host_list *list, const char *name,
                  struct host_event **event);

/* Letters behind a colon or slash, applied to event `first` and on. */
int host_letters(struct host_list *list, size_t first, const char *letters,
                 bool behind_group);

/* "value" as C writes it; false where there is more than a number. */
bool host_number(const char *text, int base, uint64_t *value);

/*
 * The readers. Each returns 0 or an error, logged, or HOST_NOT_MINE, silent:
 * it is no such event, and the next reader may try.
 */
#define HOST_NOT_MINE 1

/* Generic hardware, cache and software names, without letters. */
int
host_generic_add(struct host_list *list, const char *name, const char *shown);
/* Adds an event that cannot be opened, for a generic name that the kernel has
 * nothing for: where the list takes such names. */
int
host_lacking_add(struct host_list *list, const char *name, const char *shown);
/* The type and code of a generic name. */
bool host_generic_find(const char *name, uint32_t *type, uint64_t *config);
/* "cycles:u" as "cpu_core/cycles/u" into `name` (HOST_NAME bytes). */
void host_core_name(char *name, const char *pmu, const char *written);
/* Returns the row of machine `host`, or NULL. */
const struct event_row *host_row(uint32_t type, uint64_t config);

/* pmu/terms/: `pmu` and `terms` as written. */
int host_pmu_add(struct host_list *list, const char *pmu, const char *terms,
                 const char *shown);
/* A bare name that sysfs has in the events of some PMU. */
int
host_pmu_event_add(struct host_list *list, const char *name, const char *shown);
/* A code of the CPU's own counters. */
int host_raw_add(struct host_list *list, uint64_t code, const char *shown);

/* "system:name", either with wildcards. */
int host_tracepoint_add(struct host_list *list, const char *system,
                        const char *name);
/* What libpfm knows, its modifiers included. */
int host_pfm_add(struct host_list *list, const char *name);

/* Candidates for near names; they live until host_names_finish(). */
struct host_names {
    char **names;
    size_t count, room;
};
void host_names_add(struct host_names *names, const char *name);
void host_names_finish(struct host_names *names);
void host_pmu_names(const struct host_root *root, struct host_names *names);
void host_tracepoint_names(const struct host_root *root, const char *system,
                           struct host_names *names);
/* Returns false where tracefs is not mounted: no tracepoint can be found. */
bool host_tracepoints_are_listed(const struct host_root *root);
void host_pfm_near(struct near *near);

#endif
