/* SPDX-License-Identifier: MIT */
/*
 * A record's counts grouped by function, line, thread and so on, into rows.
 *
 * Each count goes to the row of its instruction and its thread (self cost). Of
 * a record with callers a row also has its inclusive cost: each count goes to
 * the rows of the calls that led there too, to each row once, so that recursion
 * counts no more than it costs. A row with 0 of every event is left out. For
 * every event
 * the rows, the rows that were dropped ("more") and the counts of no
 * instruction ("elsewhere") add up to the total. Rows by thread and process
 * alone are the threads' totals, so that nothing is elsewhere.
 *
 * Sums wrap around at 64 bits, as only a forged record needs more.
 */
#ifndef TALLY_RECORD_BREAKDOWN_H
#define TALLY_RECORD_BREAKDOWN_H

#include "record/object_names.h"
#include "record/resolver.h"

enum breakdown_key {
    BREAKDOWN_FUNCTION,    /* of an image and a source file */
    BREAKDOWN_LINE,        /* of a source file */
    BREAKDOWN_INSTRUCTION, /* of an image; of no image: at an address */
    BREAKDOWN_FILE,        /* of the source */
    BREAKDOWN_IMAGE,
    BREAKDOWN_THREAD,
    BREAKDOWN_PROCESS,
    BREAKDOWN_CALLER, /* the function that called, or was copied into */
    BREAKDOWN_OBJECT, /* what the data were of (object_names.h) */
    BREAKDOWN_KEYS,
};

struct breakdown_options {
    enum breakdown_key keys[BREAKDOWN_KEYS]; /* each at most once */
    size_t key_count;                        /* at least 1 */
    const size_t *events;                    /* of the record */
    size_t event_count;                      /* at least 1 */
    size_t sort;       /* index in `events`; largest first */
    bool sort_by_name; /* in place of `sort` */
    bool by_inclusive; /* sort and `min` look at inclusive cost, if there is */
    /* An instruction of a copied (inlined) function counts for the function
     * that it was copied into. */
    bool no_inline;
    /* Which rows stay; the sum of the others is in `more`. */
    size_t top; /* 0: any number */
    double min; /* per cent of the total of event `sort`, either sign */
    /* One of the row's names has it as a part, or matches it as a pattern of
     * fnmatch() if it has a `*`, `?` or `[`. NULL: all match. */
    const char *match;
};

/* What the row's instructions have in common; a number of resolver_text(), or
 * 0: not known, or not among the keys. */
struct breakdown_place {
    uint32_t function;
    uint32_t function_file; /* that the function begins in */
    uint32_t image;         /* also where an asked name is not known */
    uint32_t file, line;
    uint64_t offset; /* in the image; of no image: the address */
    uint32_t caller; /* a name, or one of the two below */
    uint32_t object; /* of breakdown.objects */
};

/* In place of the name of a caller: no call led there, or it is not known. */
#define BREAKDOWN_NO_CALLER UINT32_MAX
#define BREAKDOWN_UNKNOWN_CALLER (UINT32_MAX - 1)

struct breakdown_row {
    struct breakdown_place place;
    uint32_t process; /* index in record.processes, if among the keys */
    uint32_t thread;  /* number in the process, if among the keys */
    bool inlined;     /* all its instructions are copies into other functions */
    bool ambiguous;   /* another row has its function, of another file */
    int64_t *values;  /* [event_count] self cost */
    int64_t *inclusive; /* [event_count], or NULL: not known */
};

struct breakdown {
    const struct record *record;
    const struct resolver *resolver;
    struct object_names objects; /* if they are among the keys */
    struct breakdown_options options;
    struct breakdown_row *rows; /* that stay, sorted */
    size_t row_count;
    bool has_inclusive;
    size_t image_count;   /* of the rows that stay: different images */
    size_t more_count;    /* rows that were dropped */
    int64_t *more;        /* [event_count] their sums */
    int64_t *elsewhere;   /* [event_count] */
    int64_t *totals;      /* [event_count] */
    int64_t *values;      /* of all rows */
    int64_t *inclusive;   /* of all rows, or NULL */
    size_t *event_copies; /* what options.events points at */
};

/* Groups a record's counts. The record, the resolver and options->match stay
 * the caller's and must outlive the result. 0 or TALLY_ENOMEM, logged. */
int breakdown_create(const struct record *record, struct resolver *resolver,
                     const struct breakdown_options *options,
                     const struct tally_log *log, struct breakdown **result);
void breakdown_destroy(struct breakdown *b);

/* Returns a value's part of the event's total in per cent; NAN if the total is
 * not positive. `event` is an index in options.events. */
double
breakdown_percent(const struct breakdown *b, size_t event, int64_t value);

/* Returns whether the keys have `key`. */
bool breakdown_has(const struct breakdown *b, enum breakdown_key key);

/* Returns the row's name by one of the keys, for the caller to free; NULL: no
 * memory. The name may hold any bytes that a file or a symbol may have. */
char *breakdown_name(const struct breakdown *b, const struct breakdown_row *row,
                     enum breakdown_key key);

/* Returns 1 if one of the row's names matches, as options.match has it, 0 if
 * none does, or -1: no memory. `match` NULL: all rows match. */
int breakdown_row_matches(const struct breakdown *b,
                          const struct breakdown_row *row, const char *match);

/* Appends a name to the names of a row that are joined so far, to sort by, and
 * frees both. Returns the joined names for the caller to free, or NULL: one of
 * the two was NULL, or there is no memory. */
char *breakdown_join(char *joined, char *name);

/* Returns the name of the place's caller, or in parentheses what lacks. */
const char *
breakdown_caller(const struct breakdown *b, const struct breakdown_place *p);

/* Returns the key of a word, also in the plural or as perf calls it ("sym"), or
 * -1. */
int breakdown_key_find(const char *word, size_t length);

/* Returns the word of a key. */
const char *breakdown_key_name(enum breakdown_key key);

#endif
