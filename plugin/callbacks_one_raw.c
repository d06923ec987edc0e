/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Those of a process that has one thread, with read-after-write hits. */
#include "plugin/plugin.h"

#define STRAND(vcpu) ((void)(vcpu), &tally_first)
#define CHOOSE callbacks_choose_one_raw
#define RAW_HITS(s) true
#define ALIGNMENT false
#include "plugin/callbacks.inc"
