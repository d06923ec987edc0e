/* SPDX-License-Identifier: MIT */
/*
 * A curve of misses: one level of caches or TLBs of a machine, in many sizes,
 * from one run of a program. src/machine/curve.h has how the misses are
 * counted.
 */
#ifndef TALLY_SWEEP_CURVE_DRAWING_H
#define TALLY_SWEEP_CURVE_DRAWING_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "source/curve.h"
#include "source/launch.h"
#include "sweep/curve_parts.h"

#define CURVE_POINTS_MOST 2048u

/* A level of a machine. */
struct curve_level_row {
    const char *name;   /* of --level */
    const char *key;    /* of the parameter that is its size */
    const char *title;  /* "L1 data cache" */
    const char *line;   /* "line" or "page" */
    const char *usual;  /* sizes, unless others are asked for */
    const char *stream; /* what is asked of the level, many of it; NULL: of an
                           instruction's code, which is not counted */
    bool entries;       /* sizes are entries, else bytes */
};

/* All levels, by enum curve_level. */
extern const struct curve_level_row curve_levels[CURVE_LEVELS];

/* One size. */
struct curve_point {
    uint64_t size;  /* bytes, or entries */
    uint64_t lines; /* of them; entries of a TLB */
    uint32_t ways;  /* 0: full associativity */
    uint64_t sets;  /* 1: full associativity */
    bool shown;     /* in the text's table */
    double misses;
    /* Of a sample: the misses lie between these in 95 of 100 samples; `high`
     * HUGE_VAL: it is not known, as the size has too few lines. */
    double low, high;
};

struct curve_ways {
    uint32_t ways[CURVE_WAYS]; /* in the order of the command line */
    size_t count;              /* 0: full associativity */
};

struct curve_drawing {
    const char *program; /* the command line */
    const char *machine;
    struct curve_request request;
    uint64_t line; /* bytes of a line or page */
    /* The machine's own level. */
    uint64_t own_size;
    uint32_t own_ways; /* 0: full associativity */
    struct curve_point points[CURVE_POINTS_MOST];
    size_t point_count;
    char *left_out; /* sizes that cannot be, as a text; NULL: none; owned */
    /* What was counted. */
    uint64_t instructions;
    uint64_t accesses; /* that `stream` of the level names; 0: none */
    double first;      /* accesses to lines that were not asked for before */
    uint64_t lost;     /* accesses that are in no count, for want of memory */
    bool varies;       /* another run may count differently */
    enum trace_part trace;    /* what of the run the trace has */
    struct curve_parts parts; /* if some are asked for */
    size_t top;               /* of these, that the text shows; 0: all */
    /* Why blocks of the heap are one object, or NULL: each site that allocates
     * is one. */
    const char *heap_reason;
    const char *const *notes; /* of the run, lines for people; ends with NULL */
};

/*
 * Makes the points of sizes, "4K..64M" or "4K,8K,16K", and of ways, and with
 * them the request, whose kind, level, shift and sample are set. A range LOW ..
 * HIGH of full associativity has seven sizes between each two doubles, which
 * the text does not show; with ways it is all sizes there that have a power of
 * two of sets. 0, TALLY_ENOMEM or TALLY_ERANGE, logged.
 */
int
curve_make_points(struct curve_drawing *d, const char *sizes,
                  const struct curve_ways *ways, const struct tally_log *log);

/* Takes what was counted. */
void curve_take(struct curve_drawing *d, const struct curve_counts *counts);

void curve_drawing_finish(struct curve_drawing *d);

/* Returns the word for what the counts are. "modelled": exact, of a model. */
const char *curve_standing(const struct curve_drawing *d);

/* Each writes a form, and returns 0, TALLY_ENOMEM, or TALLY_EIO with errno. */
int curve_write_text(const struct curve_drawing *d, FILE *out);
int curve_write_csv(const struct curve_drawing *d, FILE *out);
int curve_write_json(const struct curve_drawing *d, FILE *out);
int curve_write_svg(const struct curve_drawing *d, FILE *out);

/* Writes what was run, as the text begins. Returns as curve_write_text(). */
int curve_write_head(const struct curve_drawing *d, FILE *out);

/* Writes where misses fall, and which size each part needs. Returns as
 * curve_write_text(). */
int curve_write_words(const struct curve_drawing *d, FILE *out);

/* Writes what else is to be known of the numbers. Returns as
 * curve_write_text(). */
int curve_write_notes(const struct curve_drawing *d, FILE *out);

/* Returns the index behind the points from `first` on that have as many ways as
 * that one. */
size_t curve_series_end(const struct curve_drawing *d, size_t first);

/* Returns the size that a part needs, of the points from `first` on that have
 * as many ways as that one; null: its misses hardly fall. */
json_t *curve_need_json(const struct curve_drawing *d,
                        const struct curve_part *part, size_t first);

#define CURVE_SIZE_TEXT 32 /* bytes of a size as text */

/* Returns the point whose ways the parts are told of, where one is chosen: the
 * first of the machine's own ways, or the first of all. */
size_t curve_first_told(const struct curve_drawing *d);

/* Writes a size, in units of 1,024 where that is short, into CURVE_SIZE_TEXT
 * bytes, and returns them. */
const char *
curve_size_text(const struct curve_drawing *d, uint64_t size, char *text);

#endif
