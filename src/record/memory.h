/* SPDX-License-Identifier: MIT */
/*
 * Why the data of a program miss the L1 data cache, or another level of caches,
 * from a record that says so (record.has_reasons): misses by class for each
 * object and line of source, what drove lines out, which threads take lines
 * from each other, which sets are crowded, after how many lines data come back,
 * and the strides of the instructions that miss. Findings say in words what
 * stands out, each with its figures.
 *
 * Loads and stores are added up. All numbers but those of findings are sums of
 * what the record has, so that classes add up to the misses, and objects to the
 * classes.
 */
#ifndef TALLY_RECORD_MEMORY_H
#define TALLY_RECORD_MEMORY_H

#include <jansson.h>
#include <stdio.h>

#include "record/breakdown.h"
#include "record/breakdown_report.h"

enum memory_count {
    MEMORY_LOADS,
    MEMORY_STORES,
    MEMORY_LOAD_MISSES,
    MEMORY_STORE_MISSES,
    MEMORY_COHERENCE,
    MEMORY_FALSE, /* of the coherence misses */
    MEMORY_FIRST,
    MEMORY_CAPACITY,
    MEMORY_CONFLICT,
    MEMORY_COUNTS,
};

/* The events of the counts: tally record --why records all of them. */
#define MEMORY_EVENTS                                         \
    "L1-dcache-loads,L1-dcache-stores,L1-dcache-load-misses," \
    "L1-dcache-store-misses,coherence-load-misses,"           \
    "coherence-store-misses,false-sharing-load-misses,"       \
    "false-sharing-store-misses,first-touch-load-misses,"     \
    "first-touch-store-misses,capacity-load-misses,"          \
    "capacity-store-misses,conflict-load-misses,conflict-store-misses"

#define MEMORY_EVENT_COUNT 14u

/* Powers of two of lines, as RECORD_REASON_REUSE has them. */
#define MEMORY_POWERS 65u

/* How the addresses of a line's accesses follow each other. */
enum memory_pattern {
    MEMORY_UNKNOWN,
    MEMORY_SAME,       /* most often the same address again */
    MEMORY_SEQUENTIAL, /* by at most the size of a line */
    MEMORY_STRIDED,    /* by more than a line, most often by one stride */
    MEMORY_CHASE,      /* by what the last access has loaded */
    MEMORY_IRREGULAR,
};

/* A line of source, or a function where lines are not known. */
struct memory_line {
    uint32_t function, file, line; /* of the resolver's texts; 0: not known */
    uint64_t counts[MEMORY_COUNTS];
    enum memory_pattern pattern; /* of the instruction that misses most */
    int64_t stride;              /* bytes; where that is strided, or sequential
                                  */
};

/* Lines that an access has driven out and that were then missed. */
struct memory_driven {
    uint32_t by;       /* object, in memory.objects */
    uint32_t function; /* of the resolver's texts, or 0 */
    uint32_t file, line;
    uint64_t capacity, conflict; /* misses */
};

/* Coherence misses of one thread at lines of an object that another has stored
 * to. */
struct memory_shared {
    uint32_t process;      /* index in record.processes */
    uint32_t object;       /* of the process, by its number */
    uint32_t thread, from; /* numbers */
    uint64_t line, lines;  /* the number of the first line, and how many */
    uint64_t same, other;  /* misses for bytes that were stored to, and for
                              others of the line */
    uint64_t used; /* of `other`: the thread then used bytes that were stored
                      to, before it lost the line again */
    uint64_t ran;  /* of all misses: instructions of the thread's turn before */
    uint64_t bytes, stored; /* of the lines, a bit each */
};

/* How many turns a thread has had. */
struct memory_turns {
    uint32_t process; /* index in record.processes */
    uint32_t thread;
    uint64_t turns;
};

/* Lines of an object that come over at most turns of the threads that share
 * them falsely, soon after a turn begins: threads that run at once would take
 * them from each other far more often. */
struct memory_steady {
    uint64_t misses; /* that parting takes away */
    uint64_t turns;  /* of the threads that miss, of each line */
    uint64_t ran;    /* instructions of these turns before a miss, on average */
};

