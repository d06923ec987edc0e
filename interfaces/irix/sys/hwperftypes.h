/* SPDX-License-Identifier: MIT */
/*
 * Structures of the event counters: r10k_evcntrs(5), rules I50 to I53. What
 * cpu_mon_t holds is in no document at hand; here it has room and stays 0.
 */
#ifndef SYS_HWPERFTYPES_H
#define SYS_HWPERFTYPES_H

#include <endian.h>
#include <sys/types.h>
#include <time.h>

#include "sys/hwperfmacros.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct timespec timespec_t;

/* hwp_ev << 5 | hwp_ie << 4 | hwp_mode, whichever end bit fields begin at. */
struct hwperf_ctrlreg {
#if __BYTE_ORDER == __BIG_ENDIAN
    unsigned short hwp_ev : 11; /* event counted */
    unsigned short hwp_ie : 1;  /* overflow interrupt enabled */
    unsigned short hwp_mode : 4;
#else
    unsigned short hwp_mode : 4;
    unsigned short hwp_ie : 1;
    unsigned short hwp_ev : 11;
#endif
};

typedef union {
    short hwperf_spec; /* 0: the event is not wanted */
    struct hwperf_ctrlreg hwperf_creg;
} hwperf_ctrl_t;

typedef struct {
    hwperf_ctrl_t hwp_evctrl[HWPERF_EVENTMAX];
} hwperf_eventctrl_t;

typedef struct hwperf_profevctrarg {
    hwperf_eventctrl_t hwp_evctrargs;
    int hwp_ovflw_freq[HWPERF_EVENTMAX]; /* thresholds; 0: none */
    int hwp_ovflw_sig;                   /* 1 to 32; 0: none */
} hwperf_profevctrarg_t;

typedef struct {
    __uint64_t hwp_evctr[HWPERF_EVENTMAX];
} hwperf_cntr_t;

typedef struct {
    __uint64_t unknown[8];
} cpu_mon_t;

typedef struct hwperf_prusage {
    timespec_t pu_tstamp;
    timespec_t pu_starttime;
    timespec_t pu_utime;
    timespec_t pu_stime;
    __uint64_t pu_minf;
    __uint64_t pu_majf;
    __uint64_t pu_utlb;
    __uint64_t pu_nswap;
    __uint64_t pu_gbread;
    __uint64_t pu_bread;
    __uint64_t pu_gbwrit;
    __uint64_t pu_bwrit;
    __uint64_t pu_sigs;
    __uint64_t pu_vctx;
    __uint64_t pu_ictx;
    __uint64_t pu_sysc;
    __uint64_t pu_syscr;
    __uint64_t pu_syscw;
    __uint64_t pu_syscps;
    __uint64_t pu_sysci;
    __uint64_t pu_graphfifo;
    __uint64_t pu_graph_req[8];
    __uint64_t pu_graph_wait[8];
    __uint64_t pu_size;
    __uint64_t pu_rss;
    __uint64_t pu_inblock;
    __uint64_t pu_oublock;
    __uint64_t pu_vfault;
    __uint64_t pu_ktlb;
    cpu_mon_t pu_cpu_mon;
} hwperf_prusage_t;

#ifdef __cplusplus
}
#endif

#endif
