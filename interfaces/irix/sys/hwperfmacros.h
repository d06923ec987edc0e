/* SPDX-License-Identifier: MIT */
/*
 * Constants of the event counters: r10k_evcntrs(5). The page gives names, not
 * numbers; those of the modes are the bits of the control register, those that
 * count something follow from the page (rules I06, I54), the rest are ours.
 */
#ifndef SYS_HWPERFMACROS_H
#define SYS_HWPERFMACROS_H

#define HWPERF_EVENTMAX 32 /* virtual counters of a process */
#define HWPERF_CNT1BASE 16 /* the first that counter 1 of R10000 counts */
/* The page's example has it and says nothing of it: the events of a counter. */
#define HWPERF_CNTEVENTMAX 16

/* hwp_mode */
#define HWPERF_CNTEN_EXL 1
#define HWPERF_CNTEN_K 2
#define HWPERF_CNTEN_S 4
#define HWPERF_CNTEN_U 8

/* Commands of syssgi(SGI_EVENTCTR, ...). */
#define HWPERF_PROFENABLE 1
#define HWPERF_ENSYSCNTRS 2
#define HWPERF_GET_SYSCNTRS 3
#define HWPERF_GET_CPUCNTRS 4
#define HWPERF_GET_SYSEVCTRL 5
#define HWPERF_SET_SYSEVCTRL 6
#define HWPERF_RELSYSCNTRS 7

#endif