struct memory_object {
    const struct object_name *name;
    uint64_t counts[MEMORY_COUNTS];
    uint64_t reuse[MEMORY_POWERS];
    uint64_t *sets; /* conflict misses by set, [memory.set_count]; NULL: none */
    struct memory_driven *driven; /* largest first */
    size_t driven_count;
    struct memory_shared *shared; /* largest first */
    size_t shared_count;
    bool is_loaders; /* data of the dynamic loader itself */
    /* Of the counts: misses of the dynamic loader's code, as when it relocates
     * a library. */
    uint64_t loader[MEMORY_COUNTS];
    /* Coherence misses that would go away if the object's bytes were put apart
     * (memory_needless()): in lines where they are most of such misses, and in
     * the other lines. */
    uint64_t apart, beside;
    struct memory_steady steady;
    /* How the lines of `apart` would be parted in the first process, in order
     * of addresses; owned; NULL: none. */
    struct moves_part *parts;
    size_t part_count;
    struct memory_line worst;     /* the line of source that misses most of the
                                     object's data, with its misses of these */
    const struct name_type *type; /* of its data, a structure; NULL: not known
                                   */
    uint64_t type_misses;         /* of instructions that tell the type */
};

/* What is missed of a member of an object's data: by all threads (process and
 * thread 0), or by one. */
struct memory_member {
    uint32_t object; /* in memory.objects */
    uint32_t process, thread;
    const struct name_type *type; /* the object's, or that of a member of it */
    struct name_part part;
    unsigned source;                /* enum pointer_source */
    uint64_t counts[MEMORY_COUNTS]; /* but for accesses */
};

enum memory_advice {
    MEMORY_SEPARATE, /* false sharing */
    MEMORY_SHARE,    /* true sharing */
    MEMORY_SPREAD,   /* conflict misses */
    MEMORY_BLOCK,    /* capacity misses */
    MEMORY_PACK,     /* little of each line is used */
    MEMORY_STREAM,   /* first touches */
};

/* What is known of a trial. */
enum memory_trial_end {
    MEMORY_UNTRIED,
    MEMORY_TRIED,   /* the program made the same accesses */
    MEMORY_DIFFERS, /* it made others, or did not run */
    MEMORY_REFUSED, /* nothing was tried, for a reason */
};

/* How the misses of a program change where the caches see an object's data with
 * gaps. */
struct memory_trial {
    enum memory_trial_end end;
    struct moves moves;     /* without objects: nothing to try */
    const char *reason;     /* of MEMORY_REFUSED */
    uint64_t before, after; /* of MEMORY_TRIED: misses of the program, */
    uint64_t shared_before, shared_after; /* and coherence misses of these */
};

struct memory_finding {
    enum memory_advice advice;
    uint32_t object; /* in memory.objects */
    uint64_t misses; /* that the finding is about */
    bool few;        /* these are too few for one, but come with most turns */
    struct memory_trial trial;
};

struct memory {
    const struct record *record;
    struct resolver *resolver;
    size_t events[MEMORY_EVENT_COUNT]; /* of the record, as in MEMORY_EVENTS */
    struct breakdown *by_object, *by_line; /* owned */
    struct breakdown *by_place;            /* objects at lines, owned */
    bool any_machine;     /* the events are those that any machine has
                             (table/level.h) */
    const char *standing; /* of all counts: the lowest of the events' */
    uint64_t counts[MEMORY_COUNTS];
    /* Of the counts: of code and data of the dynamic loader, that a program can
     * do nothing about. No finding is about these. */
    uint64_t loader[MEMORY_COUNTS];
    uint64_t reuse[MEMORY_POWERS];
    uint64_t set_count; /* of the cache */
    uint64_t *sets;     /* conflict misses by set, [set_count], owned */
    struct memory_object *objects; /* most misses first */
    size_t object_count;
    struct names *names;           /* that the types are of */
    struct memory_member *members; /* most misses first; owned */
    size_t member_count;
    struct memory_member *thread_members; /* the same of each thread */
    size_t thread_member_count;
    struct memory_line *lines; /* most misses first */
    size_t line_count;
    struct memory_turns *turns; /* by process and thread; none: threads took no
                                   turns, or the record does not say */
    size_t turn_count;
    struct memory_finding *findings; /* of what threads share first, then most
                                        misses first */
    size_t finding_count;
};

/* Finds why data of a record miss. The record and the resolver stay the
 * caller's and outlive the result. 0; TALLY_EUNKNOWN, logged: the record does
 * not say; or TALLY_ENOMEM, logged. */
int memory_create(const struct record *record, struct resolver *resolver,
                  const struct tally_log *log, struct memory **result);
void memory_destroy(struct memory *m);

/* Adds up the counts of the whole record. Returns false where the record does
 * not say why data missed. */
