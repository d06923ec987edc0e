/* SPDX-License-Identifier: MIT */
/* Names of the places of a point, or of other instructions of a run. */
#ifndef TALLY_RECORD_POINT_NAMES_H
#define TALLY_RECORD_POINT_NAMES_H

#include <stdbool.h>

#include "names/names.h"
#include "source/point.h"

struct point_names {
    const char (*files)[POINT_PATH]; /* [POINT_FILES], the caller's */
    struct names *names;
    bool asked[POINT_FILES]; /* the file was added, or could not be */
    bool known[POINT_FILES];
    unsigned file[POINT_FILES]; /* its index in `names` */
};

/* `files`: paths of the files that places are of. `debug_dirs`: as struct
 * names_options has them. 0 or TALLY_ENOMEM. */
int point_names_begin(struct point_names *n, const char (*files)[POINT_PATH],
                      const char *const *debug_dirs, size_t debug_dir_count);
void point_names_end(struct point_names *n);

/* A place with its names, which live as long as `struct point_names`. */
struct point_named {
    const char *function; /* innermost, copied or not; NULL: not known */
    const char *outer;    /* that it was copied into; NULL: it was not copied */
    uint64_t in_function; /* bytes from the start of the outermost function;
                             UINT64_MAX: not known */
    const char *file;     /* source file; NULL: not known */
    unsigned line;
    const char *image; /* path; NULL: no file's code */
};

struct point_named
point_names_find(struct point_names *n, const struct point_place *place);

/* The most functions that are copied into each other at one place. */
#define POINT_FRAMES 64u

/* Finds the functions of a place, each copied into the next, the last one not
 * copied. Returns how many there are; 0: none is known. */
size_t
point_names_frames(struct point_names *n, const struct point_place *place,
                   struct name_frame frames[POINT_FRAMES]);

#endif
