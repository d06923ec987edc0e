/* SPDX-License-Identifier: MIT */
/* The one request of syssgi(2) that is for the event counters; its number is
 * ours. */
#ifndef SYS_SYSSGI_H
#define SYS_SYSSGI_H

#ifdef __cplusplus
extern "C" {
#endif

#define SGI_EVENTCTR 200

/* A generation number, or 0 as r10k_evcntrs(5) has it; -1 with errno. */
int syssgi(int request, ...);

#ifdef __cplusplus
}
#endif

#endif
