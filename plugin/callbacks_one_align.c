/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Those of a process that has one thread, with misaligned accesses. */
#include "plugin/plugin.h"

#define STRAND(vcpu) ((void)(vcpu), &tally_first)
#define CHOOSE callbacks_choose_one_align
#define RAW_HITS(s) false
#define ALIGNMENT true
#include "plugin/callbacks.inc"
