/* SPDX-License-Identifier: MIT */
/*
 * What `tally check` finds: of each benchmark its counts in all layouts beside
 * those of a baseline, which limits these break, and which functions rose and
 * fell. compare.h makes results, report.h has what writes them.
 *
 * All strings are the result's own. They may hold any bytes but 0: names of
 * benchmarks, functions and files are the user's, and whoever prints them
 * escapes them.
 */
#ifndef TALLY_CHECK_RESULT_H
#define TALLY_CHECK_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a benchmark ended. */
enum check_status {
    CHECK_PASSED,      /* no limit is broken */
    CHECK_WARNED,      /* a soft limit is */
    CHECK_ROSE,        /* a hard limit is */
    CHECK_NO_BASELINE, /* there is none to compare with; `reason` says why */
    CHECK_FAILED,      /* the benchmark did not run to its end as it should */
    CHECK_VARIES,      /* two runs of the same layout counted differently */
    CHECK_STATUSES,
};

/* How a measure stands to the baseline's. */
enum check_verdict {
    CHECK_SAME, /* the ranges overlap, or there is no baseline */
    CHECK_LESS, /* fell: all of the range is below the baseline's */
    CHECK_MORE, /* rose, within the limits */
    CHECK_SOFT, /* rose by more than the soft limit */
    CHECK_HARD, /* rose by more than the hard limit */
    CHECK_VERDICTS,
};

/* Counts of one event in all layouts. */
struct check_range {
    uint64_t median, least, most;
};

/* `cost`, which is the event cycles, or an event by its name. */
struct check_measure {
    char *name;
    struct check_range now, before; /* before: with `compared` */
    bool compared;                  /* the baseline has the measure */
    double change;     /* of the medians, per cent; with `compared`. Infinite
                          where the baseline's median is 0 and this is not */
    double strings;    /* of the change: what string functions make of strings
                          that stand elsewhere (string_functions.h), per cent of
                          the baseline's median; no limit looks at this part */
    double soft, hard; /* limits of a rise, per cent; NaN: none */
    enum check_verdict verdict;
};

/* A function, by its own instructions and cost, medians of all layouts. */
struct check_function {
    char *name;  /* demangled */
    char *image; /* the file it is in, without folders; "" where not known */
    bool is_new, is_gone; /* the baseline lacks it, or the program does */
    uint64_t instructions, instructions_before;
    uint64_t cost, cost_before;
    uint64_t calls, calls_before; /* 0: not known */
};

/* What most of a rise or fall of the cost comes from. */
enum check_cause {
    CHECK_NO_CAUSE, /* the cost did not change, or there is no baseline */
    CHECK_WORK,     /* more or fewer instructions, loads or stores, each at the
                       cost that it had */
    CHECK_PLACES,   /* each costs more or less: caches, TLBs and predictors
                       miss more often or less */
    CHECK_CAUSES,
};

struct check_result {
    char *benchmark;
    char *machine; /* by name */
    char *key;     /* of the baseline's entry: machine, instruction set, CPU
                      and version of the model; NULL: it did not get so far */
    enum check_status status;
    char *reason;     /* one line without an end; NULL: none */
    unsigned layouts; /* in which the benchmark ran */
    double seconds;   /* of all runs together, by the clock of the host */
    struct check_measure *measures; /* instructions, cost, further events */
    size_t measure_count;
    enum check_cause cause;
    /* With a cause, the parts of the change of the cost, per cent of the
     * baseline's. */
    double work, places;
    /* That changed, those that changed most first: by instructions, where these
     * rose or fell for the whole, else by cost. */
    struct check_function *functions;
    size_t function_count;
    char **notes; /* what else differs from the baseline: builds, libraries,
                     tally; one line each */
    size_t note_count;
};

struct check_report {
    char *settings; /* file of the benchmarks; NULL: tally check -- PROGRAM */
    char *baseline; /* file of the baseline */
    char *version;  /* of tally */
    char *time;     /* of the judgement, UTC: "2026-11-28T09:30:00Z" */
    bool updated;   /* the baseline was written anew */
    struct check_result *results; /* in the order of the settings */
    size_t result_count;
};

/* Returns "passed", "warned", "rose", "no-baseline", "failed" or "varies". */
const char *check_status_name(enum check_status status);

/* Returns "same", "less", "more", "soft" or "hard". */
const char *check_verdict_name(enum check_verdict verdict);

/* Returns "none", "work" or "places". */
const char *check_cause_name(enum check_cause cause);

/* Returns the change of a number, per cent of what it was; infinite where it
 * was 0 and is not. */
double check_change(uint64_t now, uint64_t before);

/* Frees all that a report holds. Accepts a zeroed struct. */
void check_report_finish(struct check_report *report);

#endif
