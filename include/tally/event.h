/* SPDX-License-Identifier: MIT */
/*
 * The processors of the catalogue: machines, events with their unit masks,
 * metrics; which register writes count an event, what register values mean,
 * and which events count together.
 *
 * Not every machine can run programs yet; the events of the others are
 * TALLY_IDLE, with the reason. Where a function takes events as text, it is
 * that of tally-encode(1): "NAME.UMASK:u:k:thr=2", separated by commas, with
 * braces around those that must stay together.
 *
 * Handles point into constant tables: they live as long as the library is
 * loaded, are owned by nobody, and compare equal when they mean the same. So
 * do all texts. Every function here is pure and safe from any thread.
 */
#ifndef TALLY_EVENT_H
#define TALLY_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include "tally/tally.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A processor as a model. @since 0.1 */
struct tally_machine;

/* What a counter of one machine can count. @since 0.1 */
struct tally_event;

/*
 * The standing of a number, the worse the greater.
 *
 * @since 0.1
 */
enum tally_fidelity {
    TALLY_EXACT,     /* follows from the program alone, as on the real chip */
    TALLY_VARIES,    /* of a run only: exact, but threads or processes ran
                        side by side */
    TALLY_MODELLED,  /* follows from a stated cache, TLB or predictor model */
    TALLY_ESTIMATED, /* follows from a stated timing model; or, of a run,
                        blocks of code were left before the end */
    TALLY_PARTIAL,   /* of a run only: some threads or processes lack */
    TALLY_IDLE,      /* cannot count here; see tally_event_reason() */
};

/*
 * "exact", "varies", "modelled", "estimated", "partial" or "idle"; NULL for
 * another value.
 *
 * @since 0.1
 */
TALLY_API const char *tally_fidelity_name(enum tally_fidelity fidelity);

/*
 * A machine by name or alias, whatever the case; NULL if there is none.
 *
 * @since 0.1
 */
TALLY_API const struct tally_machine *tally_machine_find(const char *name);

/*
 * The machine after `machine`, or the first after NULL; NULL after the last.
 *
 * @since 0.1
 */
TALLY_API const struct tally_machine *
tally_machine_next(const struct tally_machine *machine);

/* "ultrasparc-t2". @since 0.1 */
TALLY_API const char *tally_machine_name(const struct tally_machine *machine);

/* "Sun UltraSPARC T2 (Niagara 2)". @since 0.1 */
TALLY_API const char *tally_machine_title(const struct tally_machine *machine);

/*
 * An event by its name, one of its aliases (perf's, libpfm's, PAPI's names for
 * the same), its code written 0x..., or its number; case does not matter. The
 * unit may stand in front, "lpu/clock_cycles": it must where units share the
 * name, and before a code that is not of the machine's first unit. A generic
 * name that means an event with a unit mask gives that part of the event, named
 * "EVENT.UMASK"; one that the machine has a sum or the model for gives an event
 * that tally_event_next() does not list. NULL if the machine has none.
 *
 * @since 0.1
 */
TALLY_API const struct tally_event *
tally_event_find(const struct tally_machine *machine, const char *name);

/*
 * The event after `event`, or the machine's first after NULL; NULL after the
 * last, and after an event that is not listed. The order is that of the
 * machine's manual.
 *
 * @since 0.1
 */
TALLY_API const struct tally_event *
tally_event_next(const struct tally_machine *machine,
                 const struct tally_event *event);

/* The manual's spelling. @since 0.1 */
TALLY_API const char *tally_event_name(const struct tally_event *event);

/*
 * What it belongs to: "cpu", "dram", "lpu". No two events of a unit share a
 * name.
 *
 * @since 0.1
 */
TALLY_API const char *tally_event_unit(const struct tally_event *event);

/* The unit's number among the machine's, from 1. @since 0.1 */
TALLY_API size_t tally_event_unit_number(const struct tally_machine *machine,
                                         const struct tally_event *event);

/* Another name at `index`, from 0; NULL after the last. @since 0.1 */
TALLY_API const char *
tally_event_alias(const struct tally_event *event, size_t index);

/* A few words. @since 0.1 */
TALLY_API const char *tally_event_brief(const struct tally_event *event);

/* When exactly it counts. @since 0.1 */
TALLY_API const char *tally_event_counts(const struct tally_event *event);

