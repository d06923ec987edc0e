/* SPDX-License-Identifier: MIT */
/*
 * The ioctls on /proc/NNNNN that are for the event counters: r10k_evcntrs(5).
 * The numbers are ours: sources compile, binaries of IRIX do not run. Only what
 * open() gave for /proc/NNNNN takes them.
 */
#ifndef TALLY_IRIX_SYS_PROCFS_H
#define TALLY_IRIX_SYS_PROCFS_H

#define PIOC ('q' << 8)
#define PIOCENEVCTRS (PIOC | 200)
#define PIOCGETEVCTRS (PIOC | 201)
#define PIOCGETPREVCTRS (PIOC | 202)
#define PIOCGETEVCTRL (PIOC | 203)
#define PIOCSETEVCTRL (PIOC | 204)
#define PIOCRELEVCTRS (PIOC | 205)
#define PIOCSAVECCNTRS (PIOC | 206)

#endif
