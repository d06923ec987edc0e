/* SPDX-License-Identifier: MIT */
/*
 * The result of `tally count` and its three forms: text for people, CSV and
 * JSON for scripts. Numbers in CSV and JSON are written in the C locale,
 * whatever the caller's locale is.
 */
#ifndef TALLY_REPORT_COUNT_REPORT_H
#define TALLY_REPORT_COUNT_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "profile/capture.h"
#include "profile/session.h"
#include "table/table.h"

struct count_value {
    const char *name;   /* the machine's name of the event; of a sum "A + B" */
    const char *asked;  /* the name that was asked for; NULL: `name` */
    const char *unit;   /* "msec", "Joules"; "" for a plain count */
    const char *raw;    /* the unit of `value`: "ns"; NULL: unit / scale */
    const char *reason; /* why the event is idle or not counted, or NULL */
    const char *mend;   /* how to get a count, or NULL */
    const char *code;   /* one word why the event was not counted */
    const char *kind;   /* the PMU of one kind of cores: "cpu_core"; or NULL */
    const struct event_row *event; /* NULL: of no catalogue */
    enum fidelity fidelity;
    bool emulator;  /* the kernel's count of QEMU as a whole, not the model's */
    bool measured;  /* on this host: another run may count otherwise */
    bool counted;   /* false: there is no value */
    uint64_t value; /* of the only run, or the mean, rounded */
    double mean, stddev;       /* over the runs; stddev 0 for one run */
    double scale;              /* value * scale is in `unit`, for people */
    uint64_t enabled, running; /* ns */
    bool compared;             /* --compare: `exact` is the model's count */
    double exact;              /* mean over the runs */
    bool apart;                /* `value` is what is outside MPI, and */
    uint64_t in_mpi;           /* the rest */
    bool timed;                /* by costs: the times below are set */
    double minimum_s, typical_s, maximum_s;
};

/* The options that say what of the program is counted, and on what machine. */
struct count_scope {
    const char *from, *to; /* functions, or NULL */
    uint64_t skip;         /* instructions */
    const char *const *filters;
    size_t filter_count;
    const char *const *sets; /* parameters */
    size_t set_count;
};

/* Returns whether any of the options was given. */
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
    bool trap;  /* the instruction is made to raise the signal, such as UD2 */
    char text[96];
    char bytes[32];         /* in hexadecimal */
    char set[32];           /* its instruction set: "AVX-512"; or empty */
    char file[COUNTS_NAME]; /* that has the instruction, or empty */
    bool library;           /* the file is not the program's own */
    uint64_t file_address;  /* address of the instruction in the file */
    char function[128];     /* that has the instruction, or empty */
    char advice[200];       /* how to run the program, or empty */
};