/* The document and table the event is from. @since 0.1 */
TALLY_API const char *tally_event_reference(const struct tally_event *event);

/* Why a TALLY_IDLE event cannot count; NULL for any other. @since 0.1 */
TALLY_API const char *tally_event_reason(const struct tally_event *event);

/* The code that selects it in a control register, -1: none. @since 0.1 */
TALLY_API int32_t tally_event_code(const struct tally_event *event);

/* The manual's number, where events have no code; -1: none. @since 0.1 */
TALLY_API int32_t tally_event_number(const struct tally_event *event);

/*
 * Its standing when the program's instruction set is the machine's own.
 *
 * @since 0.1
 */
TALLY_API enum tally_fidelity
tally_event_fidelity(const struct tally_event *event);

/*
 * A row of an event's unit masks, in the manual's words.
 *
 * @since 0.1
 */
struct tally_umask {
    const char *name;    /* "" where the manual has none */
    const char *pattern; /* "x01x", the most significant bit first */
    const char *brief;   /* may be "" */
    int counts;          /* 0: it counts nothing, is illegal or undefined */
};

/*
 * Row `index` of the event's unit masks. 0, or TALLY_ERANGE after the last;
 * *umask is then untouched.
 *
 * @since 0.1
 */
TALLY_API int tally_event_umask(const struct tally_event *event, size_t index,
                                struct tally_umask *umask);

/* A register of one machine. @since 0.1 */
struct tally_register;

/* A register by name or alias, whatever the case; NULL if there is none.
 * @since 0.1 */
TALLY_API const struct tally_register *
tally_register_find(const struct tally_machine *machine, const char *name);

/* The one after `row`, the first after NULL, NULL after the last.
 * @since 0.1 */
TALLY_API const struct tally_register *
tally_register_next(const struct tally_machine *machine,
                    const struct tally_register *row);

/* "PMC4". @since 0.1 */
TALLY_API const char *tally_register_name(const struct tally_register *row);

/* A few words. @since 0.1 */
TALLY_API const char *tally_register_brief(const struct tally_register *row);

/* The manual's number, -1: none. @since 0.1 */
TALLY_API int32_t tally_register_number(const struct tally_register *row);

/*
 * What may be done with a field.
 *
 * @since 0.1
 */
enum tally_access {
    TALLY_READ_WRITE,
    TALLY_READ_ONLY,
    TALLY_WRITE_ONLY,
    TALLY_WRITE_ZERO, /* a written 1 leaves it as it is */
    TALLY_IGNORED,    /* reads 0, writes are ignored */
    TALLY_RESERVED,   /* must keep its reset value */
};

/*
 * A field of a register.
 *
 * @since 0.1
 */
struct tally_field {
    const char *name;
    const char *brief;   /* or NULL */
    unsigned low, width; /* bits: from `low` on, `width` of them */
    enum tally_access access;
    int has_reset;  /* 0: a reset leaves it undefined */
    uint64_t reset; /* its value then, else 0 */
};

/*
 * Field `index` of the register, the most significant first. 0, or
 * TALLY_ERANGE after the last; *field is then untouched.
 *
 * @since 0.1
 */
TALLY_API int tally_register_field(const struct tally_register *row,
                                   size_t index, struct tally_field *field);

/*
 * A register and the whole value to write into it.
 *
 * @since 0.1
 */
struct tally_write {
    const char *name; /* the register's */
    int32_t number;   /* the register's, -1: it has none */
    uint64_t value;
};

/*
 * The writes that make the machine count all of `events` at once, in the order
 * of the machine's registers. `writes` has room for `max`; *count is how many
 * there are, which may be more: then only the first `max` are written.
 * TALLY_EUNKNOWN, TALLY_ESYNTAX or TALLY_ERANGE for a bad text, TALLY_ERULE if
 * they do not count together, TALLY_ENOMEM; each logged in one line (`log`
 * may be NULL), *count then untouched. Filters that let nothing be counted are
 * a warning.
 *
 * @since 0.1
 */
TALLY_API int
tally_encode(const struct tally_machine *machine, const char *events,
             const struct tally_log *log, struct tally_write *writes,
             size_t max, size_t *count);

/*
 * What tally_decode() finds, in this order.
 *
 * @since 0.1
 */
