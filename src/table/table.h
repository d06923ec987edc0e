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
    FIDELITY_VARIES, /* of a run only: exact, but threads or processes ran
                        side by side */
    FIDELITY_MODELLED,
    FIDELITY_ESTIMATED,
    FIDELITY_PARTIAL, /* of a run only: some threads or processes lack */
    FIDELITY_IDLE,
};

struct signal_row {
    const char *name;
    const char *brief;
    /* Summed over executed blocks; otherwise raised by the model. */
    bool fixed;
    /* Raised by an access of data: --filter data= restricts it. */
    bool data;
    /* Known only when the program has ended. */
    bool at_end;
    /* Signals that are alike, name_0 and so on; 0: it is the only one. */
    uint16_t copies;
    uint16_t copy; /* its number among them */
    /* Parts of the model that must run to count it, beside those that these
     * imply: enum component_id bits. */
    uint32_t components;
    const uint8_t *requires; /* enum condition_id, without which it is 0 */
    /* Of a derived signal, the signals from which it follows: all that are not
     * derived themselves, in their order; else there are none. */
    const uint16_t *sources;
    uint16_t require_count, source_count;
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

/* What parameters must be together: a [[rule]] of data/parameters.toml. */
struct param_rule {
    int param; /* that a broken rule blames */
    bool (*holds)(const uint64_t *params);
    const char *otherwise; /* {l1i.line} stands for a parameter's value */
};

/* The value of one parameter in one machine, with where it is from. */
struct param_value {
    uint64_t value;
    const char *source;
    bool assumed; /* the sources are silent: a declared assumption */
};

/* What a unit mask's row says of a value that the pattern matches. */
enum umask_counts { UMASK_YES, UMASK_NOTHING, UMASK_ILLEGAL, UMASK_UNDEFINED };

struct umask_row {
    const char *name; /* "" where the manual has none */
    const char *const *aliases;
    const char *pattern; /* "xx01", the most significant bit first */
    const char *brief;
    const char *attribution; /* as in the event */
    uint8_t value, care;     /* of the bits in `care` */
    int8_t all;              /* as in the event */
    int16_t counted; /* its row of narrowed_events, -1: no model counts it */
    enum umask_counts counts;
};

/*
 * Of numbers, -1 means that the machine has no such thing; of the int8_t
 * flags too.
 */
struct event_row {
    const char *name;
    const char *const *aliases; /* NULL-terminated, may be empty */
    const char *unit;           /* "cpu" */
    const char *counts;         /* when exactly it counts */
    const char *brief;
    const char *reference; /* document and table */
    const char *reason;    /* why it is idle, else NULL */
    const char *category;  /* the manual's, or NULL */
    /* How exactly it knows whose thread it is: "TrueThrd"; or NULL. */
    const char *attribution;
    const char *const *related;      /* events worth reading beside it */
    const char *const *excludes;     /* events that cannot count beside it */
    const char *const *instructions; /* names of the lists it counts */
    enum fidelity fidelity;
    int32_t code;
    int16_t sl, mask;
    int16_t number;    /* the manual's, where events have no code */
    int16_t max_inc;   /* the most it adds in a cycle */
    uint32_t counters; /* bits: the machine's counters that can count it */
    const uint16_t *signals;        /* the signals it sums */
    const struct umask_row *umasks; /* in the manual's order */
    uint16_t signal_count, umask_count;
    int8_t l1d_set, l2d_set;
    char type;            /* under threads: 'A', 'C', 'F', 'S', or 0 */
    int8_t iar, dar, opc; /* constrained by address range, opcode */
    int8_t all;           /* can count both threads at once */
    int8_t precise, strand_specific;
    bool mesi;       /* filtered by the line's state */
    bool umask_bits; /* each umask bit is one of the rows, any may be set */
    bool reserved;   /* known by its code only */
    bool by_default; /* counted without -e; at most 64 are */
};

/* A name that means the same on every machine: perf's or PAPI's. */
struct generic_row {
    const char *name;
    const char *const *aliases;
    const char *counts; /* the definition */
    const char *brief;
    const char *reference;
};

enum stands {
    STANDS_EVENT, /* an event of the machine */
    STANDS_SUM,   /* several, which add up to it */
    STANDS_MODEL, /* an event of the model that no counter of the machine has */
    STANDS_NONE,
};

/* What stands for a generic name on a machine. */
struct generic_event {
    const char *own;     /* "Misses", "READS.MISS", of a sum "A + B"; or NULL */
    const char *differs; /* how it departs from the definition, or NULL */
    const char *reason;  /* why there is nothing, else NULL */
    enum stands kind;
    uint16_t event; /* row of the machine's events, but for STANDS_NONE */
    int16_t umask;  /* of the event, -1: none, or that of its bare name */
};

/* What a group of counters belongs to. */
struct unit_row {
    const char *name;
    const char *brief;
    const char *scope;     /* "strand", "core", "chip", "node", "system" */
    const char *elsewhere; /* a unit that other documents describe, or NULL */
    const char *const *instances; /* several alike: their names */
    size_t instance_count;        /* 0: there is one */
};

struct field_value {
    uint8_t field; /* of the register */
    uint32_t value;
};

/* A counter, and the fields that choose its event (-1: it has none such). */
struct counter_row {
    const char *name;
    const char *value;       /* the register, or REGISTER.FIELD, to read */
    const char *const *sets; /* the names of sets it belongs to */
    const uint16_t *select;  /* register by instance; NULL: fixed event */
    const struct field_value *fixed;
    size_t fixed_count;
    uint8_t unit, bits;
    uint8_t base; /* the number field holds number - base */
    int8_t sl_field, mask_field, code_field, number_field, umask_field;
};

enum field_access {
    ACCESS_RW,
    ACCESS_RO,
    ACCESS_WO,
    ACCESS_RW0,  /* a written 1 leaves it as it is */
    ACCESS_IGN,  /* reads 0, writes are ignored */
    ACCESS_RSVD, /* must keep its reset value */
};

struct field_row {
    const char *name;
    const char *brief; /* or NULL */
    uint64_t reset;
    uint8_t low, width;
    bool has_reset; /* else the reset leaves it undefined */
    enum field_access access;
};

struct register_row {
    const char *name;
    const char *const *aliases;
    const char *group;   /* the heading it is listed under */
    const char *address; /* how it is reached, in words; or NULL */
    const char *access;  /* who may, in words; or NULL */
    const char *brief;
    const char *reference;
    const struct field_row *fields; /* the most significant first */
    size_t field_count;
    uint64_t local_address, global_address;
    int32_t number; /* -1: none */
    uint8_t width;
    bool has_local, has_global;
};

enum modifier_kind {
    MODIFIER_PRIVILEGE, /* :u; those given are ORed */
    MODIFIER_FLAG,      /* :all */
    MODIFIER_NUMBER,    /* :thr=2 */
    MODIFIER_LETTERS,   /* :mesi=ME */
    MODIFIER_WORDS,     /* :from=local */
};

enum modifier_needs { NEEDS_NOTHING, NEEDS_MESI, NEEDS_ALL };

/* What may stand behind an event, and the field that it sets. */
struct modifier_row {
    const char *name;
    const char *field; /* of the selecting register, or REGISTER.FIELD */
    const char *brief;
    const char *const *words; /* of MODIFIER_LETTERS and _WORDS */
    const uint32_t *letters;  /* the bits of each letter */
    enum modifier_kind kind;
    enum modifier_needs needs; /* only events with this */
    uint32_t units;            /* bits: for events of these */
    uint32_t value, low, high;
    uint32_t default_value; /* where it is not given */
    int8_t sl;              /* only events with this sl; -1: all */
    bool by_default;        /* privilege: where none is given */
};

/* The events of one sl value. */
struct group_row {
    const char *title;
    const char *rule; /* what mask values mean that have no row; or NULL */
    uint8_t sl, unit, mask;
    /* A mask that chooses the line `whole` counts the line `part` too; 0: the
     * group has no such line. */
    uint8_t whole, part;
    int8_t precise;
    bool reserved;
};

struct instructions_row {
    const char *name;
    const char *brief;
    const char *reference;
    const char *const *names;
};

enum formula_kind {
    FORMULA_NUMBER,
    FORMULA_EVENT,
    FORMULA_INPUT,
    FORMULA_ADD,
    FORMULA_SUBTRACT,
    FORMULA_MULTIPLY,
    FORMULA_DIVIDE,
    FORMULA_NEGATE,
};

struct formula_step {
    enum formula_kind kind;
    double number;
    uint16_t row;  /* of the event or input */
    int16_t umask; /* of the event, -1: none */
};

struct metric_row {
    const char *name;
    const char *const *aliases;
    const char *formula;
    const char *unit;    /* may be empty */
    const char *brief;   /* what it means */
    const char *read;    /* how to read the number, or NULL */
    const char *printed; /* the manual's formula where it differs, or NULL */
    const char *reference;
    const struct formula_step *steps; /* postfix */
    size_t step_count;
    bool generic; /* its name means the same on every machine */
};

/* A metric of generic names. */
struct generic_metric {
    const char *name;
    const char *const *aliases;
    const char *formula;
    const char *unit;
    const char *brief;
    const uint16_t *operands; /* generic names, each once */
    size_t operand_count;
};

/* What an event costs: cycles, or multiples of a parameter. */
struct cost_row {
    double minimum, typical, maximum;
    const char *source;
    uint16_t event;
    int16_t per;  /* enum param_id, -1: cycles */
    bool assumed; /* the sources are silent: a declared assumption */
};

/*
 * A line of what `tally count --accounting` prints: a part of the line
 * `parent` (-1: of none), which stands before it. Parts that have the same
 * whole add up to it. Aliases, reference and so on stay empty.
 */
struct account_row {
    struct metric_row value;
    int16_t parent;
};

/* What a formula needs beside counts: 0 is the clock, 1 the seconds counted. */
enum { INPUT_CLOCK, INPUT_INTERVAL };
struct input_row {
    const char *name;
    const char *brief;
};

/* Lower-case names in order. */
#define NAME_AMBIGUOUS 0xffffu
struct name_index {
    const char *name;
    uint16_t row;
};

struct code_index {
    int32_t code;
    uint16_t row;
};

struct machine_row {
    const char *name;
    const char *title;
    const char *brief;
    const char *source;
    const char *page; /* of our documents, "doc/models/NAME.md"; or NULL */
    const char *const *aliases;
    const char *const *isas; /* guest ISAs that are its own: "sparc64" */
    enum family_id family;   /* whose rules its counters follow */
    const struct param_value *params; /* PARAM_COUNT, or NULL: no model yet */
    /* The machine's own; made_count more behind them are sums, or signals of
     * the model, made for generic names, which no list of events has. */
    const struct event_row *events;
    const struct generic_event *generics; /* GENERIC_COUNT */
    /* "mem_reads:at=0": what event lists of counts take as if it were one. */
    const struct event_row *narrowed_events;
    const struct unit_row *units;
    const struct counter_row *counters;
    const struct register_row *registers;
    const struct modifier_row *modifiers;
    const struct group_row *groups;
    const struct instructions_row *lists;
    const struct metric_row *metrics;
    const struct input_row *inputs;
    const struct cost_row *costs; /* in order of events */
    const struct account_row *accounts;
    const struct name_index *event_names, *register_names, *metric_names;
    const struct code_index *codes;
    size_t event_count, narrowed_event_count, unit_count, counter_count,
        register_count;
    size_t modifier_count, group_count, list_count, metric_count, input_count;
    size_t made_count, cost_count, account_count;
    size_t event_name_count, register_name_count, metric_name_count;
    size_t code_count;
    bool hidden; /* only tests use it */
    bool native; /* no model: this host's own counters */
};

extern const struct signal_row tally_signals[SIGNAL_COUNT];
extern const struct param_row tally_params[PARAM_COUNT];
extern const struct param_rule tally_param_rules[PARAM_RULE_COUNT];
extern const struct generic_row tally_generics[GENERIC_COUNT];
extern const struct generic_metric tally_generic_metrics[GENERIC_METRIC_COUNT];
/* What stands in a count's list for the generic names and metrics that the
 * machine lacks, in their order: rows without signals and without a formula. */
extern const struct event_row tally_lacking_events[GENERIC_COUNT];
extern const struct metric_row tally_lacking_metrics[GENERIC_METRIC_COUNT];
extern const struct machine_row tally_machines[MACHINE_COUNT];

const char *fidelity_name(enum fidelity fidelity);

/* Returns the word for what a whole count on the machine is worth: "measured"
 * for an exact count of the host itself, which another run would not repeat. */
const char *
machine_standing(const struct machine_row *machine, enum fidelity fidelity);

/* The standing of an event's count in a run: of a program for another machine
 * nothing is exact, and of threads or processes side by side nothing repeats.
 * `left_early`: blocks were left before their end, so that counts are off.
 * `partial`: counts of some threads or processes are not in the sum.
 */
enum fidelity fidelity_in_run(enum fidelity event, bool foreign,
                              bool side_by_side, bool left_early, bool partial);

/* NULL if there is none. Case does not matter. Names and aliases. */
const struct machine_row *machine_find(const char *name);

/* Whether the model raises the event and a strand's counters have it. */
bool event_is_live(const struct event_row *event);

/* Whether its count is known only when the program has ended, so that it has
 * none of an interval. */
bool event_is_late(const struct event_row *event);

/* Whether it is one line of a group of lines. */
bool event_is_line(const struct event_row *event);

/* Whether it stands for several lines of a group, one of which is a live event
 * of the machine by itself. */
bool event_has_lines(const struct machine_row *machine,
                     const struct event_row *event);

/*
 * By name or alias, by code written 0x... or by number. "unit/" may stand in
 * front; it must where units share the name, and before a code that is not of
 * the first unit. NULL if there is none.
 */
const struct event_row *
event_find(const struct machine_row *machine, const char *name);

/* By name or alias; NULL if there is none. */
const struct register_row *
register_find(const struct machine_row *machine, const char *name);
const struct metric_row *
metric_find(const struct machine_row *machine, const char *name);

/* The field of this name, or -1. */
int field_find(const struct register_row *row, const char *name);

/* A unit by name, or -1. */
int unit_find(const struct machine_row *machine, const char *name);

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
 * event but those made for generic names, `default` those that are marked so.
 * Duplicates stay. The result is an array the caller frees; 0 or an error,
 * logged with near names and the machine that has the event where another one
 * does.
 */
int event_list_parse(const struct machine_row *machine, const char *text,
                     const struct tally_log *log,
                     const struct event_row ***events, size_t *count);

typedef bool (*event_unwanted_fn)(const struct event_row *event);

/*
 * As event_list_parse(), with the kernel's software events by their names in
 * their place (table/software.h), and with rows of tally_lacking_events for
 * generic names that the machine lacks. `all` and `default` leave out what is
 * unwanted (NULL: nothing); *left_out says how many `all` did. *asked are the
 * words that asked for the events, as they were written; of `all` and `default`
 * the events' names. The caller calls event_list_free_asked().
 */
int event_list_wanted(const struct machine_row *machine, const char *text,
                      event_unwanted_fn unwanted, const struct tally_log *log,
                      const struct event_row ***events, char ***asked,
                      size_t *count, size_t *left_out);
void event_list_free_asked(char **asked, size_t count);

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
 * Checks the limits of all PARAM_COUNT values, that each cache is ways x line x
 * a power of two sets, that there is memory for all, and the rules of
 * data/parameters.toml. Returns 0 or TALLY_ERANGE, logged.
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
