/* SPDX-License-Identifier: MIT */
/*
 * Reads and writes dumps of the Netra DPS profiler, version ver1.1 (its chapter
 * 3, TABLE 3-1): a table of hexadecimal fields between TEJA_PROFILE_DUMP_START
 * and TEJA_PROFILE_DUMP_END, or the same content as JSON Lines. A file may mix
 * both.
 *
 * A dump may have come over a console: blank lines, CR LF and other text do no
 * harm. Everything that is skipped is counted in struct dump_troubles.
 *
 * The document's records have codes of the T1's and the T2's events only. Lines
 * of tally's own, in front of the table and inside the JSON Lines, name the
 * machine and its events; other readers skip these lines as text:
 *
 *     TALLY_PROFILE_MACHINE,host-model
 *     TALLY_PROFILE_EVENT,GROUP,CODE,NAME
 *     TALLY_PROFILE_EVENT,GROUP,CODE,NAME NAME-ASKED-FOR
 */
#ifndef TALLY_PROFILE_DUMP_H
#define TALLY_PROFILE_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

/* Bits 32 up of an event's code. For an event of this host: the unit, from 1.
 * For an emulated machine's event in a group of another unit: the unit, from 1,
 * plus 80h. For an event without a code of its own: 255; the bits below are
 * then a number made of the event's name. */
#define DUMP_UNIT 0x80u
#define DUMP_NO_UNIT 255u

#define DUMP_VERSION "ver1.1"
#define DUMP_MACHINE_MARK "TALLY_PROFILE_MACHINE,"
#define DUMP_EVENT_MARK "TALLY_PROFILE_EVENT,"
#define DUMP_FIELDS 9 /* of an update, without user words */
#define DUMP_START_FIELDS 8
#define DUMP_WORDS 64
#define DUMP_NAME \
    128 /* bytes of a machine's or an event's name, NUL included */
#define DUMP_EVENTS_MAX 4096

enum dump_call { DUMP_CALL_START = 1, DUMP_CALL_UPDATE = 2 };

/* One call of the profiler. */
struct dump_record {
    uint64_t cpu, caller;
    uint64_t call;   /* enum dump_call; others are skipped */
    uint64_t cycles; /* running total */
    uint64_t pc, group;
    uint64_t hi, lo;   /* start: the events' codes; update: their counts */
    uint64_t overflow; /* bit 0: lo, bit 1: hi */
    uint64_t words[DUMP_WORDS];
    size_t word_count;
    bool overrun; /* -1 stood in front: the buffer was overrun */
};

/* Faults of a dump, and facts about a dump worth a warning. */
enum dump_trouble {
    /* Found by the reader. */
    DUMP_TEXT,
    DUMP_DAMAGED,
    DUMP_CUT,
    DUMP_LONG,
    DUMP_PREFIXED,
    DUMP_OUTSIDE,
    DUMP_OTHER_VERSION,
    DUMP_INSIDE,
    DUMP_UNENDED,
    DUMP_UNSTARTED,
    DUMP_OTHER_CALL,
    DUMP_OTHER_MACHINE,
    /* Found by the summary: records that do not fit together. */
    DUMP_NO_START,
    DUMP_NO_UPDATE,
    DUMP_BACKWARDS,
    DUMP_COUNT_BACK,
    DUMP_WORDS_DIFFER,
    DUMP_GAP,
    DUMP_OVERRUN,
    DUMP_OVERFLOWED,
    DUMP_UNKNOWN_EVENT,
    DUMP_CROWDED,
    DUMP_TROUBLES
};

/* How often a trouble was met, and where first. */
struct dump_place {
    uint64_t count;
    const char *file;
    uint64_t line;
};

struct dump_troubles {
    struct dump_place places[DUMP_TROUBLES];
};

/* Counts a trouble. `file` must outlive the troubles. */
void dump_trouble_add(struct dump_troubles *troubles, enum dump_trouble what,
                      const char *file, uint64_t line);

/* Returns a word for scripts: "damaged". */
const char *dump_trouble_name(enum dump_trouble what);

/* Returns text for people, to stand behind the number: "line inside a dump is
 * no whole record". */
