/* SPDX-License-Identifier: MIT */
/* As fuzz/gateway.c, of a machine whose hypervisor has calls for its counters.
 */
#define MACHINE "ultrasparc-t2plus"
#define MACHINE_ISA ISA_SPARC64
#define PRCTL 147

#include "fuzz/gateway.c"
