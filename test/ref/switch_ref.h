/* SPDX-License-Identifier: MIT */
/* The slow, obvious twin of switch_run(): cycle by cycle, each event in a list,
 * the urgencies by the document's words. */
#ifndef TALLY_TEST_REF_SWITCH_REF_H
#define TALLY_TEST_REF_SWITCH_REF_H

#include "machine/switch.h"

void switch_ref_run(const struct switch_times *times,
                    const struct switch_load loads[2],
                    struct switch_counts counts[2]);

#endif
