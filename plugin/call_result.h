/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changes the result of a guest's system call. QEMU writes the result after all
 * callbacks of the call, so the change is queued for the virtual CPU, which
 * makes it before the guest's next instruction. Where a signal's handler runs
 * first, the handler's registers are changed and the result stays as it was.
 */
#ifndef TALLY_PLUGIN_CALL_RESULT_H
#define TALLY_PLUGIN_CALL_RESULT_H

#include <stdint.h>

#include "isa/isa.h"

/* QEMU's own functions, those of <hw/core/cpu.h> and <exec/gdbstub.h>: queue
 * work for a virtual CPU, find the CPU by its number, read and write its
 * registers. The data of work is a union of 8 bytes there; `bytes` is a
 * GByteArray. Each is NULL where this QEMU does not export it. */
struct qemu_functions {
    void (*run_on_cpu)(void *cpu, void (*work)(void *cpu, void *data),
                       void *data);
    void *(*cpu_of)(int vcpu);
    int (*read_register)(void *cpu, void *bytes, int number);
    int (*write_register)(void *cpu, uint8_t *bytes, int number);
};

/* Looks the functions up; `isa` may be NULL, which finds those of registers
 * nowhere. */
struct qemu_functions qemu_functions_find(const struct isa *isa);

/* Writes a number of 64 bits into the two registers where an instruction that
 * reads the processor's own clock puts its halves. Called on the CPU's thread,
 * before the next instruction of the same block: QEMU has both in memory then,
 * as after each instruction that it runs by a function. Nothing happens where
 * the architecture or this QEMU has no such registers. */
void register_set_pair(const struct qemu_functions *qemu, const struct isa *isa,
                       void *cpu, uint64_t value);

/* Has the call that the virtual CPU has made return `value`; negative: the call
 * fails with that number. Called on its thread, in the callback of the call's
 * return. Where QEMU lacks a function or there is no memory, the result stays
 * as it is. `qemu` and `isa` must outlive the CPU's next step. */
void call_result_set(const struct qemu_functions *qemu, const struct isa *isa,
                     void *cpu, int64_t value);

#endif
