/* SPDX-License-Identifier: MIT */
/* Where the parts of a session's file are, in bytes; see source/region.h. */
#ifndef TALLY_SOURCE_REGION_LAYOUT_H
#define TALLY_SOURCE_REGION_LAYOUT_H

#include "source/region.h"

#define PAGE 4096u
#define ROUND(size) (((size) + PAGE - 1) / PAGE * PAGE)

#define HEADER_SIZE ROUND(sizeof(struct session_header))
#define INFOS_AT ROUND(sizeof(struct region_head))
#define THREADS_AT (INFOS_AT + ROUND(sizeof(struct block_info) * REGION_BLOCKS))
#define SNAPSHOTS_AT \
    (THREADS_AT + ROUND(sizeof(struct region_thread) * REGION_THREADS))
#define CAPTURES_AT \
    (SNAPSHOTS_AT + ROUND(sizeof(struct region_snapshot) * REGION_SNAPSHOTS))
#define STRANDS_AT \
    (CAPTURES_AT + ROUND(sizeof(struct capture_record) * REGION_CAPTURES))
#define STRAND_SIZE ROUND(sizeof(struct region_strand))
#define REGION_SIZE (STRANDS_AT + STRAND_SIZE * REGION_STRANDS)
#define SESSION_SIZE (HEADER_SIZE + (uint64_t)REGION_SIZE * SESSION_REGIONS)

#endif
