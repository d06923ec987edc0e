/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The callbacks of a process that has one thread. */
#include "machine/strand.h"
#include "plugin/plugin.h"

struct strand tally_first;

#define STRAND(vcpu) ((void)(vcpu), &tally_first)
#define CHOOSE callbacks_choose_one
#define RAW_HITS(s) false
#define ALIGNMENT false
#include "plugin/callbacks.inc"
