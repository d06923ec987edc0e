/* SPDX-License-Identifier: MIT */
/* What perf_event_open(2) of the mock refuses, in the kernel's order. */
#ifndef MOCK_CHECK_H
#define MOCK_CHECK_H

#include "event.h"

/* Copies the caller's structure of whatever size; 0 or a negative errno. */
int mock_attr_copy(const void *from, struct perf_event_attr *attr);

/* 0 and the PMU (NULL: software), or a negative errno. */
int mock_check(const struct mock_machine *machine,
               const struct perf_event_attr *attr, pid_t pid, int cpu,
               unsigned long flags, const struct mock_pmu **pmu);

#endif
