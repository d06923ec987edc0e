/* SPDX-License-Identifier: MIT */
/*
 * The sun4v hypervisor's calls for the performance registers of Victoria Falls
 * (UltraSPARC T2 Plus) as functions: those of vf_perf_api.txt 1.11,
 * section 3.2, and version negotiation under the names of OpenSolaris. They
 * call the hypervisor of the monitor that the thread is bound to, so that a
 * driver's code runs as it is. Make a monitor as tally/pmu.h says.
 *
 * All return H_EOK or an error, and leave what their pointers name untouched on
 * error. EWOULDBLOCK is the caller's to try again.
 */
#ifndef TALLY_COMPAT_HV_PERF_H
#define TALLY_COMPAT_HV_PERF_H

#include <stdint.h>

#include <tally/pmu.h>

#ifdef __cplusplus
extern "C" {
#endif

/* @since 0.1 */
#define H_EOK 0
#define H_EINVAL 6
#define H_EBADTRAP 7
#define H_EBADALIGN 8
#define H_EWOULDBLOCK 9
#define H_ENOACCESS 10
#define H_ENOTSUPPORTED 13

/* "Victoria Falls Performance Counters". @since 0.1 */
#define HV_GRP_VF_CPU 0x205

/* PerfReg#, section 3.1. @since 0.1 */
enum hv_vfalls_perfreg {
    HV_SPARC_PCR = 0, /* of the strand that calls */
    HV_L2_CONTROL_REG,
    HV_NODE0_MCU0_PCR,
    HV_NODE0_MCU0_PIC,
    HV_NODE0_MCU1_PCR,
    HV_NODE0_MCU1_PIC,
    HV_NODE1_MCU0_PCR,
    HV_NODE1_MCU0_PIC,
    HV_NODE1_MCU1_PCR,
    HV_NODE1_MCU1_PIC,
    HV_NODE2_MCU0_PCR,
    HV_NODE2_MCU0_PIC,
    HV_NODE2_MCU1_PCR,
    HV_NODE2_MCU1_PIC,
    HV_NODE3_MCU0_PCR,
    HV_NODE3_MCU0_PIC,
    HV_NODE3_MCU1_PCR,
    HV_NODE3_MCU1_PIC,
    HV_ZAM0_LPU_A_PCR,
    HV_ZAM0_LPU_A_PIC0,
    HV_ZAM0_LPU_A_PIC1,
    HV_ZAM0_LPU_B_PCR,
    HV_ZAM0_LPU_B_PIC0,
    HV_ZAM0_LPU_B_PIC1,
    HV_ZAM0_LPU_C_PCR,
    HV_ZAM0_LPU_C_PIC0,
    HV_ZAM0_LPU_C_PIC1,
    HV_ZAM0_LPU_D_PCR,
    HV_ZAM0_LPU_D_PIC0,
    HV_ZAM0_LPU_D_PIC1,
    HV_ZAM0_GPD_PCR,
    HV_ZAM0_GPD_PIC0,
    HV_ZAM0_GPD_PIC1,
    HV_ZAM0_ASU_PCR,
    HV_ZAM0_ASU_PIC0,
    HV_ZAM0_ASU_PIC1,
    HV_ZAM1_LPU_A_PCR,
    HV_ZAM1_LPU_A_PIC0,
    HV_ZAM1_LPU_A_PIC1,
    HV_ZAM1_LPU_B_PCR,
    HV_ZAM1_LPU_B_PIC0,
    HV_ZAM1_LPU_B_PIC1,
    HV_ZAM1_LPU_C_PCR,
    HV_ZAM1_LPU_C_PIC0,
    HV_ZAM1_LPU_C_PIC1,
    HV_ZAM1_LPU_D_PCR,
    HV_ZAM1_LPU_D_PIC0,
    HV_ZAM1_LPU_D_PIC1,
    HV_ZAM1_GPD_PCR,
    HV_ZAM1_GPD_PIC0,
    HV_ZAM1_GPD_PIC1,
    HV_ZAM1_ASU_PCR,
    HV_ZAM1_ASU_PIC0,
    HV_ZAM1_ASU_PIC1,
    HV_ZAM2_LPU_A_PCR,
    HV_ZAM2_LPU_A_PIC0,
    HV_ZAM2_LPU_A_PIC1,
    HV_ZAM2_LPU_B_PCR,
    HV_ZAM2_LPU_B_PIC0,
    HV_ZAM2_LPU_B_PIC1,
    HV_ZAM2_LPU_C_PCR,
    HV_ZAM2_LPU_C_PIC0,
    HV_ZAM2_LPU_C_PIC1,
    HV_ZAM2_LPU_D_PCR,
    HV_ZAM2_LPU_D_PIC0,
    HV_ZAM2_LPU_D_PIC1,
    HV_ZAM2_GPD_PCR,
    HV_ZAM2_GPD_PIC0,
    HV_ZAM2_GPD_PIC1,
    HV_ZAM2_ASU_PCR,
    HV_ZAM2_ASU_PIC0,
    HV_ZAM2_ASU_PIC1,
    HV_ZAM3_LPU_A_PCR,
    HV_ZAM3_LPU_A_PIC0,
    HV_ZAM3_LPU_A_PIC1,
    HV_ZAM3_LPU_B_PCR,
    HV_ZAM3_LPU_B_PIC0,
    HV_ZAM3_LPU_B_PIC1,
    HV_ZAM3_LPU_C_PCR,
    HV_ZAM3_LPU_C_PIC0,
    HV_ZAM3_LPU_C_PIC1,
    HV_ZAM3_LPU_D_PCR,
    HV_ZAM3_LPU_D_PIC0,
    HV_ZAM3_LPU_D_PIC1,
    HV_ZAM3_GPD_PCR,
    HV_ZAM3_GPD_PIC0,
    HV_ZAM3_GPD_PIC1,
    HV_ZAM3_ASU_PCR,
    HV_ZAM3_ASU_PIC0,
    HV_ZAM3_ASU_PIC1,
    HV_VFALLS_PERFREGS
};

/*
 * From here on the calling thread is `strand` of `pmu`; NULL: of none. Without
 * one, and on a strand that does not exist, a call is H_EBADTRAP or H_EINVAL.
 * The monitor must outlive that, and threads that share it must not call at
 * once.
 *
 * @since 0.1
 */
TALLY_API void hv_bind(struct tally_pmu *pmu, unsigned strand);

/*
 * From here on the calling thread's hypervisor is `call` with `user`; it
 * answers as tally_sun4v_call(). tally_guest_sun4v() is one: that of the
 * emulated machine which runs this program. NULL: there is none.
 *
 * @since 0.1
 */
TALLY_API void
hv_bind_call(uint64_t (*call)(void *user, unsigned trap, uint64_t function,
                              const uint64_t args[5], uint64_t results[2]),
             void *user);

/*
 * Agrees on a version of a group: `*supported_minor` is the minor one that now
 * holds. Major version 0 gives the group up.
 *
 * @since 0.1
 */
TALLY_API uint64_t hv_api_set_version(uint64_t api_group, uint64_t major,
                                      uint64_t minor,
                                      uint64_t *supported_minor);

/* What was agreed; 0.0 if nothing. @since 0.1 */
TALLY_API uint64_t hv_api_get_version(uint64_t api_group, uint64_t *majorp,
                                      uint64_t *minorp);

/* Section 3.2.1. @since 0.1 */
TALLY_API uint64_t hv_vfalls_get_perfreg(uint64_t perfreg, uint64_t *value);

/* Section 3.2.2. @since 0.1 */
TALLY_API uint64_t hv_vfalls_set_perfreg(uint64_t perfreg, uint64_t value);

#ifdef __cplusplus
}
#endif

#endif
