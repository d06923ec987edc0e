/* SPDX-License-Identifier: MIT */
/* sprofil(2)'s ranges, as HWPERF_PROFENABLE takes them. */
#ifndef SYS_PROFIL_H
#define SYS_PROFIL_H

struct prof {
    void *pr_base;        /* buckets, of 16 bits */
    unsigned int pr_size; /* bytes of them */
    void *pr_off;         /* where the code begins */
    unsigned int pr_scale;
};

#endif
