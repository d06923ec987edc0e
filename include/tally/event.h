/* SPDX-License-Identifier: MIT */
/*
 * The machines that programs can be counted on, and their events.
 *
 * Handles point into constant tables: they live as long as the library is
 * loaded, are owned by nobody, and compare equal when they mean the same. So
 * do all texts. Every function here is pure and safe from any thread.
 */
#ifndef TALLY_EVENT_H
#define TALLY_EVENT_H

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
    TALLY_MODELLED,  /* follows from a stated cache, TLB or predictor model */
    TALLY_ESTIMATED, /* follows from a stated timing model */
    TALLY_IDLE,      /* cannot count here; see tally_event_reason() */
};

/*
 * "exact", "modelled", "estimated" or "idle"; NULL for another value.
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
 * the same), or its code written 0x...; case does not matter. NULL if the
 * machine has none.
 *
 * @since 0.1
 */
TALLY_API const struct tally_event *
tally_event_find(const struct tally_machine *machine, const char *name);

/*
 * The event after `event`, or the machine's first after NULL; NULL after the
 * last. The order is that of the machine's manual.
 *
 * @since 0.1
 */
TALLY_API const struct tally_event *
tally_event_next(const struct tally_machine *machine,
                 const struct tally_event *event);

/* The manual's spelling. @since 0.1 */
TALLY_API const char *tally_event_name(const struct tally_event *event);

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

/*
 * Its standing when the program's instruction set is the machine's own.
 *
 * @since 0.1
 */
TALLY_API enum tally_fidelity
tally_event_fidelity(const struct tally_event *event);

#ifdef __cplusplus
}
#endif

#endif
