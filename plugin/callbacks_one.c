/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The callbacks of a process that has one thread. */
#include "machine/strand.h"
#include "plugin/plugin.h"

struct strand tally_first;

unsigned
callbacks_work(uint32_t parts)
{
    unsigned work = 0;

    if (parts & (PART_DIRECTION | PART_PREDICTOR))
        work |= WORK_DIRECTION;
    if (parts & PART_PREDICTOR)
        work |= WORK_PREDICTOR;
    if (parts & (PART_L1I | PART_ITLB))
        work |= WORK_FETCH;
    return work;
}

#define STRAND(vcpu) ((void)(vcpu), &tally_first)
#define CHOOSE callbacks_choose_one
#include "plugin/callbacks.inc"
