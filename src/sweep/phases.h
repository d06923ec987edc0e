/* SPDX-License-Identifier: MIT */
/*
 * The phases of a program: groups of intervals of its time that run the same
 * code, found from what each interval ran (profile/phases_recorder.h), and how
 * they are reported.
 *
 * An interval is a vector of the share of its instructions that each block has.
 * The vectors are projected at random to a few dimensions and grouped
 * (sweep/clusters.h). A phase's simulation point is the interval nearest to the
 * mean of its intervals.
 */
#ifndef TALLY_SWEEP_PHASES_H
#define TALLY_SWEEP_PHASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "profile/phases_recorder.h"
#include "source/launch.h"
#include "sweep/clusters.h"

#define PHASES_FUNCTIONS 3u /* of a phase, in reports */

/* A function, or code of a file that has no name there. */
struct phases_function {
    const char *name; /* NULL: no name is known */
    const char *file; /* path; "": code of no file */
};

struct phases_hot {
    size_t function; /* index */
    double share;    /* of the phase's instructions */
};

struct phase {
    uint64_t instructions;
    double share; /* of the instructions of all intervals */
    size_t spans; /* intervals */
    size_t runs;  /* stretches of intervals that follow each other */
    size_t point; /* index of the interval that stands for it */
    struct phases_hot hot[PHASES_FUNCTIONS];
    size_t hot_count;
};

/* An event that is counted in each interval. */
struct phases_event {
    const char *name;
    const char *standing;
    double whole;  /* of all intervals */
    double points; /* what the points stand for: rates of the points, times the
                      instructions of their phases */
};

struct phases {
    const char *command; /* the command line */
    const char *machine;
    const struct phases_found *found;
    unsigned *of; /* [spans] index of the phase of each; owned */
    struct phase phases[CLUSTERS_MOST]; /* in the order of their beginning */
    unsigned count;
    struct phases_function *functions; /* owned; the names are of `names` */
    size_t function_count;
    uint32_t *function_of;       /* [blocks]; owned */
    struct names *names;         /* owned */
    struct phases_event *events; /* [event_count] */
    size_t event_count;
    double *counts;           /* [spans * event_count] of each interval */
    bool varies;              /* another run may execute other code */
    bool early;               /* some blocks were left before their end */
    enum trace_part trace;    /* what of the run the trace has */
    const char *const *notes; /* of the run, lines for people; ends with NULL */
};

/* Finds at most so many phases of what was recorded, and names their functions.
 * phases_finish() frees what is owned, in any case. 0 or TALLY_ENOMEM. */
int phases_find(struct phases *p, unsigned most);
void phases_finish(struct phases *p);

/* Returns the count of an event in a phase. */
double phases_count(const struct phases *p, unsigned phase, size_t event);

/* Returns the count of an event in an interval. */
static inline double
phases_span_count(const struct phases *p, size_t span, size_t event)
{
    return p->counts[span * p->event_count + event];
}

/* Returns whether an interval is too short to have a say in what the phases
 * are, or to stand for one: the last one, of less than half of the length. */
bool phases_is_short(const struct phases_found *found, size_t span);

/* Returns the word for the counts of instructions. */
const char *phases_standing(const struct phases *p);

/* Returns the name of a function as reports show it, for the caller to free;
 * NULL: no memory. */
char *phases_function_name(const struct phases *p, size_t function);

/* Each writes a form, and returns 0, TALLY_ENOMEM, or TALLY_EIO with errno. */
int phases_write_text(const struct phases *p, FILE *out);
int phases_write_csv(const struct phases *p, FILE *out);
int phases_write_json(const struct phases *p, FILE *out);
int phases_write_svg(const struct phases *p, FILE *out);

/* SimPoint's files. `bb`: a line "T:block:instructions ..." for each interval,
 * blocks from 1 on; `simpoints`: "interval phase"; `weights`: "share phase",
 * both from 0 on. */
int phases_write_bb(const struct phases *p, FILE *out);
int phases_write_simpoints(const struct phases *p, FILE *out);
int phases_write_weights(const struct phases *p, FILE *out);

#endif