bool memory_count(const struct record *record, uint64_t counts[MEMORY_COUNTS]);

/* Returns what an event of MEMORY_EVENTS adds to. */
enum memory_count memory_event_count(unsigned event);

/* Returns the misses of loads and stores. */
uint64_t memory_misses(const uint64_t counts[MEMORY_COUNTS]);

/* Returns the coherence misses that go away when bytes are put apart: from the
 * miss until it loses the line again, the thread uses no byte that other
 * threads have stored to. */
uint64_t memory_needless(const struct memory_shared *s);

/* Returns whether most misses are of the dynamic loader's code or data. */
bool memory_is_loaders(const struct memory *m);

/* Returns how many turns each thread but the first had at most, where all of
 * these, two at least, had so few that what they share hardly shows, and no
 * finding is about that; else 0. */
uint64_t memory_few_turns(const struct memory *m);

/* Returns whether a finding is about what threads share. */
bool memory_is_sharing(enum memory_advice advice);

/* Returns in how few of the sets 9 of 10 conflict misses of `sets` are. */
uint64_t memory_crowded(const struct memory *m, const uint64_t *sets);

/* Returns the power of two of lines that a fully associative cache needs to
 * have 9 of 10 of the lines of an object that come back after at least as many
 * others as the L1 data cache has lines. */
unsigned memory_reach(const struct memory *m, const struct memory_object *o);

/* Returns whether a line has a stride. */
static inline bool
memory_has_stride(const struct memory_line *l)
{
    return l->pattern == MEMORY_STRIDED || l->pattern == MEMORY_SEQUENTIAL;
}

/* Returns the word of a pattern, such as "strided". */
const char *memory_pattern_name(enum memory_pattern pattern);

/* Returns whether an object itself drives out most of its lines that are
 * conflict misses. */
bool
memory_is_own_conflict(const struct memory *m, const struct memory_object *o);

/* Adds to an object's parts how one of its lines, of `size` bytes, is parted so
 * that each thread's bytes have a line for themselves. `rows`: all misses of
 * the line, of the first process or of another, which is left out. 0 or
 * TALLY_ENOMEM. */
int memory_part_line(uint64_t size, struct memory_object *o,
                     const struct memory_shared *rows, size_t count);

/* Finds how the lines of an object, of `size` bytes, are parted. Returns false
 * where they are not to be. */
bool
memory_parts(const struct memory_object *o, uint64_t size, struct moves *moves);

/* Returns whether gaps may help against a finding: false sharing and conflict
 * misses. */
bool memory_may_move(const struct memory_finding *f);

/* Returns whether a finding was tried, and a tenth of its misses did not go
 * away. */
bool memory_was_vain(const struct memory_finding *f);

/* Returns why a finding has no result, of MEMORY_DIFFERS and MEMORY_REFUSED. */
const char *memory_untried(const struct memory_trial *trial);

/* Finds what may be tried against a finding: gaps between the words of threads,
 * or behind the rows of an array. Returns NULL, or the reason why nothing can
 * be tried: other findings, and data of the stack or of other programs than the
 * first. */
const char *memory_propose(const struct memory *m,
                           const struct memory_finding *f, struct moves *moves);
/* Returns the word of what a finding is about, such as "false-sharing". */
const char *memory_advice_name(enum memory_advice advice);

/* Writes the report: `top` rows of each table at most, 0: all. Each returns 0,
 * or TALLY_EIO or TALLY_ENOMEM, and logs nothing. */
int memory_text(const struct memory *m, size_t top,
                const struct breakdown_look *look, FILE *out);
/* A row for each object. */
int memory_csv(const struct memory *m, char separator, FILE *out);
int memory_json(const struct memory *m, FILE *out);

#define MEMORY_SIZE_TEXT 32

/* Returns the name of a member, such as "struct shard.count (shard.h:12)"; for
 * the caller to free. NULL: no memory. */
char *memory_member_name(const struct memory_member *member);

/* Writes a size to `text`, in the largest unit that the size has whole. */
void memory_size_text(uint64_t bytes, char text[MEMORY_SIZE_TEXT]);

/* Sets the members of a report that tell the level of caches. */
void memory_set_cache(json_t *o, const struct memory *m);

/* Returns what a finding says, in one line without an end, which has the bytes
 * that names have; for the caller to free. NULL: no memory. */
char *
memory_finding_text(const struct memory *m, const struct memory_finding *f);

#endif
