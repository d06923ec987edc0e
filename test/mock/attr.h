/* SPDX-License-Identifier: MIT */
/* A perf_event_attr as `perf stat -vv` prints it, so that both compare. */
#ifndef MOCK_ATTR_H
#define MOCK_ATTR_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <sys/types.h>

/* The block between the two lines of dashes, into `text`; the length. */
size_t attr_print(const struct perf_event_attr *attr, char *text, size_t size);

/* The line behind the block. `result`: a descriptor, or a negative errno. */
size_t attr_print_call(pid_t pid, int cpu, int group, unsigned long flags,
                       int result, char *text, size_t size);

#endif
