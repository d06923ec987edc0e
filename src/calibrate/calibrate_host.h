/* SPDX-License-Identifier: MIT */
/*
 * What `tally calibrate` knows of the computer before it measures: what the
 * system tells of caches and memory, and CPUID of TLBs.
 */
#ifndef TALLY_CALIBRATE_CALIBRATE_HOST_H
#define TALLY_CALIBRATE_CALIBRATE_HOST_H

#include <stdint.h>

#include "base/error.h"
#include "calibrate/tlb_told.h"

struct calibrate_host {
    uint64_t l1d, l2, l3; /* bytes; l3 may be 0 */
    uint64_t line;        /* of the L1 data cache */
    uint64_t page;        /* of the system */
    uint64_t size;        /* of the largest probe */
    struct tlb_told told;
};

/* Returns how many bytes the largest probe should have for these caches. */
uint64_t calibrate_size(const struct calibrate_host *host);

/* Finds what is known of this computer. 0; or TALLY_ENOMEM, logged, where less
 * memory is available than the largest probe needs at least. */
int
calibrate_host_find(const struct tally_log *log, struct calibrate_host *host);

#endif