struct count_report {
    const struct machine_row *machine;
    const uint64_t *params;
    const char *program; /* the command line as one text */
    const char *target;  /* what was counted, if not the program, or NULL */
    const char *isa;     /* the guest's; NULL: counted on this host itself */
    const char *cpu;     /* guest CPU model, as QEMU reads it, or NULL */
    const char
        *cpu_name; /* the same for people: the pinned model by its name */
    const char *imported; /* the format that the trace was imported from; NULL:
                             a program or a trace of one */
    bool
        no_instructions; /* an imported trace does not say how many there are */
    bool foreign;        /* the program's ISA is not the machine's own */
    bool partial;        /* the sums of some run lack threads or processes */
    bool side_by_side;   /* threads or processes ran so in some run */
    bool left_early;     /* blocks were left before their end in some run */
    unsigned runs;       /* whole runs; the values are means of them */
    unsigned runs_asked; /* more than one: the report says how values spread */
    unsigned cut_run; /* the run that a signal cut short, which is left out of
                         the values; 0: none */
    const struct count_value *values;
    size_t count;
    size_t hidden; /* so many of the last values are for the accounting only */
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
    const char *calibrated; /* the date of tally calibrate's file, "" without
                               one; NULL: nothing is said of it */
    const char *core;       /* of a machine that reads the host: the machine
                               whose core stands in, or NULL */
    bool no_core;           /* no modelled core fits this processor */
    bool attached;          /* nothing was run: it has no status and no times */
    bool accounting; /* of the machine's cycles; all that it needs is counted */
    bool per_thread;
    bool per_process;
    const struct session_process *one_process; /* of this CSV row, or NULL */
    bool plain;          /* text without separators of thousands */
    bool metric_only;    /* the metrics without the events */
    bool no_host_fields; /* JSON has no numbers of processes, nor times that the
                            host took */
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

/* The values of one target: "cpu 3", "worker (tid 17)". */
struct count_part {
    char name[64];
    const struct count_value *values; /* as many as the report has */
};

/* Returns the name that the value was asked for by. */
const char *report_asked(const struct count_value *value);

/*
 * Returns the name that people read: the name that was asked for; if that is a
 * code, a number, or the machine's own name in another case, the machine's own.
 */
const char *report_title(const struct count_value *value);

/* Returns how far the count is from the exact count, in per cent of the exact
 * count: 0 if both are 0, INFINITY if only the exact count is 0. */
double report_off(const struct count_value *value);

/* Returns the event's count in these totals; of an idle event 0, even if some
 * of its signals are raised. */
uint64_t
report_value(const struct count_value *value, const struct totals *totals);

/* Returns the word for the worth of a count: "emulator" if the kernel counted
 * QEMU, "measured" for a whole count on this host, otherwise the fidelity. */
const char *report_standing(const struct count_value *value);

/* Returns the word for the worth of a metric of this fidelity. */
const char *report_metric_standing(const struct count_report *report,
                                   enum fidelity fidelity);

/* Returns the standing of an event in this report: a foreign guest, or threads
 * or processes side by side, lower `exact`. */
enum fidelity report_fidelity(const struct count_report *report,
                              const struct event_row *event);

#define METRIC_KINDS 8

/*
 * Fills in the kinds of cores for which the metric has values; {NULL} if none
 * of its events is counted by kinds. Returns their number, at least 1.
 */
size_t report_metric_kinds(const struct count_report *report,
                           const struct metric_row *metric,
                           const char *kinds[METRIC_KINDS]);

/*
 * Returns the first event of the metric that has no count on this kind of cores
 * (kind NULL: on the machine), or NULL.
 */
const struct event_row *
report_metric_lacks(const struct count_report *report,
                    const struct metric_row *metric, const char *kind);

/*
 * Returns the metric of the means, NAN if it has no value. *fidelity is that of
 * the worst event in it, but a sum is idle only if all of its terms are.
 */
double report_metric(const struct count_report *report,
                     const struct metric_row *metric, const char *kind,
                     enum fidelity *fidelity);

/* Notes whether in this run threads or processes ran side by side or lack in
 * the sums, or blocks were left early; lowers the values' fidelity accordingly.
 */
void
report_note_standing(struct count_report *report, struct count_value *values,
                     const struct session_result *run);

/* Writes "exited with 3", "killed by SIGSEGV", or "" for success. */
void report_status(int status, char *text, size_t size);

/* Write the facts of the run that can move its counts (-v), in CSV as comments
 * before all rows, in JSON as an object before all lines of intervals; nothing
 * if they are not asked for. */
int report_begin_csv(const struct count_report *report, FILE *out);
int report_begin_json(const struct count_report *report, FILE *out);

/* Write the counts of the interval up to at_s: in JSON one line, otherwise a
 * line for each value. */
int report_interval_text(const struct count_report *report, FILE *out);
int report_interval_csv(const struct count_report *report, char separator,
                        FILE *out);
int report_interval_json(const struct count_report *report, FILE *out);

/* Write the whole report. 0, TALLY_EIO or TALLY_ENOMEM. */
int report_count_text(const struct count_report *report, FILE *out);
int
report_count_csv(const struct count_report *report, char separator, FILE *out);
int report_count_json(const struct count_report *report, FILE *out);

/* Writes 1234567 as "1,234,567", into at least 32 bytes. */
void format_grouped(uint64_t value, char *text);

/* Writes -1234567 as "-1,234,567", into at least 32 bytes. */
void format_grouped_signed(int64_t value, char *text);

/* Writes the number with separators of thousands, unless the report is plain;
 * into at least 32 bytes. */
void
report_number(const struct count_report *report, uint64_t value, char *text);

/* Says how the program ended, unless with status 0; of SIGILL also why, and
 * what helps. */
void report_end_text(const struct count_report *report, FILE *out);

#endif
