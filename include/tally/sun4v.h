/* SPDX-License-Identifier: MIT */
/*
 * The sun4v hypervisor calls that reach performance registers, on the monitors
 * of tally/pmu.h.
 */
#ifndef TALLY_SUN4V_H
#define TALLY_SUN4V_H

#include "tally/pmu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The trap of a call: fast traps have their function in %o5. @since 0.1 */
#define TALLY_SUN4V_FAST_TRAP 0x80
#define TALLY_SUN4V_CORE_TRAP 0xff

/* What calls return in %o0. @since 0.1 */
enum tally_sun4v_status {
    TALLY_SUN4V_EOK = 0,
    TALLY_SUN4V_EINVAL = 6,
    TALLY_SUN4V_EBADTRAP = 7,
    TALLY_SUN4V_EWOULDBLOCK = 9,
    TALLY_SUN4V_ENOACCESS = 10,
    TALLY_SUN4V_ENOTSUPPORTED = 13,
};

/*
 * The strand's privileged software calls `function` with `args` (%o0 to %o4,
 * never NULL). Returns the status; *result becomes %o1, 0 on error. A strand
 * that does not exist is TALLY_SUN4V_EINVAL.
 *
 * @since 0.1
 */
TALLY_API uint64_t tally_sun4v_call(struct tally_pmu *pmu, unsigned strand,
                                    unsigned trap, uint64_t function,
                                    const uint64_t args[5], uint64_t *result);

/*
 * Makes the next `count` accesses to Zambezi registers find them busy
 * (EWOULDBLOCK).
 *
 * @since 0.1
 */
TALLY_API void tally_sun4v_contend(struct tally_pmu *pmu, uint32_t count);

#ifdef __cplusplus
}
#endif

#endif
