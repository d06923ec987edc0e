/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of the program that give memory, which registers tell of: the
 * malloc() of a static program, and what --allocator names. An allocator is
 * asked for its arguments where it is entered and for its result where it
 * returns to, with allocators_register() in both places. What an allocator asks
 * of another is not looked at.
 */
#ifndef TALLY_PLUGIN_ALLOCATORS_H
#define TALLY_PLUGIN_ALLOCATORS_H

#include "isa/insn.h"
#include "machine/callers.h"
#include "plugin/data_objects.h"
#include "plugin/qemu_api.h"
#include "plugin/registers.h"

struct plugin;

/* A call of an allocator that has not returned. */
struct allocator_call {
    uint64_t back; /* where it returns; 0: there is no call */
    uint64_t old, size;
    uint64_t out; /* not 0: where the result is */
    uint32_t object;
    uint32_t depth; /* of the stack of frames */
};

struct allocators {
    struct registers registers;
    const struct session_allocator *rows; /* the session's */
    uint64_t bias; /* of addresses in memory over those in the file */
    unsigned count;
    bool is_found; /* registers can be read */
};

/* Finds the allocators of the program that the process runs. */
void allocators_begin(struct plugin *p);

/* Returns whether code at an address is the entry of an allocator. */
bool allocators_enter(const struct allocators *a, uint64_t pc);

/* Returns whether the entry of a block asks a register for the stack pointer,
 * as the block calls, and accesses may not have told it: on SPARC and MIPS. */
bool allocators_ask_pointer(const struct allocators *a,
                            const struct insn *insns, size_t count);
void allocators_register_pointer(const struct allocators *a,
                                 struct qemu_plugin_tb *tb);

/* Returns whether a call may return to an address; to be wrong costs a call of
 * ours each time. */
bool allocators_may_follow_call(const struct isa *isa, uint64_t pc);

/* Registers for a block whose own entry is registered. */
void allocators_register(const struct allocators *a, struct qemu_plugin_tb *tb);

#endif
