/* SPDX-License-Identifier: MIT */
#include "pmu/pmu.h"

const struct pmu_ops pmu_r10000_ops = {.strands = 0};
