/* SPDX-License-Identifier: MIT */
/*
 * What `tally count` found, and its three forms: text for people, CSV and JSON
 * for scripts. Numbers in CSV and JSON are written in the C locale whatever
 * the caller's is.
 */
#ifndef TALLY_REPORT_COUNT_REPORT_H
#define TALLY_REPORT_COUNT_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "profile/capture.h"
#include "profile/session.h"
#include "table/table.h"

struct count_value {
    const char *name;   /* the machine's, of a sum "A + B" */
    const char *asked;  /* as it was asked for; NULL: by its name */
    const char *unit;   /* "msec", "Joules"; "" for a plain count */
    const char *raw;    /* the unit of `value`: "ns"; NULL: unit / scale */
    const char *reason; /* why it is idle or was not counted, else NULL */
    const char *mend;   /* what helps against it, else NULL */
    const char *code;   /* the same as one word, where it was not counted */
    const char *kind;   /* the PMU of one kind of cores: "cpu_core"; or NULL */
    const struct event_row *event; /* NULL: of no catalogue */
    enum fidelity fidelity;
    bool emulator;  /* the kernel's count of QEMU as a whole, not the model's */
    bool measured;  /* on this host: it repeats no more than the host does */
    bool counted;   /* false: there is no value, not even 0 */
    uint64_t value; /* of the only run, or the mean, rounded */
    double mean, stddev;       /* over the runs; stddev 0 for one run */
    double scale;              /* a unit's worth of the value, for people */
    uint64_t enabled, running; /* ns */
    bool compared;             /* --compare: `exact` is the model's count */
    double exact;              /* mean over the runs */
    bool timed;                /* by costs: what it takes of the time */
    double minimum_s, typical_s, maximum_s;
};

/* What of the program is counted, and on what machine, as it was asked for. */
struct count_scope {
    const char *from, *to; /* functions, or NULL */
    uint64_t skip;         /* instructions */
    const char *const *filters;
    size_t filter_count;
    const char *const *sets; /* parameters */
    size_t set_count;
};

/* Returns whether anything was asked for. */
bool count_scope_any(const struct count_scope *scope);

#define COUNT_NONE UINT64_MAX /* no value: it was not counted */

/* One of several runs. */
struct count_run {
    double wall_s;
    const uint64_t *values; /* of each event of the report, or COUNT_NONE */
};

/* The instruction that ended a process with SIGILL, explained. */
struct count_illegal {
    const struct session_process *process;
    uint64_t pc;
    bool known; /* the bytes are an instruction */
    bool trap;  /* that is made to raise the signal, such as UD2 */
    char text[96];
    char bytes[32]; /* in hexadecimal; where not known, those that tell */
    char set[32];   /* that brought it: "AVX-512"; or empty */
    char file[COUNTS_NAME]; /* that it is in, or empty */
    bool library;           /* the file is not the program's own */
    uint64_t file_address;  /* its address by the file */
    char function[128];     /* that it is in, or empty */
    char advice[200];       /* what helps, or empty */
};

struct count_report {
    const struct machine_row *machine;
    const uint64_t *params;
    const char *program; /* the command line as one text */
    const char *target;  /* what was counted, if not the program, or NULL */
    const char *isa;     /* the guest's; NULL: counted on this host itself */
    const char *cpu;     /* guest CPU model, as QEMU reads it, or NULL */
    const char
        *cpu_name;       /* the same for people: the pinned model by its name */
    bool foreign;        /* the program's ISA is not the machine's own */
    bool partial;        /* the sums of any run lack threads or processes */
    bool side_by_side;   /* threads or processes ran so, in any run */
    bool left_early;     /* blocks were left before their end, in any run */
    unsigned runs;       /* whole ones, which the values are means of */
    unsigned runs_asked; /* more than one: the report says how values spread */
    unsigned cut_run; /* the run that a signal cut short, which is left out of
                         the values; 0: none */
    const struct count_value *values;
    size_t count;
    size_t hidden; /* of these, the last: only the accounting needs them */
    const struct metric_row *const *metrics; /* their events are counted */
    const char *const *metrics_asked;        /* the names asked for by */
    size_t metric_count;
    const struct session_result *last; /* the last whole run, if there is one */
    const struct count_part *parts;    /* or NULL */
    size_t part_count;
    double at_s; /* > 0: an interval that ended then */
    unsigned
        run; /* of several: that of the interval, from 1; 0: there is one */
    double wall_s, wall_stddev;          /* means over the runs */
    const struct count_illegal *illegal; /* or NULL */
    const char *note;                    /* one more line for people, or NULL */
    bool attached;   /* nothing was run: it has no status and no times */
    bool accounting; /* of the machine's cycles; all that it needs is counted */
    bool per_thread;
    bool per_process;
    const struct session_process *one_process; /* of this CSV row, or NULL */
    bool plain;       /* text without separators of thousands */
    bool metric_only; /* the metrics without the events */
    bool summary; /* CSV and JSON: the sums of intervals that stand before */
    const struct count_run *table; /* `runs` of them, or NULL: not shown */
    bool has_span;                 /* --from, --to, --skip or --filter */
    struct count_scope scope;
    /* -v: what can move the counts from outside. */
    const char *const *run_parts;
    size_t run_part_count;
    const struct capture_request *capture; /* what was sampled, or NULL */
    bool color;
};

