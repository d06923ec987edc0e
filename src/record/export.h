/* SPDX-License-Identifier: MIT */
/*
 * A record as a list of samples, and the writers that turn the list into files
 * of other programs. A sample is a path of functions and what each event
 * counted there; the writers know nothing of how the path was found.
 *
 * doc/format/export.md says what each format has and what it lacks.
 */
#ifndef TALLY_RECORD_EXPORT_H
#define TALLY_RECORD_EXPORT_H

#include <stdio.h>

#include "record/record.h"
#include "record/resolver.h"

#define EXPORT_NOWHERE UINT64_MAX /* no address or offset */
#define EXPORT_NO_PROCESS UINT32_MAX

/* A function of a path, at the instruction that was executed or that called the
 * next function. Names are numbers of texts; 0: not known. */
struct export_frame {
    uint32_t function, mangled, file, line;
    uint32_t image;           /* in record.images, or RECORD_NO_IMAGE */
    bool inlined;             /* copied into the function of the frame before */
    uint64_t address;         /* in the process, or EXPORT_NOWHERE */
    uint64_t offset;          /* of the address in the image's file; without an
                                 image the address */
    uint64_t file_address;    /* what the image's file gives the instruction; or
                                 EXPORT_NOWHERE */
    uint64_t function_offset; /* of the function's first byte in the image's
                                 file; or EXPORT_NOWHERE */
};

/* An instruction that called: its functions, and the call that led there. */
struct export_call {
    const struct export_call *caller; /* NULL: none */
    size_t frame_count;
    const struct export_frame *frames; /* outermost first, at least one */
};

/* What a thread counted at the end of a path. */
struct export_sample {
    uint32_t process; /* in record.processes, or EXPORT_NO_PROCESS */
    uint32_t thread;  /* number in the process */
    const struct export_call *caller;  /* that led here; NULL: none */
    const struct export_frame *frames; /* of the instruction alone, outermost
                                          first, at least one */
    uint32_t frame_count;
    /* Values of events, ascending; those of all other events are 0. */
    uint32_t value_count;
    const int64_t *values;
    const uint16_t *events; /* which events, in the list's order */
};

/* Where control went in a thread. */
struct export_edge {
    uint32_t process, thread; /* as in a sample */
    /* The functions of both instructions, outermost first; none (NULL): from
     * or to nowhere. */
    const struct export_frame *from, *to;
    size_t from_count, to_count;
    const struct record_edge *edge;
};

struct export_list {
    const struct record *record;
    struct resolver *resolver; /* for addresses alone: new names have no text */
    uint32_t image;            /* of a format of one image */
    const char *creator;       /* "tally 1.2.3" */
    const size_t *events;      /* of the record */
    size_t event_count;
    const char *const *texts; /* by number; number 0 is empty */
    size_t text_count;
    uint32_t elsewhere; /* text of the function that has what no instruction
                           has */
    size_t depth;       /* frames of the longest path */
    const struct export_sample *samples; /* by process, then thread */
    size_t sample_count;
    const struct export_edge *edges; /* where edges are recorded */
    size_t edge_count;
};

/*
 * Lists each instruction that a thread executed, by the calls that led there
 * and with the functions that it is copied into, and for each thread what no
 * instruction has. All values of an
 * event add up to the record's total. Without events there are no samples and
 * no edges. The list points into the record, the resolver, `events` and
 * `creator`, and the caller gives it to export_list_destroy(). 0 or
 * TALLY_ENOMEM, logged.
 */
int export_list_create(const struct record *record, struct resolver *resolver,
                       const size_t *events, size_t event_count,
                       const char *creator, const struct tally_log *log,
                       struct export_list **list);

/* Accepts NULL. */
void export_list_destroy(struct export_list *list);

/* Writes the frames of the whole path of a sample, outermost first, to
 * `frames`, which has room for list->depth. Returns how many there are. */
size_t export_frames(const struct export_sample *sample,
                     const struct export_frame **frames);

/* Adds without overflow: a forged record may have any values. */
static inline int64_t
export_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* Returns the event's name as it was asked for. */
const char *export_event(const struct export_list *list, size_t event);

/* Returns what an event, by the list's order, counted at a sample. */
int64_t export_value(const struct export_sample *sample, size_t event);

/* Returns the sum of an event over all samples. */
int64_t export_total(const struct export_list *list, size_t event);

/* Returns the last part of the image's path, or "" for RECORD_NO_IMAGE. */
const char *export_image(const struct export_list *list, uint32_t image);

/* Returns the last part of the path of the process's program. */
const char *export_program(const struct export_list *list, uint32_t process);

/* Returns the process's number in the system that it ran on, or 0. */
int export_pid(const struct export_list *list, uint32_t process);

/* Returns the function's name; of an unknown function that of its image in
 * brackets. The caller frees the text; NULL: no memory. */
char *export_function(const struct export_list *list,
                      const struct export_frame *frame);

/* A format. */
struct export_writer {
    const char *name;
    bool one_event; /* a file has one event */
    bool binary;    /* no text */
    bool branches;  /* of the edges alone: it has no events */
    bool one_image; /* a file is of one image */
    /*
     * Writes the list. Adds to left_out[event] the values that the format
     * cannot have, as they are negative. 0; TALLY_ENOMEM; or TALLY_EIO if the
     * stream could not be written, with errno.
     */
    int (*write)(const struct export_list *list, FILE *out, int64_t *left_out);
};

int
export_callgrind(const struct export_list *list, FILE *out, int64_t *left_out);
int export_folded(const struct export_list *list, FILE *out, int64_t *left_out);
int export_pprof(const struct export_list *list, FILE *out, int64_t *left_out);
int
export_speedscope(const struct export_list *list, FILE *out, int64_t *left_out);
int
export_brstack(const struct export_list *list, FILE *out, int64_t *left_out);
int export_bolt(const struct export_list *list, FILE *out, int64_t *left_out);
int
export_perf_data(const struct export_list *list, FILE *out, int64_t *left_out);
int export_perf_script(const struct export_list *list, FILE *out,
                       int64_t *left_out);

/* Ends with a NULL name. */
extern const struct export_writer export_writers[];

#endif
