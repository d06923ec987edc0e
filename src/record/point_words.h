/* SPDX-License-Identifier: MIT */
/* Words of the report of a point, for text and JSON. */
#ifndef TALLY_RECORD_POINT_WORDS_H
#define TALLY_RECORD_POINT_WORDS_H

#include "record/point_names.h"

/* Returns the name of an object, for the caller to free: as tally report has
 * it, with a heap block's nearest caller. NULL: no memory. */
char *point_object_text(struct point_names *n, const struct point_object *o);

/* Returns a function and where in the source a place is, for the caller to
 * free; NULL: no memory. */
char *point_place_text(struct point_names *n, const struct point_place *place);

/* Returns the same of a function that is at a place, one of those that
 * point_names_frames() finds; `copied`: into the next of them. */
char *point_frame_text(const struct name_frame *frame, bool copied);

/* Returns the name of a class (enum point_class), as "false sharing". */
const char *point_class_text(uint32_t class);

#endif