enum tally_decoded_kind {
    TALLY_DECODED_FIELD,   /* name: the field; value: its value */
    TALLY_DECODED_COUNTER, /* name: the counter; text: what it counts */
    TALLY_DECODED_WARNING, /* text: what is wrong */
};

/*
 * One finding; texts live until the function it is handed to returns.
 *
 * @since 0.1
 */
struct tally_decoded {
    enum tally_decoded_kind kind;
    const char *name;
    const char *text; /* a field's meaning, or NULL */
    uint64_t value;
};

/*
 * Takes "REGISTER=VALUE" apart and hands each finding to `take`, on the
 * calling thread. TALLY_ESYNTAX, TALLY_EUNKNOWN or TALLY_ERANGE for a bad
 * text, logged (`log` may be NULL); `take` is then not called.
 *
 * @since 0.1
 */
TALLY_API int
tally_decode(const struct tally_machine *machine, const char *text,
             const struct tally_log *log,
             void (*take)(void *user, const struct tally_decoded *decoded),
             void *user);

/* Events in groups that count at the same time. @since 0.1 */
struct tally_plan;

/* An event's place in a plan; texts are the plan's. @since 0.1 */
struct tally_planned {
    const char *event;   /* as tally_encode() takes it */
    const char *counter; /* the machine's name of it */
    size_t group;        /* from 0 */
};

/*
 * Plans the fewest groups for `events`: exactly for up to twelve, else each
 * event goes to the first group that takes it. On success *plan is the
 * caller's, to be destroyed. Errors as of tally_encode(); TALLY_ERULE if an
 * event, or what stands in braces, can never count.
 *
 * @since 0.1
 */
TALLY_API int
tally_plan_create(const struct tally_machine *machine, const char *events,
                  const struct tally_log *log, struct tally_plan **plan);

/* Accepts NULL. @since 0.1 */
TALLY_API void tally_plan_destroy(struct tally_plan *plan);

/* @since 0.1 */
TALLY_API size_t tally_plan_group_count(const struct tally_plan *plan);

/*
 * The event at `index`, in the order of the text. 0, or TALLY_ERANGE after the
 * last; *planned is then untouched.
 *
 * @since 0.1
 */
TALLY_API int tally_plan_event(const struct tally_plan *plan, size_t index,
                               struct tally_planned *planned);

/*
 * Two events that cannot count at the same time, by their index in the text;
 * `why` is the plan's.
 *
 * @since 0.1
 */
struct tally_clash {
    size_t a, b;
    const char *why; /* the rule that forbids it */
};

/*
 * Pair `index` of all that clash, in the order of the text. 0, or TALLY_ERANGE
 * after the last; *clash is then untouched. A plan may need several groups
 * without a clash, where more events than counters were asked for.
 *
 * @since 0.1
 */
TALLY_API int tally_plan_clash(const struct tally_plan *plan, size_t index,
                               struct tally_clash *clash);

/* A value computed from events. @since 0.1 */
struct tally_metric;

/* A metric by name or alias, whatever the case; NULL if there is none.
 * @since 0.1 */
TALLY_API const struct tally_metric *
tally_metric_find(const struct tally_machine *machine, const char *name);

/* The one after `metric`, the first after NULL, NULL after the last.
 * @since 0.1 */
TALLY_API const struct tally_metric *
tally_metric_next(const struct tally_machine *machine,
                  const struct tally_metric *metric);

/* @since 0.1 */
TALLY_API const char *tally_metric_name(const struct tally_metric *metric);

/* A few words. @since 0.1 */
TALLY_API const char *tally_metric_brief(const struct tally_metric *metric);

/* "BACK_END_BUBBLE.ALL / CPU_OP_CYCLES.ALL"; $name is an input. @since 0.1 */
TALLY_API const char *tally_metric_formula(const struct tally_metric *metric);

/* "" for a plain number. @since 0.1 */
TALLY_API const char *tally_metric_unit(const struct tally_metric *metric);

/*
 * Computes a metric: `value_of` is asked for each name of the formula, an event
 * ("BACK_END_BUBBLE.ALL") or an input ("$clock"), and returns NAN for what it
 * does not know. NAN if the metric has no value, as after a division by 0.
 *
 * @since 0.1
 */
TALLY_API double
tally_metric_value(const struct tally_machine *machine,
                   const struct tally_metric *metric,
                   double (*value_of)(void *user, const char *name),
                   void *user);

#ifdef __cplusplus
}
#endif

#endif