/* What was counted at one target: "cpu 3", "worker (tid 17)". */
struct count_part {
    char name[64];
    const struct count_value *values; /* as many as the report has */
};

/* Returns the name that the value was asked for by. */
const char *report_asked(const struct count_value *value);

/*
 * Returns the name that people read: as it was asked for, but the machine's
 * own for a code, a number and another case of it.
 */
const char *report_title(const struct count_value *value);

/* How far the count is from the exact one, in per cent of it: 0 where both are
 * 0, INFINITY where the exact one is. */
double report_off(const struct count_value *value);

/* What the event has counted there; of an idle one nothing, though some of its
 * signals may be raised. */
uint64_t
report_value(const struct count_value *value, const struct totals *totals);

/* Returns the word for what a count is worth: that of its fidelity, "emulator"
 * for what the kernel counted of QEMU, or "measured" for a whole count of this
 * host. */
const char *report_standing(const struct count_value *value);

/* Returns the word for what a metric of this standing is worth. */
const char *report_metric_standing(const struct count_report *report,
                                   enum fidelity fidelity);

/* The standing of an event in this report: foreign guests lower `exact`, and
 * so do threads and processes side by side. */
enum fidelity report_fidelity(const struct count_report *report,
                              const struct event_row *event);

#define METRIC_KINDS 8

/*
 * The kinds of cores that the metric has values of, each once: at least one,
 * and {NULL} where none of its events is counted by kinds.
 */
size_t report_metric_kinds(const struct count_report *report,
                           const struct metric_row *metric,
                           const char *kinds[METRIC_KINDS]);

/*
 * The first event of the metric that has no count on this kind of cores (of
 * the machine, where it is not counted by kinds), or NULL.
 */
const struct event_row *
report_metric_lacks(const struct count_report *report,
                    const struct metric_row *metric, const char *kind);

/*
 * A metric of the means, NAN where it has no value; the standing is that of
 * the worst of its events, but a sum is idle only if all that it adds is.
 */
double report_metric(const struct count_report *report,
                     const struct metric_row *metric, const char *kind,
                     enum fidelity *fidelity);

/* Notes whether threads or processes ran side by side in this run, or lack in
 * its sums, and lowers
 * the standing of the values accordingly. */
void
report_note_standing(struct count_report *report, struct count_value *values,
                     const struct session_result *run);

/* "exited with 3", "killed by SIGSEGV"; empty for success. */
void report_status(int status, char *text, size_t size);

/* Writes what stands before all rows of CSV and all lines of intervals in JSON:
 * what can move the counts, as comments or as an object, if that is asked for.
 */
int report_begin_csv(const struct count_report *report, FILE *out);
int report_begin_json(const struct count_report *report, FILE *out);

/* One line, or one a value: what was counted in the interval up to at_s. */
int report_interval_text(const struct count_report *report, FILE *out);
int report_interval_csv(const struct count_report *report, char separator,
                        FILE *out);
int report_interval_json(const struct count_report *report, FILE *out);

/* Each returns 0 or TALLY_EIO or TALLY_ENOMEM. */
int report_count_text(const struct count_report *report, FILE *out);
int
report_count_csv(const struct count_report *report, char separator, FILE *out);
int report_count_json(const struct count_report *report, FILE *out);

/* 1234567 -> "1,234,567", into at least 32 bytes. */
void format_grouped(uint64_t value, char *text);

/* The same, or without separators where the report is plain. */
void
report_number(const struct count_report *report, uint64_t value, char *text);

/* Says how the program ended, unless with status 0; of SIGILL also why, and
 * what helps. */
void report_end_text(const struct count_report *report, FILE *out);

#endif
