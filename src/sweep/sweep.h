/* SPDX-License-Identifier: MIT */
/*
 * A sweep: one program counted on every combination of the values of some
 * parameters of the machine, and of several machines. An axis is one parameter
 * with its values; a point is one combination.
 */
#ifndef TALLY_SWEEP_SWEEP_H
#define TALLY_SWEEP_SWEEP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define SWEEP_SETS_MOST 16
#define SWEEP_AXES_MOST (SWEEP_SETS_MOST + 1) /* with that of machines */
#define SWEEP_POINTS_MOST 4096

/* The key of the axis of machines. No parameter has this name. */
#define SWEEP_MACHINE "machine"

struct sweep_axis {
    char *key;         /* owned */
    char **values;     /* [count] as a command line has them; owned */
    uint64_t *numbers; /* [count] the values; NULL: some is no number; owned */
    size_t count;
};

/* What a point has of an event. */
struct sweep_value {
    bool known;           /* `count` is there */
    bool idle;            /* the machine cannot count the event as it is set */
    double count;         /* a whole number, but of some events of the host */
    const char *standing; /* as in the report of tally count; "": not known */
    const char *reason;   /* why the event is idle, or NULL */
};

struct sweep_point {
    bool done;      /* has run, or cannot be */
    bool cannot;    /* the machine cannot be set so */
    char *why;      /* it cannot, or the run gave no counts; NULL; owned */
    int status;     /* that the program ended with, 0 to 255 */
    json_t *report; /* of tally count, which `values` lie in */
    struct sweep_value *values; /* [event_count] owned */
};

struct sweep {
    const char *program;     /* the command line */
    struct sweep_axis *axes; /* owned */
    size_t axis_count;
    const char *const *events; /* names as they were asked for */
    size_t event_count;
    struct sweep_point *points; /* owned; the last axis changes fastest */
    size_t point_count;
};

/*
 * Adds an axis: "key=VALUES". VALUES are separated by commas; each is a value,
 * or LOW..HIGH for LOW and its doubles up to HIGH, or LOW..HIGH+STEP. Numbers
 * of parameters in bytes may end in K, M or G, of 1,024, and of those in hertz,
 * of 1,000. 0, TALLY_ENOMEM or TALLY_ERANGE, logged.
 */
int
sweep_add_axis(struct sweep *s, const char *text, const struct tally_log *log);

/* Adds the axis of machines, by names that the caller has checked. */
int sweep_add_machines(struct sweep *s, const char *const *names, size_t count,
                       const struct tally_log *log);

/* Makes the points, of which none is done. Names of events live as long as the
 * sweep. 0, TALLY_ENOMEM or TALLY_ERANGE (too many points), logged. */
int sweep_make_points(struct sweep *s, const char *const *events, size_t count,
                      const struct tally_log *log);

/* Returns the index, in an axis, of the point's value. */
size_t sweep_place(const struct sweep *s, size_t point, size_t axis);

/* Returns the point's value of an axis. */
const char *sweep_word(const struct sweep *s, size_t point, size_t axis);

/* Takes the report of tally count, as JSON, for the point's counts. Takes over
 * the reference. Returns false where it is no whole report of these events on
 * the point's machine and settings: the point is as it was. */
bool sweep_take(struct sweep *s, size_t point, json_t *report);

/* Frees all that the sweep owns. Accepts a zeroed struct. */
void sweep_finish(struct sweep *s);

#endif
