/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Those of one that has had more than one thread, with read-after-write hits.
 */
#define STRAND(vcpu) (tally_strands[vcpu])
#define CHOOSE callbacks_choose_many_raw
#define RAW_HITS(s) true
#define ALIGNMENT false
#include "plugin/callbacks.inc"
