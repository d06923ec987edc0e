/* SPDX-License-Identifier: MIT */
/*
 * The sun4v hypervisor calls that reach performance registers, on the monitors
 * of tally/pmu.h: of UltraSPARC T1 group 0x200 (functions 0x100 to 0x103), T2
 * 0x202 (0x104, 0x105), T2 Plus 0x205 (0x106, 0x107) and of SPARC T4 0x20c
 * (0x184, 0x185). A guest agrees on a version of the group first; before that,
 * and on other machines, all are TALLY_SUN4V_EBADTRAP.
 */
#ifndef TALLY_SUN4V_H
#define TALLY_SUN4V_H

#include "tally/pmu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The trap of a call, whose function is in %o5. @since 0.1 */
#define TALLY_SUN4V_FAST_TRAP 0x80
#define TALLY_SUN4V_CORE_TRAP 0xff

/*
 * Functions of the core trap, which need no version: set (group, major, minor)
 * answers the minor version that now holds, at most the asked one; major 0
 * gives the group up. Get (group) answers major and minor, 0 0 if none.
 *
 * @since 0.1
 */
#define TALLY_SUN4V_API_SET_VERSION 0x00
#define TALLY_SUN4V_API_GET_VERSION 0x03

/* What calls return in %o0. @since 0.1 */
enum tally_sun4v_status {
    TALLY_SUN4V_EOK = 0,
    TALLY_SUN4V_EINVAL = 6,
    TALLY_SUN4V_EBADTRAP = 7,
    TALLY_SUN4V_EBADALIGN = 8,
    TALLY_SUN4V_EWOULDBLOCK = 9,
    TALLY_SUN4V_ENOACCESS = 10,
    TALLY_SUN4V_ENOTSUPPORTED = 13,
};

/*
 * The strand's privileged software calls `function` with `args` (%o0 to %o4).
 * Returns the status. What the call returns besides is put into `results` (%o1
 * and %o2); they are untouched where it returns less, and on error. A strand
 * that does not exist is TALLY_SUN4V_EINVAL.
 *
 * Of several errors the first of these is told: ENOACCESS for a guest without
 * access (TALLY_PMU_DENY_GUEST), EINVAL for a register that no machine of the
 * kind has, ENOTSUPPORTED for one that this machine or version lacks,
 * ENOACCESS for counting in hyperprivileged mode (TALLY_PMU_DENY_HT),
 * EWOULDBLOCK.
 *
 * @since 0.1
 */
TALLY_API uint64_t tally_sun4v_call(struct tally_pmu *pmu, unsigned strand,
                                    unsigned trap, uint64_t function,
                                    const uint64_t args[5],
                                    uint64_t results[2]);

/*
 * Makes the next `count` accesses to Zambezi registers find them busy
 * (EWOULDBLOCK); those that fail for another reason are not among them.
 *
 * @since 0.1
 */
TALLY_API void tally_sun4v_contend(struct tally_pmu *pmu, uint32_t count);

/*
 * The memory controllers of the bits in `banks` are off, the others on, also
 * after a reset: on UltraSPARC T2 and T2 Plus (bit 2n + m: controller m of node
 * n) calls read 0 of their registers and write nothing. Those of other machines
 * do not look.
 *
 * @since 0.1
 */
TALLY_API void tally_sun4v_disable_dram(struct tally_pmu *pmu, uint32_t banks);

#ifdef __cplusplus
}
#endif

#endif
