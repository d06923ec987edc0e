/* SPDX-License-Identifier: MIT */
/*
 * What rose and what fell between two runs: between two records, by event and
 * in rows as a breakdown has them, or between two reports of `tally count -j`,
 * by event and metric.
 *
 * Rows of records are matched by name. Functions: of the same name in the same
 * image and source file; those that are left, if their name is there once on
 * each side: in the same image, in any image, without arguments and what a
 * compiler adds to the names of its copies (".isra.0"), by the last part alone.
 * Lines: as pairing.h follows them. Objects: by name, then without the line
 * numbers in it. Processes: by program and order; threads by their number in
 * the process.
 *
 * For every event the changes of the rows, of the rows that are left out
 * ("more") and of what no instruction raised ("elsewhere") add up to the change
 * of the total. Differences of records wrap around at 64 bits, as only a forged
 * record needs more.
 */
#ifndef TALLY_RECORD_COMPARISON_H
#define TALLY_RECORD_COMPARISON_H

#include "record/breakdown.h"
#include "record/pairing.h"
#include "report/count_document.h"

/* Indices of what there is twice. */
enum compared_side { BEFORE, AFTER, SIDES };

struct compared_event {
    const char *name;             /* that people read */
    const char *names[SIDES];     /* on the machine; NULL: the side lacks it */
    const char *unit;             /* "": a plain count */
    const char *standings[SIDES]; /* "": none */
    struct count_number values[SIDES];
    struct count_number change; /* known if both values are */
    double percent;             /* of `before`; NAN: it is 0 or not known */
    const char *codes[SIDES];   /* why there is no value, or NULL */
    const char *reasons[SIDES];
    /* What several runs had. From their smallest to their largest value if all
     * are known, else two standard deviations around the mean. */
    bool has_range[SIDES];
    bool every_run[SIDES];
    double low[SIDES], high[SIDES];
    bool overlaps; /* both sides have a range, or one has, and they meet */
    bool metric;
};

struct compared_row {
    const struct breakdown_row *rows[SIDES]; /* NULL: new, or gone */
    bool edited;                             /* the line's text is another */
    bool moved;                              /* the line's number is another */
    int64_t *change;                         /* [event_count] self cost */
    int64_t *inclusive; /* [event_count], or NULL: not known */
};

/* What was run; NULL: not known. */
struct compared_run {
    const char *path; /* of the file */
    char *command;    /* one line; owned */
    const char *machine, *isa, *cpu;
    char *end; /* "exit 3", "signal 9"; owned */
};

struct comparison_options {
    /* Keys and how to choose rows; the events are indices in `before`. `min` is
     * of the total before. */
    struct breakdown_options breakdown;
    const size_t *after_events; /* as many indices in `after` */
    bool sort_is_free; /* sort by the first event that changed, in place of
                          breakdown.sort */
};

struct comparison {
    bool of_records;
    struct compared_run runs[SIDES];
    char **notes; /* one line each, escaped as ESCAPE_LINE */
    size_t note_count;
    struct compared_event *events;
    size_t event_count;
    /* Of records: */
    struct comparison_options options;
    struct breakdown *breakdowns[SIDES]; /* all rows */
    struct pairing *pairing;
    struct compared_row *rows; /* that stay and changed, sorted */
    size_t row_count;
    size_t more_count;      /* that changed and were dropped */
    size_t unchanged_count; /* rows without any change */
    int64_t *more[SIDES];   /* [event_count] sums of both of these */
    size_t sort;            /* event that rows are sorted by */
    bool by_inclusive;
    int64_t *values; /* of all rows' changes */
};

/*
 * Compares two records. `before` and `after`, and what the options point at,
 * must outlive the result. 0 or TALLY_ENOMEM, logged.
 */
int
comparison_of_records(const struct paired_record *before,
                      const struct paired_record *after,
                      const struct comparison_options *options,
                      const struct tally_log *log, struct comparison **result);

/* Compares two reports, which must outlive the result. Events go by name and
 * unit, then by the name that was asked for. 0 or TALLY_ENOMEM, logged. */
int
comparison_of_counts(const struct count_document *before,
                     const struct count_document *after,
                     const struct tally_log *log, struct comparison **result);
void comparison_destroy(struct comparison *c);

/* Keeps those events and metrics of two reports that a comma-separated list
 * names; a name may be short for one that begins so. 0; or TALLY_EUNKNOWN if
 * the reports lack one, or TALLY_ENOMEM, logged. */
int comparison_choose(struct comparison *c, const char *names,
                      const struct tally_log *log);

/*
 * Finds the events that two records both have: by name on the machine, then by
 * the name that was asked for. Writes the index in `after`, or SIZE_MAX, of
 * each event of `before`.
 */
void comparison_events(const struct record *before, const struct record *after,
                       size_t *to);

/* Returns what the row has of an event on one side, 0 if it is not there. */
int64_t comparison_value(const struct compared_row *row, enum compared_side s,
                         size_t event);

/* Returns the row's part in per cent of the event's total before; NAN if that
 * is not positive. */
double
comparison_part(const struct comparison *c, size_t event, int64_t change);

/* Returns the row's name by a key, for the caller to free: after, or before
 * where the row is gone. NULL: no memory. */
char *comparison_name(const struct comparison *c,
                      const struct compared_row *row, enum breakdown_key key);

/* Returns what an event has elsewhere on a side. */
int64_t comparison_elsewhere(const struct comparison *c, enum compared_side s,
                             size_t event);

/* Returns the event that the answer is about: the one that rows are sorted by
 * if it changed, else the first that did, of those whose counts repeat first;
 * SIZE_MAX: none did. */
size_t comparison_answer_event(const struct comparison *c);

/* Returns the worst of an event's two standings, "" if there is none. */
const char *comparison_standing(const struct compared_event *e);

/* Returns what a reader must know of changes of this standing, or NULL: they
 * are facts. */
const char *comparison_advice(const char *standing);

#endif
