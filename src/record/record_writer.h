/* SPDX-License-Identifier: MIT */
/*
 * Writes what a session has recorded (profile/recorded.h) as a record file.
 * doc/format/record.md has the contents of the chunks.
 */
#ifndef TALLY_RECORD_RECORD_WRITER_H
#define TALLY_RECORD_RECORD_WRITER_H

#include "profile/recorded.h"
#include "record/chunks.h"
#include "record/record_format.h"

/* What a record says of its events; strings are the caller's. */
struct record_event {
    const char *name;     /* the machine's */
    const char *asked;    /* the name that was asked for */
    const char *unit;     /* "" for a plain count */
    const char *brief;    /* what it counts */
    const char *standing; /* "exact", "modelled", "estimated", "idle" */
};

/* What a record says of its run. */
struct record_head {
    const char *version; /* of tally */
    const char *machine, *isa;
    const char *cpu; /* the guest's CPU model, or NULL */
    char *const *argv;
    const struct record_event *events;
    size_t event_count;
    bool no_callers;
    bool no_names;           /* the record keeps no names of places */
    bool branches;           /* edges are recorded */
    const char *heap_reason; /* with heap_is_whole; else NULL */
    bool all_accesses;       /* objects have all their accesses */
    bool reasons;        /* it is recorded why data missed the level below */
    enum cache_id level; /* of the lines whose use is recorded */
    uint64_t level_size, level_line, level_ways; /* its caches, in bytes */
    const struct moves *moves; /* of data, for these caches; or NULL */
    bool locks;                /* it is recorded what threads wait for */
    bool heap_is_whole; /* objects are recorded, but not the blocks of the
                           program's allocator, which cannot report */
};

/* What a thread's instructions come to. */
struct record_sum {
    unsigned process, thread, strand;
    int64_t *values; /* [event_count], owned */
};

/* The places of an image's file that the set's processes executed. */
struct record_places {
    char *path; /* owned, as all of it */
    uint8_t *build_id;
    size_t build_id_size;
    uint64_t *offsets;
    size_t count, room;
};

struct record_writer {
    struct chunk_writer *chunks; /* owned */
    const struct record_head *head;
    const struct session_options *options;
    const struct tally_log *log;
    struct recorded_sink sink; /* for session_options.record */
    /* The sums over the instructions of each thread of this set; owned. */
    struct record_sum *sums;
    size_t sum_count;
    struct record_places *places; /* of the set's images, owned */
    size_t place_count;
    size_t path_count;         /* of the process, in the file */
    size_t object_count;       /* the same */
    size_t first_object_count; /* of the first process */
};

/* Opens the file and writes the head. 0 or an error, logged. The caller keeps
 * `head`, `options` and `log` until the writer is ended, and calls
 * record_writer_end() or record_writer_abandon(). */
int record_writer_begin(struct record_writer *writer, const char *path,
                        const struct record_head *head,
                        const struct session_options *options,
                        const struct tally_log *log);

/* Writes how the run ended, and closes the file.
 * 0 or an error, logged. */
int record_writer_end(struct record_writer *writer,
                      const struct session_result *result);

/* Leaves the file that was there before. */
void record_writer_abandon(struct record_writer *writer);

#endif
