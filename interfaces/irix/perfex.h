/* SPDX-License-Identifier: MIT */
/*
 * libperfex: two events of this process, by the numbers of IRIX. T5_EVENT0 and
 * T5_EVENT1 in the environment override what a program asks for. Texts go to
 * standard error.
 *
 * start_counters() and read_counters() return a generation number: the same
 * where nobody took the counters between them; or -1 with errno. The others
 * return 0 or -1. From Fortran they are functions of INTEGER*4 on INTEGER*4
 * events and INTEGER*8 counts.
 */
#ifndef PERFEX_H
#define PERFEX_H

#ifdef __cplusplus
extern "C" {
#endif

/* Zeroes both and starts. */
int start_counters(int event0, int event1);

/* Stops both and reads them. */
int read_counters(int event0, long long *count0, int event1, long long *count1);

/* A line for each: number, name, count. */
int print_counters(int event0, long long count0, int event1, long long count1);

/* And what they cost in seconds: typically, at least, at most. */
int print_costs(int event0, long long count0, int event1, long long count1);

/* Costs from a file, as `tally perfex -t` prints it. */
int load_costs(char *file);

#ifdef __cplusplus
}
#endif

#endif
