/* SPDX-License-Identifier: MIT */
/*
 * A block of instructions as a core that executes out of order sees it: for
 * each operation the registers whose values it waits for and those that it
 * makes, how long it takes once it has them, and when the core takes it in.
 * Made at translation; machine/ooo_core.h runs it.
 *
 * The core fetches fetch.slots micro-operations a cycle at most, all of one
 * aligned line of fetch.line bytes of code: an instruction counts in the line
 * where it ends, two fused ones where the second ends, and one with an
 * immediate of 64 bits as two. It foretells a taken branch a cycle, a return in
 * fetch.return more.
 *
 * The core takes in time.issue micro-operations a cycle at most, a conditional
 * branch and what sets its flags as one where the core fuses them (fusion). A
 * block whose instructions need more of one kind of unit than the core has
 * (units.*, busy.*) takes as long as these units need for all of them. What
 * nothing waits for is left out: values that the block itself overwrites before
 * anything reads them, stores, no-ops.
 */
#ifndef TALLY_TIMING_OOO_BLOCK_H
#define TALLY_TIMING_OOO_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/insn.h"
#include "isa/operands.h"
#include "table/table.h"

/* Times are multiples of OOO_CAUSES in parts of a cycle: their lowest bits are
 * free, and say what a time is spent on (machine/ooo_core.h). */
#define OOO_CYCLE 8192u
#define OOO_CAUSES 8u

/* A register that is always there, one that nothing reads, and one that passes
 * values between the operations of one instruction. */
#define OOO_THERE OPERAND_REGISTERS
#define OOO_NOWHERE (OPERAND_REGISTERS + 1)
#define OOO_PASSED (OPERAND_REGISTERS + 2)
#define OOO_REGISTERS (OPERAND_REGISTERS + 3)

/* Kinds of units of which each operation takes a place in a cycle: pipelined
 * ones that a core has few of. Of the others only the number in a block counts.
 */
enum ooo_unit {
    OOO_UNIT_NONE,
    OOO_UNIT_BITS,
    OOO_UNIT_MUL,
    OOO_UNIT_FADD,
    OOO_UNIT_FMUL,
    OOO_UNIT_FMA,
    OOO_UNIT_CONVERT,
    OOO_UNIT_VMUL,
    OOO_UNIT_SHUFFLE,
    OOO_UNIT_TRANSFER,
    OOO_UNITS
};

struct ooo_op {
    uint8_t address[2]; /* registers of a load's address, or OOO_THERE */
    uint8_t reads[2];   /* registers, or OOO_THERE */
    uint8_t changes[2]; /* registers, or OOO_NOWHERE */
    uint8_t base; /* a load's address is this register and `disp`; OOO_THERE:
                     it is something else */
    uint8_t unit; /* enum ooo_unit */
    int32_t disp;
    uint32_t offset;      /* taken in so long after the block's first */
    uint32_t load;        /* how long a load takes that hits; 0: it is none */
    uint32_t latency;     /* and what is done with the value */
    uint16_t instruction; /* of the block, from 0 */
};

struct ooo_block {
    uint64_t pc, end;
    uint32_t issue;     /* how long the core needs to take the block in */
    uint32_t time;      /* and its units for all of the block; >= issue */
    uint32_t micro_ops; /* entries of the reorder buffer */
    uint32_t count;
    uint64_t first_line, last_line;   /* of code; 0 where fetch.line is 0 */
    uint16_t first_slots, last_slots; /* micro-operations of these lines */
    uint32_t fetch; /* cycles that fetching this block alone takes; 0: it is an
                       iteration of a REP string instruction */
    uint32_t foretell; /* cycles that foretelling its branch takes, if taken */
    struct ooo_op ops[]; /* [count]; the last decides where the program goes on,
                            if a branch closes the block */
};

/* Returns how many operations units of a kind, but OOO_UNIT_NONE, begin in a
 * cycle. */
uint64_t ooo_units(const uint64_t *params, enum ooo_unit unit);

/* Returns how many cycles so many micro-operations of one line of code take to
 * fetch, at least one. */
static inline unsigned
ooo_fetch_cycles(const uint64_t *params, unsigned slots)
{
    const unsigned most = (unsigned)params[PARAM_FETCH_SLOTS];

    return most == 0 || slots <= most ? 1 : (slots + most - 1) / most;
}

/* Operations that an instruction has at most. */
#define OOO_OPS_MOST 15u

/* Returns the bytes of a block of so many operations. */
size_t ooo_block_size(size_t ops);

/*
 * Fills in *block, which has room for OOO_OPS_MOST * `count` operations, from
 * `count` instructions, decoded to `insns` and to `operands`, the first at
 * `pc`. `params`: those of the machine, in their limits. Takes out of
 * operands[i].changes what the block changes again before anything reads it.
 */
void ooo_block_make(struct ooo_block *block, const uint64_t *params,
                    uint64_t pc, const struct insn *insns,
                    struct insn_operands *operands, size_t count);

#endif
