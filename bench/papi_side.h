/* SPDX-License-Identifier: MIT */
/* PAPI's side of bench/counter.c, which calls PAPI_read() itself. */
#ifndef TALLY_BENCH_PAPI_SIDE_H
#define TALLY_BENCH_PAPI_SIDE_H

/* Starts PAPI's counting of a software event by perf's name. Returns -1 where
 * PAPI cannot count the event. */
int papi_start(const char *event);
void papi_stop(int set);

#endif
