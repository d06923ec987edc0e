/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest's registers, as QEMU tells them to a debugger. The plugin interface
 * of QEMU 7.2 has no way to them, but its programs export the functions. What
 * they tell holds at the entry of a block alone: within a block QEMU keeps
 * registers elsewhere.
 */
#ifndef TALLY_PLUGIN_REGISTERS_H
#define TALLY_PLUGIN_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/isa.h"

struct registers_bytes;

struct registers {
    const struct isa *isa;
    struct registers_bytes **bytes; /* [COUNTS_STRANDS] that QEMU writes to, by
                                       thread; NULL: none yet */
    int (*read)(void *cpu, struct registers_bytes *bytes, int number);
    int (*write)(void *cpu, uint8_t *bytes, int number); /* NULL: none */
    void *(*cpu)(int number);
    struct registers_bytes *(*make)(void);
    struct registers_bytes *(*resize)(struct registers_bytes *bytes,
                                      unsigned size);
};

/* Finds QEMU's functions; false: QEMU has none, or there is no memory. */
bool registers_find(struct registers *r, const struct isa *isa);

/* Registers by their part in a call; an argument has its number, from 0 to
 * REGISTERS_ARGUMENTS - 1. */
#define REGISTERS_ARGUMENTS 6
enum {
    REGISTERS_RESULT = REGISTERS_ARGUMENTS,
    REGISTERS_POINTER,
    REGISTERS_BACK,
    REGISTERS_FAILURE,   /* says that a system call failed */
    REGISTERS_TICKS_LOW, /* the halves of the processor's own clock */
    REGISTERS_TICKS_HIGH,
    REGISTERS_PARTS
};

/* Reads a register of a thread of the guest; false: it cannot be read. x86-64
 * has no REGISTERS_BACK. */
bool registers_read(const struct registers *r, unsigned vcpu, unsigned part,
                    uint64_t *value);

/* Writes a register of a thread of the guest, on that thread; nothing happens
 * where the architecture or this QEMU has none, or registers_find() failed. */
void registers_write(const struct registers *r, unsigned vcpu, unsigned part,
                     uint64_t value);

/* Writes the result of the system call that the thread has made, on the thread,
 * before its next instruction; negative: the call fails with that number. */
void
registers_write_result(const struct registers *r, unsigned vcpu, int64_t value);

#endif
