/* SPDX-License-Identifier: MIT */
#include "pmu/pmu.h"

const struct pmu_ops pmu_t4_ops = {.strands = 0};
