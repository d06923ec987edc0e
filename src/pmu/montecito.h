/* SPDX-License-Identifier: MIT */
#ifndef TALLY_PMU_MONTECITO_H
#define TALLY_PMU_MONTECITO_H

#include "pmu/pmu.h"

#endif
