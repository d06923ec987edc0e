/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The callbacks of a process that has had more than one thread. */
#define STRAND(vcpu) (tally_strands[vcpu])
#define CHOOSE callbacks_choose_many
#define RAW_HITS(s) false
#define ALIGNMENT false
#include "plugin/callbacks.inc"
