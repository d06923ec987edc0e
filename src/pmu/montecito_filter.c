/* SPDX-License-Identifier: MIT */
#include "pmu/montecito.h"
