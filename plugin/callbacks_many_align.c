/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Those of one that has had more than one thread, with misaligned accesses. */
#define STRAND(vcpu) (tally_strands[vcpu])
#define CHOOSE callbacks_choose_many_align
#define RAW_HITS(s) ((s->chip->components & COMPONENT_RAW) != 0)
#define ALIGNMENT true
#include "plugin/callbacks.inc"
