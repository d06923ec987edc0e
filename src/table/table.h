/* SPDX-License-Identifier: MIT */
/*
 * Look-up over the tables that scripts/gen_tables.py makes from data/.
 *
 * Everything here is const and lives as long as the program; all functions are
 * pure and safe from any thread.
 */
#ifndef TALLY_TABLE_TABLE_H
#define TALLY_TABLE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "tables.h" /* generated: enum signal_id, param_id, machine_id */

/* The standing of a number; see doc/glossary.md. Worse is greater. */
enum fidelity {
    FIDELITY_EXACT,
    FIDELITY_MODELLED,
    FIDELITY_ESTIMATED,
    FIDELITY_IDLE,
};

struct signal_row {
    const char *name;
    const char *brief;
    /* Summed over executed blocks; otherwise raised by the model. */
    bool fixed;
    /* Parts of the model that must run to count it: enum tally_part bits. */
    uint32_t parts;
};

enum param_kind {
    PARAM_KIND_COUNT, /* a plain number */
    PARAM_KIND_SIZE,  /* bytes; K, M and G are accepted and printed */
    PARAM_KIND_HERTZ, /* K, M, G are powers of 1000 */
    PARAM_KIND_CYCLES,
    PARAM_KIND_CHOICE, /* a word of a list; the value is its index */
};

struct param_row {
    const char *key; /* "l1d.size" */
    const char *brief;
    enum param_kind kind;
    uint64_t min, max;
    bool power_of_two;
    const char *const *choices; /* NULL-terminated, PARAM_KIND_CHOICE only */
};

/* The value of one parameter in one machine, with where it is from. */
struct param_value {
    uint64_t value;
    const char *source;
    bool assumed; /* the sources are silent: a declared assumption */
};

struct event_row {
    const char *name;
    const char *const *aliases; /* NULL-terminated, may be empty */
    const char *unit;           /* "cpu" */
    const char *counts;         /* when exactly it counts */
    const char *brief;
    const char *reference; /* document and table */
    const char *reason;    /* why it is idle, else NULL */
    enum fidelity fidelity;
    int32_t code;            /* -1: the machine has no codes */
    int16_t sl, mask;        /* -1: not this machine's layout */
    const uint16_t *signals; /* the signals it sums */
    uint16_t signal_count;
    bool by_default; /* counted without -e; at most 64 are */
};

struct machine_row {
    const char *name;
    const char *title;
    const char *brief;
    const char *source;
    const char *const *aliases;
    const char *const *isas; /* guest ISAs that are its own: "sparc64" */
    const struct param_value *params; /* PARAM_COUNT of them */
    const struct event_row *events;
    size_t event_count;
    bool hidden; /* only tests use it */
};

extern const struct signal_row tally_signals[SIGNAL_COUNT];
extern const struct param_row tally_params[PARAM_COUNT];
extern const struct machine_row tally_machines[MACHINE_COUNT];

const char *fidelity_name(enum fidelity fidelity);

/* NULL if there is none. Case does not matter. Names and aliases. */
const struct machine_row *machine_find(const char *name);

/* By name or alias, or by code written 0x...; NULL if there is none. */
const struct event_row *
event_find(const struct machine_row *machine, const char *name);

/* Whether its model has yet to be written: it cannot count, not even 0. */
bool event_unmodelled(const struct event_row *event);

/* -1 if there is none. */
int param_find(const char *key);
int signal_find(const char *name);

/*
 * Up to `max` rows of `names` that are near `name` (few edits, shared prefix
 * or substring; case does not matter), best first, written as "a, b or c" into
 * `text`. Empty text if nothing is near.
 */
void near_names(const char *name, const char *const *names, size_t count,
                size_t max, char *text, size_t text_size);

/*
 * Parses an event list as perf writes it: names separated by commas; `{a,b}`
 * groups; a suffix `:u` (user) is accepted, `:k` and others fail with the
 * reason; libpfm's `machine::event:mask` is understood. `all` means every
 * event, `default` those that are marked so. Duplicates stay. The result is an
 * array the caller frees; 0 or an error, logged with near names and the machine
 * that has the event where another one does.
 */
int event_list_parse(const struct machine_row *machine, const char *text,
                     const struct tally_log *log,
                     const struct event_row ***events, size_t *count);

/* The events counted without -e; the data marks those that are not. */
int event_list_default(const struct machine_row *machine,
                       const struct event_row ***events, size_t *count);

/*
 * Reads a value for parameter `id` ("32K", "1.4G", "gshare") and checks its
 * limits. *value is untouched on failure.
 */
int param_parse(int id, const char *text, const struct tally_log *log,
                uint64_t *value);

/* Applies "key=value" to `params` (PARAM_COUNT values). */
int param_set(const char *assignment, const struct tally_log *log,
              uint64_t *params);

/*
 * Writes a value as a person would: "8K", "1.4 GHz", "gshare", "24 cycles".
 * param_parse() reads it back to the same value. PARAM_TEXT_SIZE is enough.
 */
#define PARAM_TEXT_SIZE 64
void param_text(int id, uint64_t value, char *text, size_t text_size);

/*
 * Checks the limits of all PARAM_COUNT values and what they make together:
 * each cache is ways x line x a power of two sets, lines grow outwards, banks
 * are no more than sets, a page holds any line; without an L2 (size 0) there
 * is no L3 and no table walk through the L2. 0 or TALLY_ERANGE, logged.
 */
int params_check(const uint64_t *params, const struct tally_log *log);

/*
 * Log that there is no such machine or event, with near names and the machine
 * that has the event where another one does; return TALLY_EUNKNOWN.
 */
int machine_unknown(const char *name, const struct tally_log *log);
int event_unknown(const struct machine_row *machine, const char *name,
                  const struct tally_log *log);

#endif
