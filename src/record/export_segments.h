/* SPDX-License-Identifier: MIT */
/*
 * Where a process had the code of its files, as the system itself tells it: a
 * mapping for each segment with code. A record may have one mapping for
 * segments that lie side by side.
 */
#ifndef TALLY_RECORD_EXPORT_SEGMENTS_H
#define TALLY_RECORD_EXPORT_SEGMENTS_H

#include "record/record.h"

struct export_segment {
    uint64_t start, size; /* of the process, whole pages */
    uint64_t offset;      /* of `start` in the file */
    uint32_t image;       /* in record.images */
};

/* Lists the segments of a process. Those of a file that is gone, or is another
 * by now, are its mappings. 0 or TALLY_ENOMEM; the caller frees *segments. */
int export_segments(const struct record *record, size_t process,
                    struct export_segment **segments, size_t *count);

#endif
