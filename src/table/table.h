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

/* The worth of a number; see doc/glossary.md. A worse one is greater. */
enum fidelity {
    FIDELITY_EXACT,
    FIDELITY_VARIES, /* of a run only: exact, but threads or processes ran
                        side by side */
    FIDELITY_MODELLED,
    FIDELITY_ESTIMATED,
    FIDELITY_PARTIAL, /* of a run only: some threads or processes are missing */
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
    /* How many copies of the signal there are, name_0 and so on; 0: one. */
    uint16_t copies;
    uint16_t copy; /* number of this copy */
    /* Components that must run to count the signal (enum component_id bits),
     * without those that they imply. */
    uint64_t components;
    uint8_t needs; /* enum feed_id bits: without one it means nothing */
    const uint8_t *requires; /* enum condition_id: without them it stays 0 */
    /* Of a derived signal: the signals that it follows from in the end, which
     * are not derived themselves, in their order. */
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

/* A rule that several parameters must keep: a [[rule]] of data/parameters.toml.
 */
struct param_rule {
    int param; /* the parameter that an error names */
    bool (*holds)(const uint64_t *params);
    const char *otherwise; /* {l1i.line} stands for a parameter's value */
};

/* Who asks a TLB. */
enum tlb_asker { TLB_FETCH, TLB_LOAD, TLB_STORE, TLB_ASKERS };

/* A cache: its parameters, and its name for people, such as "L2". */
struct cache_row {
    const char *name, *label;
    enum param_id size, ways, line;
};

/* A TLB: its parameters, and, but for the instruction TLB and the data TLB, the
 * signals that it raises by asker. */
struct tlb_row {
    const char *name;
    enum param_id entries, ways, replacement, shared, next;
    enum param_id time; /* of one behind the first */
    uint16_t hits[TLB_ASKERS], misses[TLB_ASKERS];
};

/* The values of the parameter `kind` of a direction predictor beside the first.
 */
enum predictor_kind {
    PREDICTOR_KIND_NONE,
    PREDICTOR_KIND_BIMODAL,
    PREDICTOR_KIND_GSHARE,
    PREDICTOR_KIND_PERCEPTRON,
    PREDICTOR_KIND_TAGE,
};

/* A direction predictor beside the first: its parameters, and its signals by
 * the direction in which a branch that was predicted wrongly went. */
struct predictor_row {
    const char *name;
    enum param_id kind, entries, history;
    uint16_t not_taken, taken;
};

/* A target cache beside the indirect table: its parameters, and the signal of
 * targets that it predicted wrongly. */
struct target_row {
    const char *name;
    enum param_id entries, history;
    uint16_t mispredicts;
};

/* The value of one parameter in one machine, and its source. */
struct param_value {
    uint64_t value;
    const char *source;
    bool assumed; /* no source has it: a declared assumption */
};

/* Whether a unit mask value that the row's pattern matches counts. */
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
 * An event of a machine. A number or an int8_t flag of -1 means that the
 * machine has no such thing.
 */
struct event_row {
    const char *name;
    const char *const *aliases; /* NULL-terminated, may be empty */
    const char *unit;           /* "cpu" */
    const char *counts;         /* when exactly the event counts */
    const char *brief;
    const char *reference; /* document and table */
    const char *reason;    /* why the event is idle, or NULL */
    const char *category;  /* the manual's, or NULL */
    /* How exactly the counter tells the threads apart: "TrueThrd"; or NULL. */
    const char *attribution;
    const char *const *related;  /* events worth reading with this one */
    const char *const *excludes; /* events that cannot count with this one */
    const char *const *instructions; /* names of the lists that it counts */
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

/* The event that stands for a generic name on a machine. */
struct generic_event {
    const char *own; /* "Misses", "READS.MISS", of a sum "A + B"; or NULL */
    const char
        *differs;       /* how the event departs from the definition, or NULL */
    const char *reason; /* why no event stands for the name, or NULL */
    enum stands kind;
    uint16_t event; /* row of the machine's events; not of STANDS_NONE */
    int16_t umask;  /* of the event, -1: none, or that of its bare name */
};

/* A part of a machine that has counters. */
struct unit_row {
    const char *name;
    const char *brief;
    const char *scope;     /* "strand", "core", "chip", "node", "system" */
    const char *elsewhere; /* a unit that other documents describe, or NULL */
    const char *const *instances; /* the names of several units alike */
    size_t instance_count;        /* 0: there is one unit */
};

/* A field with the value that lets a counter count. */
struct field_value {
    int16_t reg;   /* of the machine, -1: the counter's selecting register */
    uint8_t field; /* of the register */
    uint32_t value;
};

/* The field that a modifier has for one counter, where the selecting register
 * has a field for each of several counters. */
struct modifier_field {
    uint8_t modifier; /* row of the machine's modifiers */
    const char *field;
};

/* A counter, and the fields that choose its event (-1: no such field). */
struct counter_row {
    const char *name;
    const char *value;       /* the register, or REGISTER.FIELD, to read */
    const char *const *sets; /* the names of sets it belongs to */
    const uint16_t *select;  /* register by instance; NULL: fixed event */
    const struct field_value *fixed;
    const struct modifier_field *modifiers;
    size_t fixed_count, modifier_count;
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

/* A word that may stand behind an event, and the field that it sets. */
struct modifier_row {
    const char *name;
    /* Of the selecting register, or REGISTER.FIELD; a counter may have another
     * field in place of this one. */
    const char *field;
    const char *brief;
    const char *const *words; /* of MODIFIER_LETTERS and _WORDS */
    const uint32_t *letters;  /* the bits of each letter */
    enum modifier_kind kind;
    enum modifier_needs needs; /* only events with this */
    uint32_t units;            /* bits: for events of these */
    uint32_t value, low, high;
    uint32_t default_value; /* if the modifier is not given */
    int8_t sl;              /* only events with this sl; -1: all */
    bool inverted;          /* privilege: the field's 1 bits leave it out */
    bool by_default;        /* privilege: set if none is given */
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

/* The cost of an event, in cycles or in multiples of a parameter. */
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

/* A number that formulas need beside counts; row 0 is the clock, row 1 the
 * seconds counted. */
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
    const char *const *isas; /* names of its own architectures: "sparc64" */
    enum family_id family;   /* whose rules its counters follow */
    const struct param_value *params; /* PARAM_COUNT, or NULL: no model yet */
    /* The machine's own events. Behind them stand made_count more, which no
     * list of events shows: sums and signals of the model, made for generic
     * names. */
    const struct event_row *events;
    const struct generic_event *generics; /* GENERIC_COUNT */
    /* Events with one unit mask or instance, which lists of counts take as
     * events: "mem_reads:at=0". */
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
    /* The caches have the geometry of this host's, where the system tells it;
     * `params` stands for the rest. */
    bool reads_host;
};

extern const struct signal_row tally_signals[SIGNAL_COUNT];
extern const struct param_row tally_params[PARAM_COUNT];
extern const struct param_rule tally_param_rules[PARAM_RULE_COUNT];
/* By enum cache_id: the L1I, L1D, L2I, L2 and L3, and the levels behind the L3
 * that machines name, the nearest first. */
extern const struct cache_row tally_caches[CACHE_COUNT];
/* By enum tlb_id: the instruction TLB, the data TLB, and those behind them that
 * machines name. */
extern const struct tlb_row tally_tlbs[TLB_COUNT];

/* By enum predictor_id; the last row is empty. */
extern const struct predictor_row tally_predictors[PREDICTOR_COUNT + 1];

/* By enum target_id; the last row is empty. */
extern const struct target_row tally_targets[TARGET_COUNT + 1];

/* Returns the TLB, an enum tlb_id, that the misses of `tlb` ask; TLB_COUNT:
 * none, so that a table is walked. `params` are those of one machine. */
unsigned tlb_next(const uint64_t *params, unsigned tlb);
extern const struct generic_row tally_generics[GENERIC_COUNT];
extern const struct generic_metric tally_generic_metrics[GENERIC_METRIC_COUNT];
/* The rows that stand in a count's list for generic names and metrics that the
 * machine lacks, in their order: without signals and without formulas. */
extern const struct event_row tally_lacking_events[GENERIC_COUNT];
extern const struct metric_row tally_lacking_metrics[GENERIC_METRIC_COUNT];
extern const struct machine_row tally_machines[MACHINE_COUNT];

/* Returns the word for a fidelity: "exact". */
const char *fidelity_name(enum fidelity fidelity);

/* Returns the word for the worth of a whole count on the machine: "measured"
 * for an exact count of the host itself, which another run would not repeat;
 * otherwise the fidelity. */
const char *
machine_standing(const struct machine_row *machine, enum fidelity fidelity);

/* Returns the fidelity of an event's count in a run: of a foreign program
 * nothing is exact; of threads or processes side by side nothing repeats.
 * `left_early`: blocks were left before their end, so that counts are off.
 * `partial`: counts of some threads or processes are not in the sum.
 */
enum fidelity fidelity_in_run(enum fidelity event, bool foreign,
                              bool side_by_side, bool left_early, bool partial);

/* Finds a machine by name or alias, in any case; NULL: none. */
const struct machine_row *machine_find(const char *name);

/* Returns whether the model raises the event and a strand's counters have it.
 */
bool event_is_live(const struct event_row *event);

/* Returns whether the event's count is known only when the program has ended:
 * it has no count of an interval. */
bool event_is_late(const struct event_row *event);

/* Returns whether the event is one line of a group of lines. */
bool event_is_line(const struct event_row *event);

/* Returns whether the event stands for several lines of a group, one of which
 * is a live event of the machine by itself. */
bool event_has_lines(const struct machine_row *machine,
                     const struct event_row *event);

/*
 * Finds an event by name or alias, by code written 0x..., or by number. "unit/"
 * may stand in front; it must if units share the name, and in front of a code
 * of another unit than the first. NULL: none.
 */
const struct event_row *
event_find(const struct machine_row *machine, const char *name);

/* Returns the machine's event that counts the cycles of a thread and nothing
 * else; NULL: none. */
const struct event_row *event_of_cycles(const struct machine_row *machine);

/* Find a register and a metric by name or alias; NULL: none. */
const struct register_row *
register_find(const struct machine_row *machine, const char *name);
const struct metric_row *
metric_find(const struct machine_row *machine, const char *name);

/* Returns the field of this name, or -1. */
int field_find(const struct register_row *row, const char *name);

/* Returns the unit of this name, or -1. */
int unit_find(const struct machine_row *machine, const char *name);

/* Returns whether the event has no model yet: it cannot count, not even 0. */
bool event_unmodelled(const struct event_row *event);

/* Return the number of a parameter and of a signal, or -1. */
int param_find(const char *key);
int signal_find(const char *name);

/*
 * Writes up to `max` of `names` that are near `name` as "a, b or c", the
 * nearest first; "" if none is near. See table/near.h.
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
 * Parses an event list as event_list_parse() does, but takes software events of
 * the kernel too (table/software.h), and for generic names that the machine
 * lacks gives rows of tally_lacking_events. `all` and `default` leave out
 * unwanted events (NULL: none); *left_out says how many `all` left out. *asked
 * are the words of the list, for `all` and `default` the events' names. The
 * caller calls event_list_free_asked().
 */
int event_list_wanted(const struct machine_row *machine, const char *text,
                      event_unwanted_fn unwanted, const struct tally_log *log,
                      const struct event_row ***events, char ***asked,
                      size_t *count, size_t *left_out);
void event_list_free_asked(char **asked, size_t count);

/* Lists the events that are counted without -e, which the data marks. */
int event_list_default(const struct machine_row *machine,
                       const struct event_row ***events, size_t *count);

/*
 * Reads a value for parameter `id` ("32K", "1.4G", "gshare") and checks its
 * limits. *value is untouched on failure.
 */
int param_parse(int id, const char *text, const struct tally_log *log,
                uint64_t *value);

/* Returns the parameter that "key=value" is of, or -1. */
int param_assigned(const char *assignment);

/* Applies "key=value" to `params` (PARAM_COUNT values). 0 or an error, logged.
 */
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
