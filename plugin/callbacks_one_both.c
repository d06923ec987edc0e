/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Those of a process that has one thread, with read-after-write hits and
 * misaligned accesses. */
#include "plugin/plugin.h"

#define STRAND(vcpu) ((void)(vcpu), &tally_first)
#define CHOOSE callbacks_choose_one_both
#define RAW_HITS(s) true
#define ALIGNMENT true
#include "plugin/callbacks.inc"
