/* SPDX-License-Identifier: MIT */
/* Where the parts of a session's file are, in bytes; see
 * source/process_counts.h. */
#ifndef TALLY_SOURCE_COUNTS_LAYOUT_H
#define TALLY_SOURCE_COUNTS_LAYOUT_H

#include "source/record_counts.h"

#define PAGE 4096u
#define ROUND(size) (((size) + PAGE - 1) / PAGE * PAGE)

#define HEADER_SIZE ROUND(sizeof(struct session_header))
#define INFOS_AT                       \
    ROUND(sizeof(struct counts_head) + \
          sizeof(struct counts_file) * COUNTS_FILES)
#define KINDS_AT (INFOS_AT + ROUND(sizeof(struct block_info) * COUNTS_BLOCKS))
#define THREADS_AT (KINDS_AT + ROUND(sizeof(uint32_t) * COUNTS_BLOCKS))
#define SNAPSHOTS_AT \
    (THREADS_AT + ROUND(sizeof(struct counts_thread) * COUNTS_THREADS))
#define CAPTURES_AT \
    (SNAPSHOTS_AT + ROUND(sizeof(struct counts_snapshot) * COUNTS_SNAPSHOTS))
#define STRANDS_AT \
    (CAPTURES_AT + ROUND(sizeof(struct capture_record) * COUNTS_CAPTURES))
#define STRAND_SIZE ROUND(sizeof(struct counts_strand))
#define RECORD_AT (STRANDS_AT + STRAND_SIZE * COUNTS_STRANDS)
#define RECORD_SIZE ROUND(sizeof(struct record_process))
#define RECORD_STRANDS_AT (RECORD_AT + RECORD_SIZE)
#define RECORD_STRAND_SIZE ROUND(sizeof(struct record_strand))
#define PHASES_AT (RECORD_STRANDS_AT + RECORD_STRAND_SIZE * COUNTS_STRANDS)
#define PHASES_SIZE ROUND(sizeof(struct phases_process))
#define COUNTS_SIZE (PHASES_AT + PHASES_SIZE)
#define SESSION_SIZE (HEADER_SIZE + (uint64_t)COUNTS_SIZE * SESSION_PROCESSES)

#endif