const char *dump_trouble_text(enum dump_trouble what, bool several);

/* Returns whether the trouble leaves something out; false: only a warning. */
bool dump_trouble_skips(enum dump_trouble what);

/* The name of an event, whose code stands in starts of `group`. */
struct dump_event {
    uint64_t group, code;
    char machine[DUMP_NAME]; /* "": the dump named none */
    char name[DUMP_NAME];
    char asked[DUMP_NAME]; /* the name that the user gave, or "" */
};

/* The names of events in dumps: one for each machine, group and code. */
struct dump_names {
    struct dump_event *events; /* owned */
    size_t count;
};

void dump_names_finish(struct dump_names *names);

/* Returns the name of an event; NULL: no dump named the event. */
const struct dump_event *
dump_names_find(const struct dump_names *names, const char *machine,
                uint64_t group, uint64_t code);

/* Returns a code made of the name, for an event that has no other code. */
uint64_t dump_name_code(const char *name);

/* Reads bytes into `data`, as read(2): 0 at the end, -1 with errno set. */
typedef long (*dump_fill_fn)(void *user, void *data, size_t size);

struct dump_reader {
    const char *file; /* its name, for troubles */
    dump_fill_fn fill;
    void *user;
    struct dump_troubles *troubles;
    struct dump_names *names; /* gets the events' names; or NULL */
    char machine[DUMP_NAME];  /* of the dump; "": the dump names none */
    unsigned char *data;
    size_t begin, lines, end; /* of data: the next byte, the end of the last
                                 whole line, the end */
    uint64_t line;            /* of the last record */
    uint64_t dumps;           /* begun so far */
    uint64_t depth;           /* dumps that have begun and not ended */
    bool foreign;             /* the last begun is of another version */
    bool at_end;
    bool crowded; /* no memory for a name */
    bool last;    /* the line has no newline */
};

/* Begins to read. `file` and `troubles` must outlive the reader; the caller may
 * set `names` before the first record. 0 or TALLY_ENOMEM. */
int
dump_reader_init(struct dump_reader *reader, const char *file,
                 dump_fill_fn fill, void *user, struct dump_troubles *troubles);
void dump_reader_finish(struct dump_reader *reader);

/* Reads the next start or update. 1; 0 at the end; TALLY_EIO with errno set, or
 * TALLY_ENOMEM. */
int dump_next(struct dump_reader *reader, struct dump_record *record);

/* The kinds of JSON lines in a dump. */
enum {
    DUMP_JSON_RECORD = 1,  /* a record of any call */
    DUMP_JSON_START = 2,   /* a dump begins; event->name is its version */
    DUMP_JSON_END = 3,     /* a dump ends */
    DUMP_JSON_MACHINE = 4, /* event->machine is the machine's name */
    DUMP_JSON_EVENT = 5,   /* `event` is an event's name */
};

/* Reads one line of JSON. Returns the kind; 0: none of them. */
int dump_json_parse(const char *line, size_t length, struct dump_record *record,
                    struct dump_event *event);

/* Reads the text behind "TALLY_PROFILE_EVENT,"; false: no whole event. */
bool
dump_event_parse(const char *text, size_t length, struct dump_event *event);

/* Returns whether a dump can hold the name: short, printable, without blanks,
 * quotes, backslashes and the marks of dumps. */
bool dump_name_is_plain(const char *name);

/*
 * The writers put a line into the caller's memory of DUMP_LINE_SIZE bytes. They
 * make no library call, so that a signal handler can use them. Each returns the
 * bytes written, with a newline at the end and no NUL.
 */
#define DUMP_LINE_SIZE 2048
enum dump_form { DUMP_FORM_TABLE, DUMP_FORM_JSON };
size_t dump_write_start(enum dump_form form, char *text);
size_t dump_write_record(enum dump_form form, const struct dump_record *record,
                         char *text);
size_t dump_write_end(enum dump_form form, char *text);
/* These two write nothing if a name is not plain. */
size_t dump_write_machine(enum dump_form form, const char *machine, char *text);
size_t dump_write_event(enum dump_form form, const struct dump_event *event,
                        char *text);

#endif
